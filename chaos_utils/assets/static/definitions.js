/* Shows what a term or a reference means beside its link, under the mouse or the keyboard's focus;
   where one taps, links lead on at once. The page holds the texts: sphinx/definitions.py. */
(() => {
  "use strict";

  const REST = 250; // ms: who passes by opens nothing, and who is on the way to the text keeps it
  const MARGIN = 8; // px
  let link = null, meaning = null, waiting = 0;

  const linkAt = (element) => element.closest('a[aria-describedby^="definition-"]');

  function show(asked) {
    hide();
    link = asked;
    meaning = document.getElementById(link.getAttribute("aria-describedby"));
    document.body.append(meaning); // out of boxes that would cut it off
    meaning.hidden = false;
    const {left, top, bottom} = link.getBoundingClientRect();
    const {clientWidth, clientHeight} = document.documentElement;
    const {offsetWidth: width, offsetHeight: height} = meaning;
    const fitsBelow = bottom + height < clientHeight || top < height;
    const x = Math.max(MARGIN, Math.min(left, clientWidth - width - MARGIN));
    meaning.style.left = `${x + scrollX}px`;
    meaning.style.top = `${(fitsBelow ? bottom : top - height) + scrollY}px`;
  }

  function hide() {
    clearTimeout(waiting);
    if (meaning) meaning.hidden = true;
    link = meaning = null;
  }

  document.addEventListener("pointerover", ({target, pointerType}) => {
    if (pointerType === "touch") return;
    clearTimeout(waiting);
    const under = linkAt(target);
    if (under) {
      if (under !== link) waiting = setTimeout(show, REST, under);
    } else if (link && !meaning.contains(target) && !link.matches(":focus-visible")) {
      waiting = setTimeout(hide, REST);
    }
  });
  document.addEventListener("focusin", ({target}) => {
    const focused = linkAt(target);
    if (focused?.matches(":focus-visible")) show(focused); // not where it was tapped
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", ({key}) => {
    if (key === "Escape") hide();
  });
})();
