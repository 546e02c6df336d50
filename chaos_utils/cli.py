"""The `chaos` command. Thin: it reads arguments, calls the package, prints."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from typer.core import TyperGroup

from chaos_utils.errors import ChaosError

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


class _Commands(TyperGroup):
    """Commands whose faults end in one message: code 2, or 130 when interrupted."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ChaosError as fault:
            err.print(str(fault), style="red", markup=False)
            raise typer.Exit(2) from fault
        except OSError as fault:
            if fault.filename is None:
                raise
            err.print(str(_unusable_file(fault)), style="red", markup=False)
            raise typer.Exit(2) from fault
        except KeyboardInterrupt as stop:
            err.print("Interrupted. Nothing is left half-written; run the same command again.")
            raise typer.Exit(130) from stop


def _unusable_file(fault: OSError) -> ChaosError:
    return ChaosError(
        "A file or folder cannot be used.",
        where=fault.filename,
        found=fault.strerror,
        todo="check its permissions, and what stands there",
    )


app = typer.Typer(
    cls=_Commands,
    help="The living book of collective human opinions.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
data_app = typer.Typer(help="Find, fetch and verify data.", no_args_is_help=True)
app.add_typer(data_app, name="data")

AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        help="Files or folders of the registry; ChaosNLI and the released predictions by default."
    ),
]
Given = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="Set a parameter; repeatable."),
]
NotebookName = Annotated[str, typer.Argument(help="Name of a notebook, such as annotations.")]


def _print_json(answer: Any) -> None:
    print(json.dumps(answer, indent=1, ensure_ascii=False))


def _select(names: list[str] | None) -> list[str]:
    """Expand folders of the registry, and take what the book reads where nothing is named."""
    from chaos_utils.data import sources
    from chaos_utils.data.registry import REGISTRY

    selected: list[str] = []
    for name in names or ["chaosNLI_v1.0", "calibration-on-disagreement-data"]:
        inside = [known for known in REGISTRY if known.startswith(f"{name.rstrip('/')}/")]
        selected += inside or [sources.get(name).name]
    return selected


@data_app.command("status")
def data_status(as_json: AsJson = False) -> None:
    """Show each file of the registry: where it is, whether it is the published one, its size."""
    from chaos_utils.data import sources

    rows = sources.status()
    if as_json:
        _print_json(
            [
                {
                    "file": row.file.name,
                    "path": str(row.path) if row.path else None,
                    "verified": row.verified,
                    "items": row.items,
                    "published_items": row.file.items or None,
                    "licence": row.file.release.licence,
                }
                for row in rows
            ]
        )
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("file", "found in", "verified"):
        table.add_column(heading, overflow="fold")
    table.add_column("items", justify="right")
    for row in rows:
        words = {True: "yes", False: "NO", None: "unknown digest"}
        items = f"{row.items:,}" if row.items else ""
        if row.items and row.file.items not in (0, row.items):
            items += f" of {row.file.items:,}"
        table.add_row(
            row.file.name,
            str(row.path.parents[len(Path(row.file.name).parts) - 1]) if row.path else "missing",
            words[row.verified] if row.path else "",
            items,
        )
    out.print(table)


@data_app.command("fetch")
def data_fetch(names: Names = None, as_json: AsJson = False) -> None:
    """Download what is not at hand into the cache."""
    from chaos_utils.data import sources

    selected = _select(names)
    found = sources.fetch(
        selected, say=lambda text: err.print(text, markup=False), progress=err.is_terminal
    )
    if as_json:
        _print_json({name: str(path) for name, path in zip(selected, found, strict=True)})
        return
    for name, path in zip(selected, found, strict=True):
        out.print(f"{name}: {path}", markup=False)


@data_app.command("verify")
def data_verify(names: Names = None, as_json: AsJson = False) -> None:
    """Compare files with the published digests; fail when one differs or is missing."""
    from chaos_utils.data import sources

    rows = sources.status(_select(names))
    words = {True: "verified", None: "its published digest is not known", False: "DIFFERS"}
    answers = {row.file.name: words[row.verified] if row.path else "missing" for row in rows}
    if as_json:
        _print_json(answers)
    else:
        for name, answer in answers.items():
            out.print(f"{name}: {answer}", markup=False)
    wrong = {name: answer for name, answer in answers.items() if answer in ("missing", "DIFFERS")}
    if wrong:
        raise ChaosError(
            f"{len(wrong)} of {len(answers)} files are not as published.",
            found="\n".join(f"{name}: {answer}" for name, answer in wrong.items()),
            todo="remove a file that differs, then run `chaos data fetch`",
        )


