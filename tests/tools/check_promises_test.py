"""The check of promises finds tests that are gone, rows without one, and codes elsewhere."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "check_promises.py"
PAGE = "docs/promises/engine.md"
FILES = {
    "tests/python/engine_test.py": "def test_it_runs():\n    pass\n",
    "tests/engine/engine_test.cpp": "TEST(Engine,\n     runs) {\n}\nTEST_F(Engine, stops) {\n}\n",
}


def check(rows, **files):
    page = "# Engine\n\n| promise | code | tests |\n|---|---|---|\n" + "".join(
        f"| {promise} | {codes} | {tests} |\n" for promise, codes, tests in rows)
    files = {name.replace("__", "/").replace("DOT", "."): text for name, text in files.items()}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**FILES, PAGE: page, **files}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True)


RIGHT = [
    ("It runs.", "A1", "`tests/python/engine_test.py::test_it_runs`"),
    ("It stops.", "A2, A3", "`tests/engine/engine_test.cpp::Engine.runs`<br>"
                            "`tests/engine/engine_test.cpp::Engine.stops`<br>open: not at once"),
    ("All of it.", "A4", "more in `tests/engine/engine_test.cpp`"),
    ("It flies.", "A5", "open: it has no wings"),
]


class CheckPromises(unittest.TestCase):
    def fails(self, message, rows=(), **files):
        done = check([*RIGHT, *rows], **files)
        self.assertEqual(done.returncode, 1)
        self.assertIn(message, done.stdout)

    def test_rows_with_tests_or_a_reason_are_fine(self):
        done = check(RIGHT)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_test_that_is_gone_fails(self):
        self.fails("engine_test.py has no test test_it_ran", [
            ("It ran.", "A6", "`tests/python/engine_test.py::test_it_ran`")])
        self.fails("engine_test.cpp has no test Engine.run", [
            ("It ran.", "A6", "`tests/engine/engine_test.cpp::Engine.run`")])
        self.fails("tests/gone_test.py does not exist", [
            ("It ran.", "A6", "`tests/gone_test.py::test_it_runs`")])

    def test_a_row_without_a_test_and_a_reason_fails(self):
        self.fails("A6 names no test", [("It ran.", "A6", "")])
        self.fails("A6 names no test", [("It ran.", "A6", "open")])

    def test_a_code_twice_or_left_out_fails(self):
        self.fails("A1 has a row at docs/promises/engine.md:5 already", [
            ("It runs again.", "A1", "open: tired")])
        self.fails("A6 has no row", [("It ran.", "A7", "open: tired")])

    def test_a_code_in_the_name_of_a_test_fails(self):
        python, cpp = "def test_a1_it_runs():\n    pass\n", "TEST(Engine, Runs_A1) {}\n"
        self.fails("test_a1_it_runs has the code a1", tests__more_testDOTpy=python)
        self.fails("Engine.Runs_A1 has the code A1", tests__more_testDOTcpp=cpp)

    def test_a_code_in_a_comment_a_docstring_or_another_page_fails(self):
        self.fails("src/a.cpp:2: the code A1", src__aDOTcpp="int a;\n// as A1 says\n")
        self.fails("src/a.h:2: the code A1", src__aDOTh="/* as\n   A1 says */\n")
        self.fails("python/a.py:2: the code A2", python__aDOTpy='"""Engine,\nrow A2."""\n')
        self.fails("python/a.py:1: the code A2", python__aDOTpy="a = 1  # A2\n")
        self.fails("docs/a.md:2: the code A3", docs__aDOTmd="# Engine\nRow A3.\n")

    def test_a_text_or_another_number_is_no_code(self):
        done = check(RIGHT, src__aDOTcpp='// C99 and E402\nauto a = "A1 // A1";\n',
                     python__aDOTpy="a = 'A1 # A1'\n",
                     tests__b_testDOTpy="def test_f32():\n    pass\n")
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
