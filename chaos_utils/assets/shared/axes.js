/* Axes of the figures that scripts draw, in SVG; axes.css has their colours and type.

   scale([least, most], [from, to], isLogarithmic)  where a value stands; has .domain, .value (the
                                                    way back) and .ticks(n)
   svg(tag, attributes, ...content)                 an element of SVG; what is null is left out
   bottom(x, y, {label, ticks, words})              the axis below a drawing: line, ticks, label
   left(y, [from, to], {ticks, words})              grid lines over these x, with their values
   curve(points)                                    a line through [x, y], broken where y is no number
   inRows(marks, [from, to])                        labels of marks {at, text}, each in the first row
                                                    with room: the marks with {x, row}, x the middle
   fitted(place, draw)                              calls draw(width) now and when the place's width
                                                    changes; returns a function that draws again

   Positions are pixels of the drawing: make it as wide as `fitted` says. */
(function () {
  "use strict";

  const {number} = window.Page;
  const SIGN = 6.6, APART = 8; // pixels: a sign of a label, and between two labels

  function svg(tag, attributes = {}, ...content) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...content.flat().filter((child) => child !== null));
    return element;
  }

  /* Round values from least to most, about n of them; on a logarithmic axis 1, 2, 5 of each power. */
  function ticksOf(least, most, n, isLogarithmic) {
    const inside = (value) => value >= least * (1 - 1e-9) - 1e-12 && value <= most + 1e-9 * Math.abs(most);
    if (isLogarithmic) {
      const powers = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
      const all = Array.from({length: powers[1] - powers[0] + 1}, (_, k) => powers[0] + k)
        .flatMap((power) => [1, 2, 5].map((lead) => lead * 10 ** power)).filter(inside);
      const ones = all.filter((value) => Math.log10(value) % 1 === 0);
      return all.length > 1.5 * n && ones.length > 1 ? ones : all;
    }
    const rough = (most - least) / n, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((lead) => lead * power).find((one) => one >= rough * 0.99);
    const first = Math.ceil(least / step - 1e-9);
    return Array.from({length: Math.floor(most / step + 1e-9) - first + 1},
      (_, k) => Number(((first + k) * step).toPrecision(12)));
  }

  function scale([least, most], [from, to], isLogarithmic = false) {
    const [into, back] = isLogarithmic ? [Math.log, Math.exp] : [(value) => value, (value) => value];
    const [start, end] = [into(least), into(most)];
    const at = (value) => from + (to - from) * (into(value) - start) / (end - start || 1);
    at.domain = [least, most];
    at.value = (place) => back(start + (end - start) * (place - from) / (to - from));
    at.ticks = (n) => ticksOf(least, most, n, isLogarithmic);
    return at;
  }

  /* A tick's value as it is written, with as many digits as the ticks need. */
  function written(ticks) {
    const digits = Math.max(...ticks.map((tick) => (String(tick).split(".")[1] ?? "").length));
    return (tick) => (digits > 4 ? String(tick) : number(tick, digits));
  }

  function bottom(x, y, {label = "", ticks = x.ticks(5), words = written(ticks)} = {}) {
    const [from, to] = x.domain.map(x);
    return svg("g", {class: "axis"},
      svg("line", {x1: from, x2: to, y1: y, y2: y}),
      ticks.map((tick) => svg("g", {transform: `translate(${x(tick)} ${y})`},
        svg("line", {y2: 5}), svg("text", {y: 17, "text-anchor": "middle"}, words(tick)))),
      label ? svg("text", {class: "label", x: (from + to) / 2, y: y + 35, "text-anchor": "middle"}, label) : null);
  }

  function left(y, [from, to], {ticks = y.ticks(4), words = written(ticks)} = {}) {
    return svg("g", {class: "axis"}, ticks.map((tick) => svg("g", {transform: `translate(0 ${y(tick)})`},
      svg("line", {class: "grid", x1: from, x2: to}),
      svg("text", {x: from - 5, dy: "0.35em", "text-anchor": "end"}, words(tick)))));
  }

  function curve(points, attributes = {}) {
    const d = points.map(([x, y], i) => {
      if (!Number.isFinite(y)) return "";
      return `${i && Number.isFinite(points[i - 1][1]) ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    }).join("");
    return svg("path", {class: "curve", ...attributes, d});
  }

  /* A label stands over its mark, or begins or ends there where the drawing ends. */
  function inRows(marks, [from, to]) {
    const ends = []; // of each row, so far
    return [...marks].sort((a, b) => a.at - b.at).map((mark) => {
      const width = mark.text.length * SIGN;
      const start = Math.max(from, Math.min(mark.at - width / 2, to - width));
      let row = ends.findIndex((end) => end + APART <= start);
      if (row < 0) row = ends.length;
      ends[row] = start + width;
      return {...mark, x: start + width / 2, row};
    });
  }

  function fitted(place, draw) {
    let width = 0;
    const again = () => { if (width) draw(width); };
    new ResizeObserver(([{contentRect}]) => {
      if (Math.round(contentRect.width) === width) return;
      width = Math.round(contentRect.width);
      again();
    }).observe(place);
    width = Math.round(place.clientWidth);
    again();
    return again;
  }

  window.Axes = {svg, scale, bottom, left, curve, inRows, fitted};
})();
