import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.processes import has_ended

from chaos_utils.base import paths
from chaos_utils.base.plain import PlainBook
from chaos_utils.base.project import current
from chaos_utils.report import warm

WAIT = "print(os.getpid(), os.getppid(), flush=True); time.sleep(60)"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a folder that has a module `job`, which runs what it is given."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "job.py").write_text("import os, signal, sys, time\nexec(sys.argv[1])\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "project", lambda: folder)
        yield folder


@pytest.fixture(scope="module")
def environment(project):
    with warm.processes(libraries=("decimal", "no_such_library")):
        variables = dict(os.environ)
        del os.environ[warm.SOCKET]  # processes of tests are warm where they are told so
        yield variables


def started(environment, code, **options):
    return subprocess.Popen(
        [*warm.python_command(environment), "job", code], env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    "code",
    [
        "print(os.environ['GIVEN'], os.getcwd(), sys.argv[2:], sys.stdin.read())",
        "import atexit; atexit.register(print, 'end'); sys.exit(3)",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "raise KeyboardInterrupt",
    ],
)
def test_a_warm_process_is_as_one_of_its_own(environment, project, tmp_path, code):
    answers = []
    for given in (environment, os.environ | {"PYTHONPATH": str(project)}):
        process = started(given | {"GIVEN": "word"}, code, cwd=tmp_path)
        said, wrong = process.communicate("typed")
        answers.append((process.returncode, said, wrong.splitlines()[-1:]))
    assert answers[0] == answers[1]


def test_it_has_the_libraries_and_nothing_of_this_package(environment):
    code = "print('decimal' in sys.modules, [m for m in sys.modules if 'chaos' in m])"
    said, _ = started(environment, code).communicate()
    here, _, rest = said.partition(" ")
    assert here == "True"
    assert "chaos_utils" not in rest.replace("__editable___chaos_utils", "")


@pytest.fixture
def slow_book(project, monkeypatch):
    """Let kernels need one library, and pages two that do not load and one that is slow to load."""
    (project / "damaged_library.py").write_text("raise RuntimeError")
    (project / "slow_library.py").write_text("import time\ntime.sleep(1)")
    monkeypatch.setattr(warm, "_KERNELS", ("decimal",))
    monkeypatch.setattr(warm, "_PAGES", ("no_such_library", "damaged_library", "slow_library"))
    monkeypatch.setattr(warm.project, "current", PlainBook)


def test_what_pages_need_is_loaded_while_nothing_is_asked(slow_book):
    code, answers = "print('decimal' in sys.modules, 'slow_library' in sys.modules)", []
    with warm.processes():
        while "True True\n" not in answers and len(answers) < 200:
            answers.append(started(dict(os.environ), code).communicate()[0])
    assert answers[-1] == "True True\n"
    assert set(answers) <= {"True False\n", "True True\n"}


def test_a_process_that_no_server_forks_is_not_called_warm(project):
    variables = os.environ | {warm.SOCKET: str(project / "gone"), "PYTHONPATH": str(project)}
    said, _ = started(variables, f"print({warm.SOCKET!r} in os.environ)").communicate()
    assert said == "False\n"


def test_a_block_in_a_block_has_the_same_server(slow_book):
    with warm.processes():
        outer = os.environ[warm.SOCKET]
        with warm.processes():
            assert os.environ[warm.SOCKET] == outer
        assert os.environ[warm.SOCKET] == outer
    assert warm.SOCKET not in os.environ
    assert not Path(outer).parent.exists()


def test_the_libraries_that_are_loaded_ahead_exist():
    names = (*warm._KERNELS, *warm._PAGES, *current().libraries())
    assert [name for name in names if not find_spec(name)] == []


def test_it_is_interrupted_as_what_asked_for_it(environment):
    code = "try:\n print(flush=True); time.sleep(60)\nexcept KeyboardInterrupt: print('stopped')"
    process = started(environment, code)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.communicate()[0] == "stopped\n"
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_what_asked_for_it(environment, number):
    process = started(environment, WAIT)
    pid, _ = map(int, process.stdout.readline().split())
    process.send_signal(number)
    assert has_ended(pid)
    process.communicate()


def test_what_it_has_forked_ends_with_it(environment):
    # One write each: two processes share the pipe.
    process = started(environment, "os.write(1, f'{os.fork()}\\n'.encode()); time.sleep(60)")
    pids = [int(process.stdout.readline()) for _ in range(2)]
    process.kill()
    assert has_ended(max(pids))  # the other is 0, which the forked process prints
    process.communicate()


@pytest.mark.parametrize("ends", ["the block", "the process that forks", "the process of both"])
def test_nothing_is_left_running(project, ends):
    code = (
        "import os, subprocess, sys\n"
        "from pathlib import Path\n"
        "from chaos_utils.base import paths\n"
        "from chaos_utils.report import warm\n"
        "paths.project = lambda: Path(sys.argv[1])\n"
        "with warm.processes(libraries=['decimal']):\n"
        "    subprocess.Popen([*warm.python_command(), 'job', sys.argv[2]])\n"
        "    sys.stdin.readline()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(project), WAIT], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": "."},
    )  # fmt: skip
    pids = [int(pid) for pid in process.stdout.readline().split()]
    if ends == "the process that forks":
        os.kill(pids[1], signal.SIGKILL)
    elif ends == "the process of both":
        process.kill()
    else:
        process.stdin.write("\n")
        process.stdin.flush()
    assert has_ended(pids[0])
    process.communicate()
    assert has_ended(pids[1])
