"""The registry of every data file: its release, addresses, digest and size."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Release:
    """What a publisher released: a set of files under one licence.

    Attributes
    ----------
    title, licence, homepage : str
        As its publisher states them.
    citation : str
        Key in ``book/references.bib``.
    """

    title: str
    licence: str
    homepage: str
    citation: str


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a release.

    Attributes
    ----------
    name : str
        Path relative to a data folder; also its name in records and figures.
    release : Release
        What it belongs to.
    url : str
        The publisher's address of the file, or of the archive that holds it.
    member : str
        Base name inside the archive; empty when `url` is the file itself.
    mirror : str
        A second address of the file itself; empty when there is none.
    sha256 : str
        Digest of the published file; empty when it is not known.
    items : int
        Number of items in the published file; 0 when it is not known.
    """

    name: str
    release: Release
    url: str
    member: str = ""
    mirror: str = ""
    sha256: str = ""
    items: int = 0


CHAOSNLI = Release(
    "ChaosNLI v1.0", "CC BY-NC 4.0", "https://github.com/easonnie/ChaosNLI", "nie2020"
)
CHAOSNLI_MODELS = Release(
    "ChaosNLI model predictions",
    "released with the paper",
    "https://github.com/easonnie/ChaosNLI",
    "nie2020",
)
BAAN = Release(
    "Calibration on disagreement data",
    "released with the paper",
    "https://github.com/jsbaan/calibration-on-disagreement-data",
    "baan2022",
)
SNLI = Release("SNLI 1.0", "CC BY-SA 4.0", "https://nlp.stanford.edu/projects/snli/", "bowman2015")
MULTINLI = Release(
    "MultiNLI 1.0",
    "OANC and others, see its paper",
    "https://cims.nyu.edu/~sbowman/multinli/",
    "williams2018",
)
ALPHANLI = Release(
    "ART / αNLI", "see its paper", "https://github.com/allenai/abductive-commonsense-reasoning",
    "bhagavatula2020",
)  # fmt: skip

_CHAOSNLI_ZIP = "https://www.dropbox.com/s/h4j7dqszmpt2679/chaosNLI_v1.0.zip?dl=1"
_MODELS_ZIP = "https://www.dropbox.com/s/qy7uk6ajm5x6dl6/model_predictions.zip?dl=1"
_SNLI_ZIP = "https://nlp.stanford.edu/projects/snli/snli_1.0.zip"
_MULTINLI_ZIP = "https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip"
_ALPHANLI_ZIP = (
    "https://storage.googleapis.com/ai2-mosaic/public/"
    "abductive-commonsense-reasoning-iclr2020/anli.zip"
)
_BAAN_RAW = (
    "https://raw.githubusercontent.com/jsbaan/calibration-on-disagreement-data/"
    "990e81cacadac5d0268160d1c02bad19d4ddb9a3/data/"
)


_BAAN_ITEMS = {"SNLI_dev": 4921, "SNLI_test": 4921, "MNLI_dev": 4772, "MNLI_test": 4907}
_BAAN_SHA256 = {
    "SNLI_dev_roberta-base_0": "5cc1fca739a738c360e5398c930ed93180d60888ee707f72859c715bde94c14d",
    "SNLI_dev_roberta-base_1": "00f296c2ea1bcf6b33b085c3b1acd516cc7bce7f4e2419fdc0e29145c5bb32c3",
    "SNLI_dev_roberta-base_2": "d93284fcfe5a4acf701cbf4b9650a7b8bb49aad0df3674d6572430acba029b1e",
    "SNLI_test_roberta-base_0": "39fcdf6d1411a1e93efc0ab850ee120e4320eca4ed39bbe166e7c92a355102bb",
    "SNLI_test_roberta-base_1": "ee1ecdb0ee206f288aed3ad7b64130d36679042a356144b70df353ef83dd0cf4",
    "SNLI_test_roberta-base_2": "015111c4f7b6a0ed404aaeb4afd2b075d051ed401152f29a3d3139fde9eaa5d3",
    "MNLI_dev_roberta-base_0": "f997c4193f3a096c9b13b4f0c9c20783f2a5a74f2f5066b92c28ff2b482c5b39",
    "MNLI_dev_roberta-base_1": "2cd02b212b94c19f7194273d448e914fb512b437cf76724311792c8211155c7f",
    "MNLI_dev_roberta-base_2": "a5f51f73545b8e0492e73a83cafda136d216866b6b2a1e408d93e8f77c1c90b5",
    "MNLI_test_roberta-base_0": "018c5e6cb26eac1a939a43aa1e37b7f3c1d6ae3c15f3eef105c10df57abd906d",
    "MNLI_test_roberta-base_1": "5940d87a1f3b6227b66409bdc7398254fd231014c9158ffb373ec62b57d8634f",
    "MNLI_test_roberta-base_2": "a401be52ccb504c5858c3d5417b6d12d32364a47cc68428c3da8c24ae2773cc0",
    "SNLI_dev_bert-base-uncased_0": "47e5f1ec4d64e5f360ca1da59e97bb78c961a15312c98ebbda6063a029a71b65",
    "SNLI_dev_bert-base-uncased_1": "9efa02a2d3ef6f3605fab984d7bc11ec0e32416456f57fc5ab72dc7e1435da4f",
    "SNLI_test_bert-base-uncased_0": "c35285f16904c20f0bc4ab08fb4e236d1dfd9da372df680d089224b3aabae226",
    "SNLI_test_bert-base-uncased_1": "f039c321ff0ec013483c57c1865504e283afaaea53af27dc4eacd8dec58e6c7f",
}


