"""A notebook's typed parameters: read from its source, checked before anything runs."""

import ast
import hashlib
import io
import json
import shlex
import tokenize
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import yaml
from pydantic import FiniteFloat, TypeAdapter

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.modules import read_source
from chaos_utils.base.yaml_files import read_yaml

_INJECTED = "# Parameters\n"  # the cell that papermill adds begins so
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_LONGEST_LINE = 10_000  # jupytext takes minutes for a line of a hundred thousand letters
_SCALARS: dict[str, Any] = {"int": int, "float": FiniteFloat, "str": str, "bool": bool}
_LISTS = {f"list[{name}]": list[kind] for name, kind in _SCALARS.items()}  # type: ignore[valid-type]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a notebook.

    `kind` is its annotation: ``int``, ``float``, ``str``, ``bool``, a ``list[…]`` of one of them,
    or ``Literal[…]`` of its `choices`; `meaning` is the comment behind it. Numbers must be 0 or
    more unless the default is negative: they are counts, seeds and shares.
    """

    name: str
    kind: str
    default: Any
    meaning: str
    choices: tuple[Any, ...] = ()

    def convert(self, value: object) -> Any:
        """Return a value in the declared type; it may be a text, as typed on a command line.

        The text of a list is JSON, or its elements with commas between them.
        """
        try:
            converted = self._convert(value)
            if _least(converted) < 0 <= _least(self.default):
                raise ValueError
            return converted
        except (ValueError, LookupError) as fault:
            raise self._wrong_value(value) from fault

    def check(self, value: object) -> None:
        """Refuse a value that is not of the declared type, also a text that `convert` takes."""
        if isinstance(value, str) and self.kind != "str" and value not in self.choices:
            raise self._wrong_value(value)
        self.convert(value)

    def _wrong_value(self, value: object) -> ChaosError:
        expected = f"{self.kind}, such as {self.default!r}"
        if self.kind.removeprefix("list[").rstrip("]") in ("int", "float"):
            expected += "; 0 or more" * (_least(self.default) >= 0)
        if self.choices:
            expected = "one of " + ", ".join(map(str, self.choices))
        return ChaosError(
            f"Parameter {self.name!r} has the wrong value.", found=repr(value), expected=expected
        )

    def _convert(self, value: Any) -> Any:
        if self.choices:
            return {str(choice): choice for choice in self.choices}[str(value)]
        adapter = TypeAdapter((_SCALARS | _LISTS)[self.kind])
        if not isinstance(value, str):
            return adapter.validate_python(value, strict=True)
        if not self.kind.startswith("list["):
            return adapter.validate_python(value)
        if value.lstrip().startswith("["):
            return adapter.validate_json(value)
        return adapter.validate_python([part.strip() for part in value.split(",") if part])


def _least(value: object) -> float:
    """Return the least number in a value or list; 0 if it has no number."""
    elements = value if isinstance(value, list) else [value]
    numbers = (element for element in elements if isinstance(element, int | float))
    return min(numbers, default=0)


def find_notebook(name: str) -> Path:
    """Return a notebook's source, by its name in ``notebooks/`` or the path of a ``.py`` file."""
    folder = paths.notebooks()
    path = Path(name)
    if path.suffix == ".py" and path.is_file():
        return path.resolve()
    names = sorted(source.stem for source in folder.glob("*.py"))
    if name not in names:
        moved = paths.project() / "book" / "redirects.yml"
        pages = read_yaml(moved) if moved.is_file() else None
        page = pages.get(f"chapters/{name}", "") if isinstance(pages, dict) else ""
        chapter = str(page).removeprefix("chapters/")
        merged = f"{chapter}, which makes its figures and tables now"
        expected = merged if chapter in names else did_you_mean(name, names)
        raise ChaosError("No such notebook.", found=name, expected=expected)
    return folder / f"{name}.py"


def read_cells(source: Path) -> tuple[nbformat.NotebookNode, ...]:
    """Return the cells of a notebook, which is parsed again only if its text has changed."""
    return _cells(source.name, read_source(source))


@cache
def _cells(name: str, text: str) -> tuple[nbformat.NotebookNode, ...]:
    longest = max(map(len, text.splitlines()), default=0)
    if longest > _LONGEST_LINE:
        raise ChaosError(
            "The notebook cannot be read.",
            where=name,
            found=f"a line of {longest:,} characters",
            expected=f"at most {_LONGEST_LINE:,}",
        )
    try:
        return tuple(jupytext.reads(text, fmt="py").cells)
    # The notebook's header is YAML, and may say anything.
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError,
            RecursionError, nbformat.ValidationError) as fault:  # fmt: skip
        raise ChaosError(
            "The notebook cannot be read.",
            where=name,
            found=str(fault),
            expected="jupytext's percent format",
        ) from fault


