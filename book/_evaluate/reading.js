/* A second reader of predictions, as a page has no Python; tests/book/test_evaluate_page.py
   (test_what_the_command_reads_the_page_reads_alike) compares it with that of `chaos evaluate`.

   A file of predictions: from its bytes to one distribution for each item, or its faults.
   Reads CSV and JSON with uids: a column for each label, a list, a row for each label, or one label, as
   `chaos evaluate` does without options; every other file is named, and left to it, as are stated
   percentages, log-probabilities and several models' labels (`--asked`). Knows neither the page nor the
   browser. `known` holds the votes by dataset, as the explorer's data has them, and whether these are
   the sample's. */
(function () {
  "use strict";

  const {sum, argmax, count, percent} = window.Page;
  const TOLERANCE = 1e-3, SHOWN = 5;
  const LOOKED_AT = 1000; // cells of a column that may hold labels
  const LONGEST = 500, MOST_LABELS = 200; // characters of a label; labels in rows: more are texts
  const ENOUGH_FOR_ORDER = 30, ORDER_MARGIN = 0.15, ABOVE_CONSTANT = 0.05; // as the command has it
  const PLAIN_NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
  const SUBMITTED = /^[^\t,]+([\t,])"?\s*\[[^\t]*\]"?$/; // an id and a list, as LeWiDi has them
  const FROM_EXPLORER = "the item explorer’s own columns";
  const OWN_VOTES = "run `chaos evaluate FILE --data VOTES` (see “Bring your own votes”)";
  const AS_CSV = "write a CSV with a column uid and a column for each label";
  const OF_JSON = "run `chaos evaluate` on it, which reads more of JSON, and runs of language models";
  const WITH_IDS = "write the uid beside what a pipeline returns: "
    + '{"uid": …, "probs": [{"label": …, "score": …}, …]}';
  const NOTE_ON_LABELS = "one label per item: its accuracy is computed from the labels; JSD, KL and calibration "
    + "need a distribution and are left out";
  const UIDS = ["uid", "item", "id", "item_uid", "item_id"]; // the first that exists names the item
  // Columns of lists; of labels and their probabilities, row by row; of a model's labels, and of people's;
  // and those that mean something to the command alone.
  const LISTS = ["probs", "probabilities", "predicted_probabilities", "percentages", "logprobs"];
  const OF_LABEL = ["label", "labels", "class", "category", "option", "answer", "choice"];
  const OF_CHANCE = ["probability", "prob", "p", "score", "share", "likelihood", ...LISTS];
  const OF_ANSWERS = ["label", "prediction", "predicted", "pred", "answer", "output", "response"];
  const OF_PEOPLE = /gold|target|reference|true|truth|majority|old_label|human/i;
  const OF_VOTES = /annotat|worker|rater|label_count|votes/i;
  // The columns of the item explorer's download (book/_explorer/model.js), and those that it always has.
  const OF_EXPLORER = /^(n_votes|entropy_bits|majority|old_label|(votes|old votes|language models|label|share|jsd_nats|tvd): .+)$/s;
  const IN_EXPLORER = ["n_votes", "entropy_bits", "majority"];
  const OF_RUNS = ["tokens", "fold"]; // about how predictions were made: neither read nor noted
  const LEFT = ["model", "dataset", "task", "sample", "samples", "n_samples", "logits", "logit", "index",
    "conf", "family", "seed", "trained_on", "out_of_fold", "doc", "custom_id"];
  // What files begin with, what they are, and what to do.
  const KINDS = [
    ["PAR1", "a Parquet file", "run `chaos evaluate` on it, which reads Parquet"],
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
  const UNPRINTABLE = /(?! )[\p{C}\p{Z}]/gu; // what could break a line, or reorder it
  const ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"};

  /* A sign as Python spells it in quotes. */
  function escaped(sign) {
    const code = sign.codePointAt(0).toString(16);
    const [letter, digits] = [["x", 2], ["u", 4], ["U", 8]].find(([, most]) => code.length <= most);
    return ESCAPES[sign] ?? `\\${letter}${code.padStart(digits, "0")}`;
  }

  /* A column's name in a note, never long; quoted where it holds what does not print. */
  function inNote(name) {
    if (name.search(UNPRINTABLE) < 0) return shown(name);
    const quoted = `'${name.trim().replaceAll("\\", "\\\\").replace(UNPRINTABLE, escaped)}'`;
    return quoted.length > 80 ? `${quoted.slice(0, 79)}…` : quoted;
  }

  /* A note on columns that are not read, by the first few names; none without any. */
  function notRead(names, why) {
    if (!names.length) return [];
    const more = names.length > SHOWN ? ` and ${count(names.length - SHOWN)} more` : "";
    return [`not read: ${names.slice(0, SHOWN).map(inNote).join(", ")}${more}${why ? `, ${why}` : ""}`];
  }

  const columnsOf = ({labels}) => labels.map((label) => label.replaceAll(" ", "_"));

  /* Refuse a file for faults, if there are any: all of them are named. */
  function refuse([first, ...others]) {
    if (first) throw Object.assign(first, {others});
  }

  /* The fault that rows have, of which the first few are shown; none where there are no rows. */
  function faultIn(rows, problem, wrong, expected, todo) {
    if (!rows.length) return [];
    const lines = [...rows].sort((a, b) => a.line - b.line).slice(0, SHOWN)
      .map((row) => `${row.unit ?? "line"} ${row.line}: ${wrong(row)}`);
    if (rows.length > SHOWN) lines.push(`and ${count(rows.length - SHOWN)} more`);
    return [new Fault(problem, {found: lines.join("\n"), expected, todo})];
  }

  function textOf(buffer) {
    const first = String.fromCharCode(...new Uint8Array(buffer.slice(0, 99)))
      .replace(/^(\xef\xbb\xbf)?\s*/, "");
    const [, found, todo] = KINDS.find(([start]) => first.startsWith(start)) ?? [];
    if (found) throw new Fault("This page reads only CSV and JSON.", {found, expected: "a CSV file", todo});
    try {
      return new TextDecoder("utf-8", {fatal: true}).decode(buffer); // without a byte-order mark
    } catch {
      throw new Fault("The file is not UTF-8 text.", {todo: "save it as CSV in UTF-8"});
    }
  }

  /* The rows of JSON: a list of objects, lines of objects, or one object by uid. */
  function parseJson(text) {
    const said = valuesIn(text);
    if (!said.length) throw new Fault("The file holds no prediction.", {todo: AS_CSV});
    if (isScore([said[0].value].flat(2)[0])) {
      throw new Fault("What a pipeline returned names no items.", {expected: "a uid beside each", todo: WITH_IDS});
    }
    for (const {value} of said) {
      const {labels, scores} = value; // side by side, as zero-shot classification has them
      if (Array.isArray(labels) && labels.length === scores?.length) {
        value.probs = Object.fromEntries(labels.map((label, k) => [label, scores[k]]));
        delete value.labels;
        delete value.scores;
      }
    }
    const header = [...new Set(said.flatMap(({value}) => Object.keys(value)))];
    if (!said.every(({value}) => isObject(value))) throw unread(text.startsWith("[") ? "a JSON list" : "JSON or JSON Lines");
    return {header, rows: said.map(({value, ...row}) => ({...row, fields: header.map((name) => value[name] ?? "")}))};
  }

  /* The values in JSON with their places. */
  function valuesIn(text) {
    const placed = (values) => values.map((value, i) => ({line: i + 1, unit: "entry", value}));
    const parsed = (one, where) => {
      try {
        return JSON.parse(one);
      } catch {
        if (where) throw new Fault("The file is not valid JSON.", {
          found: `${where}: ${shown(one)}`, todo: "correct this, and check that the file was not cut off",
        });
        return undefined;
      }
    };
    const whole = parsed(text);
    if (Array.isArray(whole)) return placed(whole);
    if (whole === undefined) {
      return text.split("\n").map((one, i) => ({line: i + 1, one})).filter(({one}) => one.trim())
        .map(({line, one}) => ({line, value: parsed(one, `line ${line}`)}));
    }
    if (UIDS.some((name) => name in whole)) return placed([whole]);
    const entries = Object.entries(whole), hasBelow = (one) => isObject(one) && Object.values(one).every(isObject);
    if (entries.length && entries.every(([, one]) => hasBelow(one))) throw unread("JSON by model");
    return placed(entries.map(ofUid));
  }

  const unread = (found, todo = OF_JSON) => new Fault("This page does not read this JSON.", {found, todo});

  const isObject = (one) => typeof one === "object" && one !== null && !Array.isArray(one);
  const isScore = (one) => isObject(one) && Object.keys(one).sort().join() === "label,score";

  /* An entry of JSON by uid. */
  function ofUid([uid, value]) {
    if (isObject(value)) return {...value, uid};
    return Array.isArray(value) ? {uid, probs: value} : {uid, predicted_label: value};
  }

  /* The header of a CSV, its rows with their lines, and what separates their fields. No field that is
     asked for here goes on in the next line. */
  function parse(text) {
    const lines = text.split(/\r\n?|\n/).map((whole, i) => ({line: i + 1, whole}))
      .filter(({whole}) => /[^\s,;"]/.test(whole));
    const [, submission] = SUBMITTED.exec(lines[0]?.whole.trim()) ?? [];
    if (submission) lines.unshift({line: 0, whole: `uid${submission}probs`});
    if (lines.length < 2) throw new Fault("The file holds no prediction.", {todo: AS_CSV});
    const often = (sign) => lines[0].whole.split(sign).length;
    const [separator] = submission ?? [",", ";", "\t"].sort((a, b) => often(b) - often(a));
    const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}]*))${separator}`, "g");
    const [{fields: header}, ...rows] = lines.map(({line, whole}) => ({
      line,
      fields: [...(whole + separator).matchAll(field)]
        .map(([, quoted, plain]) => (quoted?.replaceAll('""', '"') ?? plain).trim()),
    }));
    const isValue = (name, k) => rows.some(({fields}) => name && fields[k] === name);
    const isData = header.slice(1).some((name) => PLAIN_NUMBER.test(name)) || header.some(isValue);
    if (isData && !UIDS.some((name) => header.includes(name))) {
      throw new Fault("The file has no header.", {found: shown(lines[0].whole), todo: "add the columns’ names"});
    }
    return {header, rows, separator, listsIn: submission && "the second column"};
  }

  /* Give each row its uid, and its column this name. */
  function giveUids({header, rows}) {
    const place = header.indexOf(UIDS.find((name) => header.includes(name)));
    if (place < 0) {
      throw new Fault("The file has no column uid.", {
        found: `columns ${listed(header)}`, expected: "a column `uid`, and a column for each label or one column `label`",
        todo: header.includes("score") ? WITH_IDS : `rename the column of the items’ ids to \`uid\`; for items that are not `
          + `ChaosNLI’s, ${OWN_VOTES}`,
      });
    }
    header[place] = "uid";
    for (const row of rows) row.uid = String(row.fields[place] ?? "");
  }

  /* The table without what else the item explorer's download holds, to which a column of labels was added. */
  function withoutExplorer(table, datasets) {
    const {header, rows} = table, own = ["uid", "dataset", ...UIDS, ...datasets.flatMap(({fields}) => fields)];
    if (!IN_EXPLORER.every((name) => header.includes(name)) || !header.some((name) => name.startsWith("votes: "))) return table;
    refuse(lengthFaults(table));
    const added = header.filter((name) => !own.includes(name) && !OF_EXPLORER.test(name));
    const labels = added.filter((name) => OF_ANSWERS.includes(name.toLowerCase()));
    const chosen = added.includes("predicted_label") ? ["predicted_label"] : labels;
    if (chosen.length !== 1) {
      const others = chosen.length ? [] : added;
      throw new Fault("This is the item explorer’s download, to which no single column of labels was added.", {
        found: chosen.length ? `columns ${listed(chosen)}` : ["its own columns", others.length && `and ${listed(others)}`]
          .filter(Boolean).join(", "),
        expected: "a column `uid` and one column `label`",
        todo: others.length ? "rename the column with your labels to `label`; if you added probabilities, keep only `uid` and "
          + "their columns" : "keep only the column `uid`, and add your labels as `label` or a column for each label"});
    }
    const at = header.indexOf(chosen[0]);
    const kept = added.filter((name) => name !== chosen[0] && !LEFT.includes(name)).map((name) => header.indexOf(name));
    return {...table, header: ["uid", chosen[0], ...kept.map((k) => header[k])], notes: notRead([FROM_EXPLORER]),
      rows: rows.map((row) => ({...row, fields: [row.uid, row.fields[at], ...kept.map((k) => row.fields[k])]}))};
  }

  function uidFaults({rows, isOfLabels}) {
    const first = new Map(rows.map(({uid, line}) => [uid, line]).reverse());
    const isAgain = ({uid, line}) => uid && first.get(uid) < line;
    return [
      ...faultIn(rows.filter(({uid}) => !uid), "Rows have no uid.", () => "no uid", "a uid in each row"),
      ...faultIn(rows.filter(isAgain), "A uid appears more than once.",
        ({uid}) => `uid ${shown(uid)} again, first on line ${first.get(uid)}`,
        "one prediction for each uid", isOfLabels ? "keep one of each; of answers that were drawn, name the column "
          + "sample and run `chaos evaluate`; `chaos dataset check` reads people’s" : "keep one of each"),
    ];
  }

  function lengthFaults({header, rows}) {
    return faultIn(rows.filter(({fields}) => fields.length !== header.length), "Rows are not whole.",
      ({fields}) => `${fields.length} fields`, `${header.length} fields, as the header has`,
      "correct these rows, and check that the file was not cut off");
  }

  /* A text without case and the marks around it; a whole number without decimals. */
  const plain = (text) => String(text).slice(0, LONGEST).replaceAll("_", " ").toLowerCase().trim()
    .replace(/^[ .,:;!*"'`()[\]]+|[ .,:;!*"'`()[\]]+$/g, "").replace(/^(\d+)\.0*$/, "$1");

  /* The position of the label that a text stands for; -1 for none. */
  function labelOf({labels, codes}, text) {
    const [exact] = [codes, labels].map((names) => names.indexOf(String(text).trim())).filter((k) => k >= 0);
    const alike = labels.flatMap((label, k) => (plain(label) === plain(text) ? [k] : []));
    return exact ?? (alike.length === 1 ? alike[0] : -1);
  }

  /* What a cell says of all labels: a list of numbers, or numbers by label; nothing for another. Lists may be
     spelled as JSON, Python or NumPy do, and hold what a pipeline of transformers returns. */
  function listIn(cell) {
    let value = cell;
    if (typeof cell === "string") {
      if (!/^(array|tensor)?[[{(].*[\]})]$/s.test(cell)) return undefined;
      const bare = cell.replace(/(\b(array|tensor|np\.\w+))?\(|\)|, dtype=[\w.]+/g, "");
      const within = (text) => (/^\[.*\]$/s.test(text) ? text.slice(1, -1).trim() : text);
      const numbers = within(within(bare.trim())).split(/[\s,]+/); // as in [[0.1 0.9]]
      if (numbers.every((one) => PLAIN_NUMBER.test(one))) return numbers.map(Number);
      try {
        value = JSON.parse(cell.replaceAll("'", '"'));
      } catch {
        return undefined;
      }
    }
    if (Array.isArray(value) && value.length === 1) [value] = value;
    if (isObject(value)) return value;
    if (!Array.isArray(value)) return undefined;
    if (!value.every(isScore)) return value.every((one) => typeof one === "number") ? value : undefined;
    const byLabel = Object.fromEntries(value.map(({label, score}) => [label, score]));
    return Object.keys(byLabel).length === value.length ? byLabel : undefined;
  }

  /* The one of some columns that is called as expected, or the only one. */
  function only(header, places, names) {
    const called = places.filter((k) => names.includes(header[k].toLowerCase()));
    const found = called.length ? called : places;
    return found.length === 1 ? found[0] : undefined;
  }

  const numberIn = (cell) => (cell === "" || typeof cell === "boolean" ? NaN : Number(cell));

  /* Whether a column may hold probabilities of labels; empty cells say nothing. */
  function isChance(name, cells) {
    const numbers = cells.filter((cell) => cell !== "").map(numberIn);
    if (OF_CHANCE.includes(name.toLowerCase())) return numbers.some(isFinite);
    return numbers.every((one) => one >= 0 && one <= 1) && numbers.some((one) => one % 1);
  }

  /* Whether most cells hold a number for each label, in a list or by label. */
  function holdsValues(read, {labels}) {
    const numbersIn = (one) => (isScore(one) ? [] : Object.values(one ?? {}));
    const isWhole = (one) => one.length === labels.length && one.every((value) => typeof value === "number");
    return read.filter((one) => isWhole(numbersIn(one))).length * 2 > read.length;
  }

  /* Whether at least half of a column's cells are labels; other cells are then faults. */
  function areLabels(cells, dataset) {
    const first = cells.slice(0, LOOKED_AT).filter((cell) => cell !== "");
    return first.length > 0 && first.filter((text) => labelOf(dataset, text) >= 0).length * 2 >= first.length;
  }

  /* A note on columns that are not read, but for those that are empty on a dataset's items. Columns of labels
     are counted: they may be called after the people who gave them. */
  function notesOn(places, {header, rows}, dataset) {
    const uids = new Set(dataset.uids), own = rows.filter(({uid}) => uids.has(uid));
    const filled = places.filter((k) => !OF_RUNS.includes(header[k])
      && own.some(({fields}) => isObject(fields[k]) || Array.isArray(fields[k]) || String(fields[k]).trim()));
    const others = filled.filter((k) => !areLabels(rows.map(({fields}) => fields[k] ?? ""), dataset));
    const n = filled.length - others.length, ofLabels = `${count(n)} column${n === 1 ? "" : "s"} of labels`;
    return notRead([...(n ? [ofLabels] : []), ...others.map((k) => header[k])]);
  }

  /* The table with a column for each of a dataset's labels, where it says them otherwise. */
  function shaped(table, dataset) {
    const {header, rows} = table, labels = columnsOf(dataset);
    const isLabel = (text) => labelOf(dataset, text) >= 0;
    if (header.some((name) => name && (isLabel(name) || LEFT.includes(name)))) return table;
    refuse(lengthFaults(table));
    const others = header.flatMap((name, k) => (name && !UIDS.includes(name) ? [k] : []));
    const cells = (k) => rows.map(({fields}) => fields[k] ?? "");
    const made = (names, fieldsOf, {notes = [], ...more} = {}) => ({...table, ...more, header: ["uid", ...names],
      notes: [...table.notes, ...notes], rows: rows.map((row, i) => ({...row, fields: [row.uid, ...fieldsOf(row, i)]}))});
    const readOf = new Map(others.map((k) => [k, cells(k).map(listIn)]));
    const announced = others.filter((k) => LISTS.includes(header[k]) && readOf.get(k).some(Boolean));
    const isMostlyRead = (k) => readOf.get(k).filter(Boolean).length * 2 > rows.length;
    const lists = announced.length ? announced : others.filter(isMostlyRead);
    if (lists.length > 1) {
      throw new Fault("Several columns hold a value for each label.", {
        found: listed(lists.map((k) => header[k])), todo: "name the model’s probs, and remove the others"});
    }
    const [place] = lists, read = readOf.get(place), rest = others.filter((k) => k !== place);
    if (read?.every(isScore)) return ofLabels(table, dataset, made, read.map(({label}) => label), rest);
    const namesOf = (places) => places.map((k) => header[k]), alike = rest.filter((k) => holdsValues(readOf.get(k), dataset));
    const notes = [...notRead(namesOf(alike), "of several with a value for each label"),
      ...notesOn(rest.filter((k) => !alike.includes(k)), table, dataset)];
    if (read?.some(isObject)) {
      const names = [...new Set(read.flatMap((one) => Object.keys(one ?? {})))];
      return made(names.map((name) => labels[labelOf(dataset, name)] ?? name), (row, i) =>
        names.map((name) => read[i]?.[name] ?? ""), {notes});
    }
    if (read) {
      const wrong = rows.filter((_, i) => read[i]?.length !== labels.length);
      refuse(faultIn(wrong, "Some lists do not have a number for each label.",
        ({fields}) => shown(String(fields[place] ?? "nothing")), `a list for ${listed(dataset.labels)}`,
        "correct these lists"));
      const listsIn = table.listsIn ?? (LISTS.includes(header[place]) ? undefined : header[place]);
      return made(labels, (row, i) => read[i], {listsIn, notes});
    }
    return ofRows(table, dataset, others, cells) ?? ofLabels(table, dataset, made, undefined, others, cells);
  }

  /* The table of a file with a row for each item and label; nothing for another. */
  function ofRows(table, dataset, others, cells) {
    const {header, rows} = table, first = new Map([...rows].reverse().map((row) => [row.uid, row]));
    if (first.size === rows.length) return undefined;
    const varying = others.filter((k) => rows.some(({uid, fields}) => fields[k] !== first.get(uid).fields[k]));
    const chances = varying.filter((k) => isChance(header[k], cells(k))), chance = only(header, chances, OF_CHANCE);
    const label = only(header, varying.filter((k) => k !== chance
      && !cells(k).some((cell) => numberIn(cell) % 1)), OF_LABEL);
    const names = [...new Set(label === undefined ? [] : cells(label).map(String))];
    if (chance === undefined || label === undefined || names.length > MOST_LABELS) return undefined;
    const said = new Map([...first.keys()].map((uid) => [uid, new Map()]));
    const again = rows.filter(({uid, fields}) => {
      const known = said.get(uid), name = String(fields[label]), isAgain = known.has(name);
      known.set(name, fields[chance]);
      return isAgain;
    });
    const items = [...first.values()].reverse();
    const short = items.filter(({uid}) => said.get(uid).size < names.length);
    refuse([
      ...faultIn(again, "A label of an item appears more than once.", ({fields}) => `${fields[label]} again`,
        "one row for each item and label", "keep one; of answers that were drawn, run `chaos evaluate`"),
      ...faultIn(short, "Items lack rows.", ({uid}) =>
        `uid ${shown(uid)} has no row for ${listed(names.filter((name) => !said.get(uid).has(name)))}`,
      "one row for each item and label", "add them, with 0 if they were left out for it"),
    ]);
    const unread = others.filter((k) => k !== label && k !== chance);
    const isOfLabel = (k) => varying.includes(k) && !chances.includes(k);
    const notes = [...notRead(unread.filter(isOfLabel).map((k) => header[k]), "not the same for all labels of an item"),
      ...notesOn(unread.filter((k) => !isOfLabel(k)), table, dataset)];
    return {...table, notes: [...table.notes, ...notes],
      header: ["uid", ...names.map((name) => columnsOf(dataset)[labelOf(dataset, name)] ?? name)],
      rows: items.map((row) => ({...row, fields: [row.uid, ...names.map((name) => said.get(row.uid).get(name))]}))};
  }

  /* The table of a file with one label per item: those given, or in the column that has labels. */
  function ofLabels(table, dataset, made, given, others, cells) {
    const {header, rows} = table, stated = header.indexOf("predicted_label");
    const isLabel = (text) => labelOf(dataset, text) >= 0;
    let found = stated >= 0 ? [stated] : [];
    if (!given) {
      if (!found.length) found = others.filter((k) => areLabels(cells(k), dataset));
      if (!found.length) found = others.filter((k) => OF_ANSWERS.includes(header[k].toLowerCase()));
      if (!found.length || (stated < 0 && header.some((name) => OF_VOTES.test(name)))) return table;
      if (found.length > 1 || (stated < 0 && OF_PEOPLE.test(header[found[0]]))) {
        throw new Fault("It is not clear which column holds the model’s labels.", {
          found: `labels in ${listed(found.map((k) => header[k]))}`, expected: "one label per item",
          todo: found.length > 1 ? "keep `uid` and one of these columns per file, or run `chaos evaluate FILE --asked label`"
            : "rename the model’s column `predicted_label`"});
      }
    }
    const labels = given ?? cells(found[0]), columns = columnsOf(dataset);
    const wrong = rows.map((row, i) => ({...row, text: labels[i]})).filter(({text}) => !isLabel(text));
    refuse(faultIn(wrong, `Some labels are none of ${dataset.title}.`, ({text}) => shown(String(text)) || "nothing",
      `one of ${listed(dataset.labels)}`, "rename them, or delete these lines and tick “Evaluate a part of "
      + "the items”, or say which is which by --answers of `chaos evaluate`"));
    const oneOf = (label) => columns.map((_, k) => Number(k === label));
    const asked = stated < 0 && !given && header[found[0]];
    const unread = others.filter((k) => given || k !== found[0]), chances = unread.filter((k) => isChance(header[k], cells(k)));
    const notes = [...notRead(chances.map((k) => header[k]), "since one probability is no distribution"),
      ...notesOn(unread.filter((k) => !chances.includes(k)), table, dataset)];
    return made(columns, (_, i) => oneOf(labelOf(dataset, labels[i])), {isOfLabels: true, asked, notes});
  }

  /* Refuse columns that are not the dataset's; return what is wrong with rows of more or fewer. */
  function rowFaults({header, rows}, dataset) {
    const columns = ["uid", ...columnsOf(dataset)];
    const lacking = columns.filter((column) => !header.includes(column));
    const others = header.filter((name, k) => name // an index has none
      && !(columns.includes(name) && header.indexOf(name) === k));
    if (!lacking.length && !others.length) return lengthFaults({header, rows});
    const alike = (text) => text.toLowerCase().replace(/[ -]/g, "_");
    const renamed = lacking.flatMap((column) => others.filter((name) => alike(name) === alike(column))
      .map((name) => `${name} to ${column}`));
    const numbered = others.find((name) => /^label_?\d+$/i.test(name));
    let todo = "remove the other columns, or run `chaos evaluate`, which reads more of them";
    if (header.some((name) => OF_VOTES.test(name))) todo = "`chaos dataset check` reads people’s votes";
    else if (numbered) todo = `rename ${numbered} and so on as your model’s configuration does (id2label)`;
    else if (renamed.length) todo = `rename ${renamed.join(", ")}`;
    else if (lacking.length) todo = "name the columns as the labels";
    throw new Fault(`The columns do not fit ${dataset.title}.`, {
      found: `columns ${listed(header)}`, expected: `columns ${columns.join(", ")}`, todo,
    });
  }

  const shortSum = ({values}) => Number(sum(values).toPrecision(6));

  /* What to do about rows that do not sum to 1. */
  function advice(rows) {
    const every = (isSo) => rows.every(({values}) => isSo(values));
    // Most rows decide: a few may be what is wrong.
    const most = (isSo) => rows.filter(({values}) => isSo(values)).length * 2 > rows.length;
    if (!every((values) => Math.min(...values) >= 0)) {
      return "apply a softmax, if these are logits; `chaos evaluate --asked logprobs` reads log-probabilities";
    }
    if (most((values) => Math.abs(sum(values) - 100) <= 5)) {
      const off = rows.filter(({values}) => Math.abs(sum(values) - 100) > 100 * TOLERANCE);
      const change = off.length ? `divide each row by its sum (${count(off.length)} row${off.length === 1 ? "" : "s"} not by 100, `
        + `such as line ${off[0].line} by ${shortSum(off[0])})` : "divide by 100";
      return `if these are percentages, ${change}, or run \`chaos evaluate --asked percentages\`, which does so; `
        + "if they count a model’s answers, `--asked samples`";
    }
    if (every((values) => Math.max(...values) <= 1)) {
      return "if these are rounded, divide each row by its sum; if a language model stated them, "
        + "`chaos evaluate --asked percentages` does so";
    }
    return "divide each row by its sum, if these are counts; apply a softmax, if these are logits";
  }

  /* The distributions in a dataset's order of labels, and what is wrong with them. */
  function distributions({header, separator}, rows, dataset) {
    const places = columnsOf(dataset).map((column) => header.indexOf(column));
    const numberOf = (text) => {
      const point = separator === ";" ? String(text).replace(",", ".") : text; // 0,5 beside semicolons
      return PLAIN_NUMBER.test(point) ? Number(point) : NaN;
    };
    const inFile = [...places].sort((a, b) => a - b);
    const read = rows.map(({line, uid, fields}) => {
      const cells = inFile.map((k) => `${header[k]} ${shown(String(fields[k])) || "nothing"}`);
      return {line, text: `uid ${shown(uid)}: ${cells.join(", ")}`, values: places.map((k) => numberOf(fields[k]))};
    });
    const isRead = ({values}) => values.every(isFinite);
    const wrong = read.filter(isRead).filter(({values}) =>
      Math.min(...values) < 0 || Math.abs(sum(values) - 1) > TOLERANCE);
    const faults = [
      ...faultIn(read.filter((row) => !isRead(row)), "Some values are not numbers.",
        ({text}) => text, "a number for each label, such as 0.25", "correct these values; `chaos evaluate --asked percentages` "
        + "reads 25% as well"),
      ...faultIn(wrong, "Some rows are not probabilities.",
        (row) => `${row.text}: the sum is ${shortSum(row)}`,
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

  /* Predictions for a dataset: `places` in its votes, `probabilities`, `isOfLabels` and `notes`. */
  function predictions(whole, dataset, allowMissing) {
    const table = shaped(whole, dataset), byUid = byUidOf(table);
    const places = dataset.uids.flatMap((uid, i) => (byUid.has(uid) ? [i] : []));
    const missing = dataset.uids.filter((uid) => !byUid.has(uid));
    const fact = `${count(missing.length)} of ${count(dataset.uids.length)} items of ${dataset.title} `
      + `${missing.length === 1 ? "has" : "have"} no prediction`;
    const lacking = missing.length && !allowMissing ? [new Fault(`${fact}.`, {
      found: `missing: ${listed(missing)}`, expected: "a prediction for each item",
      todo: "add them, or tick “Evaluate a part of the items”",
    })] : [];
    const ofRows = [...uidFaults(table), ...rowFaults(table, dataset)];
    const read = places.map((i) => byUid.get(dataset.uids[i]))
      .filter(({fields}) => fields.length === table.header.length);
    const {probabilities, faults} = distributions(table, read, dataset);
    refuse([...ofRows, ...faults, ...lacking]);
    const notes = missing.length ? [`${fact}; evaluated on the other ${count(places.length)}`] : [];
    const {listsIn, isOfLabels, asked, notes: ofReading} = table;
    if (isOfLabels) notes.push(NOTE_ON_LABELS);
    notes.push(...ofReading);
    if (asked && areKnown(dataset, places, probabilities)) {
      notes.push(`all labels in ${asked} are ${dataset.old_label ? "the old ones" : "the majority’s"}: `
        + "did the model give them?");
    }
    if (!isOfLabels) notes.push(...checkOrder(dataset, places, probabilities));
    if (listsIn) notes.push(`the values in ${listsIn} are read in the order ${dataset.labels.join(", ")}`);
    return {dataset, places, probabilities, isOfLabels, notes};
  }

  /* Whether all labels are the old ones or, without these, have the most votes. */
  function areKnown({old_label: old, votes}, places, probabilities) {
    const labels = probabilities.map(argmax);
    if (old) return places.length >= ENOUGH_FOR_ORDER && places.every((i, j) => labels[j] === old[i]);
    const counts = places.map((i) => votes.map((column) => column[i]));
    // Where all labels tie, any label has the most votes.
    return counts.filter((one) => Math.min(...one) < Math.max(...one)).length >= ENOUGH_FOR_ORDER
      && counts.every((one, j) => one[labels[j]] === Math.max(...one));
  }

  /* The model that a column names, if all rows name the same; it is taken out of the table. */
  function takeModel({header, rows}) {
    const place = header.indexOf("model"), name = rows[0]?.fields[place];
    if (typeof name !== "string" || !name.trim() || rows.some(({fields}) => fields[place] !== name)) return undefined;
    for (const one of [header, ...rows.map(({fields}) => fields)]) one.splice(place, 1);
    return name.trim();
  }

  const byUidOf = ({rows}) => new Map(rows.filter(({uid}) => uid).map((row) => [row.uid, row]));

  /* Read a file: its predictions for each dataset that it covers. Throws a Fault. */
  function read(buffer, file, {datasets, synthetic, more = []}, allowMissing = false) {
    const text = textOf(buffer), isJson = /^\s*[{[]/.test(text);
    const whole = isJson ? parseJson(text.trim()) : parse(text);
    const model = takeModel(whole) ?? file.replace(/\.[^.]*$/, "");
    const left = isJson && whole.header.find((name) => LEFT.includes(name));
    if (left) {
      throw unread(`the key ${left}`, `${left === "logits" ? "apply a softmax and name the list `probs`" : "remove it"}, `
        + `or ${OF_JSON}`);
    }
    giveUids(whole);
    const table = withoutExplorer({notes: [], ...whole}, datasets), byUid = byUidOf(table);
    const covered = datasets.filter(({uids}) => uids.some((uid) => byUid.has(uid)));
    if (!covered.length) {
      throw new Fault(`No uid of the file occurs in ${datasets.map(({title}) => title).join(", ")}`
        + `${synthetic ? " as the synthetic sample has it" : ""}.`, {
        found: `uids such as ${listed([...byUid.keys()])}`, expected: `uids such as ${datasets[0].uids[0]}`,
        todo: `${more.length ? "choose the dataset in the list Dataset, or check" : "check the dataset, and"} that the uids are those `
          + `of its votes; for votes of your own, ${OWN_VOTES}`,
      });
    }
    const known = new Set(covered.flatMap(({uids}) => uids));
    const extra = [...byUid.keys()].filter((uid) => !known.has(uid));
    const are = extra.length === 1 ? "uid of the file is no item" : "uids of the file are no items";
    const notes = extra.length ? [`${count(extra.length)} ${are} of the dataset (${listed(extra)})`] : [];
    if (table.separator === ";") notes.push("fields are separated by semicolons");
    if (table.separator === "\t") notes.push("fields are separated by tabs");
    return covered.map((dataset) => {
      try {
        const made = predictions(table, dataset, allowMissing);
        return {...made, model, notes: [...made.notes, ...notes]};
      } catch (fault) {
        if (covered.length > 1 && fault instanceof Fault) {
          fault.todo = `write one file per dataset; ${fault.todo ?? "correct these rows"}`;
        }
        throw fault;
      }
    });
  }

  window.Evaluate = {Fault, read};
})();
