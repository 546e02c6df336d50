/* Measures of predictions beside votes, with intervals. Knows neither the page nor the browser.

   The same as chaos_utils/metrics and scoring, which say what each of them means. */
(function () {
  "use strict";

  const {sum, mean, argmax, uniform} = window.Page;
  const FLOOR = 1e-15; // of the probabilities, in KL
  const TIED = 1e-12; // probabilities that differ by less are equal but for rounding
  const N_BINS = 10;
  const ROUNDING = 1e-12; // of a mean square
  const WORTH = ["people_on_top", "people_on_top_trusted", "skill", "skill_trusted"];
  const LEVEL = 0.95, Z = 1.959963984540054; // the normal distribution's quantile for it

  const total = (values, of) => values.reduce((all, value, k) => all + of(value, k), 0);
  const dot = (one, other) => total(one, (value, k) => value * other[k]);
  const plus = (one, other) => one.map((value, k) => value + other[k]);
  const minus = (one, other) => one.map((value, k) => value - other[k]);
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

  /* Whether the most probable label is right; labels that tie share an item. */
  function hit({model}, gold) {
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

  const noiseOf = ({human, votes}) => total(human, (h) => h * (1 - h)) / (sum(votes) - 1);

  function squared(item) {
    const away = minus(item.model, item.human);
    return dot(away, away) - noiseOf(item);
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
  function itemsOf({dataset, places, probabilities}) {
    return places.map((i, j) => {
      const votes = dataset.votes.map((column) => column[i]);
      const n = sum(votes);
      return {
        votes, human: votes.map((count) => count / n), model: probabilities[j],
        group: dataset.groups[i], majority: dataset.majority[i], old: dataset.old_label?.[i],
        tiesShare: dataset.ties_share,
      };
    });
  }

  /* The value of each item by each mean. */
  function columnsOf(items) {
    const {old_accuracy: _, ...others} = MEANS;
    const means = items[0].old === undefined ? others : MEANS;
    return Object.entries(means).map(([name, of]) => [name, items.map(of)]);
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

  /* Fieller's interval of the ratio of two means over the same items. */
  function ratio(above, below) {
    const n = above.length, top = mean(above), bottom = mean(below);
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

  function isAboveZero(values) {
    const n = values.length, center = mean(values);
    const variance = total(values, (value) => (value - center) ** 2) / (n - 1);
    return n > 1 && center > Z * Math.sqrt(variance / n);
  }

  /* What λ is fitted from: m, h, m · h, |m|² and 1, summed over all items, and over those of all
     groups but one. */
  function sumsOf(items) {
    const k = items[0].model.length, groups = new Map();
    for (const {group, model, human} of items) {
      const own = [...model, ...human, dot(model, human), dot(model, model), 1];
      groups.set(group, groups.has(group) ? plus(groups.get(group), own) : own);
    }
    const all = [...groups.values()].reduce(plus);
    const named = (sums) => {
      const [product, square, n] = sums.slice(2 * k);
      return {model: sums.slice(0, k), human: sums.slice(k, 2 * k), product, square, n};
    };
    const others = [...groups].map(([name, own]) => [name, named(minus(all, own))]);
    return {all: named(all), others: new Map(others)};
  }

  function trustOf({model, human, product, square, n}) {
    const base = human.map((value) => value / n);
    const along = product - dot(model, base);
    const away = square - 2 * dot(model, base) + n * dot(base, base);
    return away > ROUNDING * n ? Math.max(along / away, 0) : 0;
  }

  /* The base rate of each item: the mean shares of the items of all other groups. */
  function baseRates(items) {
    const {others} = sumsOf(items);
    return items.map(({group}) => {
      const {human, n} = others.get(group);
      return human.map((value) => value / n);
    });
  }

  /* V/d − V/d₀; infinite where the system comes as near as the votes can show. */
  function peopleOnTop(person, base, system) {
    if (system <= 0) return Infinity;
    return person / system - (base > 0 ? person / base : Infinity);
  }

  /* What predictions are worth, as chaos_utils/scoring/worth.py has it: people on top of the base
     rate and skill, as it is and trusted. */
  function worthOf(items, resamples) {
    const undefinedValue = {value: NaN};
    const isHard = items.every(({model}) => Math.max(...model) > 1 - 1e-9);
    const nVotes = mean(items.map(votesPerItem));
    const found = (estimates, why, more = {}) => ({estimates, why, isHard, nVotes, ...more});
    const {all, others} = sumsOf(items), n = items.length;
    if (others.size < 2) {
      return found(Object.fromEntries(WORTH.map((name) => [name, undefinedValue])),
        "a base rate needs items of at least two texts");
    }
    const center = all.human.map((value) => value / n), lost = n / (n - 1);
    const parts = baseRates(items).map((base, i) => {
      const item = items[i], {human, model} = item, noise = noiseOf(item);
      const trust = trustOf(others.get(item.group)), away = minus(model, base);
      const ofBase = dot(minus(base, human), minus(base, human)) - noise;
      const fromMean = minus(human, center), ofModel = minus(model, center);
      return [
        ofOnePerson(item), ofBase, squared(item),
        lost * dot(fromMean, fromMean) - noise, lost * dot(ofModel, fromMean),
        lost * dot(ofModel, ofModel),
        ofBase - 2 * trust * dot(away, minus(human, base)) + trust ** 2 * dot(away, away),
      ];
    });
    const columns = parts[0].map((_, k) => parts.map((part) => part[k]));
    const [person, base, system, , , , trusted] = columns;
    const differ = isAboveZero(base), disagree = person.some((value) => value !== 0);
    let why = "";
    if (!differ) why = "the items hardly differ, or have too few votes to show it";
    else if (!disagree) why = "nobody disagrees on any item";
    const skill = (column) => {
      if (!differ) return undefinedValue;
      const {value, low, high} = ratio(base, column);
      return {value: 1 - 1 / value, low: 1 - 1 / low, high: 1 - 1 / high};
    };
    const drawn = resamples.map((times) => {
      const means = columns.slice(0, 6).map((column) => weightedMean(column, times));
      const [one, ofBase, of, spread, product, square] = means;
      const gain = square > ROUNDING ? Math.max(product, 0) ** 2 / square : 0;
      return [peopleOnTop(one, ofBase, of), peopleOnTop(one, spread, spread - gain),
        spread > gain ? gain / spread : 1];
    });
    const between = (value, place) => {
      const {low, high} = orderStatistics(drawn.map((one) => one[place]));
      return {value, low: Math.min(low, value), high: Math.max(high, value)};
    };
    const people = (column, place) => (why ? undefinedValue
      : between(peopleOnTop(mean(person), mean(base), mean(column)), place));
    return found({
      people_on_top: people(system, 0),
      people_on_top_trusted: people(trusted, 1),
      skill: skill(system),
      skill_trusted: differ ? between(skill(trusted).value, 2) : undefinedValue,
    }, why, {credibility: differ ? mean(person) / mean(base) : NaN});
  }

  /* How often each resample holds each item: rows of counts. The same seed gives the same. */
  function draw(nItems, nResamples, seed) {
    let state = seed >>> 0; // a counter whose bits are mixed: each step changes about half of them
    return Array.from({length: nResamples}, () => {
      const times = new Uint16Array(nItems);
      for (let i = 0; i < nItems; i += 1) {
        state = (state + 0x9e3779b9) >>> 0;
        times[Math.floor(uniform(state) * nItems)] += 1;
      }
      return times;
    });
  }

  function weightedMean(column, times) {
    let all = 0;
    for (let i = 0; i < column.length; i += 1) all += times[i] * column[i];
    return all / column.length;
  }

  /* The ends of the percentile interval of values on resamples. */
  function orderStatistics(values) {
    const n = values.length, ordered = Float64Array.from(values).sort();
    const beyond = Number(((1 - LEVEL) * (n + 1) / 2).toFixed(9));
    const rank = Math.max(Math.ceil(beyond) - 1, 1);
    return {low: ordered[rank - 1], high: ordered[n - rank]};
  }

  /* The percentile interval of a column's mean over resamples. */
  function interval(column, resamples) {
    return orderStatistics(resamples.map((times) => weightedMean(column, times)));
  }

  /* Every measure of one dataset's predictions; intervals from what `draw` gives. A plug-in
     calibration error has none: chance alone makes it larger on a resample. */
  function measured(predictions, resamples) {
    const items = itemsOf(predictions);
    const means = columnsOf(items).map(([name, column]) =>
      [name, {value: mean(column), ...interval(column, resamples)}]);
    return {...Object.fromEntries(means), ece: {value: ece(items)}};
  }

  /* What a file is worth, then a uniform guess and the base rate on the same items; nothing where an
     item has a single vote. */
  function worths(predictions, resamples) {
    const items = itemsOf(predictions);
    if (!items.every((item) => votesPerItem(item) > 1)) return [];
    const even = items[0].model.map((_, k, {length}) => 1 / length);
    const rates = baseRates(items).map((base) => (base.every(isFinite) ? base : even));
    return [
      [predictions.model, items],
      ["uniform guess", items.map((item) => ({...item, model: even}))],
      ["base rate", items.map((item, i) => ({...item, model: rates[i]}))],
    ].map(([name, of]) => ({name, ...worthOf(of, resamples)}));
  }

  /* An estimate in words, as Worth.text has it: 2.4 [2.2, 2.6]. */
  function inWords(name, {estimates, why, nVotes}) {
    const {value, low, high} = estimates[name], inPeople = !name.startsWith("skill");
    if (Number.isNaN(value)) return `undefined: ${why}`;
    const short = (one) => {
      if (!isFinite(one)) return one > 0 ? "∞" : "−∞";
      const digits = one.toFixed(inPeople ? Number(Math.abs(one) < 9.95) : 2);
      return digits.replace("-", /[1-9]/.test(digits) ? "−" : "");
    };
    const isBelow = inPeople && short(value).startsWith("−");
    const beyond = inPeople && value > nVotes ? ", more than voted" : "";
    return `${isBelow ? "below the base rate" : short(value)} [${short(low)}, ${short(high)}]${beyond}`;
  }

  Object.assign(window.Evaluate, {measured, worths, draw, interval, inWords});
})();
