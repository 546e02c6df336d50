"""Data beside the votes, as tables: people's explanations, and models' answers.

``releases.yml`` names the files; `data` is as for `sources.locate`. Identifiers of annotators
become running numbers. Columns of text are for the reader's own eyes: the licences of the texts
are not stated, so nothing that is released contains them.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import filter as matching
from typing import Any

import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input, digest
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import get_dataset, known_files
from chaos_utils.datasets.corpora import normalise
from chaos_utils.datasets.dataset import ChaosNLIReader, Dataset
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.frame import FileContent, read_frame
from chaos_utils.datasets.loading import load_votes
from chaos_utils.datasets.published.tables import read_published

LABELS = ("entailment", "neutral", "contradiction")
_LIVENLI_LABELS = {"true": LABELS[0], "either": LABELS[1], "false": LABELS[2]}  # by answer
_VOTES_FILE = re.compile(r".*/chaosNLI_(\w+)\.jsonl")
_LLM_FILE = "llm_annotations.json"  # in a dataset's folder


@dataclass(frozen=True, slots=True)
class AuxiliaryData:
    """Files that are read beside votes: the pattern of their names, and their reader."""

    pattern: str
    read: Callable[..., pd.DataFrame]

    @property
    def files(self) -> list[str]:
        """The names among `known_files` that match the pattern."""
        return matching(known_files(), self.pattern)

    @property
    def available(self) -> bool:
        """Whether all of the files are available."""
        return all(map(sources.find, self.files))

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The files that are available, with their digests."""
        paths = ((name, sources.find(name)) for name in self.files)
        return tuple(Input(name, digest(path)) for name, path in paths if path is not None)


class _File:
    """A published file, verified and read as a table of the requested columns.

    Keyword arguments `csv` go to `pandas.read_csv`; without them, `read_frame` reads the file.
    """

    def __init__(
        self, name: str, columns: Sequence[str], data: str, keys: Sequence[str] = (), **csv: Any
    ) -> None:
        path = sources.locate(name, data)
        self.faults = Faults(
            path,
            sources.get(name).release.title,
            expected=f"the columns {', '.join(columns)}",
            todo=f"correct the file, or fetch the published one: `chaos data fetch {name}`",
        )
        content = FileContent.of(path)
        if csv:
            text = io.StringIO(content.text())
            try:
                table = pd.read_csv(text, dtype=str, keep_default_na=False, **csv)
            except ValueError as fault:  # also pandas's own errors
                raise self.faults.fatal("The data file cannot be read.", fault) from fault
        else:
            frame = read_frame(content, self.faults, keys=keys)
            self.faults.check()
            table = pd.DataFrame(frame.records())
        missing = [column for column in columns if column not in table.columns]
        if missing:
            raise self.faults.fatal(f"The data file has no column {missing[0]!r}.")
        self.table = table[list(columns)]

    def check_values(
        self, column: str, values: Iterable[object], allowed: Iterable[object]
    ) -> None:
        """Raise a ChaosError if a value of a column is not allowed."""
        expected = list(allowed)
        for value in values:
            if value not in expected:
                first_few = ", ".join(map(str, expected[:12]))
                raise self.faults.fatal(
                    f"The column {column!r} holds an unknown value.", shorten(value), first_few
                )

    @contextmanager
    def lookups(self) -> Iterator[None]:
        """Turn a failed lookup of a record's part into a ChaosError about the file."""
        try:
            yield
        except (KeyError, IndexError, TypeError, AttributeError) as fault:
            raise self.faults.fatal("A record of the data file lacks a part.", fault) from fault


