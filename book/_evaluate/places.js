/* The places that a file's system may have among all of the scoreboard, by what they are worth.

   The same as chaos_utils/scoring/places.py and metrics/ranks.py, by the same resamples of the items. */
(function () {
  "use strict";

  const {make, table, choice, sum, mean, count, percent, load} = window.Page;
  const {itemsOf, worthOf, draw, inWords, withoutReason, peopleInWords} = window.Evaluate;
  const N_RANKINGS = 4000, N_RESAMPLES = 2000, SEED = 0, LEVEL = 0.95, COVERAGE = 0.95, ROUNDING = 1e-12;
  const RANKED_BY = ["people_on_top_recalibrated", "people_on_top"];
  const AROUND = 5; // rows above and below the file's that are shown at first
  const FEW_PEOPLE = [5, 10];
  const AT_ONCE = 400; // resamples, between which the page says how far it is

  /* Pairs of columns in sets that share the same items; a column is NaN on an item that it lacks. */
  function pairSets(columns) {
    const lacking = columns.map((column) => column.flatMap((value, i) => (Number.isNaN(value) ? [i] : [])));
    const sets = new Map();
    lacking.forEach((one, a) => lacking.slice(a + 1).forEach((other, step) => {
      const out = new Set([...one, ...other]), key = [...out].sort((x, y) => x - y).join();
      if (!sets.has(key)) sets.set(key, {items: columns[0].flatMap((_, i) => (out.has(i) ? [] : [i])), pairs: []});
      sets.get(key).pairs.push([a, a + 1 + step]);
    }));
    return [...sets.values()];
  }

  /* The means of some columns over some items, on each resample; `tell` hears which part is done. */
  async function meansOn(columns, items, resamples, tell) {
    const k = columns.length, values = new Float64Array(k * items.length), sums = new Float64Array(k);
    items.forEach((i, row) => columns.forEach((column, c) => { values[row * k + c] = column[i]; }));
    const means = columns.map(() => new Float64Array(resamples.length));
    for (const [r, times] of resamples.entries()) {
      if (r % AT_ONCE === 0) await tell(r / resamples.length);
      let n = 0;
      sums.fill(0);
      for (let row = 0; row < items.length; row += 1) {
        const often = times[items[row]];
        if (!often) continue;
        n += often;
        for (let c = 0, at = row * k; c < k; c += 1, at += 1) sums[c] += often * values[at];
      }
      for (let c = 0; c < k; c += 1) means[c][r] = sums[c] / n;
    }
    return means;
  }

  /* Each pair {a, b} with its mean difference, its studentised one, and what its deviations are made of. */
  async function pairsOf(columns, resamples, tell) {
    const sets = pairSets(columns), all = [];
    for (const [k, {items, pairs}] of sets.entries()) {
      const used = [...new Set(pairs.flat())];
      const means = await meansOn(used.map((c) => columns[c]), items, resamples, (part) => tell((k + part) / sets.length));
      const drawn = new Map(used.map((c, k) => [c, means[k]]));
      all.push(...pairs.map(([a, b]) => {
        const differences = items.map((i) => columns[a][i] - columns[b][i]), center = mean(differences);
        const square = sum(differences.map((value) => (value - center) ** 2)) / (items.length - 1);
        const error = Math.sqrt(square / items.length);
        return {
          a, b, center, divisor: Math.max(error, ROUNDING), one: drawn.get(a), other: drawn.get(b),
          observed: error > ROUNDING ? Math.abs(center) / error : 0, margin: Infinity, differs: false,
        };
      }));
    }
    return all.map((pair, number) => ({...pair, number}));
  }

  function quantile(values, level) {
    const ordered = Float64Array.from(values).sort(), at = level * (ordered.length - 1), low = Math.floor(at);
    const high = Math.min(low + 1, ordered.length - 1);
    return ordered[low] + (at - low) * (ordered[high] - ordered[low]);
  }

  /* The best and the worst place of each column, for all at once, the lowest mean first; and how far the
     closest decision was from going the other way. */
  async function rankSets(columns, resamples, tell) {
    const pairs = await pairsOf(columns, resamples, tell);
    const largest = new Float64Array(resamples.length), from = new Int32Array(resamples.length);
    // Resamples whose largest difference must be looked for: at first all, then those of pairs that left.
    let left = pairs, open = Int32Array.from(resamples, (_, r) => r);
    while (left.length) {
      for (const r of open) largest[r] = 0;
      for (const {one, other, center, divisor, number} of left) {
        for (let k = 0; k < open.length; k += 1) {
          const r = open[k], away = Math.abs(one[r] - other[r] - center) / divisor;
          if (away > largest[r]) {
            largest[r] = away;
            from[r] = number;
          }
        }
      }
      const threshold = quantile(largest, LEVEL);
      for (const pair of left) {
        pair.margin = Math.abs(pair.observed - threshold);
        pair.differs = pair.observed > threshold;
      }
      const rest = left.filter(({differs}) => !differs);
      if (rest.length === left.length) break;
      left = rest;
      open = Int32Array.from([...from.keys()].filter((r) => pairs[from[r]].differs));
    }
    return columns.map((_, c) => {
      const own = pairs.filter(({a, b}) => a === c || b === c);
      const isNearer = ({a, center}) => (a === c) === (center < 0);
      const better = own.filter((pair) => pair.differs && !isNearer(pair)).length;
      const worse = own.filter((pair) => pair.differs && isNearer(pair)).length;
      return {
        best: 1 + better, worst: columns.length - worse, of: columns.length,
        margin: own.reduce((least, {margin}) => Math.min(least, margin), Infinity),
      };
    });
  }

  /* A file's system in a pool: what it is worth on these items, and the places of all, the file's last;
     null where it covers too few of them. `tell` hears which part is done. */
  async function placeIn(predictions, pool, tell = () => {}) {
    const {items, folds, systems, scale} = pool, {dataset, places, probabilities} = predictions;
    const rowOf = new Map(places.map((i, row) => [i, row]));
    const covered = items.flatMap((i, k) => (rowOf.has(i) ? [k] : []));
    if (covered.length < COVERAGE * items.length) return null;
    const foldOf = Object.fromEntries(items.map((i, k) => [i, folds[k]]));
    const own = itemsOf({
      dataset: {...dataset, folds: foldOf}, places: covered.map((k) => items[k]),
      probabilities: covered.map((k) => probabilities[rowOf.get(items[k])]),
    });
    const worth = {name: predictions.model, ...worthOf(own, draw(own.length, N_RESAMPLES, SEED))};
    const resamples = draw(items.length, N_RANKINGS, SEED), sets = {};
    const names = RANKED_BY.filter((name) => worth.byItem?.[name] && !(worth.isHard && name === "people_on_top"));
    for (const [step, name] of names.entries()) {
      const distances = worth.byItem[name];
      const others = systems.filter((one) => one.distances[name]);
      const yours = items.map(() => NaN);
      covered.forEach((k, row) => { yours[k] = Math.floor(scale * distances[row] + 0.5) / scale; });
      const columns = [...others.map((one) => one.distances[name].map((value) =>
        (value === null ? NaN : value / scale))), yours];
      const ranks = await rankSets(columns, resamples, (part) => tell((step + part) / names.length));
      sets[name] = new Map([...others, "yours"].map((one, c) => [one, ranks[c]]));
    }
    return {pool, worth, sets};
  }

  /* Places in words: "places 3–6 of 35", the file counted. */
  function inPlaces({best, worst, of}) {
    return best === worst ? `place ${best} of ${of}` : `places ${best}–${worst} of ${of}`;
  }

  function short(ranks) {
    if (!ranks) return "–";
    return ranks.best === ranks.worst ? String(ranks.best) : `${ranks.best}–${ranks.worst}`;
  }

  /* How many language models, each with one label per item, a pool has. */
  const languageModelsIn = ({systems}) => systems.filter(({how}) => how.startsWith("language model, label")).length;

  function titleOf(pool) {
    const {name, items} = pool, n = languageModelsIn(pool);
    const title = name === "all" ? `all ${count(items.length)} items` : name;
    return n ? `${title}, with ${count(n)} language model${n === 1 ? "" : "s"}` : title;
  }

  /* Systems, people and the file, the best first. */
  function rowsOf({pool: {systems}, worth, sets: {[RANKED_BY[0]]: ranks, [RANKED_BY[1]]: plain}}) {
    const of = (value) => (value === undefined ? "–" : peopleInWords(value));
    const {credibility, nVotes} = worth;
    const people = [
      ...FEW_PEOPLE.filter((n) => n < nVotes).map((n) => [`${n} people`, n]), ["second crowd", nVotes],
    ].map(([name, n]) => ({name, how: "people", at: n, worth: of(n), plain: of(n - credibility)}));
    const others = systems.map((one) => ({
      name: one.name, how: one.how, at: one.worth[RANKED_BY[0]], worth: of(one.worth[RANKED_BY[0]]),
      plain: of(one.worth[RANKED_BY[1]]), place: ranks?.get(one), plainPlace: plain?.get(one),
    }));
    const yours = {
      name: worth.name, how: "your file", isYours: true, at: worth.estimates[RANKED_BY[0]].value,
      worth: withoutReason(inWords(RANKED_BY[0], worth)), place: ranks?.get("yours"),
      plain: worth.isHard ? "–" : of(worth.estimates[RANKED_BY[1]].value), plainPlace: plain?.get("yours"),
    };
    return [yours, ...others, ...people].sort((a, b) => b.at - a.at);
  }

  function row({name, how, isYours, worth, plain, place, plainPlace}, isFar) {
    const [value, ...ends] = worth.split(/ (?=\[)/);
    return make("tr", {class: isYours ? "yours" : "", hidden: isFar}, [
      make("th", "", [name, " ", make("span", "interval", how)], {scope: "row"}),
      make("td", "number", short(place)),
      make("td", "number", [value, ...(ends.length ? [" ", make("span", "interval", ends[0])] : [])]),
      make("td", "number", [plain, ...(plainPlace ? [` (${short(plainPlace)})`] : [])]),
    ]);
  }

  function boardTable(placing, dataset) {
    const rows = rowsOf(placing), at = rows.findIndex(({isYours}) => isYours);
    const lines = rows.map((one, k) => row(one, Math.abs(k - at) > AROUND));
    const far = lines.filter(({hidden}) => hidden);
    const all = make("button", {type: "button", hidden: !far.length, onclick: () => {
      far.forEach((line) => { line.hidden = false; });
      all.hidden = true;
      region.focus();
    }}, `Show all ${count(rows.length)}`);
    const caption = make("caption", "", `Systems on ${dataset.short} (${titleOf(placing.pool)}), sorted by recalibrated `
      + "worth in people. The last column shows the worth without recalibration and the resulting places.");
    const region = make("div", "table-scroll", table("published evaluate-board", caption,
      ["System", "Place", "Worth, recali\u00adbrated", "As it is (place)"], lines),
      {tabindex: "0", role: "region", "aria-label": "Among all systems"});
    return [region, all];
  }

  /* The items of a pool in words. */
  function itemsIn(pool) {
    const {name, items} = pool, n = languageModelsIn(pool), models = n === 1 ? "a language model" : `the ${n} language models`;
    if (name === "all") return `all ${count(items.length)} items`;
    return `the ${count(items.length)} items${n ? ` that ${models} labelled` : ""}`;
  }

  /* The places of the file in each pool. */
  function sentence(placings, {short}) {
    const [{worth, sets: {[RANKED_BY[1]]: plain}}] = placings;
    const of = (by) => placings.map(({sets}) => inPlaces(sets[by].get("yours")))
      .map((text, k, [first]) => (k && first.startsWith("places ") ? text.replace(/^places /, "") : text));
    const recalibrated = of(RANKED_BY[0]).map((places, k) => `${places} on ${itemsIn(placings[k].pool)}`).join(", and ");
    return `Among all systems of the scoreboard on ${short}, ${worth.name} has ${recalibrated}, by its recalibrated worth. ${plain
      ? `Without recalibration, it has ${of(RANKED_BY[1]).join(" and ")}${placings.length > 1 ? ", respectively" : ""}.`
      : "A single label has no place without recalibration."}`;
  }

  const SETTING = "Ranking it among all systems …";

  /* What stands on the page is painted before something that takes a second. */
  function painted() {
    return new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
  }

  /* Fill the place of a dataset with the system's places; `isStill` says whether they are still asked for. */
  async function board(place, predictions, {file, global}, isStill) {
    const {dataset} = predictions, said = make("p", "evaluate-answer", SETTING, {role: "status"});
    place.replaceChildren(said);
    let pools;
    try {
      pools = await load(`../evaluate/${file}`, global);
    } catch (fault) {
      said.textContent = `The systems of the scoreboard could not be loaded (${fault.message}).`;
      return;
    }
    if (!isStill()) return;
    const placings = new Map(), body = make("div");
    const isShown = (pool) => isStill() && offered[chosen.selectedIndex] === pool;
    const of = (pool) => {
      const tell = async (part) => {
        if (isStill()) said.replaceChildren(`${SETTING} `, make("span", {"aria-hidden": "true"}, percent(part)));
        await new Promise((resolve) => { setTimeout(resolve); }); // so that this is painted
      };
      if (!placings.has(pool)) placings.set(pool, placeIn(predictions, pool, tell));
      return placings.get(pool);
    };
    const offered = pools.filter(({items}) => {
      const own = new Set(predictions.places);
      return items.filter((i) => own.has(i)).length >= COVERAGE * items.length;
    });
    if (!offered.length) {
      place.replaceChildren(make("p", "note", "The file covers too few items for a place on the scoreboard."));
      return;
    }
    const names = offered.map((pool) => [pool.name, titleOf(pool)]), id = `evaluate-pool-${dataset.name}`;
    const chosen = choice(names, show, {id});
    // One label per item is compared with language models', where that is possible.
    if (predictions.isOfLabels) chosen.selectedIndex = Math.max(0, offered.findIndex(languageModelsIn));
    async function show() {
      const pool = offered[chosen.selectedIndex];
      said.textContent = SETTING;
      await painted();
      const placing = await of(pool);
      if (!isShown(pool)) return;
      body.replaceChildren(...boardTable(placing, dataset));
      const all = [];
      for (const one of offered) all.push(await of(one));
      if (!isShown(pool)) return;
      const ranked = all.filter(({sets}) => sets[RANKED_BY[0]]);
      said.textContent = `${ranked.length ? `${sentence(ranked, dataset)} ` : ""}Your file is counted as one of the systems.`;
    }
    place.replaceChildren(
      said,
      ...(offered.length > 1 ? [make("p", "evaluate-choice", [make("label", "", "Compare on", {for: id}), chosen])] : []),
      body,
      make("p", "note", "A place is a range of ranks that holds for all systems at once with 95% confidence. Systems below the range are "
        + "clearly farther from people on the same items, and systems above the range are clearly nearer (4,000 resamples "
        + "of the items). Each pair of systems is compared on the items that both cover. People have no place."),
    );
    await show();
  }

  Object.assign(window.Evaluate, {board, placeIn, rankSets});
})();
