# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: running the program, and text with a known truth.

The program is $KITH. CTest runs each test method by itself (`e2e_x.py -k '*.test_name'`), so a
method must not need another one to have run.
"""
import ctypes
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

KITH = os.environ.get("KITH", "build/release/kith")
SANITIZED = bool(os.environ.get("KITH_SANITIZE"))
SOURCE = pathlib.Path(os.environ.get("KITH_SOURCE", pathlib.Path(__file__).parent.parent))
BUILD = pathlib.Path(os.environ.get("KITH_BUILD", "build/release"))
# Exit codes, as DESIGN.md promises them.
DONE, BAD_INPUT, BAD_USAGE, INTERRUPTED, DIVERGED, NO_MEMORY = range(6)
SKIPPED = 77
ERROR = ("kith: ", '{"error":')


class Result:
    """How a run of the program ended."""

    def __init__(self, command, code, out, err, seconds):
        self.command, self.code, self.out, self.err, self.seconds = command, code, out, err, seconds

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def json_lines(self):
        """One object a line, as a command prints several answers."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def error(self):
        """The error: the line on stderr that begins with the program's name, or is JSON."""
        return "\n".join(l for l in self.err.splitlines() if l.startswith(ERROR))

    def __str__(self):
        return (f"$ {' '.join(self.command)}\nexit {self.code} after {self.seconds:.1f} s\n"
                f"stdout: {self.out[-3000:]}\nstderr: {self.err[-3000:]}")


def start(*args, **options):
    """Starts the program without waiting."""
    environment = dict(os.environ, LC_ALL="C.UTF-8", **options.pop("env", {}))
    return subprocess.Popen([KITH, *map(str, args)], stdin=options.pop("stdin", subprocess.DEVNULL),
                            stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                            env=environment, **options)


def run(*args, stdin=None, timeout=200, **options):
    """Runs the program to its end; `stdin` is bytes."""
    began = time.monotonic()
    process = start(*args, stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                    **options)
    try:
        out, err = process.communicate(stdin, timeout=timeout * (10 if SANITIZED else 1))
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"no end after {timeout} s: {' '.join(map(str, args))}\n"
                             f"{err.decode(errors='replace')[-2000:]}") from None
    out, err = (text.decode(errors="replace") for text in (out or b"", err))
    return Result(["kith", *map(str, args)], process.returncode, out, err,
                  time.monotonic() - began)


def fasttext(*args, asked=""):
    """What fastText itself says; `asked` is its standard input."""
    return subprocess.run(["fasttext", *map(str, args)], check=True, capture_output=True,
                          input=asked, text=True).stdout


def without_root_powers():
    """For preexec_fn: takes from root the power to write where the permissions forbid it."""
    if os.geteuid() == 0:
        drop_bounding, dac_override, dac_read_search = 24, 1, 2
        libc = ctypes.CDLL(None, use_errno=True)
        for power in (dac_override, dac_read_search):
            if libc.prctl(drop_bounding, power, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "prctl")


def with_file_limit(size):
    """For preexec_fn: a write beyond `size` bytes of a file fails, as on a full disk. (It also
    sends a signal that ends a program which does not ignore it.)"""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


def peak_memory(*args, stdin=None):
    """Runs the program and returns its exit code and its peak resident memory in bytes."""
    process = start(*args, stdout=subprocess.DEVNULL,
                    stdin=open(stdin, "rb") if stdin else subprocess.DEVNULL)
    process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    return process.returncode, usage.ru_maxrss * 1024


class TestCase(unittest.TestCase):
    """A test with a folder of its own, `self.folder`, gone afterwards."""

    maxDiff = 4000

    def setUp(self):
        if tempdir := os.environ.get("TMPDIR"):
            os.makedirs(tempdir, exist_ok=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kith-"))
        self.addCleanup(self._remove)

    def _remove(self):
        for path in [self.folder, *self.folder.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        shutil.rmtree(self.folder)

    def path(self, name):
        return self.folder / name

    def write(self, name, content):
        path = self.path(name)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def ok(self, *args, **options):
        """Runs the program, which must succeed."""
        result = run(*args, **options)
        self.assertEqual(result.code, DONE, str(result))
        return result

    def refused(self, *args, code=BAD_INPUT, says=(), lines=1, **options):
        """Runs the program, which must fail with this code and one clear line on stderr."""
        result = run(*args, **options)
        self.assertEqual(result.code, code, str(result))
        if lines:
            self.assertEqual(len(result.error.splitlines()), lines, f"one line of error: {result}")
        self.assertNotIn("terminate called", result.err, str(result))
        # The error comes last, so that it is what the user sees.
        self.assertTrue(result.err.rstrip("\n").split("\n")[-1].startswith(ERROR), str(result))
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text.lower(), result.error.lower(), str(result))
        return result

    def leftovers(self, *expected):
        """The folder holds these files and nothing else: no temporary file was left."""
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), sorted(expected))


# --- Text with a known truth ---

HILL = [f"hill{i}" for i in range(10)]
SEA = [f"sea{i}" for i in range(10)]


def two_topics(lines=2000, words=10, seed=1):
    """Sentences of hill words and sentences of sea words, never mixed; as text."""
    rng = random.Random(seed)
    return "".join(" ".join(rng.choices(rng.choice((HILL, SEA)), k=words)) + "\n"
                   for _ in range(lines))


def labelled_topics(lines=600, words=6, seed=1):
    """The same with the topic as label, in fastText's form."""
    rng = random.Random(seed)
    texts = [(name, rng.choices(topic, k=words))
             for name, topic in rng.choices((("hill", HILL), ("sea", SEA)), k=lines)]
    return "".join(f"__label__{name} {' '.join(text)}\n" for name, text in texts)


def many_words(words, vocabulary=2000, seed=1, line=20):
    """Text of `words` words with a frequency of about 1/rank, as bytes; quick to make."""
    rng = random.Random(seed)
    names = [b"w%d" % i for i in range(vocabulary)]
    weights = [1 / (i + 1) for i in range(vocabulary)]
    # One draw of 100,000 words, then lines of it in random order: random enough to train on.
    drawn = rng.choices(names, weights, k=min(words, 100_000))
    lines = [b" ".join(drawn[i:i + line]) for i in range(0, len(drawn), line)]
    return b"\n".join(rng.choices(lines, k=words // line)) + b"\n"


# Small and quick: everything a test of files and flags needs.
QUICK = ["--dim", 8, "--epochs", 2, "--threads", 1, "--sample", 0, "--quiet"]


def train_quick(test, name="words.kith", text=None, *flags):
    """Trains a small model in the test's folder and returns its path."""
    corpus = test.write(name + ".txt", two_topics(300) if text is None else text)
    model = test.path(name)
    test.ok("train", "word2vec", corpus, "-o", model, *QUICK, *flags)
    corpus.unlink()
    return model


def main():
    """unittest.main, but no test at all is a failure, and only skipped ones are a skip."""
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    if not result.wasSuccessful() or result.testsRun == 0:
        sys.exit(1)
    sys.exit(SKIPPED if len(result.skipped) == result.testsRun else 0)
