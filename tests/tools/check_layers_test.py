"""The layer check accepts what points left and fails on everything else."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "check_layers.py"


def check(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, "src", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        layers = pathlib.Path(folder, "src", "layers.txt")
        layers.write_text("base -> tensor -> passes -> cli, python\n")
        return subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True)


class CheckLayers(unittest.TestCase):
    def test_own_layer_and_left_are_fine(self):
        text = '#include <vector>\n#include "base/x.h"\n#include "tensor/b.h"\n'
        done = check({"tensor/a.h": text})
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_right_fails(self):
        done = check({"base/deep/a.cpp": '  #  include "tensor/b.h"\n'})
        self.assertEqual(done.returncode, 1)
        self.assertIn('layer base includes "tensor/b.h", which is not to its left', done.stdout)

    def test_side_by_side_fails(self):
        self.assertEqual(check({"cli/a.cpp": '#include "python/b.h"\n'}).returncode, 1)

    def test_relative_path_fails(self):
        done = check({"base/a.cpp": '#include "b.h"\n'})
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not a full path below src", done.stdout)

    def test_a_pass_that_names_a_primitive_fails(self):
        done = check({"passes/a.cpp": 'auto* clone = ir::find_primitive("clone");\n'})
        self.assertEqual(done.returncode, 1)
        self.assertIn("names a primitive by string", done.stdout)
        self.assertEqual(check({"base/a.cpp": 'if (name == "x") {}\n'}).returncode, 0)

    def test_the_command_may_start_programs(self):
        self.assertEqual(check({"cli/a.cpp": '#include "apps/train/train.h"\n'}).returncode, 0)
        self.assertEqual(check({"base/a.cpp": '#include "apps/train/train.h"\n'}).returncode, 1)

    def test_folder_that_is_no_layer_fails(self):
        self.assertEqual(check({"utils/a.cpp": ""}).returncode, 1)


if __name__ == "__main__":
    unittest.main()
