# SPDX-License-Identifier: Apache-2.0
"""Short forms of the campaigns in tests/campaigns; `make campaigns` runs long ones.

Each draws its cases from a seed, here always the same.
"""
import subprocess
import sys
import unittest

import kith

CAMPAIGNS = kith.SOURCE / "tests" / "campaigns"


class Campaigns(kith.TestCase):
    def holds(self, name, *args):
        command = [sys.executable, "-B", CAMPAIGNS / name, "--kith", kith.KITH, *map(str, args)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        print(done.stdout.rstrip().split("\n")[-1])
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])

    @unittest.skipIf(kith.SANITIZED, "the library that kills is no friend of sanitizers")
    def test_kills(self):
        self.holds("kills.py", "--count", 12)

    @unittest.skipIf(kith.SANITIZED, "sanitizers have a malloc of their own")
    def test_faults(self):
        self.holds("faults.py", "--count", 60)

    def test_tiny_data(self):
        self.holds("tiny.py", "--count", 4 if kith.SANITIZED else 12)

    def test_extremes(self):
        self.holds("extremes.py", "--count", 20 if kith.SANITIZED else 60)

    def test_hostile_files(self):
        self.holds("hostile.py", "--use-many", kith.BUILD / "use_many", "--count", 60)

    def test_each_mutant_is_of_a_line_that_is_there(self):
        done = subprocess.run([sys.executable, "-B", kith.SOURCE / "tests/mutants.py", "--only",
                               "(?!)"], capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.stderr), ("mutants: none of them is meant\n", ""))

    @unittest.skipIf(kith.SANITIZED, "sanitizers take memory of their own")
    def test_memory(self):
        self.holds("memory.py", "--count", 6)


if __name__ == "__main__":
    kith.main()
