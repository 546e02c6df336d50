// A slider that drives a reliability diagram and curves of several measures, of one system of many.
(() => {
  "use strict";

  const {make, table, number, painted} = window.Page;
  const {svg, scale, bottom, left, curve, inRows, fitted} = window.Axes;
  const {named, reliability} = window.Interactive;
  const HEIGHT = 190, EDGE = {top: 24, right: 8, bottom: 40, left: 36};
  const TICKS = [0.25, 0.5, 1, 2, 4, 8];
  const LEADING = 2; // measures that the slider is about; the others are folded

  function curves(place, data, keep) {
    const {steps, slider, measures, families} = data;
    const title = slider[0].toUpperCase() + slider.slice(1);
    const range = make("input", {type: "range", min: 0, max: steps.length - 1, step: 1});
    const output = make("span", {class: "at", "aria-hidden": "true"}); // the slider says it
    const system = named("System", "system", families.map(([name, words]) => [name, words]), () => { show(); keep(); });
    const panels = measures.map((_, k) => panel(data, k, move, keep));
    const diagram = make("div", "panel diagram");
    const drawDiagram = fitted(diagram, (width) => diagram.replaceChildren(diagramAt(width)));
    const readout = make("div", "readout",
      {tabindex: "0", role: "region", "aria-label": "Values at the cursor"});
    const reading = make("p", "reading", {"aria-hidden": "true"}); // as the slider, in larger letters
    const leading = measures.slice(0, LEADING).map((_, k) => k);
    const lowest = leading.map((k) => make("button",
      {type: "button", onclick: () => { move(best(k)); keep(); }, "aria-label": `Lowest ${measures[k][1]}`}, measures[k][1]));
    place.append(
      make("div", "controls", system.label, make("label", "slider", `${title} `, range, output),
        make("span", "lowest-of", "Go to the lowest ", lowest)),
      reading,
      make("div", "panels", diagram, panels.slice(0, LEADING).map(({place: one}) => one)),
      make("p", "way", `All values are for ${data.dataset}. Dots in the diagram show how often answers with that `
        + "confidence match the majority label; larger dots and taller grey bars mean more items. For the curves, lower "
        + "is better, and a ring marks the lowest point. Thin lines are other runs of the system; grey lines are other "
        + "systems."),
      make("details", "", make("summary", "", "More measures, and all systems at the cursor"),
        make("div", "panels", panels.slice(LEADING).map(({place: one}) => one)), readout));
    range.addEventListener("input", show);
    range.addEventListener("change", keep); // not while it is dragged: addresses change slowly
    range.value = nearest(steps, 1);

    const said = (measure, step) => {
      const [, words, unit, digits] = measures[measure];
      const value = number(curveOf(data, measure, system.place)[step], digits);
      return unit ? `${value} ${unit} ${words}` : `${words} ${value}`;
    };
    const best = (measure) => {
      const values = curveOf(data, measure, system.place);
      return values.indexOf(Math.min(...values));
    };
    const sentence = (step) => leading.map((k) => said(k, step)).join(", ");

    function diagramAt(width) {
      const step = Number(range.value), [, words] = families[system.place];
      return reliability(data.diagrams[system.place][step], width, {
        title: "accuracy by confidence", look: look(families[system.place]),
        spoken: `Reliability diagram of ${words} at ${slider} ${number(steps[step], 2)}: ${said(0, step)}`,
      });
    }

    function move(step) {
      range.value = step;
      show();
    }

    function show() {
      const step = Number(range.value);
      output.textContent = number(steps[step], 2);
      range.setAttribute("aria-valuetext", `${slider} ${output.textContent}: ${sentence(step)}`);
      reading.textContent = `${sentence(step)}.`;
      drawDiagram();
      panels.forEach((one) => one.point(step, system.place));
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
    return {controls: {[slider]: control, system}, show};
  }

  function nearest(steps, wanted) {
    const gaps = steps.map((step) => Math.abs(step - wanted));
    return gaps.indexOf(Math.min(...gaps));
  }

  /* The values of the system that is shown of a family. */
  function curveOf({families, systems, values}, measure, family) {
    return values[measure][systems.findIndex(([name]) => name === families[family][0])];
  }

  const look = ([, , light, dark]) => ({style: painted([light, dark])});

  /* One measure: all curves, the lines of what others score, and the cursor. */
  function panel(data, measure, move, keep) {
    const [, title, unit] = data.measures[measure], {steps, systems, families} = data;
    const lines = data.lines.filter(([of]) => of === measure);
    const place = make("div", "panel");
    const most = Math.max(...data.values[measure].flat(), ...lines.map(([, , value]) => value));
    let at = 0, shown = 0, x, y, cursor;

    function draw(width) {
      x = scale([steps[0], steps.at(-1)], [EDGE.left, width - EDGE.right], true);
      y = scale([0, 1.03 * most], [HEIGHT - EDGE.bottom, EDGE.top]);
      const ends = x.domain.map(x);
      const chosen = curveOf(data, measure, shown), least = chosen.indexOf(Math.min(...chosen));
      const runs = data.values[measure].map((values, k) => ({values, isOurs: systems[k][1] === shown}));
      const path = (isOurs) => runs.filter((run) => run.isOurs === isOurs)
        .map(({values}) => curve(pointsOf(values), {class: "curve thin"}));
      cursor = svg("g", {class: "family", ...look(families[shown])});
      const picture = svg("svg", {class: "axes", width, height: HEIGHT, role: "img",
        "aria-label": `Curves of ${title} over ${data.slider}; the table below gives the values at the cursor`},
        svg("text", {class: "title", x: 0, y: 12}, unit ? `${title} (${unit})` : title),
        left(y, ends),
        bottom(x, HEIGHT - EDGE.bottom, {label: data.slider, words: String,
          ticks: TICKS.filter((tick) => tick >= x.domain[0] && tick <= x.domain[1])}),
        svg("g", {class: "others"}, path(false)),
        svg("g", {class: "family", ...look(families[shown])}, path(true), curve(pointsOf(chosen)),
          svg("circle", {class: "lowest", cx: x(steps[least]), cy: y(chosen[least]), r: 6})),
        cursor, // below the labels of lines, which it would strike through
        lines.map(([, name, value]) => reference(name, value, ends)));
      const follow = (event) => {
        if (event.type === "pointermove" && !event.buttons) return;
        move(nearest(steps, x.value(event.clientX - picture.getBoundingClientRect().left)));
      };
      picture.addEventListener("pointerdown", follow);
      picture.addEventListener("pointermove", follow);
      picture.addEventListener("pointerup", keep);
      place.replaceChildren(picture);
      point(at, shown);
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

    function point(step, family) {
      const isOther = family !== shown;
      at = step;
      shown = family;
      if (!cursor) return;
      if (isOther) return again();
      const where = x(steps[step]);
      cursor.replaceChildren(
        svg("line", {class: "cursor", x1: where, x2: where, y1: EDGE.top, y2: HEIGHT - EDGE.bottom}),
        svg("circle", {cx: where, cy: y(curveOf(data, measure, shown)[step]), r: 4}));
    }
    const again = fitted(place, draw);
    return {place, point};
  }

  /* What the curves have at the cursor, in an order that does not change. */
  function values(data, step, caption) {
    const rows = data.families.map((family, k) => make("tr", "",
      make("th", {scope: "row", ...look(family)}, make("i", "swatch"), family[1]),
      data.measures.map(([, , , digits], measure) =>
        make("td", "number", number(curveOf(data, measure, k)[step], digits)))));
    const lines = [...new Set(data.lines.map(([, name]) => name))];
    rows.push(...lines.map((name) => make("tr", "",
      make("th", {scope: "row"}, make("i", "swatch dashed"), name),
      data.measures.map(([, , , digits], measure) => make("td", "number",
        number(data.lines.find(([of, title]) => of === measure && title === name)?.[2], digits))))));
    const titles = data.measures.map(([, title]) => title);
    return table("published", caption, ["System", ...titles], rows);
  }

  Object.assign(window.Interactive, {curves});
})();