def read_varierr(data: str = "auto") -> pd.DataFrame:
    """Read VariErr: why four people gave their labels, and whether these reasons hold.

    Returns
    -------
    DataFrame
        A row per explanation:

        * uid: as in ChaosNLI-MNLI;
        * label, annotator, explanation (text);
        * stands: whether the author calls the explanation valid on a second look; missing where
          the author was not asked;
        * peers: how many other annotators judged the explanation;
        * peers_agree: how many of these annotators call it valid;
        * error: whether the item's label is an error: none of its authors stands by it.
    """
    file = _File("varierr/varierr.json", ["id", "error_labels", *LABELS], data)
    rows: list[dict[str, Any]] = []
    with file.lookups():
        for item in file.table.to_dict("records"):
            for label in LABELS:
                for reason in item[label]:
                    author = reason["annotator"]
                    votes = {vote["annotator"]: vote["makes_sense"] for vote in reason["judgments"]}
                    stands = votes.pop(author, None)
                    rows.append(
                        {
                            "uid": item["id"],
                            "label": label,
                            "annotator": author,
                            "explanation": reason["reason"],
                            "stands": stands,
                            "peers": len(votes),
                            "peers_agree": sum(votes.values()),
                            "error": label in item["error_labels"],
                        }
                    )
        table = pd.DataFrame(rows).astype({"stands": "boolean"})
    return table


def read_livenli(data: str = "auto") -> pd.DataFrame:
    """Read LiveNLI: the label or labels that each person chose, with an explanation.

    Returns
    -------
    DataFrame
        A row per person and item:

        * uid: 50 of the 122 are in ChaosNLI-MNLI;
        * annotator;
        * entailment, neutral, contradiction: the person's vote, in equal parts if the person
          chose several labels;
        * explanation (text);
        * reasons: the item's categories, separated by commas.
    """
    columns = ["uid", "worker_id", "multilabel", "explanation", "taxonomy"]
    file = _File("livenli/livenli.csv", columns, data, sep=",")
    answers = [answer.split(" | ") for answer in file.table["multilabel"]]
    file.check_values("multilabel", (part for parts in answers for part in parts), _LIVENLI_LABELS)
    votes = {
        label: [(answer in parts) / len(parts) for parts in answers]
        for answer, label in _LIVENLI_LABELS.items()
    }
    return pd.DataFrame(
        {
            "uid": file.table["uid"],
            "annotator": pd.factorize(file.table["worker_id"])[0],
            **votes,
            "explanation": file.table["explanation"],
            "reasons": file.table["taxonomy"],
        }
    )


def read_taxonomy(data: str = "auto") -> pd.DataFrame:
    """Read the taxonomy of disagreement: which of ten kinds of reason an item's votes differ for.

    Returns
    -------
    DataFrame
        A row per item and reason:

        * uid: 450 of the 510 are in ChaosNLI-MNLI;
        * round: 1 for one annotator, 2 for two annotators who agreed on one answer;
        * reason: ``N/A`` where none of the ten fits.
    """
    folder = "nli_disagreement_taxonomy"
    rounds = []
    for number, column in ((1, "a1"), (2, "agg")):
        name = f"{folder}/taxonomy_round{number}_release.jsonl"
        table = _File(name, ["pairID", column], data).table
        rounds.append(
            table.rename(columns={"pairID": "uid", column: "reason"}).assign(round=number)
        )
    rows = pd.concat(rounds).explode("reason", ignore_index=True)
    rows["reason"] = rows["reason"].str.rstrip(".")
    return rows[["uid", "round", "reason"]]


