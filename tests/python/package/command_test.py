"""The command `foregrad` that is installed with the package."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import foregrad as fg
import foregrad.__main__ as command
import pytest

SCRIPT = Path(sys.executable).with_name("foregrad")


def run(*arguments, program=(SCRIPT,), folder=None):
    environment = dict(os.environ)
    if folder:
        environment |= {"FOREGRAD_CACHE": "1", "FOREGRAD_CACHE_DIR": str(folder / "cache"),
                        "XDG_CONFIG_HOME": str(folder)}
    return subprocess.run([*program, *arguments], capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("program", [(SCRIPT,), (sys.executable, "-m", "foregrad")],
                         ids=["script", "module"])
def test_it_says_its_version(program):
    done = run("--version", program=program)
    assert (done.stdout, done.stderr) == (f"foregrad {fg.__version__}\n", "")


def test_it_looks_into_the_cache_of_the_package(tmp_path):
    program = "import foregrad as fg; fg.compile(lambda x: x.exp())(fg.ones(3))"
    assert run("-c", program, program=(sys.executable,), folder=tmp_path).returncode == 0
    done = run("cache", "stats", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["recent_lookups"] == {"miss": 1}, done.stderr
    assert json.loads(done.stdout)["entries"] == 1


def native_files():
    folder = command.PROGRAM.parent
    return [command.PROGRAM, *folder.glob("*.so"), *folder.glob("*.so.*")]


@pytest.mark.parametrize("file", native_files(), ids=lambda file: file.name)
def test_libraries_come_from_the_package_or_the_system(file):
    """Never from the folder of the build, nor, as an empty name says, from the current one."""
    listed = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True)
    for places in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", listed.stdout):
        for place in places.split(":"):
            assert place.startswith(("$ORIGIN", "/usr/")), places


def test_it_uses_the_library_of_the_package():
    program = command.PROGRAM
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    assert f"{program.parent}/libforegrad.so" in listed


def test_it_finds_the_text_to_train_on(tmp_path):
    small = "--steps 1 --layers 1 --width 8 --heads 1 --context 8 --batch 1".split()
    done = run("train", *small, "--no-compare", "--no-report", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr


def test_its_status_is_that_of_the_program():
    done = run("cache", "inspect", "a")
    assert done.returncode == 1 and done.stderr.startswith("foregrad: cache: ")


def test_a_program_that_is_missing_is_one_sentence(monkeypatch):
    monkeypatch.setattr(command, "PROGRAM", Path("/nowhere/foregrad"))
    with pytest.raises(SystemExit) as caught:
        command.main()
    assert caught.value.code == (
        "foregrad: the program /nowhere/foregrad of this installation cannot be started (No such "
        "file or directory); install the package again")
