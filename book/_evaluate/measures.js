/* Measures of predictions beside votes, with intervals. Knows neither the page nor the browser.

   The same as chaos_utils/metrics and scoring, which say what each of them means. */
(function () {
  "use strict";

  const {sum, mean, argmax, uniform} = window.Page;
  const {recalibrated, tooFewToRecalibrate, areLabels} = window.Evaluate;
  const FLOOR = 1e-15; // of the probabilities, in KL
  const TIED = 1e-12; // probabilities that differ by less are equal but for rounding
  const N_BINS = 10;
  const ROUNDING = 1e-12, LEAST = 1e-12; // of a mean square; of what is divided by, on a resample
  const FEWEST = 30; // items on which people disagree: with fewer, intervals fail too often
  const WAYS = ["", "_recalibrated", "_shrunk"]; // as it is, and otherwise
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
        group: dataset.groups[i], fold: dataset.folds[i], majority: dataset.majority[i], old: dataset.old_label?.[i],
        tiesShare: dataset.ties_share,
      };
    });
  }

  /* The value of each item by each mean; of one label per item, by accuracies alone. */
  function columnsOf(items, isOfLabels) {
    return Object.entries(MEANS)
      .filter(([name]) => (name !== "old_accuracy" || items[0].old !== undefined)
        && (!isOfLabels || name.endsWith("accuracy")))
      .map(([name, of]) => [name, items.map(of)]);
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

  function shrinkageOf({model, human, product, square, n}) {
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

  /* Means and covariances of the means of some columns, of all items and on each resample. */
  function momentsOf(columns, resamples) {
    const n = columns[0].length, k = columns.length;
    const center = columns.map(mean);
    const around = columns.map((column, c) => Float64Array.from(column, (value) => value - center[c]));
    const pairs = around.flatMap((_, c) => Array.from({length: k - c}, (__, d) => [c, c + d]));
    const products = pairs.map(([c, d]) => around[c].map((value, i) => value * around[d][i]));
    const of = (meanOf) => {
      const shifts = around.map(meanOf), seconds = products.map(meanOf);
      const covariance = center.map(() => new Array(k));
      pairs.forEach(([c, d], place) => {
        covariance[c][d] = (seconds[place] - shifts[c] * shifts[d]) / (n - 1);
        covariance[d][c] = covariance[c][d];
      });
      return {means: center.map((value, c) => value + shifts[c]), covariance};
    };
    return {
      all: of((column) => sum(column) / n),
      drawn: resamples.map((times) => of((column) => weightedMean(column, times))),
    };
  }

  /* The bootstrap-t interval of a ratio of two functions of some columns' means; each returns its value
     and its slopes. */
  function studentised({all, drawn}, ratio, places) {
    const parts = ({means, covariance}) => {
      const [one, other] = ratio(places.map((c) => means[c]));
      const spread = ([, left], [, right]) => total(places, (c, i) =>
        total(places, (d, j) => left[i] * right[j] * covariance[c][d]));
      return {top: one[0], bottom: other[0], spreads: [spread(one, one), spread(one, other), spread(other, other)]};
    };
    const own = parts(all), value = own.top / own.bottom;
    const away = orderStatistics(drawn.map(parts).map(({top, bottom, spreads: [a, b, c]}) => {
      const error = Math.sqrt(Math.max(a - 2 * value * b + value ** 2 * c, 0));
      return error > 0 ? (top - value * bottom) / error : 0;
    }));
    return [away.high, away.low].map((t) => endOf(t, own));
  }

  /* Where a ratio would be t standard errors away. */
  function endOf(t, {top, bottom, spreads}) {
    const a = bottom ** 2 - t ** 2 * spreads[2];
    if (a <= 0) return t > 0 ? -Infinity : Infinity;
    const b = top * bottom - t ** 2 * spreads[1], c = top ** 2 - t ** 2 * spreads[0];
    return (b - Math.sign(t) * Math.sqrt(Math.max(b ** 2 - a * c, 0))) / a;
  }

  const ratio = ([bottom, top]) => [[top, [0, 1]], [bottom, [1, 0]]];

  /* People on top: V (d₀ − d) over d d₀. */
  const onTop = ([person, base, system]) => [
    [person * (base - system), [base - system, person, -person]],
    [base * system, [0, system, base]],
  ];
  const turnedOver = (means) => onTop(means).reverse();

  /* How a system goes with the votes: the root of its skill with the best λ. */
  function correlation([ofVotes, product, ofModel]) {
    const spread = Math.max(ofVotes, LEAST), square = Math.max(ofModel, LEAST);
    const root = Math.sqrt(spread * square);
    return [[product, [0, 1, 0]], [root, [root / 2 / spread, 0, root / 2 / square]]];
  }

  /* The correlation that would make a system worth as much at this credibility. */
  const correlationOfPeople = (credibility) => ([ofPerson, ofVotes, ...others]) => {
    const person = Math.max(ofPerson, LEAST), spread = Math.max(ofVotes, LEAST);
    const [[product], [root, slopes]] = correlation([ofVotes, ...others]);
    const found = product / root;
    const [ofSpread, , ofSquare] = slopes.map((slope) => -found / root * slope);
    const times = Math.sqrt(person / spread / credibility);
    const bottom = Math.max(1 + (times ** 2 - 1) * found ** 2, LEAST);
    const along = times / bottom ** 1.5;
    const ofTimes = times * found * (1 - found ** 2) / 2 / bottom ** 1.5;
    return [
      [times * found / Math.sqrt(bottom),
        [ofTimes / person, along * ofSpread - ofTimes / spread, along / root, along * ofSquare]],
      [1, [0, 0, 0, 0]],
    ];
  };

  const squaredShare = (value) => Math.min(Math.max(value, 0), 1) ** 2;
  const peopleOf = (skill, credibility) => (skill < 1 ? credibility * skill / (1 - skill) : Infinity);

  /* What predictions are worth, as chaos_utils/scoring/worth.py has it: people on top of the base
     rate and skill, as it is, recalibrated and shrunk. */
  function worthOf(items, resamples, isFitted = false) {
    const isHard = areLabels(items.map(({model}) => model));
    const nVotes = mean(items.map(votesPerItem)), n = items.length;
    const found = (estimates, why, more = {}) => ({
      estimates: Object.fromEntries(["people_on_top", "skill"].flatMap((name) => WAYS
        .map((way) => [`${name}${way}`, estimates[`${name}${way}`] ?? {value: NaN}]))),
      why, isHard, nVotes, ...more,
    });
    const {all, others} = sumsOf(items);
    if (others.size < 2) return found({}, "undefined: a base rate needs items of at least two texts");
    const nDisputed = items.filter(({human}) => Math.max(...human) < 1).length;
    if (nDisputed < FEWEST) {
      return found({}, `too few items to say: people disagree on ${nDisputed} of ${n}, and it takes ${FEWEST}`);
    }
    const mapped = mappedOf(items, isFitted && !isHard);
    const center = all.human.map((value) => value / n), lost = n / (n - 1);
    const parts = baseRates(items).map((base, i) => {
      const item = items[i], {human, model} = item, noise = noiseOf(item);
      const shrinkage = shrinkageOf(others.get(item.group)), away = minus(model, base);
      const ofBase = dot(minus(base, human), minus(base, human)) - noise;
      const fromMean = minus(human, center), ofModel = minus(model, center);
      return [
        ofOnePerson(item), ofBase, squared(item),
        lost * dot(fromMean, fromMean) - noise, lost * dot(ofModel, fromMean),
        lost * dot(ofModel, ofModel),
        mapped.models ? squared({...item, model: mapped.models[i]}) : 0,
        ofBase - 2 * shrinkage * dot(away, minus(human, base)) + shrinkage ** 2 * dot(away, away),
      ];
    });
    const columns = parts[0].map((_, k) => parts.map((part) => part[k]));
    if (!isAboveZero(columns[1])) {
      return found({}, "undefined: the items hardly differ, or have too few votes to show it");
    }
    const means = columns.map(mean), [person, base, , spread, , square] = means;
    const known = person / spread;
    const moments = momentsOf(columns.slice(0, 7), resamples);
    const ends = (statistic, ...places) => studentised(moments, statistic, places);
    const estimates = {};
    const add = (name, value, [low, high]) => {
      estimates[name] = {value, low: Math.min(low, value), high: Math.max(high, value)};
    };
    const inverted = (value) => (value > 0 ? 1 / value : Infinity);
    const share = (value) => Math.min(1 - value, 1);
    for (const [way, place] of [["", 2], ...(mapped.models ? [["_recalibrated", 6]] : [])]) {
      add(`people_on_top${way}`, peopleOnTop(person, base, means[place]),
        means[place] < base / 2 // where people may be infinitely many
          ? ends(turnedOver, 0, 1, place).map(inverted).reverse() : ends(onTop, 0, 1, place));
      add(`skill${way}`, share(means[place] / base), ends(ratio, 1, place).map(share).reverse());
    }
    const isFlat = square <= ROUNDING || spread <= 0;
    add("people_on_top_shrunk", peopleOnTop(person, base, means[7]), isFlat ? [0, 0]
      : ends(correlationOfPeople(known), 0, 3, 4, 5).map((end) => peopleOf(squaredShare(end), known)));
    add("skill_shrunk", share(means[7] / base), isFlat ? [0, 0]
      : ends(correlation, 3, 4, 5).map(squaredShare));
    const byItem = {people_on_top: columns[2], ...(mapped.models ? {people_on_top_recalibrated: columns[6]} : {})};
    return found(estimates, "", {credibility: person / base, notRecalibrated: mapped.why, byItem});
  }

  /* What the map makes of predictions; nothing, and why, where there are too few items. */
  function mappedOf(items, isFitted) {
    if (isFitted) return {models: items.map(({model}) => model), why: ""};
    const why = tooFewToRecalibrate(items.length, items[0].model.length);
    if (why) return {why: `too few items to say: ${why}`};
    if (new Set(items.map(({fold}) => fold)).size < 2) {
      return {why: "too few items to say: a map takes items of more texts"};
    }
    return {models: recalibrated(items), why};
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
    const items = itemsOf(predictions), {isOfLabels} = predictions;
    const means = columnsOf(items, isOfLabels).map(([name, column]) =>
      [name, {value: mean(column), ...interval(column, resamples)}]);
    return {...Object.fromEntries(means), ...(isOfLabels ? {} : {ece: {value: ece(items)}})};
  }

  /* A uniform guess and the base rate on the same items; the latter is no number where all share a text. */
  function guessesOn(items) {
    const even = items[0].model.map((_, k, {length}) => 1 / length), rates = baseRates(items);
    return {
      "uniform guess": items.map((item) => ({...item, model: even})),
      "base rate": items.map((item, i) => ({...item, model: rates[i]})),
    };
  }

  /* What a file is worth, then a uniform guess and the base rate on the same items; nothing where an
     item has a single vote. */
  function worths(predictions, resamples) {
    const items = itemsOf(predictions);
    if (!items.every((item) => votesPerItem(item) > 1)) return [];
    const guesses = guessesOn(items);
    return [
      [predictions.model, items, false],
      ["uniform guess", guesses["uniform guess"], false],
      ["base rate", guesses["base rate"], true],
    ].map(([name, of, isFitted]) => ({name, ...worthOf(of, resamples, isFitted)}));
  }

  /* What sentences on a file say beyond `worths`: `values` of measures, the squared distance among them;
     those of the `guesses` on the same items; and how often two votes `differ`. */
  function valuesForSentences(predictions, values, resamples) {
    const items = itemsOf(predictions), {isOfLabels} = predictions;
    const haveTwo = items.every((item) => votesPerItem(item) > 1);
    const several = items.filter((item) => votesPerItem(item) > 1);
    const columns = (of) => [...columnsOf(of, false), ...(haveTwo ? [["sq_distance", of.map(squared)]] : [])];
    const guesses = {};
    for (const [name, of] of Object.entries(guessesOn(items))) {
      if (!of.every(({model}) => model.every(isFinite))) continue;
      for (const [measure, column] of columns(of)) {
        guesses[measure] = {...guesses[measure], [name]: mean(column)};
      }
    }
    return {
      values: haveTwo && !isOfLabels ? {...values, sq_distance: studentisedMean(items, resamples)} : values,
      guesses,
      differ: several.length ? {value: mean(several.map(ofOnePerson))} : undefined,
    };
  }

  function studentisedMean(items, resamples) {
    const column = items.map(squared), value = mean(column);
    if (items.filter(({human}) => Math.max(...human) < 1).length < FEWEST) return {value};
    const [low, high] = studentised(momentsOf([column], resamples), ([of]) => [[of, [1]], [1, [0]]], [0]);
    return {value, low, high};
  }

  /* A number of people in words, as chaos_utils/scoring/worth.py has it. */
  function peopleInWords(value) {
    if (!isFinite(value)) return value > 0 ? "∞" : "−∞";
    const digits = value.toFixed(Number(Math.abs(value) < 9.95));
    return digits.replace("-", /[1-9]/.test(digits) ? "−" : "");
  }

  /* Whether a number of people, as it is shown, is less than the base rate's. */
  const isBelow = (value) => value < 0 && peopleInWords(value).startsWith("−");

  /* An estimate in words, as Worth.text has it: 2.4 [2.2, 2.6]. */
  function inWords(name, {estimates, why, notRecalibrated, nVotes}) {
    const {value, low, high} = estimates[name], inPeople = !name.startsWith("skill");
    if (Number.isNaN(value)) return why || notRecalibrated;
    const shareInWords = (one) => {
      const digits = one.toFixed(2);
      return isFinite(one) ? digits.replace("-", /[1-9]/.test(digits) ? "−" : "") : peopleInWords(one);
    };
    const short = inPeople ? peopleInWords : shareInWords;
    const beyond = inPeople && value > nVotes ? ", more than voted" : "";
    return `${inPeople && isBelow(value) ? "below the base rate" : short(value)} [${short(low)}, ${short(high)}]${beyond}`;
  }

  /* The same; of what is no number, not why. */
  const withoutReason = (text) => text.replace(/^(undefined|too few items to say): .*/, "$1");

  Object.assign(window.Evaluate, {
    itemsOf, measured, worthOf, worths, valuesForSentences, draw, interval, inWords, peopleInWords, isBelow, withoutReason,
    squared, entropy,
  });
})();
