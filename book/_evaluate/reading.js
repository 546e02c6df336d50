/* Files of predictions: from their text to one distribution for each item, or one fault.

   Reads as chaos_utils/scoring/formats.py and predictions.py do, and speaks in their words. Knows
   neither the page nor the browser. What it is given to know (`known`):
   datasets  the votes by dataset, as the explorer's data has them, with codes, spellings and columns
   names     of every dataset of the package; columns: what their classes are called in tables
   synthetic whether the votes are the sample's */
(function () {
  "use strict";

  const TOLERANCE = 1e-3, SHOWN = 5, SHOWN_CHARACTERS = 80, LOOKED_AT = 10, LARGEST = 1e300;
  const ORDER_MARGIN = 0.15, ABOVE_CONSTANT = 0.05, FLAGRANT = 0.5, ENOUGH_FOR_ORDER = 30;
  const BEYOND_CHANCE = 4, ROUNDING = 1e-9, TOLD_APART = 2;
  const ABOUT = ["family", "seed", "trained_on", "out_of_fold"];
  const NO_VALUES = ["model", "uid", "dataset", "task", "predicted_label", ...ABOUT];
  const BAAN_FIELDS = ["index", "pred", "probs"], BAAN_CODES = ["e", "c", "n"];
  const PLAIN_NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
  const UNKNOWN = "Unrecognised predictions format.";
  const DAMAGED = "correct this, and check that the file was not cut off";

  /* What is wrong with a file: a sentence, and what was found, expected and is to be done. */
  class Fault extends Error {
    constructor(problem, {found, expected, todo} = {}) {
      super(problem);
      Object.assign(this, {found, expected, todo});
    }
  }

  const sum = (values) => values.reduce((all, value) => all + value, 0);
  const place = (values, value) => values.indexOf(value);
  const argmax = (values) => place(values, Math.max(...values));
  const isNumber = (value) => typeof value === "number" && Math.abs(value) < LARGEST;
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const isText = (value) => typeof value === "string" && value.trim() !== "";
  const count = (n) => n.toLocaleString("en");

  function shown(value) {
    const text = typeof value === "string" ? value : spelled(value);
    return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)} …`;
  }

  function spelled(value) {
    if (Array.isArray(value)) return `[${value.map(spelled).join(", ")}]`;
    if (value === null || value === undefined) return "nothing";
    return typeof value === "string" ? quoted(value) : String(value);
  }

  function quoted(text) {
    const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
    return mark + shown(text) + mark;
  }

  function listed(uids) {
    return uids.slice(0, SHOWN).map(shown).join(", ") + (uids.length > SHOWN ? " …" : "");
  }

  /* The fault of lines, the first few of which are shown. */
  function several(of, faults, expected, todo) {
    const more = faults.length - SHOWN;
    const lines = [...faults.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more`] : [])];
    const plural = faults.length > 1 ? "s" : "";
    return new Fault(`${faults.length} fault${plural} in ${of}.`, {
      found: lines.join("\n"), expected, todo,
    });
  }

  function formats({datasets}) {
    const columns = [...new Set(datasets.map((one) => one.columns.join(", ")))].join(" or ");
    return "ChaosNLI's JSON {model: {uid: {…}}}, JSON lines with uid and probs, or CSV with a "
      + `column uid and one per class${columns && `: ${columns}`}`;
  }

  function unreadable(known, problem, found, expected = formats(known)) {
    return new Fault(problem, {found, expected, todo: DAMAGED});
  }

  /* The rows of a file by model. `name` stands for the model where the file names none. */
  function readRows(text, name, known) {
    const whole = text.replace(/^\uFEFF/, "");
    const first = whole.trimStart()[0];
    if (first === undefined) throw unreadable(known, "The data file is empty.");
    if (first === "[") throw unreadable(known, UNKNOWN, "a JSON list");
    if (first !== "{") return fromTable(whole, name, known);
    return isJsonLines(whole) ? new Map([[name, fromLines(whole, known)]]) : fromJson(whole, known);
  }

  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  function isJsonLines(text) {
    const lines = text.trimStart().split("\n").slice(0, LOOKED_AT);
    return lines[0].trim() !== "{" && lines.map(parsed).some((entry) => isObject(entry)
      && (Array.isArray(entry.probs) || ("uid" in entry && !isObject(entry.uid))));
  }

  function fromLines(text, known) {
    const rows = [], faults = [];
    text.split("\n").forEach((line, i) => {
      if (!line.trim()) return;
      const entry = parsed(line);
      if (isObject(entry)) rows.push(lineRow(`line ${i + 1}`, entry));
      else faults.push(`line ${i + 1}, found ${quoted(line.trim().slice(0, 58))}; expected a JSON object`);
    });
    if (faults.length) throw several("a file of predictions", faults, formats(known), DAMAGED);
    return rows;
  }

  function lineRow(where, entry) {
    const areLogits = !("probs" in entry) && "logits" in entry;
    return {
      where, areLogits, uid: entry.uid, label: entry.predicted_label,
      values: areLogits ? entry.logits : entry.probs,
      codes: BAAN_FIELDS.every((name) => name in entry) ? BAAN_CODES : [],
      about: {},
      faults: contradictions(entry.probs, entry.logits, entry),
    };
  }

  function fromJson(text, known) {
    const content = parsed(text);
    if (content === undefined) {
      const found = quoted(text.trim().slice(0, 58));
      throw unreadable(known, "The predictions file is not valid JSON.", found);
    }
    const models = new Map();
    for (const [name, entries] of Object.entries(content)) {
      if (!isObject(entries) || !Object.values(entries).every(isObject)) {
        throw unreadable(known, UNKNOWN, `${quoted(name)} holds no {uid: {…}}`);
      }
      models.set(name, Object.entries(entries).map(([uid, entry]) => jsonRow(name, uid, entry)));
    }
    if (!models.size || [...models.values()].some((rows) => !rows.length)) {
      throw unreadable(known, "The predictions file holds no prediction, or none of a model.");
    }
    return models;
  }

  function jsonRow(name, uid, entry) {
    const {predicted_probabilities: probabilities, logits} = entry;
    const areLogits = !("predicted_probabilities" in entry) && "logits" in entry;
    const inside = (entry.uid ?? uid) === uid ? [] : [`the uid inside is ${shown(entry.uid)}`];
    return {
      where: `${shown(name)}, ${shown(uid)}`, uid, areLogits, label: entry.predicted_label,
      values: areLogits ? logits : probabilities, codes: [], about: {},
      faults: [...inside, ...contradictions(probabilities, logits, {})],
    };
  }

  /* Where logits, `conf` (the largest probability) and `pred` (its place) disagree. */
  function contradictions(probabilities, logits, {conf, pred}) {
    if (!Array.isArray(probabilities) || !probabilities.length) return [];
    if (!probabilities.every(isNumber)) return []; // a fault of its own
    const faults = [], largest = Math.max(...probabilities);
    if (logits !== undefined && logits !== null) {
      const fits = Array.isArray(logits) && logits.length === probabilities.length
        && logits.every(isNumber)
        && softmax(logits).every((p, k) => Math.abs(p - probabilities[k]) <= TOLERANCE);
      if (!fits) {
        faults.push(`probabilities ${shown(probabilities)} are not the softmax of ${shown(logits)}`);
      }
    }
    if (conf !== undefined && conf !== null
      && !(isNumber(conf) && Math.abs(conf - largest) <= TOLERANCE)) {
      faults.push(`conf is ${shown(conf)}, the largest probability ${largest}`);
    }
    if (pred !== undefined && pred !== null) {
      if (!Number.isInteger(pred) || pred < 0 || pred >= probabilities.length) {
        faults.push(`pred is ${shown(pred)}, no place in a list of ${probabilities.length}`);
      } else if (probabilities[pred] < largest - TOLERANCE) {
        const top = place(probabilities, largest);
        faults.push(`pred is ${pred}, the largest probability stands at ${top}`);
      }
    }
    return faults;
  }

  function softmax(logits) {
    const largest = Math.max(...logits);
    const powers = logits.map((value) => Math.exp(value - largest));
    const all = sum(powers);
    return powers.map((power) => power / all);
  }

  /* The records of a CSV file as fields, each with the line on which it begins. */
  function records(text, known) {
    const head = text.replace(/^[\r\n]+/, "").split("\n", 1)[0];
    const commonness = (mark) => head.split(mark).length;
    const delimiter = [",", "\t", ";"].reduce((a, b) => (commonness(b) > commonness(a) ? b : a));
    const invalid = (fault) => unreadable(known, "The data file is not valid CSV.",
      `line ${start}: ${fault}`, "a closing mark for each quotation mark");
    const found = [];
    let fields = [], field = "", isQuoted = false, wasQuoted = false, line = 1, start = 1;
    const endField = () => { fields.push(field); field = ""; wasQuoted = false; };
    for (let i = 0; i < text.length; i += 1) {
      const sign = text[i];
      const isEnd = sign === "\n" || (sign === "\r" && text[i + 1] !== "\n");
      if (isEnd) line += 1;
      if (isQuoted && sign === '"' && text[i + 1] === '"') { field += sign; i += 1; }
      else if (isQuoted && sign === '"') { isQuoted = false; wasQuoted = true; }
      else if (isQuoted) field += sign;
      else if (sign === delimiter) endField();
      else if (isEnd) { endField(); found.push({start, fields}); fields = []; start = line; }
      else if (sign === "\r") continue;
      else if (wasQuoted) throw invalid(`'${delimiter}' expected after '"'`);
      else if (sign === '"' && field === "") isQuoted = true;
      else field += sign;
    }
    if (isQuoted) throw invalid("unexpected end of data");
    if (field || wasQuoted || fields.length) { endField(); found.push({start, fields}); }
    return {delimiter, records: found.filter((one) => one.fields.some((value) => value !== ""))};
  }

  function fromTable(text, name, known) {
    const {delimiter, records: [head, ...lines]} = records(text, known);
    const header = head.fields.map((column) => column.trim());
    const double = header.find((column, i) => place(header, column) < i);
    if (double !== undefined) {
      const problem = "A column appears twice in the data file.";
      throw unreadable(known, problem, quoted(double), "each column once");
    }
    const places = lines.map(({start}, i) => `row ${i + 1}, line ${start}`);
    const uneven = lines.flatMap(({fields}, i) => fields.length === header.length ? []
      : [`${places[i]}, found ${fields.length} fields; expected ${header.length}, as the header has`]);
    if (uneven.length) throw several("a file of predictions", uneven, formats(known), DAMAGED);
    if (!lines.length) throw unreadable(known, "The predictions file holds no prediction.");
    if (header.includes("sample")) {
      throw new Fault("This page cannot read answers drawn from a language model.", {
        found: "a column sample", expected: formats(known),
        todo: "run `chaos evaluate` on the file, which counts them",
      });
    }
    if (!header.includes("uid") || !header.some((column) => known.columns.includes(column))) {
      throw unreadable(known, UNKNOWN, `columns ${header.slice(0, 8).map(shown).join(", ")}`);
    }
    const models = new Map();
    lines.forEach(({fields}, n) => {
      const cell = Object.fromEntries(header.map((column, i) => [column, fields[i]]));
      const row = tableRow(places[n], cell, delimiter === ";");
      const model = isText(cell.model ?? name) ? cell.model ?? name : name;
      if (model !== (cell.model ?? name)) row.faults.push("no model in the column model");
      if (!models.has(model)) models.set(model, []);
      models.get(model).push(row);
    });
    return models;
  }

  function tableRow(where, cell, withComma) {
    const stated = (name) => cell[name]?.trim() || undefined;
    const values = Object.entries(cell).filter(([name]) => !NO_VALUES.includes(name))
      .map(([name, text]) => [name, numberOf(text.trim(), withComma)]);
    return {
      where, uid: cell.uid, areLogits: false, label: stated("predicted_label"),
      dataset: stated("dataset" in cell ? "dataset" : "task"), // "task" until the second edition
      values: new Map(values), codes: [], faults: [],
      about: Object.fromEntries(ABOUT.map((name) => [name, stated(name)])),
    };
  }

  /* The number that a text is; where fields end in semicolons, 0,5 is one. */
  function numberOf(text, withComma) {
    const plain = withComma ? text.replace(/,/g, ".") : text;
    return PLAIN_NUMBER.test(plain) ? Number(plain) : text || null;
  }

  /* Throw what is wrong with a model's rows whatever the dataset. */
  function checkRows(of, rows, known) {
    const own = rows.flatMap(({where, faults}) => faults.map((fault) => `${where}: ${fault}`));
    if (own.length) {
      const expected = "entries that do not contradict themselves";
      throw several(of, own, expected, "correct these entries");
    }
    const uids = uidFaults(rows, known);
    if (uids.length) {
      const todo = "correct these uids, and keep one prediction for each";
      throw several(of, uids, "one prediction for each uid", todo);
    }
    const datasets = datasetFaults(rows, known);
    if (datasets.length) {
      const todo = "correct the column, or remove it: the uids decide";
      throw several(of, datasets, "uids of the dataset that the row names", todo);
    }
    const kinds = rows.map(({areLogits, codes}) => (areLogits ? "logits" : "probabilities")
      + (codes.length ? ", with index and pred" : ""));
    const often = (kind) => kinds.filter((one) => one === kind).length;
    const usual = [...new Set(kinds)].reduce((a, b) => (often(b) > often(a) ? b : a));
    const mixed = rows.flatMap(({where}, i) => (kinds[i] === usual ? []
      : [`${where}: ${kinds[i]}; most entries have ${usual}`]));
    if (mixed.length) throw several(of, mixed, "entries of one kind", "write all entries alike");
  }

  function uidFaults(rows, known) {
    // The same item of two datasets may stand in one file, if all rows say whose item they mean.
    const keyed = rows.every(({dataset}) => known.names.includes(dataset));
    const seen = new Map(), faults = [];
    for (const {where, uid, dataset} of rows) {
      const key = keyed ? JSON.stringify([dataset, uid]) : uid;
      if (uid === undefined || uid === null || uid === "") faults.push(`${where}: no uid`);
      else if (!isText(uid)) faults.push(`${where}: uid ${spelled(uid)} is not text`);
      else if (seen.has(key)) {
        faults.push(`${where}: uid ${quoted(uid)} again, first at ${seen.get(key)}`);
      } else seen.set(key, where);
    }
    return faults;
  }

  function datasetFaults(rows, {datasets}) {
    if (rows.every(({dataset}) => dataset === undefined)) return [];
    const uids = new Map(datasets.map((one) => [one.name, new Set(one.uids)]));
    return rows.flatMap(({where, uid, dataset}) => {
      if (dataset === undefined || (uids.get(dataset)?.has(uid) ?? true)) return [];
      return datasets.filter(({name}) => uids.get(name).has(uid)).map(({name}) =>
        `${where}: dataset is ${dataset}, but uid ${quoted(uid)} is in ${name}`);
    });
  }

  /* Refuse a system that says it was trained on the votes that are to judge it. */
  function checkTraining(model, rows, {datasets}) {
    for (const name of ABOUT) {
      const said = [...new Set(rows.map(({about}) => about[name] ?? ""))];
      if (said.length > 1) {
        throw new Fault(`The column ${name} contradicts itself for ${quoted(model)}.`, {
          found: said.slice(0, SHOWN).map((value) => value || "nothing").join(", "),
          expected: "one value for all rows of a model",
          todo: "give each system a name of its own in a column model",
        });
      }
    }
    const {trained_on: trainedOn = "", out_of_fold: outOfFold = ""} = rows[0].about;
    if (outOfFold && !["true", "false"].includes(outOfFold.toLowerCase())) {
      const expected = "true or false";
      throw new Fault("The column out_of_fold cannot be read.", {found: shown(outOfFold), expected});
    }
    if (outOfFold.toLowerCase() === "true") return [];
    const corpora = trainedOn.split(/[;,+]/).map((name) => name.trim().toLowerCase().split(/\s+/));
    return datasets.filter(({name, short, title}) => corpora.some(([votes, of, ...rest]) =>
      votes === "votes" && of === "of"
      && [name, short, title].some((one) => one.toLowerCase() === rest.join(" "))));
  }

  /* The rows of each dataset that a file covers, in the order of its items. */
  function split(rows, {datasets, names}) {
    const parts = [];
    for (const dataset of datasets) {
      const byUid = new Map(rows
        .filter((row) => row.dataset === dataset.name || !names.includes(row.dataset))
        .map((row) => [row.uid, row]));
      const places = dataset.uids.flatMap((uid, i) => (byUid.has(uid) ? [i] : []));
      const chosen = places.map((i) => byUid.get(dataset.uids[i]));
      if (chosen.length) parts.push({dataset, places, rows: chosen});
    }
    // Datasets may share uids. Those whose classes are not the file's are then not meant.
    const fitting = parts.filter(({dataset, rows: [{values}]}) => (values instanceof Map
      ? dataset.columns.every((column) => values.has(column))
      : values?.length === dataset.labels.length));
    return fitting.length ? fitting : parts;
  }

  /* Throw where rows may be about either of two datasets. */
  function checkMeant(model, parts) {
    parts.forEach(({dataset: one, rows: here}, i) => {
      for (const {dataset: other, rows: there} of parts.slice(i + 1)) {
        const meant = new Set(there), both = here.filter((row) => meant.has(row)).map(({uid}) => uid);
        if (!both.length) continue;
        const uids = both.length === 1 ? "uid" : "uids";
        throw new Fault(`The predictions of ${quoted(model)} fit two datasets.`, {
          found: `${count(both.length)} ${uids} of both ${one.title} and ${other.title}, such as `
            + quoted(both[0]),
          expected: "uids of one dataset, or a column dataset",
          todo: "say in a column dataset which is meant",
        });
      }
    });
  }

  function noItem(model, rows, {datasets, synthetic}) {
    const titles = datasets.map(({title}) => title).join(", ") || "no dataset";
    const stated = [...new Set(rows.map(({dataset}) => dataset).filter(Boolean))].sort();
    const as = synthetic ? " as the synthetic sample has it" : "";
    return new Fault(`No uid of ${quoted(model)} occurs in ${titles}${as}.`, {
      found: `${rows.length} uid${rows.length > 1 ? "s" : ""}, such as ${quoted(rows[0].uid)}`
        + (stated.length ? `, of the dataset ${stated.map(shown).join(", ")}` : ""),
      expected: datasets.length ? `uids such as ${quoted(datasets[0].uids[0])}` : undefined,
      todo: synthetic
        ? "run `chaos data fetch`, if these are predictions on the released items"
        : "check the dataset, and that the uids are those of its votes",
    });
  }

  /* The place among the dataset's classes of each of a row's values. */
  function orderOf({codes}, dataset) {
    const same = codes.length === dataset.codes.length
      && codes.every((code) => dataset.codes.includes(code));
    return same ? codes.map((code) => place(dataset.codes, code)) : dataset.labels.map((_, k) => k);
  }

  /* The values in the dataset's order of classes. */
  function tableOf(of, rows, dataset) {
    const {columns, labels, title} = dataset;
    const asked = `columns uid, ${columns.join(", ")}`;
    const others = otherColumns(rows, columns);
    if (others.length) {
      throw new Fault(`There are too many columns for ${title}.`, {
        found: `probabilities of ${others.map(shown).join(", ")}`, expected: asked,
        todo: "remove or rename what is no label, or check the dataset",
      });
    }
    const faults = [];
    const table = rows.map((row) => {
      let {values} = row;
      if (values instanceof Map) {
        const lacking = columns.filter((column) => !values.has(column));
        if (lacking.length) {
          const found = `no column ${lacking.join(", ")}`;
          throw new Fault(`The columns do not fit ${title}.`, {found, expected: asked});
        }
        values = columns.map((column) => row.values.get(column));
      }
      if (!Array.isArray(values) || values.length !== labels.length) {
        const size = Array.isArray(values) ? `${values.length} values` : shown(values);
        faults.push(`${row.where}: ${size}`);
      } else if (!values.every(isNumber)) {
        const isInfinite = values.every((value) => typeof value === "number");
        faults.push(`${row.where}: ${shown(values)}${isInfinite ? " is not finite" : ""}`);
      }
      return values;
    });
    if (faults.length) {
      const expected = `${labels.length} finite numbers for each item of ${title}: ${labels.join(", ")}`;
      throw several(of, faults, expected, "correct these predictions");
    }
    if (rows[0].values instanceof Map) return table;
    const order = orderOf(rows[0], dataset);
    return table.map((values) => labels.map((_, k) => values[place(order, k)]));
  }

  /* The columns that hold nothing but numbers from 0 to 1, and are no labels. */
  function otherColumns(rows, columns) {
    const [{values: first}] = rows;
    if (!(first instanceof Map) || !columns.every((column) => first.has(column))) return [];
    const isShare = (value) => isNumber(value) && value >= 0 && value <= 1;
    return [...first.keys()].filter((name) => name && !columns.includes(name)
      && rows.every(({values}) => isShare(values.get(name))));
  }

  function checkProbabilities(of, rows, table) {
    const sums = table.map(sum);
    const isNegative = (values) => values.some((value) => value < 0);
    const faults = rows.flatMap(({where}, i) => {
      if (isNegative(table[i])) return [`${where}: ${shown(table[i])} has a negative value`];
      if (Math.abs(sums[i] - 1) <= TOLERANCE) return [];
      return [`${where}: ${shown(table[i])} sums to ${Number(sums[i].toPrecision(6))}`];
    });
    if (!faults.length) return;
    const isPercent = table.every((values, i) => !isNegative(values) && Math.abs(sums[i] - 100) <= 1);
    throw several(of, faults, "probabilities: none negative, their sum 1 (within 0.001)",
      isPercent ? "divide by 100: these are percentages" : "apply a softmax if these are logits");
  }

  /* The stated labels as places; none where the file states none. */
  function statedLabels(of, rows, dataset) {
    if (rows.every(({label}) => label === undefined || label === null)) return null;
    const {labels, codes, spellings} = dataset;
    const found = rows.map(({label}) => {
      if (typeof label !== "string" && !Number.isInteger(label)) return -1;
      const known = [codes, labels].map((names) => place(names, String(label)));
      return known.find((k) => k >= 0) ?? spellings.findIndex((names) => names.includes(String(label)));
    });
    const faults = rows.flatMap(({where, label}, i) => (found[i] < 0
      ? [`${where}: predicted_label ${typeof label === "string" ? quoted(label) : spelled(label)}`]
      : []));
    if (faults.length) {
      const expected = `one of ${labels.join(", ")} or ${codes.join(", ")}`;
      throw several(of, faults, expected, "correct these labels");
    }
    return found;
  }

  /* Notes on labels that are not the most probable ones; a fault where a table holds both. */
  function checkLabels(of, rows, probabilities, stated) {
    const off = rows.filter((_, i) =>
      probabilities[i][stated[i]] < Math.max(...probabilities[i]));
    if (!off.length) return [];
    if (rows[0].values instanceof Map) {
      const faults = off.map(({where, label}) =>
        `${where}: predicted_label ${shown(label)}, but another label is more probable`);
      throw several(of, faults, "the label with the largest probability",
        "correct the labels, or remove the column predicted_label");
    }
    return [`${off.length} stated labels are not the most probable ones; accuracies use the stated `
      + "ones"];
  }

  /* The assignment of columns to rows with the largest sum: by sets of columns that are taken. */
  function bestOrder(pairs) {
    const known = new Map();
    function from(row, taken) {
      if (row === pairs.length) return {total: 0, order: []};
      if (known.has(taken)) return known.get(taken);
      let best = {total: -1};
      pairs[row].forEach((value, k) => {
        if (taken & (1 << k)) return;
        const rest = from(row + 1, taken | (1 << k));
        if (value + rest.total > best.total) {
          best = {total: value + rest.total, order: [k, ...rest.order]};
        }
      });
      known.set(taken, best);
      return best;
    }
    return from(0, 0).order;
  }

  /* Note two labels that could as well change places, where the file names no order. */
  function untoldOrder(rows, pairs, names, which) {
    const [{values, codes, label}] = rows;
    if (values instanceof Map || codes?.length || (label ?? null) !== null) return [];
    const percent = (share) => `${(100 * share).toFixed(0)}%`;
    for (let a = 0; a < pairs.length; a += 1) {
      for (let b = a + 1; b < pairs.length; b += 1) {
        const asRead = pairs[a][a] + pairs[b][b], swapped = pairs[a][b] + pairs[b][a];
        const spread = asRead + swapped - (asRead - swapped) ** 2;
        const error = Math.sqrt(Math.max(spread, 0) / rows.length);
        if (asRead - swapped < TOLD_APART * error) {
          return [`the order of ${names[a]} and ${names[b]} cannot be told from the labels: `
            + `${percent(asRead)} of them are ${which} as read, ${percent(swapped)} the other way round`];
        }
      }
    }
    return [];
  }

  /* Whether labels dealt to predictions at random would hardly ever agree as much (Hoeffding 1951). */
  function isBeyondChance(pairs, best, n) {
    const ofModel = pairs.map(sum), ofLabels = pairs.map((_, k) => sum(pairs.map((row) => row[k])));
    const rows = best.map((label) => ofLabels[label]);
    const columns = ofLabels.map((_, label) => ofModel[best.indexOf(label)]);
    const chance = sum(ofModel.map((share, k) => share * rows[k]));
    const variance = sum(pairs.flatMap((row, k) => row.map((_, label) =>
      ofModel[k] * ofLabels[label]
        * (Number(best[k] === label) - rows[k] - columns[label] + chance) ** 2))) / (n - 1);
    const fit = sum(pairs.map((row, k) => row[best[k]]));
    return fit > chance + BEYOND_CHANCE * Math.sqrt(variance) + ROUNDING;
  }

  /* Throw when another order of the classes would fit the labels far better; note a doubt. */
  function checkOrder(model, {dataset, rows, places}, probabilities) {
    const n = rows.length, {labels: names} = dataset;
    if (n < ENOUGH_FOR_ORDER) {
      return [`${n} ${n === 1 ? "item is" : "items are"} too few to check the order of the classes`];
    }
    const labels = dataset.old_label ?? dataset.majority;
    const which = dataset.old_label ? "the old ones" : "the majority's";
    const pairs = names.map(() => names.map(() => 0));
    probabilities.forEach((values, i) => { pairs[argmax(values)][labels[places[i]]] += 1 / n; });
    const best = bestOrder(pairs);
    const fit = sum(pairs.map((row, k) => row[k])), bestFit = sum(pairs.map((row, k) => row[best[k]]));
    if (bestFit < fit + ORDER_MARGIN) return untoldOrder(rows, pairs, names, which);
    const named = rows[0].values instanceof Map;
    const order = named ? names.map((_, k) => k) : orderOf(rows[0], dataset);
    const meant = order.map((k) => names[k]).join(", ");
    const better = order.map((k) => names[best[k]]).join(", ");
    const percent = (share) => `${(100 * share).toFixed(0)}%`;
    const found = `read as ${meant}, ${percent(fit)} of the labels are ${which}; read as ${better}, `
      + percent(bestFit);
    const commonest = Math.max(...names.map((_, k) => sum(pairs.map((row) => row[k]))));
    const flagrant = bestFit >= fit + FLAGRANT && isBeyondChance(pairs, best, n);
    if (bestFit < commonest + ABOVE_CONSTANT && !flagrant) {
      return [`the classes may be in another order: ${found}`];
    }
    const isOwn = order.some((k, i) => k !== i);
    throw new Fault(`The classes of ${quoted(model)} seem to be in another order.`, {
      found,
      expected: `the order ${meant}, which ${named ? "the header" : "this format"} has`,
      todo: (named ? "correct the header" : "reorder the values")
        + (isOwn ? `, or leave index and pred out: the order is then ${names.join(", ")}` : ""),
    });
  }

  /* One dataset's predictions: `places` in its votes, `probabilities`, `labels`, `stated`, `notes`. */
  function predictions(model, part, allowMissing) {
    const {dataset, rows, places} = part, of = `the predictions of ${quoted(model)}`;
    const notes = [], there = new Set(places);
    const missing = dataset.uids.filter((_, i) => !there.has(i));
    if (missing.length) {
      const fact = `${missing.length} of ${dataset.uids.length} items of ${dataset.title} `
        + `${missing.length === 1 ? "has" : "have"} no prediction`;
      if (!allowMissing) {
        throw new Fault(`${fact} by ${quoted(model)}.`, {
          found: `missing: ${listed(missing)}`, expected: "a prediction for each item",
          todo: "add them, or tick “Evaluate a part of the items”",
        });
      }
      notes.push(`${fact}; evaluated on the other ${rows.length}`);
    }
    const table = tableOf(of, rows, dataset);
    if (!rows[0].areLogits) checkProbabilities(of, rows, table);
    const probabilities = table.map(rows[0].areLogits ? softmax : (values) => values).map((values) => {
      const all = sum(values);
      return values.map((value) => value / all);
    });
    const stated = statedLabels(of, rows, dataset);
    if (stated) notes.push(...checkLabels(of, rows, probabilities, stated));
    notes.push(...checkOrder(model, part, probabilities));
    return {
      model, dataset, places, probabilities, notes,
      stated: stated !== null, labels: stated ?? probabilities.map(argmax),
    };
  }

  /* Read a file: its predictions for each dataset that it covers. Throws a Fault. */
  function read(text, file, known, allowMissing = false) {
    const models = readRows(text, file.replace(/\.[^.]*$/, ""), known);
    if (models.size > 1) {
      throw new Fault(`This file holds the predictions of ${models.size} models.`, {
        found: listed([...models.keys()]), expected: "one model",
        todo: "keep one of them, or run `chaos evaluate` on the file, which judges them all",
      });
    }
    const [[model, rows]] = models;
    checkRows(`the predictions of ${quoted(model)}`, rows, known);
    const seen = checkTraining(model, rows, known);
    const parts = split(rows, known);
    if (!parts.length) throw noItem(model, rows, known);
    checkMeant(model, parts);
    const fitted = parts.find(({dataset}) => seen.includes(dataset));
    const covered = new Set(parts.flatMap((part) => part.rows));
    const extra = rows.filter((row) => !covered.has(row)).map(({uid}) => uid);
    const are = extra.length === 1 ? "uid of the file is no item" : "uids of the file are no items";
    const note = extra.length ? [`${extra.length} ${are} of the dataset (${listed(extra)})`] : [];
    const found = parts.map((part) => {
      const one = predictions(model, part, allowMissing);
      return {...one, notes: [...one.notes, ...note]};
    });
    if (fitted) {
      throw new Fault(`${quoted(model)} was trained or fitted on the votes that are to judge it.`, {
        found: rows[0].about.trained_on,
        expected: "a system that has not seen these votes, or predictions out of fold",
        todo: "judge it by other votes, or predict out of fold and say so in the file "
          + "(column out_of_fold)",
      });
    }
    return found;
  }

  window.Evaluate = {Fault, read, count};
})();
