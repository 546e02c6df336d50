"""What systems are set beside on a dataset, scored once for all chapters."""

from collections.abc import Sequence

import pandas as pd

from chaos_utils.analyses.recorded import recorded
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.scoring.references import References


@recorded(keys=("dataset", "system", "measure"))
def reference_scores(votes: Votes, *, seed: int, measures: Sequence[str] = ()) -> pd.DataFrame:
    """Score the perfect model and the second crowd.

    Parameters
    ----------
    votes : Votes
    seed : int
        Of all draws.
    measures : sequence of str
        Those of the votes alone by default.

    Returns
    -------
    DataFrame
        Rows of the table of scores, of origin ``reference``; a measure without an upper end has
        no second crowd.
    """
    names = measures or [name for name, measure in MEASURES.items() if not measure.needs]
    found = References(votes, seed=seed).scores(names)
    return found[["dataset", "system", "measure", "n_items", "value"]]