@app.command()
def params(notebook: NotebookName, as_json: AsJson = False) -> None:
    """List a notebook's parameters."""
    from chaos_utils.report.parameters import find_notebook, read_parameters

    declared = read_parameters(find_notebook(notebook))
    if as_json:
        _print_json(
            [
                {
                    "name": parameter.name,
                    "type": parameter.kind,
                    "default": parameter.default,
                    "choices": list(parameter.choices),
                    "meaning": parameter.meaning,
                }
                for parameter in declared
            ]
        )
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("parameter", "type", "default", "meaning"):
        table.add_column(heading, overflow="fold")
    for parameter in declared:
        row = (parameter.name, parameter.kind, repr(parameter.default), parameter.meaning)
        table.add_row(*(cell.replace("[", r"\[") for cell in row))
    out.print(table)


def _assignments(given: list[str] | None) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ChaosError(
                "A parameter is given as NAME=VALUE.", found=text, expected="such as -p seed=1"
            )
        if name in pairs:
            raise ChaosError(f"Parameter {name!r} is given twice.", found=text)
        pairs[name] = value
    return pairs


@contextmanager
def _cell_progress(notebook: str) -> Iterator[Any]:
    """Show which cell is running, on a terminal only."""
    if not err.is_terminal:
        yield None
        return
    with err.status(f"{notebook}: starting") as status:
        yield lambda cell, of: status.update(f"{notebook}: cell {cell} of {of}")


@app.command()
def run(notebook: NotebookName, parameter: Given = None, as_json: AsJson = False) -> None:
    """Run a notebook with parameters of your own, into a folder below runs/.

    The book is not touched.
    """
    from chaos_utils import paths
    from chaos_utils.report import parameters

    source = parameters.find_notebook(notebook)
    values = parameters.resolve(source, _assignments(parameter))
    target = paths.runs() / f"{source.stem}-{parameters.parameters_digest(values)}"
    from chaos_utils.report import runner

    with _cell_progress(source.stem) as progress:
        runner.run_notebook(source, values, target, progress=progress, standalone=True)
    made = [manifest.stem for manifest in runner.figures_of(target)]
    if as_json:
        _print_json({"run": str(target), "parameters": values, "made": made})
        return
    out.print(f"{target}", markup=False)
    out.print(f"  {runner.PAGE_FILE}: the whole run on one page", markup=False)
    out.print(f"  figures/: {', '.join(made)}", markup=False)


@app.command("evaluate")
def evaluate_command(
    files: Annotated[list[Path], typer.Argument(help="Prediction files, in any known format.")],
    task: Annotated[str, typer.Option(help="snli, mnli, alphanli, or auto.")] = "auto",
    model: Annotated[str | None, typer.Option(help="Take this model of a file alone.")] = None,
    join: Annotated[
        str, typer.Option(metavar="NAME", help="The files are parts of one system, called NAME.")
    ] = "",
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Evaluate the items that have a prediction.")
    ] = False,
    bootstrap: Annotated[int, typer.Option(help="Resamples for 95% intervals; 0: none.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    data: Annotated[str, typer.Option(help="auto, released, sample, or a folder.")] = "auto",
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Answer in CSV.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Answer in Markdown.")] = False,
    to: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write table and figures there too.")
    ] = None,
) -> None:
    """Judge predictions by every measure, beside published systems, floor and ceiling."""
    from chaos_utils.evaluation import files as judging

    if bootstrap < 0 or (bootstrap and bootstrap < 20):
        raise ChaosError(
            "So few resamples give no interval.", found=f"--bootstrap {bootstrap}",
            expected="0 for no intervals, or at least 20",
        )  # fmt: skip
    if as_json + as_csv + as_markdown > 1:
        raise ChaosError("--json, --csv and --markdown exclude each other.", todo="choose one")
    found = judging.read_files(
        files, task=task, data=data, model=model, join_as=join, allow_missing=allow_missing
    )
    answer = judging.judge_files(found, data=data, n_resamples=bootstrap, seed=seed)
    notes = [f"{system.model}: {note}" for group in found.values() for system in group
             for note in system.notes]  # fmt: skip
    if to is not None:
        judging.write_answer(to, answer, found, data=data)
    if as_json:
        _print_json({"notes": notes, "results": json.loads(answer.to_json(orient="records"))})
    elif as_csv:
        print(answer.to_csv(index=False), end="")
    elif as_markdown:
        print(judging.as_markdown(answer, notes))
    else:
        _print_answer(answer, notes)


