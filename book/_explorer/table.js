/* The table, and the small parts that the card shows too. All text enters by textContent. */
(function () {
  "use strict";

  const {make, bar, count, percent, number} = window.Page;
  const {fragmentOf, titleOf, difference} = window.Explorer;
  const ROWS = 50;

  /* A difference with its sign, none where it is 0 as shown. */
  function signed(value) {
    const text = number(value, 2);
    return value > 0 && Number(text) ? `+${text}` : text.replace("−0.00", "0.00");
  }

  /* An item's text in a line: one or both texts, or the first and the last of several. */
  function summary({text}) {
    return text.length > 2 ? `${text[0]} … ${text.at(-1)}` : text.join(" → ");
  }

  /* A button that keeps an item at the top of the table, or lets it go. */
  function pinButton(item, view) {
    const isPinned = view.pins.includes(item.name);
    return make("button", "pin", isPinned ? "Unpin" : "Pin", {
      type: "button", "data-pin": item.name, "aria-pressed": isPinned,
      "aria-label": `Pin ${item.dataset.short} ${item.uid}`,
    });
  }

  function row(item, view) {
    const {labels, short} = item.dataset;
    const name = make("span", "item-name", [short, " ", make("code", "uid", item.uid)]);
    const text = item.text.length ? make("span", "item-text", summary(item)) : "";
    const link = make("a", "", [name, text], {href: fragmentOf(item.uid)});
    const changed = item.verdict && item.verdict !== "kept";
    const result = item.results.get(view.system);
    const wrong = result && result.label !== item.majority;
    return make("tr", "", [
      make("th", "", make("span", "item", [link, pinButton(item, view)]), {scope: "row"}),
      make("td", "", bar(item.dataset, item.votes, String)),
      make("td", "number", number(item.entropy, 2)),
      make("td", "", [labels[item.majority],
        make("small", "", percent(item.share)), item.isClose ? make("small", "", "too close to call") : null]),
      make("td", "needs-old",
        [labels[item.old] ?? "–", changed ? make("small", "", item.verdict) : ""]),
      make("td", "number needs-systems",
        [number(result?.jsd, 2), wrong ? make("small", "", "other label") : ""]),
      make("td", "number needs-other", signed(difference(item, view))),
    ], {"data-order": item.order});
  }

  /* The rows of pinned items, under a heading of their own. */
  function pinnedRows(pinned, view) {
    if (!pinned.length) return [];
    const clear = make("button", "", "Unpin all", {type: "button", "data-unpin": ""});
    const heading = make("th", "", [`Pinned: ${count(pinned.length)} `, clear],
      {scope: "rowgroup", colspan: 7});
    return [make("tr", "pinned-head", heading), ...pinned.map((item) => row(item, view))];
  }

  /* Fill the table with what is pinned and one page of what was found; return which page, brought
     into range. */
  function fill(root, found, pinned, view) {
    const pages = Math.max(1, Math.ceil(found.length / ROWS));
    const page = Math.min(Number(view.page), pages);
    const shown = found.slice((page - 1) * ROWS, page * ROWS);
    root.querySelector("tbody.found").replaceChildren(...shown.map((item) => row(item, view)));
    root.querySelector("tbody.pinned").replaceChildren(...pinnedRows(pinned, view));
    for (const button of root.querySelectorAll("[data-sort]")) {
      const sorted = view.sort.replace("-", "") === button.dataset.sort;
      const way = view.sort.startsWith("-") ? "descending" : "ascending";
      button.closest("th").ariaSort = sorted ? way : null;
    }
    root.querySelector(".of-system").textContent = titleOf(view.system);
    root.querySelector(".of-other").textContent = `minus that of ${titleOf(view.other)}`;
    const steps = root.querySelector(".explorer-pages");
    steps.hidden = pages === 1;
    steps.querySelector("span").textContent = `Page ${page} of ${pages}`;
    steps.querySelector("[data-step='-1']").disabled = page === 1;
    steps.querySelector("[data-step='1']").disabled = page === pages;
    return page;
  }

  Object.assign(window.Explorer, {summary, pinButton, fill});
})();
