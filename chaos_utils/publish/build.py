"""Bring the book up to date: choose the data, run what changed, say what failed and why."""

import os
import shutil
from pathlib import Path

from chaos_utils.base import modules, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.registry import prediction_files, vote_files
from chaos_utils.publish import citations, dependencies, registry, snakemake, staleness
from chaos_utils.publish.snakemake import Profile, Progress, Say
from chaos_utils.report import warm

_MOST_PASSES = 5  # that the book is built while its sources change


def choose_data(
    *, sample: bool, strict: bool, dry_run: bool = False, say: Say, progress: bool
) -> str:
    """Find or fetch the data, and return the chapters' ``data`` parameter: ``auto`` or ``sample``.

    Where data is neither here nor to be fetched, the chapters show recorded tables; with `strict`,
    that is an error instead. A dry run fetches nothing. `say` is called with what is fetched, and
    with what recorded tables stand in for.
    """
    if sample:
        return "sample"
    for name in (*vote_files(), *prediction_files()):
        if (path := sources.find(name)) is not None:
            sources.check(sources.get(name), path)
    if dry_run:
        return "auto"
    names = [*vote_files(), *prediction_files(optional=False)]
    try:
        sources.fetch(names, say=lambda text: say(f"fetching {text}"), progress=progress)
    except ChaosError as fault:
        if strict:
            raise
        missing = [name for name in names if sources.find(name) is None]
        say(f"{fault}\n")
        say(
            f"{len(missing)} of {len(names)} published files are not available: pages that need "
            "them show the numbers recorded in results/tables/."
        )
    return "auto"


def build(
    data: str,
    *,
    profile: Profile,
    cores: int | None = None,
    dry_run: bool = False,
    force: bool = False,
    recompute: bool = False,
    url: str = "",
    pages: bool = True,
    say: Say,
    progress: Progress,
) -> list[str]:
    """Bring the book up to date; a dry run only returns the steps that would run.

    A step is, for example, ``chapter annotations``. What changes while it is built is built again.
    `cores` is how many chapters may run at once: by default one a core, or as the profile says.
    `force` runs everything again; so does `recompute`, and no recorded table takes the place of
    what can be computed. `url` is the address that the site is made for, instead of that in
    CITATION.cff. Without `pages`, only chapters are run. `say` is called with one line about each
    step, `progress` with the number of steps done, and of all.
    """
    force = force or recompute
    citations.read_book(paths.project() / "CITATION.cff")  # faults are found before anything runs
    registry.read_registry()
    registry.read_redirects()
    address = url or os.environ.get(citations.ADDRESS, "")

    def wanted() -> list[str]:
        return [one for one in staleness.steps(data, address) if pages or one != "site"]

    if dry_run:
        steps = _all_steps() if force else wanted()
        _check_notebooks(steps)
        return steps
    logs = paths.build() / "logs"
    environment = {citations.ADDRESS: url} if url else {}
    environment |= {paths.RECOMPUTE: "1"} if recompute else {}

    def hear(line: str) -> None:
        if line.startswith("[chaos] "):
            say(line.removeprefix("[chaos] "))

    with snakemake.only_one(paths.build() / "lock", "build", say) as lock:
        logs.mkdir(exist_ok=True)
        steps = _all_steps() if force else wanted()
        passes = 0
        while steps:
            if passes == _MOST_PASSES:
                raise ChaosError(
                    "The book's sources change faster than it is built.",
                    found=", ".join(steps),
                    todo="run `chaos build` again when they stay as they are",
                )
            if passes:
                say(f"changed while the book was built: {', '.join(steps)}")
            passes += 1
            _check_notebooks(steps)
            _remove_scraps(logs)
            targets = [] if pages else map(_made_by, steps)
            runs_chapters = not profile.remote and steps != ["site"]
            with warm.processes(lock, wanted=runs_chapters) as of_warm:
                code, output = snakemake.drive(
                    [*targets, "--config", f"data={data}", "--forcerun", *map(_made_by, steps)],
                    profile,
                    cores=cores,
                    lock=lock,
                    heard=hear,
                    progress=progress,
                    environment=environment | of_warm,
                )
            (logs / "build.log").write_text("\n".join(output), "utf-8")
            tried, steps = steps, wanted()
            # Pages are refused, too, when a chapter's sources have changed since it was run.
            refused = [path.stem for path in logs.glob("*.failed")] == ["pages"] and len(steps) > 1
            if code != 0 and set(steps) <= set(tried) and not refused:
                raise _failed(logs, output)
    return []


def _check_notebooks(steps: list[str]) -> None:
    """Find the faults of the notebooks that are to run, and of their modules, before they do."""
    from chaos_utils.report.parameters import read_parameters  # slow to import

    for chapter in (one.removeprefix("chapter ") for one in steps if one != "site"):
        notebook = paths.notebooks() / f"{chapter}.py"
        read_parameters(notebook)
        dependencies.modules_of(notebook)
    modules.remember()  # for the notebooks' own processes


def _all_steps() -> list[str]:
    return [*(f"chapter {chapter}" for chapter in dependencies.chapters()), "site"]


def _made_by(step: str) -> str:
    """Return the file by which the Snakefile knows a step."""
    chapter = step.removeprefix("chapter ")
    return f"_build/{staleness.SITE_FILE}" if step == "site" else f"book/chapters/{chapter}.ipynb"


def _remove_scraps(logs: Path) -> None:
    """Remove what killed or failed builds have left; the lock says that none is running."""
    for old in logs.glob("*.failed"):
        old.unlink()
    for scratch in (*paths.build().glob("chapters/.*"), *paths.build().glob(".site-*")):
        shutil.rmtree(scratch)


def _failed(logs: Path, output: list[str]) -> ChaosError:
    reasons = [path.read_text("utf-8").rstrip() for path in sorted(logs.glob("*.failed"))]
    if reasons:
        return ChaosError("\n\n".join(reasons))
    return ChaosError(
        "The build failed.",
        found="\n".join(output[-12:]),
        todo="read _build/logs/build.log",
    )
