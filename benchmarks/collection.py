"""How fast a collection is simulated: against a plain loop over events, and the target.

Run with `make bench-collection` or `python benchmarks/collection.py`. Both ways go through the same
table of rules, in one run on one machine.
"""

import time

import numpy as np

from chaos_utils.collection.annotators import Population, answer_chances, mixture
from chaos_utils.collection.materials import Materials, cut
from chaos_utils.collection.protocol import Protocol, is_right, load_protocol
from chaos_utils.collection.simulate import draw_labels, draw_stays, simulate
from chaos_utils.datasets.loading import load_all_votes

N_LOOPED = 200  # annotators whom the plain loop takes through


def one_by_one(protocol: Protocol, materials: Materials, population: Population) -> int:
    """Take annotators through one event at a time, and return how many items they judge."""
    rng, judged = np.random.default_rng(0), 0
    names, k = list(population.kinds), materials.dataset.n_classes
    codes, guess = materials.dataset.codes, np.full((1, k), 1 / k)
    for _ in range(N_LOOPED):
        kind = population.kinds[rng.choice(names, p=[population.shares[name] for name in names])]
        stay = draw_stays(population, len(materials.items), 1, rng)[0]
        state, corrections = protocol.step(protocol.start(), {"type": "begin"}), np.zeros(1, int)
        while not protocol.is_final(state):
            if state.name == "ready":
                check = bool(rng.random() < protocol.parameters["check_rate"])
                leaves = state.counters["items"] >= stay
                event = {"type": "stop"} if leaves else {"type": "draw", "check": check}
            else:
                known = state.name != "item"
                people = materials.pool if known else materials.items
                item = rng.integers(len(people))
                lapse, confusion = (
                    kind.lapses(state.name, corrections),
                    kind.confusions(corrections),
                )
                chances = answer_chances(
                    state.name, people[item : item + 1], lapse, confusion, guess
                )
                event = {
                    "type": "answer",
                    "kind": state.name,
                    "item": str(item),
                    "answer": codes[draw_labels(chances, rng)[0]],
                    "expected": codes[materials.expected[item]] if known else None,
                }
                corrections += known and state.name != "qualification" and not is_right(event)
                judged += not known
            state = protocol.step(state, event)
    return judged


def main() -> None:
    """Measure and print a table."""
    protocol, population = load_protocol(), mixture()
    all_votes = load_all_votes()
    of_datasets = [cut(votes, all_votes) for votes in all_votes]
    begun = time.perf_counter()
    made = [simulate(protocol, materials, population) for materials in of_datasets]
    vectorised = time.perf_counter() - begun
    n_votes = sum(int(one.counts.sum()) for one in made)

    begun = time.perf_counter()
    n_looped = one_by_one(protocol, of_datasets[0], population)
    looped = (time.perf_counter() - begun) * sum(len(one.votes) for one in made) / n_looped
    print("| what | measured | target |")
    print("| --- | --- | --- |")
    print(f"| {n_votes:,} votes through the whole protocol | {vectorised:.1f} s | 20 s |")
    print(f"| against drawing and stepping through one event at a time, from {N_LOOPED} annotators "
          f"| {looped / vectorised:.0f} × faster ({looped:.0f} s) | |")  # fmt: skip


if __name__ == "__main__":
    main()
