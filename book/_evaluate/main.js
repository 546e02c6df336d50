/* Brings the page to life. The votes are a script of the book, loaded when the place comes into view; the
   systems of a dataset's scoreboard are one, loaded after a file on that dataset was chosen. */
(function () {
  "use strict";

  const {Fault, read, measured, worths, valuesForSentences, draw, faultMessage, results, summary, board} = window.Evaluate;
  const N_RESAMPLES = 2000, SEED = 0;
  const root = document.getElementById("evaluate");
  const input = root.querySelector("[type=file]");
  const partial = root.querySelector("[name=partial]");
  const choice = root.querySelector("[name=dataset]");
  const example = root.querySelector("button");
  const status = root.querySelector(".evaluate-status");
  const faultPlace = root.querySelector(".evaluate-fault");
  const place = root.querySelector(".evaluate-results");
  const {load, MOST_BYTES} = window.Page;
  let loading, last, turn = 0;

  /* What the book knows: its votes, and what the page says beside them. */
  async function loadKnown() {
    const {datasets, scale, synthetic} = await load("items.js", "CHAOS_ITEMS");
    const more = await load("others.js", "CHAOS_OTHERS");
    const said = JSON.parse(document.getElementById("evaluate-known").textContent);
    const joined = datasets.map((dataset) => ({...dataset, others: said.others[dataset.name] ?? []}));
    choice.options[0].textContent += ` (${datasets.map(({short}) => short).join(", ")})`;
    choice.append(...more.map(({name, listed}) => new Option(listed, name)));
    choice.parentElement.hidden = !more.length;
    return {...said, scale, synthetic, more, datasets: joined};
  }

  /* The same with the votes of the dataset that was chosen, where it is none of the book's. */
  async function asked() {
    const book = await known();
    const one = book.more.find(({name}) => name === choice.value);
    if (!one) return book;
    const {numbers} = await load(one.file, one.global);
    return {...book, datasets: [{...numbers, others: []}]};
  }

  const known = () => (loading ??= loadKnown());

  /* Evaluate a file, unless another one was chosen meanwhile. */
  async function evaluate(file) {
    last = file;
    turn += 1;
    const mine = turn;
    say(`Reading ${file.name} …`, [], []);
    await new Promise((resolve) => { setTimeout(resolve); }); // so that this is painted
    try {
      if (file.size > MOST_BYTES) {
        throw new Fault(`This page reads files of ${MOST_BYTES / 1e6} MB at most.`, {
          found: `${(file.size / 1e6).toFixed(1)} MB`, todo: "run `chaos evaluate` on it",
        });
      }
      const buffer = await file.arrayBuffer();
      const book = await asked();
      const found = read(buffer, file.name, book, partial.checked);
      if (mine === turn) show(found, book);
    } catch (fault) {
      if (mine !== turn) return;
      if (fault instanceof Fault) {
        say("", faultMessage(fault, file.name), []);
        status.scrollIntoView();
      } else {
        say("", [`The file could not be evaluated (${fault.message}). Use a newer browser, or `
          + "build the site again."], []);
        throw fault;
      }
    }
  }

  function show(found, book) {
    const draws = found.map((one) => draw(one.places.length, N_RESAMPLES, SEED));
    const values = found.map((one, i) => measured(one, draws[i]));
    const worth = found.map((one, i) => worths(one, draws[i]));
    const more = found.map((one, i) => valuesForSentences(one, values[i], draws[i]));
    say(found.map((one, i) => summary(one, values[i], more[i].guesses, book)).join(" "), [],
      found.flatMap((one, i) => results(one, values[i], more[i], worth[i], book, i, draws[i], found.length > 1)));
    showPlaces(found, book);
    status.scrollIntoView();
  }

  /* Set the systems among those of the scoreboard, one after the other: each takes a second. */
  async function showPlaces(found, {scoreboards = {}}) {
    const mine = turn, boards = [...place.querySelectorAll(".evaluate-among")];
    for (const [i, one] of found.entries()) {
      const known = scoreboards[one.dataset.name];
      if (known && mine === turn) await board(boards[i], one, known, () => mine === turn);
    }
  }

  function say(text, fault, result) {
    status.textContent = text;
    faultPlace.hidden = !fault.length;
    faultPlace.replaceChildren(...fault);
    place.replaceChildren(...result);
  }

  /* A file as a reader might have it, from the first system that covers a whole dataset. */
  function exampleOf({datasets, scale}) {
    const [found] = datasets.flatMap((dataset) => dataset.systems
      .filter(({label}) => label && !label.includes(null)) // some are loaded by the explorer alone
      .map((system) => ({dataset, system})));
    if (!found) return undefined;
    const {dataset: {labels, uids}, system: {name, shares}} = found;
    const rows = uids.map((uid, i) => {
      const given = shares.map((column) => column[i]);
      const rest = Math.max(0, given.reduce((left, share) => left - share, scale));
      return [uid, ...[...given, rest].map((share) => share / scale)].join(",");
    });
    const header = ["uid", ...labels].join(",").replaceAll(" ", "_");
    return new File([header, "\n", rows.join("\n")], `${name}, rounded.csv`);
  }

  function listen() {
    const drop = root.querySelector(".evaluate-drop");
    const isOver = (over) => drop.classList.toggle("over", over);
    input.addEventListener("change", () => { if (input.files.length) evaluate(input.files[0]); });
    for (const one of [partial, choice]) {
      one.addEventListener("change", () => { if (last) evaluate(last); });
    }
    drop.addEventListener("dragover", (event) => {
      event.preventDefault();
      isOver(true);
    });
    drop.addEventListener("dragleave", ({relatedTarget}) => isOver(drop.contains(relatedTarget)));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      isOver(false);
      const [file] = event.dataTransfer.files;
      if (!file) return;
      input.files = event.dataTransfer.files; // so that the form names it
      evaluate(file);
    });
    example.addEventListener("click", async () => {
      choice.value = input.value = "";
      evaluate(exampleOf(await known()));
    });
    new IntersectionObserver(([{isIntersecting}], observer) => {
      if (!isIntersecting) return;
      observer.disconnect();
      known().then((book) => { example.hidden = !exampleOf(book); }).catch(() => {});
    }).observe(root);
  }

  listen();
})();
