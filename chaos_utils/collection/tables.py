"""Tables of simulated collections, as the paper reports on the real one."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from chaos_utils.collection.protocol import Json, Protocol
from chaos_utils.collection.simulate import Simulation
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval

SETTLED = 300  # items after which the paper's accuracy on unanimous examples no longer rises
PLATEAU_PERCENT = 92.0  # that accuracy, read off Figure 2 of Nie et al. (2020), for all datasets


def transitions(protocol: Protocol) -> pd.DataFrame:
    """Return the protocol's table of rules, one row a way from state to state.

    ``condition`` is in words, with the thresholds, and empty where none is left to be met;
    ``reason`` is why an annotator is turned away, or empty.
    """
    return pd.DataFrame(
        {
            "from": state,
            "event": transition["event"],
            "condition": " and ".join(
                _in_words(guard, protocol.parameters) for guard in branch["when"]
            ),
            "to": branch["to"],
            "reason": branch.get("reason", ""),
        }
        for transition in protocol.table["transitions"]
        for state in transition["from"]
        for branch in transition["branches"]
    )


def _in_words(guard: Json, parameters: Mapping[str, float]) -> str:
    bound = guard["value"]
    bound = parameters[bound] if isinstance(bound, str) else bound
    if "event" in guard:
        return guard["event"] if bound else f"no {guard['event']}"
    words = guard.get("counter") or guard.get("parameter") or " / ".join(guard["ratio"])
    sign = {"<": "<", ">": ">", ">=": "≥", "==": "="}[guard["op"]]
    since = (
        f", from {parameters[guard['from']]:g} {guard['ratio'][1]} on" if "from" in guard else ""
    )
    return f"{words.replace('_', ' ')} {sign} {bound:g}{since}"


def summary(simulation: Simulation) -> dict[str, float]:
    """Return the figures that the paper reports on its collection.

    ``qualification_fail_rate_percent`` is of those who applied; ``filter_rate_percent``
    (dismissed in training, or blocked at work) of those who were admitted; ``annotators`` have
    counted votes; ``plateau_percent`` is the accuracy on hidden checks after 300 items (NaN
    without any).
    """
    states = simulation.annotators["state"]
    admitted = states != "rejected"
    turned_away = states.isin(["dismissed", "blocked"])
    counted = simulation.annotators["counted"] & (simulation.annotators["items"] > 0)
    known = simulation.known
    late = known[(known["asked"] == "check") & (known["place"] >= SETTLED)]
    return {
        "qualification_fail_rate_percent": 100 * float((~admitted).mean()),
        "filter_rate_percent": 100 * float(turned_away.sum() / max(admitted.sum(), 1)),
        "annotators": float(counted.sum()),
        "plateau_percent": 100 * float(late["right"].mean()),
    }


def accuracy_curve(
    simulation: Simulation, width: int = 50, upto: int = 600, n_resamples: int = 500
) -> pd.DataFrame:
    """Return the accuracy on hidden checks by how many items an annotator has judged before.

    A row is a bin of `width` items that has checks, with its middle in ``items``; the last bin
    ends at `upto`. The band is a bootstrap interval of 95% over annotators.
    """
    checks = simulation.known[simulation.known["asked"] == "check"]
    checks = checks[checks["place"] < upto]
    rng = np.random.default_rng(0)
    rows = []
    for number, of_bin in checks.groupby(checks["place"] // width):
        each = of_bin.groupby("annotator")["right"].agg(["sum", "count"])
        means = bootstrap_means(each.to_numpy(float), n_resamples, rng)
        low, high = percentile_interval(100 * means[:, 0] / means[:, 1])
        rows.append(
            {
                "items": (int(str(number)) + 0.5) * width,
                "n_annotators": len(each),
                "n_checks": len(of_bin),
                "accuracy_percent": 100 * float(of_bin["right"].mean()),
                "low": float(low),
                "high": float(high),
            }
        )
    return pd.DataFrame(rows)
