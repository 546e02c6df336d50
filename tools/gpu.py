"""Show on a GPU what the book says of training: one run, killed once and resumed, with its record.

    python tools/gpu.py [run] [--pretend]     # on the machine with the GPU; `make gpu`
    python tools/gpu.py compile [--pretend]   # the last minutes of `run` alone
    python tools/gpu.py pack [--mib 44]       # for a machine without network: pieces to copy there

`run` checks what it needs, trains `minilm-l6` on all pairs of SNLI and MNLI through papermill,
kills the training once it has a checkpoint, resumes it, and leaves predictions, record and executed
notebook in ``results/``. After an interruption, the same call resumes. In its last minutes a random
model of RoBERTa-large's shape trains as it is and with ``torch.compile``; how much faster that is
goes to ``benchmarks/compile.json``. All of it takes ten minutes at most. `--pretend` does the same
on a CPU, with tiny models, in ``_build/gpu``.

`pack` writes ``_build/gpu/pieces``: encoder, data, and the packages that a machine with PyTorch may
lack. Each piece is small enough to be copied by itself; `run` unpacks them when it has all.
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
FOLDER = ROOT / "_build" / "gpu"
PIECES, CONTENT = FOLDER / "pieces", FOLDER / "content"
RUN = "minilm-l6-nli-s3"  # of results/wanted.yml
PRETEND_SETTINGS = {"model": "tiny-bert", "data": "sample", "max_train_examples": 320, "epochs": 2}
# The packages that the notebook needs directly, and those that a machine with PyTorch has.
_REQUIRED = ("papermill", "ipykernel", "jupytext", "nbconvert", "pydantic", "pooch",
             "beautifulsoup4", "latex2mathml", "filelock", "typer", "rich", "pyyaml",
             "seaborn")  # fmt: skip
_PREINSTALLED = ("numpy", "scipy", "pandas", "pyarrow", "matplotlib", "pillow", "fonttools",
                 "torch", "transformers", "tokenizers", "safetensors", "accelerate",
                 "huggingface-hub")  # fmt: skip
_MINUTES = 6  # for the training and its predictions; the next call resumes what takes longer
_COMPILE_MINUTES = 3.5  # for the two trainings that are compared
_CHECKPOINT_SECONDS = 5.0


def main(arguments: list[str]) -> int:
    """Run the command of these arguments, and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["run", "compile", "pack"], nargs="?", default="run")
    parser.add_argument("--pretend", action="store_true", help="on a CPU, with a tiny model")
    parser.add_argument("--mib", type=int, default=44, help="size of a piece")
    parser.add_argument("--python", default="3.12", help="the Python that packages are packed for")
    options = parser.parse_args(arguments)
    if options.what == "pack":
        return pack(options.mib, options.python)
    if options.what == "compile":
        from chaos_utils.base.errors import ChaosError

        try:
            return compare_compiled(pretend=options.pretend)
        except ChaosError as fault:
            print(fault)
            return 2
    missing = unpack()
    if missing:
        print(f"{missing}: carry what is missing into {PIECES.relative_to(ROOT)}, and call again")
        return 0
    return run(pretend=options.pretend)


def run(*, pretend: bool) -> int:
    """Train, kill, resume, and compare with what is compiled; the last also where time ran out."""
    environment = os.environ | _environment()
    faults = preflight(environment, pretend=pretend)
    if faults:
        print("\n".join(faults))
        return 0 if faults == [_NO_GPU] else 2
    code = _train(environment, pretend=pretend)
    if _compared_file(pretend).is_file():
        return code
    command = [sys.executable, __file__, "compile", *(["--pretend"] if pretend else [])]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, timeout=60 * _COMPILE_MINUTES)
    except subprocess.TimeoutExpired:
        print(f"with torch.compile: not done in {_COMPILE_MINUTES} minutes")
        return code or 1
    return code or done.returncode


def _train(environment: dict[str, str], *, pretend: bool) -> int:
    """Train, kill, resume; print the main entries of the record, and return the exit code."""
    out = FOLDER / "pretended" if pretend else ROOT / "results" / RUN
    command = [sys.executable, "-m", "chaos_utils.cli", "finetune", "--out", str(out)]
    command += ["--checkpoint-seconds", "0" if pretend else str(_CHECKPOINT_SECONDS)]
    for name, value in _settings(pretend).items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    start = time.monotonic()
    if not (FOLDER / "killed").is_file():
        _run_until_checkpoint(command, environment)
        (FOLDER / "killed").touch()
    try:
        timeout = _MINUTES * 60 - (time.monotonic() - start)
        subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        print(f"{_MINUTES} minutes are over: the same call goes on from the last checkpoint")
        return 0
    except subprocess.CalledProcessError as fault:
        return fault.returncode
    (FOLDER / "killed").unlink()
    record = json.loads((out / "run.json").read_text("utf-8"))
    (fit,) = record["fits"]
    print(f"{out.relative_to(ROOT)}: trained in {fit['calls']} calls")
    print(json.dumps(record["hardware"].get("gpu", {}), indent=1))
    print(f"{fit['pairs_per_second']:,} pairs a second, {fit.get('peak_gpu_memory_gib', '–')} GiB")
    return 0 if fit["calls"] > 1 else 1


