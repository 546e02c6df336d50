"""What `import chaos_utils as chaos` offers: load votes, read predictions, evaluate, compare.

Thin: arguments are checked here as the command line checks files, and passed on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import KEYWORDS, book_datasets
from chaos_utils.datasets.faults import shorten
from chaos_utils.datasets.loading import load_all_votes, load_votes
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring import human_equivalents as people
from chaos_utils.scoring import methods_sentences as sentences
from chaos_utils.scoring import predictions
from chaos_utils.scoring import replacement as replacements
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.evaluate import evaluate_files, evaluate_systems, part_of
from chaos_utils.scoring.scores import EvaluationRequest, as_scores
from chaos_utils.scoring.system import System, check_names
from chaos_utils.scoring.systems import computed, guesses_by_votes

if TYPE_CHECKING:
    import pandas as pd

Systems = System | Sequence[System] | Mapping[str, npt.ArrayLike]

_FEWEST_RESAMPLES = 20  # for a 95% interval


def load(dataset: str, data: str | Path = "auto") -> Votes:
    """Load the votes on one dataset.

    Parameters
    ----------
    dataset : str
        Its name, such as ``snli``.
    data : str or Path
        ``auto`` or ``released`` (the published votes), ``sample`` (a synthetic sample of them), or
        votes of your own: a folder, the YAML file of a dataset, or a votes file. The page on
        datasets explains these.

    Returns
    -------
    Votes
        Counts of shape (n_items, n_classes) by uid, with labels and texts.

    Raises
    ------
    ChaosError
        If there is no such dataset, its file cannot be found or has faults.
    """
    _check_type("dataset", dataset, str, "a dataset's name, such as 'snli'")
    _check_type("data", data, str | Path, "a path, or auto, released or sample")
    if str(data) in KEYWORDS and Path(dataset).suffix:
        raise ChaosError(
            "This is a file, not the name of a dataset.",
            found=f"dataset={dataset!r}",
            todo=f"pass it as data=: load(name, data={dataset!r})",
        )
    return load_votes(dataset, str(data))


def read_predictions(
    path: str | Path,
    votes: Votes | Sequence[Votes] | None = None,
    *,
    dataset: str | None = None,
    data: str | Path = "auto",
    model: str | None = None,
    answers: Mapping[str, str] | None = None,
    filter: str | None = None,
    scorer: str | None = None,
    asked: str | None = None,
    allow_missing: bool = False,
) -> list[System]:
    """Read the systems in a file of predictions, in any format that ``chaos evaluate`` takes.

    Parameters
    ----------
    path : str or Path
        The format is recognised from the content.
    votes : Votes or sequence of Votes, optional
        The votes that the file may cover; its uids tell which of these datasets it covers.
        By default those on `dataset`, or on every dataset of the book that is available.
    dataset : str, optional
        A dataset's name, such as ``snli``.
    data : str or Path
        Where to load votes from, if `votes` is not passed; as for `load`.
    model : str, optional
        Take only this model of the file.
    answers : mapping of str to str, optional
        Labels by what the file calls them, such as ``{"A": "entailment"}``: answers or choices of a
        language model, or columns.
    filter, scorer : str, optional
        The filter (in a run of lm-evaluation-harness that has several) or scorer (in a log of
        Inspect) whose reading of each answer is used. Filters without a name (until November 2024)
        are ``1``, ``2`` and so on, in the order of an item's lines.
    asked : str, optional
        How a language model was asked: ``label``, ``samples``, ``logprobs`` or ``percentages``. Its
        answers are read by the rules for that, or refused.
    allow_missing : bool
        Whether a dataset may be covered in part.

    Returns
    -------
    list of System
        One per model and dataset.

    Raises
    ------
    ChaosError
        If the file has faults, or none of its items has votes.
    """
    _check_type("path", path, str | Path, "a path")
    _check_type("data", data, str | Path, "a path, or auto, released or sample")
    _check_type("model", model, str | None, "a model's name")
    _check_type("filter", filter, str | None, "a filter's name")
    _check_type("scorer", scorer, str | None, "a scorer's name")
    _check_type("asked", asked, str | None, "a way to ask")
    _check_type("answers", answers, Mapping | None, "a mapping of answers to labels")
    for text in (*(answers or {}), *(answers or {}).values()):
        _check_type("answers", text, str, "a mapping of answers to labels, both texts")
    if votes is not None:
        listed: Any = votes
        is_list = isinstance(listed, Iterable) and not isinstance(listed, str)
        all_votes = list(listed) if is_list else [listed]
        for dataset_votes in all_votes:
            _check_votes(dataset_votes)
    elif dataset is not None:
        all_votes = [load(dataset, data)]
    else:
        all_votes = _available(str(data))
    return predictions.read_predictions(
        path,
        all_votes,
        model=model,
        answers=answers,
        filter=filter,
        scorer=scorer,
        asked=asked,
        allow_missing=allow_missing,
    )


def _available(data: str) -> list[Votes]:
    """Return the votes on the book's datasets; the sample only where none are available."""
    if data == "auto":
        names = [dataset.name for dataset in book_datasets() if sources.find(dataset.file)]
        return [load_votes(name) for name in names] or load_all_votes()
    return load_all_votes(data)


