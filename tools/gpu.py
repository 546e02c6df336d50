"""Show on a GPU what the book says of training: one run, killed once and resumed, with its record.

    python tools/gpu.py [run] [--pretend]     # on the machine with the GPU; `make gpu`
    python tools/gpu.py pack [--mib 44]       # for a machine without network: pieces to carry there

`run` checks what it needs, trains `minilm-l6` on all pairs of SNLI and MNLI through papermill,
kills that once it has a checkpoint, calls it again, and leaves predictions, record and executed
notebook in ``results/``. The same call resumes what was interrupted. `--pretend` takes the same
path on a CPU: a tiny model on the synthetic sample, into ``_build/gpu/pretended``.

`pack` writes ``_build/gpu/pieces``: encoder, data, and the packages that come with no PyTorch. Each
piece is small enough to be carried by itself; `run` unpacks them when all are there.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "_build" / "gpu"
PIECES, CONTENT = PLACE / "pieces", PLACE / "content"
RUN = "minilm-l6-nli-s3"  # of results/wanted.yml
PRETENDED = {"model": "tiny-bert", "data": "sample", "max_train_examples": 320, "epochs": 2}
# Where the notebook's packages begin; what a machine with PyTorch has is not carried.
_ROOTS = ("papermill", "ipykernel", "jupytext", "nbconvert", "pydantic", "pooch", "beautifulsoup4",
          "latex2mathml", "filelock", "typer", "rich", "pyyaml", "seaborn")  # fmt: skip
_THERE = ("numpy", "scipy", "pandas", "pyarrow", "matplotlib", "pillow", "fonttools", "torch",
          "transformers", "tokenizers", "safetensors", "accelerate", "huggingface-hub")  # fmt: skip
_MINUTES = 12  # of the training and its predictions; what is longer goes on in the next call
_CHECKPOINT_SECONDS = 5.0


def main(arguments: list[str]) -> int:
    """Do what the command line says; return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["run", "pack"], nargs="?", default="run")
    parser.add_argument("--pretend", action="store_true", help="on a CPU, with a tiny model")
    parser.add_argument("--mib", type=int, default=44, help="size of a piece")
    parser.add_argument("--python", default="3.12", help="the Python that packages are packed for")
    asked = parser.parse_args(arguments)
    if asked.what == "pack":
        return pack(asked.mib, asked.python)
    missing = unpack()
    if missing:
        print(f"{missing}: carry what is missing into {PIECES.relative_to(ROOT)}, and call again")
        return 0
    return run(pretend=asked.pretend)


def run(*, pretend: bool) -> int:
    """Train, kill, resume; say what the record holds."""
    environment = os.environ | _environment()
    faults = preflight(environment, pretend=pretend)
    if faults:
        print("\n".join(faults))
        return 0 if faults == [_NO_GPU] else 2
    out = PLACE / "pretended" if pretend else ROOT / "results" / RUN
    command = [sys.executable, "-m", "chaos_utils.cli", "finetune", "--out", str(out)]
    command += ["--checkpoint-seconds", "0" if pretend else str(_CHECKPOINT_SECONDS)]
    for name, value in _settings(pretend).items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    begun = time.monotonic()
    if not (PLACE / "killed").is_file():
        _until_a_checkpoint(command, environment)
        (PLACE / "killed").touch()
    try:
        rest = _MINUTES * 60 - (time.monotonic() - begun)
        subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=rest)
    except subprocess.TimeoutExpired:
        print(f"{_MINUTES} minutes are over: the same call goes on from the last checkpoint")
        return 0
    except subprocess.CalledProcessError as fault:
        return fault.returncode
    (PLACE / "killed").unlink()
    record = json.loads((out / "run.json").read_text("utf-8"))
    (fit,) = record["fits"]
    print(f"{out.relative_to(ROOT)}: trained in {fit['calls']} calls")
    print(json.dumps(record["hardware"].get("gpu", {}), indent=1))
    print(f"{fit['pairs_per_second']:,} pairs a second, {fit.get('peak_gpu_memory_gib', '–')} GiB")
    return 0 if fit["calls"] > 1 else 1


_NO_GPU = "no GPU here: PyTorch sees none, so there is nothing to show (--pretend tries the path)"


def preflight(environment: dict[str, str], *, pretend: bool) -> list[str]:
    """Return what is missing, found in seconds: packages, the GPU, the encoder, data, room."""
    asked = [
        sys.executable, "-c",
        "import json, papermill, torch, transformers\n"
        "from chaos_utils.base import paths\n"
        "from chaos_utils.datasets import sources\n"
        "from chaos_utils.datasets.tasks import get_task\n"
        "files = get_task('nli').files\n"
        "print(json.dumps({'gpu': torch.cuda.is_available(), 'cache': str(paths.cache()), "
        "'missing': [name for name in files if sources.find(name) is None]}))",
    ]  # fmt: skip
    done = subprocess.run(asked, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        return [f"packages are missing: {done.stderr.strip().splitlines()[-1]}"]
    found = json.loads(done.stdout.splitlines()[-1])
    if pretend:
        return []
    if not found["gpu"]:
        return [_NO_GPU]
    faults = [f"data is missing: {name} (chaos data fetch)" for name in found["missing"]]
    if not (Path(found["cache"]) / "encoders" / "minilm-l6").is_dir():
        fetch = [sys.executable, "tools/encoders.py", "minilm-l6"]
        if subprocess.run(fetch, cwd=ROOT, env=environment).returncode:
            faults.append("the encoder is missing, and cannot be fetched")
    free = shutil.disk_usage(ROOT).free / 2**30
    if free < 2:
        faults.append(f"the disk has {free:.1f} GiB left: a checkpoint and the weights need 2")
    return faults


def _until_a_checkpoint(command: list[str], environment: dict[str, str]) -> None:
    """Kill a training as soon as it has left a checkpoint; return where it ends before."""
    work = Path(environment["CHAOS_CACHE"]) / "training"
    whole = "*/checkpoint-*/account.json"
    known = set(work.glob(whole))
    with subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True) as process:
        while process.poll() is None and set(work.glob(whole)) <= known:
            time.sleep(0.05)
        if process.poll() is None:
            process.kill()
            print("killed after its first checkpoint")


