"""Bring the book up to date: choose the data, run what changed, say what failed and why."""

import os
import shutil
from collections.abc import Sequence
from functools import partial

from chaos_utils.base import modules, paths
from chaos_utils.base.asked import asked_by
from chaos_utils.base.authorship import ADDRESS, read_citation
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import write_bytes
from chaos_utils.base.locks import alone
from chaos_utils.base.processes import environment
from chaos_utils.datasets import sources
from chaos_utils.datasets.registry import prediction_files, vote_files
from chaos_utils.publish import dependencies, processes, registry, site, staleness
from chaos_utils.publish.processes import Ended, Progress, Say
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
    `cores` is how many chapters may run at once: by default one a core. `force` runs everything
    again; so does `recompute`, and no recorded table takes the place of what can be computed. `url`
    is the address that the site is made for, instead of that in CITATION.cff. Without `pages`, only
    chapters are run. `say` is called with one line about each step, `progress` with the number of
    steps done, and of all.
    """
    force = force or recompute
    read_citation()  # faults are found before anything runs
    registry.read_registry()
    registry.read_redirects()
    address = url or os.environ.get(ADDRESS, "")

    def wanted() -> list[str]:
        return [one for one in staleness.steps(data, address) if pages or one != "site"]

    if dry_run:
        steps = _all_steps() if force else wanted()
        _check_notebooks(steps)
        return steps
    variables = {ADDRESS: url} if url else {}
    variables |= {paths.RECOMPUTE: "1"} if recompute else {}
    lock = paths.build() / "lock"
    with (
        alone(lock, "another build is running: waiting for it to end", say),
        environment(**variables),
    ):
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
            faults = _make(steps, data, cores or os.cpu_count() or 1, say, progress)
            tried, steps = steps, wanted()
            if faults and set(steps) <= set(tried):  # no change meanwhile explains them
                raise ChaosError("\n\n".join(faults))
    return []


def _make(steps: Sequence[str], data: str, cores: int, say: Say, progress: Progress) -> list[str]:
    """Make the chapters side by side, the longest first, then the site; return why some failed."""
    chapters = [one.removeprefix("chapter ") for one in steps if one != "site"]
    chapters.sort(key=staleness.seconds_of, reverse=True)
    faults = []

    def make_pages(name: str) -> tuple[str, ...]:
        site.render(paths.build() / "html", say, cores=cores)
        return ()

    def hear(one: Ended, done: int) -> None:
        for text in one.said:
            say(f"{one.name}: {text}")
        if one.fault:
            faults.append(one.fault)
        progress(done, len(steps))

    _remove_scraps()
    if chapters:
        say(f"running {counted(len(chapters), 'chapter')}")
        try:
            with warm.processes() as of_warm, environment(**of_warm):
                chapter = partial(make_chapter, data=data)
                ended = processes.side_by_side(chapter, chapters, workers=cores)
                for done, one in enumerate(ended, start=1):
                    hear(one, done)
        finally:
            _remove_scraps()
    # A chapter whose sources have changed meanwhile is run again before.
    if "site" in steps and not faults and not staleness.behind():
        say("pages: running")
        hear(processes.attempt(make_pages, "pages"), len(steps))
    return faults


def make_chapter(name: str, data: str) -> list[str]:
    """Run a notebook for the book, and return what its reader should know of it."""
    from chaos_utils.report import parameters, runner  # slow to import

    dependencies.forget()  # a source may have changed since this process has run another
    source = parameters.find_notebook(name)
    values = parameters.resolve(source, {"data": data})
    target = paths.build() / "chapters" / name
    runner.run_notebook(source, values, target, made_from=dependencies.digests(source, data))
    executed = (target / paths.NOTEBOOK_FILE).read_bytes()
    write_bytes(paths.chapters() / f"{name}.ipynb", executed)
    return [
        f"computed {one.name} anew: its record is damaged, changed or of another form"
        for one in asked_by(target)
        if one.damaged
    ]


def _check_notebooks(steps: Sequence[str]) -> None:
    """Find the faults of the notebooks that are to run, and of their modules, before they do."""
    from chaos_utils.report.parameters import read_parameters  # slow to import

    for chapter in (one.removeprefix("chapter ") for one in steps if one != "site"):
        notebook = paths.notebooks() / f"{chapter}.py"
        read_parameters(notebook)
        dependencies.modules_of(notebook)
    modules.remember()  # for the processes that run them


def _all_steps() -> list[str]:
    return [*(f"chapter {chapter}" for chapter in dependencies.chapters()), "site"]


def _remove_scraps() -> None:
    """Remove what builds have left that were killed; the lock says that no other is running."""
    for scratch in (*paths.build().glob("chapters/.*"), *paths.build().glob(".site-*")):
        shutil.rmtree(scratch, ignore_errors=True)