def make_system(name: str, votes: Votes, probabilities: npt.ArrayLike) -> System:
    """Make a system from an array of predicted probabilities, or of one label per item.

    Parameters
    ----------
    name : str
        The system's name in tables.
    votes : Votes
        The items: row i of `probabilities` belongs to ``votes.uids[i]``.
    probabilities : array of shape (n_items, n_classes)
        Column k belongs to ``votes.dataset.labels[k]``. None negative; rows sum to 1. Or labels,
        of shape (n_items,), as the dataset calls them: the system then says nothing about
        distributions.

    Returns
    -------
    System
        Of origin ``yours``.

    Raises
    ------
    ChaosError
        If the shape differs, a row holds no probabilities, or a label is not the dataset's.
    """
    if not predictions.is_name(name):
        raise ChaosError("A system needs a name.", found=shorten(name), expected=predictions.NAME)
    _check_votes(votes)
    dataset = votes.dataset
    shape = (len(votes), dataset.n_classes)
    try:
        array = np.asarray(probabilities)
        is_numeric = array.dtype.kind in "fiu"
        shape_found = f"shape {array.shape}" if is_numeric else f"values of type {array.dtype}"
    except ValueError:
        array, is_numeric, shape_found = np.empty(0), False, "rows of different lengths"
    if array.shape == (len(votes),) and array.dtype.kind != "f":
        labels = predictions.as_labels(name, votes, array.tolist())
        system = computed(name, votes, np.eye(dataset.n_classes)[labels], origin="yours")
        return replace(system, stated=True, one_label=True, notes=(predictions.NOTE_ON_LABELS,))
    if not is_numeric or array.shape != shape:
        raise ChaosError(
            f"The predictions of {name!r} are not a table of numbers that fits these votes.",
            found=shape_found,
            expected=f"shape {shape}: the items of {dataset.title} by {', '.join(dataset.labels)}",
            todo="give one row per item in the order of votes.uids, one column per label",
        )
    values = array.astype(np.float64)
    predictions.check_shares(name, lambda row: f"row {row}, {votes.uids[row]}", values)
    values /= values.sum(axis=1, keepdims=True)
    values.setflags(write=False)
    return computed(name, votes, values, origin="yours")


