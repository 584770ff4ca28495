"""The size check fails on long files, functions and lines, warns earlier, and finds functions."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "check_sizes.py"


def check(text, name="a.cpp"):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "src", name)
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True)


def function(head, lines):
    return head + " {\n" + "  x();\n" * (lines - 2) + "}\n"


class CheckSizes(unittest.TestCase):
    def assert_fails(self, text, message, name="a.cpp"):
        done = check(text, name)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(message, done.stdout)

    def assert_passes(self, text, name="a.cpp"):
        done = check(text, name)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_files(self):
        self.assert_passes("int x;\n" * 400)
        warned = check("int x;\n" * 401)
        self.assertEqual(warned.returncode, 0)
        self.assertIn("warning: ", warned.stdout)
        self.assert_fails("int x;\n" * 601, "the file has 601 lines")

    def test_plain_sizes_in_ops(self):
        for text in ("int64_t n = x.size(0);\n", "auto s = x->stride(axis);\n"):
            self.assert_fails(text, "a plain integer size", "ops/a.cpp")
            self.assert_passes(text, "ops/kernels/a.cpp")
            self.assert_passes(text, "autograd/a.cpp")
        self.assert_passes("Dim n = x.sizes()[0]; size_t rank = x.sizes().size();\n", "ops/a.cpp")

    def test_columns(self):
        self.assert_passes("/" * 100)
        self.assert_fails("/" * 101, "101 columns")

    def test_functions(self):
        self.assert_passes(function("void f(int x)", 40))
        warned = check(function("void f(int x)", 41))
        self.assertEqual(warned.returncode, 0)
        self.assertIn("f has 41 lines", warned.stdout)
        self.assert_fails(function("void f(int x)", 81), "f has 81 lines")

    def test_every_shape_of_function_is_found(self):
        for head in ("int A::f(int x) const noexcept", "auto f(T x) -> std::vector<T>",
                     "A::A(int x) : base_(x), other_{1}", "auto f = [](auto x)", "auto f = [&]",
                     "template <class T>\nvoid f(T x)", "define(sum, [](int x)", "TEST(A, b)",
                     "void f(const char* s = \"}\", char c = '}')"):
            self.assert_fails(function(head, 82), " lines; at most 40")

    def test_classes_and_namespaces_are_no_functions(self):
        for head in ("namespace a", "struct alignas(64) A", "class A : public B<C>",
                     "enum class E : int", "const Table table", "extern \"C\""):
            self.assert_passes(head + " {\n" + "  int x;\n" * 100 + "}\n")

    def test_functions_inside_of_classes_are_found(self):
        self.assert_fails("namespace n {\nstruct S {\n" + function("int f()", 90) + "};\n}\n",
                          "f has 90 lines")

    def test_python_functions(self):
        self.assert_fails("def f():\n" + "    x = 1\n" * 90, "f has 91 lines", "a.py")


if __name__ == "__main__":
    unittest.main()
