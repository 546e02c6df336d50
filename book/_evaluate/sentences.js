/* The sentences on a file that a paper owes its readers.

   The same as chaos_utils/scoring/methods_sentences.py, whose wordings the page has as data. */
(function () {
  "use strict";

  const {count, sum} = window.Page;
  const {peopleInWords} = window.Evaluate;
  const PEOPLE = ["people_on_top", "people_on_top_recalibrated", "people_on_top_shrunk"];
  const PERCENT = {times: 100, digits: 1};
  const NAME = /\{(\w+)\}/g;
  const isNumber = (value) => value !== undefined && !Number.isNaN(value);

  function formatted(value, {times, digits}) {
    const text = (times * value).toFixed(digits);
    return text.replace("-", /[1-9]/.test(text) ? "−" : "");
  }

  function valueAndInterval(name, {value, low, high}, entry) {
    const ends = isNumber(low) ? ` [${formatted(low, entry)}, ${formatted(high, entry)}]` : "";
    return {[name]: formatted(value, entry), [`${name}_interval`]: ends};
  }

  function median(values) {
    const ordered = [...values].sort((a, b) => a - b), half = Math.floor(ordered.length / 2);
    return ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
  }

  /* How many items there are, and how many votes they have. */
  function factsOfItems({dataset, places}, known) {
    const {title, uids, votes} = dataset, {enough_votes: enough} = known.wordings;
    const numbers = places.map((i) => sum(votes.map((column) => column[i])));
    const fewest = Math.min(...numbers), most = Math.max(...numbers), middle = median(numbers);
    const part = places.length === uids.length ? "" : `${count(places.length)} of the `;
    return {
      dataset: title,
      synthetic: known.synthetic ? known.wordings.synthetic : "",
      items: `${part}${count(uids.length)} items`,
      votes: fewest === most ? `${count(most)} vote${most === 1 ? "" : "s"}`
        : `${count(fewest)} to ${count(most)} votes (median ${count(middle)})`,
      [middle < enough ? "few" : "enough"]: "",
      enough_votes: String(enough),
    };
  }

  /* Whether a base rate is less accurate than a uniform guess: it leaves out an item's own votes, and where labels
     are about equally frequent, the item's own label seems rarer than the others. */
  const hidesBaseRate = (name, {"base rate": rate, "uniform guess": guess}) => name === "new_accuracy" && rate < guess;

  function factsOfMeasures(values, guesses, {measures, references}) {
    const facts = Object.entries(measures).filter(([name]) => isNumber(values[name]?.value)).map(([name, entry]) => {
      const phrases = entry.beside.filter((other) => isNumber(guesses[name]?.[other]))
        .filter((other) => !(other === "base rate" && hidesBaseRate(name, guesses[name])))
        .map((other) => references[other].replace("{value}", () => formatted(guesses[name][other], entry)));
      const beside = phrases.length ? `; ${phrases.join(", ")}` : "";
      return {...valueAndInterval(name, values[name], entry), [`${name}_beside`]: beside};
    });
    return Object.assign({}, ...facts);
  }

  function factsOfWorth([worth]) {
    if (!worth) return {};
    const {estimates, why, notRecalibrated, isHard} = worth;
    const names = PEOPLE.filter((name) => !(isHard && name === PEOPLE[0]) && !Number.isNaN(estimates[name].value));
    if (!names.length) return {no_worth: (why || notRecalibrated).replace(/^[^:]*: /, "")};
    if (names.some((name) => estimates[name].value === Infinity)) return {endless: ""};
    const facts = Object.fromEntries(names.flatMap((name) => {
      const {value, low, high} = estimates[name];
      const ends = isNumber(low) ? ` [${peopleInWords(low)}, ${peopleInWords(high)}]` : "";
      return [[name, peopleInWords(value)], [`${name}_interval`, ends]];
    }));
    const how = {people_on_top_recalibrated: "mapped", people_on_top_shrunk: "shrunk"};
    const fitted = PEOPLE.slice(1).find((name) => name in facts);
    return fitted ? {...facts, [how[fitted]]: ""} : facts;
  }

  /* All that the sentences may say. Where a file covers a part of the items, what would have to be drawn for
     it is not known here: second crowd, perfect model, and the interval over annotators. */
  function factsOf(predictions, {values, guesses, differ}, worths, nResamples, known) {
    const {dataset, model, places, isOfLabels} = predictions, {wordings} = known;
    const isWhole = places.length === dataset.uids.length;
    const references = Object.fromEntries(Object.keys(wordings.measures).map((name) =>
      [name, {...guesses[name], ...(isWhole ? dataset.report.references[name] : {})}]));
    const ofVotes = isWhole ? dataset.report.facts
      : {annotators: "", ...(differ ? valueAndInterval("differ", differ, PERCENT) : {})};
    const facts = {
      ...factsOfItems(predictions, known), ...ofVotes, ...factsOfMeasures(values, references, wordings),
      ...factsOfWorth(worths), ...wordings.book, system: model, ...(isOfLabels ? {labels: ""} : {}),
      map_numbers: String(dataset.labels.length * (dataset.labels.length + 1)),
    };
    if (isOfLabels) delete facts.few; // which is about distances
    const names = [...Object.keys(wordings.measures), ...PEOPLE];
    if (names.some((name) => facts[`${name}_interval`])) {
      Object.assign(facts, {resampled: "", resamples: count(nResamples)});
    }
    return facts;
  }

  /* The paragraph that these facts allow. */
  function sentences(facts, {sentences: all}) {
    const isKnown = (words) => [...words.matchAll(NAME)].every(([, name]) => name in facts);
    return all.map((alternatives) => alternatives.find(isKnown)).filter((words) => words !== undefined)
      .map((words) => words.replace(NAME, (_, name) => facts[name])).join(" ");
  }

  Object.assign(window.Evaluate, {factsOf, sentences, median, hidesBaseRate});
})();
