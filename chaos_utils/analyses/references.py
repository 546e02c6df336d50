"""References and baselines on a dataset, scored once for all chapters."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from chaos_utils.base.files import fresh_folder, write_text
from chaos_utils.base.table import as_text, from_text
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.recorded import Record, cached_analysis, read_record
from chaos_utils.scoring.references import KNOWN, KNOWN_COLUMNS, References
from chaos_utils.scoring.scores import available, score
from chaos_utils.scoring.systems import baselines

_COLUMNS = ["dataset", "system", "measure", "n_items", "value"]


@cached_analysis(keys=("dataset", "system", "measure"))
def reference_scores(votes: Votes, *, seed: int, measures: Sequence[str] = ()) -> pd.DataFrame:
    """Score the perfect model and the second crowd.

    Parameters
    ----------
    votes : Votes
    seed : int
        Of all draws.
    measures : sequence of str
        By default those that the votes allow and that need no old label.

    Returns
    -------
    DataFrame
        Rows of the table of scores, of origin ``reference``; a measure without an upper end has
        no second crowd. ``standard_error`` is the second crowd's; see `references.is_settled`.
    """
    drawn = [name for name, measure in MEASURES.items() if measure.needs != "old label"]
    names = measures or available(votes, drawn)
    rows = References(votes, seed=seed).rows(names)
    return pd.DataFrame(rows)[[*_COLUMNS, "standard_error"]]


@cached_analysis(keys=("dataset", "system", "measure"))
def baseline_scores(votes: Votes, *, seed: int) -> pd.DataFrame:
    """Score the guesses that need no model by every measure.

    Parameters
    ----------
    votes : Votes
    seed : int
        Of the class prior's folds.

    Returns
    -------
    DataFrame
        Rows of the table of scores, of origin ``baseline``.
    """
    return score(votes, baselines(votes))[_COLUMNS]


def write_package_data(tables: Path, target: Path | None = None) -> list[Path]:
    """Write what `scoring.references.known_rows` reads, from the records of both analyses.

    Parameters
    ----------
    tables : Path
        A folder of records, such as ``results/tables``.
    target : Path, optional
        By default the package's own folder.

    Returns
    -------
    list of Path
        A file for each dataset; other files there are removed.
    """
    records: dict[tuple[str, str], Record] = {}
    for analysis in (reference_scores, baseline_scores):
        for path in sorted((tables / analysis.name).glob("*.csv")):
            record = read_record(path)
            key = record.dataset, analysis.name
            # Of the book's datasets there are records of few measures too, for single chapters.
            if key not in records or len(record.text) > len(records[key].text):
                records[key] = record
    folder = target or KNOWN
    texts = {}
    for dataset in sorted({dataset for dataset, _ in records}):
        parts = [_known_scores(record) for key, record in records.items() if key[0] == dataset]
        texts[f"{dataset}.csv"] = as_text(pd.concat(parts, ignore_index=True))[0]
    if {path.name: path.read_text("utf-8") for path in folder.glob("*.csv")} != texts:
        # Written only if changed, since chapters that read these files are then made again.
        with fresh_folder(folder) as new_folder:
            for name, text in texts.items():
                write_text(new_folder / name, text)
    return [folder / name for name in texts]


def _known_scores(record: Record) -> pd.DataFrame:
    file = Path(get_dataset(record.dataset).file).name
    rows = from_text(record.text, record.types)
    (votes,) = (file_input for file_input in record.inputs if Path(file_input.name).name == file)
    scores = rows.assign(sha256=votes.sha256, seed=record.parameters["seed"])
    return scores.reindex(columns=list(KNOWN_COLUMNS))
