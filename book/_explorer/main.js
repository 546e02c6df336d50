/* Brings the page to life: loads the data after the first paint, then lets the address decide. */
(function () {
  "use strict";

  const {
    readItems, nameOf, marked, rankedSystems, isCrossed, select, viewFrom, queryOf, fragmentOf,
    uidFrom, fill, showCard, partsOf, fitted, csvOf, makeDrawings,
  } = window.Explorer;
  const {make, save, count, unpack} = window.Page;
  const root = document.getElementById("explorer");
  const form = root.querySelector("form");
  const dialog = root.querySelector("dialog");
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  const load = (file, name) => window.Page.load(here + file, name);
  // Typing asks anew with each key, and browsers let no address change so often: it waits for a rest.
  const REST = 250;

  const items = [], byName = new Map(), rankings = new Map();
  let data; // with the datasets that are here; `more` are loaded when they are chosen
  let view, found = [], page = 1, drawings = null, waiting, turn = 0;

  function say(words) {
    root.querySelector(".explorer-count").textContent = words;
  }

  function addItems(dataset, fields) {
    for (const item of readItems(dataset, fields, data.scale, items.length)) {
      items.push(item);
      byName.set(item.name, item);
    }
  }

  /* Load the datasets among these that are not here yet, then go on; at once where none is missing. */
  function withData(names, goOn) {
    turn += 1;
    const mine = turn;
    const missing = data.more.filter(({name}) => names.includes(name)
      && !data.datasets.some((dataset) => dataset.name === name));
    if (!missing.length) {
      goOn();
      return;
    }
    say("Loading the items …");
    Promise.all(missing.map(loadMore)).then(() => { if (mine === turn) goOn(); }).catch(report);
  }

  async function loadMore({name, file, global}) {
    const {numbers, texts} = await load(file, global);
    if (data.datasets.some((dataset) => dataset.name === name)) return;
    const dataset = {...numbers, extra: true};
    data.datasets.push(dataset);
    addItems(dataset, texts);
    offerParts([dataset]);
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
      rankings.set(dataset, rankedSystems(itemsOf(askedFor(dataset))));
    }
    return rankings.get(dataset);
  }

  const bestOn = (dataset) => systemsOn(dataset)[0] ?? "";

  const queryHere = () => queryOf(view, bestOn(view.dataset));

  /* The datasets that must be loaded for a view. */
  const namesIn = ({dataset, pins}) => [dataset, ...pins.map((pin) => pin.split("/", 1)[0])];

  const pinnedItems = () => view.pins.map((name) => byName.get(name));

  /* Add choices to a list, each once. */
  function offer(name, values, place = form.elements[name]) {
    const known = new Set([...form.elements[name].options].map(({value}) => value));
    for (const [value, text] of values) {
      if (known.has(value)) continue;
      known.add(value);
      place.append(make("option", "", text, {value, "data-text": text}));
    }
  }

  /* Offer what datasets have. */
  function offerParts(datasets) {
    const pairs = (names) => names.map((name) => [name, name]);
    const withOld = datasets.filter(({old_label: old}) => old);
    const systems = datasets.flatMap((dataset) => dataset.systems);
    const names = rankedSystems(itemsOf(datasets)).map((name) => [name, marked(name, systems)]);
    offer("majority", pairs(datasets.flatMap(({labels}) => labels)));
    offer("old", pairs(withOld.flatMap(({labels}) => labels)));
    offer("reason", pairs(datasets.flatMap(({reasons}) => reasons?.names ?? [])));
    offer("system", names);
    offer("other", names);
  }

  function offerChoices() {
    const pairs = (datasets) => datasets.map(({name, title}) => [name, title]);
    offer("dataset", pairs(data.datasets));
    if (data.more.length) {
      const group = make("optgroup", {label: "more, loaded when chosen"});
      form.elements.dataset.append(group);
      offer("dataset", pairs(data.more), group);
    }
    for (const option of form.querySelectorAll("option")) option.dataset.text ??= option.text;
    offerParts(data.datasets);
  }

  /* Whether a dataset has all that the view's facets ask for; if not, choosing it drops some. */
  function hasAll(name) {
    const kept = fitted({...view, dataset: name}, askedFor(name), systemsOn(name));
    return ["majority", "old", "change", "reason", "verdict", "far"].every((one) => kept[one] === view[one]);
  }

  /* Offer what some item can fit, with how many would; what is chosen stays. */
  function offerPossible(counts) {
    const asked = askedFor(view.dataset);
    const labels = {
      majority: asked.flatMap((dataset) => dataset.labels),
      old: asked.filter((dataset) => dataset.old_label).flatMap((dataset) => dataset.labels),
    };
    for (const [name, of] of Object.entries(counts)) {
      for (const option of form.elements[name].options) {
        const {value} = option, n = of.get(value) ?? 0;
        if (!value) continue;
        // Datasets that are loaded when chosen, or that lack what is asked for, have no number.
        const isKnown = name !== "dataset"
          || (!data.more.some((one) => one.name === value) && hasAll(value));
        option.hidden = labels[name]?.includes(value) === false;
        option.disabled = isKnown && n === 0 && value !== view[name];
        option.textContent = option.dataset.text + (isKnown ? ` (${count(n)})` : "");
      }
    }
    for (const name of ["system", "other"]) {
      for (const option of form.elements[name].options) {
        const taken = name === "other" && option.value === view.system;
        option.hidden = option.value !== "" && !systemsOn(view.dataset).includes(option.value);
        option.disabled = option.hidden || taken;
      }
    }
    form.elements.axes.querySelector("[value=systems]").disabled = !view.other;
  }

  /* Leave out what the datasets that the view asks for do not have. */
  function fit() {
    const asked = askedFor(view.dataset), systems = systemsOn(view.dataset);
    view = fitted(view, asked, systems);
    for (const [name, there] of Object.entries(partsOf(asked, systems, view))) {
      root.classList.toggle(`without-${name}`, !there);
    }
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
      goOn();
    });
  }

  /* Show what the view asks for. What fits is counted in words that are read aloud. */
  function show() {
    const asked = askedFor(view.dataset);
    const there = itemsOf(asked);
    // For the counts by dataset, all of the book's are looked at, whichever one is asked for.
    const selected = select(itemsOf([...new Set([...askedFor(""), ...asked])]), view);
    found = selected.found;
    offerPossible(selected.counts);
    page = fill(root, found, pinnedItems(), view);
    drawFound();
    const of = `${count(there.length)} items${view.dataset ? ` of ${asked[0].short}` : ""}`;
    say(found.length ? `${count(found.length)} of ${of}`
      : `None of the ${of} fits. Clear or widen the filters.`);
    root.querySelector("[data-csv]").hidden = !found.length;
    const crossed = isCrossed(view);
    root.querySelector(".explorer-crossed").hidden = !crossed;
    for (const name of ["low", "high"]) form.elements[name].setAttribute("aria-invalid", crossed);
    // What is said of one dataset; the page itself says it of the book's licences.
    const {warning = "", notice = ""} = view.dataset ? asked[0] : {};
    for (const [name, words] of Object.entries({warning, notice})) {
      const place = root.querySelector(`.explorer-${name}`);
      place.hidden = !words;
      place.textContent = words;
    }
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
      show();
      clearTimeout(waiting);
      waiting = setTimeout(writeAddress, REST);
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
    const message = root.querySelector(".explorer-message");
    message.hidden = Boolean(item || isPlace);
    message.textContent = message.hidden ? ""
      : `No item has the id “${uid}”. Check the link, or search for the item below.`;
    drawings?.highlight(item || null);
    if (item) showCard(dialog, item, items, found, data, view);
    else if (dialog.open) dialog.close();
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
      (place.querySelector(same) ?? root.querySelector(`.found ${same}`)
        ?? root.querySelector(".explorer-table")).focus();
    }
  }

  function saveCsv() {
    const name = `${data.synthetic ? "synthetic-" : ""}${view.dataset || "items"}-selection.csv`;
    save(csvOf(found, view), "text/csv", name);
  }

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
      const {pin, swap, csv, unpin} = target.dataset;
      if (pin !== undefined) onPin(target);
      if (swap !== undefined) change({low: view.high, high: view.low, page: "1"});
      if (csv !== undefined) saveCsv();
      if (unpin !== undefined) {
        change({pins: []});
        root.querySelector(".explorer-table").focus();
      }
    });
    root.querySelector("thead").addEventListener("click", ({target}) => {
      const key = target.dataset.sort;
      if (key) change({sort: view.sort === key ? `-${key}` : key, page: "1"});
    });
    root.querySelector(".explorer-pages").addEventListener("click", ({target}) => {
      if (!target.dataset.step) return;
      change({page: String(page + Number(target.dataset.step))});
      const table = root.querySelector(".explorer-table");
      table.scrollTop = 0;
      table.focus();
    });
    const table = root.querySelector(".explorer-table table");
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
      (row ?? root.querySelector(".explorer-table")).focus();
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
    offerChoices();
    return new Promise((resolve) => {
      take(location.search, () => {
        listen();
        root.querySelector(".explorer-table").hidden = false;
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

  /* Two frames on, the page has been painted. */
  requestAnimationFrame(() => requestAnimationFrame(() => { open().catch(report); }));
})();