def compare_compiled(*, pretend: bool) -> int:
    """Train a random model of RoBERTa-large's shape as it is, and compiled; write how fast it is.

    Through the trainer of all runs, on random tokens in batches of 32 sequences, whose lengths have
    NLI's mean. The latter half of the steps is timed; compiling ends before.
    """
    import numpy as np
    from transformers import AutoConfig

    from chaos_utils.base.files import write_json
    from chaos_utils.training.devices import choose_device, gpu_details
    from chaos_utils.training.recipes import MODELS, Shape
    from chaos_utils.training.settings import Settings, complete
    from chaos_utils.training.trial_steps import step_of, train_at_random

    shape = Shape(0, 1, 32, 2, 64) if pretend else MODELS["roberta-large"].shape
    config = AutoConfig.for_model(
        "roberta", num_hidden_layers=shape.layers, hidden_size=shape.hidden,
        num_attention_heads=shape.heads, intermediate_size=shape.intermediate,
        vocab_size=99 if pretend else 50_265,
    ).to_json_string()  # fmt: skip
    device = choose_device("cpu" if pretend else "cuda")
    n_steps, backend = (8, "aot_eager") if pretend else (60, "inductor")
    speeds, beginnings = [], []
    for arguments in ("", f"torch_compile: true, torch_compile_backend: {backend}"):
        settings, _ = complete(Settings(model="roberta-large", trainer=arguments))
        lengths = np.random.default_rng(0).integers(12, 53, settings.batch_size * n_steps)
        _, ends = train_at_random(step_of(config, settings), lengths, device)
        timed = ends[-1] - ends[n_steps // 2 - 1]
        speeds.append(len(lengths) / 2 / timed)
        beginnings.append(ends[n_steps // 2 - 1])
    plain, compiled = speeds
    compiling = beginnings[1] - beginnings[0]
    found = {
        "model": f"random weights, {shape.layers} layers of {shape.hidden}",
        "backend": backend,
        "precision": device.precision,
        "pairs_per_second": {"plain": round(plain, 1), "compiled": round(compiled, 1)},
        "ratio": round(compiled / plain, 2),
        "seconds_of_compiling": round(compiling, 1),
        "gpu": gpu_details() if device.on_gpu else {},
    }
    write_json(_compared_file(pretend), found)
    print(f"torch.compile: {found['ratio']} × as fast, after {compiling:.0f} s of compiling")
    return 0


def _compared_file(pretend: bool) -> Path:
    return (FOLDER if pretend else ROOT / "benchmarks") / "compile.json"


_NO_GPU = "no GPU here: PyTorch sees none, so there is nothing to show (--pretend tries the path)"


def preflight(environment: dict[str, str], *, pretend: bool) -> list[str]:
    """Return what is missing, within seconds: packages, the GPU, the encoder, data, disk space."""
    probe = [
        sys.executable, "-c",
        "import json, papermill, torch, transformers\n"
        "from chaos_utils.base import paths\n"
        "from chaos_utils.datasets import sources\n"
        "from chaos_utils.datasets.tasks import get_task\n"
        "files = get_task('nli').files\n"
        "print(json.dumps({'gpu': torch.cuda.is_available(), 'cache': str(paths.cache()), "
        "'missing': [name for name in files if sources.find(name) is None]}))",
    ]  # fmt: skip
    process = subprocess.run(probe, cwd=ROOT, env=environment, capture_output=True, text=True)
    if process.returncode:
        return [f"packages are missing: {process.stderr.strip().splitlines()[-1]}"]
    machine = json.loads(process.stdout.splitlines()[-1])
    if pretend:
        return []
    if not machine["gpu"]:
        return [_NO_GPU]
    faults = [f"data is missing: {name} (chaos data fetch)" for name in machine["missing"]]
    if not (Path(machine["cache"]) / "encoders" / "minilm-l6").is_dir():
        fetch = [sys.executable, "tools/encoders.py", "minilm-l6"]
        if subprocess.run(fetch, cwd=ROOT, env=environment).returncode:
            faults.append("the encoder is missing, and cannot be fetched")
    free = shutil.disk_usage(ROOT).free / 2**30
    if free < 2:
        faults.append(f"the disk has {free:.1f} GiB left: a checkpoint and the weights need 2")
    return faults


def _run_until_checkpoint(command: list[str], environment: dict[str, str]) -> None:
    """Run a training until it has written a checkpoint, then kill it; it may also end before."""
    work = Path(environment["CHAOS_CACHE"]) / "training"
    whole = "*/checkpoint-*/account.json"
    old_checkpoints = set(work.glob(whole))
    with subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True) as process:
        while process.poll() is None and set(work.glob(whole)) <= old_checkpoints:
            time.sleep(0.05)
        if process.poll() is None:
            process.kill()
            print("killed after its first checkpoint")


def _settings(pretend: bool) -> dict[str, object]:
    """Return the settings of the training, by option of ``chaos finetune``."""
    if pretend:
        return PRETEND_SETTINGS
    import yaml

    wanted_runs = yaml.safe_load((ROOT / "results" / "wanted.yml").read_text("utf-8"))
    (settings,) = (run["settings"] for run in wanted_runs if run["name"] == RUN)
    return settings | {"device": "cuda"}


def _environment() -> dict[str, str]:
    """Return the variables that lead to unpacked data, cache and packages, or else to the cache."""
    cache = os.environ.get("CHAOS_CACHE")
    if not CONTENT.is_dir():
        from chaos_utils.base import paths

        return {"CHAOS_CACHE": cache or str(paths.cache())}
    return {
        "CHAOS_DATA": str(CONTENT / "data"),
        "CHAOS_CACHE": str(CONTENT / "cache"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(FOLDER / "site")]),
    }


def pack(mib: int, python: str) -> int:
    """Write an archive of all that is needed, in pieces, and return the exit code."""
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
    shutil.rmtree(FOLDER / "packing", ignore_errors=True)
    wheels = _wheels(FOLDER / "packing" / "wheels", python)
    archive_file = FOLDER / "packing" / "all.tar.gz"
    with tarfile.open(archive_file, "w:gz") as archive:
        archive.add(encoder, "cache/encoders/minilm-l6")
        for name in names:
            path = sources.find(name)
            if path is None:
                print(f"data is missing: {name} (chaos data fetch)")
                return 2
            archive.add(path.resolve(), f"data/{name}")
        for wheel in wheels:
            archive.add(wheel, f"wheels/{wheel.name}")
    n_pieces = cut(archive_file.read_bytes(), mib * 2**20)
    shutil.rmtree(FOLDER / "packing")
    print(f"{n_pieces} pieces of at most {mib} MiB in {PIECES.relative_to(ROOT)}")
    return 0


def cut(content: bytes, size: int) -> int:
    """Write pieces of at most `size` bytes, named by the digest of all; return how many."""
    parts = [content[start : start + size] for start in range(0, len(content), size)]
    shutil.rmtree(PIECES, ignore_errors=True)
    PIECES.mkdir(parents=True)
    digest = hashlib.sha256(content).hexdigest()
    for number, part in enumerate(parts, start=1):
        (PIECES / f"piece-{number}-of-{len(parts)}-{digest}").write_bytes(part)
    return len(parts)


def _wheels(folder: Path, python: str) -> list[Path]:
    """Return wheels of this package, and of those it needs, in the versions installed here."""
    folder.mkdir(parents=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([*pip, *build], check=True)
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in (17, 28)] + ["manylinux2014_x86_64"]
    for name, version in sorted(_required_versions().items()):
        command = [*pip, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder),
                   "--python-version", python, f"{name}=={version}"]  # fmt: skip
        for platform in platforms:
            command += ["--platform", platform]
        subprocess.run(command, check=True)
    return sorted(folder.glob("*.whl"))


