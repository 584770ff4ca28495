"""Arguments of any kind give an error or a result: no crash, no hang, no text of the compiler."""

import os
import pathlib
import subprocess
import sys

import pytest
from wrong_arguments import THREAD, count_calls

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "helpers" / "wrong_arguments.py"
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_arguments_of_any_kind_give_an_error_or_a_result(part, tmp_path):
    environment = {**os.environ, "FOREGRAD_CACHE": "0", "FOREGRAD_CACHE_DIR": str(tmp_path / "c"),
                   "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    child = subprocess.run([sys.executable, PROGRAM, tmp_path, str(part), str(PARTS)], timeout=300,
                           env=environment, capture_output=True, text=True)
    calls = [path.read_text().strip() for path in sorted(tmp_path.rglob("call"))]
    wrong = "".join(path.read_text() for path in sorted(tmp_path.rglob("wrong")))
    assert child.returncode == 0, f"ended in {calls}: {child.stderr[-2000:]}"
    assert wrong == ""
    for folder, parts in ((tmp_path, PARTS), (tmp_path / "thread", THREAD * PARTS)):
        assert (folder / "done").read_text() == str(count_calls(part, parts)), child.stderr[-2000:]
    assert count_calls(part, PARTS) > 45_000
