// Published tables that readers sort, filter and unfold. Without a script a table stands there whole.
(() => {
  "use strict";

  const {make, choice, count} = window.Page;
  const FEW = 12; // rows that are shown before a table is unfolded
  const LEAST = ["ascending", "lowest first"], MOST = ["descending", "highest first"];
  const WORDS = ["ascending", "from A to Z"], BACK = ["descending", "from Z to A"];

  /* The number that a cell begins with; none in a cell without a number. */
  function numberIn(text) {
    const [found] = /^-?(∞|\d+(\.\d+)?)/.exec(text.replaceAll(",", "").replace(/^−/, "-")) ?? [];
    return found === undefined ? NaN : Number(found.replace("∞", "Infinity"));
  }

  /* Order by words or numbers; what has no number comes last, either way. */
  function compare(one, other, isNumber, isDown) {
    const sign = isDown ? -1 : 1;
    if (!isNumber) return sign * one.localeCompare(other, "en", {numeric: true});
    const [a, b] = [numberIn(one), numberIn(other)];
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return a === b ? 0 : sign * (a < b ? -1 : 1);
  }

  function start(place) {
    const table = document.getElementById(place.dataset.table)?.querySelector("table.published");
    if (!table) return;
    const headings = [...table.tHead.rows[0].cells];
    const notes = document.getElementById(place.dataset.table).querySelectorAll(".caution"); // on what † marks
    const sections = [...table.tBodies].map((body) => {
      const rows = [...body.rows];
      const title = rows[0]?.querySelector("[scope=rowgroup]") ? rows.shift().textContent.trim() : "";
      return {body, title, rows};
    });
    const named = headings.findIndex((heading) => heading.textContent === place.dataset.by);
    // -1 where the table has an order of its own
    let by = named, isDown = named >= 0 && !("lowestFirst" in place.dataset), isOpen = false;

    const alone = JSON.parse(place.querySelector("script")?.textContent ?? "null"); // as the table's rows
    const allRows = sections.flatMap((section) => section.rows.map((row) => ({section, row})));
    const texts = allRows.map(({section, row}) => alone?.columns.map((k) => (k < 0 ? section.title : row.cells[k].textContent)));
    const left = new Set(); // rows that are not among those shown alone

    const list = choice(sections.map(({title}, k) => [k, title]), show);
    const box = make("input", {type: "checkbox", autocomplete: "off"});
    box.addEventListener("change", () => showAlone(box.checked));
    const words = make("input", {type: "search", autocomplete: "off", spellcheck: "false"});
    const status = make("p", "said", "", {role: "status"});
    const all = make("button", {type: "button", class: "unfold", onclick: () => { isOpen = !isOpen; show(); }});
    words.addEventListener("input", show);
    place.append(make("div", "controls", [
      sections.length > 1 ? make("label", "", "Show ", list) : null, make("label", "", "Only rows with ", words),
      alone ? make("label", "", box, alone.label) : null,
    ]), status);
    table.closest(".table-scroll").before(place); // below the caption, also where that is long
    table.closest(".table-scroll").after(all);
    for (const [k, heading] of headings.entries()) {
      const button = make("button", {type: "button", onclick: () => sortBy(k)}, ...heading.childNodes);
      heading.replaceChildren(button);
    }

    const isNumber = (k) => headings[k].classList.contains("number");
    const order = () => (isNumber(by) ? (isDown ? MOST : LEAST) : isDown ? BACK : WORDS);

    function sortBy(k) {
      isDown = k === by ? !isDown : isNumber(k) && !headings[k].textContent.includes("↓"); // the best first
      by = k;
      sort();
      show();
    }

    function sort() {
      const k = by;
      if (k < 0) return;
      for (const {body, rows} of sections) {
        const keyed = rows.map((row) => [row.cells[k].textContent.trim(), row]);
        keyed.sort(([one], [other]) => compare(one, other, isNumber(k), isDown));
        body.append(...keyed.map(([, row]) => row));
      }
    }

    /* Leave the other rows out, and let those that stay say what they say alone; or undo this. */
    function showAlone(isAlone) {
      left.clear();
      for (const [index, {section, row}] of allRows.entries()) {
        const cells = isAlone ? alone.rows[index] : texts[index];
        if (!cells) left.add(row);
        else alone.columns.forEach((k, at) => (k < 0 ? entitle(section, cells[at]) : (row.cells[k].textContent = cells[at])));
      }
      sort();
      show();
    }

    function entitle(section, title) {
      section.body.querySelector("[scope=rowgroup]").textContent = title;
      list.options[sections.indexOf(section)].textContent = title;
    }

    function show() {
      const chosen = sections[list.selectedIndex], asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let n = 0;
      for (const {body} of sections) body.classList.toggle("folded", body !== chosen.body);
      for (const row of chosen.body.rows) {
        if (!chosen.rows.includes(row)) continue; // its title
        const text = row.textContent.toLowerCase();
        const fits = !left.has(row) && asked.every((word) => text.includes(word));
        n += fits;
        row.classList.toggle("folded", !fits || (n > FEW && !isOpen));
      }
      const seen = [...chosen.body.rows].filter(({classList}) => !classList.contains("folded"));
      const isMarked = seen.some(({textContent}) => textContent.includes("†"));
      for (const note of notes) note.hidden = !isMarked;
      headings.forEach((heading, k) => {
        if (k === by) heading.setAttribute("aria-sort", order()[0]);
        else heading.removeAttribute("aria-sort");
      });
      const shown = isOpen ? n : Math.min(n, FEW), total = chosen.rows.filter((row) => !left.has(row)).length;
      all.hidden = n <= FEW;
      all.textContent = isOpen ? `Show ${FEW} rows` : `Show all ${count(n)} rows`;
      const sorted = by < 0 ? "" : `, by ${headings[by].textContent}, ${order()[1]}`;
      status.textContent = `${count(shown)} of ${count(total)} rows${sorted}.`;
    }
    place.hidden = false;
    show();
  }

  document.querySelectorAll(".sortable").forEach(start);
})();