def _required_versions() -> dict[str, str]:
    """Return the versions here of required packages and their requirements, by name.

    Preinstalled ones are left out.
    """
    from importlib.metadata import version

    from packaging.requirements import Requirement

    versions: dict[str, str] = {}
    queue = list(_REQUIRED)
    while queue:
        name = queue.pop().lower().replace("_", "-")
        if name in versions or name in _PREINSTALLED:
            continue
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
        for line in requires(name) or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                queue.append(requirement.name)
    return versions


def unpack() -> str:
    """Unpack the pieces, if there are any; return what is missing, empty if nothing is."""
    pieces = sorted(PIECES.glob("piece-*")) if PIECES.is_dir() else []
    if not pieces or (CONTENT / "unpacked").is_file():
        return ""
    piece_by_number = {int(piece.name.split("-")[1]): piece for piece in pieces}
    _, _, _, n_pieces, digest = pieces[0].name.split("-")
    missing = [number for number in range(1, int(n_pieces) + 1) if number not in piece_by_number]
    if missing:
        listed = ", ".join(map(str, missing))
        return f"{len(piece_by_number)} of {n_pieces} pieces are here, {listed} are missing"
    content = b"".join(piece_by_number[number].read_bytes() for number in sorted(piece_by_number))
    if hashlib.sha256(content).hexdigest() != digest:
        raise SystemExit("the pieces are damaged: put together they have another digest")
    archive_file = FOLDER / "all.tar.gz"
    archive_file.write_bytes(content)
    with tarfile.open(archive_file) as archive:
        archive.extractall(CONTENT, filter="data")
    archive_file.unlink()
    if wheels := sorted(map(str, (CONTENT / "wheels").glob("*.whl"))):
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
                   "--no-compile", "--target", str(FOLDER / "site"), "--upgrade"]  # fmt: skip
        subprocess.run([*install, *wheels], check=True)
    (CONTENT / "unpacked").touch()
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
