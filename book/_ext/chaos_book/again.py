"""Which pages are read again, and which are written again, where others were made before.

A page is read again when its source, or a file that it depends on, has other bytes, whatever their
time; it is written again when it was read, and all are when what pages show of each other differs.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from chaos_utils.base.files import read_mapping, write_json
from chaos_utils.base.inputs import digest

_FILE = "sources.json"  # beside what was read: what each page was read from, and `_SHARED`
_SHARED = "what pages show of others"
_GLOSSARY = "glossary"  # whose terms other pages explain
# What other pages refer to, in the domains of Sphinx and its extensions.
_REFERRED_TO = {
    "py": ("objects",), "std": ("objects", "labels", "anonlabels", "terms"), "math": ("objects",),
}  # fmt: skip


def _file(app: Sphinx) -> Path:
    return Path(app.doctreedir) / _FILE


def _sources(env: BuildEnvironment, names: Iterable[str]) -> dict[str, str]:
    """Return a digest of what each of these pages was read from, its source and dependencies."""
    found = {}
    for name in names:
        others = sorted(Path(env.srcdir, one) for one in env.dependencies[name])
        files = [path for path in (Path(env.doc2path(name)), *others) if path.is_file()]
        said = "".join(f"{path} {digest(path)}\n" for path in files)
        found[name] = hashlib.sha256(said.encode()).hexdigest()
    return found


def _outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Return the pages that must be read again; those that were merely touched need not be."""
    then, now = read_mapping(_file(app)), _sources(env, env.all_docs.keys() - removed)
    same = {name for name in now if then.get(name) == now[name]} - env.reread_always
    changed -= {name for name in same if Path(env.doctreedir, f"{name}.doctree").is_file()}
    return [name for name in now if name not in same]


def _note(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Let pages be read again until one build has made them without a fault."""
    then = read_mapping(_file(app))
    write_json(_file(app), {name: then[name] for name in then if name not in docnames})


def _keep(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.statuscode == 0:
        env = app.env
        write_json(_file(app), _sources(env, env.all_docs) | {_SHARED: _shared(env)})


def _show_again(app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Return all pages where one has changed in what others show of it."""
    return () if read_mapping(_file(app)).get(_SHARED) == _shared(env) else env.found_docs


def _shared(env: BuildEnvironment) -> str:
    """Return a digest of what pages show of others: titles, numbers, targets, terms."""
    references = env.domaindata["cite"]
    cited = {one.key for ref in references["citation_refs"] for one in ref.targets}
    places = [(one.key, one.citation_id) for one in references["citations"]]
    shown: list[Any] = [env.titles, env.longtitles, env.toc_fignumbers, env.toc_secnumbers]
    shown += [env.toctree_includes, cited, places, _sources(env, {_GLOSSARY} & env.found_docs)]
    shown += [env.domaindata[domain].get(kind) for domain in _REFERRED_TO
              for kind in _REFERRED_TO[domain]]  # fmt: skip
    return hashlib.sha256("\n".join(_plain(shown)).encode()).hexdigest()


def _plain(value: object) -> Iterator[str]:
    """Yield what a value holds as texts, in an order that does not depend on how it was built."""
    if isinstance(value, dict):
        for key, one in sorted(value.items(), key=repr):
            yield repr(key)
            yield from _plain(one)
    elif isinstance(value, set):
        yield repr(sorted(value))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _plain(one)
    else:
        yield value.pformat() if isinstance(value, nodes.Node) else repr(value)


def _remove_leftovers(app: Sphinx) -> None:
    """Remove what MyST-NB leaves at a build's end: pages give a digest to what they find there."""
    for path in (Path(app.outdir) / "_static").glob("mystnb.*.css"):
        path.unlink()


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's events: after what gives numbers to figures and sections."""
    app.connect("builder-inited", _remove_leftovers)
    app.connect("env-get-outdated", _outdated)
    app.connect("env-before-read-docs", _note)
    app.connect("env-get-updated", _show_again, priority=900)
    app.connect("build-finished", _keep, priority=950)