def read_ambient(data: str = "auto") -> pd.DataFrame:
    """Read AmbiEnt's crowd: nine votes on a pair as it was written, and on each of its readings.

    Returns
    -------
    DataFrame
        A row per pair and reading:

        * uid: as in the votes on ``ambient``;
        * id: AmbiEnt's own; two of the ids stand for two pairs each;
        * reading: 0 for the pair as it was written, then 1 to 3;
        * entailment, neutral, contradiction: votes;
        * distractor: whether this is no reading of the sentence;
        * label: the linguists' label; empty for the distractor and for reading 0;
        * accepted: how many of the nine people find that the sentence may mean this reading;
          missing for reading 0;
        * text: the text of the reading; empty for reading 0.
    """
    columns = ["id", "distractor_idx", "labels", "interpretations"]
    columns += [f"q{k}_gold" for k in range(4)] + [f"d{k}_gold" for k in range(1, 4)]
    file = _File("ambient/crowdworker_annotations.jsonl", columns, data)
    rows: list[dict[str, Any]] = []
    with file.lookups():
        for uid, pair in enumerate(file.table.to_dict("records")):
            for k in range(4):
                votes = pair[f"q{k}_gold"]
                file.check_values(f"q{k}_gold", votes, LABELS)
                rows.append(
                    {
                        "uid": str(uid),
                        "id": pair["id"],
                        "reading": k,
                        **{label: votes.count(label) for label in LABELS},
                        "distractor": k > 0 and pair["distractor_idx"] == k - 1,
                        "label": (pair["labels"][k - 1] or "") if k else "",
                        "accepted": sum(pair[f"d{k}_gold"]) if k else None,
                        "text": pair["interpretations"][k - 1] if k else "",
                    }
                )
    return pd.DataFrame(rows).astype({"accepted": "Int64"})


def judges_file(dataset: Dataset) -> str:
    """Return the file of language models' labels on a dataset of ChaosNLI; empty without one."""
    match = _VOTES_FILE.fullmatch(dataset.file) if dataset.files else None
    name = f"judges32/{match[1]}.csv" if match else ""
    return name if name in known_files() else ""


def read_judges(dataset: str, data: str = "auto") -> pd.DataFrame:
    """Read the label that each of 32 language models gave to chosen 1,000 items of ChaosNLI.

    Returns
    -------
    DataFrame
        A row per item and model that answered: uid (as in ChaosNLI), model (its name in the
        publisher's file, which is no verified version), maker, label (as the dataset names it).
    """
    chosen = get_dataset(dataset)
    if not judges_file(chosen):
        raise _no_model_labels_error(dataset)
    label_of = dict(zip(chosen.codes, chosen.labels, strict=True))
    judges = read_published("judges32_models")
    file = _File(judges_file(chosen), ["item_uid", *judges["column"]], data, sep=",")
    uids = file.table["item_uid"]
    for uid in uids[uids.duplicated()]:
        raise file.faults.fatal("An item stands in the data file twice.", uid)
    rows = file.table.melt("item_uid", var_name="column").merge(judges, on="column")
    rows = rows[rows["value"] != ""]  # a reply that could not be read
    for column, codes in rows.groupby("column")["value"]:
        file.check_values(str(column), codes.unique(), label_of)
    columns = {"uid": rows["item_uid"], "model": rows["model"], "maker": rows["maker"]}
    return pd.DataFrame(columns | {"label": rows["value"].map(label_of)}).reset_index(drop=True)


def _no_model_labels_error(dataset: str) -> ChaosError:
    return ChaosError("There are no language models' labels on this dataset.", found=dataset)


def read_llm_annotators(dataset: str, data: str = "auto") -> pd.DataFrame:
    """Read the labels of named large language models on the items of ``wax`` or ``lesion``.

    Returns
    -------
    DataFrame
        A row per item and model: uid (as in the votes), model, label (as the dataset names it, or
        ``None-of-the-above``, which WAX's people could not choose).
    """
    chosen = get_dataset(dataset)
    reader = chosen.reader
    if isinstance(reader, ChaosNLIReader) or not reader.keys:
        raise _no_model_labels_error(dataset)
    columns = ["item", "model", "value"]
    name = f"{chosen.file.rsplit('/', 1)[0]}/{_LLM_FILE}"
    file = _File(name, columns, data, keys=["model", "item"])
    labels = file.table["value"].astype(str)
    file.check_values("value", labels, [*chosen.labels, "None-of-the-above"])
    items = file.table["item"]
    if reader.numbered:
        (column,) = reader.item_columns
        people = _File(chosen.file, [column], data, keys=reader.keys).table[column]
        # The votes number the items in the order of the people's file.
        number_of_item = {text: str(i) for i, text in enumerate(people.unique())}
        file.check_values("item", items, number_of_item)
        items = items.map(number_of_item)
    return pd.DataFrame({"uid": items, "model": file.table["model"], "label": labels})


