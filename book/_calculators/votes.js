/* How many votes, how many items: reads the recorded tables between their rows, and says so where they
   end. The data stands in the page; a reader's file is read here and goes nowhere. */
(function () {
  "use strict";

  const {make, table, count, number, withCode, MOST_BYTES} = window.Page;
  const {svg, scale, bottom, left, curve, fitted} = window.Axes;
  const {numberField, listField, inAddress, citing, readVotes, TOO_LARGE, curvesOf, described} = window.Calculators;
  const HEIGHT = 300, EDGE = {top: 30, right: 12, bottom: 44, left: 52};
  const OWN = "own", Z = 1.959963984540054, MOST_ITEMS = 10_000_000, FEWEST = 10;
  const FEW_VOTES = 3; // where two models are compared: more items are worth more than more votes
  const EXAMPLE = "item,annotator,label\nt1,ana,positive\nt1,ben,neutral";
  const same = (value) => value;
  // How each curve is read between its rows: what is a straight line over what.
  const WAYS = {
    label: {over: Math.log, into: same, back: same},
    shares: {over: Math.log, into: Math.log, back: Math.exp},
    models: {over: (k) => 1 / k, into: same, back: same},
  };
  const QUESTIONS = {
    label: "A majority label that is right",
    shares: "Vote shares close to everyone’s",
    models: "Telling two models apart",
  };
  const TARGETS = {
    label: {label: "Right on at least (% of items)", first: "95", rules: {above: 0, most: 100}},
    shares: {label: "Mean distance (TVD) at most", first: "0.05", rules: {above: 0, most: 1}},
    models: {label: "Difference to detect", first: "0.02", rules: {above: 0, most: 1}},
  };

  /* A column of rows [votes, …] at any number of votes between the first and the last. */
  function between(rows, column, votes, {over, into, back}) {
    const found = rows.find(([k]) => k === votes);
    if (found) return found[column];
    const after = rows.findIndex(([k]) => k > votes);
    if (after <= 0) return undefined; // outside: nothing is extrapolated
    const [low, high] = [rows[after - 1], rows[after]];
    const part = (over(votes) - over(low[0])) / (over(high[0]) - over(low[0]));
    return back(into(low[column]) + part * (into(high[column]) - into(low[column])));
  }

  /* Rows of a mean and its standard deviation, as rows of the mean and the ends of its 95% interval. */
  const withEnds = (rows) => rows.map(([k, value, sd]) =>
    [k, value, Math.max(value - Z * sd, 1e-9), Math.min(value + Z * sd, 1)]);

  /* The fewest votes from which on a column is at the target or better; undefined where none are. */
  function fewest(rows, column, target, isHigher, way) {
    let found;
    for (let k = rows.at(-1)[0]; k >= rows[0][0]; k -= 1) {
      const value = between(rows, column, k, way);
      if (isHigher ? value < target : value > target) break;
      found = k;
    }
    return found;
  }

  /* How many items detect a difference, and what so many detect, by a variance. */
  const itemsFor = (reach, variance, difference) => Math.ceil((reach / difference) ** 2 * variance - 1e-9);
  const detected = (reach, variance, items) => reach * Math.sqrt(variance / items);

  Object.assign(window.Calculators, {between, withEnds, fewest, itemsFor, detected, WAYS});

  const percent = (share) => `${number(100 * share, 1)}%`, whole = window.Page.percent;
  const small = (value) => (value >= 0.0995 ? number(value, 2) : number(value, 3));

  function start(place) {
    const data = JSON.parse(place.querySelector("script").textContent);
    let own, refused, turn = 0; // what a file of the reader's supports; what is said where it has no curves; which file it is
    const datasets = listField("Votes like those on",
      [...data.datasets.map(({name, listed}) => [name, listed]), [OWN, "a file of your own"]], changed);
    const question = listField("What for", Object.entries(QUESTIONS), () => { ask(); changed(); });
    const target = numberField("", TARGETS.label.first, TARGETS.label.rules, changed);
    const measure = listField("By", Object.entries(data.measures), changed);
    const pair = listField("The two are", Object.entries(data.pairs), changed);
    const items = numberField("How many items you have (optional)", "1000", {least: 1, most: MOST_ITEMS, isWhole: true, isOptional: true}, changed);
    const price = numberField("Cost of a vote (optional)", "", {least: 0, most: 1e6, isOptional: true}, changed);
    const file = make("input", {type: "file", id: "calculator-file", accept: ".csv,.tsv,.txt,text/csv"});
    const fileNote = make("p", {class: "note", role: "status"});
    const fileField = make("div", "field file", make("label", {for: "calculator-file"}, "A CSV of votes or of counts, or drop it here"),
      file, make("p", "note", "One line per vote with the columns item, annotator and label, "
        + "or one line per item with one column of counts per label. At most 20 MB. It is read in your browser, never sent, "
        + "and not in the link. For example:"), make("pre", {}, EXAMPLE),
      fileNote);
    const status = make("p", "fault", "", {role: "status"});
    const answer = make("p", {class: "answer", role: "status"});
    const more = make("div", "more");
    const range = make("input", {type: "range", min: 1, step: 1, value: 5, id: "calculator-votes"});
    const cursorSays = make("output", {for: "calculator-votes"});
    const drawing = make("div", "drawing");
    const numbers = make("div", "numbers"), note = make("p", "note");
    const cite = citing(data.cite);
    const votes = { // the cursor; on models, also the votes that each item gets
      get value() { return range.value; },
      take(text) {
        const k = Number(text);
        if (!(Number.isInteger(k) && k >= 1 && k <= 100)) return false;
        range.max = 100;
        range.value = k;
        return true;
      },
    };
    const controls = {data: datasets, for: question, target, measure, pair, items, price, votes};
    let isPlaced = false; // whether the reader has put the cursor somewhere
    const address = inAddress(place, controls, status, (wanted) => {
      isPlaced = wanted.has("votes");
      ask(wanted.has("target"));
      show();
    });

    range.addEventListener("input", () => moveTo(Number(range.value)));
    file.addEventListener("change", () => { if (file.files.length) take(file.files[0]); });
    place.addEventListener("dragover", (event) => event.preventDefault());
    place.addEventListener("drop", (event) => {
      event.preventDefault();
      if (!event.dataTransfer.files.length) return;
      file.files = event.dataTransfer.files; // so that the form names it
      take(file.files[0]);
    });
    place.append(
      make("form", "fields", datasets.place, question.place, target.place, measure.place, pair.place,
        items.place, price.place, fileField),
      status, answer, more,
      make("div", "cursor-row", make("label", {for: "calculator-votes"}, "Votes per item"), range, cursorSays),
      drawing, note, numbers, cite.place);
    place.querySelector("form").addEventListener("submit", (event) => event.preventDefault());

    function changed() {
      if (question.value !== "models") isPlaced = false;
      show();
      address.keep();
    }

    function moveTo(k) {
      range.value = k;
      isPlaced = true;
      show();
      address.keep();
    }

    /* Set the fields to the question. Another question has another target. */
    function ask(isKept = false) {
      const {label, first, rules} = TARGETS[question.value];
      target.name.textContent = label;
      target.rules = rules;
      if (!isKept) target.take(first);
      const isOfModels = question.value === "models";
      if (isOfModels && !isPlaced) range.value = FEW_VOTES;
      for (const one of [measure, pair]) one.place.hidden = !isOfModels;
    }

    async function take(one) {
      datasets.take(OWN);
      turn += 1;
      const mine = turn;
      const found = one.size > MOST_BYTES ? {fault: TOO_LARGE} : readVotes(await one.text(), one.size);
      if (mine !== turn) return; // another file was chosen meanwhile
      const made = found.fault ? found : curvesOf(found.counts);
      own = made.label ? made : undefined;
      refused = made.differ ? nearest(made) : [];
      fileNote.replaceChildren(...(made.fault ? withCode(made.fault) : [described(found, made)]));
      fileNote.classList.toggle("fault", Boolean(made.fault));
      changed();
    }

    /* How often people differ in a file of few votes, and a way to the nearest dataset with as many labels. */
    function nearest({differ: [value, error], labels}) {
      const others = data.datasets.filter(({n_labels: n}) => n === labels).sort((a, b) => a.disagreement - b.disagreement);
      const gap = ({disagreement}) => Math.abs(disagreement - value);
      const text = [
        make("b", "", `In your file, two people differ on ${whole(value)} of the items`),
        ` (95% interval over items: ${whole(Math.max(value - Z * error, 0))} to ${whole(Math.min(value + Z * error, 1))}). `
        + "Your votes are too few for this page to measure more. ",
      ];
      const forecast = withCode("To forecast from your own votes, run `chaos run crowd -p data=FILE`.");
      if (!others.length) return [...text, `No dataset here has ${count(labels)} labels, so none can stand in for yours. `, ...forecast];
      const one = others.reduce((a, b) => (gap(b) < gap(a) ? b : a));
      const choose = () => {
        datasets.take(one.name);
        datasets.list.focus();
        changed();
      };
      return [
        ...text, `Of the datasets with ${count(labels)} labels, ${one.short} is nearest `
        + `(${others.map(({short, disagreement}) => `${short} ${whole(disagreement)}`).join(", ")}). `,
        make("button", {type: "button", onclick: choose}, `Show the answer for ${one.short}`), " ", ...forecast,
      ];
    }

    /* The curve that is asked for: its rows, how they are called; {fault} where there is none. */
    function asked() {
      const isOwn = datasets.value === OWN, kind = question.value;
      if (isOwn && kind === "models") {
        return {fault: "How much two models differ from item to item depends on their predictions, which this page "
          + "does not have. Run `chaos run ceilings -p data=VOTES.csv -p predictions=ONE.csv,OTHER.csv`."};
      }
      if (isOwn && !own) return {fault: refused ?? "Choose a CSV of votes or of counts, or another kind of data."};
      const one = isOwn ? own : data.datasets.find(({name}) => name === datasets.value);
      const like = isOwn ? "your file" : one.short;
      if (kind !== "models") return {kind, rows: withEnds(one[kind]), like, isOwn, enough: one.enough, draws: one.draws};
      const found = one.models[pair.value]?.[measure.value];
      if (!found) {
        const there = Object.keys(one.models).map((name) => data.pairs[name]).join(", ");
        if (!there) return {fault: `This book judges no models on ${like}, so it cannot say how much two models differ there.`};
        return {fault: `On ${like} there are no pairs of this kind, only: ${there}.`};
      }
      const {rows, n_pairs: pairs} = found;
      return {kind, rows, like, pairs, bias: measure.value === "jsd" ? one.bias : []};
    }

    function show() {
      fileField.hidden = datasets.value !== OWN;
      const wanted = asked(), inputs = {target: target.read(), items: items.read(), price: price.read()};
      const wrong = wanted.fault ?? inputs.target.fault; // the others are optional
      for (const one of [drawing, note, numbers, cite.place, place.querySelector(".cursor-row")]) one.hidden = Boolean(wrong);
      more.replaceChildren();
      if (wrong) {
        answer.replaceChildren(...(Array.isArray(wrong) ? wrong : withCode(wrong)));
        return;
      }
      const values = Object.fromEntries(Object.entries(inputs).map(([name, {value}]) => [name, value]));
      const last = wanted.rows.at(-1)[0];
      range.max = last;
      const said = wanted.kind === "models" ? ofModels(wanted, values) : ofVotes(wanted, values, last);
      answer.replaceChildren(...said.answer);
      more.replaceChildren(...said.more.filter(Boolean).map((text) => make("p", "", text)));
      note.textContent = said.note;
      drawn(wanted, values, said);
      cite.fill(address.query(), wanted.isOwn ? "" : answer.textContent);
    }

    const costOf = (n, price) => `${number(n * price, n * price < 100 ? 2 : 0).replace(/\B(?=(\d{3})+(?!\d))/g, ",")}`;

    /* What so many votes in all are, and cost. */
    function bill(k, {items: n, price}) {
      if (n === null) return "";
      const all = `${count(n)} items with ${count(k)} ${k === 1 ? "vote" : "votes"} each are ${count(n * k)} votes`;
      return price === null ? `${all}.` : `${all}; at ${price} per vote they cost ${costOf(n * k, price)}.`;
    }

    function ofVotes({kind, rows, like, isOwn, enough, draws}, values, last) {
      const isHigher = kind === "label", way = WAYS[kind];
      const goal = isHigher ? values.target / 100 : values.target;
      const at = (column) => fewest(rows, column, goal, isHigher, way);
      const [found, ...ends] = [at(1), at(2), at(3)];
      const [low, high] = isHigher ? ends.reverse() : ends;
      const what = isHigher ? `the majority label is right on ${values.target}% of items`
        : `the shares are within ${values.target} (TVD) of everyone’s, on average over items`;
      const atLast = between(rows, 1, last, way);
      const reading = (k) => {
        const [value, from, to] = [1, 2, 3].map((column) => between(rows, column, k, way));
        return isHigher ? `right on ${percent(value)} (${percent(from)} to ${percent(to)})`
          : `TVD ${number(value)} (${number(from)} to ${number(to)})`;
      };
      const end = `with ${last}, ${isHigher ? `it is right on ${percent(atLast)}` : `they are within ${small(atLast)}`}`;
      const text = found === undefined
        ? [make("b", "", `More than ${last} votes per item`), ` are needed before ${what} like those of ${like}: ${end}. `
          + "Our numbers end there, and we do not extrapolate."]
        : [make("b", "", `${found} ${found === 1 ? "vote" : "votes"} per item`),
          `${low === high ? "" : ` (${low ?? `more than ${last}`} to ${high ?? `more than ${last}`})`}${
            found === rows[0][0] ? ` ${found === 1 ? "is" : "are"} enough: ${reading(found)}, on items like those of ${like}.`
              : `: with these, ${what} like those of ${like}.`}`];
      if (!isPlaced) range.value = found ?? last;
      const chosen = Math.min(Number(range.value), last);
      if (isPlaced && chosen !== found) {
        text.push(make("span", "chosen", ` With ${chosen} ${chosen === 1 ? "vote" : "votes"}: ${reading(chosen)}.`));
      }
      return {
        answer: text,
        more: [(isPlaced || found) && bill(chosen, values)],
        note: isOwn ? `Here “right” and “everyone” refer to all votes on an item, ${enough} or more. The curve ends at a third of them, `
          + "and even there it is slightly too optimistic: on items like MNLI’s, three of ten votes are right on 77% of items if the "
          + "ten decide, but on 72% if a hundred decide. The range allows for other items like these."
          : `The range should contain 95% of studies like this one; it spans 1.96 standard deviations on each side, over ${draws} draws of `
          + "the truth and of the votes.",
        axis: isHigher ? "items with the right majority (%)" : "mean distance (TVD)",
        line: {at: isHigher ? 100 * goal : goal, text: isHigher ? `${values.target}%` : `${values.target}`},
        column: (row) => row.slice(1).map((value) => (isHigher ? 100 * value : value)),
        reading,
        top: isHigher ? 100 : undefined,
      };
    }

    function ofModels({rows, like, pairs, bias}, values) {
      const k = Math.min(Math.max(Number(range.value), rows[0][0]), rows.at(-1)[0]);
      const called = `${values.target} in ${data.measures[measure.value]}`;
      const needed = [1, 2, 3].map((column) =>
        itemsFor(data.reach, between(rows, column, k, WAYS.models), values.target));
      const each = `${k} ${k === 1 ? "vote" : "votes"} each`;
      const [n, low, high] = needed;
      const shown = (one) => (one > MOST_ITEMS ? `more than ${count(MOST_ITEMS)}` : one < FEWEST ? `fewer than ${FEWEST}` : count(one));
      const text = [make("b", "", `${shown(n)} items`), ` with ${each} (${shown(low)} to ${shown(high)}, depending on the pair) `
        + `detect that two models differ by ${called}, in 80% of studies with items like those of ${like}.`];
      const of = (column) => detected(data.reach, between(rows, column, k, WAYS.models), values.items);
      const seen = values.items !== null && values.items >= FEWEST
        && `${count(values.items)} items with ${each} detect a difference of ${small(of(1))} (${small(of(2))} to ${small(of(3))}).`;
      const shiftAt = (votes) => bias.filter(([size]) => size <= votes).at(-1);
      const known = shiftAt(k);
      const shifts = known && `With ${known[0]} ${known[0] === 1 ? "vote" : "votes"} per item`
        + `${known[0] === k ? "" : ` (the nearest number below ${k} in our tables)`}, JSD itself shifts the difference between two models by `
        + `${small(known[1])} (median; at most ${small(known[2])}), and more items do not help.`;
      const isMisledAt = (votes) => shiftAt(votes)?.[2] >= values.target;
      if (values.items >= FEWEST) text.push(` ${enoughFor(values.items)}.`);
      const isMisled = isMisledAt(k);
      if (isMisled) text.unshift(`${shifts} The unbiased squared distance is not shifted. `);

      /* Which number of votes on so many items detects the difference, if any. */
      function enoughFor(n) {
        const last = rows.at(-1)[0];
        let votes = fewest(rows, 1, n * (values.target / data.reach) ** 2, false, WAYS.models) ?? last + 1;
        while (votes <= last && isMisledAt(votes)) votes += 1;
        return `With ${count(n)} items, ${votes > last ? `even ${last} votes per item do not detect ${values.target}`
          : votes === 1 ? "one vote per item is enough" : `${votes} votes per item are enough`}`;
      }

      return {
        answer: text,
        more: [
          n <= MOST_ITEMS && n >= FEWEST && bill(k, {...values, items: n}),
          n < FEWEST && `With fewer than ${FEWEST} items, the approximation is not valid.`,
          seen,
          !isMisled && shifts,
        ],
        note: `The test is two-sided, at the 5% level. The range covers the book’s ${pairs} pairs of this kind, from the easiest to the hardest.`,
        axis: "items needed",
        line: values.items === null ? null : {at: values.items, text: `${count(values.items)} items`},
        column: (row) => row.slice(1).map((one) => (data.reach / values.target) ** 2 * one),
        reading: (votes) => `${shown(itemsFor(data.reach, between(rows, 1, votes, WAYS.models), values.target))} items`,
        isLogarithmic: true,
      };
    }

    /* Draw the curve with its band, its recorded points, the target and the cursor. */
    function drawn({kind, rows, like, isOwn}, values, said) {
      const way = WAYS[kind], last = rows.at(-1)[0];
      const all = Array.from({length: last}, (_, i) => i + 1);
      const path = all.map((k) => [k, ...said.column([k, ...[1, 2, 3].map((column) => between(rows, column, k, way))])]);
      const k = Math.min(Number(range.value), last);
      cursorSays.textContent = `${k}: ${said.reading(k)}`;
      range.setAttribute("aria-valuetext", `${k === 1 ? "1 vote" : `${k} votes`} per item: ${said.reading(k)}`);
      redraw = (width) => {
        const x = scale([1, last], [EDGE.left, width - EDGE.right], true);
        const lows = path.map((row) => Math.min(...row.slice(1))), highs = path.map((row) => Math.max(...row.slice(1)));
        const least = said.isLogarithmic ? Math.min(...lows) : kind === "label" ? Math.floor(Math.min(...lows) / 10) * 10 : 0;
        const most = said.top ?? Math.max(...highs) * (said.isLogarithmic ? 1.2 : 1.03);
        const y = scale([least, most], [HEIGHT - EDGE.bottom, EDGE.top], said.isLogarithmic);
        const isIn = said.line && said.line.at >= least && said.line.at <= most;
        const ends = x.domain.map(x), [here] = path.filter(([one]) => one === k);
        const band = [...path.map(([one, , low]) => [x(one), y(low)]), ...path.map(([one, , , high]) => [x(one), y(high)]).reverse()];
        const picture = svg("svg", {class: "axes", width, height: HEIGHT, role: "img",
          "aria-label": `Curve of ${said.axis} over votes per item, for ${like}. The slider reads it; the table below has its points.`},
          svg("text", {class: "title", x: 0, y: 14}, said.axis),
          left(y, ends, {words: (tick) => count(tick)}),
          bottom(x, HEIGHT - EDGE.bottom, {label: "votes per item", words: count,
            ticks: [...[1, 2, 5, 10, 20, 50].filter((tick) => 1.4 * tick < last), last]}),
          svg("path", {class: "band", d: `M${band.map((point) => point.map((one) => one.toFixed(1)).join(" ")).join("L")}Z`}),
          curve(path.map(([one, value]) => [x(one), y(value)])),
          rows.map((row) => svg("circle", {class: "point", cx: x(row[0]), cy: y(said.column(row)[0]), r: 3})),
          isIn ? svg("g", {class: "reference"},
            svg("line", {x1: ends[0], x2: ends[1], y1: y(said.line.at), y2: y(said.line.at)}),
            svg("text", kind === "models" ? {x: ends[1], y: y(said.line.at) - 4, "text-anchor": "end"}
              : {x: ends[0] + 4, y: y(said.line.at) - 4}, said.line.text)) : null,
          svg("line", {class: "cursor", x1: x(k), x2: x(k), y1: EDGE.top, y2: HEIGHT - EDGE.bottom}),
          svg("circle", {class: "here", cx: x(k), cy: y(here[1]), r: 4.5}));
        const follow = (event) => {
          if (event.type === "pointermove" && !event.buttons) return;
          const at = Math.round(x.value(event.clientX - picture.getBoundingClientRect().left));
          moveTo(Math.min(Math.max(at, 1), last));
        };
        picture.addEventListener("pointerdown", follow);
        picture.addEventListener("pointermove", follow);
        drawing.replaceChildren(picture);
      };
      again?.();
      const digits = kind === "label" ? 1 : kind === "shares" ? 3 : 0;
      const cell = (value) => make("td", "number", digits ? number(value, digits) : count(Math.ceil(value)));
      const shown = rows.map((row) => make("tr", "", make("th", {scope: "row"}, row[0]), said.column(row).map(cell)));
      const wasOpen = numbers.querySelector("details")?.open;
      numbers.replaceChildren(make("details", {open: Boolean(wasOpen)}, make("summary", {}, "The points of the curve"),
        table("published", `${like}${data.synthetic && !isOwn ? " (synthetic sample)" : ""}: ${said.axis}`,
          ["Votes per item", "Value", "From", "To"], shown)));
    }

    let redraw, again;
    ask();
    address.take();
    show();
    again = fitted(drawing, (width) => redraw?.(width));
  }

  for (const place of document.querySelectorAll(".calculator[data-kind=votes]")) start(place);
})();