def read_parameters(source: Path) -> list[Parameter]:
    """Return the parameters, in order, that a notebook's cell tagged ``parameters`` declares."""
    cells = [cell for cell in read_cells(source) if "parameters" in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise ChaosError(
            "A notebook needs one cell tagged `parameters`.", where=source.name, found=len(cells)
        )
    return _declared_parameters(cells[0].source, source.name)


def _declared_parameters(text: str, notebook: str) -> list[Parameter]:
    """Return the parameters that the text of a parameters cell declares."""
    try:
        statements = ast.parse(text).body
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments = (token for token in tokens if token.type == tokenize.COMMENT)
        meaning_at = {comment.start[0]: comment.string.lstrip("# ") for comment in comments}
        return [
            _parameter(statement, meaning_at.get(statement.end_lineno or 0, ""), notebook)
            for statement in statements
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        line = getattr(fault, "lineno", None)
        raise ChaosError(
            "The parameters cell is not valid Python.",
            where=f"{notebook}, line {line} of the cell" if line else notebook,
            found=(getattr(fault, "text", None) or str(fault) or "too deeply nested").strip(),
        ) from fault


def _parameter(statement: ast.stmt, meaning: str, notebook: str) -> Parameter:
    """Return the parameter that a statement declares, whose meaning is the comment behind it."""
    match statement:
        case ast.AnnAssign(ast.Name(name), annotation, ast.expr() as value) if meaning:
            kind = ast.unparse(annotation)
            is_literal = kind.startswith("Literal[")
            choices_code = f"({kind.removeprefix('Literal[')[:-1]},)" if is_literal else "()"
            with suppress(SyntaxError, TypeError, ValueError, ChaosError):
                default, choices = ast.literal_eval(value), ast.literal_eval(choices_code)
                parameter = Parameter(name, kind, default, meaning, choices)
                if parameter.convert(default) == default:  # not a text that only converts to it
                    return parameter
    raise ChaosError(
        "A line of the parameters cell cannot be read.",
        where=notebook,
        found=ast.unparse(statement),
        expected="name: type = default  # meaning, with a type of int, float, str, bool, "
        "list[…] or Literal[…], and a default of that type",
    )


def check_parameters(variables: Mapping[str, Any]) -> None:
    """Check the parameters of the notebook that calls this.

    ``chaos run`` has checked them before; plain papermill, Jupyter and an editor take whatever they
    are given.

    Parameters
    ----------
    variables : mapping
        The notebook's ``globals()``. In them, IPython keeps the cells that have run (``In``); a
        script has no cells, and is not checked.

    Raises
    ------
    ChaosError
        If a value is not of its parameter's type, or papermill has set a name that is no parameter.
    """
    cells = [text for text in variables.get("In", ()) if text.strip()]
    number = next((number for number, text in enumerate(cells) if _only_declares(text)), None)
    if number is None:
        return
    declared = {
        parameter.name: parameter
        for parameter in _declared_parameters(cells[number], "this notebook")
    }
    injected = [text for text in cells[number + 1 :] if text.startswith(_INJECTED)]
    _refuse_unknown([name for text in injected for name in _assigned_names(text)], declared)
    for parameter in declared.values():
        parameter.check(variables[parameter.name])


def _only_declares(text: str) -> bool:
    """Whether a cell annotates names and does nothing else, as a parameters cell does."""
    with suppress(SyntaxError, ValueError):
        statements = ast.parse(text).body
        return bool(statements) and all(isinstance(part, ast.AnnAssign) for part in statements)
    return False


def _assigned_names(text: str) -> list[str]:
    """Return the names that the statements of a cell assign, in order."""
    assignments = [part for part in ast.parse(text).body if isinstance(part, ast.Assign)]
    targets = [target for assignment in assignments for target in assignment.targets]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _refuse_unknown(
    names: Iterable[str], declared: Iterable[str], notebook: str = "This notebook", todo: str = ""
) -> None:
    """Refuse names that a notebook does not declare as parameters."""
    for name in names:
        if name not in declared:
            raise ChaosError(
                f"{notebook} has no parameter {name!r}.",
                expected=did_you_mean(name, declared),
                todo=todo,
            )


def resolve(source: Path, overrides: Mapping[str, object]) -> dict[str, Any]:
    """Return the value of every parameter: its override, which may be text, or its default."""
    declared = {parameter.name: parameter for parameter in read_parameters(source)}
    todo = f"`chaos params {source.stem}` lists its parameters"
    _refuse_unknown(overrides, declared, f"Notebook {source.stem!r}", todo)
    return {
        name: parameter.convert(overrides[name]) if name in overrides else parameter.default
        for name, parameter in declared.items()
    }


def without_folders(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with absolute paths shortened: a record says nothing of the machine."""

    def shortened(value: Any) -> Any:
        if isinstance(value, list):
            return [shortened(element) for element in value]
        is_path = isinstance(value, str) and Path(value).is_absolute()
        return f"…/{Path(value).name}" if is_path else value

    return {name: shortened(value) for name, value in values.items()}


def command(source: Path, values: Mapping[str, Any]) -> str:
    """Return the `chaos run` command, quoted for a shell, that gives a notebook these values.

    Values that are the default are left out.
    """
    words = ["chaos", "run", source.stem]
    for name, value in _changed_values(source, values).items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        words += ["-p", f"{name}={text}"]
    return shlex.join(words)


def papermill_command(source: Path, values: Mapping[str, Any]) -> str:
    """Return the command, quoted for a shell, by which papermill alone does what `command` does.

    It runs the notebook that the book's page offers: ``<name>.ipynb``.
    """
    words = ["papermill", f"{source.stem}.ipynb", f"{source.stem}-rerun.ipynb"]
    for name, value in _changed_values(source, values).items():
        match value:
            case str():
                words += ["-r", name, value]  # as it is: 1 stays a text
            case list():
                words += ["-y", json.dumps({name: value}, ensure_ascii=False)]
            case _:
                words += ["-p", name, str(value)]
    return shlex.join(words)


def _changed_values(source: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not the default."""
    return {
        parameter.name: values[parameter.name]
        for parameter in read_parameters(source)
        if values.get(parameter.name, parameter.default) != parameter.default
    }


def as_notebook(source: Path) -> str:
    """Return a notebook as JSON for Jupyter and papermill, not executed; the bytes never vary."""
    notebook = jupytext.read(source)
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL})
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:03d}"
    return str(nbformat.writes(notebook)) + "\n"


def parameters_digest(values: Mapping[str, Any]) -> str:
    """Return a digest, of eight hexadecimal digits, of parameter values in any order."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