def read_probcopa(data: str = "auto") -> pd.DataFrame:
    """Read ProbCOPA's answers on a scale from 0 to 100: people's, and language models' by setting.

    Returns
    -------
    DataFrame
        A row per answer:

        * uid: as in the votes on ``probcopa``; models answered 30 of the 210 items;
        * model: empty for people;
        * setting, value: how the model was asked, such as ``temperature``, ``0.8``; empty for
          people;
        * answer: from 0 to 100; missing where a reply could not be read.
    """
    people = _File("probcopa/probcopa_CANARY.jsonl", ["UID", "response"], data)
    columns = ["UID", "model", "setting", "value", "answer"]
    models = _File("probcopa/ablations_30_items.csv", columns, data, sep=",")
    answered = people.table.dropna(subset="UID")  # without canary lines
    answered = answered.rename(columns={"response": "answer"}).astype({"UID": "int64"})
    rows = pd.concat([answered.assign(model="", setting="", value=""), models.table])
    readable = rows["answer"].where(~rows["answer"].isin(["error", ""]))
    answers = pd.to_numeric(readable, errors="coerce")
    is_wrong = (readable.notna() & ~answers.between(0, 100)).to_numpy()
    if is_wrong.any():
        file = people if is_wrong[: len(answered)].any() else models
        found = shorten(readable[is_wrong].iloc[0])
        raise file.faults.fatal("An answer is not on the scale.", found, "a number from 0 to 100")
    table = rows.assign(uid=rows["UID"].astype(str), answer=answers)
    return table[["uid", "model", "setting", "value", "answer"]].reset_index(drop=True)


def read_unli(dataset: str, data: str = "auto") -> pd.DataFrame:
    """Read UNLI: how probable people find a hypothesis, the mean over several of them.

    Its pairs are joined to the items of a dataset by their two texts, without case and punctuation.

    Returns
    -------
    DataFrame
        A row per pair: uid (empty for a pair that is no item of the dataset; 614 of the 3,040 are
        in ChaosNLI-SNLI), probability (from 0 to 1).
    """
    file = _File("unli/dev.csv", ["pre", "hyp", "unli"], data, sep=",")
    means = pd.to_numeric(file.table["unli"], errors="coerce")
    for found in file.table["unli"][~means.between(0, 1)]:
        raise file.faults.fatal("A mean is no probability.", shorten(found), "from 0 to 1")
    pairs = [*zip(file.table["pre"].map(normalise), file.table["hyp"].map(normalise), strict=True)]
    if len(set(pairs)) < len(pairs):
        raise file.faults.fatal("A pair stands in the data file twice.")
    votes = load_votes(dataset, data)
    uid_of_pair = {
        tuple(map(normalise, texts.values())): uid
        for uid, texts in zip(votes.uids, votes.texts, strict=True)
    }
    return pd.DataFrame(
        {"uid": [uid_of_pair.get(pair, "") for pair in pairs], "probability": means}
    )


VARIERR = AuxiliaryData("varierr/*", read_varierr)
TAXONOMY = AuxiliaryData("nli_disagreement_taxonomy/*", read_taxonomy)
LIVENLI = AuxiliaryData("livenli/*", read_livenli)
AMBIENT = AuxiliaryData("ambient/crowdworker*", read_ambient)
JUDGES = AuxiliaryData("judges32/*", read_judges)
PROBCOPA = AuxiliaryData("probcopa/*", read_probcopa)
UNLI = AuxiliaryData("unli/*", read_unli)
ANNOTATORS = AuxiliaryData(f"alttest/*/{_LLM_FILE}", read_llm_annotators)
