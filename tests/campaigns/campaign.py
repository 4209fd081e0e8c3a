# SPDX-License-Identifier: Apache-2.0
"""What the campaigns share: running the program, judging how it ended, and what can be set.

A run is as promised if it ends in time, and either with exit 0 and finite numbers, or with exit
1, 2, 4 or 5 and one sentence `kith: ...` as the last line. What is not is printed with the
commands that repeat it.
"""
import argparse
import collections
import dataclasses
import json
import math
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import kith  # noqa: E402

REFUSED = (kith.BAD_INPUT, kith.BAD_USAGE, kith.DIVERGED, kith.NO_MEMORY)
SANITIZERS = re.compile(r"(ERROR|WARNING): \w+Sanitizer|runtime error:|terminate called")
NOT_FINITE = re.compile(r"(?<![\w.=:/\"'-])[-+]?(nan|inf(inity)?)(?![\w.=:/-])", re.IGNORECASE)


def not_finite(value):
    """Whether a number in what JSON says is not finite."""
    if isinstance(value, dict):
        return any(map(not_finite, value.values()))
    if isinstance(value, list):
        return any(map(not_finite, value))
    return isinstance(value, float) and not math.isfinite(value)


class Campaign:
    """Runs the program in a folder of its own, and counts what was not as promised."""

    def __init__(self, about, count):
        parser = argparse.ArgumentParser(description=about)
        parser.add_argument("--kith", default=kith.KITH, help="the program")
        parser.add_argument("--count", type=int, default=count, help="how many cases")
        parser.add_argument("--seed", type=int, default=1, help="of the first case")
        parser.add_argument("--all", action="store_true", help="print every failure")
        self.options = parser.parse_args()
        self.program = shutil.which(self.options.kith) or self.options.kith
        self.program = str(pathlib.Path(self.program).resolve())
        said = subprocess.run([self.program, "info", "/"], capture_output=True, check=False,
                              env=dict(os.environ, ASAN_OPTIONS="help=1")).stderr
        self.sanitized = b"AddressSanitizer" in said
        kith.KITH = self.program
        self.limit = 60 if self.sanitized else 20
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kith-"))
        self.name = pathlib.Path(sys.argv[0]).name
        self.cases = self.runs = self.trained = 0
        self.failures = collections.Counter()  # by reason, numbers and names aside
        self.inputs = []
        self.history = []
        self.repeat = ""

    def begin(self, repeat=""):
        """A new case: nothing is there but what it writes."""
        self.cases += 1
        self.repeat, self.inputs, self.history = repeat, [], []
        for path in self.folder.iterdir():
            path.unlink()

    def write(self, name, content):
        (self.folder / name).write_text(content, encoding="utf-8", newline="")
        self.inputs.append((name, content))
        return name

    def run(self, *args, stdin=None):
        """Runs the program and judges it; None if it did not end."""
        self.runs += 1
        self.history.append(args)
        try:
            result = kith.run(*args, timeout=10 * self.limit, stdin=stdin, cwd=self.folder,
                              preexec_fn=self.limit_time,
                              env={"ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "exitcode=99"})
        except AssertionError:
            self.fail(f"no end after {10 * self.limit} s")
            return None
        if result.code == -signal.SIGXCPU:
            self.fail(f"no end after {self.limit} s of work")
            return None
        self.judge(result)
        self.trained += result.code == 0 and args[0] == "train"
        return result

    def limit_time(self):
        """Seconds of work, for on a busy machine those of the clock say little."""
        resource.setrlimit(resource.RLIMIT_CPU, (self.limit, self.limit + 5))

    def judge(self, result):
        if result.code < 0 or SANITIZERS.search(result.err):
            return self.fail(f"exit {result.code}: {result.err[:3000]}")
        errors = [l for l in result.error.splitlines() if not l.startswith("kith: warning: ")]
        if result.code == 0:
            if errors:
                self.fail(f"exit 0 with an error: {errors[0]}")
            if found := self.wrong_number(result):
                self.fail(f"not finite: {found}")
        elif result.code not in REFUSED:
            self.fail(f"exit {result.code}: {result.err[-500:]}")
        elif (not errors or len(errors) > self.queries(result)
              or result.err.rstrip("\n").split("\n")[-1] != errors[-1]):
            self.fail(f"exit {result.code} without one sentence at the end: {result.err[-500:]!r}")
        return None

    def queries(self, result):
        """How many sentences there may be: one for each query of a file."""
        if "--queries" not in result.command:
            return 1
        file = result.command[result.command.index("--queries") + 1]
        return max(1, len((self.folder / file).read_text(encoding="utf-8").splitlines()))

    @staticmethod
    def wrong_number(result):
        for line in (result.out + result.err).splitlines():
            if line.startswith("{"):
                try:
                    if not_finite(json.loads(line)):
                        return line[:300]
                    continue
                except ValueError:
                    pass
            if NOT_FINITE.search(line):
                return line[:300]
        return None

    def fail(self, why):
        reason = re.sub(r"[-+]?\d[\d.,e+-]*|0x\w+", "N", why.split("\n")[0])[:45]
        reason = f"{self.history[-1][0]}: {reason}"
        self.failures[reason] += 1
        if self.failures[reason] > 1 and not self.options.all:
            return
        print(f"--- {why}")
        for name, content in self.inputs:
            if len(content) < 4000 and name in (*self.history[-1], "d", "d.csv"):
                print(f"printf %s {shlex.quote(content)} > {name}")
        for args in self.history:
            if args[0] in ("train", "export", "update") or args is self.history[-1]:
                print(shlex.join([self.program, *map(str, args)]))
        print(f"# {self.repeat}", flush=True)

    def finish(self):
        shutil.rmtree(self.folder)
        for reason, times in self.failures.most_common():
            print(f"{times:6} x {reason}")
        print(f"{self.name}: {self.cases} cases, {self.runs} runs, {self.trained} models, "
              f"{self.failures.total()} failures")
        sys.exit(1 if self.failures else 0)


# --- What can be set ---

@dataclasses.dataclass
class Setting:
    name: str
    type: str  # int, number, text, flag, or choices with | between
    switch: bool = False  # can be taken back with --no-
    low: float = -math.inf
    high: float = math.inf


# Groups of the help whose settings decide what is learned.
LEARNING = ("The run", "The text", "Texts and labels", "What stands together", "Its columns", "The ratings",
            "Learning from the ratings")


def models(campaign):
    """Names and inputs of the models that can be trained."""
    listed = campaign.run("models", "--json").json
    made_of = {"counts": "text"}
    return {m["name"]: made_of.get(m["input"], m["input"]) for m in listed if m["input"] != "none"}


def settings(campaign, model):
    """The settings of a model and of its data, from its help."""
    out, group = [], ""
    for line in campaign.run("train", model, "--help").out.splitlines():
        if line and not line.startswith(" "):
            group = line
        said = re.match(r"  --(\[no-\])?([\w-]+)(?: (int|number|text|\S+\|\S+))?(?=\s|$)", line)
        if said and group in (*LEARNING, model):
            out.append(Setting(said[2], said[3] or "flag", bool(said[1])))
    return out


def find_range(campaign, model, data, setting):
    """The range of a number, from the sentence that refuses another."""
    said = ""
    for wrong in ("-1000000000", "1e15") if setting.type == "int" else ("-1e300", "1e300"):
        said = kith.run("train", model, data, "-o", "range.kith", "--quiet", f"--{setting.name}",
                        wrong, cwd=campaign.folder).error
        if found := re.search(r"between (\S+) and (\S+);", said):
            setting.low, setting.high = map(float, found.groups())
        elif found := re.search(r"at least (\S+);", said):
            setting.low = float(found[1])
        else:
            continue
        break
    return setting
