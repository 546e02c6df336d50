"""Jobs in processes of their own: what they leave, and that they end with what asked for them."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from helpers.processes import has_ended

from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import processes


def work(folder, name):
    """Do as the job's name says."""
    (folder / name).write_text(str(os.getpid()))
    if name == "fault":
        raise ChaosError("It is wrong.", found="this")
    if name == "bug":
        raise IndexError(name)
    if name == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if name.startswith("long"):
        time.sleep(60)
    return ("some word",)


def test_each_job_ends_with_what_it_said_or_why_it_failed(tmp_path):
    names = ("good", "fault", "bug")
    ended = {
        one.name: one for one in processes.run_parallel(partial(work, tmp_path), names, workers=2)
    }
    assert ended["good"].messages == ("some word", "done in 0 s")
    assert not ended["good"].fault
    assert ended["fault"].fault == str(ChaosError("It is wrong.", found="this"))
    assert ended["bug"].fault.rstrip().endswith("IndexError: bug")
    assert int((tmp_path / "good").read_text()) != os.getpid()


def test_a_killed_process_fails_no_job_but_its_own(tmp_path):
    names = ["killed", "one", "two", "three"]
    ended = {
        one.name: one.fault
        for one in processes.run_parallel(partial(work, tmp_path), names, workers=2)
    }
    assert ended.keys() == set(names)
    assert "stopped before it was done" in ended.pop("killed")
    assert not any(ended.values())


def test_processes_end_with_what_is_interrupted_or_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from functools import partial\n"
        "from pathlib import Path\n"
        "from chaos_utils.publish import processes\n"
        "from test_processes import work\n"
        "if __name__ == '__main__':\n"
        "    make = partial(work, Path(sys.argv[1]))\n"
        "    list(processes.run_parallel(make, ['long-1', 'long-2'], workers=2))\n"
    )
    here = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    for how in (signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen(
            [sys.executable, str(script), str(tmp_path)], env=os.environ | {"PYTHONPATH": here},
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        pids = []
        while len(pids) < 2:
            assert process.poll() is None
            time.sleep(0.05)
            pids = [int(one.read_text() or 0) for one in tmp_path.glob("long-*")]
            pids = [pid for pid in pids if pid]
        process.send_signal(how)
        process.wait(20)
        assert all(map(has_ended, pids))
        for one in tmp_path.glob("long-*"):
            one.unlink()
