/* Brings the page to life: loads the data after the first paint, then lets the address decide. */
(function () {
  "use strict";

  const {
    readItems, addResults, nameOf, marked, rankedSystems, isCrossed, filtersSet, select, viewFrom, queryOf,
    fragmentOf, uidFrom, fill, showCard, choicesOf, fitted, csvOf, makeDrawings,
  } = window.Explorer;
  const {make, save, count, load, unpack} = window.Page;
  const root = document.getElementById("explorer");
  const form = root.querySelector("form");
  const fold = root.querySelector(".explorer-fold");
  const dialog = root.querySelector("dialog");
  const table = root.querySelector(".explorer-table");
  const phone = matchMedia("(max-width: 600px)"); // as the style sheet has it
  // Typing asks anew with each key, and browsers let no address change so often: it waits for a rest.
  const REST = 250;

  const items = [], byName = new Map(), rankings = new Map();
  let data; // with the datasets that are here; `more` are loaded when they are chosen
  let view, found = [], page = 1, drawings = null, waiting, turn = 0;

  /* Say something in its place, which is hidden while nothing is said. */
  function say(words, name = "count") {
    const place = root.querySelector(`.explorer-${name}`);
    place.textContent = words;
    place.hidden = !words;
  }

  function addItems(dataset, fields) {
    const own = readItems(dataset, fields, data.scale, items.length);
    for (const item of own) {
      items.push(item);
      byName.set(item.name, item);
    }
    for (const system of dataset.systems) if (system.shares) addResults(own, system, data.scale);
  }

  /* Load what is missing, then go on; at once where nothing is. */
  function having(missing, loadOne, goOn) {
    turn += 1;
    const mine = turn;
    if (!missing.length) {
      goOn();
      return;
    }
    say("Loading the items …");
    Promise.all(missing.map(loadOne)).then(() => { if (mine === turn) goOn(); }).catch(report);
  }

  /* Load the datasets among these that are not here yet, then go on. */
  function withData(names, goOn) {
    having(data.more.filter(({name}) => names.includes(name)
      && !data.datasets.some((dataset) => dataset.name === name)), loadMore, goOn);
  }

  /* Load the systems of the view that are not here yet, then go on. */
  function withSystems(goOn) {
    const names = [view.system, view.other];
    having(lacking(data.datasets).filter(([, {name}]) => names.includes(name)), loadSystem, goOn);
  }

  /* The systems of some datasets whose columns are not here yet. */
  function lacking(datasets) {
    return datasets.flatMap((dataset) => dataset.systems
      .filter((system) => !system.shares).map((system) => [dataset, system]));
  }

  async function loadSystem([dataset, system]) {
    const columns = await load(system.file, system.global);
    if (system.shares) return; // it was asked for twice
    Object.assign(system, columns);
    addResults(itemsOf([dataset]), system, data.scale);
  }

  async function loadMore({name, file, global}) {
    const {numbers, texts} = await load(file, global);
    if (data.datasets.some((dataset) => dataset.name === name)) return;
    const dataset = {...numbers, extra: true};
    data.datasets.push(dataset);
    addItems(dataset, texts);
  }

  function report(fault) {
    say(`The items could not be loaded (${fault.message}). Use a newer browser, or build the site again.`);
    throw fault;
  }

  /* The datasets that a view asks for: one, or all of the book. */
  function askedFor(dataset) {
    return data.datasets.filter(({name, extra}) => (dataset ? name === dataset : !extra));
  }

  function itemsOf(datasets) {
    return items.filter(({dataset}) => datasets.includes(dataset));
  }

  /* The systems on a dataset, or on all of the book, the one that is taken by default first. */
  function systemsOn(dataset) {
    if (!rankings.has(dataset)) {
      rankings.set(dataset, rankedSystems(askedFor(dataset)));
    }
    return rankings.get(dataset);
  }

  const bestOn = (dataset) => systemsOn(dataset)[0] ?? "";

  const queryHere = () => queryOf(view, bestOn(view.dataset));

  /* The datasets that must be loaded for a view. */
  const namesIn = ({dataset, pins}) => [dataset, ...pins.map((pin) => pin.split("/", 1)[0])];

  const pinnedItems = () => view.pins.map((name) => byName.get(name));

  function offerDatasets() {
    const options = (datasets) => datasets.map(({name, listed}) => make("option", {value: name}, listed));
    form.elements.dataset.append(...options(data.datasets));
    if (!data.more.length) return;
    form.elements.dataset.append(
      make("optgroup", {label: "more, loaded when chosen"}, options(data.more)));
  }

  /* Let lists offer what can be chosen there, after what asks for nothing. */
  function offer(choices, systems) {
    for (const [name, values] of Object.entries(choices)) {
      const list = form.elements[name];
      const others = values.filter((value) => name !== "other" || value !== view.system);
      list.replaceChildren(...[...list.options].filter(({value}) => !value),
        ...others.map((value) => make("option", {value}, marked(value, systems))));
    }
  }

  const choicesOn = (dataset) => choicesOf(askedFor(dataset), systemsOn(dataset));

  /* Whether a dataset has all that the view's facets ask for; if not, choosing it drops some. */
  function hasAll(name) {
    const kept = fitted(view, choicesOn(name));
    return ["majority", "old", "change", "reason", "verdict", "far"].every((one) => kept[one] === view[one]);
  }

  /* Say beside each choice how many items would fit; one that none fits is offered no more. */
  function showCounts(counts) {
    for (const [name, of] of Object.entries(counts)) {
      for (const option of form.elements[name].options) {
        const {value} = option, n = of.get(value) ?? 0, text = option.dataset.text ??= option.text;
        if (!value) continue;
        // Datasets that are loaded when chosen, or that lack what is asked for, have no number.
        const isKnown = name !== "dataset"
          || (!data.more.some((one) => one.name === value) && hasAll(value));
        option.disabled = isKnown && n === 0 && value !== view[name];
        option.textContent = text + (isKnown ? ` (${count(n)})` : "");
      }
    }
    form.elements.axes.querySelector("[value=systems]").disabled = !view.other;
  }

  /* Leave out what the datasets that the view asks for do not have. */
  function fit() {
    const asked = askedFor(view.dataset), choices = choicesOn(view.dataset);
    view = fitted(view, choices);
    offer(choices, asked.flatMap(({systems}) => systems));
    const parts = {
      old: choices.old.length, reasons: choices.reason.length, systems: view.system,
      pairs: choices.system.length > 1, other: view.other,
      texts: asked.some(({fields}) => fields.length),
    };
    for (const [name, there] of Object.entries(parts)) root.classList.toggle(`without-${name}`, !there);
    const most = Math.max(...asked.map((dataset) => Math.log2(dataset.labels.length)));
    for (const name of ["low", "high"]) form.elements[name].max = most.toFixed(3);
    writeForm();
  }

  /* Take the view of an address, then go on. */
  function take(query, goOn) {
    const asked = viewFrom(query);
    const names = [...data.datasets, ...data.more].map(({name}) => name);
    if (!names.includes(asked.dataset)) asked.dataset = "";
    asked.pins = asked.pins.filter((pin) => names.includes(pin.split("/", 1)[0]));
    withData(namesIn(asked), () => {
      view = asked;
      view.pins = view.pins.filter((pin) => byName.has(pin));
      fit();
      withSystems(goOn);
    });
  }

  /* Show what the view asks for. What fits is counted in words that are read aloud. */
  function show() {
    const asked = askedFor(view.dataset);
    const there = itemsOf(asked);
    // For the counts by dataset, all of the book's are looked at, whichever one is asked for.
    const selected = select(itemsOf([...new Set([...askedFor(""), ...asked])]), view);
    found = selected.found;
    showCounts(selected.counts);
    page = fill(root, found, pinnedItems(), view);
    drawFound();
    const of = `${count(there.length)} items${view.dataset ? ` of ${asked[0].short}` : ""}`;
    say(found.length ? `${count(found.length)} of ${of}`
      : `None of the ${of} match. Clear or widen the filters.`);
    root.querySelector("[data-csv]").hidden = !found.length;
    fold.querySelector(".explorer-set").textContent = `${filtersSet(view) || "none"} set`;
    const crossed = isCrossed(view);
    root.querySelector(".explorer-crossed").hidden = !crossed;
    for (const name of ["low", "high"]) form.elements[name].setAttribute("aria-invalid", crossed);
    // What is said of one dataset; the page itself says it of the book's licences.
    const {warning = "", notice = ""} = view.dataset ? asked[0] : {};
    say(warning, "warning");
    say(notice, "notice");
  }

  function drawFound() {
    const there = {items, pinned: pinnedItems(), datasets: data.datasets, asked: askedFor(view.dataset)};
    drawings?.show({...there, found}, view);
  }

  function writeAddress() {
    clearTimeout(waiting);
    waiting = 0;
    history.replaceState(null, "", location.pathname + queryHere() + location.hash);
  }

  function change(values) {
    const asked = {...view, ...values};
    // Who chose no system has the best one on each dataset.
    if ("dataset" in values && view.system === bestOn(view.dataset)) asked.system = "";
    withData(namesIn(asked), () => {
      view = asked;
      fit();
      withSystems(() => {
        show();
        clearTimeout(waiting);
        waiting = setTimeout(writeAddress, REST);
      });
    });
  }

  /* The item of that uid: on the dataset that is asked for, else on the first that has it. */
  function named(uid) {
    const names = [view.dataset, ...data.datasets.map(({name}) => name)];
    return names.map((name) => byName.get(nameOf(name, uid))).find(Boolean);
  }

  /* Open the item that the fragment names, or close the card; a name that no item has is reported. */
  function openNamed() {
    const uid = uidFrom(location.hash);
    const item = named(uid);
    const isPlace = !uid || document.getElementById(uid);
    say(item || isPlace ? ""
      : `No item has the id “${uid}”. Check the link, or search for the item below.`, "message");
    drawings?.highlight(item || null);
    if (item) openCard(item);
    else if (dialog.open) dialog.close();
  }

  /* Show an item's card with all systems, unless another one has been asked for meanwhile. */
  function openCard(item) {
    const missing = lacking([item.dataset]);
    function open() {
      if (named(uidFrom(location.hash)) === item) showCard(dialog, item, items, found, data, view);
    }
    if (missing.length) Promise.all(missing.map(loadSystem)).then(open).catch(report);
    else open();
  }

  /* The address was changed: by a link, by the browser's buttons, or by hand. */
  function follow() {
    if (waiting) writeAddress(); // what was just asked for is not in the address yet
    if (location.search === queryHere()) {
      openNamed();
    } else {
      take(location.search, () => { show(); openNamed(); });
    }
  }

  function writeForm() {
    for (const field of form.elements) {
      const {name} = field;
      // A number that is half typed reads as none, and is left alone.
      if (!name || field.value === view[name]) continue;
      field.value = view[name];
      // What the form does not know, the address said wrongly.
      if (field.value !== view[name]) view[name] = field.value = "";
    }
  }

  /* Pins and unpins; the button is made anew, and keeps the focus. */
  function onPin(button) {
    const place = button.closest("tbody, dialog"), name = button.dataset.pin;
    const same = `[data-pin="${CSS.escape(name)}"]`, isPinned = !view.pins.includes(name);
    change({pins: isPinned ? [...view.pins, name] : view.pins.filter((one) => one !== name)});
    if (place === dialog) {
      button.setAttribute("aria-pressed", isPinned);
      button.textContent = isPinned ? "Unpin" : "Pin";
    } else {
      (place.querySelector(same) ?? root.querySelector(`.found ${same}`) ?? table).focus();
    }
  }

  function saveCsv() {
    const name = `${data.synthetic ? "synthetic-" : ""}${view.dataset || "items"}-selection.csv`;
    save(csvOf(found, view), "text/csv", name);
  }

  /* What a button does, by the attribute that it has for it. */
  const ACTIONS = {
    pin: onPin,
    unpin: () => {
      change({pins: []});
      table.focus();
    },
    swap: () => change({low: view.high, high: view.low, page: "1"}),
    csv: saveCsv,
    sort: ({dataset: {sort}}) => change({sort: view.sort === sort ? `-${sort}` : sort, page: "1"}),
    step: ({dataset: {step}}) => {
      change({page: String(page + Number(step))});
      table.scrollTop = 0;
      table.focus();
    },
  };

  function listen() {
    root.addEventListener("input", ({target}) => {
      if (target.form === form) change({[target.name]: target.value, page: "1"});
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      const {sort, system, other, axes, pins} = view;
      take("", () => change({sort, system, other, axes, pins}));
    });
    root.addEventListener("click", ({target}) => {
      for (const name of Object.keys(target.dataset)) ACTIONS[name]?.(target);
    });
    const point = ({target}) => {
      const row = target.closest("tr[data-order]");
      if (row) drawings?.highlight(items[row.dataset.order]);
    };
    table.addEventListener("mouseover", point);
    table.addEventListener("focusin", point);
    table.addEventListener("mouseleave", () => drawings?.highlight(null));
    dialog.addEventListener("click", ({target}) => { if (target === dialog) dialog.close(); });
    // Sphinx's own listener further up would keep this key from closing the card.
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "Escape") event.stopPropagation();
    });
    dialog.addEventListener("close", () => {
      // Closed by a key or a button: the address names no item any more.
      const item = named(uidFrom(location.hash));
      if (!item) return;
      history.pushState(null, "", location.pathname + location.search);
      // The focus goes back to the row of the item that was last looked at, or to the table.
      const row = root.querySelector(`tr[data-order="${item.order}"] a`);
      (row ?? table).focus();
      drawings?.highlight(item);
    });
    window.addEventListener("popstate", follow); // links within the page come here too
  }

  function start(numbers, texts, more, {chapter, datasets: reasons} = {}) {
    data = {...numbers, more, chapter};
    for (const dataset of data.datasets) {
      dataset.reasons = reasons?.[dataset.name];
      addItems(dataset, texts[dataset.name]);
    }
    offerDatasets();
    return new Promise((resolve) => {
      take(location.search, () => {
        listen();
        table.hidden = false;
        show();
        openNamed();
        resolve();
      });
    });
  }

  function draw() {
    drawings = makeDrawings(root, (item) => { location.hash = fragmentOf(item.uid); });
    drawFound();
    drawings.highlight(named(uidFrom(location.hash)) ?? null);
  }

  async function open() {
    const files = {"items.js": "CHAOS_ITEMS", "texts.js": "CHAOS_TEXTS", "others.js": "CHAOS_OTHERS"};
    const contents = await Promise.all(Object.entries(files).map(([file, name]) => load(file, name)));
    // Why people disagree stands in the last of these, where somebody found out.
    await start(...contents, window.CHAOS_REASONS && await unpack(window.CHAOS_REASONS));
    const isDrawn = data.drawn && await load("chart.umd.js").then(() => true, () => false);
    root.querySelector(isDrawn ? ".explorer-drawing" : ".explorer-undrawn").hidden = false;
    if (isDrawn) draw();
  }

  /* On a phone, the filters would fill the first screen. */
  function foldOnPhone() {
    fold.open = !phone.matches;
  }

  foldOnPhone();
  phone.addEventListener("change", foldOnPhone);
  /* Two frames on, the page has been painted. */
  requestAnimationFrame(() => requestAnimationFrame(() => { open().catch(report); }));
})();
