/* What the calculators share: fields that say what is wrong, the address that holds them, citations.

   A control is {value, take(text)}: its state as text, and whether it takes one from an address. */
(function () {
  "use strict";

  const {make, choice, count} = window.Page;
  const PLAIN = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i, THOUSANDS = /^\d{1,3}(,\d{3})+(\.\d+)?$/;
  const LONGEST = 30; // signs of what is not understood

  const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

  /* What a text says as a number: {value}; or what to enter as a {fault}. A number that is optional is
     null where there is none. */
  function parsed(text, {least = -Number.MAX_VALUE, most = Number.MAX_VALUE, above = -Infinity, isWhole, isOptional}) {
    const written = text.trim();
    if (!written && isOptional) return {value: null};
    const plain = THOUSANDS.test(written) ? written.replaceAll(",", "") : written;
    const value = PLAIN.test(plain) ? Number(plain) : NaN;
    if (value >= least && value <= most && value > above && (!isWhole || Number.isInteger(value))) return {value};
    const range = most === Number.MAX_VALUE ? "" : above === -Infinity ? ` from ${count(least)} to ${count(most)}`
      : ` above ${count(above)} and at most ${count(most)}`;
    const hint = /^\d+,\d+$/.test(written) ? " Write decimals with a point." : "";
    const fault = `enter a ${isWhole ? "whole " : ""}number${range}${written ? `, not “${shortened(written)}”` : ""}.${hint}`;
    return isOptional ? {value: null, fault} : {fault};
  }

  let fields = 0;

  /* A labelled input with room for a note and for what is wrong with it. */
  function labelled(label, input) {
    fields += 1;
    const id = `calculator-${fields}`;
    input.id = id;
    const name = make("label", {for: id}, label), fault = make("p", {class: "fault", id: `${id}-fault`});
    input.setAttribute("aria-describedby", fault.id);
    return {name, fault, place: make("div", "field", name, input, fault)};
  }

  /* A number to enter. `rules` are those of `parsed`, and may change; `.read()` marks what is wrong. */
  function numberField(label, first, rules, onChange) {
    const input = make("input", {type: "text", inputmode: "decimal", autocomplete: "off", value: first});
    const {name, fault, place} = labelled(label, input);
    input.addEventListener("input", onChange);
    return {
      name, place, rules,
      get value() { return input.value.trim(); },
      take(text) { input.value = shortened(text); return true; },
      read() {
        const found = parsed(input.value, this.rules);
        if (found.fault) found.fault = `${name.textContent.replace(" (optional)", "")}: ${found.fault}`;
        fault.textContent = found.fault ?? "";
        input.setAttribute("aria-invalid", Boolean(found.fault));
        return found;
      },
    };
  }

  /* A list to choose from: options [value, text]. */
  function listField(label, options, onChange) {
    const list = choice(options, onChange);
    const {place} = labelled(label, list);
    return {
      place, list,
      get value() { return list.value; },
      take(value) {
        const isThere = [...list.options].some((option) => option.value === value);
        if (isThere) list.value = value;
        return isThere;
      },
    };
  }

  /* Let the address hold the controls once the reader has changed one; those that are hidden are left
     out. `show` is called with what an address asked for, after it was taken; `status` says what was
     not understood. */
  function inAddress(place, controls, status, show) {
    const query = () => `#${new URLSearchParams(Object.entries(controls)
      .filter(([, {place: one}]) => !one?.hidden).map(([name, {value}]) => [name, value]))}`;

    function keep() {
      status.textContent = "";
      history.replaceState(null, "", location.pathname + location.search + query());
    }

    const first = Object.entries(controls).map(([name, {value}]) => [name, value]);

    /* What an address does not name is as it was at first. Any other part of one is a place of the page. */
    function take() {
      if (!location.hash.includes("=")) return;
      const faults = [];
      const asked = new URLSearchParams(location.hash.slice(1));
      for (const [name, value] of first) if (!asked.has(name)) controls[name].take(value);
      for (const [name, value] of asked) {
        if (!Object.hasOwn(controls, name)) faults.push(`“${shortened(name)}”`);
        else if (!controls[name].take(value)) faults.push(`“${shortened(name)}=${shortened(value)}”`);
      }
      show(asked);
      status.textContent = faults.length ? `This edition does not know ${faults.join(", ")} in the link; `
        + "these settings keep their first values." : "";
      place.scrollIntoView();
    }
    window.addEventListener("hashchange", take);
    return {query, keep, take};
  }

  /* The link that holds the input, and a citation with it; `.fill(query, answer)` sets both. */
  function citing({words, address, page}) {
    const [link, plain] = ["Link", "Citation"].map((name) => {
      const text = make("pre", {tabindex: "0"}, "");
      const box = make("div", {class: "copied", "data-name": name}, make("h3", {}, name), text);
      window.addCopyButton?.(box);
      return {box, text};
    });
    const here = location.href.split(/[?#]/)[0];
    const cited = address || (location.protocol.startsWith("http") ? here : page);
    return {
      place: make("details", "calculator-cite", make("summary", "", "Link to this answer, and cite it"),
        link.box, plain.box),
      fill(query, answer) {
        link.text.textContent = here + query;
        plain.text.textContent = [words, answer, cited + query].filter(Boolean).join(" ");
      },
    };
  }

  window.Calculators = {parsed, numberField, listField, inAddress, citing, shortened};
})();
