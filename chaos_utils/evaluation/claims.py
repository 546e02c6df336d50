"""Every checkable claim of both papers, and the table of their verdicts."""

from collections.abc import Mapping, Sequence

import pandas as pd

from chaos_utils.datasets.votes import Votes
from chaos_utils.evaluation.claims_calibration import CALIBRATION
from chaos_utils.evaluation.claims_models import MODELS
from chaos_utils.evaluation.claims_rules import VERDICTS, Claim, Grounds
from chaos_utils.evaluation.claims_votes import VOTES
from chaos_utils.scoring.system import System

CLAIMS: tuple[Claim, ...] = tuple(
    sorted((*VOTES, *MODELS, *CALIBRATION), key=lambda claim: claim.id)
)


def gather(
    all_votes: Sequence[Votes],
    systems: Mapping[str, Sequence[System]],
    *,
    n_resamples: int,
    n_splits: int,
    seed: int,
) -> Grounds:
    """Put together what claims are checked with.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset.
    systems : mapping
        Systems by dataset, as `load_systems` gives them.
    n_resamples, n_splits, seed : int
        As in `Grounds`.
    """
    return Grounds(
        {votes.dataset.name: votes for votes in all_votes},
        systems,
        n_resamples,
        n_splits,
        seed,
        released=all(votes.is_released for votes in all_votes),
    )


def check_claims(material: Grounds, claims: Sequence[Claim] = CLAIMS) -> pd.DataFrame:
    """Check claims.

    Parameters
    ----------
    claims : sequence of Claim
        All of both papers by default.

    Returns
    -------
    DataFrame
        One row a claim: ``id``, ``paper`` (citation key), ``place``, ``claim``,
        ``evidence`` (what the value is), ``value``, ``low``, ``high`` (95%; NaN where there
        is none), ``verdict`` (one of `VERDICTS`).
    """
    rows = []
    for claim in claims:
        evidence = claim.decide(material)
        rows.append(
            {
                "id": claim.id,
                "paper": claim.paper,
                "place": claim.place,
                "claim": claim.claim,
                "evidence": evidence.text,
                "value": evidence.value,
                "low": evidence.low,
                "high": evidence.high,
                "verdict": evidence.verdict,
            }
        )
    return pd.DataFrame(rows)


def count_verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts on each paper: ``paper``, ``verdict``, ``n`` (0 included).

    Parameters
    ----------
    table : DataFrame
        As `check_claims` gives it.

    Returns
    -------
    DataFrame
        One row for each paper and each of `VERDICTS`, in that order.
    """
    counts = table.groupby(["paper", "verdict"]).size()
    index = pd.MultiIndex.from_product(
        [table["paper"].unique(), VERDICTS], names=["paper", "verdict"]
    )
    return counts.reindex(index, fill_value=0).rename("n").reset_index()