def _settings(pretend: bool) -> dict[str, object]:
    if pretend:
        return PRETENDED
    import yaml

    wanted = yaml.safe_load((ROOT / "results" / "wanted.yml").read_text("utf-8"))
    (settings,) = (entry["settings"] for entry in wanted if entry["name"] == RUN)
    return settings | {"device": "cuda"}


def _environment() -> dict[str, str]:
    """Return where data, cache and packages are that were carried; nothing where none were."""
    cache = os.environ.get("CHAOS_CACHE")
    if not CONTENT.is_dir():
        from chaos_utils.base import paths

        return {"CHAOS_CACHE": cache or str(paths.cache())}
    return {
        "CHAOS_DATA": str(CONTENT / "data"),
        "CHAOS_CACHE": str(CONTENT / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(PLACE / "site")]),
    }


def pack(mib: int, python: str) -> int:
    """Write the pieces: a file of all that is needed, cut, each with the digest of the whole."""
    from chaos_utils.base import paths
    from chaos_utils.datasets import sources
    from chaos_utils.datasets.catalogue import get_dataset
    from chaos_utils.datasets.tasks import get_task

    encoder = paths.cache() / "encoders" / "minilm-l6"
    if not encoder.is_dir():
        print("the encoder is missing: python tools/encoders.py minilm-l6")
        return 2
    task = get_task("nli")
    names = [*task.files, *(get_dataset(name).file for name in task.datasets)]
    shutil.rmtree(PLACE / "packing", ignore_errors=True)
    wheels = _wheels(PLACE / "packing" / "wheels", python)
    whole = PLACE / "packing" / "all.tar.gz"
    with tarfile.open(whole, "w:gz") as archive:
        archive.add(encoder, "cache/encoders/minilm-l6")
        for name in names:
            found = sources.find(name)
            if found is None:
                print(f"data is missing: {name} (chaos data fetch)")
                return 2
            archive.add(found.resolve(), f"data/{name}")
        for wheel in wheels:
            archive.add(wheel, f"wheels/{wheel.name}")
    n_pieces = cut(whole.read_bytes(), mib * 2**20)
    shutil.rmtree(PLACE / "packing")
    print(f"{n_pieces} pieces of at most {mib} MiB in {PIECES.relative_to(ROOT)}")
    return 0


def cut(content: bytes, size: int) -> int:
    """Write pieces of at most so many bytes, and return how many there are."""
    parts = [content[start : start + size] for start in range(0, len(content), size)]
    shutil.rmtree(PIECES, ignore_errors=True)
    PIECES.mkdir(parents=True)
    digest = hashlib.sha256(content).hexdigest()
    for number, part in enumerate(parts, start=1):
        (PIECES / f"piece-{number}-of-{len(parts)}-{digest}").write_bytes(part)
    return len(parts)


def _wheels(folder: Path, python: str) -> list[Path]:
    """Download the wheels of the notebook's packages, of the versions installed here, and ours."""
    folder.mkdir(parents=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    ours = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([*pip, *ours], check=True)
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in (17, 28)] + ["manylinux2014_x86_64"]
    for name, version in sorted(_needed().items()):
        command = [*pip, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder),
                   "--python-version", python, f"{name}=={version}"]  # fmt: skip
        for platform in platforms:
            command += ["--platform", platform]
        subprocess.run(command, check=True)
    return sorted(folder.glob("*.whl"))


def _needed() -> dict[str, str]:
    """Return the packages that the roots need, with their versions here, without what is there."""
    from importlib.metadata import version

    from packaging.requirements import Requirement

    found: dict[str, str] = {}
    waiting = list(_ROOTS)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found or name in _THERE:
            continue
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
        for line in requires(name) or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return found


def unpack() -> str:
    """Put the pieces together, where there are any; return which are missing, else nothing."""
    pieces = sorted(PIECES.glob("piece-*")) if PIECES.is_dir() else []
    if not pieces or (CONTENT / "unpacked").is_file():
        return ""
    numbers = {int(piece.name.split("-")[1]): piece for piece in pieces}
    _, _, _, of, digest = pieces[0].name.split("-")
    lacking = [number for number in range(1, int(of) + 1) if number not in numbers]
    if lacking:
        return f"{len(numbers)} of {of} pieces are here, {', '.join(map(str, lacking))} are missing"
    content = b"".join(numbers[number].read_bytes() for number in sorted(numbers))
    if hashlib.sha256(content).hexdigest() != digest:
        raise SystemExit("the pieces are damaged: put together they have another digest")
    whole = PLACE / "all.tar.gz"
    whole.write_bytes(content)
    with tarfile.open(whole) as archive:
        archive.extractall(CONTENT, filter="data")
    whole.unlink()
    if wheels := sorted(map(str, (CONTENT / "wheels").glob("*.whl"))):
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
                   "--no-compile", "--target", str(PLACE / "site"), "--upgrade"]  # fmt: skip
        subprocess.run([*install, *wheels], check=True)
    (CONTENT / "unpacked").touch()
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
