"""Bring the book up to date: choose the data, run what changed, say what failed and why."""

import os
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial

from chaos_utils.base import modules, paths
from chaos_utils.base.authorship import ADDRESS, read_citation
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import write_bytes
from chaos_utils.base.locks import exclusive_lock
from chaos_utils.base.processes import environment
from chaos_utils.base.table_usage import accesses_of
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import prediction_files, vote_files
from chaos_utils.publish import dependencies, processes, registry, site, staleness
from chaos_utils.publish.processes import JobResult, Progress, Say
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
    names = [*vote_files(), *prediction_files(other_forms=False)]
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
    cores: int = 0,
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
    `cores` is how many chapters may run at once: 0 for one a core. `force` runs everything
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

    def wanted(*, force: bool = False) -> list[str]:
        steps = staleness.steps(data, address, force=force)
        return [one for one in steps if pages or one != staleness.SITE]

    if dry_run:
        steps = wanted(force=force)
        _check_notebooks(_chapters_of(steps))
        return steps
    variables = {ADDRESS: url} if url else {}
    variables |= {paths.RECOMPUTE: "1"} if recompute else {}
    lock = paths.build() / "lock"
    with (
        exclusive_lock(lock, "another build is running: waiting for it to end", say),
        environment(**variables),
    ):
        if left_out := _left_out():
            say(f"no chapters, since _toc.yml lacks them: {', '.join(left_out)}")
        steps = wanted(force=force)
        if force:
            site.forget_pages()
        passes = 0
        while steps and passes < _MOST_PASSES:
            if passes:
                changes = (_with_change(step, address) for step in steps)
                say(f"changed while the book was built: {', '.join(changes)}")
            passes += 1
            faults = []
            with closing(_make(steps, data, cores or os.cpu_count() or 1, say)) as ended:
                for done, one in enumerate(ended, start=1):
                    for text in one.said:
                        say(f"{one.name}: {text}")
                    faults += [one.fault] if one.fault else []
                    progress(done, len(steps))
            tried, steps = steps, wanted()
            if faults and set(steps) <= set(tried):  # no change meanwhile explains them
                raise ChaosError("\n\n".join(faults))
    if steps:
        raise ChaosError(
            "The book's sources change faster than it is built.",
            found=", ".join(steps),
            todo="run `chaos build` again when they stay as they are",
        )
    return []


def _make(steps: Sequence[str], data: str, cores: int, say: Say) -> Generator[JobResult]:
    """Make the chapters side by side, the longest first, then the site; yield how each ended."""
    chapters = _chapters_of(steps)
    _check_notebooks(chapters)
    chapters.sort(key=staleness.seconds_of, reverse=True)
    failed, with_site = False, staleness.SITE in steps
    try:
        with ExitStack() as until_done:
            of_pages: Mapping[str, str] = {}
            if chapters and with_site:  # the libraries of pages are loaded while chapters run
                of_pages = until_done.enter_context(warm.processes(warm.PAGES))
            if chapters:
                say(f"running {counted(len(chapters), 'chapter')}")
                with warm.processes() as of_warm, environment(**of_warm):
                    chapter = partial(make_chapter, data=data)
                    for one in processes.run_parallel(chapter, chapters, workers=cores):
                        failed = failed or bool(one.fault)
                        yield one
            # A chapter whose sources have changed meanwhile is run again before.
            if with_site and not failed and not staleness.stale_chapters():
                say("pages: running")
                render = partial(site.render, cores=cores, of_warm=of_pages)
                yield processes.run_job(lambda _: render(say), "pages")
    finally:  # the lock says that no other build is running
        for scratch in (*paths.build().glob("chapters/.*"), *paths.build().glob(".site-*")):
            shutil.rmtree(scratch, ignore_errors=True)


def make_chapter(name: str, data: str) -> list[str]:
    """Run a notebook for the book, and return what its reader should know of it."""
    from chaos_utils.report import parameters, runner  # slow to import

    dependencies.forget()  # a source may have changed since this process has run another
    source = parameters.find_notebook(name)
    values = parameters.resolve(source, {"data": data})
    target = paths.chapter_run(name)
    runner.run_notebook(source, values, target, made_from=dependencies.digests(source, data))
    executed = (target / paths.NOTEBOOK_FILE).read_bytes()
    write_bytes(paths.chapters() / f"{name}.ipynb", executed)
    return [
        f"computed {one.name} anew: its record is damaged, changed or of another form"
        for one in accesses_of(target)
        if one.damaged
    ]


def _with_change(step: str, address: str) -> str:
    """Return a step with what has changed since it was made, such as ``site (_toc.yml)``."""
    chapters = _chapters_of([step])
    changed = (
        staleness.changed_since(*chapters) if chapters else staleness.site_changed_since(address)
    )
    return f"{step} ({staleness.shortened(changed)})" if changed else step


def _left_out() -> list[str]:
    """Return the notebooks that are no chapters, but for those that say to be run by themselves."""
    notebooks = {path.stem: path for path in paths.notebooks().glob("[!_]*.py")}
    return sorted(
        name
        for name in notebooks.keys() - {*dependencies.chapters()}
        if f"chaos run {name}" not in notebooks[name].read_text("utf-8", "replace")
    )


def _chapters_of(steps: Sequence[str]) -> list[str]:
    return [one.removeprefix("chapter ") for one in steps if one != staleness.SITE]


def _check_notebooks(chapters: Sequence[str]) -> None:
    """Find the faults of the notebooks that are to run, and of their modules, before they do."""
    from chaos_utils.report.parameters import read_parameters  # slow to import

    for chapter in chapters:
        notebook = paths.notebooks() / f"{chapter}.py"
        read_parameters(notebook)
        dependencies.modules_of(notebook)
    modules.save_cache()  # for the processes that run them
