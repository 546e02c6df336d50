"""What a file says, checked by a pydantic model: all of its faults in one message, in words."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.files import read_regular

_MAX_FAULTS = 12  # faults that a message lists
_MAX_VALUE_LENGTH = 60  # characters of a value that a message shows
_WORDS = {
    "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "dictionary": "names with values", "object": "names with values", "list": "a list",
    "array": "a list", "tuple": "a list",
}  # fmt: skip
# Parts of a location in pydantic's errors that name one of a field's types, or a mapping's key.
_TYPE = re.compile(r"(constrained-)?(str|int|float|tuple|dict)(\[.*\])?|\[key\]")
Model = TypeVar("Model", bound=BaseModel)


class StrictModel(BaseModel):
    """The content of a file, with these fields and no others.

    A field's description says what its value must be, for the message of a fault.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


def read_json(path: Path, kind: type[Model], name: str, *, todo: str) -> Model:
    """Return the content of a JSON file that the project has written, checked by `validate`."""
    try:
        content = read_regular(path)
    except OSError as fault:
        found = fault.strerror
        raise ChaosError(f"{name} cannot be read.", where=path, found=found, todo=todo) from fault
    return validate(content, kind, path, name, todo=todo)


def validate(
    content: object, kind: type[Model], where: object, name: str, *, todo: str | None = None
) -> Model:
    """Return a file's content as a model; the error, which lists all faults, calls it `name`.

    Bytes are JSON that the project has written: a text in the place of a number is a fault there.
    """
    try:
        if isinstance(content, bytes):
            return kind.model_validate_json(content, strict=True)
        return kind.model_validate(content)
    except ValidationError as fault:
        lines = _lines(kind, fault)
        more = [f"and {len(lines) - _MAX_FAULTS} more"] if len(lines) > _MAX_FAULTS else []
        found = "\n".join([*lines[:_MAX_FAULTS], *more])
        raise ChaosError(f"{name} cannot be read.", where=where, found=found, todo=todo) from fault


def _lines(kind: type[BaseModel], fault: ValidationError) -> list[str]:
    """Return a line for each faulty place of the content, with what is wrong there."""
    text_at: dict[str, str] = {}
    errors = fault.errors()
    for error in errors:
        loc, found = error["loc"], ""
        other_locs = (other["loc"] for other in errors if other["loc"] != loc)
        if error["type"] == "too_short" and any(other[: len(loc)] == loc for other in other_locs):
            continue  # its parts have faults of their own
        models_above = [_models_at(kind, loc[:end]) for end in range(max(1, len(loc)))]
        known_fields = _fields(models_above[-1])
        model_names = {model.__name__ for models in models_above for model in models}
        parts = [str(part) for part in loc if part not in model_names]
        where = ".".join(part for part in parts if not _TYPE.fullmatch(part))
        if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            hint = f"; {did_you_mean(parts[-1], known_fields)}" if known_fields else ""
            text = f"no such field{hint}"
        elif error["type"] == "missing":
            field = known_fields.get(str(*loc[-1:]))
            meant = field.description if field else None
            text = "is missing" + (f"; expected {meant}" if meant else "")
        elif error["type"].startswith("union_tag"):
            name, tag = error["ctx"]["discriminator"].strip("'"), str(error["ctx"].get("tag", ""))
            fields = [model.model_fields[name] for model in _models_at(kind, loc)]
            tags = [tag for field in fields for tag in get_args(field.annotation)]
            where, text = f"{where}.{name}", f"found {tag!r}; {did_you_mean(tag, tags)}"
        else:
            text = _expected(error, known_fields.get(str(*loc[-1:])))
            value = "nothing" if error["input"] is None else repr(error["input"])
            if len(value) <= _MAX_VALUE_LENGTH and (loc or error["type"] == "model_type"):
                found = f"found {value}; " if loc else f"{value}; "
        if where in text_at:  # pydantic has an error for each type that the field may have
            text_at[where] += f", or {text.removeprefix('expected ')}"
        else:
            text_at[where] = found + text
    return [f"{where}: {text}" if where else text for where, text in text_at.items()]


def _expected(error: Mapping[str, Any], field: FieldInfo | None) -> str:
    """Say what a value must be: as the field's description does, else in pydantic's words."""
    if field and field.description and error["type"] != "value_error":
        return f"expected {field.description}"
    text = re.sub("^Value error, | after validation", "", error["msg"])
    if kind := re.match(r"Input should be (?:a valid|an) (\w+)", text):
        return f"expected {_WORDS.get(kind[1], kind[1])}"
    text = re.sub("^(Tuple|String)", lambda kind: _WORDS[kind[1].lower()], text)
    text = re.sub("^Input should be greater than or equal to", "expected at least", text)
    text = re.sub("^Input should be less than or equal to", "expected at most", text)
    text = re.sub("^Input should be '", "expected '", text)
    return text[:1].lower() + text[1:]


def _models_at(kind: Any, loc: Sequence[int | str]) -> list[type[BaseModel]]:
    """Return the models that may stand at a location, as pydantic's errors give it."""
    models = _models_in(kind)
    for part in loc:
        if part in (fields := _fields(models)):
            models = _models_in(fields[str(part)].annotation)
        else:  # this part may tell which of several models is meant
            models = [model for model in models if part in _distinguishing_marks(model)] or models
    return models


def _distinguishing_marks(model: type[BaseModel]) -> list[Any]:
    """Return what names a model in a location: its name, or a value that a field must have."""
    fields = model.model_fields.values()
    return [model.__name__, *(value for field in fields for value in get_args(field.annotation))]


def _models_in(kind: Any) -> list[type[BaseModel]]:
    """Return the models that a type names."""
    if parts := get_args(kind):
        return [model for part in parts for model in _models_in(part)]
    return [kind] if isinstance(kind, type) and issubclass(kind, BaseModel) else []


def _fields(models: Sequence[type[BaseModel]]) -> dict[str, FieldInfo]:
    """Return the fields of all models, by the names that a file has for them."""
    named_fields = [field for model in models for field in model.model_fields.items()]
    return {field.alias or name: field for name, field in named_fields}
