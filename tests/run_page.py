#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a page, and sees whether they print what it shows: run_page.py PAGE

CTest has a test for each page with commands, `page.README.md`, so that all cores share them. How a
page says what is run and what that prints: pages.py.
"""
import os
import subprocess
import sys
import unittest

import kith
from pages import not_printed, script_of, shown_outputs


class Page(kith.TestCase):
    page = None

    @unittest.skipIf(kith.SANITIZED, "too slow there; the same commands are tested one by one")
    def test_prints_what_it_shows(self):
        text = self.page.read_text(encoding="utf-8")
        folder, outputs = self.path("run"), self.path("outputs")
        script, blocks = script_of(text, outputs)
        self.assertGreater(blocks, 0, f"{self.page} has no block `sh run`")
        folder.mkdir()
        outputs.mkdir()
        binaries = os.path.dirname(os.path.abspath(kith.KITH))
        environment = dict(os.environ, PATH=f"{binaries}:{os.environ['PATH']}",
                           KITH_SOURCE=str(kith.SOURCE), HOME=str(folder), LC_ALL="C.UTF-8")
        done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, text=True,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)
        printed = [p.read_text(encoding="utf-8", errors="replace")
                   for p in sorted(outputs.iterdir(), key=lambda p: int(p.name))]
        self.assertEqual(done.returncode, 0,
                         f"{done.stderr[-2000:]}\n{(printed or [''])[-1][-2000:]}")
        for line, block, shown in shown_outputs(text):
            where = f"{self.page}:{line}"
            self.assertIsNotNone(block, f"{where}: no `sh run` block stands right before this")
            wrong = not_printed(shown, printed[block - 1])
            self.assertEqual(wrong, [], f"{where}: not among what was printed:\n"
                                        f"{printed[block - 1][-3000:]}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    Page.page = kith.SOURCE / sys.argv.pop()
    kith.main()
