/* What the page shows: a fault, a table of measures, and the place among the systems. All text of a
   reader's file enters by textContent. */
(function () {
  "use strict";

  const {make, table, terms, choice, dot, count, number, withCode} = window.Page;
  const {inWords, withoutReason, strip, verdict, factsOf, sentences, hidesBaseRate, copyWarning} = window.Evaluate;
  const BETTER = {lower: "lower is better", higher: "higher is better"};
  const BY_WORTH = "Accuracy counts only the majority label; by worth, see the places above.";
  const KINDS = {human: "people", people: "people", chance: "baseline", yours: "your file"};

  /* Faults as messages: what each is, then what was found, expected and is to be done. */
  function faultMessage(fault, file) {
    return [fault, ...fault.others].flatMap(({message, found, expected, todo}) => {
      const said = Object.entries({where: file, found, expected: expected && withCode(expected), "to do": todo && withCode(todo)})
        .filter(([, text]) => text);
      return [make("p", "evaluate-problem", message), terms("", said)];
    });
  }

  const interval = ({low, high}) => (low === undefined ? "–" : `${number(low)} to ${number(high)}`);

  /* What follows in smaller type; nothing where there is nothing. */
  const small = (text) => (text ? [" ", make("span", "interval", text)] : []);

  /* A measure's unit, and which way is better. */
  const about = ({unit, better}, more) => [unit, BETTER[better], more].filter(Boolean).join(", ");

  function measuresTable({dataset, model, places}, values, known) {
    const rows = Object.entries(known.measures).filter(([name]) => name in values)
      .map(([name, measure]) => make("tr", "", [
        make("th", "", [measure.title, ...small(about(measure))], {scope: "row"}),
        make("td", "number", number(values[name].value)),
        make("td", "number", interval(values[name])),
      ]));
    const caption = `${model} on ${count(places.length)} items of ${dataset.short}`
      + `${known.synthetic ? " (synthetic sample)" : ""}`;
    return table("published", caption, ["Measure", "Value", "95% interval"], rows);
  }

  /* What the file is worth, beside a uniform guess and the base rate. */
  function worthPart(worths, known) {
    if (!worths.length) return [];
    // Without a map, there is nothing to show of it.
    const measures = Object.entries(known.worth).filter(([name]) =>
      !(name.endsWith("_recalibrated") && worths[0].notRecalibrated));
    const cell = (name, {plain}, worth) => {
      if (worth.isHard && plain) return make("td", "number", "–");
      const [value, ...ends] = withoutReason(inWords(name, worth)).split(/ (?=\[)/);
      return make("td", "number", [value, ...small(ends[0])]);
    };
    const rows = worths.map((worth, place) => make("tr", place ? "" : "yours", [
      make("th", "", worth.name, {scope: "row"}),
      ...measures.map(([name, about]) => cell(name, about, worth)),
    ]));
    const meaning = "Worth is the number of people you would have to ask about each item, in addition to knowing "
      + "how often each label is given overall (the base rate), to come as near to all people as the system does. Skill runs "
      + "from 0 (the base rate) to 1.";
    const caption = make("caption", "sr-only", "What it is worth");
    const [{why, notRecalibrated, isHard, credibility}] = worths;
    const marks = [1, 2, 5, 10].map((k) => `${k}: ${(k / (k + credibility)).toFixed(2)}`);
    const notes = [
      isHard ? "Recalibration replaces each label with the mean vote shares of other items that received the same label. "
        + "Shrinkage moves the predictions towards the base rate by one factor and needs fewer items than recalibration."
        : "Recalibration applies a map, fitted to the votes on other texts, to the system’s log-probabilities. It shows what "
          + "the system knows regardless of its temperature. Shrinkage moves the predictions towards the base rate by one "
          + "factor and needs fewer items than recalibration.",
      why && `Worth and skill: ${why}.`,
      notRecalibrated && `Recalibrated: ${notRecalibrated}.`,
      credibility >= 0 && `Skill by number of people asked, ${marks.join(", ")}.`,
    ];
    const headings = ["System", ...measures.map(([, {title}]) => title)];
    return [
      make("p", "", meaning),
      make("div", "table-scroll", table("published evaluate-worth", caption, headings, rows),
        {tabindex: "0", role: "region", "aria-label": "What it is worth"}),
      ...notes.filter(Boolean).map((text) => make("p", "note", text)),
    ];
  }

  /* Your system among the others by a measure, the best first; its place is that among the models of
     the paper, as the command counts it. */
  function placed(others, yours, name, better) {
    const sign = better === "higher" ? -1 : 1;
    const rows = others.filter((one) => one[name]).map((one) => ({...one, at: one[name]}));
    const models = rows.filter(({of_paper: isOfPaper}) => isOfPaper);
    const place = (value) => 1 + models.filter(({at: [other]}) => sign * (other - value) < 0).length;
    const {value, low = null, high = null} = yours;
    const ends = [place(low), place(high)].sort((a, b) => a - b);
    const all = [...rows, {kind: "yours", at: [value, low, high]}]
      .sort((a, b) => sign * (a.at[0] - b.at[0]) || (b.kind === "yours") - (a.kind === "yours"));
    return {all, place: place(value), ranked: models.length + 1, ends};
  }

  /* Where a value stands from left to right, in percent of the drawing. */
  function scaleOf(rows, isLogarithmic) {
    const scaled = (value) => (isLogarithmic ? Math.log(value) : value);
    const ends = rows.flatMap(({at}) => at).filter((value) => value !== null).map(scaled);
    const [least, most] = [Math.min(...ends), Math.max(...ends)];
    return (value) => 6 + 88 * (scaled(value) - least) / (most - least || 1);
  }

  function placesTable(model, all, measure, isLogarithmic) {
    const at = scaleOf(all, isLogarithmic);
    const rows = all.map(({system, kind, source, of_paper: isOfPaper, at: [value, low, high]}) => {
      const isYours = kind === "yours", isPublished = source === "published";
      const what = [KINDS[kind] ?? kind, isPublished && "published"].filter(Boolean).join(", ");
      return make("tr", isYours ? "yours" : (isOfPaper || isPublished) && "of-paper", [
        make("th", "", [isYours ? model : system, ...small(what)], {scope: "row"}),
        make("td", "number",
          [number(value), ...small(low !== null && `[${number(low)}, ${number(high)}]`)]),
        make("td", "evaluate-place", dot([value, low, high], at), {"aria-hidden": "true"}),
      ]);
    });
    const axis = make("th", "evaluate-axis", about(measure, isLogarithmic && "on a logarithmic axis"),
      {scope: "col", "aria-hidden": "true"});
    const caption = "Systems are sorted from best to worst. Bars are 95% intervals over items. Published values "
      + "have no interval and are hollow.";
    return table("published evaluate-places", caption, ["System", measure.title, axis], rows);
  }

  /* Your system among those of the book, by the measure that is chosen. */
  function placesPart({model, dataset}, values, known, id) {
    const byWorth = known.scoreboards?.[dataset.name] ? ` ${BY_WORTH}` : "";
    const names = Object.keys(known.measures).filter((name) => name in values
      && dataset.others.some((one) => one[name]));
    if (!names.length) return [];
    const chosen = choice(names.map((name) => [name, known.measures[name].title]), show, {id});
    const said = make("p", "evaluate-said", "", {"aria-live": "polite"});
    const body = make("div");
    function show() {
      const name = chosen.value, measure = known.measures[name];
      const {all, place, ranked, ends: [first, last]} = placed(
        dataset.others, values[name], name, measure.better
      );
      const reach = first === last ? ", and its whole interval lies at this place"
        : `, and its interval extends from place ${first} to place ${last}`;
      said.textContent = ranked > 1 // else the paper has no such number
        ? `By ${measure.title}, ${model} takes place ${place} of ${ranked} among the models of Nie et al. (2020) on `
          + `${dataset.short}${"low" in values[name] ? reach : ""}.${name === "new_accuracy" ? byWorth : ""}`
        : "";
      body.replaceChildren(placesTable(model, all, measure, name === "kl"));
    }
    show();
    const note = "Worth is measured by squared distance, after recalibration. These measures judge predictions as they "
      + "are, and can rank a model otherwise.";
    return [make("p", "evaluate-choice", [make("label", "", "Place by", {for: id}), chosen]), said, make("p", "note", note), body];
  }

  /* What a paper says of the file, to be copied. */
  function sentencesPart(predictions, valuesForSentences, worths, known, resamples, heading) {
    const facts = factsOf(predictions, valuesForSentences, worths, resamples.length, known);
    const text = make("pre", "", sentences(facts, known.wordings), {tabindex: "0"});
    const box = make("div", "copied evaluate-sentences", make(heading, "", "Sentences for your paper"), text,
      {"data-button": "Copy the sentences for your paper"});
    window.addCopyButton?.(box);
    const isWhole = predictions.places.length === predictions.dataset.uids.length;
    const notes = [known.wordings.to_add, !isWhole && "If a file covers only some of the items, this page does not "
      + "compute the scores of a second crowd and a perfect model, but `chaos evaluate --report` does."];
    return [box, ...notes.filter(Boolean).map((words) => make("p", "note", withCode(words)))];
  }

  /* All of one dataset's results, of which there are `several` where a file covers as many. */
  function results(predictions, values, valuesForSentences, worths, known, index, resamples, several) {
    const {dataset, notes, places} = predictions;
    const isWhole = places.length === dataset.uids.length;
    const explained = [
      "Intervals resample the items, each with its votes, and hold recalibrated predictions fixed. ECE "
        + "has no interval because resampling alone makes it larger.",
      ...notes.map((note) => `Note: ${note}.`),
      ...(dataset.others.length && !isWhole
        ? ["A system that covers only some of the items is not ranked among the other systems."] : []),
    ];
    const copied = copyWarning(predictions, known.copies);
    const drawn = isWhole ? strip(worths[0], known.skills?.[dataset.name] ?? [], dataset) : [];
    return [
      ...(several ? [make("h3", "", dataset.title)] : []),
      ...(copied ? [make("p", "evaluate-copied", make("strong", "", copied[0]), ` ${copied[1]}`)] : []),
      ...(drawn.length ? drawn : verdict(worths[0], dataset, places.length)),
      make("div", "evaluate-among"),
      measuresTable(predictions, values, known),
      ...worthPart(worths, known),
      ...explained.map((text) => make("p", "note", text)),
      ...(copied ? [] : sentencesPart(predictions, valuesForSentences, worths, known, resamples, several ? "h4" : "h3")),
      ...(isWhole ? placesPart(predictions, values, known, `evaluate-by-${index}`) : []),
    ];
  }

  /* What to compare the sentence's number with, where the page knows it: `guesses` on the same items; of a
     whole dataset, people too. */
  function yardsticks({dataset, places, isOfLabels}, guesses, known) {
    const isWhole = places.length === dataset.uids.length, name = isOfLabels ? "new_accuracy" : "dist_ce";
    const crowd = isWhole ? dataset.report.references[name]?.["second crowd"] : undefined;
    const rate = hidesBaseRate(name, guesses[name] ?? {}) ? undefined : guesses[name]?.["base rate"];
    const all = isOfLabels
      ? [["the most frequent label", rate], ["a second crowd", crowd]]
      : [["a uniform guess", guesses[name]?.["uniform guess"]],
        ["five people", isWhole ? known.five_people?.[dataset.name] : undefined], ["a second crowd", crowd]];
    const phrases = all.filter(([, value]) => value !== undefined)
      .map(([who, value]) => `${who}: ${number(100 * value, 0)}${isOfLabels ? "%" : ""}`);
    return phrases.length ? ` (${phrases.join(", ")})` : "";
  }

  /* The result in one sentence; of one label per item, which misplaces votes by definition, how often it is right. */
  function summary(predictions, {dist_ce: distance, new_accuracy: accuracy}, guesses, known) {
    const {model, dataset, places} = predictions;
    const {value, low, high} = distance ?? accuracy, unit = distance ? "" : "%";
    const shown = `${number(100 * value, 1)}${unit}${low === undefined ? "" : ` [${number(100 * low, 1)}, ${number(100 * high, 1)}]`}`;
    return `On ${count(places.length)} ${dataset.short} ${places.length === 1 ? "item" : "items"}, ${model} `
      + `${distance ? `misplaces ${shown} out of a hundred votes` : `gives the majority label on ${shown}`}`
      + `${yardsticks(predictions, guesses, known)}.`;
  }

  Object.assign(window.Evaluate, {faultMessage, results, summary, placed});
})();
