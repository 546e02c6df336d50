"""`chaos build` and what goes with it: serving, recording, releasing and printing the book."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from typer import Option

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.extras import require_extra
from chaos_utils.cli.arguments import DryRun, Sample, refuse_several, writable
from chaos_utils.cli.console import Replies, Reply, command, is_terminal, progress, say
from chaos_utils.cli.extras import require


@command(needs="book")
def build(
    sample: Sample = False,
    strict: Annotated[bool, Option("--strict", help="Fail if data is missing.")] = False,
    cores: Annotated[int, Option(min=0, help="Chapters at a time; 0 for one per core.")] = 0,
    dry_run: DryRun = False,
    force: Annotated[bool, Option("--force", help="Run everything again.")] = False,
    recompute: Annotated[
        bool,
        Option("--recompute", help="Run everything again, without reading recorded tables."),
    ] = False,
    url: Annotated[
        str,
        Option(
            help="Address of this build, for citations and links; by default the one in "
            "CITATION.cff."
        ),
    ] = "",
    without_pages: Annotated[bool, Option("--without-pages", hidden=True)] = False,
) -> Replies:
    """Bring the book up to date in _build/html."""
    from chaos_utils.base import paths, project
    from chaos_utils.base.authorship import validate_address
    from chaos_utils.publish import build as builder

    refuse_several(sample=sample, strict=strict)
    validate_address(url, "--url")
    with progress("building") as tell:
        data = project.current().prepare(
            sample=sample, strict=strict, dry_run=dry_run, say=say, progress=is_terminal()
        )
        planned = builder.build(
            data,
            cores=cores,
            dry_run=dry_run,
            force=force,
            recompute=recompute,
            url=url,
            pages=not without_pages,
            say=say,
            progress=lambda done, n_steps: tell("building", done, n_steps),
        )
    index = str(paths.build() / "html" / "index.html")
    lines = [f"would run {step}" for step in planned] if dry_run else [index]
    yield Reply({"data": data, "site": index, "dry_run": dry_run, "planned": planned}, lines)
    if not lines:
        say("Nothing to do: the book is up to date.")


@command(needs="book", formats=())
def serve(
    port: Annotated[int, Option(min=1, max=65535, help="Port on this machine.")] = 8000,
    sample: Sample = False,
) -> Replies:
    """Serve the book while you write: changes are rebuilt, and browsers reload."""
    from chaos_utils.publish import serving

    try:
        serving.serve(port, ["--sample"] if sample else [], say)
    except KeyboardInterrupt:
        say("No longer serving.")
    yield from ()


@command(needs="book")
def record() -> Replies:
    """Record the tables of the last build in results/tables/."""
    from chaos_utils.publish import records

    changes = records.renew()
    n_records = len(records.stored_records())
    count = f"{counted(n_records, 'recorded table')}, {len(changes)} changed"
    yield Reply({"changed": changes, "records": n_records}, [*changes, count])


@command(needs="book")
def verify() -> Replies:
    """Compare the recorded tables with those of the last build, cell by cell."""
    from chaos_utils.publish import records

    differences, unchecked, outdated = records.compare()
    stored = records.stored_records()
    n_agree = len(stored.keys() - {change.record for change in differences}) - len(unchecked)
    lines = [*map(str, differences), f"{n_agree} of {len(stored)} recorded tables are as computed"]
    if unchecked:
        lines.append(
            f"{len(unchecked)} were not computed: their votes or predictions are not "
            "available (`chaos data fetch`)"
        )
    if outdated:
        lines.append(
            f"{len(outdated)} of those that agree were made by other code: `make record` updates "
            "them"
        )
    answer = {"records": len(stored), "differences": [asdict(change) for change in differences]}
    yield Reply(answer | {"unchecked": unchecked, "outdated": outdated}, lines)
    if differences:
        raise ChaosError(
            "Recorded tables differ from what was computed.",
            found=counted(len(differences), "difference"),
            todo="if the new numbers are right, run `make record` and commit results/tables/",
        )


@command()
def release(
    to: Annotated[
        Path | None,
        Option(
            "--out", metavar="DIR", parser=writable,
            help="Folder for the archive; by default _build/release.",
        ),
    ] = None,
    check: Annotated[
        Path | None,
        Option(metavar="RELEASE", help="Only check this archive or unpacked folder."),
    ] = None,
    doi: Annotated[
        str | None,
        Option(help="Only write this DOI, which the repository has reserved, into CITATION.cff."),
    ] = None,
) -> Replies:  # fmt: skip
    """Make the archive of the built book for a repository such as Zenodo, or check one."""
    require_extra("book") if check else require("book")
    from chaos_utils.base import paths
    from chaos_utils.publish import release as releasing

    refuse_several(out=to, check=check, doi=doi is not None)
    if doi is not None:
        citation = releasing.fill_doi(doi)
        todo = f"{citation} names {doi}: commit it, then run `make book` and `chaos release` again"
        yield Reply({"citation": str(citation), "doi": doi}, [todo])
        return
    archive = check or releasing.make(to or paths.build() / "release")
    n_files = releasing.check(archive)
    line = f"{archive}: {n_files} files, all as they should be"
    yield Reply({"release": str(archive), "files": n_files}, [line])


@command(needs="book", formats=())
def pdf() -> Replies:
    """Print the last built book as one PDF (needs Chromium)."""
    from chaos_utils.publish import pdf as printing

    with progress("printing"):
        file = str(printing.make())
    yield Reply(file, [file])
