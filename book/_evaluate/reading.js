/* A file of predictions: from its bytes to one distribution for each item, or its faults.

   Reads one CSV, with a column uid and one for each label. Every other file is named, and left to
   `chaos evaluate`. Knows neither the page nor the browser. `known` holds the votes by dataset, as
   the explorer's data has them, and whether these are the sample's. */
(function () {
  "use strict";

  const {sum, argmax, count, percent} = window.Page;
  const TOLERANCE = 1e-3, SHOWN = 5;
  const ENOUGH_FOR_ORDER = 30, ORDER_MARGIN = 0.15, ABOVE_CONSTANT = 0.05; // as the command has it
  const PLAIN_NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
  const AS_CSV = "write a CSV with a column uid and a column for each label";
  const OF_JSON = "run `chaos evaluate` on it, which reads JSON, JSON lines and runs of language models";
  // What files begin with, what they are, and what to do.
  const KINDS = [
    ["{", "JSON or JSON lines", OF_JSON],
    ["[", "a JSON list", OF_JSON],
    ["PAR1", "a parquet file", "run `chaos evaluate` on it, which reads parquet"],
    ["\x93NUMPY", "a NumPy array", `${AS_CSV}: \`chaos evaluate\` also refuses what names no items`],
    ["PK", "a zip archive or a workbook", "unpack it or save it as CSV: `chaos evaluate` opens none"],
    ["\x1f\x8b", "a gzip archive", "unpack it: `chaos evaluate` opens none"],
  ];

  /* What is wrong with a file: a sentence, and what was found, expected and is to be done; `others`
     are more of these. */
  class Fault extends Error {
    constructor(problem, {found, expected, todo} = {}) {
      super(problem);
      Object.assign(this, {found, expected, todo, others: []});
    }
  }

  const shown = (text) => (text.length > 80 ? `${text.slice(0, 80)} …` : text);
  const listed = (texts) => texts.slice(0, SHOWN).map(shown).join(", ") + (texts.length > SHOWN ? " …" : "");
  const columnsOf = ({labels}) => labels.map((label) => label.replaceAll(" ", "_"));

  /* Refuse a file for faults, if there are any: all of them are named. */
  function refuse([first, ...others]) {
    if (first) throw Object.assign(first, {others});
  }

  /* The fault that rows have, of which the first few are shown; none where there are no rows. */
  function faultIn(rows, problem, wrong, expected, todo) {
    if (!rows.length) return [];
    const lines = [...rows].sort((a, b) => a.line - b.line).slice(0, SHOWN)
      .map((row) => `line ${row.line}: ${wrong(row)}`);
    if (rows.length > SHOWN) lines.push(`and ${count(rows.length - SHOWN)} more`);
    return [new Fault(problem, {found: lines.join("\n"), expected, todo})];
  }

  function textOf(buffer) {
    const first = String.fromCharCode(...new Uint8Array(buffer.slice(0, 99)))
      .replace(/^(\xef\xbb\xbf)?\s*/, "");
    const [, found, todo] = KINDS.find(([start]) => first.startsWith(start)) ?? [];
    if (found) throw new Fault("This page reads CSV alone.", {found, expected: "a CSV file", todo});
    try {
      return new TextDecoder("utf-8", {fatal: true}).decode(buffer); // without a byte-order mark
    } catch {
      throw new Fault("The file is not UTF-8 text.", {todo: "save it as CSV in UTF-8"});
    }
  }

  /* The header of a CSV, its rows with their lines, and what separates their fields. No field that is
     asked for here goes on in the next line. */
  function parse(text) {
    const lines = text.split(/\r\n?|\n/).map((whole, i) => ({line: i + 1, whole}))
      .filter(({whole}) => /[^\s,;"]/.test(whole));
    if (lines.length < 2) throw new Fault("The file holds no prediction.", {expected: AS_CSV});
    const often = (sign) => lines[0].whole.split(sign).length;
    const [separator] = [",", ";", "\t"].sort((a, b) => often(b) - often(a));
    const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}]*))${separator}`, "g");
    const [{fields: header}, ...rows] = lines.map(({line, whole}) => ({
      line,
      fields: [...(whole + separator).matchAll(field)]
        .map(([, quoted, plain]) => (quoted?.replaceAll('""', '"') ?? plain).trim()),
    }));
    return {header, rows, separator};
  }

  /* Give each row its uid. */
  function giveUids({header, rows}) {
    if (!header.includes("uid")) {
      throw new Fault("The file has no column uid.", {
        found: `columns ${listed(header)}`, expected: "a column uid and a column for each label",
        todo: "name the column that holds the items’ ids uid",
      });
    }
    for (const row of rows) row.uid = row.fields[header.indexOf("uid")];
  }

  function uidFaults({rows}) {
    const first = new Map(rows.map(({uid, line}) => [uid, line]).reverse());
    const isAgain = ({uid, line}) => uid && first.get(uid) < line;
    return [
      ...faultIn(rows.filter(({uid}) => !uid), "Rows have no uid.", () => "no uid", "a uid in each row"),
      ...faultIn(rows.filter(isAgain), "A uid appears more than once.",
        ({uid}) => `uid ${shown(uid)} again, first on line ${first.get(uid)}`,
        "one prediction for each uid", "keep one of each"),
    ];
  }

  /* Refuse columns that are not the dataset's; return what is wrong with rows of more or fewer. */
  function rowFaults({header, rows}, dataset) {
    const columns = ["uid", ...columnsOf(dataset)];
    const lacking = columns.filter((column) => !header.includes(column));
    const others = header.filter((name, k) => name // an index has none
      && !(columns.includes(name) && header.indexOf(name) === k));
    if (!lacking.length && !others.length) {
      return faultIn(rows.filter(({fields}) => fields.length !== header.length), "Rows are not whole.",
        ({fields}) => `${fields.length} fields`, `${header.length} fields, as the header has`,
        "correct these rows, and check that the file was not cut off");
    }
    const alike = (text) => text.toLowerCase().replace(/[ -]/g, "_");
    const renamed = lacking.flatMap((column) => others.filter((name) => alike(name) === alike(column))
      .map((name) => `${name} to ${column}`));
    const numbered = others.find((name) => /^label_?\d+$/i.test(name));
    let todo = "remove the other columns, or run `chaos evaluate`, which reads more of them";
    if (numbered) todo = `rename ${numbered} and so on as your model’s configuration does (id2label)`;
    else if (renamed.length) todo = `rename ${renamed.join(", ")}`;
    else if (lacking.length) todo = "name the columns as the labels";
    throw new Fault(`The columns do not fit ${dataset.title}.`, {
      found: `columns ${listed(header)}`, expected: `columns ${columns.join(", ")}`, todo,
    });
  }

  /* What to do about rows that do not sum to 1. */
  function advice(rows) {
    const every = (isSo) => rows.every(({values}) => isSo(values));
    if (!every((values) => Math.min(...values) >= 0)) return "apply a softmax, if these are logits";
    if (every((values) => Math.abs(sum(values) - 100) <= 1)) return "divide by 100: these are percentages";
    if (every((values) => Math.max(...values) <= 1)) return "divide each row by its sum";
    return "divide each row by its sum, if these are counts; apply a softmax, if these are logits";
  }

  /* The distributions in a dataset's order of labels, and what is wrong with them. */
  function distributions({header, separator}, rows, dataset) {
    const places = columnsOf(dataset).map((column) => header.indexOf(column));
    const numberOf = (text) => {
      const plain = separator === ";" ? text.replace(",", ".") : text; // 0,5 beside semicolons
      return PLAIN_NUMBER.test(plain) ? Number(plain) : NaN;
    };
    const read = rows.map(({line, fields}) => {
      const texts = places.map((k) => fields[k]);
      return {line, texts, values: texts.map(numberOf)};
    });
    const isRead = ({values}) => values.every(isFinite);
    const wrong = read.filter(isRead).filter(({values}) =>
      Math.min(...values) < 0 || Math.abs(sum(values) - 1) > TOLERANCE);
    const faults = [
      ...faultIn(read.filter((row) => !isRead(row)), "Some values are not numbers.",
        ({texts}) => texts.map((text) => shown(text) || "nothing").join(", "),
        "a number for each label, such as 0.25", "correct these values"),
      ...faultIn(wrong, "Some rows are not probabilities.",
        ({values, texts}) => `${texts.join(", ")}: the sum is ${Number(sum(values).toPrecision(6))}`,
        `none negative, their sum 1 (within ${TOLERANCE})`, wrong.length && advice(wrong)),
    ];
    return {probabilities: read.map(({values}) => values.map((value) => value / sum(values))), faults};
  }

  /* Refuse columns that would fit the labels far better in another order; note a doubt. */
  function checkOrder(dataset, places, probabilities) {
    const n = places.length, names = columnsOf(dataset);
    if (n < ENOUGH_FOR_ORDER) {
      return [`${n} ${n === 1 ? "item is" : "items are"} too few to check the order of the classes`];
    }
    const labels = dataset.old_label ?? dataset.majority;
    const pairs = names.map((_, k) => names.map((__, label) => ({k, label, n: 0})));
    probabilities.forEach((values, i) => { pairs[argmax(values)][labels[places[i]]].n += 1; });
    // Each column with the label that it goes with most often, of those that are left.
    const order = [];
    for (const {k, label} of pairs.flat().sort((a, b) => b.n - a.n)) {
      if (order[k] === undefined && !order.includes(label)) order[k] = label;
    }
    const fitOf = (of) => sum(pairs.map((row, k) => row[of(k)].n)) / n;
    const fit = fitOf((k) => k), best = fitOf((k) => order[k]);
    if (best < fit + ORDER_MARGIN) return [];
    const which = dataset.old_label ? "the old ones" : "the majority’s";
    const found = `read as ${names.join(", ")}, ${percent(fit)} of the labels are ${which}; `
      + `read as ${order.map((k) => names[k]).join(", ")}, ${percent(best)}`;
    const commonest = Math.max(...names.map((_, label) => sum(pairs.map((row) => row[label].n)))) / n;
    if (best < commonest + ABOVE_CONSTANT) return [`the columns may be in another order: ${found}`];
    throw new Fault("The columns seem to be in another order than their header.", {
      found, expected: "each value under the name of its label", todo: "correct the header",
    });
  }

  /* Predictions for a dataset: `places` in its votes, `probabilities`, and `notes`. */
  function predictions(table, byUid, dataset, allowMissing) {
    const places = dataset.uids.flatMap((uid, i) => (byUid.has(uid) ? [i] : []));
    const missing = dataset.uids.filter((uid) => !byUid.has(uid));
    const fact = `${count(missing.length)} of ${count(dataset.uids.length)} items of ${dataset.title} `
      + `${missing.length === 1 ? "has" : "have"} no prediction`;
    const lacking = missing.length && !allowMissing ? [new Fault(`${fact}.`, {
      found: `missing: ${listed(missing)}`, expected: "a prediction for each item",
      todo: "add them, or tick “Evaluate a part of the items”",
    })] : [];
    const ofRows = [...uidFaults(table), ...rowFaults(table, dataset)];
    const whole = places.map((i) => byUid.get(dataset.uids[i]))
      .filter(({fields}) => fields.length === table.header.length);
    const {probabilities, faults} = distributions(table, whole, dataset);
    refuse([...ofRows, ...faults, ...lacking]);
    const notes = missing.length ? [`${fact}; evaluated on the other ${count(places.length)}`] : [];
    return {dataset, places, probabilities, notes: [...notes, ...checkOrder(dataset, places, probabilities)]};
  }

  /* Read a file: its predictions for each dataset that it covers. Throws a Fault. */
  function read(buffer, file, {datasets, synthetic}, allowMissing = false) {
    const table = parse(textOf(buffer)), model = file.replace(/\.[^.]*$/, "");
    giveUids(table);
    const byUid = new Map(table.rows.filter(({uid}) => uid).map((row) => [row.uid, row]));
    const covered = datasets.filter(({uids}) => uids.some((uid) => byUid.has(uid)));
    if (!covered.length) {
      throw new Fault(`No uid of the file occurs in ${datasets.map(({title}) => title).join(", ")}`
        + `${synthetic ? " as the synthetic sample has it" : ""}.`, {
        found: `uids such as ${listed([...byUid.keys()])}`, expected: `uids such as ${datasets[0].uids[0]}`,
        todo: "check the dataset, and that the uids are those of its votes",
      });
    }
    const known = new Set(covered.flatMap(({uids}) => uids));
    const extra = [...byUid.keys()].filter((uid) => !known.has(uid));
    const are = extra.length === 1 ? "uid of the file is no item" : "uids of the file are no items";
    const notes = extra.length ? [`${count(extra.length)} ${are} of the dataset (${listed(extra)})`] : [];
    if (table.separator === ";") notes.push("fields are separated by semicolons");
    if (table.separator === "\t") notes.push("fields are separated by tabs");
    return covered.map((dataset) => {
      const made = predictions(table, byUid, dataset, allowMissing);
      return {...made, model, notes: [...made.notes, ...notes]};
    });
  }

  window.Evaluate = {Fault, read};
})();
