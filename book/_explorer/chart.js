/* The points: datasets with the same labels share a drawing. By their votes, two labels make a strip,
   three a triangle; more do not fit the plane: their items are placed by largest share and entropy.
   The other choices of axes take the JSD of one system or two. Chart.js draws the points; the table
   holds the same for those who cannot see or point. */
(function () {
  "use strict";

  const {make, bar, number, painted} = window.Page;
  const {entropyOf, titleOf} = window.Explorer;
  const SIN_60 = Math.sqrt(3) / 2;
  const RADIUS = 3;
  const SHOWN = 2; // items in a tooltip, where many lie on one spot
  const JSD_MOST = 0.85; // nats: a little above the most there can be

  function css(name) {
    return getComputedStyle(document.getElementById("explorer")).getPropertyValue(name).trim();
  }

  /* From shares (first, second, third) to the plane: lower left, top, lower right. */
  function inTriangle(shares) {
    return {x: shares[2] + shares[1] / 2, y: shares[1] * SIN_60};
  }

  /* The colour of a label in the look of the page. */
  function inLook([light, dark]) {
    return document.documentElement.dataset.theme === "dark" ? dark : light;
  }

  /* The most and the least entropy that k labels can have beside a largest share: what that one
     leaves is spread evenly over the others, or taken by as few as can hold it. */
  function bounds(largest, k) {
    const rest = (1 - largest) / (k - 1);
    const whole = Math.floor(1 / largest + 1e-9);
    return {
      most: entropyOf([largest, ...Array(k - 1).fill(rest)]),
      least: entropyOf([...Array(whole).fill(largest), 1 - whole * largest]),
    };
  }

  function drawLine({ctx, scales}, points, colour = "--frame") {
    ctx.save();
    ctx.lineWidth = 1;
    ctx.strokeStyle = css(colour);
    ctx.beginPath();
    for (const {x, y} of points) {
      ctx.lineTo(scales.x.getPixelForValue(x), scales.y.getPixelForValue(y));
    }
    ctx.stroke();
    ctx.restore();
  }

  /* All points lie between these lines. */
  function spreadFrame(chart, {length: k}) {
    const shares = Array.from({length: 201}, (_, i) => 1 / k + (1 - 1 / k) * i / 200);
    for (const side of ["most", "least"]) {
      drawLine(chart, shares.map((x) => ({x, y: bounds(x, k)[side]})));
    }
  }

  /* On this line, both systems are equally far from the votes. */
  function pairFrame(chart) {
    drawLine(chart, [{x: 0, y: 0}, {x: JSD_MOST, y: JSD_MOST}]);
  }

  /* The triangle's sides, its lines at a quarter, a half and three quarters, its corners' names. */
  function triangleFrame(chart, labels) {
    const {ctx, scales} = chart;
    for (const k of [0, 1, 2]) {
      const turned = (shares) => [0, 1, 2].map((i) => shares[(i + k) % 3]);
      const line = (ends, colour) =>
        drawLine(chart, ends.map((shares) => inTriangle(turned(shares))), colour);
      for (const level of [0.25, 0.5, 0.75]) line([[level, 1 - level, 0], [level, 0, 1 - level]], "--grid");
      line([[1, 0, 0], [0, 1, 0]]);
    }
    ctx.save();
    ctx.fillStyle = css("--words");
    ctx.font = `600 13px ${css("--pst-font-family-base") || "sans-serif"}`;
    const left = scales.x.getPixelForValue(0), right = scales.x.getPixelForValue(1);
    const below = scales.y.getPixelForValue(0) + 20;
    for (const [text, x, y, align] of [
      [labels[0], left - 10, below, "left"],
      [labels[1], (left + right) / 2, scales.y.getPixelForValue(SIN_60) - 12, "center"],
      [labels[2], right + 10, below, "right"],
    ]) {
      ctx.textAlign = align;
      ctx.fillText(text, x, y, (right - left) / 2);
    }
    ctx.restore();
  }

  /* A mark around one item. It lies over the canvas, so that moving it draws no point again. */
  function addMark(canvas) {
    const mark = make("span", "mark", [], {"aria-hidden": "true", hidden: true});
    canvas.parentElement.append(mark);
    return function place(chart, point) {
      mark.hidden = !point;
      if (!point) return;
      mark.style.left = `${chart.scales.x.getPixelForValue(point.x)}px`;
      mark.style.top = `${chart.scales.y.getPixelForValue(point.y)}px`;
    };
  }

  const HIDDEN_SCALES = {
    x: {type: "linear", display: false, min: -0.06, max: 1.06},
    y: {type: "linear", display: false, min: -0.12, max: 0.96},
  };

  function axis(title, {ticks, ...options}) {
    const colour = css("--words");
    return {
      type: "linear", title: {display: true, text: title, color: colour},
      grid: {display: false}, border: {color: css("--frame")}, ...options,
      ticks: {color: colour, precision: 0, ...ticks},
    };
  }

  /* One that goes up, with lines across. */
  const upright = (options) => ({...options, min: 0, grid: {color: css("--grid")}, border: {display: false}});

  function shareAxis(title, min) {
    const values = [0, 0.25, 0.5, 0.75, 1].filter((value) => value >= min);
    return axis(title, {
      min, max: 1.02, ticks: {callback: (value) => `${Math.round(100 * value)}%`},
      afterBuildTicks: (scale) => { scale.ticks = values.map((value) => ({value})); },
    });
  }

  const entropyAxis = ({length: k}) => axis("entropy, bits", {
    min: 0, max: Math.log2(k) + 0.05,
    ticks: {stepSize: 0.5, precision: undefined, includeBounds: false},
  });

  const jsdAxis = (system) => axis(`JSD, ${titleOf(system)}`, {
    min: 0, max: JSD_MOST, ticks: {stepSize: 0.2, precision: undefined, includeBounds: false},
  });

  const jsdOf = (item, system) => item.results.get(system)?.jsd;

  /* The ways to draw items: a name, scales, the place of an item (of which one may have none),
     perhaps a frame, and what is said of them. */
  const KINDS = {
    strip: {
      scales: (labels) => ({
        x: shareAxis(`share of votes for ${labels[1]}`, -0.02), y: upright(axis("items", {})),
      }),
      // Those that the filters leave come first, and so lie below the others.
      place({shares: [, x]}, view, piles) {
        piles.set(x, (piles.get(x) ?? 0) + 1);
        return {x, y: piles.get(x)};
      },
      note: () => "Items with the same votes are stacked.",
    },
    simplex: {
      scales: () => HIDDEN_SCALES, place: ({shares}) => inTriangle(shares), frame: triangleFrame,
      note: () => "The nearer a point is to a corner, the larger that label’s share of the votes.",
    },
    spread: {
      scales: (labels) => ({
        x: shareAxis("share of votes for the most frequent label", 1 / labels.length - 0.02),
        y: upright(entropyAxis(labels)),
      }),
      place: ({shares, entropy}) => ({x: Math.max(...shares), y: entropy}), frame: spreadFrame,
      note: () => "Points farther down and to the right show more agreement. All points lie between the two lines.",
    },
    "entropy-jsd": {
      scales: (labels, {system}) => ({x: entropyAxis(labels), y: upright(jsdAxis(system))}),
      place: (item, {system}) => ({x: item.entropy, y: jsdOf(item, system)}),
      note: ({system}) => `Points are higher where ${titleOf(system)} is farther from the votes, and farther right where `
        + "people disagree more.",
    },
    "two-systems": {
      scales: (labels, {system, other}) => ({x: jsdAxis(system), y: upright(jsdAxis(other))}),
      place: (item, {system, other}) => ({x: jsdOf(item, system), y: jsdOf(item, other)}),
      frame: pairFrame,
      note: ({system, other}) => `Above the line, ${titleOf(system)} is nearer to the votes than ${titleOf(other)} is.`,
    },
  };

  /* How items with so many labels are drawn, by the axes that are asked for. */
  function kindOf(n, axes) {
    const name = {entropy: "entropy-jsd", systems: "two-systems"}[axes]
      ?? {2: "strip", 3: "simplex"}[n] ?? "spread";
    return {name, ...KINDS[name]};
  }

  /* What a tooltip says of an item: its votes, its texts, and the JSD where the axes show it. */
  function described(item, view) {
    const far = [view.system, view.other].filter((name) => view.axes && item.results.has(name))
      .map((name) => make("span", "", `JSD ${number(jsdOf(item, name), 2)}, ${titleOf(name)}`));
    return make("div", "", [
      make("span", "", [make("b", "", item.dataset.short), " ", make("code", "uid", item.uid)]),
      bar(item.dataset, item.votes, String),
      ...item.text.map((text) => make("span", "tip-text", text)),
      ...far,
    ]);
  }

  /* The tooltip is a part of the page, since a canvas neither wraps texts nor lets them leave it. */
  function addTip(canvas, viewOf) {
    const tip = make("div", "tip", [], {"aria-hidden": "true", hidden: true});
    canvas.parentElement.append(tip);
    return function external({chart, tooltip}) {
      tip.hidden = !tooltip.opacity;
      if (tip.hidden) return;
      const items = [...new Set(tooltip.dataPoints.map(({raw}) => raw.item))];
      const more = items.length - SHOWN;
      tip.replaceChildren(
        ...items.slice(0, SHOWN).map((item) => described(item, viewOf())),
        more > 0 ? make("span", "", `and ${more} more at this point`) : "",
      );
      const left = Math.min(tooltip.caretX - tip.offsetWidth / 2, chart.width - tip.offsetWidth);
      tip.style.left = `${Math.max(0, left)}px`;
      const isLow = tooltip.caretY > chart.height / 2;
      tip.style.top = isLow ? "" : `${tooltip.caretY + 12}px`;
      tip.style.bottom = isLow ? `${chart.height - tooltip.caretY + 12}px` : "";
    };
  }

  /* What a colour stands for, where the drawing itself does not name the labels. */
  function legend({labels, colours}) {
    return make("span", "legend", labels.map((label, k) =>
      make("span", "", [make("span", "vote", [], {style: painted(colours[k])}), label])));
  }

  /* One drawing, of datasets with the same labels. `onChoose` gets the item whose point was
     chosen. */
  function drawing(place, group, onChoose) {
    const [{labels, colours}] = group;
    const canvas = make("canvas", "", [], {role: "img"});
    const caption = make("figcaption");
    const figure = make("figure", "", [make("div", "canvas", canvas), caption]);
    place.before(figure);
    const mark = addMark(canvas);
    let kind = kindOf(labels.length), view = {}, marked = null, all = [];
    const pointOf = (item) => all.find((point) => point.item === item);
    const chart = new window.Chart(canvas, {
      type: "scatter",
      data: {datasets: [{data: []}, ...labels.map(() => ({data: []})), {data: []}]},
      options: {
        animation: false, parsing: false, normalized: true, maintainAspectRatio: false,
        plugins: {
          legend: {display: false},
          tooltip: {enabled: false, animation: false, external: addTip(canvas, () => view)},
        },
        onHover: (event, hit) => { event.native.target.style.cursor = hit.length ? "pointer" : ""; },
        onClick: (event, hit) => {
          // A point that the filters leave lies above those that they fade.
          const chosen = hit.find(({datasetIndex}) => datasetIndex > 0) || hit[0];
          if (chosen) onChoose(chart.data.datasets[chosen.datasetIndex].data[chosen.index].item);
        },
      },
      plugins: [
        {id: "frame", beforeDatasetsDraw: (drawn) => kind.frame?.(drawn, labels)},
        {id: "mark", afterDraw: (drawn) => mark(drawn, marked && pointOf(marked))},
      ],
    });

    function paint() {
      const ring = {backgroundColor: "transparent", borderColor: css("--words"), borderWidth: 2};
      const styles = [
        {backgroundColor: css("--faint"), pointRadius: RADIUS - 1, pointHitRadius: 0},
        ...colours.map(inLook).map((colour) => ({
          backgroundColor: `${colour}a6`, hoverBackgroundColor: colour, pointRadius: RADIUS,
          hoverRadius: RADIUS + 2, pointHitRadius: 3,
        })),
        {...ring, hoverBackgroundColor: "transparent", hoverBorderColor: ring.borderColor,
          hoverBorderWidth: 2, pointRadius: RADIUS + 3, hoverRadius: RADIUS + 3, pointHitRadius: 0},
      ];
      styles.forEach((style, k) =>
        Object.assign(chart.data.datasets[k], {borderWidth: 0, hoverBorderWidth: 0, ...style}));
      chart.options.scales = kind.scales(labels, view);
      chart.update("none");
    }

    function show(found, others, pinned, asked) {
      const names = group.filter(({name}) => !asked.dataset || name === asked.dataset)
        .map(({short}) => short).join(", ");
      view = asked;
      kind = kindOf(labels.length, view.axes);
      figure.className = kind.name;
      caption.replaceChildren(make("b", "", names), `: ${kind.note(view)}`, legend(group[0]));
      const piles = new Map();
      const points = (items) => items.map((item) => ({...kind.place(item, view, piles), item}))
        .filter(({x, y}) => x !== undefined && y !== undefined);
      const groups = labels.map((_, k) => points(found.filter((item) => item.majority === k)));
      const n = groups.flat().length;
      groups.unshift(points(others));
      all = groups.flat();
      figure.hidden = !all.length;
      groups.push(pinned.map(pointOf).filter(Boolean));
      groups.forEach((group, k) => { chart.data.datasets[k].data = group; });
      canvas.setAttribute("aria-label", `${n} of ${all.length} items of ${names} as points. `
        + `${kind.note(view)} The table shows the same.`);
      paint();
    }

    function highlight(item) {
      marked = item && group.includes(item.dataset) ? item : null;
      mark(chart, marked && pointOf(marked));
    }

    return {group, show, highlight, paint};
  }

  /* All drawings. A dataset that came later has one of its own, from when it is first shown. */
  function makeDrawings(root, onChoose) {
    const drawings = new Map();
    const place = root.querySelector(".explorer-drawing > .note");
    const keyOf = ({name, extra, labels, colours}) => JSON.stringify([extra && name, labels, colours]);
    new MutationObserver(() => drawings.forEach((one) => one.paint()))
      .observe(document.documentElement, {attributeFilter: ["data-theme"]});

    /* Draw what was found of all items there are; a drawing of which no dataset was asked for leaves
       the page. */
    function show({found, items, pinned, datasets, asked}, view) {
      for (const dataset of datasets) {
        const key = keyOf(dataset);
        const group = datasets.filter((one) => keyOf(one) === key);
        if (!drawings.has(key)) drawings.set(key, drawing(place, group, onChoose));
      }
      const kept = new Set(found);
      for (const one of drawings.values()) {
        const own = ({dataset}) => one.group.includes(dataset) && asked.includes(dataset);
        const shown = items.filter(own);
        one.show(shown.filter((item) => kept.has(item)), shown.filter((item) => !kept.has(item)),
          pinned, view);
      }
    }

    return {show, highlight: (item) => drawings.forEach((one) => one.highlight(item))};
  }

  Object.assign(window.Explorer, {makeDrawings});
})();
