/* An item's card: its text, its votes, what systems said of it, its neighbours, how to cite it. */
(function () {
  "use strict";

  const {fragmentOf, titleOf, marked, neighboursOf, summary, difference, pinButton} = window.Explorer;
  const {make, table, terms, bar, sum, count, percent, number} = window.Page;

  function texts({dataset: {fields}, text}) {
    return fields.length ? terms("card-text", fields.map((title, k) => [title, text[k]])) : "";
  }

  /* Which label leads and whether it is the old one, or which labels tie for most votes. */
  function leading(item) {
    const {labels, ties_share: isShared} = item.dataset;
    const [majority, old] = [item.majority, item.old].map((k) => make("b", "", labels[k] ?? ""));
    const tied = labels.filter((_, k) => item.votes[k] === item.votes[item.majority]);
    const share = `${percent(item.share)} of the votes`;
    if (tied.length > 1) {
      return [`The labels ${tied.slice(0, -1).join(", ")} and ${tied.at(-1)} tie with ${share} each`,
        ...(isShared ? [] : ["; the data file gives ", majority, " as the majority label"]),
        ...(!item.verdict ? [] : item.verdict === "kept" ? [". The old label is ", old]
          : [". The old label, ", old, `, is ${item.verdict}`]), "."];
    }
    const second = Math.max(...item.votes.filter((_, k) => k !== item.majority));
    return [
      ...(!item.verdict ? ["The majority label is ", majority]
        : item.verdict === "kept" ? ["The old label, ", majority, ", is also the majority label"]
          : ["The old label, ", old, `, is ${item.verdict}: the majority label is `, majority]),
      `, with ${share}`,
      item.isClose ? `, against ${percent(second / item.total)} for the next label: too close to call` : "", ".",
    ];
  }

  function votes(item) {
    const {labels} = item.dataset;
    const label = labels[item.old];
    const shown = (counts) => [bar(item.dataset, counts, String),
      make("span", "", labels.map((name, k) => `${counts[k]} ${name}`).join(", "))];
    const rows = [[`${item.total} ${label ? "new" : "votes"}`, shown(item.votes)]];
    if (item.oldVotes) rows.push([`${sum(item.oldVotes)} original`, shown(item.oldVotes)]);
    else if (label) rows.push(["Original", `only the label was released: ${label}`]);
    const {machines} = item.dataset;
    if (item.machines) rows.push([`${machines.n} language models`, shown(item.machines)]);
    else if (machines) rows.push(["Language models", "none were asked about this item"]);
    const caption = make("p", "", [...leading(item), ` The entropy of the votes is ${number(item.entropy)} bits.`]);
    const notes = item.machines
      ? [make("p", "note", `${machines.source}: one label each. They may have seen the item and its votes.`)] : [];
    return [make("h3", "", "Votes"), terms("card-votes", rows), caption, ...notes];
  }

  /* Why people disagree, as others found: names and labels alone, and whose they are. */
  function reasons({reasons: known}, chapter) {
    if (!known) return [];
    const rows = [
      ["Reasons", known.names.join(", "), "the taxonomy of Jiang and de Marneffe (2022)"],
      ["VariErr", known.judged, "VariErr, as judged by the annotators who gave the label (Weber-Genzel et al., 2024)"],
      ["LiveNLI", known.explained && "at least ten people explained their labels",
        "LiveNLI (Jiang et al., 2023)"],
    ].filter(([, words]) => words);
    const more = chapter ? ["; see ", make("a", "", "Whose opinions are these?", {href: chapter})] : [];
    return [
      make("h3", "", "Why people disagree"),
      terms("card-text", rows),
      make("p", "note", ["From ", rows.map(([, , source]) => source).join("; "), ...more, "."]),
    ];
  }

  /* A system's distribution; what gives one label has none. */
  const distribution = (item, shares) => (shares ? bar(item.dataset, shares, percent) : "one label");

  /* Two systems side by side, where the view compares them. */
  function compared(item, view) {
    const apart = difference(item, view);
    if (apart === undefined) return [];
    const one = (name) => {
      const {label, shares, jsd, tvd} = item.results.get(name);
      return make("div", "", [
        make("b", "", titleOf(name)), distribution(item, shares),
        make("span", "", [make("b", "", item.dataset.labels[label]),
          label === item.majority ? ", as the majority" : `, not ${item.dataset.labels[item.majority]}`]),
        make("span", "", `JSD ${number(jsd)}, TVD ${number(tvd)}`),
      ]);
    };
    const nearer = titleOf(apart < 0 ? view.system : view.other);
    return [
      make("h3", "", "Two systems compared"),
      make("div", "card-pair", [one(view.system), one(view.other)]),
      make("p", "note", apart === 0 ? "Both systems are equally far from the votes."
        : `${nearer} is nearer to the votes: its JSD is ${number(Math.abs(apart))} smaller.`),
    ];
  }

  function systems(item) {
    const {labels, systems: known} = item.dataset;
    if (!known.length) return [];
    const heading = make("h3", "", "Systems");
    if (!item.results.size) return [heading, make("p", "", "No system predicted this item.")];
    const row = (name, {shares, label, jsd, tvd}, look = "") => make("tr", look, [
      make("th", "", name, {scope: "row"}),
      make("td", "", distribution(item, shares)),
      ...labels.map((_, k) => {
        const text = shares ? number(shares[k], 2) : k === label ? "label" : "–";
        return make("td", "number", k === label ? make("b", "", text) : text);
      }),
      make("td", "number", number(jsd)),
      make("td", "number", number(tvd)),
    ]);
    const crowd = {shares: item.shares, label: item.majority, jsd: 0, tvd: 0};
    const all = table("published",
      make("caption", "sr-only", `What systems predict for ${item.uid}, and how far their predictions are from the votes`),
      ["System", "Distribution", ...labels, "JSD", "TVD"],
      [row(`The ${count(item.total)} votes`, crowd, "reference"),
        ...known.filter(({name}) => item.results.has(name))
          .map(({name}) => row(marked(name, known), item.results.get(name)))]);
    const scroll = make("div", "table-scroll", all,
      {tabindex: "0", role: "region", "aria-label": "Systems"});
    const cautions = known.filter(({name, caution}) => caution && item.results.has(name))
      .map(({name, caution}) => make("p", "note", `${marked(name, known)}: ${caution}.`));
    return [heading, scroll, make("p", "note", "Each system’s label is shown in bold."), ...cautions];
  }

  function neighbours(item, items) {
    const {nearest, same} = neighboursOf(item, items);
    const links = nearest.map(({item: other, tvd}) => make("li", "", [
      make("a", "", summary(other) || other.uid, {href: fragmentOf(other.uid)}),
      make("span", "", [bar(other.dataset, other.votes, String), `TVD ${number(tvd, 2)}`]),
    ]));
    const caption = same ? `${count(same)} with the same votes` : "none with the same votes";
    return [
      make("h3", "", "Items with similar votes"),
      make("p", "note", `These items of ${item.dataset.short} are the nearest to this one by TVD between the votes (${caption}).`),
      make("ul", "card-neighbours", links),
    ];
  }

  function fillIn(template, values) {
    return template.replace(/<(uid|title|data|key|place)>/g, (whole, name) => values[name] ?? whole);
  }

  /* The same words as the book's other citations; the templates come with the data. */
  function citations(item, citation) {
    const {name, title, data, paper} = item.dataset;
    const escaped = (text) => [...text].map((c) => citation.latex[c] ?? c).join("");
    const query = item.dataset.extra ? `?dataset=${name}` : "";
    const [words, template] = [citation.plain, citation.bibtex]
      .map((text) => text.replace("#<place>", `${query}#<place>`));
    const place = fragmentOf(item.uid).slice(1);
    const plain = fillIn(words, {uid: item.uid, title, data, place});
    const key = `${name}-${item.uid.replace(/[^A-Za-z0-9.-]/g, "-")}`;
    const entry = fillIn(template,
      {uid: escaped(item.uid), title: escaped(title), data: escaped(data), key, place});
    return [
      make("h3", "", "Cite this item"),
      copied("Link", window.location.href.split(/[?#]/)[0] + query + fragmentOf(item.uid)),
      copied("Plain text", plain),
      copied("BibTeX", paper ? `${entry}\n\n${paper}` : entry),
    ];
  }

  function copied(name, text) {
    const box = make("div", "copied", [make("h4", "", name), make("pre", "", text, {tabindex: "0"})],
      {"data-name": name});
    window.addCopyButton(box);
    return box;
  }

  function steps(item, found) {
    const at = found.indexOf(item);
    const to = (name, other) => (other
      ? make("a", "button", name, {href: fragmentOf(other.uid)})
      : make("span", "button", name, {"aria-disabled": "true"}));
    const place = at < 0 ? "not among the matching items" : `${count(at + 1)} of ${count(found.length)} found`;
    return make("nav", "card-steps", [
      to("‹ Previous", at > 0 && found[at - 1]),
      make("span", "note", place),
      to("Next ›", at >= 0 && found[at + 1]),
    ], {"aria-label": "Items found"});
  }

  /* Show an item of a view; `found` is what previous and next lead through. */
  function showCard(dialog, item, items, found, {citation, chapter}, view) {
    const close = make("button", "card-close", "Close", {type: "button"});
    close.addEventListener("click", () => dialog.close());
    const title = make("h2", "", [item.dataset.short, " ", make("code", "uid", item.uid)],
      {id: "card-title", tabindex: "-1"});
    dialog.replaceChildren(
      make("div", "card-head", [title, pinButton(item, view), close]),
      steps(item, found),
      texts(item),
      ...votes(item),
      ...reasons(item, chapter),
      ...compared(item, view),
      ...systems(item),
      ...neighbours(item, items),
      ...citations(item, citation),
    );
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    title.focus({preventScroll: true});
  }

  Object.assign(window.Explorer, {showCard});
})();
