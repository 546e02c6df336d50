/* Filters the cards of claims by verdict and paper. Without it, all of them show. The address
   says what is chosen, and a card that it names is shown whatever is chosen. */
(() => {
  "use strict";

  const NAMES = ["verdict", "paper"];
  const form = document.getElementById("claims-filter");
  if (!form) return;
  const cards = [...document.querySelectorAll("article.claim")];
  const boxes = [...form.querySelectorAll("input")];
  const status = form.querySelector("[role=status]");

  function valuesOf(name, isWanted) {
    return boxes.filter((box) => box.name === name && isWanted(box)).map((box) => box.value);
  }

  function show() {
    const chosen = NAMES.map((name) => valuesOf(name, (box) => box.checked));
    for (const card of cards)
      card.hidden = !NAMES.every((name, k) => chosen[k].includes(card.dataset[name]));
    const n = cards.filter((card) => !card.hidden).length;
    status.textContent = `${n} of ${cards.length} claims shown`;
    form.querySelector("button").disabled = n === cards.length;
    return chosen;
  }

  function writeAddress(chosen) {
    const asked = new URLSearchParams(location.search);
    NAMES.forEach((name, k) => {
      const isAll = chosen[k].length === valuesOf(name, () => true).length;
      if (isAll) asked.delete(name);
      else asked.set(name, chosen[k].join(" "));
    });
    const query = asked.toString();
    history.replaceState(null, "", location.pathname + (query && `?${query}`) + location.hash);
  }

  function readAddress() {
    const asked = new URLSearchParams(location.search);
    for (const box of boxes) {
      const wanted = asked.get(box.name);
      if (wanted !== null) box.checked = wanted.split(" ").includes(box.value);
    }
  }

  function reveal() {
    const card = cards.find((one) => location.hash === `#${one.id}`);
    if (!card) return;
    if (card.hidden) {
      form.reset();
      writeAddress(show());
    }
    card.scrollIntoView();
  }

  form.addEventListener("change", () => writeAddress(show()));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("button").addEventListener("click", (event) => {
    event.preventDefault();
    form.reset();
    writeAddress(show());
    boxes[0].focus(); // the button has nothing left to do
  });
  window.addEventListener("hashchange", reveal);
  // A link to where the address leads already changes nothing there.
  document.addEventListener("click", (event) => {
    if (event.target.closest("a")?.hash === location.hash) reveal();
  });

  form.hidden = false;
  readAddress();
  show();
  reveal();
})();
