/* Which JSD was that: reads a number under one convention in every other. Exact where two conventions
   share a base; else what can be said of it, and what systems of the book had under both. */
(function () {
  "use strict";

  const {make, table, count} = window.Page;
  const {numberField, listField, inAddress, citing} = window.Calculators;
  const MOST_ITEMS = 1e9, MOST_LABELS = 1000, MANY = 8, LOG_2 = Math.log(2), SLACK = 1e-9;
  const SCOPES = {mean: "a mean over items", sum: "a sum over items", item: "the value of one item"};

  /* A number with as many digits as count. */
  function written(value, digits = 4) {
    if (value === Infinity) return "infinite";
    if (value === 0) return "0";
    if (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e6) return value.toExponential(digits - 1).replaceAll("-", "−");
    return String(Number(value.toPrecision(digits))).replace("-", "−");
  }

  /* A convention's name, whose exponents do not break over lines. */
  const named = ({convention}) => convention.replaceAll("e-", "e−");

  const scaleOf = (form, labels) => form.scale / (form.per_label ? labels : 1);
  const toBase = (form, value, labels) => (value - form.offset) / scaleOf(form, labels);
  const fromBase = (form, base, labels) => base * scaleOf(form, labels) + form.offset;

  /* Where values under a convention lie: least and most. */
  function rangeOf(form, labels) {
    const scale = Math.abs(scaleOf(form, labels));
    const most = Math.log(labels) * scale;
    if (form.entropic) return [form.low < 0 ? -most : 0, most];
    if (form.floor !== null && form.floor > 0) {
      return [0, Math.log((1 + (labels - 1) * form.floor) / form.floor) * scale];
    }
    return [form.low, form.high === null ? Infinity : form.high / (form.per_label ? labels : 1)];
  }

  /* What a mean distance, or one item's, says of the divergence, and the other way: the least and most,
     in nats. A mean of squares is no less than the square of the mean, and no more than the mean times
     the largest distance. */
  function acrossRoot(base, isDistance, isItem) {
    const largest = Math.sqrt(LOG_2);
    if (isItem) return isDistance ? [base ** 2, base ** 2] : [Math.sqrt(base), Math.sqrt(base)];
    return isDistance ? [base ** 2, base * largest] : [base / largest, Math.sqrt(base)];
  }

  /* What a value under one convention is under another: {value} where that is exact; else what is known:
     {least, most} whatever the items, {shifted, what} for the votes of one dataset, {ratios} of systems,
     and with these, `here`. */
  function convert(value, from, to, {labels, scope, shifts = []}) {
    const base = toBase(from, value, labels);
    if (from.group === to.group) return {value: fromBase(to, base, labels)};
    const groups = [from.group, to.group], found = {};
    let compared = (one) => one; // what ratios are to: the value, or its square or root
    if (groups.includes("distance") && groups.includes("divergence")) {
      const ends = acrossRoot(base, from.group === "distance", scope === "item").map((one) => fromBase(to, one, labels));
      if (ends[1] - ends[0] < SLACK) return {value: ends[0]}; // one item's, or all items' at 0 or the maximum
      [found.least, found.most] = ends;
      found.isPower = true;
      compared = (one) => fromBase(to, acrossRoot(toBase(from, one, labels), from.group === "distance", true)[0], labels);
    }
    const shift = shifts.find((one) => one.quantity === from.quantity && groups.includes(one.to)
      && groups.some((group) => group.startsWith(one.from)));
    if (shift && scope !== "item") {
      const sign = shift.to === to.group ? 1 : -1;
      Object.assign(found, {what: shift.what, isAdded: sign > 0, shift: shift.value * scaleOf(to, labels),
        shifted: fromBase(to, base + sign * shift.value, labels)});
    }
    const ratios = from.measured.map((one, i) => [one, to.measured[i]])
      .filter(([one, other]) => other !== undefined && one !== null && one > SLACK)
      .map(([one, other]) => (other === null ? Infinity : other / compared(one))).sort((a, b) => a - b);
    if (ratios.length && scope !== "item") {
      found.ratios = [ratios[0], ratios.at(-1)];
      const inside = (one) => Math.min(Math.max(one, found.least ?? one), found.most ?? one);
      found.here = found.ratios.map((ratio) => inside(ratio * compared(value)));
    }
    return found;
  }

  Object.assign(window.Calculators, {convert, rangeOf, written});

  function start(place) {
    const data = JSON.parse(place.querySelector("script").textContent);
    const byKey = new Map(data.forms.map((form) => [form.key, form]));
    const quantities = [...new Set(data.forms.map(({quantity}) => quantity))];
    const described = Object.entries(data.used_by).flatMap(([name, keys]) => keys.map((key) => [key, name]));
    const from = listField("Under the convention", [], changed);
    const quantity = listField("Measure", quantities.map((one) => [one, one]), () => { fill(); changed(); });
    const paper = listField("As described in", [["", "choose a paper or library"],
      ...described.map(([key, name]) => [`${key} ${name}`, `${name}: ${byKey.get(key).quantity} (${named(byKey.get(key))})`])], () => {
      const [key] = paper.value.split(" ");
      if (key) take(key);
      changed();
    });
    const value = numberField("Value", "0.25", {}, changed);
    const scope = listField("Reported as", Object.entries(SCOPES), changed);
    const items = numberField("Items in the sum", "1000", {least: 1, most: MOST_ITEMS, isWhole: true}, changed);
    const labels = numberField("Labels", "3", {least: 2, most: MOST_LABELS, isWhole: true}, changed);
    const status = make("p", "fault", "", {role: "status"});
    const answer = make("p", {class: "answer", role: "status"});
    const result = make("div", {class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Under every convention"});
    const note = make("p", "note", `Ratios were measured for these systems on the ${count(data.n_items)} items of ${data.dataset}`
      + `${data.synthetic ? " (synthetic sample)" : ""}: ${data.systems.join("; ")}. For other systems, the ratios differ.`);
    const cite = citing(data.cite);
    const convention = {
      get value() { return from.value; },
      take: (key) => byKey.has(key) && take(key),
    };
    const controls = {convention, value, scope, items, labels};
    fill();
    const address = inAddress(place, controls, status, show);
    place.append(
      make("form", "fields", value.place, paper.place, quantity.place, from.place, scope.place, items.place,
        labels.place),
      status, answer, result, note, cite.place);
    place.querySelector("form").addEventListener("submit", (event) => event.preventDefault());

    const ofLabels = ({quantity: one, per_label: isShared, entropic, floor}) =>
      one === quantity.value && (isShared || entropic || floor !== null);

    function fill() {
      const forms = data.forms.filter((form) => form.quantity === quantity.value);
      from.list.replaceChildren(...forms.map((form) => new Option(named(form), form.key)));
    }

    function take(key) {
      quantity.take(byKey.get(key).quantity);
      fill();
      return from.take(key);
    }

    function changed() {
      if (!paper.value.startsWith(`${from.value} `)) paper.take("");
      show();
      address.keep();
    }

    function show() {
      items.place.hidden = scope.value !== "sum";
      labels.place.hidden = !data.forms.some(ofLabels);
      const form = byKey.get(from.value), of = (field) => (field.place.hidden ? {value: NaN} : field.read());
      const read = {value: value.read(), labels: of(labels), items: of(items)};
      const fault = Object.values(read).find((one) => one.fault)?.fault ?? outside(form, read);
      result.hidden = note.hidden = cite.place.hidden = Boolean(fault);
      if (fault) {
        answer.textContent = fault;
        return;
      }
      const n = scope.value === "sum" ? read.items.value : 1;
      const about = {labels: read.labels.value, scope: scope.value, shifts: data.shifts};
      const all = data.forms.filter((one) => one.quantity === form.quantity);
      // What cannot be converted stands in the unit of what is given alone, where there is much of it.
      const others = all.filter((one) => all.length <= MANY || one.group === form.group || one.scale === form.scale
        || !all.some(({group, scale: unit}) => group === one.group && unit === form.scale));
      const found = others.map((to) => [to, convert(read.value.value / n, form, to, about)]);
      const exact = found.filter(([to, one]) => one.value !== undefined && to !== form);
      const cannot = others.length - 1 - exact.length;
      answer.textContent = `${written(read.value.value)} as ${form.quantity} (${named(form)}), ${SCOPES[scope.value]}, `
        + `${exact.length ? `is exactly ${exact.map(([to, one]) => `${written(one.value)} (${named(to)})`).join(", ")}` : "has no exact counterpart"}`
        + `${n > 1 && exact.length ? ", as means" : ""}. ${cannot ? `${cannot} other ${cannot === 1 ? "convention" : "conventions"} `
          + "cannot be computed from it." : ""}`;
      const rank = ([to, one]) => (to === form ? 0 : one.value !== undefined ? 1 : 2);
      found.sort((one, other) => rank(one) - rank(other));
      const rows = found.map(([to, one]) => rowOf(to, one, form, about));
      if (cannot) rows.splice(-cannot, 0, make("tr", "", make("th", {colspan: 3, scope: "rowgroup"}, "Cannot be converted")));
      result.replaceChildren(table("published", make("caption", "sr-only", "Under every convention"),
        ["Convention", scope.value === "sum" ? "As a mean" : "Value", "How"], rows));
      cite.fill(address.query(), answer.textContent);
    }

    /* What is wrong with a value that no distribution can have under a convention. */
    function outside(form, read) {
      const n = scope.value === "sum" ? read.items.value : 1, one = read.value.value / n;
      const [least, most] = rangeOf(form, read.labels.value);
      if (one >= least - SLACK && one <= most + SLACK) return undefined;
      const fits = data.forms.filter((other) => other.quantity === form.quantity && other !== form
        && one >= rangeOf(other, read.labels.value)[0] && one <= rangeOf(other, read.labels.value)[1]);
      const hint = form.high === 1 && one > 1 && one <= 100 ? " If it is a percentage, divide it by 100."
        : fits.length ? ` It would be possible under ${named(fits[0])}.` : "";
      const mean = n > 1 ? `The mean of ${written(one)}` : written(one);
      return `${mean} is impossible: ${form.quantity} (${named(form)}) lies ${most === Infinity ? `at ${written(least)} or above`
        : `between ${written(least)} and ${written(most)}`}.${hint}`;
    }

    function rowOf(to, found, form, {labels: n}) {
      const name = make("th", {scope: "row"}, named(to));
      const row = (value, how) => make("tr", to === form ? "given" : "", [name, make("td", "number", value), make("td", "", how)]);
      if (to === form) return row(written(found.value), "as given");
      if (found.value !== undefined) return row(written(found.value), `exact: ${recipe(form, to, n)}`);
      const parts = [];
      if (found.least !== undefined) parts.push(`Between ${written(found.least)} and ${written(found.most)} for any set of items.`);
      if (found.shifted !== undefined) {
        const [least, most] = rangeOf(to, n), gives = found.shifted >= least && found.shifted <= most
          ? `which gives ${written(found.shifted)}` : "which makes this value impossible";
        parts.push(`${found.isAdded ? "Add" : "Subtract"} ${found.what}; for ${data.dataset}’s items this is ${written(found.shift)}, ${gives}.`);
      }
      if (found.ratios) parts.push(measured(found, to));
      return row("–", parts.join(" ") || "This conversion needs the distributions.");
    }

    /* What systems had under both, and what it would be with their ratios. */
    function measured({ratios: [low, high], here, isPower}, to) {
      const [least, most, ...ends] = [low, high, ...here].map((one) => written(one, 3));
      const times = isPower ? `times the ${to.group === "distance" ? "root" : "square"}` : "times as large";
      if (low === Infinity) return "In our measurements, it was infinite.";
      if (least === most) return `In our measurements, it was ${least === "1" && !isPower ? "the same" : `${least} ${times}, which gives ${ends[0]}`}.`;
      return `In our measurements, it was ${least} to ${most} ${times}, which gives ${ends.join(" to ")}.`;
    }

    function recipe(form, to, n) {
      if (form.group !== to.group) return to.group === "distance" ? "the square root, in this unit" : "the square, in this unit";
      const factor = scaleOf(to, n) / scaleOf(form, n);
      const offset = to.offset - factor * form.offset;
      if (!offset) return Math.abs(factor - 1) < SLACK ? "the same" : `× ${written(factor)}`;
      return factor < 0 ? `${written(offset)} − ${factor === -1 ? "" : `${written(-factor)} × `}the value`
        : `${written(offset)} + ${written(factor)} × the value`;
    }

    address.take();
    show();
  }

  for (const place of document.querySelectorAll(".calculator[data-kind=conversions]")) start(place);
})();
