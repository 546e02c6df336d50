/* The points: datasets with the same labels share a drawing. Two labels make a strip, three a
   triangle; more do not fit the plane: their items are placed by largest share and entropy. Chart.js draws
   them; the table holds the same for those who cannot see or point. */
(function () {
  "use strict";

  const {make, paint: coloured} = window.Explorer;
  const SIN_60 = Math.sqrt(3) / 2;
  const RADIUS = 3;
  const SHOWN = 4; // items in a tooltip, where many lie on one spot

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

  function sharesOf(item) {
    return item.votes.map((n) => n / item.total);
  }

  function trianglePoints(items) {
    return items.map((item) => ({...inTriangle(sharesOf(item)), item}));
  }

  /* Items with the same votes are piled up, those that the filters leave below the others. */
  function stripPoints(items, piles) {
    return items.map((item) => {
      const x = sharesOf(item)[1];
      const y = (piles.get(x) || 0) + 1;
      piles.set(x, y);
      return {x, y, item};
    });
  }

  function spreadPoints(items) {
    return items.map((item) => ({x: Math.max(...sharesOf(item)), y: item.entropy, item}));
  }

  function entropyOf(shares) {
    return shares.reduce((sum, share) => (share > 0 ? sum - share * Math.log2(share) : sum), 0);
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

  /* All points lie between these lines. */
  function spreadFrame({length: k}) {
    const shares = Array.from({length: 201}, (_, i) => 1 / k + (1 - 1 / k) * i / 200);
    return {
      id: "frame",
      beforeDatasetsDraw(chart) {
        const {ctx, scales} = chart;
        ctx.save();
        ctx.strokeStyle = css("--frame");
        for (const side of ["most", "least"]) {
          ctx.beginPath();
          for (const share of shares) {
            ctx.lineTo(scales.x.getPixelForValue(share),
              scales.y.getPixelForValue(bounds(share, k)[side]));
          }
          ctx.stroke();
        }
        ctx.restore();
      },
    };
  }

  /* The triangle's sides, its lines at a quarter, a half and three quarters, its corners' names. */
  function triangleFrame(labels) {
    return {
      id: "frame",
      beforeDatasetsDraw(chart) {
        const {ctx, scales} = chart;
        const line = (from, to, colour) => {
          const ends = [from, to].map(inTriangle);
          ctx.strokeStyle = colour;
          ctx.beginPath();
          ctx.moveTo(scales.x.getPixelForValue(ends[0].x), scales.y.getPixelForValue(ends[0].y));
          ctx.lineTo(scales.x.getPixelForValue(ends[1].x), scales.y.getPixelForValue(ends[1].y));
          ctx.stroke();
        };
        const turned = (shares, k) => [0, 1, 2].map((i) => shares[(i + k) % 3]);
        ctx.save();
        ctx.lineWidth = 1;
        for (let k = 0; k < 3; k += 1) {
          for (const level of [0.25, 0.5, 0.75]) {
            line(turned([level, 1 - level, 0], k), turned([level, 0, 1 - level], k), css("--grid"));
          }
          line(turned([1, 0, 0], k), turned([0, 1, 0], k), css("--frame"));
        }
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
      },
    };
  }

  /* A mark around one item. It lies over the canvas, so that moving it draws no point again. */
  function addMark(canvas) {
    const mark = make("span", "mark", [], {"aria-hidden": "true"});
    mark.hidden = true;
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

  const percents = (steps) => (axis) => { axis.ticks = steps.map((value) => ({value})); };

  function axis(title, options) {
    const colour = css("--words");
    return {
      type: "linear", title: {display: true, text: title, color: colour}, ...options,
      ticks: {color: colour, precision: 0, ...options.ticks},
    };
  }

  function shareAxis(title, min) {
    return axis(title, {
      min, max: 1.02, grid: {display: false}, border: {color: css("--frame")},
      ticks: {callback: (value) => `${Math.round(100 * value)}%`},
      afterBuildTicks: percents([0, 0.25, 0.5, 0.75, 1].filter((value) => value >= min)),
    });
  }

  const upright = (title, options) =>
    axis(title, {min: 0, grid: {color: css("--grid")}, border: {display: false}, ...options});

  const stripScales = (labels) => ({
    x: shareAxis(`share of votes for ${labels[1]}`, -0.02),
    y: upright("items"),
  });

  const spreadScales = ({length: k}) => ({
    x: shareAxis("share of votes for the most frequent label", 1 / k - 0.02),
    y: upright("entropy, bits", {
      max: Math.log2(k) + 0.05, ticks: {stepSize: 0.5, precision: undefined, includeBounds: false},
    }),
  });

  /* How items with so many labels are drawn. */
  function kindOf(n) {
    return {
      2: {
        name: "strip", scales: stripScales, points: stripPoints, frame: () => [],
        told: "Items with the same votes are piled up.",
      },
      3: {
        name: "simplex", scales: () => HIDDEN_SCALES, points: trianglePoints,
        frame: (labels) => [triangleFrame(labels)],
        told: "The nearer a corner, the larger its share of the votes.",
      },
    }[n] ?? {
      name: "spread", scales: spreadScales, points: spreadPoints,
      frame: (labels) => [spreadFrame(labels)],
      told: "The further down and right, the more agree. All points lie between the two lines.",
    };
  }

  function describe(context) {
    const {item} = context.raw;
    return `${item.votes.join(" / ")}  ${item.uid}`;
  }

  function tooltip() {
    return {
      displayColors: false,
      animation: false,
      filter: (_, index) => index < SHOWN,
      callbacks: {
        title: (shown) => (shown.length ? shown[0].raw.item.dataset.labels.join(" / ") : ""),
        label: describe,
        footer: (shown) => (shown.length === SHOWN ? "and perhaps others on this spot" : ""),
      },
    };
  }

  /* What a colour stands for, where the drawing itself does not name the labels. */
  function legend({labels, colours}) {
    return make("span", "legend", labels.map((label, k) =>
      make("span", "", [coloured(make("span", "vote"), colours[k]), label])));
  }

  /* One drawing, of datasets with the same labels. `onChoose` gets the item whose point was
     chosen. */
  function drawing(place, group, onChoose) {
    const [{labels, colours}] = group;
    const {name, scales, points, frame, told} = kindOf(labels.length);
    const names = group.map((dataset) => dataset.short).join(", ");
    const canvas = make("canvas", "", [], {role: "img"});
    const figure = make("figure", name, [
      make("div", "canvas", canvas),
      make("figcaption", "", [make("b", "", names), `: ${told}`, legend(group[0])]),
    ]);
    place.before(figure);
    const mark = addMark(canvas);
    let marked = null, all = [];
    const pointOf = (item) => all.find((point) => point.item === item);
    const chart = new window.Chart(canvas, {
      type: "scatter",
      data: {datasets: [{data: []}, ...labels.map(() => ({data: []}))]},
      options: {
        animation: false, parsing: false, normalized: true, maintainAspectRatio: false,
        scales: scales(labels),
        plugins: {legend: {display: false}, tooltip: tooltip()},
        onHover: (event, hit) => { event.native.target.style.cursor = hit.length ? "pointer" : ""; },
        onClick: (event, hit) => {
          // A point that the filters leave lies above those that they fade.
          const chosen = hit.find(({datasetIndex}) => datasetIndex > 0) || hit[0];
          if (chosen) onChoose(chart.data.datasets[chosen.datasetIndex].data[chosen.index].item);
        },
      },
      plugins: [
        ...frame(labels),
        {id: "mark", afterDraw: (drawn) => mark(drawn, marked && pointOf(marked))},
      ],
    });

    function paint() {
      const [faint, ...rest] = chart.data.datasets;
      Object.assign(faint, {backgroundColor: css("--faint"), pointRadius: RADIUS - 1,
        borderWidth: 0, hoverBorderWidth: 0, pointHitRadius: 0});
      rest.forEach((dataset, k) => {
        const colour = inLook(colours[k]);
        Object.assign(dataset, {backgroundColor: `${colour}a6`, pointRadius: RADIUS,
          borderWidth: 0, hoverBorderWidth: 0, hoverRadius: RADIUS + 2, pointHitRadius: 3,
          hoverBackgroundColor: colour});
      });
      chart.options.scales = scales(labels);
      chart.update("none");
    }

    function show(found, others) {
      const piles = new Map();
      const groups = labels.map((_, k) => points(found.filter((item) => item.majority === k), piles));
      groups.unshift(points(others, piles));
      groups.forEach((group, k) => { chart.data.datasets[k].data = group; });
      all = groups.flat();
      canvas.setAttribute("aria-label", `${found.length} of ${all.length} items of ${names} as `
        + `points, placed by their votes for ${labels.join(", ")}. The table holds the same.`);
      chart.update("none");
    }

    function highlight(item) {
      marked = item && group.includes(item.dataset) ? item : null;
      mark(chart, marked && pointOf(marked));
    }

    paint();
    return {figure, group, show, highlight, paint};
  }

  /* All drawings; `items` are all there are. */
  function makeDrawings(root, datasets, items, onChoose) {
    const groups = new Map();
    for (const dataset of datasets) {
      const key = JSON.stringify([dataset.labels, dataset.colours]);
      groups.set(key, [...(groups.get(key) ?? []), dataset]);
    }
    const place = root.querySelector(".explorer-drawing > .note");
    const drawings = [...groups.values()].map((group) => drawing(place, group, onChoose));
    new MutationObserver(() => drawings.forEach((one) => one.paint()))
      .observe(document.documentElement, {attributeFilter: ["data-theme"]});

    /* Draw what was found; a drawing of which the dataset was not asked for leaves the page. */
    function show(found, view) {
      const kept = new Set(found);
      for (const one of drawings) {
        const own = (item) => one.group.includes(item.dataset)
          && (!view.dataset || item.dataset.name === view.dataset);
        const shown = items.filter(own);
        one.figure.hidden = !shown.length;
        one.show(shown.filter((item) => kept.has(item)), shown.filter((item) => !kept.has(item)));
      }
    }

    return {show, highlight: (item) => drawings.forEach((one) => one.highlight(item))};
  }

  Object.assign(window.Explorer, {makeDrawings});
})();
