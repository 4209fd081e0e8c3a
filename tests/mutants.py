#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the code on purpose, one line at a time, and sees whether a test notices.

usage: mutants.py [--build FOLDER] [--only REGEX] [--layer LAYER] [--since COMMIT] [--sample N]
                  [--seed N] [--jobs N]

tests/mutants/*.toml list the mutants: `file`, `line` (text that stands in the file exactly once),
`becomes`, `why` that is wrong, and `tests`, those that should notice: a test program with or
without a filter ("io_test", "io_test:Archive.*:File.*") or a name that CTest knows
("e2e_train.test_gzip"). A `tests` at the top of a list is for those that have none of their own.
`equivalent` says why no test can notice.

--only is searched for in file, line and why. --since takes mutants in folders that changed since a
commit, --sample as many of them at random. Each of --jobs workers has a copy of the tree in FOLDER
(build/mutants), where it changes a line, builds the programs concerned and runs their tests: the
tree itself is never touched.

Fails if a mutant survives that is not called equivalent, if one that is called so is noticed, and
if the list is out of date: a line that is not there once, or a change that does not compile.
"""
import argparse
import collections
import os
import pathlib
import queue
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEYS = {"file", "line", "becomes", "why", "tests", "equivalent"}
# One SIMD target, the machine's own, and little optimisation: most of the time goes to compiling.
FLAGS = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
         "-DCMAKE_CXX_FLAGS=-march=native -DHWY_COMPILE_ONLY_STATIC", "-DKITH_BENCH=OFF"]


class BadList(Exception):
    pass


class Mutant:
    def __init__(self, where, entry, tests):
        entry = {"tests": tests, "equivalent": "", **entry}
        if set(entry) != KEYS or not entry["tests"] or not entry["why"]:
            raise BadList(f"{where}: a mutant has {', '.join(sorted(KEYS))}; got {entry}")
        self.file, self.line, self.becomes = entry["file"], entry["line"], entry["becomes"]
        self.why, self.tests, self.equivalent = entry["why"], entry["tests"], entry["equivalent"]
        parts = pathlib.PurePath(self.file).parts
        self.folder = str(pathlib.PurePath(self.file).parent)
        self.layer = "/".join(parts[1:-1]) if parts[0] == "src" else parts[0]
        text = (ROOT / self.file).read_text() if (ROOT / self.file).exists() else ""
        if text.count(self.line) != 1 or self.line == self.becomes:
            raise BadList(f"{where}: {self.file} has this {text.count(self.line)} times, not once: "
                          f"{self.line}")
        self.number = text[:text.index(self.line)].count("\n") + 1

    def __str__(self):
        return f"{self.file}:{self.number}: {self.why}"


def read_lists():
    mutants = []
    for path in sorted((ROOT / "tests/mutants").glob("*.toml")):
        content = tomllib.loads(path.read_text())
        for entry in content["mutant"]:
            mutants.append(Mutant(path.name, entry, content.get("tests", [])))
    return mutants


def git(*args):
    return subprocess.run(["git", "-C", ROOT, *args], check=True, capture_output=True,
                          text=True).stdout.splitlines()


def chosen(mutants, options):
    if options.only:
        mutants = [m for m in mutants
                   if re.search(options.only, f"{m.file}:{m.number} {m.line} {m.why}")]
    if options.layer:
        mutants = [m for m in mutants
                   if m.layer == options.layer or m.layer.startswith(options.layer + "/")]
    if options.since:
        names = git("diff", "--name-only", options.since)
        changed = {str(pathlib.PurePath(name).parent) for name in names}
        mutants = [m for m in mutants if m.folder in changed]
    if options.sample and options.sample < len(mutants):
        seed = random.randrange(10**6) if options.seed is None else options.seed
        print(f"mutants: a sample with --seed {seed}", flush=True)
        mutants = random.Random(seed).sample(mutants, options.sample)
    return sorted(mutants, key=lambda m: (m.file, m.number))


class Tree:
    """A copy of the sources with a build of its own."""

    def __init__(self, folder):
        self.source, self.build, self.jobs = folder / "source", folder / "build", 1
        self.seconds = {}  # what the tests took when nothing was broken
        temporary = folder / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        # Paths below the tree are hashed as if they were relative: the trees share what ccache has.
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(folder), TMPDIR=str(temporary),
                                TEST_TMPDIR=str(temporary))

    def copy(self):
        """Brings the copy up to date; what is the same keeps its time, so it is not built again."""
        files = {f for f in git("ls-files", "--cached", "--others", "--exclude-standard")
                 if (ROOT / f).is_file()}
        for old in [p for p in self.source.rglob("*") if p.is_file()]:
            if str(old.relative_to(self.source)) not in files:
                old.unlink()
        for name in files:
            to, content = self.source / name, (ROOT / name).read_bytes()
            if not to.exists() or to.read_bytes() != content:
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(content)
                shutil.copymode(ROOT / name, to)

    def run(self, *command, timeout=None):
        """Exit code and output; the code is None after a time-out."""
        process = subprocess.Popen([str(c) for c in command], cwd=self.build, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            out, _ = process.communicate(timeout=timeout)
            return process.returncode, out.decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)  # a test may have started programs of its own
            process.communicate()
            return None, ""

    def make(self, tests):
        """Builds what the tests run; None or the compiler's complaint."""
        programs = {t.split(":")[0] for t in tests if "." not in t.split(":")[0]}
        if any(t.startswith("mutate.") for t in tests):
            programs.add("read_many")
        if any(t.startswith("e2e_") for t in tests):
            programs.add("kith")
        code, out = self.run("ninja", "-j", self.jobs, *sorted(programs))
        return out if code else None

    def prepare(self, tests, jobs):
        self.copy()
        self.jobs = jobs
        self.build.mkdir(exist_ok=True)
        code, out = self.run("cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", *FLAGS)
        failed = out if code else self.make(tests)
        if failed:
            raise BadList(f"the unbroken tree does not build:\n{failed[-4000:]}")

    def passes(self, test):
        """Whether a test passes; a time-out is no pass."""
        program, _, pattern = test.partition(":")
        if "." in program:
            command = ["ctest", "-R", f"^{re.escape(test)}$", "--no-tests=error"]
        else:
            command = [self.build / program, f"--gtest_filter={pattern or '*'}", "--gtest_brief=1",
                       "--gtest_fail_fast"]
        began = time.monotonic()
        usual = self.seconds.get(test)
        code, out = self.run(*command, timeout=None if usual is None else 30 + 10 * usual)
        if usual is None:
            self.seconds[test] = time.monotonic() - began
            if code or "PASSED  ] 0 tests" in out:
                raise BadList(f"{test} fails, or is none, though nothing is broken:\n{out[-4000:]}")
        return code == 0

    def try_out(self, mutant):
        """KILLED, SURVIVED or BROKEN, and what noticed or the compiler said."""
        path = self.source / mutant.file
        text = path.read_text()
        path.write_text(text.replace(mutant.line, mutant.becomes))
        try:
            failed = self.make(mutant.tests)
            if failed:
                errors = [l for l in failed.splitlines() if "error" in l]
                return "BROKEN", (errors or [failed[-300:]])[0]
            for test in mutant.tests:
                if not self.passes(test):
                    return "KILLED", test
            return "SURVIVED", ""
        finally:
            path.write_text(text)


def run_all(mutants, trees):
    """The outcome of each. All of a file go to one worker: then one object is built for each."""
    by_file = collections.defaultdict(list)
    for m in mutants:
        by_file[m.file].append(m)
    waiting, outcomes, lock = queue.SimpleQueue(), {}, threading.Lock()
    for group in by_file.values():
        waiting.put(group)

    def work(tree):
        while True:
            try:
                group = waiting.get_nowait()
            except queue.Empty:
                return
            for m in group:
                began = time.monotonic()
                outcome, by = tree.try_out(m)
                with lock:
                    outcomes[m] = outcome
                    print(f"{outcome:8} {time.monotonic() - began:4.0f} s  {m}"
                          f"{f'  ({by})' if by else ''}", flush=True)

    threads = [threading.Thread(target=work, args=[t], daemon=True) for t in trees]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return outcomes


def show(outcomes):
    """The table by layer, then what is wrong; whether nothing is."""
    table = collections.defaultdict(collections.Counter)
    for m, outcome in outcomes.items():
        for row in (m.layer, "all"):
            table[row]["equivalent" if m.equivalent else outcome] += 1
    print(f"\n{'layer':20}{'killed':>8}{'of':>6}{'score':>8}{'equivalent':>12}")
    for layer in sorted(table, key=lambda l: (l == "all", l)):
        count = table[layer]
        total = count["KILLED"] + count["SURVIVED"]
        score = f"{100 * count['KILLED'] / total:.0f} %" if total else ""
        print(f"{layer:20}{count['KILLED']:8}{total:6}{score:>8}{count['equivalent'] or '':>12}")
    bad = [(f"{outcome.lower()}, though called equivalent" if m.equivalent else outcome.lower(), m)
           for m, outcome in outcomes.items()
           if outcome != ("SURVIVED" if m.equivalent else "KILLED")]
    for what, m in bad:
        print(f"mutants: {what}: {m}\n    {m.line}\n    {m.becomes}")
    return not bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/mutants")
    parser.add_argument("--only")
    parser.add_argument("--layer")
    parser.add_argument("--since")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()
    try:
        mutants = chosen(read_lists(), options)
        if not mutants:
            print("mutants: none of them is meant")
            return
        tests = sorted({t for m in mutants for t in m.tests})
        count = max(1, min(options.jobs, len({m.file for m in mutants})))
        trees = [Tree(options.build.resolve() / str(i)) for i in range(count)]
        for tree in trees:
            tree.prepare(tests, options.jobs)
            tree.jobs = max(1, options.jobs // count)
            tree.seconds = trees[0].seconds
        for test in tests:
            trees[0].passes(test)
    except BadList as e:
        sys.exit(f"mutants: {e}")
    print(f"mutants: {len(mutants)}; ready after {time.monotonic() - began:.0f} s", flush=True)
    good = show(run_all(mutants, trees))
    print(f"mutants: {time.monotonic() - began:.0f} s in all")
    sys.exit(not good)


if __name__ == "__main__":
    main()
