"""install_packages calls apt-get for what dpkg misses, and for nothing else."""

import os
import pathlib
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "install_packages"

DPKG = '#!/bin/sh\nfor last; do :; done\n[ "$last" = here ] && printf installed || exit 1\n'
LOG = '#!/bin/sh\necho "$(basename $0) $*" >>"$CALLS"\n'
RUN = LOG + '"$@"\n'


def install(*packages):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"dpkg-query": DPKG, "apt-get": LOG, "sudo": RUN}.items():
            path = pathlib.Path(folder, name)
            path.write_text(text)
            path.chmod(0o755)
        calls = pathlib.Path(folder, "calls")
        calls.touch()
        path = folder + os.pathsep + os.environ["PATH"]
        environment = dict(os.environ, PATH=path, CALLS=str(calls))
        subprocess.run([TOOL, *packages], check=True, env=environment, capture_output=True)
        return [line for line in calls.read_text().splitlines() if line.startswith("apt-get")]


class InstallPackages(unittest.TestCase):
    def test_nothing_missing_does_nothing(self):
        self.assertEqual(install("here"), [])

    def test_only_the_missing_ones_are_installed(self):
        calls = install("here", "gone", "lost")
        self.assertEqual(calls[0], "apt-get -qq update")
        self.assertTrue(calls[1].endswith(" gone lost"), calls)


if __name__ == "__main__":
    unittest.main()
