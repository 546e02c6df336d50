// Scores as rows of dots that the reader sorts and switches. The data stands in the page.
(() => {
  "use strict";

  const {make, choice, dot, number} = window.Page;
  const WAYS = {lower: "lower is better", higher: "higher is better", zero: "nearer 0 is better"};
  const KINDS = ["perfect_model", "second_crowd", "human", "people", "chance", "baseline", "model"];

  function start(place) {
    const data = JSON.parse(place.querySelector("script").textContent);
    const slider = place.dataset.slider;
    const controls = make("div", {class: "controls"});
    const choose = (label, names) => {
      const list = choice(names.map((name, place) => [place, name]), show);
      if (names.length > 1 || label !== "Dataset") controls.append(make("label", {}, `${label} `, list));
      return list;
    };
    const dataset = choose("Dataset", data.datasets);
    const measure = choose("Measure", data.measures.map(([title]) => title));
    const sort = choose("Sort by", ["value", "group, then value", "name"]);
    const last = data.steps.length - 1;
    const range = make("input", {type: "range", min: 0, max: last, step: 1});
    const output = make("output");
    if (slider) {
      const name = slider[0].toUpperCase() + slider.slice(1);
      range.value = nearest(data.steps, 1);
      range.addEventListener("input", show);
      controls.append(make("label", {class: "slider"}, `${name} `, range, output));
    }
    const way = make("p", {class: "way"});
    const list = make("ol", {class: "dots"});
    place.append(controls, way, list);

    function show() {
      const step = slider ? Number(range.value) : 0;
      output.textContent = slider ? data.steps[step].toFixed(2) : "";
      range.setAttribute("aria-valuetext", output.textContent);
      const of = data.rows.filter((row) => row[0] === +dataset.value && row[2] === +measure.value);
      const least = Math.min(0, ...of.map((row) => row[5] ?? row[4]));
      const top = Math.max(0, ...of.map((row) => row[6] ?? row[4])) * 1.02 || least + 1;
      const shown = order(of.filter((row) => row[3] === step), data, +measure.value, +sort.value);
      way.textContent = `${data.measures[measure.value][0]}; ${WAYS[data.measures[measure.value][1]]}`;
      list.replaceChildren(...shown.map((row) => line(row, data, least, top)));
    }
    show();
    place.hidden = false;
  }

  function nearest(steps, wanted) {
    const gaps = steps.map((step) => Math.abs(step - wanted));
    return gaps.indexOf(Math.min(...gaps));
  }

  function order(rows, data, measure, by) {
    const signs = {lower: (value) => value, higher: (value) => -value, zero: Math.abs};
    const worth = (row) => signs[data.measures[measure][1]](row[4]);
    const name = (row) => data.systems[row[1]][0];
    const group = (row) => KINDS.indexOf(data.systems[row[1]][1]);
    const orders = [
      (a, b) => worth(a) - worth(b),
      (a, b) => group(a) - group(b) || worth(a) - worth(b),
      (a, b) => name(a).localeCompare(name(b)),
    ];
    return [...rows].sort(orders[by]);
  }

  function line([, system, , , value, low, high], data, least, top) {
    const [name, kind] = data.systems[system];
    const at = (place) => 100 * (place - least) / (top - least);
    const ends = high > low ? ` [${number(low)}, ${number(high)}]` : "";
    return make("li", {class: `kind-${kind}`},
      make("span", {class: "name"}, name),
      make("span", {class: "track", "aria-hidden": "true"}, dot([value, low, high], at)),
      make("span", {class: "number"}, number(value) + ends));
  }

  document.querySelectorAll(".interactive").forEach(start);
})();
