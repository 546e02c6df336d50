"""Run a notebook: check its parameters, execute it, record the run, strip what varies."""

import logging
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from chaos_utils.base import inputs, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import fresh_folder, write_json, write_text
from chaos_utils.base.processes import environment, python_path
from chaos_utils.datasets.catalogue import shorts_of
from chaos_utils.report import parameters, provenance, warm
from chaos_utils.report.captions import title_of
from chaos_utils.report.literal import in_markdown
from chaos_utils.report.manifests import Manifest, figures_of, read_manifest

PAGE_FILE = "page.html"
Progress = Callable[[int, int], None]
Say = Callable[[str], None]
# Of the code that a warning names.
_FOLDERS = re.compile(r"/(?:[^\s:/]+/)+(?=[^\s:/]+\.py:\d)")


def run_notebook(
    source: Path,
    values: Mapping[str, Any],
    target: Path,
    *,
    progress: Progress | None = None,
    say: Say | None = None,
    standalone: bool = False,
    made_from: Mapping[str, str] | None = None,
    reader: Path | None = None,
) -> None:
    """Execute a notebook into a folder, which appears whole or not at all.

    The folder holds ``notebook.ipynb``, ``figures/``, ``record.json`` and, if `standalone`,
    ``page.html``, one file that shows the whole run. A run that was there before is replaced.

    `values` are those of all parameters, as `parameters.resolve` gives them, and relative paths
    in them count from `reader`, by default from where this is called. `progress` is called with
    the number of the running cell and of all cells, `say` with each line that a cell prints, as it
    is printed. `with_inputs` are digests of all that the
    notebook depends on, by name, for the record.
    """
    started = datetime.now(UTC)
    from_here = str((reader or paths.from_reader("")).absolute())
    shown = parameters.without_folders(values) if standalone else values
    context = provenance.Context(source.stem, shown, from_here)
    failed = paths.build() / "failed" / f"{target.name}.ipynb"
    failed.unlink(missing_ok=True)
    with fresh_folder(target) as folder:
        provenance.write_context(folder, context)
        executed = folder / paths.NOTEBOOK_FILE
        try:
            _execute(source, values, executed, folder, progress, say, failed_file=failed)
        except BaseException:
            if executed.is_file():
                write_text(failed, executed.read_text("utf-8"))
            raise
        notebook = nbformat.read(executed, as_version=4)
        manifests = [read_manifest(path) for path in figures_of(folder)]
        declared = parameters.read_parameters(source)
        _tidy(notebook, declared, shown, _recorded_notice(manifests))
        write_text(executed, nbformat.writes(notebook) + "\n")
        (folder / paths.CONTEXT_FILE).unlink()
        files = inputs.merged(*(manifest.inputs for manifest in manifests))
        record = provenance.RunRecord(
            schema=provenance.VERSION,
            id=provenance.run_id(source, values, files, Path(from_here)),
            notebook=source.stem,
            title=title_of(source),
            notebook_sha256=inputs.digest(source),
            parameters=dict(shown),
            defaults={parameter.name: parameter.default for parameter in declared},
            seed=shown.get("seed"),
            inputs=list(files),
            recorded=sorted({name for one in manifests for name in one.recorded}),
            made_from=dict(made_from or {}),
            code=provenance.Code(**provenance.code()),
            software=provenance.software(provenance.RECORDED),
            hardware=provenance.hardware(),
            started=started.isoformat(timespec="seconds"),
            seconds=round((datetime.now(UTC) - started).total_seconds(), 1),
            outputs={},
        )
        if standalone:
            from chaos_utils.report.standalone import page

            write_text(folder / PAGE_FILE, page(notebook, target.name, record, manifests, folder))
        record = record.model_copy(update={"outputs": inputs.digests(folder)})
        write_json(folder / paths.RECORD_FILE, record.model_dump(by_alias=True))


