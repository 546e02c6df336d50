/* The items and what is asked of them. Knows neither the page nor the browser.

   Every script of the explorer adds one part to `window.Explorer`. They are plain scripts, since
   browsers load no modules into a page that was opened from a file. */
(function () {
  "use strict";

  const DEFAULTS = {
    q: "", dataset: "", low: "", high: "", change: "", old: "", system: "", verdict: "", far: "",
    sort: "uid", page: "1",
  };
  const SORTS = ["uid", "entropy", "share", "jsd"]; // with a minus before it: from the largest
  const N_NEIGHBOURS = 6;

  /* Turn the columns of the data into one object for each item. */
  function readItems(data, texts) {
    const items = [];
    const column = (columns, i) => columns.map((values) => values[i]);
    for (const dataset of data.datasets) {
      const fields = texts[dataset.name];
      const {old_label: old, old_votes: oldVotes} = dataset;
      dataset.uids.forEach((uid, i) => {
        const votes = column(dataset.votes, i);
        const total = votes.reduce((sum, n) => sum + n, 0);
        const text = column(fields, i);
        const resultOf = (system) => ({
          shares: whole(column(system.shares, i).map((share) => share / data.scale)),
          label: system.label[i],
          jsd: system.jsd[i] / data.scale,
          tvd: system.tvd[i] / data.scale,
        });
        items.push({
          uid, dataset, votes, total, text,
          order: items.length,
          majority: dataset.majority[i],
          old: old?.[i], // undefined where the dataset has none
          oldVotes: oldVotes && column(oldVotes, i),
          entropy: dataset.entropy[i] / data.scale,
          share: votes[dataset.majority[i]] / total,
          searched: [uid, ...text].join("\n").toLowerCase(),
          results: new Map(dataset.systems
            .filter((system) => system.jsd[i] !== null)
            .map((system) => [system.name, resultOf(system)])),
        });
      });
    }
    return items;
  }

  /* Shares with that of the last label, which is the rest; rounding makes it no less than none. */
  function whole(shares) {
    return [...shares, Math.max(0, shares.reduce((rest, share) => rest - share, 1))];
  }

  /* The systems of all datasets, those that cover the most items first. */
  function systemsOf(items) {
    const counts = new Map();
    for (const item of items) {
      for (const name of item.results.keys()) counts.set(name, (counts.get(name) || 0) + 1);
    }
    return [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  }

  function limit(text, otherwise) {
    return text === "" || Number.isNaN(Number(text)) ? otherwise : Number(text);
  }

  /* Whether an item fits all filters of a view. */
  function filterOf(view) {
    const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
    const low = limit(view.low, -Infinity), high = limit(view.high, Infinity);
    const far = limit(view.far, -Infinity);
    return function fits(item) {
      if (view.dataset && item.dataset.name !== view.dataset) return false;
      if (item.entropy < low || item.entropy > high) return false;
      if ((view.change || view.old) && item.old === undefined) return false;
      if (view.change && (item.majority !== item.old) !== (view.change === "changed")) return false;
      if (view.old && item.dataset.labels[item.old] !== view.old) return false;
      if (view.verdict || far > -Infinity) {
        const result = item.results.get(view.system);
        if (!result || result.jsd < far) return false;
        if (view.verdict && (result.label !== item.majority) !== (view.verdict === "wrong")) {
          return false;
        }
      }
      return words.every((word) => item.searched.includes(word));
    };
  }

  /* What items are ordered by; those without a value come last either way. */
  const KEYS = {
    uid: (item) => item.order,
    entropy: (item) => item.entropy,
    share: (item) => item.share,
    jsd: (item, system) => item.results.get(system)?.jsd,
  };

  function select(items, view) {
    const key = KEYS[view.sort.replace("-", "")];
    const sign = view.sort.startsWith("-") ? -1 : 1;
    const found = items.filter(filterOf(view))
      .map((item) => ({item, value: key(item, view.system)}));
    found.sort((a, b) => {
      if (a.value === undefined || b.value === undefined) {
        return (a.value === undefined) - (b.value === undefined) || a.item.order - b.item.order;
      }
      return sign * (a.value - b.value) || a.item.order - b.item.order;
    });
    return found.map(({item}) => item);
  }

  /* The items of the same dataset whose votes are nearest, by TVD; ties by uid. */
  function neighboursOf(item, items) {
    const found = items
      .filter((other) => other.dataset === item.dataset && other !== item)
      .map((other) => ({item: other, tvd: distance(item, other)}));
    found.sort((a, b) => a.tvd - b.tvd || a.item.order - b.item.order);
    return {nearest: found.slice(0, N_NEIGHBOURS), same: found.filter(({tvd}) => tvd === 0).length};
  }

  function distance(one, other) {
    const apart = one.votes.map((n, k) => Math.abs(n / one.total - other.votes[k] / other.total));
    return apart.reduce((sum, value) => sum + value, 0) / 2;
  }

  /* What the datasets that a view asks for have, of what not every dataset has. */
  function partsOf(view, datasets) {
    const asked = datasets.filter(({name}) => !view.dataset || name === view.dataset);
    return {
      old: asked.some(({old_label: old}) => old),
      systems: asked.some(({systems}) => systems.length),
      texts: asked.some(({fields}) => fields.length),
    };
  }

  /* A view without filters and orders that these datasets cannot follow. */
  function fitted(view, parts) {
    const {change, old, verdict, far, sort} = DEFAULTS;
    return {
      ...view,
      ...(!parts.old && {change, old}),
      ...(!parts.systems && {verdict, far, ...(view.sort.endsWith("jsd") && {sort})}),
    };
  }

  /* A view and the address that shares it: what is not the default stands in the query, the open
     item in the fragment. What an address says wrongly is taken as not said. */
  function viewFrom(query, systems) {
    const given = new URLSearchParams(query);
    const defaults = {...DEFAULTS, system: systems[0] || ""};
    const view = {...defaults};
    for (const name of Object.keys(view)) view[name] = given.get(name) ?? view[name];
    view.dataset = given.get("dataset") ?? given.get("task") ?? ""; // "task" in older links
    if (!SORTS.includes(view.sort.replace(/^-/, ""))) view.sort = DEFAULTS.sort;
    if (!systems.includes(view.system)) view.system = defaults.system;
    if (!/^[1-9]\d*$/.test(view.page)) view.page = DEFAULTS.page;
    return view;
  }

  function queryOf(view, systems) {
    const defaults = {...DEFAULTS, system: systems[0] || ""};
    const said = Object.entries(view).filter(([name, value]) => value !== defaults[name]);
    return said.length ? `?${new URLSearchParams(said)}` : "";
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

  window.Explorer = {
    readItems, systemsOf, select, filterOf, neighboursOf, viewFrom, queryOf, fragmentOf, uidFrom,
    partsOf, fitted, DEFAULTS,
  };
})();
