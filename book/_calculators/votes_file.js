/* A reader's CSV of votes or of counts: from its text to the curves that its own votes support, or a sentence on
   why not. Exact, from thinning: some of an item's votes, drawn without replacement, are what as many
   people would have given. Knows neither the page nor the browser. */
(function () {
  "use strict";

  const {sum, count, MOST_BYTES} = window.Page;
  const SIZES = [1, 2, 3, 5, 10, 20, 50, 100]; // as the recorded tables have them
  const FEWEST_ITEMS = 10, MOST_LABELS = 100, MOST_WORK = 1e9, LEAST = 1e-14;
  const NOT_COUNTS = /^(|uid|item|index|line|row|n|total|sum|n_?votes|label|gold|majority)$/i;
  const OF_IDS = /(^|[ _.-])id$|^(item|post|tweet|text|doc)id$/i;
  const KINDS = [["{", "JSON"], ["[", "a JSON list"], ["PK", "a zip archive or a workbook"], ["PAR1", "a parquet file"],
    ["\x1f\x8b", "a gzip archive"], ["%PDF", "a PDF"], ["\x93NUMPY", "a NumPy array"], ["<", "a web page"]];
  const TOO_LARGE = `The file is larger than ${MOST_BYTES / 1e6} MB. Use a part of the items.`;
  const EXPECTED = "This page reads a CSV with one line per vote and the columns item, annotator and label, or with one line per item "
    + "and one column of counts per label.";
  const OF_ITEMS = /^(item|uid|\w*_?id)$/i, NAMED_ITEM = /^(item|uid)$/i, OF_ANSWERS = /^(label|answer|vote|response|rating)$/i;
  const OF_PEOPLE = /^(annotator|worker|rater|coder|user|participant|judge|expert|labell?er|evaluator|assessor)([_ ]?(id|name))?$/i;
  const NO_ANSWER = /^(|\?|-|n\/?a|nan|null)$/i;

  /* The rows of a CSV as lists of fields. */
  function rowsOf(text) {
    const lines = text.replace(/^\ufeff/, "").split(/\r\n?|\n/).filter((line) => /[^\s,;"]/.test(line));
    const often = (sign) => (lines[0] ?? "").split(sign).length;
    const [separator] = [",", ";", "\t"].sort((a, b) => often(b) - often(a));
    const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}]*))${separator}`, "g");
    return lines.map((line) => [...(line + separator).matchAll(field)]
      .map(([, quoted, plain]) => (quoted?.replaceAll('""', '"') ?? plain).trim()));
  }

  /* The counts of a file with one row per vote, which names items again; nothing for another file. */
  function ofVotes(header, rows) {
    const placesOf = (names) => [...header.keys()].filter((place) => names.test(header[place]));
    const [person] = placesOf(OF_PEOPLE), answers = placesOf(OF_ANSWERS), named = placesOf(NAMED_ITEM);
    const items = named.length ? named.slice(0, 1) : placesOf(OF_ITEMS).filter((place) => !OF_PEOPLE.test(header[place]));
    const areApart = (place) => new Set(rows.map((row) => row[place])).size === rows.length;
    if (!items.length || !answers.length || items.some(areApart)) return undefined;
    for (const [what, found] of [["the items", items], ["the label", answers]]) {
      if (found.length > 1) {
        const names = found.map((place) => header[place]).join(", ");
        return {fault: `Several columns may hold ${what}: ${names}. Leave out all but one. ${EXPECTED}`};
      }
    }
    const [item] = items, [answer] = answers;
    const lacking = rows.findIndex((row) => !row[item] || NO_ANSWER.test(row[answer]));
    if (lacking >= 0) return {fault: `Row ${lacking + 1} lacks an item or a label. Leave out rows without a vote.`};
    const columns = [...new Set(rows.map((row) => row[answer]))].sort();
    if (columns.length < 2) return {fault: `All votes are for one label, and two are needed. ${EXPECTED}`};
    if (columns.length > MOST_LABELS) return {fault: tooMany(columns.length, "labels")};
    const alike = columns.find((one) => columns.some((other) => one !== other && one.toLowerCase() === other.toLowerCase()));
    if (alike) return {fault: `The label “${alike}” is written in several ways. Write each label in one way.`};
    const counts = new Map(), given = new Set();
    for (const [k, row] of rows.entries()) {
      const vote = JSON.stringify([row[item], row[person]]);
      if (person !== undefined && given.has(vote)) {
        return {fault: `Row ${k + 1} is another vote by one annotator on one item. Keep each annotator’s first vote on an item.`};
      }
      given.add(vote);
      if (!counts.has(row[item])) counts.set(row[item], columns.map(() => 0));
      counts.get(row[item])[columns.indexOf(row[answer])] += 1;
    }
    const unused = header.filter((_, place) => ![item, answer, person].includes(place));
    return {counts: [...counts.values()], columns, unused, isOfVotes: true};
  }

  const tooMany = (n, what) => `The file has ${count(n)} ${what}, and this page takes ${MOST_LABELS} labels at most. `
    + `${EXPECTED} Other layouts: \`chaos dataset check\`.`;

  /* The counts of each item, and the columns they come from; {fault} says why there are none. */
  function read(text, bytes = text.length) {
    if (bytes > MOST_BYTES) return {fault: TOO_LARGE};
    const kind = KINDS.find(([start]) => text.trimStart().startsWith(start));
    if (kind) return {fault: `The file is ${kind[1]}. ${EXPECTED}`};
    if (text.includes("\0") || text.includes("\ufffd")) return {fault: `The file is not UTF-8 text. ${EXPECTED}`};
    const [header, ...rows] = rowsOf(text);
    if (!rows.length) return {fault: `The file is empty, or has only one line. ${EXPECTED}`};
    const odd = rows.findIndex((row) => row.length !== header.length);
    if (odd >= 0) return {fault: `Row ${odd + 1} has ${rows[odd].length} cells, the header ${header.length}. ${EXPECTED}`};
    const long = ofVotes(header, rows);
    if (long) return long;
    const isCount = (cell) => /^\d{1,6}(\.0+)?$/.test(cell);
    // Ids are named so, all differ, or are numbered.
    const isId = (place) => {
      const cells = rows.map((row) => row[place]);
      return NOT_COUNTS.test(header[place]) || OF_IDS.test(header[place])
        || (rows.length > 20 && new Set(cells).size === rows.length)
        || (rows.length >= FEWEST_ITEMS && cells.every((cell, i) => Number(cell) === Number(cells[0]) + i));
    };
    const places = [...header.keys()].filter((place) => !isId(place) && rows.every((row) => isCount(row[place])));
    const columns = places.map((place) => header[place]);
    const unused = header.filter((_, place) => !places.includes(place));
    if (columns.length < 2) {
      const negative = rows.findIndex((row) => row.some((cell) => /^-\d/.test(cell)));
      const shares = rows.some((row) => row.some((cell) => /^0?\.\d/.test(cell)));
      const why = negative >= 0 ? `Row ${negative + 1} has a negative number.`
        : shares ? "It seems to hold shares; counts are needed, since the number of votes matters." : "";
      return {fault: `The file has ${columns.length || "no"} column of counts, and two are needed. ${why} ${EXPECTED} `
        + "Other layouts: `chaos dataset check`."};
    }
    if (columns.length > MOST_LABELS) {
      return {fault: tooMany(columns.length, "columns of counts")};
    }
    const counts = rows.map((row) => places.map((place) => Number(row[place])));
    const empty = counts.findIndex((item) => sum(item) === 0);
    if (empty >= 0) return {fault: `Row ${empty + 1} has no vote. Leave out items without votes.`};
    return {counts, columns, unused};
  }

  /* The probability of each number of successes in n trials. */
  function binomial(n, p) {
    const found = new Float64Array(n + 1);
    if (p <= 0 || p >= 1) {
      found[p <= 0 ? 0 : n] = 1;
      return found;
    }
    const logs = new Float64Array(n + 1);
    for (let x = 1; x <= n; x += 1) logs[x] = logs[x - 1] + Math.log((n - x + 1) / x);
    for (let x = 0; x <= n; x += 1) found[x] = Math.exp(logs[x] + x * Math.log(p) + (n - x) * Math.log1p(-p));
    return found;
  }

  /* How often k of an item's votes have the same majority as all of them; labels that tie share. `item`
     is sorted, the most frequent label first. Given its share of k votes, each label's number is
     binomial, so that only their sum has to be k. */
  function agreement(item, k) {
    const all = sum(item), p = k / all;
    if (k === all) return 1 / item.filter((one) => one === item[0]).length;
    const [top, ...others] = item.filter((one) => one > 0).map((one) => binomial(one, p));
    let right = 0;
    for (let x = Math.ceil(k / item.length); x < top.length && x <= k; x += 1) {
      const rest = k - x;
      if (top[x] < LEAST || rest > x * others.length) continue;
      // ways[t][s]: t of the others tie with it, and s votes are theirs
      let ways = [Float64Array.of(1)];
      for (const one of others) {
        const length = Math.min(ways[0].length + Math.min(x, one.length - 1), rest + 1);
        const next = Array.from({length: ways.length + 1}, () => new Float64Array(length));
        ways.forEach((way, t) => way.forEach((share, s) => {
          if (!share) return;
          for (let y = 0; y <= x && y < one.length && s + y < length; y += 1) next[t + (y === x)][s + y] += share * one[y];
        }));
        ways = next;
      }
      ways.forEach((way, t) => { right += top[x] * (way[rest] ?? 0) / (1 + t); });
    }
    return right / binomial(all, p)[k];
  }

  /* How far the shares of k of an item's votes are from those of everyone, on average: from those of all
     its votes, times what makes up for the k being among these (exactly so for squared errors). */
  function distance(item, k) {
    const all = sum(item), p = k / all, whole = binomial(all, p)[k];
    const of = (one) => {
      const [its, rest] = [binomial(one, p), binomial(all - one, p)];
      let gap = 0;
      for (let x = Math.max(0, k - (all - one)); x <= Math.min(k, one); x += 1) {
        gap += its[x] * rest[k - x] * Math.abs(x / k - one / all);
      }
      return gap / whole;
    };
    return sum(item.filter((one) => one > 0).map(of)) / 2 / Math.sqrt(1 - p);
  }

  /* The mean of a function of items, and the standard deviation of this mean. */
  function meanOf(groups, f) {
    const n = sum(groups.map(({times}) => times));
    const values = groups.map(({item}) => f(item));
    const middle = sum(values.map((value, i) => groups[i].times * value)) / n;
    const square = sum(values.map((value, i) => groups[i].times * (value - middle) ** 2));
    return [middle, Math.sqrt(square / Math.max(n - 1, 1) / n)];
  }

  /* How often two people differ on an item with two votes or more: the mean and its standard error. */
  function differing(counts) {
    const groups = counts.map((item) => ({item, times: 1, n: sum(item)})).filter(({n}) => n >= 2);
    if (groups.length < FEWEST_ITEMS) return undefined;
    return meanOf(groups, (item) => 1 - sum(item.map((one) => one * (one - 1))) / (sum(item) * (sum(item) - 1)));
  }

  /* What the votes support: rows of votes, value and standard error for a majority label and for shares,
     up to a third of the votes that at least half of the items have, since nearer to all of them their
     own majority is too easily right. Where these are too few, only how often two people {differ}, which
     two votes measure; else {fault}. */
  function curvesOf(counts) {
    const totals = counts.map(sum).sort((a, b) => b - a);
    const enough = totals[Math.max(Math.ceil(totals.length / 2), FEWEST_ITEMS) - 1] ?? 0;
    const most = Math.min(Math.floor(enough / 3), SIZES.at(-1));
    if (most < 2) {
      const differ = differing(counts);
      return differ ? {differ, labels: counts[0].length, of: counts.length}
        : {fault: `This page needs at least ${FEWEST_ITEMS} items with two votes or more.`};
    }
    const groups = new Map();
    for (const item of counts.filter((one) => sum(one) >= enough)) {
      const sorted = [...item].sort((a, b) => b - a), key = sorted.join();
      if (groups.has(key)) groups.get(key).times += 1;
      else groups.set(key, {item: sorted, times: 1});
    }
    const all = [...groups.values()];
    const n = sum(all.map(({times}) => times));
    const sizes = [...SIZES.filter((size) => size < most), most];
    const labels = counts[0].length - 1;
    const work = all.length * sum(sizes.map((k) => k ** 3 / 6)) * labels ** 2;
    const every = Math.ceil(work / MOST_WORK);
    const some = all.filter((_, i) => i % every === 0);
    return {
      label: sizes.map((k) => [k, ...meanOf(some, (item) => agreement(item, k))]),
      shares: sizes.map((k) => [k, ...meanOf(some, (item) => distance(item, k))]),
      enough, n, of: counts.length, isPart: every > 1, used: sum(some.map(({times}) => times)),
    };
  }

  /* What is said of a file that was read. */
  function described({columns, unused, isOfVotes}, {enough, n, of, isPart, used, differ}) {
    const left = unused.length ? `; not used: ${unused.slice(0, 8).map((one) => one || "(no name)").join(", ")}` : "";
    return `${isOfVotes ? "One row per vote, with the labels" : "Counts in"} ${columns.slice(0, 12).join(", ")}${columns.length > 12 ? " …" : ""}${left}. `
      + (differ ? `${count(of)} items; to measure more than how often people differ, at least half of them, and at least ${FEWEST_ITEMS}, `
        + "must have six votes or more." : `${count(n)} of ${count(of)} items have ${enough} votes or more and are used${isPart
        ? `; of these, this page takes ${count(used)} to stay fast` : ""}.`);
  }

  Object.assign(window.Calculators, {TOO_LARGE, readVotes: read, curvesOf, agreement, distance, differing, described});
})();
