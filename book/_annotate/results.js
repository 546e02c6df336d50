/* The results: how it ended, the score, every judgement beside the votes, the file to save. */
(() => {
  "use strict";

  const {make, percent} = window.Page;
  const {
    button, carefulButton, heading, count, link, texts, barRow, bars, score, scoreModels,
  } = ChaosAnnotate;
  const FEW = 30; // items below which a score says little

  /* How it ended: a heading and paragraphs. */
  function outcome({state, parameters, failRate}) {
    const {counters, reason, name} = state;
    if (name === "rejected") {
      return ["The protocol ends here for you", [
        `You got ${counters.qualification_right} of ${counters.qualification_seen} right, but the `
          + `test requires ${percent(parameters.min_qualification_accuracy)}. `
          + (failRate === undefined ? "" : "You are in good company: in the published collection "
            + `${failRate}% did not pass the test on this dataset. `)
          + "The test checks whether you read the instructions as others did, and allows no mistakes.",
      ]];
    }
    if (name === "dismissed") {
      return ["The protocol ends here for you", [
        `In training, you got ${counters.training_right} of ${counters.training_seen} right, but `
          + `${percent(parameters.min_training_accuracy)} are needed. Anyone who answers easy questions `
          + "differently from most people is not asked the hard ones.",
      ]];
    }
    if (name === "blocked") {
      const how = reason === "wrong_in_a_row"
        ? `You differed from nearly everyone on ${counters.wrong_in_a_row} hidden checks in a row.`
        : `You got ${counters.checks_right} of ${counters.checks} hidden checks right, but `
          + `${percent(parameters.min_check_accuracy)} are needed.`;
      return ["The protocol stops here", [
        `${how} The protocol takes this as a sign of flagging attention and counts none of `
          + "your votes. You can still compare them below.",
      ]];
    }
    return [name === "finished" ? "Your results" : "Your results so far", []];
  }

  const scale = (name, share, kind) =>
    barRow("", name, percent(share), {class: `fill ${kind}`, style: `width: ${percent(share)}`});

  /* How well the reader, people and models agree with the votes. */
  function agreement(dataset, judgements) {
    const {n, yours, person, most} = score(dataset, judgements);
    const models = scoreModels(dataset, judgements).map((model) =>
      scale(model.n < n ? `${model.name}, on ${model.n} of the ${n}` : model.name, model.share, "model"));
    return make("ul", {class: "annotate-bars annotate-agreement"},
      scale("You", yours, "mine"),
      scale("One of the voters, on average", person, "other"),
      models,
      scale("Always the most frequent answer", most, "other"));
  }

  function scored(dataset, judgements) {
    const {n, majority} = score(dataset, judgements);
    const isJudged = scoreModels(dataset, judgements).length > 0;
    return make("div", {class: "annotate-score"},
      make("h3", {}, "Agreement with the votes"),
      agreement(dataset, judgements),
      make("p", {class: "annotate-note"},
        `Each bar is the share of votes for the chosen answer, averaged over your ${count(n, "item")}. `
          + "Each voter is compared with the other voters"
          + (isJudged ? ", and a model answers with its most probable label. " : ". ")
          + "The last bar is the highest possible value. Few people reach it, because people disagree. "
          + `You chose the most frequent answer on ${majority} of ${n}.`
          + (n < FEW ? " On so few items, chance plays a large part." : "")));
  }

  function listed(dataset, judgements) {
    return make("ol", {class: "annotate-judgements"}, judgements.map(({entry, answer}) =>
      make("li", {}, texts(dataset, entry), bars(dataset, entry, answer))));
  }

  /* What follows an answer outside the protocol: the agreement so far. */
  function soFar(dataset, judgements) {
    return make("div", {class: "annotate-score"},
      make("h3", {}, `Agreement with the votes, so far on ${count(judgements.length, "item")}`),
      agreement(dataset, judgements));
  }

  // Letters of any script, digits, and a few signs between them.
  const NAME = /^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N} ._'’-]*[\p{L}\p{M}\p{N}._-])?$/u;

  /* The name in the file, and the button that saves it. */
  function saving({annotator, label, note, save}) {
    const input = make("input", {
      id: "annotate-name", value: annotator, maxlength: 40, autocomplete: "off", spellcheck: "false",
    });
    const status = make("p", {class: "annotate-note", role: "status"}, note);
    const made = button(label, () => {
      const name = input.value.trim().normalize("NFC");
      if (NAME.test(name)) {
        save(name);
      } else {
        status.textContent = "A name may only contain letters of any script, digits, spaces, and the signs . _ - ’";
        input.focus();
      }
    });
    return make("div", {class: "annotate-saving"},
      make("label", {for: "annotate-name"}, "Your name in the file"), input, made, status);
  }

  function results({dataset, session, state, judgements, rules, failRate, goOn, again, save}) {
    const [title, lines] = outcome({state, parameters: rules.parameters, failRate});
    const items = judgements.filter(({kind}) => kind === "item");
    const examples = judgements.filter(({kind}) => kind !== "item");
    const isOver = rules.isFinal(state);
    const counts = rules.countsVotes(state);
    return make("section", {class: "annotate-card annotate-results"},
      heading(title),
      lines.map((line) => make("p", {}, line)),
      items.length ? scored(dataset, items) : null,
      make("p", {class: "annotate-actions"},
        isOver ? null : button("Continue", goOn, "primary"),
        isOver ? button("Start again", again, "primary")
          : carefulButton("Start again", "Erase all answers?", again),
        link("Look around", `#look-${session.dataset}`), link("All datasets", "#annotate")),
      items.length || !counts ? saving({
        annotator: session.annotator,
        label: !counts ? "Save the record" : isOver ? "Save my votes" : "Finish and save my votes",
        note: counts
          ? "The file is made in your browser, as JSON. Files from several readers can be combined into a dataset."
          : "The file is made in your browser, as JSON. It records how the test went, but its votes do not count.",
        save,
      }) : null,
      items.length ? make("h3", {}, "Your judgements and the votes") : null,
      items.length ? listed(dataset, items) : null,
      examples.length ? make("details", {open: items.length === 0},
        make("summary", {}, `Test, training and checks: ${count(examples.length, "answer")}`),
        listed(dataset, examples)) : null);
  }

  Object.assign(ChaosAnnotate.views, {results, soFar});
})();
