/* The page on which a reader annotates: keeps the session, listens, and shows one view at a time.
   The address decides what is shown: #snli a dataset, #look-snli its items without the protocol. */
(() => {
  "use strict";

  const data = window.CHAOS_ANNOTATE;
  const {make, save: saveFile} = window.Page;
  const {views, button, carefulButton, count, isRight, instructions} = ChaosAnnotate;
  const api = ChaosAnnotate.sessions(data);
  const {rules} = api;
  const root = document.getElementById("annotate");
  const view = make("div", {class: "annotate-view"});

  // A seed in the address makes a run repeat: annotate.html?seed=7
  const given = new URLSearchParams(window.location.search).get("seed");
  const seed = /^\d{1,9}$/.test(given ?? "") ? Number(given) : undefined;

  /* Sessions are kept in the browser where it lets the page, else for as long as it is open. */
  const prefix = `chaos-annotate/${rules.version}/${data.digest}/`;
  const memory = new Map();
  let kept = null;
  try {
    localStorage.setItem(`${prefix}probe`, "");
    localStorage.removeItem(`${prefix}probe`);
    kept = localStorage;
  } catch { /* private windows, and some pages opened from a file */ }

  function sessionOn(name) {
    if (memory.has(name)) return memory.get(name);
    try {
      const {task, ...rest} = JSON.parse(kept.getItem(prefix + name)) ?? {};
      const found = {dataset: task, ...rest}; // "task" until the second edition
      return found.dataset === name && api.isSound(found) ? found : null;
    } catch {
      return null;
    }
  }

  let session = null;

  function keep(next) {
    session = next;
    memory.set(session.dataset, session);
    try {
      kept?.setItem(prefix + session.dataset, JSON.stringify(session));
    } catch { /* no room left: the memory has it */ }
  }

  /* Shows a view, and brings reader and keyboard to its heading. */
  function put(element, focus = true) {
    view.replaceChildren(element);
    if (!focus) return;
    (element.querySelector("h2[tabindex]") ?? root).focus({preventScroll: true});
    const {top, bottom} = view.getBoundingClientRect();
    if (top < 0 || bottom > window.innerHeight) root.scrollIntoView({behavior: "instant"});
  }

  function progress(name) {
    const found = sessionOn(name);
    const state = found && api.stateOf(found);
    if (!state || state.name === rules.start().name) {
      return {standing: "Not begun", verb: "Begin"};
    }
    const {items} = state.counters;
    const standing = {
      qualification: "In the test", training: "In training", rejected: "Test not passed",
      dismissed: "Training not passed", blocked: `Blocked after ${count(items, "item")}`,
      finished: `Finished: ${count(items, "item")}`,
    }[state.name] ?? `${count(items, "item")} judged`;
    return {standing, verb: rules.isFinal(state) ? "See results" : "Continue"};
  }

  function footerOf(dataset, withResults) {
    return make("footer", "annotate-footer",
      make("details", {}, make("summary", {}, "Instructions"), instructions(dataset)),
      make("p", {},
        withResults ? button("Results so far", showResults, "link") : null,
        make("a", {href: `#look-${session.dataset}`}, "Look around"),
        make("a", {href: "#annotate"}, "All datasets"),
        carefulButton("Start again", "Erase all answers?", again)));
  }

  function again() {
    memory.delete(session.dataset);
    kept?.removeItem(prefix + session.dataset);
    session = api.start(session.dataset, seed);
    showCurrent();
  }

  function showCurrent() {
    const name = session.dataset, dataset = data.datasets[name], state = api.stateOf(session);
    if (rules.isFinal(state)) return showResults();
    const {counters} = state, {parameters} = rules;
    const asked = api.question(session), shown = {dataset, counters, parameters};
    const footer = footerOf(dataset, counters.items > 0);
    if (asked) {
      put(views.question({...shown, ...asked, answer, footer}));
    } else if (state.name === rules.start().name) {
      put(views.introduction({...shown, name, begin: () => act(api.begin)}));
    } else {
      put(views.pause({...shown, goOn: () => act(api.goOn), footer}));
    }
  }

  function act(step) {
    keep(step(session));
    showCurrent();
  }

  function answer(code) {
    const dataset = data.datasets[session.dataset];
    const before = api.stateOf(session);
    keep(api.answer(session, code));
    const after = api.stateOf(session);
    const {items} = after.counters;
    // Between items the next one follows at once; at the end of a task, and before the first, a
    // pause is shown.
    const isPause = items % rules.parameters.task_size === 0 && items < dataset.items.length;
    if (rules.asks(after) === undefined && !rules.isFinal(after) && !isPause) {
      keep(api.goOn(session));
    }
    const judged = api.judgements(session).at(-1);
    if (rules.givesFeedback(before) && !isRight(judged)) {
      views.tell(view, {
        dataset, judged, next: {text: "Continue", act: showCurrent},
        children: views.correction({dataset, judged}),
      });
    } else {
      showCurrent();
    }
  }

  function showResults() {
    put(views.results({
      dataset: data.datasets[session.dataset], session, rules,
      state: api.stateOf(session),
      judgements: api.judgements(session),
      failRate: data.fail_rates[session.dataset],
      goOn: showCurrent, again, save,
    }));
  }

  /* Saving ends the session, so that no vote is in two files. */
  function save(annotator) {
    const isOver = rules.isFinal(api.stateOf(session));
    keep({...(isOver ? session : api.stop(session)), annotator});
    const name = annotator.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "-");
    saveFile(`${JSON.stringify(api.record(session), null, 1)}\n`, "application/json",
      `votes-${session.dataset}-${name}.json`);
    if (!isOver) showResults();
  }

  /* An item to look at, and those that were looked at before it. */
  function showLook(
    name, order = api.shuffle(name, seed ?? ChaosAnnotate.randomInteger()), at = 0, judged = [],
  ) {
    const dataset = data.datasets[name];
    const entry = order[at % order.length];
    put(views.look({
      dataset, entry, place: at + 1,
      answer: (code) => {
        const now = {entry, answer: code};
        const all = [...judged, now];
        views.tell(view, {
          dataset, judged: now,
          next: {text: "Next item", act: () => showLook(name, order, at + 1, all)},
          children: [], after: views.soFar(dataset, all),
        });
      },
      footer: make("footer", {class: "annotate-footer"},
        make("p", {}, make("a", {href: "#annotate"}, "All datasets"))),
    }));
  }

  function route(event) {
    const [, looks, name] = /^#(look-)?(.*)$/.exec(window.location.hash) ?? [];
    if (!Object.hasOwn(data.datasets, name ?? "")) {
      session = null;
      if (!view.querySelector(".annotate-cards") || name === "annotate") {
        put(views.home({data, progress, keeps: kept !== null}), Boolean(event));
      }
    } else if (looks) {
      showLook(name);
    } else {
      session = sessionOn(name) ?? api.start(name, seed);
      showCurrent();
    }
  }

  /* 1, 2, 3 choose, while the keyboard is on this part of the page. */
  root.addEventListener("keydown", (event) => {
    const isPlain = !(event.ctrlKey || event.altKey || event.metaKey || event.repeat);
    if (isPlain && /^[1-9]$/.test(event.key) && event.target.tagName !== "INPUT") {
      view.querySelector(`.choice[aria-keyshortcuts="${event.key}"]:enabled`)?.click();
    }
  });

  window.addEventListener("hashchange", route);
  root.replaceChildren(view);
  route();
})();
