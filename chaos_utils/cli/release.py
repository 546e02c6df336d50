"""`chaos release`: the archive of the book for a repository, made and checked."""

from pathlib import Path
from typing import Annotated

import typer

from chaos_utils.cli.arguments import writable
from chaos_utils.cli.console import AsJson, out, print_json
from chaos_utils.cli.extras import need_book, need_extra


def release(
    to: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            parser=writable,
            help="Folder for the archive; by default _build/release.",
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(metavar="RELEASE", help="Only check this archive or unpacked folder."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make the archive of the built book for a repository such as Zenodo, or check one."""
    if check is None:
        need_book()
    else:
        need_extra("book")
    from chaos_utils.base import paths
    from chaos_utils.base.errors import ChaosError
    from chaos_utils.publish import release as releasing

    if check is not None and to is not None:
        raise ChaosError("--out and --check exclude each other.", todo="choose one")
    archive = check or releasing.make(to or paths.build() / "release")
    files = releasing.check(archive)
    if as_json:
        print_json({"release": str(archive), "files": files})
    else:
        out.print(f"{archive}: {files} files, all as they should be", markup=False)
