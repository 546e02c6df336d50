/* The page's views up to the results: each function returns an element, and calls back. */
(() => {
  "use strict";

  const {make, sum, percent, painted} = window.Page;
  const button = (text, onclick, kind = "plain") =>
    make("button", {type: "button", class: `annotate-button ${kind}`, onclick}, text);

  /* A button that asks before it does something that cannot be undone. */
  function carefulButton(text, question, act) {
    const made = button(text, () => {
      if (made.textContent === question) {
        act();
      } else {
        made.textContent = question;
        made.classList.add("asking");
      }
    });
    made.setAttribute("aria-live", "polite");
    made.addEventListener("blur", () => {
      made.textContent = text;
      made.classList.remove("asking");
    });
    return made;
  }

  const heading = (text, describedBy) =>
    make("h2", {tabindex: "-1", ...(describedBy && {"aria-describedby": describedBy})}, text);

  const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

  const link = (text, href) => make("a", {class: "annotate-button", href}, text);

  const isPairs = (dataset) => dataset.kind === "pairs";

  /* What can be chosen, in the order of the dataset's labels. */
  function choices(dataset, entry) {
    return isPairs(dataset)
      ? ["Must be true", "May be true or not", "Cannot be true"]
      : entry.texts.slice(1, 3);
  }

  function texts(dataset, entry) {
    const [first, last] = [entry.texts[0], entry.texts.at(-1)];
    const shown = isPairs(dataset)
      ? [["Take this as true", first, "given"], ["Is this true?", last, "asked"]]
      : [["It began", first, "given"], ["It ended", last, "given"]];
    return make("div", {class: "annotate-texts"}, shown.map(([label, text, role]) =>
      make("div", {class: role},
        make("p", {class: "label"}, label), make("p", {class: "text"}, text))
    ));
  }

  /* A row of bars: its name, with what is marked there, its number, and the bar. */
  function barRow(look, name, number, fill) {
    return make("li", look,
      make("span", "name", name), make("span", "number", number),
      make("span", {class: "bar", "aria-hidden": "true"}, make("span", fill)));
  }

  /* The votes on one item by label, as bars with numbers; marks what was chosen, and what by models. */
  function bars(dataset, entry, answer) {
    const total = sum(entry.votes);
    return make("ul", "annotate-bars", choices(dataset, entry).map((name, k) => {
      const isChosen = dataset.codes[k] === answer;
      const models = dataset.models.filter((_, m) => entry.said?.[m] === k);
      const marks = models.map((model) => make("span", "mine model", model.name));
      if (isChosen) marks.unshift(make("span", "mine", "your choice"));
      return barRow(isChosen ? "chosen" : "", [name, ...marks], `${entry.votes[k]} of ${total}`, {
        class: "fill label",
        style: `${painted(dataset.colours[k])}; width: ${(100 * entry.votes[k]) / total}%`,
      });
    }));
  }

  function instructions(dataset) {
    const written = document.querySelector(`.instructions-${dataset.kind}`);
    return make("div", {class: "annotate-instructions"},
      [...written.children].map((child) => child.cloneNode(true)));
  }

  function home({data, progress, keeps}) {
    const card = ([name, dataset]) => {
      const {standing, verb} = progress(name);
      return make("li", {},
        make("h2", {}, dataset.short),
        make("p", {}, dataset.invitation),
        make("p", {class: "standing"}, standing),
        make("a", {class: "annotate-button primary", href: `#${name}`},
          verb, make("span", {class: "hidden-text"}, ` ${dataset.short}`)),
        make("a", {class: "annotate-button", href: `#look-${name}`},
          "Look around, no test", make("span", {class: "hidden-text"}, ` (${dataset.short})`)));
    };
    return make("div", {},
      make("ul", {class: "annotate-cards"}, Object.entries(data.datasets).map(card)),
      make("p", {class: "annotate-note"}, keeps
        ? "Nothing is sent anywhere. Your answers stay in this browser until you start again."
        : "Nothing is sent anywhere. This browser does not let the page keep your answers, "
          + "so they are lost when you close or reload it."));
  }

  function introduction({name, dataset, parameters, begin}) {
    const {qualification_items: asked, training_items: trained, task_size: size} = parameters;
    return make("section", {class: "annotate-card"},
      heading(`${dataset.short}: before you begin`),
      instructions(dataset),
      make("ol", {class: "annotate-plan"},
        make("li", {}, make("b", {}, "Test. "), `You answer ${count(asked, "easy question")} on which nearly everyone `
          + "agrees. You must get all of them right."),
        make("li", {}, make("b", {}, "Training. "), `You answer ${trained} more easy questions. Each mistake is `
          + `explained, and you must get ${percent(parameters.min_training_accuracy)} right.`),
        make("li", {}, make("b", {}, "Items. "), `The items come in tasks of ${size}. People disagree on them, and no `
          + `answer is wrong. Each item has a ${percent(parameters.check_rate)} chance of following a hidden check.`)),
      make("p", {class: "annotate-actions"}, button("Start the test", begin, "primary"),
        link("Look around, no test", `#look-${name}`), link("All datasets", "#annotate")));
  }

  const STAGES = [["qualification", "Test"], ["training", "Training"], ["item", "Items"]];

  function stages(kind) {
    const now = kind === "check" ? "item" : kind; // a hidden check looks like an item
    return make("ol", {class: "annotate-stages", "aria-label": "Stages"}, STAGES.map(([name, title]) =>
      make("li", name === now ? {"aria-current": "step"} : {}, title)));
  }

  /* Where the reader stands: a title, a line that explains, and how much of a whole is done. */
  function standing(kind, counters, parameters) {
    if (kind === "qualification" || kind === "training") {
      const whole = parameters[`${kind}_items`], done = counters[`${kind}_seen`];
      const isTest = kind === "qualification";
      const passed = done === 0 && parameters.qualification_items > 0 ? "You passed the test. " : "";
      return {
        title: `${isTest ? "Test" : "Training"}: question ${done + 1} of ${whole}`, done, whole,
        line: isTest ? "All must be right. You will see the result at the end."
          : `${passed}Each mistake is explained.`,
      };
    }
    const whole = parameters.task_size, done = counters.items % whole;
    return {
      title: `Task ${Math.floor(counters.items / whole) + 1}`, done, whole,
      line: `${done} of ${count(whole, "item")} done.`,
    };
  }

  /* An item in a stage of the protocol. */
  function question({kind, counters, parameters, ...asked}) {
    const {title, line, done, whole} = standing(kind, counters, parameters);
    return item(asked, stages(kind), title, line,
      make("progress", {max: whole, value: done, "aria-label": "Done in this stage"}));
  }

  /* An item outside the protocol, which is open to all. */
  function look({place, ...asked}) {
    return item(asked, null, `${asked.dataset.short}: item ${place}, to look at`,
      "Choose an answer to see the votes. There are no test, training or hidden checks here, and nothing is saved.", null);
  }

  function item({dataset, entry, answer, footer}, before, title, line, progress) {
    const asked = isPairs(dataset) ? "Given the first text, the second…" : "What happened in between?";
    const read = texts(dataset, entry);
    read.id = "annotate-texts";
    return make("section", "annotate-card annotate-question",
      before,
      heading(title, "annotate-texts annotate-asked"),
      make("p", "line", line),
      progress,
      read,
      choiceButtons(dataset, entry, asked, answer),
      make("div", {class: "annotate-feedback", role: "status"}),
      footer);
  }

  function choiceButtons(dataset, entry, asked, answer) {
    return make("fieldset", {},
      make("legend", {id: "annotate-asked"}, asked),
      make("div", {class: "annotate-choices"}, choices(dataset, entry).map((name, k) =>
        make("button", {
          type: "button", class: "choice", "aria-keyshortcuts": k + 1,
          "data-code": dataset.codes[k], onclick: () => answer(dataset.codes[k]),
        }, make("kbd", {"aria-hidden": "true"}, String(k + 1)), make("span", {}, name)))));
  }

  /* After an answer: marks the buttons, and says in the same place what others chose. */
  function tell(view, {dataset, judged, next, children, after = ""}) {
    for (const one of view.querySelectorAll(".choice")) {
      one.disabled = true;
      one.classList.toggle("chosen", one.dataset.code === judged.answer);
      one.classList.toggle("right", one.dataset.code === judged.expected);
    }
    const go = button(next.text, next.act, "primary");
    view.querySelector(".annotate-feedback").replaceChildren(
      ...children, bars(dataset, judged.entry, judged.answer),
      make("p", {class: "annotate-actions"}, go), after
    );
    go.focus({preventScroll: true});
    go.scrollIntoView({block: "nearest"}); // the texts stay in sight, where there is room
  }

  function correction({dataset, judged}) {
    const k = dataset.codes.indexOf(judged.expected);
    const name = choices(dataset, judged.entry)[k];
    const place = judged.kind === "check" ? "This was a hidden check. " : "";
    return [make("p", {}, make("b", {}, "Most people see it differently. "),
      `${place}They chose “${name.replace(/\.$/, "")}”.`)];
  }

  /* Between tasks, and before the first. */
  function pause({counters, parameters, goOn, footer}) {
    const {items} = counters;
    const tasks = items / parameters.task_size;
    const paid = (tasks * parameters.pay_per_task).toFixed(2);
    const words = items === 0
      ? [`In training, you got ${counters.training_right} of ${counters.training_seen} right.`,
        "The items that follow divide people. Say what you think, not what you believe others "
          + "would say."]
      : [`You have judged ${count(items, "item")}. An annotator would have earned up to $${paid} by now.`];
    return make("section", {class: "annotate-card"},
      stages("item"),
      heading(items === 0 ? "You are admitted" : `Task ${tasks} is done`),
      words.map((text) => make("p", {}, text)),
      make("p", {class: "annotate-actions"},
        button(items === 0 ? "Start the first task" : "Next task", goOn, "primary")),
      footer);
  }

  Object.assign(window.ChaosAnnotate, {
    button, carefulButton, heading, count, link, texts, barRow, bars, instructions,
    views: {home, introduction, question, tell, correction, pause, look},
  });
})();
