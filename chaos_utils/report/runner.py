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

from chaos_utils.base import inputs, paths, project
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import fresh_folder, write_json, write_text
from chaos_utils.base.processes import environment, python_path
from chaos_utils.report import parameters, provenance, warm
from chaos_utils.report.captions import title_of
from chaos_utils.report.literal import in_markdown
from chaos_utils.report.manifests import Manifest, figures_of, read_manifest

PAGE_FILE = "page.html"
Progress = Callable[[int, int], None]
Say = Callable[[str], None]
# The folders of the code file that a warning names.
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

    `values` are the values of all parameters, as `parameters.resolve` returns them; relative paths
    in them start from the folder `reader`, by default the one in which this is called. `progress`
    is called with the number of the running cell and the number of cells; `say` with each line that
    a cell prints, as it is printed. `made_from` has the digests of all that the notebook depends
    on, by name, for the record.
    """
    started = datetime.now(UTC)
    reader_folder = str((reader or paths.from_reader("")).absolute())
    recorded_values = parameters.without_folders(values) if standalone else values
    context = provenance.Context(source.stem, recorded_values, reader_folder)
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
        _tidy(notebook, declared, recorded_values, _recorded_notice(manifests))
        write_text(executed, nbformat.writes(notebook) + "\n")
        (folder / paths.CONTEXT_FILE).unlink()
        files = inputs.merged(*(manifest.inputs for manifest in manifests))
        record = provenance.RunRecord(
            schema=provenance.VERSION,
            id=provenance.run_id(source, values, files, Path(reader_folder)),
            notebook=source.stem,
            title=title_of(source),
            notebook_sha256=inputs.digest(source),
            parameters=dict(recorded_values),
            defaults={parameter.name: parameter.default for parameter in declared},
            seed=recorded_values.get("seed"),
            inputs=list(files),
            recorded=sorted({name for manifest in manifests for name in manifest.recorded}),
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
    """Execute a notebook with papermill; turn a failure into a ChaosError."""
    import papermill
    from nbclient.exceptions import DeadKernelError
    from traitlets.config import Config

    # Parameters were checked; papermill's own check knows fewer types, and warns of the others.
    logging.getLogger("papermill").setLevel(logging.ERROR)
    # After an interrupt no one waits for the kernel any more, and asyncio would print its end.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    notebook = jupytext.read(source)
    kernel = parameters.KERNEL
    notebook.metadata["kernelspec"] = kernel

    running_code = ""

    def on_cell_start(cell: Any, cell_index: int) -> None:
        nonlocal running_code
        running_code = cell.source
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
                on_cell_start=on_cell_start,
                stdout_file=_LineStream(say) if say else None,
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
            where=_where(source, running_code),
            found="the process ended: out of memory, killed from outside, or a crash in a library",
            todo="free memory, or ask for less with its parameters; "
            f"the part that ran is kept in _build/failed/{failed_file.name}",
        ) from fault


@dataclass(frozen=True, slots=True)
class _LineStream:
    """A stream that papermill writes the output of cells to; it calls `say` with each line."""

    say: Say

    def write(self, text: str) -> None:
        for line in text.splitlines():
            self.say(line)

    def flush(self) -> None:
        """Do nothing: no line is kept back."""


@contextmanager
def _environment(folder: Path, *, has_threads: bool) -> Iterator[None]:
    """Set the environment of the kernel: the same on all machines, but for a training's threads.

    A notebook without a parameter `threads` computes with one thread: notebooks run side by side,
    the last digits stay the same, and in small products several threads mostly wait for each other.
    """
    variables = warm.ENVIRONMENT | {
        "CHAOS_RUN": str(folder),
        "PYTHONPATH": python_path(),
    }
    python_command = warm.python_command()
    if has_threads:
        del variables["OMP_NUM_THREADS"]
        python_command = warm.python_command({})
    with tempfile.TemporaryDirectory(prefix=".ipython-", dir=folder) as profile:
        variables["IPYTHONDIR"] = profile  # no start-up files of the user's own
        variables["JUPYTER_PATH"] = profile  # nor any other kernel of that name
        spec = {"argv": [*python_command, "ipykernel_launcher", "-f", "{connection_file}"]}
        kernel = parameters.KERNEL
        write_json(Path(profile) / "kernels" / kernel["name"] / "kernel.json", kernel | spec)
        with environment(**variables):
            yield


def _failure(source: Path, fault: Any, failed_file: Path) -> ChaosError:
    """Return the ChaosError for a cell that raised; `fault` is papermill's error."""
    kind, message = fault.ename, fault.evalue
    if kind == ChaosError.__name__:
        return ChaosError(f"{message}\n  {'notebook:':<10} {source.stem}")
    description = f"{kind}: {message}"
    todo = f"read the whole traceback in _build/failed/{failed_file.name}"
    if kind in ("MemoryError", "OutOfMemoryError"):
        todo = f"the machine is out of memory: ask for less with its parameters, or {todo}"
    return ChaosError(
        f"Notebook {source.stem!r} failed.",
        where=_where(source, fault.source, _line_in_cell(fault.traceback)),
        found=description,
        todo=todo,
    )


