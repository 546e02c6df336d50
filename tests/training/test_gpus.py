"""Runs side by side, one per GPU: processes on a CPU, with ids of GPUs that are not there."""

import itertools
import os
import signal
import subprocess
import sys
import time

import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.training import gpus
from chaos_utils.training.gpus import GpuJob, choose_gpus, run_jobs

WAIT = "import time; time.sleep(60)"


def job(name, code, *after):
    return GpuJob(name, (sys.executable, "-c", code), frozenset(after))


@pytest.fixture
def run(tmp_path):
    """A function that runs jobs on GPUs 0 and 1; it returns their faults, and what was shown."""

    def run(*jobs, ids=("0", "1")):
        seen = []
        return run_jobs(jobs, ids, logs=tmp_path, watch=lambda *told: seen.append(told)), seen

    return run


def test_each_run_has_a_gpu_to_itself_and_all_gpus_are_used(run):
    code = """if True:
        import os, time
        begun = time.time()
        time.sleep(0.3)
        print(os.environ["CUDA_VISIBLE_DEVICES"], begun, time.time())"""
    faults, seen = run(*(job(name, code) for name in "abcd"))
    times = {}
    for _, gpu, line in seen:
        if line[:1].isdigit():
            shown, begun, ended = line.split()
            assert shown == gpu
            times.setdefault(gpu, []).append((float(begun), float(ended)))
    assert sorted(times) == ["0", "1"]
    for of_gpu in times.values():
        of_gpu.sort()
        assert all(first[1] <= second[0] for first, second in itertools.pairwise(of_gpu))
    assert faults == dict.fromkeys("abcd", "")


def test_a_run_that_fails_stops_no_other_and_is_named_with_what_it_printed(run, tmp_path):
    bad = "import sys; print('step 3'); sys.exit('Out of memory')"
    faults, _ = run(
        job("bad", bad),
        job("good", "print('x')"),
        job("later", "", "bad"),
        job("last", "", "later"),
    )
    assert [name for name, fault in faults.items() if fault] == ["bad", "later", "last"]
    assert faults["later"] == "not started: it needs bad"
    with pytest.raises(ChaosError, match="3 of 4 runs failed") as fault:
        gpus.check(faults, tmp_path)
    assert "bad\nstep 3\nOut of memory\n(exit code 1)" in str(fault.value)
    assert (tmp_path / "bad.log").read_text() == "step 3\nOut of memory\n"


def test_a_run_that_needs_another_waits_for_it_and_a_circle_is_refused(run):
    slow = "import time; time.sleep(0.3)"
    _, seen = run(job("second", "", "first"), job("first", slow), job("third", "", "elsewhere"))
    assert [name for name, _, line in seen if line == "begins"] == ["first", "third", "second"]
    with pytest.raises(ChaosError, match="wait for each other"):
        run(job("a", "", "b"), job("b", "", "a"))


def test_a_killed_run_says_so(run):
    faults, _ = run(job("a", "import os; os.kill(os.getpid(), 9)"))
    assert "ended by signal 9" in faults["a"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_ends_its_processes(number, tmp_path):
    code = f"""if True:
        import signal, sys
        from pathlib import Path
        from chaos_utils.training.gpus import GpuJob, run_jobs
        for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background job ignores the first
            signal.signal(number, signal.default_int_handler)
        command = (sys.executable, "-c", "import os, time; print(os.getpid(), flush=True);{WAIT}")
        jobs = [GpuJob("a", command), GpuJob("b", command)]
        run_jobs(jobs, ["0", "1"], logs=Path("logs"), watch=lambda *told: print(*told, flush=True))
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    children = []
    for line in parent.stdout:
        if line.split()[-1].isdigit():
            children.append(int(line.split()[-1]))
        if len(children) == 2:
            break
    parent.send_signal(number)
    assert parent.wait(30) != 0
    until = time.monotonic() + 10
    while any(map(is_running, children)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_running, children))


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_gpus_are_chosen_among_those_that_are_visible(monkeypatch, torch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert choose_gpus("all", gpus.visible_gpus()) == ["0", "1", "2"]
    assert choose_gpus("2, 0", gpus.visible_gpus()) == ["2", "0"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,GPU-8932,7")
    assert choose_gpus("all", gpus.visible_gpus()) == ["5", "GPU-8932", "7"]
    for text, visible in [("all", []), ("0,9", ["0"]), ("0,0", ["0"]), ("", ["0"])]:
        with pytest.raises(ChaosError, match="--gpus"):
            choose_gpus(text, visible)
