"""Make the package's synthetic sample: invented items and simulated votes in ChaosNLI's format.

Its files are committed, in ``chaos_utils/datasets/synthetic_sample``; this script writes them. Each
item has a ``source`` field that says that it is synthetic, so that all that is made from it can be
marked. The sentences are combined from short lists; the votes come from a seeded model of
annotators who mostly follow an item's own distribution and sometimes slip.
"""

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from chaos_utils.datasets.catalogue import book_datasets
from chaos_utils.datasets.chaosnli import SYNTHETIC, as_stored, tallied
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.sources import SAMPLE
from chaos_utils.datasets.tasks import Task, get_task

SEED = 20201116
N_ITEMS = 300
N_VOTES = 100
SLIP_RATE = 0.02  # how often an annotator answers at random

_PEOPLE = (
    ("A woman in a red raincoat", "a woman", "she"),
    ("Two teenagers", "two young people", "they"),
    ("An elderly man with a cane", "a man", "he"),
    ("A bus driver", "a driver", "she"),
    ("Three children in school uniforms", "some children", "they"),
    ("A street musician", "a musician", "he"),
    ("A nurse on her break", "a nurse", "she"),
    ("Two cooks in white aprons", "two cooks", "they"),
)
# What the people do, and a hypothesis about it of each of `_NLI_KINDS`.
_SCENES = (
    ("waiting|under the awning of a closed bakery", "outdoors", "waiting for a friend",
     "swimming in a lake", "hungry"),
    ("carrying|a stack of books down a library staircase", "holding something",
     "returning books that are overdue", "asleep in bed", "careful"),
    ("feeding|pigeons beside a dry fountain", "near birds", "there every morning",
     "riding a train", "enjoying the day"),
    ("painting|a wooden fence on a hot afternoon", "working with paint", "paid for the work",
     "skiing down a mountain", "tired"),
    ("looking|at a map in front of a subway entrance", "in a city", "on holiday",
     "playing tennis", "lost"),
    ("sharing|an umbrella with a stranger in heavy rain", "in the rain", "late for an appointment",
     "sunbathing on a beach", "polite"),
    ("repairing|a bicycle at the side of a country road", "next to a bicycle",
     "on a long trip", "sitting in a cinema", "annoyed"),
    ("laughing|at a market stall full of oranges", "at a market", "buying fruit for a party",
     "alone in a desert", "a customer"),
)  # fmt: skip
_SUBJECTS = (
    ("The committee", "approved the budget", "after a long debate"),
    ("The museum", "closed its east wing", "for repairs"),
    ("The village council", "bought the old mill", "with a loan"),
    ("The airline", "changed its timetable", "for the winter"),
    ("The orchestra", "hired a new conductor", "from abroad"),
    ("The county court", "postponed the hearing", "until spring"),
    ("The publisher", "reprinted the guide", "in a smaller format"),
    ("The harbour office", "raised its fees", "for large ships"),
)
_REMARKS = (
    ("and nobody objected", "There was no objection.", "Everyone was pleased."),
    ("although some members had doubts", "There were doubts.", "Most people were against it."),
    ("as it had announced a year before", "It had been announced.", "It surprised no one."),
    ("which cost more than expected", "It was expensive.", "It was a waste of money."),
    ("and the newspapers wrote about it", "It was in the news.", "It was an important event."),
)
_STORIES = (
    ("Mara planted tomatoes on her balcony.", "In August she gave a basket to every neighbour.",
     "The plants grew very well.", "Mara liked her neighbours.", "A storm broke all the plants."),
    ("Theo forgot his keys at the office.", "He spent the night on his brother's sofa.",
     "He could not get into his flat.", "His brother lived close to the office.",
     "He had a second key in his bag."),
    ("The class prepared a play for months.", "The audience stood up and clapped.",
     "The performance went well.", "The parents had come to see it.",
     "The play was called off."),
    ("Ines ordered a chair on the internet.", "She sent it back the next day.",
     "The chair was the wrong colour.", "The chair was smaller than it looked.",
     "The chair was just what she wanted."),
    ("Paul started to run every morning.", "In spring he finished his first marathon.",
     "He trained harder every week.", "He found a friend to run with.",
     "He gave up after a few days."),
    ("The lights went out during dinner.", "We finished the soup by candlelight.",
     "We found candles in a drawer.", "The storm had cut the power.",
     "The power came back at once."),
    ("Lena lent her bicycle to a cousin.", "She had to walk to work for a week.",
     "The cousin kept the bicycle for days.", "The cousin had an accident with it.",
     "The cousin brought it back at noon."),
    ("The bakery hired a new apprentice.", "Soon there was a queue down the street.",
     "The apprentice's bread was excellent.", "The apprentice told all her friends.",
     "The apprentice burnt the bread every day."),
    ("Omar missed the last train.", "He saw the sun rise over the station.",
     "He waited there all night.", "No hotel had a free room.", "A friend drove him home."),
    ("Our dog found an old box in the garden.", "My grandfather cried when he opened it.",
     "It held letters from his youth.", "He had buried it as a child.",
     "The box was full of stones."),
)  # fmt: skip
_ENDINGS = ("", " It was a surprise.", " Nobody had planned it.", " It had been a long year.",
            " That was years ago.")  # fmt: skip