def _line_in_cell(traceback: list[str]) -> int:
    """Return the line of the cell, from 1, at which its fault began; 1 where it is unknown."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traceback))  # without colours
    line = re.search(r"Cell In\s?\[\d+\], line (\d+)", text)
    return int(line[1]) if line else 1


def _where(source: Path, code: str, line_in_cell: int = 1) -> str:
    """Name a code cell by its number, and one of its lines by its number in the source."""
    line = [*code.splitlines(), ""][line_in_cell - 1].strip()
    before, match, _ = source.read_text("utf-8").partition(code.strip())
    line_number = f"line {before.count(chr(10)) + line_in_cell} of " if match else ""
    cells = parameters.read_cells(source)
    codes = [cell.source for cell in cells if cell.cell_type == "code"]
    cell_number = f"code cell {codes.index(code) + 1}, " if code in codes else ""
    is_chapter = source.parent == paths.notebooks()
    file = f"notebooks/{source.name}" if is_chapter else source
    return f"{cell_number}{line_number}{file}: {line}"


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
    """Say in Markdown what was recorded, and from which files; empty if nothing was."""
    recorded = [manifest for manifest in manifests if manifest.recorded]
    if not recorded:
        return ""
    names = dict.fromkeys(name for manifest in recorded for name in manifest.recorded)
    groups = project.current().listed(names)
    files = {entry.name: entry.sha256 for manifest in recorded for entry in manifest.inputs}
    file_lines = "\n".join(f"> * `{name}` (SHA-256 `{sha256}`)" for name, sha256 in files.items())
    outdated = [f"{{numref}}`{manifest.id}`" for manifest in recorded if manifest.outdated]
    warning = (
        f"\n>\n> Another version of the code made what is shown in {', '.join(outdated)}."
        if outdated
        else ""
    )
    return (
        "> **Recorded numbers.** Votes or predictions behind this page were not available when it "
        f"was built. Its numbers on {groups} were computed from them earlier, and "
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
    """Return the parameters as a table in Markdown, folded: readers want findings first."""
    lines = ["<details><summary>Parameters</summary>", ""]
    lines += ["| parameter | value | meaning |", "| --- | --- | --- |"]
    for parameter in declared:
        value = values[parameter.name]
        default = "" if value == parameter.default else f" (default {_code(parameter.default)})"
        lines.append(f"| `{parameter.name}` | {_code(value)}{default} | {parameter.meaning} |")
    return "\n".join([*lines, "", "</details>"])


def _code(value: object) -> str:
    """Return a value as code for a Markdown table, whatever characters it holds."""
    return f"<code>{in_markdown(str(value))}</code>"
