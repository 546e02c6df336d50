"""What a file says, checked by a pydantic model: all of its faults in one message, in words."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.files import read_regular

_FAULTS_SHOWN = 10  # faults that are shown
_VALUE_LENGTH = 60  # characters of a value that is shown
_WORDS = {
    "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "dictionary": "names with values", "object": "names with values", "list": "a list",
    "array": "a list", "tuple": "a list",
}  # fmt: skip
# What pydantic puts into a place where a field may be of several types, and for a mapping's key.
_TYPE = re.compile(r"(constrained-)?(str|int|float|tuple|dict)(\[.*\])?|\[key\]")
Model = TypeVar("Model", bound=BaseModel)


class StrictModel(BaseModel):
    """What a file says: these fields and no others.

    A field's description is what is expected of its value, for the message.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


def read_json(path: Path, kind: type[Model], name: str, *, todo: str) -> Model:
    """Return what a JSON file that the project has written says, as `validate` does."""
    try:
        content = read_regular(path)
    except OSError as fault:
        found = fault.strerror
        raise ChaosError(f"{name} cannot be read.", where=path, found=found, todo=todo) from fault
    return validate(content, kind, path, name, todo=todo)


def validate(
    content: object, kind: type[Model], where: object, name: str, *, todo: str | None = None
) -> Model:
    """Return what a file says; `name` names it in the error, which has a line for each fault.

    Bytes are JSON, in which a text is no number: the project has written them.
    """
    try:
        if isinstance(content, bytes):
            return kind.model_validate_json(content, strict=True)
        return kind.model_validate(content)
    except ValidationError as fault:
        lines = _lines(kind, fault)
        more = [f"and {len(lines) - _FAULTS_SHOWN} more"] if len(lines) > _FAULTS_SHOWN else []
        found = "\n".join([*lines[:_FAULTS_SHOWN], *more])
        raise ChaosError(f"{name} cannot be read.", where=where, found=found, todo=todo) from fault


def _lines(kind: type[BaseModel], fault: ValidationError) -> list[str]:
    """Say what is wrong, in a line for each place."""
    text_of: dict[str, str] = {}
    faults = fault.errors()
    for error in faults:
        loc, at = error["loc"], ""
        within = (other["loc"] for other in faults if other["loc"] != loc)
        if error["type"] == "too_short" and any(other[: len(loc)] == loc for other in within):
            continue  # its parts have faults of their own
        ways = [_models_at(kind, loc[:end]) for end in range(max(1, len(loc)))]
        known_fields = _fields(ways[-1])
        unions = {model.__name__ for models in ways for model in models}
        parts = [str(part) for part in loc if part not in unions]
        place = ".".join(part for part in parts if not _TYPE.fullmatch(part))
        if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            hint = f"; {did_you_mean(parts[-1], known_fields)}" if known_fields else ""
            text = f"no such field{hint}"
        elif error["type"] == "missing":
            text = "is missing"
        elif error["type"].startswith("union_tag"):
            by, tag = error["ctx"]["discriminator"].strip("'"), str(error["ctx"].get("tag", ""))
            fields = [model.model_fields[by] for model in _models_at(kind, loc)]
            tags = [tag for field in fields for tag in get_args(field.annotation)]
            place, text = f"{place}.{by}", f"found {tag!r}; {did_you_mean(tag, tags)}"
        else:
            text = _expected(error, known_fields.get(str(*loc[-1:])))
            shown = "nothing" if error["input"] is None else repr(error["input"])
            if len(shown) <= _VALUE_LENGTH and (loc or error["type"] == "model_type"):
                at = f"found {shown}; " if loc else f"{shown}; "
        if place in text_of:  # of several types
            text_of[place] += f", or {text.removeprefix('expected ')}"
        else:
            text_of[place] = at + text
    return [f"{place}: {text}" if place else text for place, text in text_of.items()]


def _expected(fault: Mapping[str, Any], field: FieldInfo | None) -> str:
    if field and field.description and fault["type"] != "value_error":
        return f"expected {field.description}"
    text = re.sub("^Value error, | after validation", "", fault["msg"])
    if kind := re.match(r"Input should be (?:a valid|an) (\w+)", text):
        return f"expected {_WORDS.get(kind[1], kind[1])}"
    text = re.sub("^(Tuple|String)", lambda kind: _WORDS[kind[1].lower()], text)
    text = re.sub("^Input should be greater than or equal to", "expected at least", text)
    text = re.sub("^Input should be less than or equal to", "expected at most", text)
    text = re.sub("^Input should be '", "expected '", text)
    return text[:1].lower() + text[1:]


def _models_at(kind: Any, place: Sequence[int | str]) -> list[type[BaseModel]]:
    """Return the models of which one may stand at a place."""
    models = _models_in(kind)
    for part in place:
        if part in (fields := _fields(models)):
            models = _models_in(fields[str(part)].annotation)
        else:  # of several, one is told by its name or by the value of a field
            models = [one for one in models if part in _told_by(one)] or models
    return models


def _told_by(model: type[BaseModel]) -> list[Any]:
    values = [value for one in model.model_fields.values() for value in get_args(one.annotation)]
    return [model.__name__, *values]


def _models_in(kind: Any) -> list[type[BaseModel]]:
    """Return the models that a type names."""
    if parts := get_args(kind):
        return [model for part in parts for model in _models_in(part)]
    return [kind] if isinstance(kind, type) and issubclass(kind, BaseModel) else []


def _fields(models: Sequence[type[BaseModel]]) -> dict[str, FieldInfo]:
    of_all = [field for model in models for field in model.model_fields.items()]
    return {field.alias or name: field for name, field in of_all}
