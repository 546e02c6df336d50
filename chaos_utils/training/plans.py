"""Plans: the runs that the book wants, in order of their value, and what is pinned for them.

``results/wanted.yml`` is the usual plan; others stand in ``results/plans/``. Commits of models that
`preflight` has resolved stand beside a plan, in ``NAME.revisions.json``.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.files import write_json
from chaos_utils.base.inputs import Input, digest
from chaos_utils.base.validation import StrictModel, read_json, validate
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.datasets.faults import shorten
from chaos_utils.scoring.training_records import RECORD_FILE
from chaos_utils.training.recipes import get_model

READS = ("results/plans/*",)
WANTED_FILE = "wanted.yml"
PLANS_FOLDER = "plans"
_COMMIT = "[0-9a-f]{40}"
_WHAT = "The list of wanted runs"


class PredictSpec(StrictModel):
    """What a run predicts with that trains nothing.

    Attributes
    ----------
    run : str
        The run whose weights are asked, or a model.
    mc_samples : int
        Passes with dropout.
    """

    run: str
    mc_samples: int


class RunSpec(StrictModel):
    """A run that the book wants: it trains, or predicts with another's weights.

    Attributes
    ----------
    name, why : str
        Its folder below ``results/``, and what it is for.
    settings : dict
        Of a training run, as `training.settings.Settings` names them; unchecked.
    predict : PredictSpec or None
        Of one that trains nothing.
    needs : str
        ``gpu`` for a run that is made on a GPU alone; else empty.
    """

    name: str = Field(pattern=r"^\w[\w.-]*$", description="a name without spaces or slashes")
    why: str
    needs: Literal["", "gpu"] = ""
    settings: dict[str, Any] = Field(default_factory=dict)
    predict: PredictSpec | None = None

    @model_validator(mode="after")
    def _check(self) -> "RunSpec":
        if len({"settings", "predict"} & self.model_fields_set) != 1:
            raise ValueError("a wanted run has either settings or predict")
        return self

    @property
    def folder(self) -> Path:
        """Where it goes."""
        return paths.results() / self.name

    @property
    def is_there(self) -> bool:
        """Whether it is finished."""
        return (self.folder / RECORD_FILE).is_file()

    @property
    def model(self) -> str:
        """The model that it trains; empty where it trains none."""
        return str(self.settings.get("model", ""))

    @property
    def earlier_runs(self) -> list[str]:
        """Names of the runs that must be there before it begins."""
        named = [self.settings.get("init"), self.settings.get("teacher")]
        named.append(self.predict.run if self.predict else None)
        return [str(name) for name in named if name]


class PinnedModel(StrictModel):
    """A model of the hub whose weights a plan pins.

    Attributes
    ----------
    revision : str
        The commit; empty where it is still to be resolved.
    note : str
        What a reader must know of these weights.
    """

    revision: str = Field(
        "", pattern=f"^({_COMMIT})?$", description="a commit, 40 hexadecimal digits, or nothing"
    )
    note: str = ""


class PlanFile(StrictModel):
    """What a plan's file says.

    Attributes
    ----------
    title : str
        What it is a plan for.
    recipes : dict
        By task, where its recipes come from.
    models : dict
        By name, what is pinned of a model.
    runs : list of RunSpec
        In order of their value.
    """

    title: str
    recipes: dict[str, str] = Field(default_factory=dict)
    models: dict[str, PinnedModel] = Field(default_factory=dict)
    runs: list[RunSpec]

    @model_validator(mode="after")
    def _check(self) -> "PlanFile":
        names = [spec.name for spec in self.runs]
        if doubled := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"two runs are called {doubled[0]}")
        trained = list(dict.fromkeys(spec.model for spec in self.runs))
        for name in self.models:
            if name not in trained:
                raise ValueError(f"no run is of the model {name}; {did_you_mean(name, trained)}")
            if not get_model(name).hub:
                raise ValueError(f"{name} is pinned, and not on the hub")
        return self


class WeightsFile(StrictModel):
    """A file of weights as the hub has it; what is not known of it is empty, or 0."""

    sha256: str = ""
    size: int = 0


class ResolvedModel(StrictModel):
    """A model's commit on the hub, and its files of weights, as `preflight` has found them."""

    hub: str
    commit: str = Field(pattern=f"^{_COMMIT}$", description="a commit, 40 hexadecimal digits")
    weights: dict[str, WeightsFile]