# Dirichlet parameters of the distribution of an item's labels (e, n, c), by kind of item.
_NLI_KINDS = {
    "entailment": (24.0, 2.0, 0.4),
    "neutral": (2.0, 18.0, 1.5),
    "contradiction": (0.3, 1.2, 20.0),
    "ambiguous": (5.0, 7.0, 1.5),
}
_STORY_KINDS = {"clear": (30.0, 0.7), "leaning": (6.0, 2.5), "open": (4.0, 4.0)}


def write(folder: Path) -> None:
    """Write the sample's files below `folder`: ChaosNLI's three, and the corpora.

    Every call, on every machine, writes the same bytes: the only source of randomness is
    `random.Random`, whose streams do not change between versions of Python.
    """
    for number, dataset in enumerate(book_datasets()):
        rng = random.Random(SEED + number)
        items = itertools.islice(_ITEMS[dataset.name](rng), N_ITEMS)
        rows = [_row(dataset, rng, *item, uid=f"sample-{dataset.name}-{i:03d}") for i, item in
                enumerate(items)]  # fmt: skip
        _write_lines(folder / dataset.file, rows)
        _write_corpora(folder, dataset, rows)


def _write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


# A sentence that is added to a premise or a story, so that no training item is also evaluated.
_ADDED_SENTENCES = {"train": " This was on a {} in {}.", "dev": " It was a {} in {}.",
                    "test": " We saw it on a {} in {}."}  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
_MONTHS = ("March", "June", "August", "November")
_N_CORPUS = {"train": 600, "dev": 150, "test": 150}


def _write_corpora(folder: Path, dataset: Dataset, items: Sequence[dict[str, Any]]) -> None:
    """Write training, development and test files in the formats of SNLI, MNLI and αNLI.

    As in the published corpora, the development files hold the items of ChaosNLI too.
    """
    rng = random.Random(f"{SEED} {dataset.name}")
    task = get_task(dataset.task)
    for split, sentence in _ADDED_SENTENCES.items():
        corpus = list(itertools.islice(_ITEMS[dataset.name](rng), _N_CORPUS[split]))
        for text, _ in corpus:
            date = rng.choice(_WEEKDAYS), rng.choice(_MONTHS)
            text[dataset.text_fields[0]] += sentence.format(*date)
        labels = [rng.choices(range(dataset.n_classes), weights=alpha)[0] for _, alpha in corpus]
        if task.kind == "stories":
            for file in task.files_of(split):
                stories = [
                    {"story_id": f"sample-{i}", **text} for i, (text, _) in enumerate(corpus)
                ]
                _write_lines(folder / file.file, stories)
                lines = "".join(f"{label + 1}\n" for label in labels)
                (folder / file.labels).write_text(lines, encoding="utf-8")
            continue
        rows = [
            _pair(text, dataset.labels[label] if rng.random() > 0.02 else "-", f"{split}-{i}")
            for i, ((text, _), label) in enumerate(zip(corpus, labels, strict=True))
        ]
        if split == "dev":
            for item in items:
                label = dataset.labels[dataset.codes.index(item["old_label"])]
                rows.append(_pair(item["example"], label, item["uid"]))
        _write_lines(folder / _corpus_file(task, split, dataset), rows)


def _corpus_file(task: Task, split: str, dataset: Dataset) -> str:
    """Return the file of a split whose corpus has the dataset's name at its beginning."""
    files = task.files_of(split)
    return next(file.file for file in files if file.name.split("-")[0] == dataset.name)


def _pair(text: dict[str, str], label: str, uid: str) -> dict[str, str]:
    """Return a row of SNLI or MNLI."""
    return {
        "gold_label": label,
        "sentence1": text["premise"],
        "sentence2": text["hypothesis"],
        "pairID": uid,
    }


_Item = tuple[dict[str, str], Sequence[float]]  # texts by field, Dirichlet parameters


