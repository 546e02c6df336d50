/* What one reader has done on one dataset, and what comes next. Pure functions.

   A session is {dataset, seed, annotator, events}, and never changed: the seed decides the order of
   everything that is shown, the events say how far the reader has come. */
(() => {
  "use strict";

  const {sum, mean, argmax, uniform} = window.Page;
  const ITEMS = 1, POOL = 2, DRAWS = 3; // what numbers are drawn for

  /* A number in [0, 1) that looks random, from three integers. */
  function drawn(seed, purpose, n) {
    return uniform(seed ^ Math.imul(purpose, 0x9e3779b1) ^ Math.imul(n + 1, 0x27d4eb2f));
  }

  function shuffled(list, seed, purpose) {
    const order = list.slice();
    for (let last = order.length - 1; last > 0; last -= 1) {
      const chosen = Math.floor(drawn(seed, purpose, last) * (last + 1));
      [order[last], order[chosen]] = [order[chosen], order[last]];
    }
    return order;
  }

  function randomInteger() {
    return crypto.getRandomValues(new Uint32Array(1))[0];
  }

  /* The label of an example on which people agree. */
  function agreed(dataset, entry) {
    return dataset.codes[argmax(entry.votes)];
  }

  /* How well answers agree with the votes, each in [0, 1], over judgements {entry, answer}:
     yours: mean share of the votes for the label that was chosen;
     person: mean share of the *other* votes for the label of a voter drawn at random;
     most: mean share of the votes for the most frequent label;
     majority: on how many items that label was chosen (any of them where several are tied). */
  function score(dataset, judgements) {
    const rows = judgements.map(({entry, answer}) => ({
      votes: entry.votes,
      n: sum(entry.votes),
      chosen: entry.votes[dataset.codes.indexOf(answer)],
    }));
    return {
      n: rows.length,
      yours: mean(rows.map(({chosen, n}) => chosen / n)),
      person: mean(rows.map(({votes, n}) => sum(votes.map((v) => v * (v - 1))) / (n * (n - 1)))),
      most: mean(rows.map(({votes, n}) => Math.max(...votes) / n)),
      majority: rows.filter(({votes, chosen}) => chosen === Math.max(...votes)).length,
    };
  }

  /* The same for the models that answered these items: {name, n, share}, over the n that a model
     covers; without those that cover none. */
  function scoreModels(dataset, judgements) {
    return dataset.models.map(({name}, k) => {
      const shares = judgements.filter(({entry}) => (entry.said?.[k] ?? null) !== null)
        .map(({entry}) => entry.votes[entry.said[k]] / sum(entry.votes));
      return {name, n: shares.length, share: mean(shares)};
    }).filter(({n}) => n > 0);
  }

  /* Gives each item the labels that the models chose, as positions; null where a model has none. */
  function placeModels(data) {
    for (const {items, models} of Object.values(data.datasets)) {
      items.forEach((entry, i) => { entry.said = models.map(({labels}) => labels[i]); });
    }
  }

  /* Returns the functions on sessions, for the data of data.js. */
  function sessions(data) {
    placeModels(data);
    const rules = ChaosAnnotate.protocol(data.protocol);
    const ofPool = (event) => event.type === "answer" && event.kind !== "item";

    function start(dataset, seed = randomInteger()) {
      const annotator = `reader-${randomInteger().toString(16).padStart(8, "0")}`;
      return {dataset, seed, annotator, events: []};
    }

    const stateOf = (session) => rules.replay(session.events);
    const add = (session, event) => ({...session, events: [...session.events, event]});

    /* What is asked now: {kind, entry, expected}, or null. */
    function question(session) {
      const dataset = data.datasets[session.dataset];
      const state = stateOf(session);
      const kind = rules.asks(state);
      if (!kind) return null;
      if (kind === "item") {
        const order = shuffled(dataset.items, session.seed, ITEMS);
        return {kind, entry: order[state.counters.items], expected: null};
      }
      const order = shuffled(data.pools[dataset.pool], session.seed, POOL);
      // Who has seen the whole pool meets its examples again.
      const entry = order[session.events.filter(ofPool).length % order.length];
      return {kind, entry, expected: agreed(dataset, entry)};
    }

    function answer(session, code) {
      const {kind, entry, expected} = question(session);
      return add(session, {type: "answer", kind, item: entry.uid, answer: code, expected});
    }

    /* From the state "ready": draws whether a hidden check comes; stops where no item is left. */
    function goOn(session) {
      const {draws, items} = stateOf(session).counters;
      if (items === data.datasets[session.dataset].items.length) return stop(session);
      const check = drawn(session.seed, DRAWS, draws) < rules.parameters.check_rate;
      return add(session, {type: "draw", check});
    }

    const begin = (session) => add(session, {type: "begin"});
    const stop = (session) => add(session, {type: "stop"});

    /* The answers so far, each with what was judged: {kind, entry, answer, expected}. */
    function judgements(session) {
      const dataset = data.datasets[session.dataset];
      const known = new Map(
        [...dataset.items, ...data.pools[dataset.pool]].map((entry) => [entry.uid, entry])
      );
      return session.events.filter(({type}) => type === "answer")
        .map(({item, ...said}) => ({...said, entry: known.get(item)}));
    }

    /* What is saved as a file, for `chaos votes merge`. */
    function record({dataset, annotator, events}) {
      const votes = events.filter(({kind}) => kind === "item")
        .map(({item, answer}) => ({item, label: answer}));
      return {protocol: rules.version, parameters: {}, dataset, annotator, events, votes};
    }

    /* Whether something that was kept is a session that can go on here. */
    function isSound(session) {
      try {
        stateOf(session);
        return Number.isInteger(session.seed) && typeof session.annotator === "string"
          && judgements(session).every(({entry}) => entry);
      } catch {
        return false;
      }
    }

    return {
      rules, start, begin, stateOf, question, answer, goOn, stop, judgements, record, isSound,
      shuffle: (dataset, seed) => shuffled(data.datasets[dataset].items, seed, ITEMS),
    };
  }

  Object.assign(window.ChaosAnnotate, {sessions, score, scoreModels, randomInteger});
})();