class Revisions(StrictModel):
    """What `preflight` has found on the hub for a plan, by model."""

    models: dict[str, ResolvedModel] = Field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """A plan as it was read; `name` is empty for the usual one."""

    name: str
    path: Path
    file: PlanFile

    @cached_property
    def runs(self) -> list[RunSpec]:
        """Its runs, each with the commit that its model is pinned at."""
        return [self._pinned(spec) for spec in self.file.runs]

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The entries of its files, for what is made from them."""
        files = [path for path in (self.path, self.revisions_path) if path.is_file()]
        return tuple(Input(f"results/{PLANS_FOLDER}/{path.name}", digest(path)) for path in files)

    @property
    def revisions_path(self) -> Path:
        """Where resolved commits stand."""
        return self.path.with_suffix(".revisions.json")

    @cached_property
    def resolved(self) -> dict[str, ResolvedModel]:
        """What `preflight` has resolved, by model."""
        if not self.revisions_path.is_file():
            return {}
        todo = "restore it, or remove it: the next preflight writes it again"
        return read_json(self.revisions_path, Revisions, "A plan's revisions", todo=todo).models

    def revision_of(self, model: str) -> str:
        """Return the commit of a model: as it is pinned, or else as it was resolved."""
        pinned, resolved = self.file.models.get(model), self.resolved.get(model)
        if pinned and pinned.revision:
            return pinned.revision
        return resolved.commit if pinned and resolved else ""

    def note_of(self, model: str) -> str:
        """Return what a reader must know of a model's weights."""
        pinned = self.file.models.get(model)
        return pinned.note if pinned else ""

    def _pinned(self, spec: RunSpec) -> RunSpec:
        revision = self.revision_of(spec.model)
        if not revision or "revision" in spec.settings:
            return spec
        return spec.model_copy(update={"settings": {**spec.settings, "revision": revision}})

    def keep(self, found: dict[str, ResolvedModel]) -> None:
        """Write what was resolved beside the plan, which is then to be read again."""
        of_plan = {name: one for name, one in found.items() if name in self.file.models}
        merged = {**self.resolved, **of_plan}
        if merged != self.resolved:
            content = Revisions(models=dict(sorted(merged.items())))
            write_json(self.revisions_path, content.model_dump())


def plan_names() -> list[str]:
    """Return the names of the plans beside the usual one; outside of a checkout there are none."""
    if paths.find_project() is None:
        return []
    return sorted(path.stem for path in (paths.results() / PLANS_FOLDER).glob("*.yml"))


def read_plan(name: str = "") -> Plan:
    """Return a plan by its name, or the usual one, which is empty where there is no file."""
    if not name:
        path = paths.results() / WANTED_FILE
        runs = _runs(path, read_yaml(path, _WHAT) if path.is_file() else [])
        whole = {"title": "the runs that the book wants", "runs": runs}
        return Plan("", path, validate(whole, PlanFile, path, _WHAT))
    path = paths.results() / PLANS_FOLDER / f"{name}.yml"
    if name not in plan_names():
        raise ChaosError(
            "There is no such plan.",
            where=path.parent,
            found=repr(name),
            expected=did_you_mean(name, plan_names()),
        )
    content = read_yaml(path, "A plan")
    if isinstance(content, dict) and isinstance(content.get("runs"), list):
        _runs(path, content["runs"])  # which says in which entry a fault is
    return Plan(name, path, validate(content, PlanFile, path, "A plan"))


def _runs(path: Path, content: object) -> list[RunSpec]:
    if not isinstance(content, list):
        found = shorten(content)
        raise ChaosError(f"{_WHAT} cannot be read.", where=path, found=found, expected="a list")
    return [
        validate(entry, RunSpec, f"{path}, entry {n}", "A wanted run")
        for n, entry in enumerate(content, start=1)
    ]
