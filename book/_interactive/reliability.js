// A reliability diagram: how often answers are right, by how sure they are.
(() => {
  "use strict";

  const {sum, number} = window.Page;
  const {svg, scale, bottom, left} = window.Axes;
  const HEIGHT = 190, EDGE = {top: 24, right: 8, bottom: 40, left: 36};
  const BIN = 0.1, LEAST = 1.5, MOST = 9; // the width of a bin; of a dot, in pixels

  /* The bins are [lower edge, number of items, mean confidence, accuracy]. */
  function reliability(bins, width, {title, spoken, look}) {
    const x = scale([0, 1], [EDGE.left, width - EDGE.right]);
    const y = scale([0, 1], [HEIGHT - EDGE.bottom, EDGE.top]);
    const total = sum(bins.map(([, n]) => n));
    const across = (share) => LEAST + (MOST - LEAST) * Math.sqrt(share);
    return svg("svg", {class: "axes", width, height: HEIGHT, role: "img", "aria-label": spoken},
      svg("text", {class: "title", x: 0, y: 12}, title),
      bins.map(([low, n]) => svg("rect", {class: "share", x: x(low) + 1, y: y(n / total),
        width: Math.max(0, x(low + BIN) - x(low) - 2), height: y(0) - y(n / total)})),
      left(y, [x(0), x(1)], {ticks: [0, 0.5, 1], words: (tick) => number(tick, 1)}),
      bottom(x, HEIGHT - EDGE.bottom, {label: "confidence", ticks: [0, 0.5, 1], words: (tick) => number(tick, 1)}),
      svg("line", {class: "diagonal", x1: x(0), y1: y(0), x2: x(1), y2: y(1)}),
      svg("g", {class: "family", ...look}, bins.map(([, n, confidence, hits]) => [
        svg("line", {class: "gap", x1: x(confidence), x2: x(confidence), y1: y(confidence), y2: y(hits),
          "stroke-width": across(n / total)}),
        svg("circle", {cx: x(confidence), cy: y(hits), r: across(n / total) / 2 + 1})]).flat()));
  }

  Object.assign(window.Interactive, {reliability});
})();
