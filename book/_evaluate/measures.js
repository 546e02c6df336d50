/* Measures of predictions beside votes, with intervals. Knows neither the page nor the browser.

   The same as chaos_utils/metrics and scoring, which say what each of them means. */
(function () {
  "use strict";

  const FLOOR = 1e-15; // of the probabilities, in KL
  const TIED = 1e-12; // probabilities that differ by less are equal but for rounding
  const N_BINS = 10;
  const LEVEL = 0.95, Z = 1.959963984540054; // the normal distribution's quantile for it

  const sum = (values) => values.reduce((all, value) => all + value, 0);
  const mean = (values) => sum(values) / values.length;
  const total = (values, of) => values.reduce((all, value, k) => all + of(value, k), 0);
  const argmax = (values) => values.indexOf(Math.max(...values));
  const plogp = (p) => (p > 0 ? p * Math.log(p) : 0);
  const entropy = (values) => -total(values, plogp);

  function jsd({human, model}) {
    const both = total(human, (h, k) =>
      plogp(h) + plogp(model[k]) - 2 * plogp((h + model[k]) / 2));
    return Math.sqrt(Math.max(both / 2, 0));
  }

  function kl({human, model}) {
    const raised = model.map((m) => Math.max(m, FLOOR));
    const all = sum(raised);
    const found = total(human, (h, k) =>
      (h > 0 ? h * (Math.log(h) - Math.log(raised[k] / all)) : 0));
    return Math.max(found, 0);
  }

  function tvd({human, model}) {
    return total(human, (h, k) => Math.abs(h - model[k])) / 2;
  }

  /* Whether the label is right; labels that tie share an item unless one is stated. */
  function hit({model, label, stated}, gold) {
    if (stated) return Number(label === gold);
    const largest = Math.max(...model);
    const tied = model.map((m) => m >= largest - TIED);
    return tied[gold] / sum(tied.map(Number));
  }

  /* The same against the majority; labels that tie for most votes share an item unless one is stated. */
  function hitOfMajority(item) {
    if (!item.tiesShare) return hit(item, item.majority);
    const most = Math.max(...item.votes);
    const first = item.votes.flatMap((count, k) => (count === most ? [k] : []));
    return total(first, (label) => hit(item, label)) / first.length;
  }

  const votesPerItem = ({votes}) => sum(votes);

  /* The expected squared distance of one person's answer, and the squared distance of the model. */
  function ofOnePerson({votes}) {
    const n = sum(votes);
    return 1 - total(votes, (count) => count * (count - 1)) / (n * (n - 1));
  }

  function squared({human, model, votes}) {
    const noise = total(human, (h) => h * (1 - h)) / (sum(votes) - 1);
    return total(model, (m, k) => (m - human[k]) ** 2) - noise;
  }

  /* Measures that are means over items. */
  const MEANS = {
    jsd,
    kl,
    dist_ce: tvd,
    ent_ce: ({human, model}) => Math.abs(entropy(model) - entropy(human)),
    old_accuracy: (item) => hit(item, item.old),
    new_accuracy: hitOfMajority,
  };

  /* Predictions beside the votes, item by item. */
  function itemsOf({dataset, places, probabilities, labels, stated}) {
    return places.map((i, j) => {
      const votes = dataset.votes.map((column) => column[i]);
      const n = sum(votes);
      return {
        votes, human: votes.map((count) => count / n), model: probabilities[j],
        label: labels[j], stated, majority: dataset.majority[i], old: dataset.old_label?.[i],
        tiesShare: dataset.ties_share,
      };
    });
  }

  /* The value of each item by each mean. */
  function columnsOf(items) {
    const hasOld = items[0].old !== undefined;
    return Object.fromEntries(Object.entries(MEANS)
      .filter(([name]) => hasOld || name !== "old_accuracy")
      .map(([name, of]) => [name, items.map(of)]));
  }

  /* Expected calibration error against the majority: ten bins (a, b]. */
  function ece(items) {
    const gaps = new Array(N_BINS).fill(0);
    for (const {human, model} of items) {
      const label = argmax(model), confidence = model[label];
      let bin = 0;
      while (bin < N_BINS - 1 && confidence > (bin + 1) * (1 / N_BINS)) bin += 1;
      gaps[bin] += Number(label === argmax(human)) - confidence;
    }
    return total(gaps, Math.abs) / items.length;
  }

  /* How many people come as near to the population by squared distance, with Fieller's interval. */
  function humanEquivalent(items) {
    const above = items.map(ofOnePerson), below = items.map(squared), n = items.length;
    const top = mean(above), bottom = mean(below);
    const value = bottom > 0 ? top / bottom : Infinity;
    if (top === 0 && bottom > 0) return {value: 0, low: 0, high: 0};
    if (n < 2) return {value, low: 0, high: Infinity};
    const covariance = (one, other) => {
      const [a, b] = [mean(one), mean(other)];
      return total(one, (x, i) => (x - a) * (other[i] - b)) / (n - 1) * Z ** 2 / n;
    };
    // In r = 1 / v, the quadratic a r² − 2 b r + c is at most 0.
    const a = top ** 2 - covariance(above, above);
    const b = top * bottom - covariance(above, below);
    const c = bottom ** 2 - covariance(below, below);
    if (a <= 0) return {value, low: 0, high: Infinity};
    const root = Math.sqrt(Math.max(b ** 2 - a * c, 0));
    const [low, high] = [(b + root) / a, (b - root) / a]
      .map((end) => (end > 0 ? 1 / end : Infinity));
    return {value, low, high};
  }

  /* How often each resample holds each item: rows of counts. The same seed gives the same. */
  function draw(nItems, nResamples, seed) {
    let state = seed >>> 0;
    /* A counter whose bits are mixed: every step changes about half of the result's. */
    const next = () => {
      state = (state + 0x9e3779b9) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
      mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
      return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
    };
    return Array.from({length: nResamples}, () => {
      const times = new Uint16Array(nItems);
      for (let i = 0; i < nItems; i += 1) times[Math.floor(next() * nItems)] += 1;
      return times;
    });
  }

  /* The percentile interval of a column's mean over resamples. */
  function interval(column, resamples) {
    const n = resamples.length;
    const means = resamples.map((times) => {
      let all = 0;
      for (let i = 0; i < column.length; i += 1) all += times[i] * column[i];
      return all / column.length;
    }).sort((a, b) => a - b);
    const beyond = Number(((1 - LEVEL) * (n + 1) / 2).toFixed(9));
    const rank = Math.max(Math.ceil(beyond) - 1, 1);
    return {low: means[rank - 1], high: means[n - rank]};
  }

  /* Every measure of one dataset's predictions; intervals from what `draw` gives. A plug-in
     calibration error has none: chance alone makes it larger on a resample. */
  function measured(predictions, resamples) {
    const items = itemsOf(predictions);
    const found = Object.fromEntries(Object.entries(columnsOf(items)).map(([name, column]) =>
      [name, {value: mean(column), ...interval(column, resamples)}]));
    found.ece = {value: ece(items)};
    if (items.every((item) => votesPerItem(item) > 1)) {
      found.human_equivalent_brier = humanEquivalent(items);
    }
    return found;
  }

  /* A number of people in words, as tables have it: 2.4 [2.2, 2.6]; `limit` is half the crowd. */
  function inPeople({value, low, high}, limit) {
    const short = (people) => {
      if (people < 1) return "<1";
      if (people > limit) return `>${limit}`;
      return people < 9.95 ? people.toFixed(1) : people.toFixed(0);
    };
    const found = short(value);
    const words = found.replace("<1", "less than one").replace(">", "more than ");
    const isPoint = found !== words && short(low) === found && short(high) === found;
    return isPoint ? words : `${words} [${short(low)}, ${short(high)}]`;
  }

  Object.assign(window.Evaluate, {measured, draw, interval, inPeople});
})();
