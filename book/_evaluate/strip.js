/* What a file is worth, on one scale with the systems of the book: skill, whose marks are people. */
(function () {
  "use strict";

  const {make, table, count} = window.Page;
  const {svg, scale, inRows, fitted} = window.Axes;
  const {inWords, peopleInWords, isBelow, withoutReason, neededToRecalibrate} = window.Evaluate;
  const LOWEST = -1, MARGIN = 0.06; // skill: what is further below the base rate stands at the edge
  const NAMED = "datasets.html#replace-an-annotator";
  const PEOPLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
  const LANES = [
    ["baseline", "guesses"], ["votes", "original votes, old label"], ["published", "the nine models of 2020"], ["released", "released since"],
    ["trained", "trained for this book"], ["fitted", "fitted on other items’ votes"],
    ["yours", "your file"],
  ];
  const LANE = 30, ROW = 16, NARROW = 520, NAMES = 190, APART = 24; // pixels

  /* The skill of k people who know the base rate. */
  const skillOf = (people, credibility) => people / (people + credibility);

  /* A value with the ends of its interval, which some have not. */
  const whole = ([value, low, high]) => [value, low ?? value, high ?? value];

  /* The lowest end that is drawn, or the edge. */
  const lowest = (rows) => Math.max(LOWEST, Math.min(0, ...rows
    .flatMap(({plain, recalibrated}) => [plain, recalibrated]).filter(Boolean).flatMap(whole)) - MARGIN);

  /* Whether a worth is recalibrated; else, of fewer items, what is shrunk stands for it. */
  const isMapped = ({notRecalibrated}) => !notRecalibrated;
  const howOf = (worth) => (isMapped(worth) ? "recalibrated" : "shrunk");

  /* Systems of the book and the file, each {lane, name, plain, recalibrated, words}; a value is
     [skill, low, high]. */
  function rowsOf(worth, systems) {
    const of = (name) => {
      const {value, low, high} = worth.estimates[name];
      return Number.isFinite(value) ? [value, low, high] : null;
    };
    const how = howOf(worth), said = (name) => withoutReason(inWords(name, worth));
    const yours = {
      lane: "yours", name: worth.name, plain: worth.isHard ? null : of("skill"),
      recalibrated: of(`skill_${how}`),
      words: [worth.isHard ? "–" : said("people_on_top"), said(`people_on_top_${how}`)],
    };
    return [...systems, yours];
  }

  /* The number of people with its interval. */
  function peopleOf(worth) {
    const name = `people_on_top_${howOf(worth)}`, text = inWords(name, worth), {value} = worth.estimates[name];
    return isBelow(value) ? text.replace(/^[^[]*/, `${peopleInWords(value)} `)
      : text.split(",").slice(0, 2).join(",");
  }

  /* What the answer does not say: what a system is worth as it is, where that is less than the base rate. */
  function asItIs(worth, {labels}) {
    if (worth.isHard || !isBelow(worth.estimates.people_on_top.value)) return "";
    const [without, needs] = isMapped(worth)
      ? ["recalibration", `Recalibration needs people’s votes on at least ${count(neededToRecalibrate(labels.length))} other items.`]
      : ["shrinkage", "Shrinkage needs people’s votes on other items."];
    return ` As it is, without ${without}, ${worth.name} is worth ${peopleInWords(worth.estimates.people_on_top.value)} people, `
      + `less than the base rate. ${needs}`;
  }

  /* What a worth does not mean. */
  function onReplacing() {
    return make("p", "", "This result does not show that the model may replace annotators. To test that, you need ",
      make("a", {href: NAMED}, "votes with named annotators"), ".");
  }

  const answer = (worth, dataset, text) =>
    [make("p", "evaluate-answer", text + asItIs(worth, dataset)), onReplacing()];

  /* The answer alone: the book's systems have no scores on some of the items. */
  function verdict(worth, dataset, nItems) {
    if (!worth || worth.why) return [];
    const how = howOf(worth) === "shrunk" ? "Shrunk towards the base rate" : "Recalibrated on other items’ votes";
    const where = nItems === 1 ? "this item" : `these ${count(nItems)} items`;
    return answer(worth, dataset, `${how}, ${worth.name} is worth ${peopleOf(worth)} people on ${where}.`);
  }

  /* What it is worth, and how many models are worth less, recalibrated; a fitted one is as it is. */
  function sentence(worth, rows, dataset) {
    const [value] = rows.at(-1).recalibrated ?? [NaN], how = howOf(worth);
    const models = rows.filter(({lane}) => ["published", "released", "trained"].includes(lane));
    const below = models.filter(({recalibrated: one}) => one && one[0] < value).length;
    let than = `more than ${below}`;
    if (below === models.length) than = "more than any";
    if (!below) than = "no more than any";
    const compared = models.length ? `, ${than} of the ${models.length} fine-tuned models in the figure` : "";
    return `${how === "shrunk" ? "Shrunk" : "Recalibrated"} on other items’ votes, ${worth.name} is worth ${peopleOf(worth)} `
      + `people on top of the base rate on ${dataset.short}${compared}.`;
  }

  function draw(place, width, rows, {credibility, nVotes}) {
    const isNarrow = width < NARROW;
    const least = lowest(rows);
    const x = scale([least, 1], [isNarrow ? 8 : NAMES, width - 12]);
    const step = isNarrow ? LANE + ROW : LANE;
    const lanes = LANES.filter(([lane]) => rows.some((row) => row.lane === lane));
    const guess = rows.find(({name}) => name === "uniform guess")?.plain[0];
    const marks = inRows([
      ["base rate", 0], ["five people", skillOf(5, credibility)],
      [`second crowd (${count(Math.round(nVotes))})`, skillOf(nVotes, credibility)],
      ...(guess >= least ? [["uniform guess", guess]] : []),
    ].map(([text, skill]) => ({text, at: x(skill)})), [0, width]);
    const top = ROW * (1 + Math.max(...marks.map(({row}) => row))) + 4;
    const bottom = top + lanes.length * step + 4;
    let last = x(0);
    const ticks = PEOPLE.map((people) => [people, x(skillOf(people, credibility))])
      .filter(([, at]) => at - last >= APART && (last = at));
    const picture = svg("svg", {class: "axes strip", width, height: bottom + 40, "aria-hidden": "true"},
      ticks.map(([, at]) => svg("g", {class: "axis"},
        svg("line", {class: "grid", x1: at, x2: at, y1: top, y2: bottom}))),
      marks.map(({at, text, x: middle, row}) => svg("g", {class: "reference"},
        svg("line", {x1: at, x2: at, y1: row * ROW + 15, y2: bottom}),
        svg("text", {x: middle, y: row * ROW + 12, "text-anchor": "middle"}, text))),
      lanes.map(([lane, title], k) => {
        const y = top + k * step + step - LANE / 2, own = rows.filter((row) => row.lane === lane);
        return svg("g", {class: `lane of-${lane}`},
          svg("line", {class: "floor", x1: 0, x2: width, y1: y + LANE / 2, y2: y + LANE / 2}),
          svg("text", isNarrow ? {x: 0, y: y - LANE / 2 - 3} : {x: 0, y: y + 4}, title),
          own.flatMap((row) => [["plain", -6], ["recalibrated", 6]].flatMap(([name, shift]) =>
            (row[name] ? mark(x, y + shift, whole(row[name]), row, name) : []))));
      }),
      svg("g", {class: "axis", transform: `translate(0 ${bottom})`},
        svg("line", {x1: x(least), x2: x(1)}),
        [[0, x(0)], ...ticks].map(([people, at]) => svg("g", {transform: `translate(${at} 0)`},
          svg("line", {y2: 5}), svg("text", {y: 17, "text-anchor": "middle"}, String(people)))),
        svg("text", {x: x(least), y: 17}, x(0) - x(least) > 60 ? "← below" : ""),
        svg("text", {x: width / 2, y: 35, "text-anchor": "middle"}, isNarrow
          ? "people to ask per item; more is better"
          : "people to ask per item, on top of the base rate; more is better")));
    place.replaceChildren(picture);
  }

  /* One value with its interval: filled as the system is, hollow recalibrated. */
  function mark(x, y, values, {name, words}, kind) {
    const [least, most] = x.domain;
    const [value, low, high] = values.map((one) => x(Math.min(most, Math.max(least, one))));
    return [
      svg("line", {class: "span", x1: low, x2: high, y1: y, y2: y}),
      svg("circle", {class: kind, cx: value, cy: y, r: 4},
        svg("title", {}, `${name}: ${words[kind === "plain" ? 0 : 1]}`)),
      values[0] < least ? svg("text", {x: value - 6, y: y + 4, "text-anchor": "end"}, "◂") : null,
    ];
  }

  /* A worth in words, its interval in smaller type. */
  function cell(words) {
    const [value, interval] = words.split(/ (?=\[)/);
    return make("td", "number", value, interval ? [" ", make("span", "interval", interval)] : []);
  }

  /* The sentence, the drawing, what its marks mean, and the same as a table. */
  function strip(worth, systems, dataset) {
    if (!worth || worth.why || !systems.length) return [];
    const rows = rowsOf(worth, systems), place = make("div", "evaluate-strip");
    fitted(place, (width) => draw(place, width, rows, worth));
    const how = howOf(worth);
    const best = ({recalibrated, plain}) => (recalibrated ?? plain)?.[0] ?? -Infinity;
    const lines = [...rows].sort((a, b) => best(b) - best(a)).map(({lane, name, words: [plain, recalibrated]}) =>
      make("tr", lane === "yours" ? "yours" : "", [
        make("th", "", name, {scope: "row"}),
        cell(plain), cell(recalibrated),
      ]));
    return [
      ...answer(worth, dataset, sentence(worth, rows, dataset)), place,
      make("p", "note", `Filled points show systems without recalibration${worth.isHard ? " (a single label has no filled point)" : ""}. `
        + `Hollow points show systems that are ${how} on other items’ votes. Bars show 95% intervals. `
        + "The scale is linear in skill, from the base rate to knowing everyone’s answers."),
      make("details", "", make("summary", "", "The same as a table"),
        make("div", "table-scroll", table("published evaluate-worth",
          make("caption", "sr-only", "Worth in people"), ["System", "worth", `worth, ${how}`], lines),
        {tabindex: "0", role: "region", "aria-label": "Worth in people"})),
    ];
  }

  Object.assign(window.Evaluate, {strip, verdict});
})();