def _execute(
    source: Path,
    values: Mapping[str, Any],
    executed: Path,
    folder: Path,
    progress: Progress | None,
    say: Say | None,
    *,
    failed_file: Path,
) -> None:
    import papermill
    from nbclient.exceptions import DeadKernelError
    from traitlets.config import Config

    # Parameters were checked; papermill's own check knows fewer types, and warns of the others.
    logging.getLogger("papermill").setLevel(logging.ERROR)
    notebook = jupytext.read(source)
    kernel = parameters.KERNEL
    notebook.metadata["kernelspec"] = kernel

    running = ""

    def started(cell: Any, cell_index: int) -> None:
        nonlocal running
        running = cell.source
        if progress:
            progress(cell_index + 1, len(notebook.cells) + 1)

    try:
        with _environment(folder, has_threads="threads" in values):
            papermill.execute_notebook(
                notebook,
                executed,
                parameters=dict(values),
                kernel_name=kernel["name"],
                language=kernel["language"],
                cwd=folder,
                progress_bar=False,
                on_cell_start=started,
                stdout_file=_Lines(say) if say else None,
                coalesce_streams=True,
                # Sockets that only this user can open, instead of local ports.
                config=Config({"KernelManager": {"transport": "ipc"}}),
                # What the kernel logs of its own start and end is of no use to a reader.
                extra_arguments=["--IPKernelApp.log_level=50"],
            )
    except papermill.PapermillExecutionError as fault:
        raise _failure(source, fault, failed_file) from fault
    except DeadKernelError as fault:
        raise ChaosError(
            f"The kernel of notebook {source.stem!r} died.",
            where=_place(source, running),
            found="the process ended: out of memory, killed from outside, or a crash in a library",
            todo="free memory or ask for less with its parameters; "
            f"what had run is kept in _build/failed/{failed_file.name}",
        ) from fault


@dataclass(frozen=True, slots=True)
class _Lines:
    """A stream, as papermill takes one for what cells print, that passes lines on."""

    say: Say

    def write(self, text: str) -> None:
        for line in text.splitlines():
            self.say(line)

    def flush(self) -> None:
        """Keep nothing back."""


@contextmanager
def _environment(folder: Path, *, has_threads: bool) -> Iterator[None]:
    """Set what the kernel inherits; the same for everyone, but for the threads of a training.

    A notebook without a parameter `threads` computes with one thread: notebooks run side by side,
    the last digits stay the same, and in small products several threads mostly wait for each other.
    """
    ours = warm.ENVIRONMENT | {
        "CHAOS_RUN": str(folder),
        "PYTHONPATH": python_path(),
    }
    python = warm.python()
    if has_threads:
        del ours["OMP_NUM_THREADS"]
        python = warm.python({})
    with tempfile.TemporaryDirectory(prefix=".ipython-", dir=folder) as profile:
        ours["IPYTHONDIR"] = profile  # no start-up files of the user's own
        ours["JUPYTER_PATH"] = profile  # nor any other kernel of that name
        spec = {"argv": [*python, "ipykernel_launcher", "-f", "{connection_file}"]}
        kernel = parameters.KERNEL
        write_json(Path(profile) / "kernels" / kernel["name"] / "kernel.json", kernel | spec)
        with environment(**ours):
            yield


def _failure(source: Path, fault: Any, failed_file: Path) -> ChaosError:
    kind, message = fault.ename, fault.evalue
    if kind == ChaosError.__name__:
        return ChaosError(f"{message}\n  {'notebook:':<10} {source.stem}")
    description = f"{kind}: {message}"
    todo = f"read the whole traceback in _build/failed/{failed_file.name}"
    if kind in ("MemoryError", "OutOfMemoryError"):
        todo = f"the machine is out of memory: ask for less with its parameters, or {todo}"
    return ChaosError(
        f"Notebook {source.stem!r} failed.",
        where=_place(source, fault.source, _line_in_cell(fault.traceback)),
        found=description,
        todo=todo,
    )


