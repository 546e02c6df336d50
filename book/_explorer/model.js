/* The items and what is asked of them. Knows neither the page nor the browser.

   Every script of the explorer adds one part to `window.Explorer`. They are plain scripts, since
   browsers load no modules into a page that was opened from a file. */
(function () {
  "use strict";

  const DEFAULTS = {
    q: "", dataset: "", low: "", high: "", majority: "", change: "", old: "", reason: "",
    system: "", verdict: "", far: "", other: "", axes: "", sort: "uid", page: "1", pins: [],
  };
  const FILTERS = ["q", "dataset", "low", "high", "majority", "old", "change", "reason", "verdict", "far"];
  const SORTS = ["uid", "entropy", "share", "jsd", "diff"]; // with a minus before it: from the largest
  const N_NEIGHBOURS = 6;

  const {sum} = window.Page;
  const column = (columns, i) => columns.map((values) => values[i]);
  const titles = new Map(); // of systems, by their names
  const spaced = (text) => text.toLowerCase().replace(/\s+/g, " ");

  /* Turn the columns of a dataset into one object for each item, after `n` items that are here. */
  function readItems(dataset, fields, scale, n) {
    const {old_label: old, old_votes: oldVotes} = dataset;
    for (const {name, title} of dataset.systems) titles.set(name, title);
    return dataset.uids.map((uid, i) => {
      const votes = column(dataset.votes, i);
      const total = sum(votes), shares = votes.map((n) => n / total);
      const text = column(fields, i);
      return {
        uid, dataset, votes, total, shares, text,
        order: n + i,
        name: nameOf(dataset.name, uid),
        majority: dataset.majority[i],
        old: old?.[i], // undefined where the dataset has none
        oldVotes: oldVotes && column(oldVotes, i),
        entropy: Math.round(scale * entropyOf(shares)) / scale,
        share: shares[dataset.majority[i]],
        machines: machinesOf(dataset.machines, i),
        isClose: isTooClose(votes, dataset.majority[i]),
        verdict: old && verdictOn(votes, dataset.majority[i], old[i]),
        reasons: reasonsOf(dataset.reasons, i),
        searched: [uid, ...text].map(spaced).join("\n"),
        results: new Map(),
      };
    });
  }

  /* Whether one label leads another beyond chance: p < .05 by the exact two-sided binomial test, as
     `metrics.agreement.leads` has it. */
  function leads(first, second) {
    const all = first + second;
    let tail = 0, chance = 0.5 ** all; // of k votes for the second label
    for (let k = 0; k <= Math.min(first, second); k += 1) {
      tail += chance;
      chance *= (all - k) / (k + 1);
    }
    return first > second && 2 * tail < 0.05;
  }

  /* What the votes say of the old label: it is clearly outvoted where the majority leads beyond chance. */
  function verdictOn(votes, majority, old) {
    if (majority === old) return "kept";
    return leads(votes[majority], votes[old]) ? "clearly outvoted" : "too close to call";
  }

  /* Whether the votes cannot say which label most people choose: one that is given leads no further than
     chance may bring it. Where all agree, nothing is close. */
  function isTooClose(votes, majority) {
    const second = Math.max(...votes.filter((_, k) => k !== majority));
    return second > 0 && !leads(votes[majority], second);
  }

  /* How many language models chose each label: undefined on a dataset that none labelled, null on an item
     about which none was asked. */
  function machinesOf(machines, i) {
    if (!machines) return undefined;
    const votes = column(machines.votes, i);
    return votes[0] === null ? null : votes;
  }

  /* Add what a system, whose columns are here, says of a dataset's items, in the dataset's order. */
  function addResults(items, {name, shares, label, jsd}, scale) {
    items.forEach((item, i) => {
      if (label[i] === null) return;
      if (jsd[i] === null) { // one label, which says nothing of a distribution
        item.results.set(name, {label: label[i]});
        return;
      }
      const said = whole(column(shares, i).map((share) => share / scale));
      item.results.set(name, {
        shares: said, label: label[i], jsd: jsd[i] / scale, tvd: totalVariation(item.shares, said),
      });
    });
  }

  /* Why people disagree on an item, in words; undefined where nobody found out. */
  function reasonsOf({names, labels, statuses, items} = {}, i) {
    if (!items?.[i]) return undefined;
    const [reasons, judged, explained] = items[i];
    return {
      names: reasons.map((k) => names[k]),
      judged: judged.map((status, k) => `${labels[k]}: ${statuses[status]}`).join(", "),
      explained: Boolean(explained),
    };
  }

  /* What an item is called among those of all datasets. */
  function nameOf(dataset, uid) {
    return `${dataset}/${uid}`;
  }

  /* Shares with that of the last label, which is the rest; rounding makes it no less than none. */
  function whole(shares) {
    return [...shares, Math.max(0, shares.reduce((rest, share) => rest - share, 1))];
  }

  /* A system's name as figures spell it. */
  const titleOf = (name) => titles.get(name) ?? name;

  /* The same, marked where something must be said of it. */
  function marked(name, systems) {
    const own = systems.filter((one) => one.name === name);
    const submitted = own.some(({origin}) => origin === "submitted") ? ", submitted" : "";
    return `${titleOf(name)}${submitted}${own.some(({caution}) => caution) ? " †" : ""}`;
  }

  /* The systems on some datasets, in the order in which they are offered: released ones first, marked
     ones after them, then those that cover the most items, then those with the least mean JSD. */
  function rankedSystems(datasets) {
    const systems = new Map();
    for (const {name, origin, caution, n_items: n, mean_jsd: mean} of datasets.flatMap((one) => one.systems)) {
      const known = systems.get(name)
        ?? {name, released: origin === "released", caution: Boolean(caution), n: 0, total: 0};
      known.n += n;
      known.total += n * (mean ?? Infinity); // one label has no JSD
      systems.set(name, known);
    }
    return [...systems.values()]
      .sort((a, b) => b.released - a.released || a.caution - b.caution
        || b.n - a.n || a.total / a.n - b.total / b.n)
      .map(({name}) => name);
  }

  function limit(text, otherwise) {
    return text === "" || Number.isNaN(Number(text)) ? otherwise : Number(text);
  }

  /* Whether a range asks for more than it allows. */
  function isCrossed(view) {
    return limit(view.low, -Infinity) > limit(view.high, Infinity);
  }

  /* How many filters leave items out. */
  function filtersSet(view) {
    return FILTERS.filter((name) => view[name]).length;
  }

  /* What a search asks for: words, "phrases", and -what to leave out. */
  function termsOf(search) {
    const asked = spaced(search).replace(/[“”„]/g, '"');
    return [...asked.matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g)]
      .map(([, minus, phrase, word]) => ({text: (phrase ?? word).trim(), wanted: !minus}))
      .filter(({text}) => text && text !== "-");
  }

  /* What can be chosen from a list, and the value, or values, that an item has there. */
  const FACETS = {
    dataset: (item) => item.dataset.name,
    majority: (item) => item.dataset.labels[item.majority],
    change: (item) => item.old !== undefined && (item.majority === item.old ? "kept" : "changed"),
    old: (item) => item.dataset.labels[item.old],
    reason: ({reasons}) => reasons?.names,
    verdict: (item, view) => {
      const result = item.results.get(view.system);
      return result && (result.label === item.majority ? "right" : "wrong");
    },
  };

  /* Whether an item fits all of a view but its facets. */
  function filterOf(view) {
    const terms = termsOf(view.q);
    const low = limit(view.low, -Infinity), high = limit(view.high, Infinity);
    const far = limit(view.far, -Infinity);
    return function fits(item) {
      if (item.entropy < low || item.entropy > high) return false;
      if (far > -Infinity && !(item.results.get(view.system)?.jsd >= far)) return false;
      return terms.every(({text, wanted}) => item.searched.includes(text) === wanted);
    };
  }

  /* What items are ordered by; those without a value come last either way. */
  const KEYS = {
    uid: (item) => item.order,
    entropy: (item) => item.entropy,
    share: (item) => item.share,
    jsd: (item, view) => item.results.get(view.system)?.jsd,
    diff: (item, view) => difference(item, view),
  };

  /* By how much a system's JSD exceeds that of the one that it is compared with. */
  function difference({results}, view) {
    const apart = results.get(view.system)?.jsd - results.get(view.other)?.jsd;
    return Number.isNaN(apart) ? undefined : apart; // one lacks the item, or gives a label alone
  }

  /* The items that fit a view, in its order; and how many would, by facet and value, if that facet
     asked for this value instead. */
  function select(items, view) {
    const fits = filterOf(view);
    const facets = Object.entries(FACETS)
      .map(([name, valueOf]) => ({name, valueOf, asked: view[name], counts: new Map()}));
    const found = [];
    for (const item of items) {
      if (!fits(item)) continue;
      const values = facets.map(({valueOf}) => [valueOf(item, view)].flat());
      const failed = facets.filter(({asked}, k) => asked && !values[k].includes(asked));
      if (!failed.length) found.push(item);
      if (failed.length > 1) continue;
      facets.forEach((facet, k) => {
        if (failed.length && failed[0] !== facet) return;
        for (const value of values[k]) facet.counts.set(value, (facet.counts.get(value) ?? 0) + 1);
      });
    }
    const counts = Object.fromEntries(facets.map((facet) => [facet.name, facet.counts]));
    return {found: inOrder(found, view), counts};
  }

  function inOrder(items, view) {
    const key = KEYS[view.sort.replace("-", "")];
    const sign = view.sort.startsWith("-") ? -1 : 1;
    return items.map((item) => ({item, order: item.order, value: key(item, view)}))
      .sort((a, b) => (a.value === undefined) - (b.value === undefined)
        || sign * (a.value - b.value) || a.order - b.order) // NaN where neither has one
      .map(({item}) => item);
  }

  /* The items of the same dataset whose votes are nearest, by TVD; ties by uid. */
  function neighboursOf(item, items) {
    const found = items
      .filter((other) => other.dataset === item.dataset && other !== item)
      .map((other) => ({item: other, tvd: totalVariation(item.shares, other.shares)}));
    found.sort((a, b) => a.tvd - b.tvd || a.item.order - b.item.order);
    return {nearest: found.slice(0, N_NEIGHBOURS), same: found.filter(({tvd}) => tvd === 0).length};
  }

  function totalVariation(one, other) {
    return sum(one.map((share, k) => Math.abs(share - other[k]))) / 2;
  }

  /* In bits. */
  function entropyOf(shares) {
    return sum(shares.map((share) => (share > 0 ? share * Math.log2(1 / share) : 0)));
  }

  /* What can be chosen from the lists that depend on the datasets. */
  function choicesOf(datasets, systems) {
    const each = (of) => [...new Set(datasets.flatMap((dataset) => of(dataset) ?? []))];
    return {
      majority: each(({labels}) => labels),
      old: each(({old_label: known, labels}) => known && labels),
      reason: each(({reasons}) => reasons?.names),
      system: systems,
      other: systems,
    };
  }

  /* A view without what these choices do not allow. */
  function fitted(view, choices) {
    const kept = {...view};
    const drop = (...names) => names.forEach((name) => { kept[name] = DEFAULTS[name]; });
    for (const [name, values] of Object.entries(choices)) if (!values.includes(view[name])) drop(name);
    kept.system ||= choices.system[0] ?? "";
    if (kept.other === kept.system) drop("other");
    if (!choices.old.length) drop("change");
    if (!kept.system) drop("verdict", "far");
    const {system, other} = kept, isSorted = (key) => kept.sort.endsWith(key);
    if ((isSorted("jsd") && !system) || (isSorted("diff") && !other)) drop("sort");
    if (!(kept.axes === "entropy" ? system : kept.axes === "systems" && other)) drop("axes");
    return kept;
  }

  /* A view and the address that shares it: what is not the default stands in the query, the open
     item in the fragment. What an address says wrongly is taken as not said. */
  function viewFrom(query) {
    const given = new URLSearchParams(query);
    const view = {...DEFAULTS};
    for (const name of Object.keys(view)) view[name] = given.get(name) ?? view[name];
    view.dataset = given.get("dataset") ?? given.get("task") ?? ""; // "task" in older links
    view.pins = [...new Set(given.getAll("pin"))];
    if (!SORTS.includes(view.sort.replace(/^-/, ""))) view.sort = DEFAULTS.sort;
    if (!/^[1-9]\d*$/.test(view.page)) view.page = DEFAULTS.page;
    return view;
  }

  /* `best` is the system that is taken where an address names none. */
  function queryOf(view, best) {
    const defaults = {...DEFAULTS, system: best};
    const {pins, ...rest} = view;
    const said = new URLSearchParams(Object.entries(rest).filter(([name, value]) =>
      value !== defaults[name]));
    for (const pin of pins) said.append("pin", pin);
    return String(said) && `?${said}`;
  }

  function fragmentOf(uid) {
    return `#${encodeURIComponent(uid)}`;
  }

  function uidFrom(fragment) {
    try {
      return decodeURIComponent(fragment.slice(1));
    } catch {
      return fragment.slice(1); // a stray % is no reason to fail
    }
  }

  /* What other programs are told of an item: votes, numbers, and the texts that are here. */
  function cellsOf(item, view) {
    const {labels, fields, name} = item.dataset;
    const each = (prefix, names, values) => Object.fromEntries(
      names.map((one, k) => [prefix + one, values?.[k]]));
    const ofSystem = (system) => {
      const {label, shares, jsd, tvd} = item.results.get(system) ?? {};
      return {
        [`label: ${system}`]: labels[label],
        ...each(`share: ${system}: `, labels, shares?.map((share) => share.toFixed(4))),
        [`jsd_nats: ${system}`]: jsd, [`tvd: ${system}`]: tvd,
      };
    };
    return {
      dataset: name, uid: item.uid, ...each("votes: ", labels, item.votes),
      n_votes: item.total, entropy_bits: item.entropy,
      majority: labels[item.majority], old_label: labels[item.old],
      ...each("old votes: ", labels, item.oldVotes),
      ...each("language models: ", labels, item.machines ?? undefined),
      ...ofSystem(view.system), ...ofSystem(view.other), ...each("", fields, item.text),
    };
  }

  /* The selection as a table, without columns in which no item has a value. */
  function csvOf(items, view) {
    const rows = items.map((item) => cellsOf(item, view));
    const isFilled = (name) => rows.some((row) => (row[name] ?? "") !== "");
    const names = [...new Set(rows.flatMap(Object.keys))].filter(isFilled);
    const cell = (value = "") =>
      (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
    return [names, ...rows.map((row) => names.map((name) => row[name]))]
      .map((cells) => `${cells.map((value) => cell(value)).join(",")}\n`).join("");
  }

  window.Explorer = {
    readItems, addResults, nameOf, titleOf, marked, rankedSystems, isCrossed, filtersSet, select,
    difference, neighboursOf, viewFrom, queryOf, fragmentOf, uidFrom, choicesOf, fitted, csvOf, entropyOf, DEFAULTS,
  };
})();
