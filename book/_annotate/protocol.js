/* How opinions are collected: interprets the table of protocol.json, as
   chaos_utils/collection/protocol.py does. Pure functions; draws nothing at random. */
(() => {
  "use strict";

  const OPERATORS = {
    "<": (a, b) => a < b,
    ">": (a, b) => a > b,
    ">=": (a, b) => a >= b,
    "==": (a, b) => a === b,
  };

  const isRight = (event) => event.answer === event.expected;

  /* Refuses an event whose fields its type does not have. */
  function checkFields(asked, event) {
    if (event.type === "draw" && typeof event.check !== "boolean") {
      throw new Error("A draw says whether a check comes.");
    }
    if (event.type !== "answer") return;
    if (event.kind !== asked) {
      throw new Error(`This answer cannot come here: ${event.kind}, expected: ${asked}.`);
    }
    const isText = (value) => typeof value === "string" && value !== "";
    const isWhole = asked === "item" ? event.expected === null : typeof event.expected === "string";
    if (!isText(event.item) || !isText(event.answer) || !isWhole) {
      throw new Error("This answer is not whole.");
    }
  }

  /* Returns the protocol that a table defines, with other values for the parameters named.
     A state is {name, counters, reason}; it is never changed. */
  function protocol(table, overrides = {}) {
    const parameters = {};
    for (const [name, entry] of Object.entries(table.parameters)) {
      parameters[name] = overrides[name] ?? entry.default;
    }

    function start() {
      const counters = Object.fromEntries(table.counters.map((name) => [name, 0]));
      return {name: table.initial, counters, reason: null};
    }

    function found(guard, counters, event) {
      if ("counter" in guard) return counters[guard.counter];
      return "parameter" in guard ? parameters[guard.parameter] : event[guard.event];
    }

    function holds(guard, counters, event) {
      const bound = typeof guard.value === "string" ? parameters[guard.value] : guard.value;
      if (!("ratio" in guard)) return OPERATORS[guard.op](found(guard, counters, event), bound);
      const [part, whole] = guard.ratio.map((name) => counters[name]);
      const least = "from" in guard ? parameters[guard.from] : 1;
      return whole >= least && OPERATORS[guard.op](part / whole, bound);
    }

    /* Returns the state after an event; throws if that cannot happen in this state. */
    function step(state, event) {
      const transition = table.transitions.find(
        (one) => one.from.includes(state.name) && one.event === event.type
      );
      if (!transition) {
        throw new Error(`This event cannot happen in state ${state.name}: ${event.type}.`);
      }
      checkFields(table.states[state.name].asks, event);
      const counters = {...state.counters};
      for (const update of transition.update) {
        if (!("if" in update) || (update.if === "right") === isRight(event)) {
          const base = update.op === "add" ? counters[update.counter] : 0;
          counters[update.counter] = base + update.value;
        }
      }
      const branch = transition.branches.find(
        (one) => one.when.every((guard) => holds(guard, counters, event))
      );
      return {name: branch.to, counters, reason: branch.reason ?? null};
    }

    return {
      version: table.version,
      parameters,
      start,
      step,
      replay: (events) => events.reduce(step, start()),
      isFinal: (state) => table.states[state.name].final,
      countsVotes: (state) => !table.states[state.name].discards_votes,
      /* The kind of answer that a state waits for; undefined where it waits for none. */
      asks: (state) => table.states[state.name].asks,
      /* Whether a mistake in this state is shown. */
      givesFeedback: (state) => Boolean(table.states[state.name].feedback),
    };
  }

  window.ChaosAnnotate = Object.assign(window.ChaosAnnotate ?? {}, {protocol, isRight});
})();