def _scenes(rng: random.Random) -> Iterator[_Item]:
    """Yield endless items for SNLI: a scene, and a statement about its people."""
    combinations = list(itertools.product(_PEOPLE, _SCENES, _NLI_KINDS))
    rng.shuffle(combinations)
    circumstances = itertools.cycle(("", " in the early morning", " while people walk past"))
    for circumstance in circumstances:
        for (subject, short, pronoun), scene, kind in combinations:
            action, *endings = scene
            verb = "are" if pronoun == "they" else "is"
            ending = dict(zip(_NLI_KINDS, endings, strict=True))[kind]
            yield (
                {
                    "premise": f"{subject} {verb} {action.replace('|', ' ')}{circumstance}.",
                    "hypothesis": f"{short.capitalize()} {verb} {ending}.",
                },
                _NLI_KINDS[kind],
            )


def _statements(rng: random.Random) -> Iterator[_Item]:
    """Yield endless items for MNLI: a report, and a statement about it."""
    combinations = list(itertools.product(_SUBJECTS, _REMARKS, _NLI_KINDS))
    rng.shuffle(combinations)
    for opening in itertools.cycle(("", "In the end, ", "Last year, ")):
        for (subject, act, how), (remark, entailed, ambiguous), kind in combinations:
            hypothesis = {
                "entailment": entailed,
                "neutral": f"{subject} had planned it for years.",
                "contradiction": f"{subject} never {act}.",
                "ambiguous": ambiguous,
            }[kind]
            start = subject[0].lower() + subject[1:] if opening else subject
            yield (
                {"premise": f"{opening}{start} {act} {how}, {remark}.", "hypothesis": hypothesis},
                _flatter(_NLI_KINDS[kind]),
            )


def _flatter(parameters: Sequence[float]) -> list[float]:
    """Return flatter Dirichlet parameters: people disagree more on MNLI's pairs than on SNLI's."""
    return [0.5 * value + 1.0 for value in parameters]


def _stories(rng: random.Random) -> Iterator[_Item]:
    """Yield endless items for αNLI: two observations, and two hypotheses in random order."""
    combinations = list(itertools.product(_STORIES, _STORY_KINDS, _ENDINGS))
    rng.shuffle(combinations)
    for opening in itertools.cycle(("", "This is a true story. ")):
        for (obs1, obs2, likely, possible, unlikely), kind, ending in combinations:
            hyps = [likely, possible if kind == "open" else unlikely]
            parameters = list(_STORY_KINDS[kind])
            if rng.random() < 0.5:
                hyps.reverse()
                parameters.reverse()
            yield (
                {"obs1": opening + obs1, "obs2": obs2 + ending, "hyp1": hyps[0], "hyp2": hyps[1]},
                parameters,
            )


_ITEMS = {"snli": _scenes, "mnli": _statements, "alphanli": _stories}


def _row(
    dataset: Dataset, rng: random.Random, text: dict[str, str], alpha: Sequence[float], *, uid: str
) -> dict[str, Any]:
    """Return an item in ChaosNLI's format, with simulated votes."""
    gammas = [rng.gammavariate(parameter, 1.0) for parameter in alpha]
    truth = [gamma / sum(gammas) for gamma in gammas]
    votes = _draw_votes(dataset, rng, truth, N_VOTES)
    old_votes = _draw_old_votes(dataset, rng, truth)
    names = dict(zip(dataset.codes, dataset.labels, strict=True))
    row: dict[str, Any] = {
        "uid": uid,
        **tallied(dataset, votes),
        "example": {"uid": uid, **text, "source": SYNTHETIC},
        "old_label": as_stored(dataset, Counter(old_votes).most_common(1)[0][0]),
    }
    if dataset.n_old_labels:
        row["old_labels"] = [names[code] for code in old_votes]
    return row


def _draw_votes(dataset: Dataset, rng: random.Random, truth: Sequence[float], n: int) -> list[str]:
    """Return the codes of `n` votes, which follow `truth` but for a few slips."""
    return [
        rng.choice(dataset.codes)
        if rng.random() < SLIP_RATE
        else rng.choices(dataset.codes, weights=truth)[0]
        for _ in range(n)
    ]


def _draw_old_votes(dataset: Dataset, rng: random.Random, truth: Sequence[float]) -> list[str]:
    """Return the codes of original votes: for SNLI and MNLI five, of which exactly 3 agree.

    ChaosNLI chose such items. Where people hardly disagree, that would need very many draws, so the
    distribution becomes a little flatter with each try.
    """
    if not dataset.n_old_labels:
        return _draw_votes(dataset, rng, truth, 1)
    weights = list(truth)
    while True:
        votes = _draw_votes(dataset, rng, weights, 5)
        if Counter(votes).most_common(1)[0][1] == 3:
            return votes
        weights = [0.9 * weight + 0.1 / len(weights) for weight in weights]


if __name__ == "__main__":
    write(SAMPLE)
