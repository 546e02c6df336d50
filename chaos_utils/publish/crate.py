"""The site described as a Process Run Crate: its runs with their inputs, software and results.

``ro-crate-metadata.json`` has one ``CreateAction`` for each chapter's run: the notebook is its
instrument, data and parameters are its objects, the figures' files its results. The profile
recommends the time at which a run ended; it stays in the run's record, so that the same inputs
give the same crate.
"""

import json
from pathlib import Path
from typing import Any

from rocrate.model import ContextEntity
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate

from chaos_utils.base import inputs, paths, project
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_json
from chaos_utils.base.inputs import Input
from chaos_utils.publish import contents, dependencies, licences
from chaos_utils.publish.metadata import media_type
from chaos_utils.report import parameters
from chaos_utils.report.manifests import SYNTHETIC_NOTE
from chaos_utils.report.provenance import RunRecord, read_run_record

FILE = "ro-crate-metadata.json"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_VERSION = "1.1"  # of RO-Crate, which this version of the profile extends
_TERMS = "https://w3id.org/ro/terms/workflow-run/context"  # for sha256


def run_records() -> list[RunRecord]:
    """Return the records of the chapters' runs, in the book's order."""
    records: list[RunRecord] = []
    for chapter in dependencies.chapters():
        run = paths.chapter_run(chapter)
        record = read_run_record(run)
        if record is None:
            raise ChaosError(
                f"The chapter {chapter} was not run, or its record is damaged.",
                where=run / paths.RECORD_FILE,
                todo="run `chaos build`",
            )
        records.append(record)
    return records


def write(folder: Path, site: str = "") -> None:
    """Write the description of a site into a folder, the crate's root.

    `site` is the site's path below that folder: empty, or ending in a slash.
    """
    write_json(folder / FILE, describe(folder, site))


def describe(folder: Path, site: str = "") -> dict[str, Any]:
    """Return the description that `write` writes, as JSON-LD."""
    book, runs = read_citation(), run_records()
    synthetic = any(entry.synthetic for record in runs for entry in record.inputs)
    crate = ROCrate(version=_VERSION)
    crate.metadata.extra_contexts.append(_TERMS)
    root = crate.root_dataset
    root["name"] = f"{SYNTHETIC_NOTE}: {book.title}" if synthetic else book.title
    root["description"] = book.abstract or book.title
    root["version"] = book.version
    root["datePublished"] = book.date
    if book.doi:
        root["identifier"] = book.resolver
    root["license"] = [_licence(crate, part) for part in project.current().licences()]
    root["author"] = [
        _add(crate, f"#author-{number}", "Organization", name=name)
        for number, name in enumerate(book.authors, start=1)
    ]
    profile = {"name": "Process Run Crate", "version": PROFILE.rsplit("/")[-1]}
    root["conformsTo"] = _add(crate, PROFILE, "CreativeWork", **profile)
    _file(crate, folder, f"{site}index.html")
    pages = folder / site
    for name in (*licences.files_with_item_texts(pages), *licences.files_with_votes(pages)):
        _file(crate, folder, site + name, license=_licence(crate, "items"))
    root["mentions"] = [_run(crate, folder, site, record, root["author"]) for record in runs]
    description: dict[str, Any] = crate.metadata.generate()
    return description


def _run(crate: ROCrate, folder: Path, site: str, record: RunRecord, agent: list[Entity]) -> Entity:
    """Add the action of a chapter's run, with its notebook, inputs, parameters and results."""
    name, title = record.notebook, contents.chapter_title(record.notebook)
    software = [_software(crate, *package) for package in record.software.items()]
    notebook = _file(
        crate, folder, f"{site}notebooks/{name}.py",
        **{"@type": ["File", "SoftwareSourceCode"]}, name=title,
        version=record.code.version, programmingLanguage="Python",
        license=_licence(crate, "code"), softwareRequirements=software,
    )  # fmt: skip
    values = [
        _add(crate, f"#{name}-{parameter}", "PropertyValue", name=parameter, value=_as_json(value))
        for parameter, value in record.parameters.items()
    ]
    figure_files = [site + file for file in record.outputs if file.startswith("figures/")]
    results = [_file(crate, folder, file) for file in figure_files]
    executed_file = f"{site}_sources/chapters/{name}.ipynb"
    source = paths.notebooks() / f"{name}.py"
    return crate.add_action(
        notebook,
        f"#run-{name}",
        object=[*(_input(crate, folder, entry) for entry in record.inputs), *values],
        result=[*results, _file(crate, folder, executed_file, alternateName=paths.NOTEBOOK_FILE)],
        properties={
            "@type": "CreateAction",
            "name": f"Run of the chapter “{title}”",
            "description": parameters.command(source, record.parameters),
            "actionStatus": "http://schema.org/CompletedActionStatus",
            "agent": agent,
        },
    )


def _as_json(value: object) -> str | float:
    return value if isinstance(value, str | int | float) else json.dumps(value)


def _input(crate: ROCrate, folder: Path, entry: Input) -> Entity:
    """Return the entry of an input: a file of the crate, one published elsewhere, or a name."""
    name, sha256 = entry.name, entry.sha256
    if (folder / name).is_file():
        entity = _file(crate, folder, name)
    elif source := project.current().source_of(entry):
        properties = {
            "name": source.name,
            "description": f"{source.title}, {source.homepage}",
            "encodingFormat": media_type(Path(name).suffix),
            "license": source.licence,
            "sha256": sha256,
        }
        return crate.get(source.url) or crate.add_file(source.url, properties=properties)
    else:
        properties = {"sha256": sha256}
        if entry.synthetic:
            properties["description"] = f"{SYNTHETIC_NOTE}."
        entity = _add(crate, f"#input-{name}", "CreativeWork", name=name, **properties)
    if entity["sha256"] != sha256:
        raise ChaosError(
            "The chapters were made from different versions of this file.",
            where=name,
            todo="run `chaos build`",
        )
    return entity


def _file(crate: ROCrate, folder: Path, name: str, /, **more_properties: Any) -> Entity:
    """Return the crate's entry of a file below its root, adding it where it is new."""
    if entry := crate.get(name):
        return entry
    path = folder / name
    if not path.is_file():
        raise ChaosError(
            "A file that belongs to the site is missing.",
            where=name,
            todo="run `chaos build` again",
        )
    properties = {
        "name": path.name,
        "encodingFormat": media_type(Path(name).suffix),
        "contentSize": str(path.stat().st_size),
        "sha256": inputs.digest(path),
    }
    return crate.add_file(path, name, properties=properties | more_properties)


def _software(crate: ROCrate, package: str, version: str) -> Entity:
    """Return the crate's entry of a package, by the address of its version."""
    if package == "chaos-utils":
        id = "#chaos-utils"  # in the repository, not on PyPI
    elif package == "python":
        id = f"https://www.python.org/downloads/release/python-{version.replace('.', '')}/"
    else:
        id = f"https://pypi.org/project/{package}/{version.partition('+')[0]}/"
    return _add(crate, id, "SoftwareApplication", name=package, softwareVersion=version)


def _licence(crate: ROCrate, part: str) -> Entity:
    """Return the crate's entry of the licence of a part of the site."""
    licence = project.current().licences()[part]
    details = {"name": licence.name, "description": licence.covers}
    return _add(crate, licence.url, "CreativeWork", **details)


def _add(crate: ROCrate, id: str, kind: str, /, **properties: Any) -> Entity:
    """Return the crate's entry of an id, adding it where it is new."""
    return crate.get(id) or crate.add(ContextEntity(crate, id, {"@type": kind, **properties}))
