"""Sentences of the chapter on noise floors and ceilings that hold for any data."""

import pandas as pd

from chaos_utils.analyses.names import dataset_name, listed


def say_beyond(budget: pd.DataFrame) -> str:
    """Say which datasets have fewer votes per item than are drawn; empty where none has.

    Parameters
    ----------
    budget : DataFrame
        As `annotation_budget` gives it.
    """
    beyond = budget[budget["n_votes"] > budget["most_votes"]]
    most = beyond.groupby("dataset", sort=False)["most_votes"].first()
    if most.empty:
        return ""
    fewer = [f"{n:,} on {dataset_name(str(dataset))}" for dataset, n in most.items()]
    return (
        f"\n\n*No item has more votes than {listed(fewer)}: what is said of more is "
        "extrapolated from the posterior.*"
    )


def say_uncut(bounds: pd.DataFrame) -> str:
    """Say which datasets have too few votes for split halves; empty where none has.

    Parameters
    ----------
    bounds : DataFrame
        As `noise_ceiling` gives it.
    """
    # A measure without an upper end has no ceiling of either kind.
    known = bounds[bounds["ceiling_posterior"].notna()].groupby("dataset", sort=False)
    halves = known["ceiling_halves"].count()
    uncut = [dataset_name(str(dataset)) for dataset, n in halves.items() if n == 0]
    if not uncut:
        return ""
    has = "has" if len(uncut) == 1 else "have"
    return (
        f"\n\n*{listed(uncut)} {has} too few votes on some items for split halves: the second "
        "crowd there is drawn from the posterior.*"
    )
