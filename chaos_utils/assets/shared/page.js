/* What the pages with scripts share: elements, data that comes as a script, numbers that look random. */
(function () {
  "use strict";

  /* Make an element: its class, or its attributes; then what is in it: texts (which stay text) and
     nodes, or lists of some. `onclick` is a function, `true` an attribute without a value; what is
     null, and an attribute that is `false`, is left out. A last object is more attributes. */
  function make(tag, look = {}, ...content) {
    const element = document.createElement(tag);
    const isMore = (one) => one !== null && typeof one === "object" && !(one instanceof Node) && !Array.isArray(one);
    const more = isMore(content.at(-1)) ? content.pop() : {};
    const attributes = typeof look === "string" ? (look ? {class: look, ...more} : more) : look;
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick") element.addEventListener("click", value);
      else if (value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...content.flat().filter((child) => child !== null));
    return element;
  }

  /* A table: its class, its caption, its headings (texts, or elements of their own), its rows. */
  function table(look, caption, headings, rows) {
    const ofColumn = (heading) => (heading instanceof Node ? heading : make("th", "", heading, {scope: "col"}));
    return make("table", look, [
      caption instanceof Node ? caption : make("caption", "", caption),
      make("thead", "", make("tr", "", headings.map(ofColumn))),
      make("tbody", "", rows),
    ]);
  }

  /* A list of terms, each with what is said of it. */
  function terms(look, pairs) {
    return make("dl", look, pairs.flatMap(([term, content]) => [make("dt", "", term), make("dd", "", content)]));
  }

  /* Let the reader keep a file that was made here. */
  function save(content, type, name) {
    const url = URL.createObjectURL(new Blob([content], {type}));
    make("a", {href: url, download: name}).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  /* A list to choose from: options [value, text]; `onChange` is called after each choice. */
  function choice(options, onChange, attributes = {}) {
    const list = make("select", attributes, options.map(([value, text]) => make("option", {value}, text)));
    list.addEventListener("change", onChange);
    return list;
  }

  /* A value as a dot, on a bar where it has an interval; `at` says where values are, in percent. */
  function dot([value, low, high], at) {
    const mark = make("i", {class: "dot", style: `left: ${at(value)}%`});
    if (!(high > low)) return [mark];
    return [make("i", {class: "bar", style: `left: ${at(low)}%; width: ${at(high) - at(low)}%`}), mark];
  }

  /* A bar of counts or shares with the numbers, spoken in full; the style sheet hides a number without room. */
  function bar({labels, colours}, values, shown) {
    const total = sum(values);
    const spoken = labels.map((label, k) => `${label} ${shown(values[k])}`).join(", ");
    const parts = labels.flatMap((label, k) => {
      if (!values[k]) return [];
      const style = `${painted(colours[k])}; width: ${100 * values[k] / total}%`;
      return [make("span", "vote", shown(values[k]), {style})];
    });
    return make("span", "votes", parts, {role: "img", "aria-label": spoken, title: spoken});
  }

  /* A text whose parts between backticks are code. */
  const withCode = (text) => text.split("`").map((part, i) => (i % 2 ? make("code", "", part) : part));

  const MOST_BYTES = 20e6; // of a file that a page reads

  const sum = (values) => values.reduce((all, value) => all + value, 0);
  const mean = (values) => sum(values) / values.length;
  const argmax = (values) => values.indexOf(Math.max(...values));
  const count = (n) => n.toLocaleString("en");
  const percent = (share) => `${Math.round(100 * share)}%`;
  const number = (value, digits = 3) => value?.toFixed(digits).replace("-", "−") ?? "–";

  /* The colour of a label in both looks; the style sheet chooses. */
  const painted = ([light, dark]) => `--light: ${light}; --dark: ${dark}`;

  const folder = document.currentScript.src.replace(/[^/]*$/, "explorer/");

  /* Load a file of the explorer; return what it holds by this name, where it holds data. */
  async function load(file, name) {
    await new Promise((resolve, reject) => {
      const script = make("script", {src: folder + file});
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${file} is missing`));
      document.head.append(script);
    });
    return name && unpack(window[name]);
  }

  /* Read what a data file holds: JSON, made smaller by zlib, as base64. */
  function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  /* A number in [0, 1) that looks random, from an integer: the finalizer of MurmurHash3. */
  function uniform(seed) {
    let hash = Math.imul(seed ^ (seed >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
  }

  window.Page = {
    make, table, terms, save, choice, dot, bar, sum, mean, argmax, count, percent, number, painted, load,
    unpack, uniform, withCode, MOST_BYTES,
  };
})();
