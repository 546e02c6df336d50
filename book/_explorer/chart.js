/* The points: a triangle for items of three labels, a strip for those of two. Chart.js draws them;
   the table holds the same for those who cannot see or point. */
(function () {
  "use strict";

  const {make, classOf} = window.Explorer;
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
          ctx.fillText(text, x, y);
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

  function stripScales(labels) {
    const ticks = () => ({color: css("--words"), precision: 0});
    return () => ({
      x: {
        type: "linear", min: -0.02, max: 1.02, grid: {display: false}, border: {color: css("--frame")},
        title: {display: true, text: `share of votes for ${labels[1]}`, color: css("--words")},
        ticks: {...ticks(), callback: (value) => `${Math.round(100 * value)}%`},
        afterBuildTicks: (axis) => {
          axis.ticks = [0, 0.25, 0.5, 0.75, 1].map((value) => ({value}));
        },
      },
      y: {
        type: "linear", min: 0, grid: {color: css("--grid")}, border: {display: false},
        title: {display: true, text: "items", color: css("--words")}, ticks: ticks(),
      },
    });
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

  /* One drawing. `onChoose` is told the item whose point was chosen. */
  function drawing(figure, labels, scales, points, plugins, onChoose) {
    const canvas = figure.querySelector("canvas");
    const mark = addMark(canvas);
    let marked = null, all = [];
    const pointOf = (item) => all.find((point) => point.item === item);
    const chart = new window.Chart(canvas, {
      type: "scatter",
      data: {datasets: [{data: []}, ...labels.map(() => ({data: []}))]},
      options: {
        animation: false, parsing: false, normalized: true, maintainAspectRatio: false,
        scales: scales(),
        plugins: {legend: {display: false}, tooltip: tooltip()},
        onHover: (event, hit) => { event.native.target.style.cursor = hit.length ? "pointer" : ""; },
        onClick: (event, hit) => {
          // A point that the filters leave lies above those that they fade.
          const chosen = hit.find(({datasetIndex}) => datasetIndex > 0) || hit[0];
          if (chosen) onChoose(chart.data.datasets[chosen.datasetIndex].data[chosen.index].item);
        },
      },
      plugins: [...plugins, {id: "mark", afterDraw: (drawn) => mark(drawn, marked && pointOf(marked))}],
    });

    function paint() {
      const [faint, ...rest] = chart.data.datasets;
      Object.assign(faint, {backgroundColor: css("--faint"), pointRadius: RADIUS - 1,
        borderWidth: 0, hoverBorderWidth: 0, pointHitRadius: 0});
      rest.forEach((dataset, k) => {
        const colour = css(`--${classOf(labels[k])}`);
        Object.assign(dataset, {backgroundColor: `${colour}a6`, pointRadius: RADIUS,
          borderWidth: 0, hoverBorderWidth: 0, hoverRadius: RADIUS + 2, pointHitRadius: 3,
          hoverBackgroundColor: colour});
      });
      chart.options.scales = scales();
      chart.update("none");
    }

    function show(found, others) {
      const piles = new Map();
      const groups = labels.map((_, k) => points(found.filter((item) => item.majority === k), piles));
      groups.unshift(points(others, piles));
      groups.forEach((group, k) => { chart.data.datasets[k].data = group; });
      all = groups.flat();
      canvas.setAttribute("aria-label", `${found.length} of ${all.length} items as points, placed by `
        + `their votes for ${labels.join(", ")}. The table holds the same.`);
      chart.update("none");
    }

    function highlight(item) {
      marked = item && item.dataset.labels.length === labels.length ? item : null;
      mark(chart, marked && pointOf(marked));
    }

    paint();
    return {figure, labels, show, highlight, paint};
  }

  /* Both drawings; `items` are all there are. */
  function makeDrawings(root, items, onChoose) {
    const labelsOf = (n) => items.find((item) => item.dataset.labels.length === n)?.dataset.labels;
    const three = labelsOf(3), two = labelsOf(2);
    const drawings = [];
    if (three) {
      drawings.push(drawing(root.querySelector(".simplex"), three, () => HIDDEN_SCALES,
        trianglePoints, [triangleFrame(three)], onChoose));
    }
    if (two) {
      drawings.push(drawing(root.querySelector(".strip"), two, stripScales(two),
        stripPoints, [], onChoose));
    }
    new MutationObserver(() => drawings.forEach((one) => one.paint()))
      .observe(document.documentElement, {attributeFilter: ["data-theme"]});

    /* Draw what was found; a drawing of which the dataset was not asked for leaves the page. */
    function show(found, view) {
      const kept = new Set(found);
      for (const one of drawings) {
        const own = (item) => item.dataset.labels.length === one.labels.length
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