def evaluate(
    votes: Votes,
    systems: Systems,
    *,
    measures: str | Iterable[str] | None = None,
    groups: Mapping[str, npt.ArrayLike] | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> "pd.DataFrame":
    """Score systems against votes by every measure, with 95% intervals.

    Parameters
    ----------
    votes : Votes
        As `load` gives them.
    systems : System, list of System, or mapping
        A mapping gives each system's name and its array of shape (n_items, n_classes), rows in
        the order of ``votes.uids``, or its labels, as for `make_system`. For systems
        that give one label per item, only accuracies have values; other measures are NaN.
    measures : str or iterable of str, optional
        Such as ``jsd``; by default all that the votes have what they need for.
    groups : mapping from str to array, optional
        Positions of items, or a mask, by the name of a group; by default all items are one.
    resamples : int
        Bootstrap resamples of the items, each with the votes on it; 0 for no intervals. Intervals
        are for other items with other votes on them.
    seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        One row per system and measure, as `chaos_utils.scoring.scores.score` gives them:
        ``dataset``, ``system``, ``measure``, ``n_items``, ``value``, ``low``, ``high`` and more.

    Raises
    ------
    ChaosError
        If a shape, a name or a value does not fit.
    """
    _check_votes(votes)
    _check_type("groups", groups, Mapping | None, "a mapping of names to positions of items")
    compared = _as_systems(votes, systems)
    request = EvaluationRequest(
        _names(measures), groups, n_resamples=_enough(resamples), seed=_seed(seed)
    )
    return as_scores(evaluate_systems(votes, compared, request))


def methods_sentences(
    votes: Votes, systems: Systems | None = None, *, resamples: int = 2000, seed: int = 0
) -> list[str]:
    """Write the sentences that a paper owes its readers, as ``chaos evaluate --report``.

    Parameters
    ----------
    votes : Votes
        As `load` gives them.
    systems : System, list of System, mapping or None
        As for `evaluate`; None for sentences on the votes alone.
    resamples : int
        Bootstrap resamples for the intervals; 0 for none.
    seed : int
        Of the resamples.

    Returns
    -------
    list of str
        A paragraph per system: measure with unit and convention, items, votes, intervals and what
        they resample; uniform guess, base rate, second crowd and perfect model; what the system is
        worth, as it is and recalibrated; the version of the book. What votes, items or labels do
        not allow is left out: below 20 votes per item, the Jensen–Shannon distance. A warning comes
        first if a system seems to be a copy of the votes.

    Raises
    ------
    ChaosError
        If a shape, a name or a value does not fit.
    """
    _check_votes(votes)
    if systems is None:
        return [sentences.sentences_on_votes(votes, _enough(resamples), _seed(seed))]
    by_dataset = {votes.dataset.name: _as_systems(votes, systems)}
    check_names(by_dataset[votes.dataset.name])
    answer = evaluate_files(by_dataset, [votes], n_resamples=_enough(resamples), seed=_seed(seed))
    return sentences.methods_sentences(answer, by_dataset, [votes], seed=seed)


def compare(
    a: System,
    b: System,
    votes: Votes,
    *,
    measures: str | Iterable[str] | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> "pd.DataFrame":
    """Compare two systems on the items that both cover, resampled together.

    Parameters
    ----------
    a, b : System
        Of one dataset. The difference is `a` minus `b`.
    votes : Votes
        The votes that judge both systems.
    measures : str or iterable of str, optional
        Such as ``jsd``; all by default.
    resamples : int
        Bootstrap resamples of the items, each with its votes; at least 20.
    seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        One row per measure: ``system`` (`a`), ``reference`` (`b`), ``value`` (the difference),
        ``low`` and ``high`` (95%), ``p`` (two-sided) and more.

    Raises
    ------
    ChaosError
        If the systems have one name, or share no item.
    """
    for argument, system in (("a", a), ("b", b)):
        expected = "a System, as read_predictions and make_system give it"
        _check_type(argument, system, System, expected)
    _check_votes(votes)
    resamples = _enough(resamples)
    if resamples == 0:
        raise ChaosError("A comparison needs resamples.", found="resamples=0")
    request = EvaluationRequest(
        _names(measures), comparisons=[(a.name, b.name)], n_resamples=resamples, seed=_seed(seed)
    )
    return as_scores(row for row in evaluate_systems(votes, [a, b], request) if row["reference"])


def worth(
    votes: Votes, systems: Systems, *, resamples: int = 2000, seed: int = 0
) -> "pd.DataFrame":
    """Say what systems are worth: in people on top of the base rate, and as skill.

    Parameters
    ----------
    votes : Votes
        At least two on each item.
    systems : System, list of System, or mapping
        As for `evaluate`; none that was made from these votes.
    resamples : int
        Bootstrap resamples for the intervals; 0 for none.
    seed : int
        Of the resamples.

    Returns
    -------
    DataFrame
        One row per system and measure, then for the uniform guess and, unless all items share a
        text, the base rate on the same items: ``dataset``, ``system``, ``origin``, ``measure``,
        ``n_items``, ``value``, ``low`` and ``high`` (95%), ``text`` and ``estimand``. Measures are
        ``people_on_top``, the number of people to ask about each item, knowing how often each label
        is given overall, to come as near; ``skill``, from 0 for the base rate to 1; both also
        ``_recalibrated``, by a map of its log-probabilities that is fitted to the votes on other
        texts, and ``_shrunk``, drawn towards the base rate by one number that is fitted on other
        items; and ``human_equivalent_brier``, people without the base rate. Of a system that gives
        one label per item, the first two are left out: people fall below 0 there too. What is
        undefined, or has too few items to say, is NaN, and ``text`` says why: a map of three labels
        takes 500 items, and the others 30 on which people disagree.

    Raises
    ------
    ChaosError
        If a system was made from these votes, or an item has a single vote.
    """
    _check_votes(votes)
    compared = _beside_guesses(votes, _as_systems(votes, systems))
    request = EvaluationRequest(worths.NAMES, n_resamples=_enough(resamples), seed=_seed(seed))
    return _table(evaluate_systems(votes, compared, request))


def _table(rows: Iterable[Mapping[str, object]]) -> "pd.DataFrame":
    import pandas as pd

    left_out = ["family", "seed", "temperature", "trained_on", "is_hard"]
    return pd.DataFrame(list(rows)).drop(columns=left_out, errors="ignore")


def _beside_guesses(votes: Votes, systems: list[System]) -> list[System]:
    """Return systems, then the uniform guess and, where it can be formed, the base rate."""
    check_names(systems)
    part = part_of(votes, systems[0].rows_in(votes))
    names = {system.name for system in systems}
    return [*systems, *(guess for guess in guesses_by_votes(part) if guess.name not in names)]


def human_equivalents(
    votes: Votes,
    systems: Systems,
    *,
    measures: str | Iterable[str] | None = None,
    judges: int | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> "pd.DataFrame":
    """Say as how many drawn people, pooled, systems predict the rest of the crowd.

    By the squared distance, `worth` answers without drawing.

    Parameters
    ----------
    votes : Votes
        At least two on each item.
    systems : System, list of System, or mapping
        As for `evaluate`; none that was made from these votes.
    measures : str or iterable of str, optional
        ``human_equivalent_tvd`` and ``human_equivalent_jsd``; both by default.
    judges : int, optional
        Number of votes that judge, apart from the crowd's; by default half of the votes on the item
        that has fewest. Values for other numbers, or other datasets, do not compare.
    resamples : int
        Bootstrap resamples for the intervals; 0 for none.
    seed : int
        Of drawn crowds and resamples.

    Returns
    -------
    DataFrame
        One row per system and measure, then for the uniform guess and, unless all items share a
        text, the base rate on the same items: ``dataset``, ``system``, ``origin``, ``measure``,
        ``n_items``, ``n_judges``, ``value`` in people, ``low`` and ``high`` (95%), ``text`` and
        ``estimand``. A value of 0 stands for less than one person, and an infinite one for more
        than half the crowd; ``text`` says so in words.

    Raises
    ------
    ChaosError
        If a system was made from these votes, or more votes are asked for than the crowd has.
    """
    _check_votes(votes)
    _check_type("judges", judges, Integral | None, "a whole number, 1 or more")
    compared = _beside_guesses(votes, _as_systems(votes, systems))
    names = _names(measures) or people.NAMES
    n_resamples = _enough(resamples)
    people.check_names(names)
    crowds = people.Crowds(votes, None if judges is None else int(judges), seed=_seed(seed))
    request = EvaluationRequest(names, n_resamples=n_resamples, seed=crowds.seed)
    return _table(evaluate_systems(votes, compared, request, crowds))


def replacement(
    votes: Votes, systems: Systems, *, epsilon: float, reason: str, seed: int = 0
) -> "pd.DataFrame":
    """Test whether systems may replace an annotator (the alternative annotator test).

    Each annotator is left out in turn, and compared with the system: who agrees better with the
    others? A system passes if it wins against half of them, being at most `epsilon` behind. That it
    does not pass is no proof that it is worse than people: on few items, people fail, too. Choose
    among systems on other items: p-values are adjusted for annotators, not for systems.

    Parameters
    ----------
    votes : Votes
        With the names of annotators; at least two of whom gave 30 labels to items that others
        labelled too. A verdict needs three.
    systems : System, list of System, or mapping
        As for `evaluate`; none that was made from these votes. Their labels are judged, on the
        items that all of them cover.
    epsilon : float
        By how much a system may be behind a person, for what it saves, in [0, 1): the authors
        propose 0.2 beside experts, 0.15 beside skilled annotators, 0.1 beside crowd workers, and
        less where people agree little. State it before you look.
    reason : str
        Why it is this margin; it stands beside the verdict.
    seed : int
        Of the people who are simulated.

    Returns
    -------
    DataFrame
        One row per system; then for the label that is most frequent overall, and for one more
        person, simulated: means over 100 of them, and how many pass. ``verdict``; ``winning_rate``
        (ω), the share of the ``n_annotators`` tested that it ``wins`` against; ``advantage`` (ρ),
        on how many items it agrees with the others at least as well, ties counted in: never a
        verdict; ``kappa`` (Fleiss), ``n_items``, ``annotators_left_out``, ``votes_left_out``,
        ``epsilon`` and ``reason``.

    Raises
    ------
    ChaosError
        If annotators are not named, too few have 30 items, the margin is no share or has no reason,
        or a system was made from these votes.

    References
    ----------
    Calderon, N., Reichart, R. and Dror, R. (2025). The alternative annotator test for
    LLM-as-a-judge: how to statistically justify replacing human annotators with LLMs.
    """
    import pandas as pd

    _check_votes(votes)
    _check_type("epsilon", epsilon, Real, "a share, such as 0.1")
    _check_type("reason", reason, str, "a text: why the margin is this one")
    rows = replacements.replacement(
        votes, _as_systems(votes, systems), epsilon=float(epsilon), reason=reason, seed=_seed(seed)
    )
    return pd.DataFrame(rows)


def _as_systems(votes: Votes, systems: Any) -> list[System]:
    """Return systems as a list, made from arrays if they are a mapping; raise on anything else."""
    if isinstance(systems, System):
        return [systems]
    if isinstance(systems, Mapping):
        system_list = [make_system(name, votes, values) for name, values in systems.items()]
    elif isinstance(systems, Iterable) and not isinstance(systems, str | np.ndarray):
        system_list = list(systems)
    else:
        system_list = [systems]
    for system in system_list:
        if not isinstance(system, System):
            raise ChaosError(
                "This is not a system.",
                found=type(system).__name__,
                expected="a System, a list of them, or a mapping of names to arrays",
                todo="give an array a name: {'my model': array}",
            )
    if not system_list:
        raise ChaosError("There is no system to evaluate.")
    return system_list


def _check_votes(votes: Any) -> None:
    _check_type("votes", votes, Votes, "votes as chaos_utils.load gives them")


def _check_type(argument: str, value: object, types: Any, expected: str) -> None:
    """Raise if an argument has none of the types; a bool does not count as a number."""
    if not isinstance(value, types) or isinstance(value, bool):
        raise ChaosError(
            f"The argument {argument} is of the wrong type.",
            found=f"{argument}={_shown(value)}",
            expected=expected,
        )


def _shown(value: object) -> str:
    """Return a value for a message, or its type where that says more."""
    is_plain = value is None or isinstance(value, str | int | float | Path)
    return shorten(value) if is_plain else type(value).__name__


def _names(measures: str | Iterable[str] | None) -> list[str] | None:
    """Return the names of measures as a list, None for all; raise if a name occurs twice."""
    if measures is None:
        return None
    expected = "a measure's name, such as 'jsd', or a list of names"
    _check_type("measures", measures, Iterable, expected)
    names = [measures] if isinstance(measures, str) else list(measures)
    for name in names:
        _check_type("measures", name, str, expected)
    if not names:
        raise ChaosError("No measure is named.", found="measures=[]", expected=expected)
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise ChaosError("A measure is named twice.", found=repr(double), expected="each one once")
    return names


def _seed(seed: int) -> int:
    _check_type("seed", seed, Integral, "a whole number, 0 or more")
    return int(seed)


def _enough(resamples: int) -> int:
    """Return the number of resamples; raise if it is too small for an interval."""
    _check_type("resamples", resamples, Integral, "a whole number, 0 for no intervals")
    if resamples != 0 and resamples < _FEWEST_RESAMPLES:
        raise ChaosError(
            "Too few resamples for an interval.",
            found=f"resamples={resamples}",
            expected=f"0 for no intervals, or at least {_FEWEST_RESAMPLES}",
        )
    return int(resamples)
