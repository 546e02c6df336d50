// Curves of several measures over one number, with a cursor that the reader moves.
(() => {
  "use strict";

  const {make, table, mean, number, painted} = window.Page;
  const {svg, scale, bottom, left, curve, inRows, fitted} = window.Axes;
  const HEIGHT = 190, EDGE = {top: 24, right: 8, bottom: 40, left: 36};
  const TICKS = [0.25, 0.5, 1, 2, 4, 8];

  function curves(place, data, keep) {
    const {steps, slider} = data;
    const title = slider[0].toUpperCase() + slider.slice(1);
    const range = make("input", {type: "range", min: 0, max: steps.length - 1, step: 1});
    const output = make("span", {class: "at", "aria-hidden": "true"}); // the slider says it
    const said = make("p", "way", `On ${data.dataset}; lower is better. Thick lines are means over seeds, thin `
      + "ones single seeds. Dashed: what a perfect model scores, or the oracle (the votes themselves).");
    const panels = data.measures.map((_, k) => panel(data, k, move, keep));
    const readout = make("div", "readout",
      {tabindex: "0", role: "region", "aria-label": "Values at the cursor"});
    place.append(
      make("div", "controls", make("label", "slider", `${title} `, range, output)), said,
      make("div", "panels", panels.map(({place: one}) => one)), readout);
    range.addEventListener("input", show);
    range.addEventListener("change", keep); // not while it is dragged: addresses change slowly
    range.value = nearest(steps, 1);

    function move(step) {
      range.value = step;
      show();
    }

    function show() {
      const step = Number(range.value);
      output.textContent = number(steps[step], 2);
      range.setAttribute("aria-valuetext", `${slider} ${output.textContent}`);
      panels.forEach((one) => one.point(step));
      readout.replaceChildren(values(data, step, `${title} ${output.textContent}`));
    }
    show();
    const control = {
      get value() { return number(steps[Number(range.value)], 2); },
      take: (value) => {
        const asked = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
        if (!(asked >= steps[0] - 0.005 && asked <= steps.at(-1) + 0.005)) return false;
        range.value = nearest(steps, asked);
        return true;
      },
    };
    return {controls: {[slider]: control}, show};
  }

  function nearest(steps, wanted) {
    const gaps = steps.map((step) => Math.abs(step - wanted));
    return gaps.indexOf(Math.min(...gaps));
  }

  /* The curves of each family by a measure: its seeds, and their mean. */
  function ofFamilies({families, systems, values}, measure) {
    return families.map((family, k) => {
      const seeds = values[measure].filter((_, place) => systems[place][1] === k);
      return {family, seeds, mean: seeds[0].map((_, step) => mean(seeds.map((seed) => seed[step])))};
    });
  }

  const look = ([, light, dark]) => ({style: painted([light, dark])});

  /* One measure: its curves, the line of what a perfect model would score, and the cursor. */
  function panel(data, measure, move, keep) {
    const [, title, unit] = data.measures[measure], {steps} = data;
    const lines = data.lines.filter(([of]) => of === measure);
    const all = ofFamilies(data, measure);
    const place = make("div", "panel");
    const most = Math.max(...data.values[measure].flat(), ...lines.map(([, , value]) => value));
    let at = 0, x, y, cursor;

    function draw(width) {
      x = scale([steps[0], steps.at(-1)], [EDGE.left, width - EDGE.right], true);
      y = scale([0, 1.03 * most], [HEIGHT - EDGE.bottom, EDGE.top]);
      const ends = x.domain.map(x);
      cursor = svg("g");
      const picture = svg("svg", {class: "axes", width, height: HEIGHT, role: "img",
        "aria-label": `Curves of ${title} over ${data.slider}; the values at the cursor stand in the table below`},
        svg("text", {class: "title", x: 0, y: 12}, unit ? `${title} (${unit})` : title),
        left(y, ends),
        bottom(x, HEIGHT - EDGE.bottom, {label: data.slider, words: String,
          ticks: TICKS.filter((tick) => tick >= x.domain[0] && tick <= x.domain[1])}),
        all.map(({family, seeds, mean: middle}) => svg("g", {class: "family", ...look(family)},
          seeds.length > 1 ? seeds.map((seed) => curve(pointsOf(seed), {class: "curve thin"})) : [],
          curve(pointsOf(middle)))),
        lines.map(([, name, value]) => reference(name, value, ends)),
        cursor);
      const follow = (event) => {
        if (event.type === "pointermove" && !event.buttons) return;
        move(nearest(steps, x.value(event.clientX - picture.getBoundingClientRect().left)));
      };
      picture.addEventListener("pointerdown", follow);
      picture.addEventListener("pointermove", follow);
      picture.addEventListener("pointerup", keep);
      place.replaceChildren(picture);
      point(at);
    }

    const pointsOf = (values) => values.map((value, step) => [x(steps[step]), y(value)]);

    /* Labelled at the end that is further from all curves. */
    function reference(name, value, [start, end]) {
      const room = (step) => Math.min(...data.values[measure].map((one) => Math.abs(one.at(step) - value)));
      const [{x: middle}] = inRows([{at: room(0) > room(-1) ? start : end, text: name}], [start, end]);
      return svg("g", {class: "reference"},
        svg("line", {x1: start, x2: end, y1: y(value), y2: y(value)}),
        svg("text", {x: middle, y: y(value) - 4, "text-anchor": "middle"}, name));
    }

    function point(step) {
      at = step;
      if (!cursor) return;
      const where = x(steps[step]);
      cursor.replaceChildren(
        svg("line", {class: "cursor", x1: where, x2: where, y1: EDGE.top, y2: HEIGHT - EDGE.bottom}),
        ...all.map(({family, mean: middle}) =>
          svg("circle", {class: "family", cx: where, cy: y(middle[step]), r: 3.5, ...look(family)})));
    }
    fitted(place, draw);
    return {place, point};
  }

  /* What the curves have at the cursor, in an order that does not change. */
  function values(data, step, caption) {
    const columns = data.measures.map((_, measure) => ofFamilies(data, measure));
    const rows = data.families.map((family, k) => {
      const n = columns[0][k].seeds.length;
      return make("tr", "",
        make("th", {scope: "row", ...look(family)}, make("i", "swatch"), family[0],
          n > 1 ? make("small", "", `, ${n} seeds`) : null),
        columns.map((column) => make("td", "number", number(column[k].mean[step]))));
    });
    const lines = data.measures.map((_, measure) => data.lines.find(([of]) => of === measure));
    rows.push(make("tr", "",
      make("th", {scope: "row"}, make("i", "swatch dashed"), "dashed line"),
      lines.map((line) => make("td", "number", number(line?.[2])))));
    const titles = data.measures.map(([, title]) => title.replace(/ ?\(.*/, ""));
    return table("published", caption, ["System", ...titles], rows);
  }

  Object.assign(window.Interactive, {curves});
})();
