/* The title page's opening: a reader guesses how a hundred people vote on a pair, then sees it.
   All numbers but those of the reader's own guess come with the data; nothing is kept or sent. */
(() => {
  "use strict";

  const {make, table, bar, sum, count, painted} = window.Page;

  /* Set one of some shares of a hundred; the others keep their proportions in what is left. */
  function moved(shares, chosen, wanted) {
    const others = sum(shares) - shares[chosen], rest = 100 - wanted;
    return shares.map((share, k) => {
      if (k === chosen) return wanted;
      return others > 0 ? (share * rest) / others : rest / (shares.length - 1);
    });
  }

  /* Whole votes that sum to a hundred: what rounding down leaves goes to the largest remainders. */
  function rounded(shares) {
    const votes = shares.map(Math.floor);
    const remainders = shares.map((share, k) => [share - votes[k], k]).sort(([a], [b]) => b - a);
    for (const [, k] of remainders.slice(0, 100 - sum(votes))) votes[k] += 1;
    return votes;
  }

  /* How many of a hundred votes a guess gives to another label: 100 times the total variation. */
  const misplaced = (votes, guess) => sum(votes.map((n, k) => Math.abs(n - guess[k]))) / 2;

  /* A bar for each label, which sum to a hundred: its rows, and the votes that they show. */
  function sliders({labels, colours}) {
    let shares = labels.map(() => 100 / labels.length);
    const inputs = labels.map((label, k) => make("input", {
      type: "range", min: 0, max: 100, id: `opening-${k}`, class: "vote", style: painted(colours[k]),
    }));
    const outputs = inputs.map(({id}) => make("output", {for: id}));
    const show = () => rounded(shares).forEach((n, k) => {
      inputs[k].value = outputs[k].textContent = n;
      inputs[k].style.setProperty("--at", `${n}%`);
      inputs[k].setAttribute("aria-valuetext", `${n} of 100 votes`);
    });
    inputs.forEach((input, k) => input.addEventListener("input", () => {
      shares = moved(shares, k, Number(input.value));
      show();
    }));
    show();
    const rows = inputs.map((input, k) =>
      make("div", "one-row", make("label", {for: input.id}, labels[k]), input, outputs[k]));
    return {rows, votes: () => rounded(shares)};
  }

  function start(place) {
    const data = JSON.parse(place.querySelector("script").textContent);
    const {pairs, titles} = data;
    const words = document.querySelector(".opening-words");
    const texts = make("div", {id: "opening-texts"});
    const middle = make("div");
    const said = make("div", {class: "opening-said", role: "status"});
    const about = make("div");
    const button = make("button", {type: "button", class: "opening-button"});
    const note = make("span");
    let scores = []; // of each pair so far: how many votes you and the others misplaced

    function ask() {
      const {rows, votes} = sliders(data);
      texts.replaceChildren(...pairs[scores.length].texts.map((text, k) =>
        make("p", "", make("span", "text-name", titles[k]), make("span", "", text))));
      middle.replaceChildren(make("fieldset", {"aria-describedby": texts.id},
        make("legend", "", "How would a hundred people vote?"), rows));
      for (const place of [said, about, note]) place.replaceChildren();
      button.textContent = "Show the hundred votes";
      button.onclick = () => show(votes());
    }

    function show(guess) {
      const {votes, others} = pairs[scores.length];
      const own = misplaced(votes, guess);
      const row = ([name, shares, n]) => make("tr", "",
        make("th", {scope: "row"}, name),
        make("td", "", shares ? bar(data, shares, (share) => `${Math.round(share)}`) : "on average"),
        make("td", "number", n === null ? "" : String(n)));
      middle.replaceChildren(
        table("opening-votes", make("caption", "sr-only", "The votes and the guesses"),
          ["", "Votes", "Misplaced"], [["100 people", votes, null], ["you", guess, own], ...others].map(row)),
        make("p", "labels", data.labels.map((label, k) =>
          make("span", "", make("i", {class: "vote", style: painted(data.colours[k])}), ` ${label}`))));
      scores.push([own, ...others.map(([, , n]) => n)]);
      said.replaceChildren(...sentences(others).map((text) => make("p", "", text)));
      const left = pairs.length - scores.length;
      if (scores.length === 1) {
        if (words) about.append(words.cloneNode(true));
        note.textContent = `We picked this pair because it divides people. There are ${left} more: we ranked all other pairs by how divided people are and took the middle pair of each fifth.`;
      }
      button.textContent = left ? `Another pair (${left} left)` : "Start again";
      button.onclick = () => {
        if (!left) scores = [];
        ask();
        middle.querySelector("input").focus();
      };
      button.scrollIntoView({block: "nearest"});
    }

    /* What the last pair has shown, and all so far but the first, which was picked: sums of the numbers
       that were shown. */
    function sentences(others) {
      const tell = (who, of, [own, ...rest]) => `${who} misplaced ${own} of the ${count(of)} votes; ${
        rest.map((n, k) => `${k && k === rest.length - 1 ? "and " : ""}${others[k][0]}${k ? "" : " misplaced"} ${n}`).join(", ")
      } on average.`;
      const ranked = scores.slice(1), n = ranked.length;
      const sums = scores[0].map((_, k) => sum(ranked.map((score) => score[k])));
      return [tell("You", 100, scores.at(-1)), ...(n > 1 ? [tell(`Over the last ${n} pairs, you`, 100 * n, sums)] : [])];
    }

    place.classList.add("one-item");
    place.append(texts, middle, said, make("div", "opening-next", button, note), about);
    ask();
  }

  document.querySelectorAll(".opening").forEach(start);
})();
