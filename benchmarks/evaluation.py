"""How fast systems are judged: against a plain loop, and against the targets.

Run with `make bench` or `python benchmarks/evaluation.py`. Ratios compare two ways in one
run on one machine; seconds say what this machine took.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, kendalltau

from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES, Judged
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import computed

N_SYSTEMS = 9
N_RESAMPLES = 10_000
_COMPARED = ("jsd", "kl", "dist_ce", "ent_ce", "kendall_tau", "rank_cs")


def nine_systems(votes: Votes) -> list[System]:
    """Blur the human distributions in nine seeded ways."""
    systems = []
    for seed in range(N_SYSTEMS):
        noise = np.random.default_rng(seed).normal(size=votes.shares.shape)
        powers = np.exp(np.log(votes.shares + 0.01) + noise)
        shares = powers / powers.sum(axis=1, keepdims=True)
        systems.append(computed(f"system {seed}", votes, shares))
    return systems


def loop_over_items(judged: Judged) -> list[float]:
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


def seconds(call, repeat: int = 3) -> float:
    """Return the shortest of a few runs."""
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return min(times)


def against_a_loop(votes: Votes) -> float:
    """Return how many times faster the measures are than a loop; both must agree."""
    judged = nine_systems(votes)[0].aligned_to(votes)
    ours = [MEASURES[name].value(judged) for name in _COMPARED]
    np.testing.assert_allclose(ours, loop_over_items(judged), atol=1e-6)
    fast = seconds(lambda: [MEASURES[name].value(judged) for name in _COMPARED], repeat=20)
    return seconds(lambda: loop_over_items(judged)) / fast


def whole_process(votes: Votes) -> float:
    """Return the wall time of `chaos evaluate` on nine systems, without intervals."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nine.json"
        content = {
            system.name: {
                uid: {"uid": uid, "predicted_probabilities": shares}
                for uid, shares in zip(system.uids, system.probabilities.tolist(), strict=True)
            }
            for system in nine_systems(votes)
        }
        path.write_text(json.dumps(content))
        dataset = votes.dataset.name
        command = [
            sys.executable,
            "-m",
            "chaos_utils.cli",
            "evaluate",
            str(path),
            "--dataset",
            dataset,
        ]
        command += ["--bootstrap", "0", "--csv"]
        return seconds(lambda: subprocess.run(command, check=True, capture_output=True))


def main() -> None:
    """Measure and print a table."""
    all_votes = load_all_votes()
    ratio = against_a_loop(all_votes[0])
    process = whole_process(all_votes[0])
    begun = time.perf_counter()
    for votes in all_votes:
        score(votes, nine_systems(votes), n_resamples=N_RESAMPLES)
    bootstrap = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print("| what | measured | target |")
    print("| --- | --- | --- |")
    print(f"| {len(_COMPARED)} measures against a SciPy loop | {ratio:.0f} × faster | 50 × |")
    print(
        f"| `chaos evaluate`, nine systems, one dataset, no intervals | {process:.2f} s | 1.5 s |"
    )
    print(f"| {N_RESAMPLES:,} resamples, {len(MEASURES)} measures, nine systems, three datasets "
          f"| {bootstrap:.1f} s, {peak:.2f} GiB | 30 s, 2 GB |")  # fmt: skip


if __name__ == "__main__":
    main()
