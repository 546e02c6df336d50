"""How fast systems are judged: against SciPy, item by item and vectorised, and against targets.

Run with `make bench` or `python benchmarks/evaluation.py`. Ratios compare two ways in one
run on one machine; seconds say what this machine took, those of a process
as the CPU time of all of it, imports included.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, kendalltau

from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES, EvalBatch
from chaos_utils.scoring.scores import EvaluationRequest, available, score_rows
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import computed

N_SYSTEMS = 9
N_RESAMPLES = 10_000
_COMPARED = ("jsd", "kl", "dist_ce", "ent_ce", "kendall_tau", "rank_cs")
_VECTORISED = ("jsd", "kl", "dist_ce", "ent_ce", "rank_cs")  # SciPy's τ takes one pair at a time


def nine_systems(votes: Votes) -> list[System]:
    """Blur the human distributions in nine seeded ways."""
    systems = []
    for seed in range(N_SYSTEMS):
        noise = np.random.default_rng(seed).normal(size=votes.shares.shape)
        powers = np.exp(np.log(votes.shares + 0.01) + noise)
        shares = powers / powers.sum(axis=1, keepdims=True)
        systems.append(computed(f"system {seed}", votes, shares))
    return systems


def loop_over_items(judged: EvalBatch) -> list[float]:
    """Compute the same measures item by item with SciPy, as the field's scripts do."""
    columns: list[list[float]] = [[] for _ in _COMPARED]
    for h, m in zip(judged.human, judged.model, strict=True):
        floored = np.where(m < 1e-15, 1e-15, m)
        values = (
            jensenshannon(h, m),
            entropy(h, floored / floored.sum()),
            np.abs(h - m).sum() / 2,
            abs(entropy(m) - entropy(h)),
            kendalltau(h, m).statistic,
            float((np.argsort(h, kind="stable") == np.argsort(m, kind="stable")).all()),
        )
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    return [float(np.nanmean(column)) for column in columns]


def vectorised(judged: EvalBatch) -> list[float]:
    """Compute the same measures with SciPy's functions of whole arrays."""
    h, m = judged.human, judged.model
    floored = np.where(m < 1e-15, 1e-15, m)
    floored /= floored.sum(axis=1, keepdims=True)
    orders = [np.argsort(one, axis=1, kind="stable") for one in (h, m)]
    columns = (
        jensenshannon(h, m, axis=1),
        entropy(h, floored, axis=1),
        np.abs(h - m).sum(axis=1) / 2,
        np.abs(entropy(m, axis=1) - entropy(h, axis=1)),
        (orders[0] == orders[1]).all(axis=1),
    )
    return [float(np.nanmean(column)) for column in columns]


def seconds(call, repeat: int = 3) -> float:
    """Return the CPU time of the shortest of a few runs."""
    times = []
    for _ in range(repeat):
        begun = time.process_time()
        call()
        times.append(time.process_time() - begun)
    return min(times)


def against_scipy(votes: Votes) -> tuple[float, float]:
    """Return how many times faster the measures are than a loop, and than vectorised SciPy.

    All three must agree.
    """
    judged = nine_systems(votes)[0].aligned_to(votes)
    ratios = []
    for names, other, repeat in ((_COMPARED, loop_over_items, 3), (_VECTORISED, vectorised, 20)):
        measures = [MEASURES[name] for name in names]
        ours = [measure.value(judged) for measure in measures]
        np.testing.assert_allclose(ours, other(judged), atol=1e-6)
        fast = seconds(lambda chosen=measures: [one.value(judged) for one in chosen], repeat=20)
        ratios.append(seconds(lambda call=other: call(judged), repeat) / fast)
    return ratios[0], ratios[1]


def whole_process(votes: Votes, systems: Sequence[System], *options: str) -> float:
    """Return the CPU time of `chaos evaluate` on some systems, the shortest of five runs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "systems.json"
        content = {
            system.name: {
                uid: {"uid": uid, "predicted_probabilities": shares}
                for uid, shares in zip(system.uids, system.probabilities.tolist(), strict=True)
            }
            for system in systems
        }
        path.write_text(json.dumps(content))
        command = ["-m", "chaos_utils.cli", "evaluate", str(path)]
        return cpu_of_python(*command, "--dataset", votes.dataset.name, *options)


def cpu_of_python(*arguments: str) -> float:
    """Return the CPU time of a Python process, imports included, the shortest of five runs."""
    times = []
    for _ in range(5):
        before = _cpu_of_children()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        times.append(_cpu_of_children() - before)
    return min(times)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and print a table."""
    all_votes = load_all_votes()
    first = all_votes[0]
    by_loop, by_vectors = against_scipy(first)
    systems = nine_systems(first)
    one, one_quick, nine = (
        whole_process(first, systems[:n], *options)
        for n, options in ((1, ()), (1, ("--bootstrap", "0")), (N_SYSTEMS, ("--pairs",)))
    )
    imports = cpu_of_python("-c", "import numpy, pandas")
    measures = [name for name, measure in MEASURES.items() if measure.by_item]
    counts = []
    begun = time.process_time()
    for votes in all_votes:
        names = available(votes, measures)
        counts.append(len(names))
        score_rows(votes, nine_systems(votes), EvaluationRequest(names, n_resamples=N_RESAMPLES))
    bootstrap = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print("| what | measured | target |")
    print("| --- | --- | --- |")
    for what, measured, target in (
        (
            f"{len(_COMPARED)} measures against SciPy, item by item",
            f"{by_loop:.0f} × faster",
            "50 ×",
        ),
        (
            f"{len(_VECTORISED)} measures against SciPy, vectorised",
            f"{by_vectors:.1f} × faster",
            "",
        ),
        (
            f"`chaos evaluate`, one system on {first.dataset.short}, intervals and references",
            f"{one:.2f} s of CPU, {one / imports:.2f} × `import numpy, pandas`",
            "2.4 ×",
        ),
        (
            "the same with `--bootstrap 0`",
            f"{one_quick:.2f} s of CPU, {one_quick / imports:.2f} × the imports",
            "2.0 ×",
        ),
        ("`chaos evaluate --pairs`, nine systems", f"{nine:.2f} s of CPU", ""),
        (
            f"{N_RESAMPLES:,} resamples, {max(counts)} measures, nine systems, three datasets",
            f"{bootstrap:.1f} s, {peak:.2f} GiB",
            "10 s, 0.5 GiB",
        ),
    ):
        print(f"| {what} | {measured} | {target} |")


if __name__ == "__main__":
    main()
