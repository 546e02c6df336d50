// Scores as figures that the reader switches: rows of dots, or curves. The data stands in the page.
(() => {
  "use strict";

  const {make} = window.Page;
  const {dots, curves} = window.Interactive;
  const LONGEST = 30; // signs of what an address asks for, where it is not understood

  const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

  const RENAMED = new Map([["people_on_top_trusted", "people_on_top_recalibrated"]]); // in addresses of earlier editions

  function start(place) {
    const data = JSON.parse(place.querySelector("script").textContent);
    const status = make("p", "interactive-status", "", {role: "status"});
    /* What a slider drives stands where the figure's picture stood, which is for print and without a script. */
    const picture = document.getElementById(place.dataset.figure)?.querySelector(".picture");
    picture?.before(place);
    picture?.classList.add("driven");
    place.hidden = false;
    const first = {};
    const {controls, show} = (place.dataset.slider ? curves : dots)(place, data, keep);
    for (const [name, control] of Object.entries(controls)) first[name] = control.value;
    place.querySelector(".controls").after(status);

    /* The address holds what the reader has chosen, of that which is not as it was at first. */
    function keep() {
      status.textContent = "";
      const chosen = Object.entries(controls).map(([name, {value}]) => [name, value])
        .filter(([name, value]) => value !== first[name]);
      const {pathname, search, hash} = window.location;
      if (!chosen.length && !hash.includes("=")) return;
      const state = chosen.length ? `#${new URLSearchParams(chosen)}` : "";
      history.replaceState(null, "", pathname + search + state);
    }

    /* Take what an address asks for. Any other part of an address is a place of the page. */
    function take() {
      if (!window.location.hash.includes("=")) return;
      const asked = new URLSearchParams(window.location.hash.slice(1)), faults = [];
      for (const [name, given] of asked) {
        const value = RENAMED.get(given) ?? given;
        if (!Object.hasOwn(controls, name)) faults.push(`“${shortened(name)}” cannot be chosen here.`);
        else if (!controls[name].take(value)) {
          faults.push(`There is no ${name} “${shortened(value)}” here.`);
        }
      }
      show();
      status.textContent = faults.length ? `${faults.join(" ")} This part of the address was ignored.` : "";
      place.scrollIntoView();
    }
    take();
    window.addEventListener("hashchange", take);
  }

  document.querySelectorAll(".interactive").forEach(start);
})();
