"""Reading YAML that a person may have written, or broken."""

from pathlib import Path
from typing import Any

import yaml

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import decode_text, read_regular

_MAX_DEPTH = 20


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which no key may occur twice; in C where that is available, for speed."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that occurs twice, whose last value would win silently, or is no word."""
        mapping: dict[Any, Any] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.YAMLError(f"line {line}: a name must be one word, no list or mapping")
            name = self.construct_object(key)
            if name in mapping:
                raise yaml.YAMLError(f"line {line}: {key.value!r} occurs twice")
            mapping[name] = self.construct_object(value, deep=deep)
        return mapping


def read_yaml(path: Path, name: str = "This file") -> Any:
    """Return the content of a YAML file without aliases; the error calls the file `name`."""
    try:
        text = decode_text(read_regular(path), name, path)
        _check_events(text)
        return yaml.load(text, _Loader)  # noqa: S506 (a safe loader)
    except OSError as fault:
        raise ChaosError(f"{name} cannot be read.", where=path, found=fault.strerror) from fault
    # Also a date that no calendar has, a number of thousands of digits, and a tag without a value.
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as fault:
        message = " ".join(str(fault).split())[:200]
        if isinstance(fault, yaml.MarkedYAMLError) and fault.problem_mark:
            message = f"line {fault.problem_mark.line + 1}: {fault.problem}"
        raise ChaosError(
            f"{name} cannot be read as YAML.",
            where=path,
            found=message,
            todo="correct this; texts with a colon or # need quotation marks",
        ) from fault


def _check_events(text: str) -> None:
    """Refuse aliases, and nesting so deep that the loader in C would crash on it."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.AliasEvent):  # a few lines of them can fill the memory
            raise yaml.YAMLError("it has an alias, which is not supported")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise yaml.YAMLError("it is nested too deeply")
