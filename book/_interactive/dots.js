// Rows of dots on one axis, with lines at what they are read against.
(() => {
  "use strict";

  const {make, choice, dot, number} = window.Page;
  const {svg, scale, bottom, inRows, fitted} = window.Axes;
  const WAYS = {lower: "lower is better", higher: "higher is better", zero: "nearer 0 is better"};
  const FAR = 3; // times the next value: what lies further out is no longer on the axis
  const ROW = 16; // pixels of a row of labels

  const capital = (text) => text[0].toUpperCase() + text.slice(1);
  /* A title may end in parentheses of its own. */
  const withUnit = ([title, unit]) => {
    if (!unit) return title;
    return title.endsWith(")") ? `${title}, ${unit}` : `${title} (${unit})`;
  };

  /* Numbers of people are as coarse as in the book's tables. */
  const digitsOf = (unit) => (unit === "people" ? 1 : 3);

  /* A list to choose from, whose values are names that an address can hold. */
  function named(label, name, options, onChange) {
    const list = choice(options, onChange);
    const take = (value) => {
      if (!options.some(([one]) => one === value)) return false;
      list.value = value;
      return true;
    };
    return {
      name, label: options.length > 1 ? make("label", "", `${label} `, list) : null, take,
      get value() { return list.value; },
      get place() { return list.selectedIndex; },
    };
  }

  function dots(place, data, keep) {
    const changed = () => { show(); keep(); };
    const dataset = named("Dataset", "dataset", data.datasets, changed);
    if (data.opens) dataset.take(data.opens); // without scores on it, the list opens on its first
    const measure = named("Measure", "measure", data.measures, changed);
    const sort = named("Sort by", "sort",
      [["value", "value"], [data.group, `${data.group}, then value`], ["name", "name"]], changed);
    const said = make("p", "way", "", {"aria-live": "polite"});
    const layer = make("div", "layer", {"aria-hidden": "true"});
    const list = make("ol", "dots");
    const figure = make("div", "plot", layer, list);
    const notes = data.notes.map((text) => make("p", "note", text)); // on what † marks
    place.append(make("div", "controls", [dataset, measure, sort].map(({label}) => label)), said, figure, ...notes);
    let shown, again;

    function show() {
      shown = chosen(data, dataset.place, measure.place);
      const {rows, about, lines, beyond, isAbove} = shown;
      const [title, unit, way, why] = about, digits = digitsOf(unit);
      const read = lines.map(([name, value]) => `${name} ${number(value, digits)}`).join(", ");
      said.replaceChildren(
        [`${capital(withUnit(about))}, on ${data.datasets[dataset.place][1]}; ${WAYS[way]}.`,
          rows.length ? "" : "No values for this choice.",
          isAbove ? "The axis does not start at 0." : "",
          ...(beyond.length ? [`The axis is cut: ${beyond.map(([name, value]) =>
            `${name}, at ${number(value, 1)},`).join(" and ")} ${beyond.length > 1 ? "lie" : "lies"} beyond its end.`] : []),
          why].filter(Boolean).join(" "),
        make("span", "sr-only", read && ` Lines: ${read}.`));
      list.setAttribute("aria-label", `${title}, sorted by ${sort.value}`);
      list.replaceChildren(...order(rows, data, way, sort.place).map((row) => line(row, data, shown)));
      again?.();
    }

    function draw(width) {
      const {domain, about, lines, isCut} = shown;
      const x = scale(domain, [0, width]);
      const marks = inRows(lines.map(([name, value]) => ({at: x(value), text: name})), [-8, width + 8]);
      const rows = 1 + Math.max(-1, ...marks.map(({row}) => row));
      figure.style.setProperty("--rows", `${rows * ROW + 4}px`);
      const wide = {y1: 0, y2: "100%"};
      layer.replaceChildren(svg("svg", {class: "axes", width: "100%", height: "100%"},
        svg("g", {class: "axis"}, x.ticks(5).map((tick) =>
          svg("line", {class: "grid", x1: x(tick), x2: x(tick), ...wide}))),
        svg("g", {class: "reference"}, // no line runs through a label of another
          marks.map(({at, row}) =>
            svg("line", {x1: at, x2: at, y1: -4 - (rows - 1 - row) * ROW, y2: "100%"})),
          marks.map(({text, x: middle, row}) =>
            svg("text", {x: middle, y: -7 - (rows - 1 - row) * ROW, "text-anchor": "middle"}, text))),
        svg("svg", {class: "axes", y: "100%"},
          bottom(x, 0, {label: `${withUnit(about)}; ${WAYS[about[2]]}`}),
          isCut ? svg("path", {class: "cut", d: `M${width - 14} 5l5 -10m4 0l-5 10`}) : null)));
    }
    show();
    again = fitted(layer, draw);
    return {controls: {dataset, measure, sort}, show};
  }

  /* What is drawn of a dataset by a measure: rows, lines, and from where to where. */
  function chosen(data, dataset, measure) {
    const rows = data.rows.filter((row) => row[0] === dataset && row[2] === measure);
    const lines = data.lines.filter((one) => one[0] === dataset && one[1] === measure)
      .map(([, , name, value]) => [name, value]).sort((a, b) => a[1] - b[1]);
    const sorted = [...rows].sort((a, b) => b[3] - a[3]);
    let n = 0;
    while (n < sorted.length - 1 && sorted[n][3] > FAR * Math.abs(sorted[n + 1][3])) n += 1;
    const isCut = n > 0 && n <= 2;
    const kept = isCut ? sorted.slice(n) : sorted;
    const ends = [...kept.map((row) => [row[4] ?? row[3], row[5] ?? row[3]]).flat(), ...lines.map(([, v]) => v)];
    const [lowest, most] = [Math.min(...ends), Math.max(0, ...ends)];
    const isAbove = ends.length > 0 && lowest > most / 2; // then the axis need not begin at 0
    const least = isAbove ? lowest - (most - lowest) / 20 : Math.min(0, lowest);
    return {
      rows, lines, isCut, isAbove, about: data.measures[measure].slice(1),
      beyond: isCut ? sorted.slice(0, n).map((row) => [data.systems[row[1]][0], row[3]]) : [],
      domain: [least, least + (most - least || 1) * (isCut ? 1.12 : 1.02)],
    };
  }

  function order(rows, data, way, by) {
    const signs = {lower: (value) => value, higher: (value) => -value, zero: Math.abs};
    const worth = (row) => signs[way](row[3]);
    const name = (row) => data.systems[row[1]][0];
    const group = (row) => data.systems[row[1]][1];
    const orders = [
      (a, b) => worth(a) - worth(b),
      (a, b) => group(a) - group(b) || worth(a) - worth(b),
      (a, b) => name(a).localeCompare(name(b)),
    ];
    return [...rows].sort(orders[by]);
  }

  function line([, system, , value, low, high], data, {domain, isCut, about}) {
    const [name, , look, more] = data.systems[system];
    const at = scale(domain, [0, 100]);
    const short = (one) => number(one, digitsOf(about[1]));
    const ends = high > low ? ` [${short(low)}, ${short(high)}]` : "";
    const isBeyond = isCut && value > domain[1];
    const mark = isBeyond ? make("i", "beyond", `${number(value, 1)} ▸`) : dot([value, low, high], at);
    return make("li", `of-${look}${ends ? "" : " bare"}`,
      make("span", "name", name, more ? make("small", "", ` ${more}`) : null),
      make("span", "track", mark, {"aria-hidden": "true"}),
      make("span", "number", short(value) + ends));
  }

  window.Interactive = {dots, named};
})();
