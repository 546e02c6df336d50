/* Brings the page to life: loads the data after the first paint, then lets the address decide. */
(function () {
  "use strict";

  const {
    readItems, systemsOf, select, viewFrom, queryOf, fragmentOf, uidFrom, fill, showCard,
    partsOf, fitted, makeDrawings, make, count,
  } = window.Explorer;
  const root = document.getElementById("explorer");
  const form = root.querySelector("form");
  const dialog = root.querySelector("dialog");
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  // Typing asks anew with each key, and browsers let no address change so often: it waits for a rest.
  const REST = 250;

  let datasets = [], items = [], systems = [], byUid = new Map(), view, found = [], page = 1, drawings = null, waiting;
  let citation; // templates, to be filled in for an item

  function load(file) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = here + file;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${file} is missing`));
      document.head.append(script);
    });
  }

  /* Read what a data file holds: JSON, made smaller by zlib, as base64. */
  function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  function offer(name, values) {
    const options = values.map(([value, text]) => make("option", "", text, {value}));
    form.elements[name].append(...options);
  }

  function offerChoices() {
    offer("dataset", datasets.map((dataset) => [dataset.name, dataset.title]));
    const withOld = datasets.filter((dataset) => dataset.old_label);
    const labels = new Set(withOld.flatMap((dataset) => dataset.labels));
    offer("old", [...labels].map((label) => [label, label]));
    offer("system", systems.map((system) => [system, system]));
    const most = Math.max(...datasets.map((dataset) => Math.log2(dataset.labels.length)));
    for (const name of ["low", "high"]) form.elements[name].max = most.toFixed(3);
  }

  /* Leave out what the datasets that the view asks for do not have. */
  function fit() {
    const parts = partsOf(view, datasets), asked = view;
    view = fitted(asked, parts);
    for (const [name, there] of Object.entries(parts)) {
      root.classList.toggle(`without-${name}`, !there);
    }
    if (queryOf(view, systems) !== queryOf(asked, systems)) writeForm();
  }

  /* Take the view of an address. */
  function take(query) {
    view = viewFrom(query, systems);
    writeForm();
    fit();
  }

  /* Show what the view asks for. What fits is counted in words that are read aloud. */
  function show() {
    found = select(items, view);
    page = fill(root, found, view);
    drawings?.show(found, view);
    const told = found.length ? `${count(found.length)} of ${count(items.length)} items`
      : `None of the ${count(items.length)} items fits. Clear or widen the filters.`;
    root.querySelector(".explorer-count").textContent = told;
  }

  function writeAddress() {
    clearTimeout(waiting);
    waiting = 0;
    history.replaceState(null, "", location.pathname + queryOf(view, systems) + location.hash);
  }

  function change(values) {
    view = {...view, ...values};
    fit();
    show();
    clearTimeout(waiting);
    waiting = setTimeout(writeAddress, REST);
  }

  /* Open the item that the fragment names, or close the card; a name that no item has is reported. */
  function openNamed() {
    const uid = uidFrom(location.hash);
    const item = byUid.get(uid);
    const isPlace = !uid || document.getElementById(uid);
    const message = root.querySelector(".explorer-message");
    message.hidden = Boolean(item || isPlace);
    message.textContent = message.hidden ? ""
      : `No item has the id “${uid}”. Check the link, or search for the item below.`;
    drawings?.highlight(item || null);
    if (item) showCard(dialog, item, items, found, citation);
    else if (dialog.open) dialog.close();
  }

  /* The address was changed: by a link, by the browser's buttons, or by hand. */
  function follow() {
    if (waiting) writeAddress(); // what was just asked for is not in the address yet
    const asked = viewFrom(location.search, systems);
    if (queryOf(asked, systems) !== queryOf(view, systems)) {
      take(location.search);
      show();
    }
    openNamed();
  }

  function writeForm() {
    for (const field of form.elements) if (field.name) field.value = view[field.name];
    for (const field of form.elements) { // what the form does not know, the address said wrongly
      if (field.name && field.value !== view[field.name]) view[field.name] = field.value = "";
    }
  }

  function listen() {
    form.addEventListener("input", ({target}) => change({[target.name]: target.value, page: "1"}));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      const {sort} = view;
      take("");
      change({sort});
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
    const body = root.querySelector("tbody");
    const point = ({target}) => {
      const row = target.closest("tr");
      if (row) drawings?.highlight(items[row.dataset.order]);
    };
    body.addEventListener("mouseover", point);
    body.addEventListener("focusin", point);
    body.addEventListener("mouseleave", () => drawings?.highlight(null));
    dialog.addEventListener("click", ({target}) => { if (target === dialog) dialog.close(); });
    // Sphinx's own listener further up would keep this key from closing the card.
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "Escape") event.stopPropagation();
    });
    dialog.addEventListener("close", () => {
      // Closed by a key or a button: the address names no item any more.
      if (byUid.has(uidFrom(location.hash))) {
        const item = byUid.get(uidFrom(location.hash));
        history.pushState(null, "", location.pathname + location.search);
        returnTo(item);
      }
    });
    window.addEventListener("popstate", follow); // links within the page come here too
  }

  /* The focus goes back to the row of the item that was last looked at, or to the table. */
  function returnTo(item) {
    const row = root.querySelector(`tr[data-order="${item.order}"] a`);
    (row ?? root.querySelector(".explorer-table")).focus();
    drawings?.highlight(item);
  }

  function start(data, texts) {
    citation = data.citation;
    datasets = data.datasets;
    items = readItems(data, texts);
    byUid = new Map(items.map((item) => [item.uid, item]));
    systems = systemsOf(items);
    offerChoices();
    take(location.search);
    listen();
    root.querySelector(".explorer-table").hidden = false;
    show();
    openNamed();
  }

  function draw() {
    root.querySelector(".explorer-drawing").hidden = false;
    drawings = makeDrawings(root, datasets, items, (item) => { location.hash = fragmentOf(item.uid); });
    drawings.show(found, view);
    drawings.highlight(byUid.get(uidFrom(location.hash)) || null);
  }

  function undrawn() {
    root.querySelector(".explorer-undrawn").hidden = false;
  }

  async function open() {
    await Promise.all([load("items.js"), load("texts.js")]);
    const [data, texts] = await Promise.all([window.CHAOS_ITEMS, window.CHAOS_TEXTS].map(unpack));
    start(data, texts);
    await (data.drawn ? load("chart.umd.js").then(draw, undrawn) : undrawn());
  }

  /* Two frames on, the page has been painted. */
  requestAnimationFrame(() => requestAnimationFrame(() => {
    open().catch((fault) => {
      root.querySelector(".explorer-count").textContent =
        `The items could not be loaded (${fault.message}). Use a newer browser, or build the site again.`;
      throw fault;
    });
  }));
})();