def _line_in_cell(traceback: list[str]) -> int:
    """Return the line of the cell, from 1, at which its fault began; 1 where it is unknown."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traceback))
    found = re.search(r"Cell In\s?\[\d+\], line (\d+)", plain)
    return int(found[1]) if found else 1


def _place(source: Path, cell: str, failing: int = 1) -> str:
    """Name a cell by its number among the code cells, and a line of it as the source has it."""
    shown = [*cell.splitlines(), ""][failing - 1].strip()
    at = source.read_text("utf-8").partition(cell.strip())
    line = f"line {at[0].count(chr(10)) + failing} of " if at[1] else ""
    cells = parameters.read_cells(source)
    codes = [one.source for one in cells if one.cell_type == "code"]
    number = f"code cell {codes.index(cell) + 1}, " if cell in codes else ""
    book = source.parent == paths.notebooks()
    return f"{number}{line}{f'notebooks/{source.name}' if book else source}: {shown}"


def _tidy(
    notebook: nbformat.NotebookNode,
    declared: list[parameters.Parameter],
    values: Mapping[str, Any],
    notice: str,
) -> None:
    """Strip times, random ids and folders; under the title, show a notice and the parameters."""
    for volatile in ("papermill", "jupytext"):  # jupytext names kinds of metadata in any order
        notebook.metadata.pop(volatile, None)
    from papermill.translators import PythonTranslator

    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if "injected-parameters" in tags:
            cell.source = PythonTranslator.codify(values)  # without a machine's folders
        if "parameters" in tags or "injected-parameters" in tags:
            tags.append("remove-cell")  # the table shows them
        if cell.cell_type == "code" and not any(tag.startswith("remove-") for tag in tags):
            cell.metadata["tags"] = [*tags, "hide-input"]
        for volatile in ("papermill", "execution"):
            cell.metadata.pop(volatile, None)
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if not _is_empty(output)]
            for output in cell.outputs:
                if output.output_type == "stream":
                    output.text = _FOLDERS.sub("", output.text)
    if declared:
        table = nbformat.v4.new_markdown_cell(_parameter_table(declared, values))
        notebook.cells.insert(1, table)
    if notice:
        notebook.cells.insert(1, nbformat.v4.new_markdown_cell(notice))
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:03d}"


def _recorded_notice(manifests: list[Manifest]) -> str:
    """Say in Markdown which tables were recorded, from which files; nothing where none was."""
    recorded = [manifest for manifest in manifests if manifest.recorded]
    if not recorded:
        return ""
    names = dict.fromkeys(name for manifest in recorded for name in manifest.recorded)
    files = {entry.name: entry.sha256 for manifest in recorded for entry in manifest.inputs}
    file_lines = "\n".join(f"> * `{name}` (SHA-256 `{sha256}`)" for name, sha256 in files.items())
    older = [f"{{numref}}`{manifest.id}`" for manifest in recorded if manifest.outdated]
    warning = (
        f"\n>\n> Another version of the code made what is shown in {', '.join(older)}."
        if older
        else ""
    )
    return (
        "> **Recorded numbers.** Votes or predictions behind this page were not available when it "
        f"was built. Its numbers on {shorts_of(names)} were computed from them earlier, and "
        "recorded in `results/tables/`. `chaos data fetch` and `make book` compute them again."
        f"{warning}\n>\n"
        "> <details><summary>The files behind these figures and tables</summary>\n>\n"
        f"{file_lines}\n>\n> "
        "</details>"
    )


def _is_empty(output: nbformat.NotebookNode) -> bool:
    """Whether an output is Markdown without a word, which would show as an object's name."""
    text = output.get("data", {}).get("text/markdown")
    return text is not None and not text.strip()


def _parameter_table(declared: list[parameters.Parameter], values: Mapping[str, Any]) -> str:
    """Return the parameters as a table in Markdown, folded: findings come first."""
    lines = ["<details><summary>Parameters</summary>", ""]
    lines += ["| parameter | value | meaning |", "| --- | --- | --- |"]
    for parameter in declared:
        value = values[parameter.name]
        default = "" if value == parameter.default else f" (default {_code(parameter.default)})"
        lines.append(f"| `{parameter.name}` | {_code(value)}{default} | {parameter.meaning} |")
    return "\n".join([*lines, "", "</details>"])


def _code(value: object) -> str:
    """Set a value as code in a Markdown table, whatever characters it holds."""
    return f"<code>{in_markdown(str(value))}</code>"
