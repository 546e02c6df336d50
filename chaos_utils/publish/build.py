"""Bring the book up to date: run what changed, say what failed and why."""

import os
import shutil
from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial

from chaos_utils.base import modules, paths, project
from chaos_utils.base.authorship import ADDRESS, read_citation
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import write_bytes
from chaos_utils.base.locks import exclusive_lock
from chaos_utils.base.processes import environment
from chaos_utils.base.table_usage import accesses_of
from chaos_utils.publish import dependencies, processes, registry, site, staleness
from chaos_utils.publish.processes import JobResult, Progress, Say
from chaos_utils.report import warm

_MAX_PASSES = 5  # a pass after the first is due to sources that changed during the one before


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

    A step is, for example, ``chapter annotations``. Steps whose sources change during the build
    are run again. `cores` is how many chapters may run at once: 0 for one per core. `force` runs
    every step; so does `recompute`, which also reads no recorded table that can be computed. `url`
    is the address that the site is made for, instead of the one in CITATION.cff. Without `pages`,
    only chapters are run. `say` is called with one line about each step, `progress` with the number
    of steps done and the number of all.
    """
    force = force or recompute
    read_citation()  # faults are found before anything runs
    project.refuse_unnamed()
    project.current().licences()
    registry.read_registry()
    registry.read_redirects()
    address = url or os.environ.get(ADDRESS, "")

    def outdated_steps(*, force: bool = False) -> list[str]:
        steps = staleness.steps(data, address, force=force)
        return [step for step in steps if pages or step != staleness.SITE]

    if dry_run:
        steps = outdated_steps(force=force)
        _check_notebooks(_chapters_of(steps))
        return steps
    variables = {ADDRESS: url} if url else {}
    variables |= {paths.RECOMPUTE: "1"} if recompute else {}
    lock = paths.build() / "lock"
    with (
        exclusive_lock(lock, "another build is running: waiting for it to end", say),
        environment(**variables),
        warm.processes(),
    ):
        if unlisted := _unlisted_notebooks():
            say(f"not in _toc.yml, and therefore not built: {', '.join(unlisted)}")
        steps = outdated_steps(force=force)
        if force:
            site.forget_pages()
        passes = 0
        while steps and passes < _MAX_PASSES:
            if passes:
                changes = (_with_change(step, address) for step in steps)
                say(f"changed while the book was built: {', '.join(changes)}")
            passes += 1
            faults = []
            with closing(_make(steps, data, cores or os.cpu_count() or 1, say)) as results:
                for n_done, result in enumerate(results, start=1):
                    for message in result.messages:
                        say(f"{result.name}: {message}")
                    faults += [result.fault] if result.fault else []
                    progress(n_done, len(steps))
            last_steps, steps = steps, outdated_steps()
            # Faults count unless further steps are due: their sources may have changed meanwhile.
            if faults and set(steps) <= set(last_steps):
                raise ChaosError("\n\n".join(faults))
    if steps:
        raise ChaosError(
            "The book's sources keep changing during the build.",
            found=", ".join(steps),
            todo="run `chaos build` again when they no longer change",
        )
    return []


def _make(steps: Sequence[str], data: str, cores: int, say: Say) -> Generator[JobResult]:
    """Run the chapters in parallel, the longest first, then make the site; yield each result."""
    chapters, failed = _chapters_of(steps), False
    try:
        if chapters:
            _check_notebooks(chapters)
            chapters.sort(key=staleness.seconds_of, reverse=True)
            say(f"running {counted(len(chapters), 'chapter')}")
            make = partial(make_chapter, data=data)
            for result in processes.run_parallel(make, chapters, workers=cores):
                failed = failed or bool(result.fault)
                yield result
        # A chapter whose sources have changed meanwhile is run again before the site is made.
        if staleness.SITE in steps and not failed and not staleness.stale_chapters():
            say("pages: running")
            render = partial(site.render, cores=cores)
            yield processes.run_job(lambda _: render(say), "pages")
    finally:  # the lock says that no other build is running
        for scratch in (*paths.build().glob("chapters/.*"), *paths.build().glob(".site-*")):
            shutil.rmtree(scratch, ignore_errors=True)


def make_chapter(name: str, data: str) -> list[str]:
    """Run a chapter's notebook, and return a message for each damaged record."""
    from chaos_utils.report import parameters, runner  # slow to import

    dependencies.forget()  # a source may have changed since this process has run another
    source = parameters.find_notebook(name)
    declared = {parameter.name for parameter in parameters.read_parameters(source)}
    chosen = {"data": data} if "data" in declared else {}
    values = parameters.resolve(source, chosen)
    target = paths.chapter_run(name)
    runner.run_notebook(
        source, values, target, made_from=dependencies.digests(source, chosen.get("data", ""))
    )
    executed = (target / paths.NOTEBOOK_FILE).read_bytes()
    write_bytes(paths.chapters() / f"{name}.ipynb", executed)
    return [
        f"computed {access.name} anew: its record is damaged, changed or of another form"
        for access in accesses_of(target)
        if access.damaged
    ]


def _with_change(step: str, address: str) -> str:
    """Return a step with the files that have changed since, such as ``site (_toc.yml)``."""
    chapters = _chapters_of([step])
    changed = (
        staleness.changed_since(*chapters) if chapters else staleness.site_changed_since(address)
    )
    return f"{step} ({staleness.shortened(changed)})" if changed else step


def _unlisted_notebooks() -> list[str]:
    """Return the notebooks that _toc.yml lacks, except those that name their ``chaos run``."""
    notebooks = {path.stem: path for path in paths.notebooks().glob("[!_]*.py")}
    return sorted(
        name
        for name in notebooks.keys() - {*dependencies.chapters()}
        if f"chaos run {name}" not in notebooks[name].read_text("utf-8", "replace")
    )


def _chapters_of(steps: Sequence[str]) -> list[str]:
    return [step.removeprefix("chapter ") for step in steps if step != staleness.SITE]


def _check_notebooks(chapters: Sequence[str]) -> None:
    """Raise the faults of the notebooks that are to run, and of their modules, before they run."""
    from chaos_utils.report.parameters import read_parameters  # slow to import

    for chapter in chapters:
        notebook = paths.notebooks() / f"{chapter}.py"
        read_parameters(notebook)
        dependencies.modules_of(notebook)
    modules.save_cache()  # for the processes that run them