def _chaosnli(file: str, sha256: str, items: int) -> DataFile:
    name = f"chaosNLI_v1.0/{file}"
    return DataFile(name, CHAOSNLI, _CHAOSNLI_ZIP, file, _BAAN_RAW + name, sha256, items)


def _baan(run: str, sha256: str) -> DataFile:
    return DataFile(
        f"calibration-on-disagreement-data/predictions/{run}.json",
        BAAN,
        f"{_BAAN_RAW}predictions/{run}.json",
        sha256=sha256,
        items=_BAAN_ITEMS[run.rsplit("_", maxsplit=2)[0]],
    )


_FILES = (
    _chaosnli(
        "chaosNLI_snli.jsonl",
        "99f9015ddda7d85f66a087452bc30d53974314fe27e7d589e2f41ad44bd509c1",
        1514,
    ),
    _chaosnli(
        "chaosNLI_mnli_m.jsonl",
        "8eb49b589488e7b1a9ec95fb8a864bd50f0509b4f808eed0aed3f8167617664d",
        1599,
    ),
    _chaosnli(
        "chaosNLI_alphanli.jsonl",
        "f55817ecc11a02ba3030cd7d2c567d23843456809020723abad53f4fde024c9e",
        1532,
    ),
    *(
        DataFile(f"model_predictions/{file}", CHAOSNLI_MODELS, _MODELS_ZIP, file)
        for file in ("model_predictions_for_snli_mnli.json", "model_predictions_for_abdnli.json")
    ),
    *(_baan(run, sha256) for run, sha256 in _BAAN_SHA256.items()),
    DataFile(
        "snli_1.0/snli_1.0_train.jsonl", SNLI, _SNLI_ZIP, "snli_1.0_train.jsonl", items=550_152
    ),
    DataFile("snli_1.0/snli_1.0_dev.jsonl", SNLI, _SNLI_ZIP, "snli_1.0_dev.jsonl", items=10_000),
    DataFile("snli_1.0/snli_1.0_test.jsonl", SNLI, _SNLI_ZIP, "snli_1.0_test.jsonl", items=10_000),
    *(
        DataFile(f"multinli_1.0/{file}", MULTINLI, _MULTINLI_ZIP, file, items=items)
        for file, items in (
            ("multinli_1.0_train.jsonl", 392_702),
            ("multinli_1.0_dev_matched.jsonl", 10_000),
            ("multinli_1.0_dev_mismatched.jsonl", 10_000),
        )
    ),
    *(
        DataFile(f"alphanli/{file}", ALPHANLI, _ALPHANLI_ZIP, file, items=169_654)
        for file in ("train.jsonl", "train-labels.lst")
    ),
)

REGISTRY: Mapping[str, DataFile] = MappingProxyType({file.name: file for file in _FILES})

CHAOSNLI_FILES = tuple(name for name, file in REGISTRY.items() if file.release is CHAOSNLI)
BAAN_FILES = tuple(name for name, file in REGISTRY.items() if file.release is BAAN)
