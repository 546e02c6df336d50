/* Filters the cards of claims by verdict and paper. Without it, all of them show. The address
   says what is chosen, and a card that it names is shown whatever is chosen. */
(() => {
  "use strict";

  const NAMES = ["verdict", "paper"];
  const RENAMED = new Map([["fails", ["substance", "print"]]]); // in addresses of earlier editions
  const form = document.getElementById("claims-filter");
  if (!form) return;
  const cards = [...document.querySelectorAll("article.claim")];
  const boxes = [...form.querySelectorAll("input")];
  const status = form.querySelector("[role=status]");

  function chosen(name) {
    return boxes.filter((box) => box.name === name && box.checked).map(({value}) => value);
  }

  function show() {
    for (const card of cards)
      card.hidden = !NAMES.every((name) => chosen(name).includes(card.dataset[name]));
    const n = cards.filter((card) => !card.hidden).length;
    status.textContent = `${n} of ${cards.length} claims shown`;
    form.querySelector("button").disabled = n === cards.length;
  }

  /* Show what was chosen, and let the address say it. */
  function choose() {
    show();
    const asked = new URLSearchParams(location.search);
    for (const name of NAMES) {
      if (boxes.every((box) => box.name !== name || box.checked)) asked.delete(name);
      else asked.set(name, chosen(name).join(" "));
    }
    const query = asked.toString();
    history.replaceState(null, "", location.pathname + (query && `?${query}`) + location.hash);
  }

  function readAddress() {
    const asked = new URLSearchParams(location.search);
    for (const box of boxes) {
      const wanted = asked.get(box.name);
      if (wanted === null) continue;
      box.checked = wanted.split(" ").flatMap((name) => RENAMED.get(name) ?? name).includes(box.value);
    }
  }

  function reveal() {
    const card = cards.find((one) => location.hash === `#${one.id}`);
    if (!card) return;
    if (card.hidden) {
      form.reset();
      choose();
    }
    card.scrollIntoView();
  }

  form.addEventListener("change", ({target}) => {
    const group = boxes.filter(({name}) => name === target.name);
    // Where all were chosen, the first click asks for one; the next add to it or take away.
    if (group.every((box) => box.checked !== (box === target)))
      for (const box of group) box.checked = box === target;
    choose();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("button").addEventListener("click", (event) => {
    event.preventDefault();
    form.reset();
    choose();
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
