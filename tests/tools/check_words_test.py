"""The check of words finds openings that hide a subject, and words that name no one."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "check_words.py"


def check(name, text):
    """The lines that are printed for one file, without its path."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        done = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True)
        assert done.returncode == bool(done.stdout), done.stderr
        return [line.removeprefix(f"{path}:") for line in done.stdout.splitlines()]


class CheckWords(unittest.TestCase):
    def test_a_comment_that_names_its_subject_is_fine(self):
        text = "// Backends turn a graph into a callable.\nint x;\n"
        self.assertEqual(check("src/a.h", text), [])

    def test_openings_that_hide_the_subject_are_found(self):
        for word in ("What", "Who", "Where", "Which", "Of"):
            found = check("src/a.cpp", f"int x;\n\n// {word} it is.\nint y;\n")
            self.assertEqual(found[0], f'3: begins with "{word}"')

    def test_only_the_first_line_of_a_comment_opens_it(self):
        self.assertEqual(check("src/a.h", "// Sizes, one per\n// of the dimensions.\n"), [])

    def test_comments_with_code_between_them_are_two(self):
        text = "// Sizes.\nint x;\n// which one\n"
        self.assertEqual(check("src/a.h", text), ['3: begins with "which"'])

    def test_a_trailing_comment_may_go_on_from_its_name(self):
        self.assertEqual(check("src/a.h", "int bumps;  // of the version\n"), [])
        self.assertEqual(check("src/a.h", "int x;  // what is kept\n"), ['1: begins with "what"'])

    def test_words_that_name_no_one_are_found_in_any_line(self):
        text = "// Memory that is\n// nobody's, or whoever\n// has it, or who.\n"
        self.assertEqual(check("src/a.h", text),
                         ['2: says "nobody"', '2: says "whoever"', '3: says "who"'])

    def test_code_and_texts_in_code_are_not_read(self):
        text = 'const char* who = "// Who is it";\n// Names `who` in errors.\n'
        self.assertEqual(check("src/a.cpp", text), [])

    def test_the_documentation_of_functions_is_read(self):
        text = ('auto a = define(f, "Of each row the sum.", x);\n'
                'auto b = define_as<f_p>(f.overload<0>(), "Sums. "\n    "Which ones: all.");\n'
                'auto c = define(g, "Sums of rows.", [] { fail("Who is it"); });\n')
        self.assertEqual(check("src/a.cpp", text),
                         ['1: begins with "Of"', '2: a sentence begins with "Which"'])

    def test_comments_and_docstrings_of_python_are_read(self):
        text = '"""Sizes.\n\nWhat is kept.\n"""\n# Which one\nx = "# Of no interest"\n'
        self.assertEqual(check("python/a.py", text),
                         ['3: begins with "What"', '5: begins with "Which"'])

    def test_scripts_without_a_suffix_are_read(self):
        text = "#!/usr/bin/env python3\n# Of no use.\n"
        self.assertEqual(check("bench/x/run", text), ['2: begins with "Of"'])
        self.assertEqual(check("bench/x/run", "#!/bin/sh\n# Of no use.\n"), [])

    def test_every_sentence_of_a_page_counts(self):
        text = "# What is here\n\nA page. Of it\nnothing stays. **Where it\nmatters** it does.\n"
        self.assertEqual(check("docs/a.md", text), [
            '1: begins with "What"', '3: a sentence begins with "Of"',
            '4: a sentence begins with "Where"'])

    def test_list_items_and_cells_of_a_page_count(self):
        text = "- which one\n\n| file | what it holds |\n|---|---|\n| `Who.h` | sizes |\n"
        self.assertEqual(check("docs/a.md", text),
                         ['1: begins with "which"', '3: begins with "what"'])

    def test_code_of_a_page_is_not_read(self):
        text = "Sizes:\n\n```cpp\n// What\n```\n\nWhere: `Of`. `who` says it.\n"
        self.assertEqual(check("README.md", text), [])


if __name__ == "__main__":
    unittest.main()