def _print_answer(answer: Any, notes: list[str]) -> None:
    from chaos_utils.evaluation.files import shown_rows

    for (task, system, n_items), rows in answer.groupby(["task", "system", "n_items"], sort=False):
        table = Table(
            title=f"{system} on {task}, {n_items:,} items", title_justify="left", box=None,
            pad_edge=False,
        )  # fmt: skip
        header, *body = shown_rows(rows)
        table.add_column(header[0], overflow="fold")
        for heading in header[1:]:
            table.add_column(heading, justify="right", no_wrap=True)
        for cells in body:
            table.add_row(*(cell.replace("[", r"\[") for cell in cells))
        # A pipe has no width of its own; a table there is not to be cut off.
        out.print(table, width=None if out.is_terminal else 120)
        out.print()
    for note in notes:
        err.print(f"note: {note}", markup=False)


@app.command()
def build(
    sample: Annotated[bool, typer.Option(help="Build from the synthetic sample.")] = False,
    strict: Annotated[bool, typer.Option(help="Fail rather than take the sample.")] = False,
    cores: Annotated[
        int, typer.Option(min=0, help="Chapters that may run at once; 0 for one a core.")
    ] = 0,
    dry_run: Annotated[bool, typer.Option(help="Only say what would run.")] = False,
    force: Annotated[bool, typer.Option(help="Run everything again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the book up to date in _build/html."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from chaos_utils import paths
    from chaos_utils.publish import build as builder

    if sample and strict:
        raise ChaosError("--sample and --strict exclude each other.", todo="choose one")
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=err,
        disable=not err.is_terminal, transient=True,
    ) as bar:  # fmt: skip
        steps = bar.add_task("building", total=None)

        def say(text: str) -> None:
            err.print(text, markup=False)

        data = builder.choose_data(
            sample=sample, strict=strict, dry_run=dry_run, say=say, progress=err.is_terminal
        )
        planned = builder.build(
            data,
            cores=cores or os.cpu_count() or 1,
            dry_run=dry_run,
            force=force,
            say=say,
            progress=lambda done, of: bar.update(steps, completed=done, total=of),
        )
    index = paths.build() / "html" / "index.html"
    if as_json:
        _print_json({"data": data, "site": str(index), "dry_run": dry_run, "planned": planned})
    elif dry_run:
        for step in planned:
            out.print(f"would run {step}", markup=False)
    else:
        out.print(f"{index}", markup=False)


@contextmanager
def _step(name: str) -> Iterator[None]:
    """Tell `chaos build` about a step, and leave it the reason when the step fails."""
    import time
    import traceback

    from chaos_utils import paths
    from chaos_utils.files import write_text

    def tell(text: str) -> None:
        print(f"[chaos] {name}: {text}", flush=True)

    begun = time.monotonic()
    tell("running")
    try:
        yield
    except Exception as fault:
        # A fault of our own making keeps its traceback: there is nothing the reader can act on.
        reason = str(fault) if isinstance(fault, ChaosError) else traceback.format_exc()
        write_text(paths.build() / "logs" / f"{name}.failed", reason)
        tell("failed")
        raise
    tell(f"done in {time.monotonic() - begun:.0f} s")


@app.command(hidden=True)
def chapter(notebook: NotebookName, data: Annotated[str, typer.Option()] = "auto") -> None:
    """Run a notebook for the book; a step of `chaos build`."""
    from chaos_utils import paths
    from chaos_utils.files import write_bytes
    from chaos_utils.report import parameters, runner

    with _step(notebook):
        source = parameters.find_notebook(notebook)
        values = parameters.resolve(source, {"data": data})
        target = paths.build() / "chapters" / notebook
        runner.run_notebook(source, values, target)
        executed = (target / runner.NOTEBOOK_FILE).read_bytes()
        write_bytes(paths.chapters() / f"{notebook}.ipynb", executed)


@app.command(hidden=True)
def site() -> None:
    """Render the executed chapters; a step of `chaos build`."""
    from chaos_utils import paths
    from chaos_utils.publish.site import render

    with _step("pages"):
        render(paths.build() / "html")


if __name__ == "__main__":
    app()
