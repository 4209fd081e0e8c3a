#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What training says that it will need, beside what it takes; and input of hostile size.

usage: memory.py --kith PATH [--count N] [--seed S] [--all]

For data of many shapes the line `memory about ...` comes within 10 % or 8 MB of the peak from then
on, measured, less that of the bare program; with --max-memory just below it training is refused with exit 5,
just above it trains. A huge set, very many columns and a gzip file of 2 GB end in a sentence or a
model, in bounded memory and time. --count 0 runs all of it; any other count draws small shapes.
"""
import gzip
import os
import pathlib
import random
import re
import resource
import subprocess
import time

import campaign
import kith

MB = 1 << 20
SLACK, SHARE = 8 * MB, 0.10
# What softimpute takes grows with the rank that it finds, up to --dim; the estimate is for that.
SHARE_ABOVE = {"softimpute": 0.25}
UNITS = {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
BOUND, SECONDS = 1500 * MB, 60  # for what is hostile


class Shape:
    """Data that are made by a function and its numbers, and the flags they are trained with."""

    def __init__(self, models, make, numbers, *flags):
        self.models, self.make, self.numbers, self.flags = models, make, numbers, flags

    def size(self):
        return max(n for n in self.numbers if isinstance(n, int))

    def __str__(self):
        return re.sub(r"(.)\1{9,}", r"\1...", f"{self.make.__name__}{self.numbers}")


def ratings(users, items, count, name="", rated=True, timed=False):
    rng = random.Random(1)
    yield "user,item" + ",rating" * rated + ",time" * timed + "\n"
    for k in range(count):
        # Every user and item is there, then any.
        u = k if k < users else int(rng.random() * users)
        i = k if k < items else int(rng.random() * items)
        line = f"u{name}{u % users},i{name}{i % items}"
        if rated:
            line += f",{1 + (u * 7 + i * 3) % 5}"
        yield line + f",{k}\n" * timed + "\n" * (not timed)


def words(vocabulary, count, name=""):
    rng = random.Random(1)
    for k in range(0, count, 20):
        drawn = [k + j if k < vocabulary else int(vocabulary * rng.random() ** 3)
                 for j in range(20)]
        yield " ".join(f"w{name}{w % vocabulary}" for w in drawn) + "\n"


def labelled(vocabulary, count, labels=3):
    for k, line in enumerate(words(vocabulary, count)):
        yield f"__label__{k % labels} {line}"


def rows(count, values, columns=2, numbers=1, members=0):
    rng = random.Random(1)
    yield ",".join([f"c{c}" for c in range(columns)] + [f"n{n}" for n in range(numbers)]
                   + ["s"] * bool(members)) + "\n"
    for k in range(count):
        cells = [f"v{k if k < values else int(rng.random() * values)}" for _ in range(columns)]
        cells += [f"{rng.random():.4f}" for _ in range(numbers)]
        if members:
            cells.append("|".join(f"m{int(rng.random() * values)}" for _ in range(members)))
        yield ",".join(cells) + "\n"


def numbers(count, columns):
    rng = random.Random(1)
    row = [",".join(f"{rng.gauss(0, 1):.3f}" for _ in range(columns)) + "\n" for _ in range(50)]
    for k in range(count):
        yield row[k % 50] if k % 7 else ",".join([f"{rng.random():.3f}"] * columns) + "\n"


RATED = ["als", "mf", "bmf", "svp", "softimpute", "nmf"]
LAST = ["--epochs", "2"]
SLOW = {"softimpute": ["--iterations", "2"], "bmf": ["--dim", "16"]}  # much time for little memory
STOPS = ["als", "mf", "svp", "softimpute", "nmf"]
SHAPES = [
    Shape(RATED, ratings, (50, 50, 500), *LAST, "--dim", "8"),
    Shape(RATED, ratings, (2000, 1000, 20_000), *LAST, "--dim", "16"),
    Shape(RATED, ratings, (100_000, 2000, 150_000), *LAST, "--dim", "16"),
    Shape(RATED, ratings, (2000, 2000, 800_000), *LAST, "--dim", "8"),
    Shape(RATED, ratings, (30_000, 30_000, 80_000), *LAST, "--dim", "150"),
    Shape(RATED, ratings, (30_000, 30_000, 80_000), *LAST, "--dim", "100", "--holdout", "0"),
    Shape(STOPS, ratings, (30_000, 30_000, 80_000), *LAST, "--dim", "100", "--early-stop", "0"),
    Shape(RATED, ratings, (30_000, 30_000, 200_000), *LAST, "--dim", "60", "--no-refit",
          "--holdout", "0.5"),
    Shape(RATED, ratings, (60_000, 40_000, 100_000, "n" * 100), *LAST, "--dim", "8"),
    Shape(RATED, ratings, (3000, 3000, 500_000, "", True, True), *LAST, "--dim", "16",
          "--normalise", "both"),
    Shape(["als", "mf", "nmf"], ratings, (20_000, 20_000, 300_000, "", False), *LAST, "--dim",
          "64"),
    Shape(["word2vec"], words, (100, 2000), "--min-count", "1"),
    Shape(["word2vec"], words, (2000, 50_000), "--min-count", "1"),
    Shape(["word2vec"], words, (200_000, 400_000), "--min-count", "1", "--epochs", "1"),
    Shape(["word2vec"], words, (50_000, 200_000), "--min-count", "1", "--epochs", "1", "--dim",
          "400"),
    Shape(["word2vec"], words, (50_000, 200_000), "--min-count", "1", "--epochs", "1",
          "--early-stop", "1", "--holdout", "0.1"),
    Shape(["word2vec"], words, (50_000, 200_000), "--min-count", "1", "--epochs", "1",
          "--deterministic"),
    Shape(["word2vec"], words, (50_000, 200_000), "--min-count", "1", "--epochs", "1",
          "--objective", "cbow", "--noise", "window"),
    Shape(["word2vec"], words, (100_000, 200_000, "n" * 200), "--min-count", "1", "--epochs", "1",
          "--dim", "8"),
    Shape(["word2vec"], words, (300_000, 1_000_000), "--min-count", "5", "--epochs", "1"),
    Shape(["word2vec"], words, (1000, 3_000_000), "--epochs", "1", "--dim", "16"),
    Shape(["doc2vec"], words, (2000, 50_000), "--min-count", "1"),
    Shape(["doc2vec"], words, (50_000, 200_000), "--min-count", "1", "--epochs", "1", "--method",
          "dm", "--deterministic"),
    Shape(["plsa"], words, (2000, 50_000), "--min-df", "1", *LAST),
    Shape(["plsa"], words, (50_000, 400_000), "--min-df", "1", *LAST, "--topics", "100"),
    Shape(["plsa"], words, (50_000, 400_000), "--min-df", "1", *LAST, "--topics", "100",
          "--early-stop", "0", "--temper", "1"),
    Shape(["plsa"], words, (3000, 3_000_000), "--min-df", "1", *LAST, "--topics", "30",
          "--max-df", "1"),
    Shape(["plsa"], words, (20_000, 60_000), "--min-df", "1", *LAST, "--topics", "1000"),
    Shape(["lda"], words, (50_000, 400_000), "--min-df", "1", *LAST, "--topics", "100"),
    Shape(["lda"], words, (3000, 3_000_000), "--min-df", "1", *LAST, "--topics", "30",
          "--max-df", "1"),
    Shape(["lda"], words, (3000, 3_000_000), "--min-df", "1", *LAST, "--topics", "30",
          "--max-df", "1", "--method", "gibbs"),
    Shape(["lda"], words, (20_000, 400_000), "--min-df", "1", *LAST, "--topics", "50", "--method",
          "online"),
    Shape(["fasttext"], words, (2000, 50_000), "--min-count", "1"),
    Shape(["fasttext"], words, (100_000, 400_000), "--min-count", "1", "--epochs", "1"),
    Shape(["fasttext"], words, (50_000, 200_000), "--min-count", "1", "--epochs", "1", "--ngrams",
          "explicit", "--early-stop", "1", "--holdout", "0.1"),
    Shape(["fasttext"], words, (50_000, 200_000), "--min-count", "1", "--epochs", "1",
          "--deterministic"),
    Shape(["glove", "pmi"], words, (100, 2000), "--min-count", "1", *LAST),
    Shape(["glove", "pmi"], words, (20_000, 400_000), "--min-count", "1", *LAST, "--count-memory",
          "16"),
    Shape(["glove", "pmi"], words, (50_000, 200_000), "--min-count", "1", *LAST, "--dim", "300",
          "--count-memory", "16"),
    Shape(["glove"], words, (20_000, 400_000), "--min-count", "1", *LAST, "--early-stop", "1",
          "--holdout", "0.1", "--count-memory", "16"),
    Shape(["classifier"], labelled, (100, 2000), *LAST),
    Shape(["classifier"], labelled, (2000, 50_000), *LAST),
    Shape(["classifier"], labelled, (50_000, 400_000), *LAST),
    Shape(["classifier"], labelled, (50_000, 200_000), *LAST, "--word-ngrams", "1", "--dim", "300"),
    Shape(["classifier"], labelled, (20_000, 200_000), *LAST, "--early-stop", "1"),
    Shape(["classifier"], labelled, (20_000, 200_000), *LAST, "--deterministic"),
    Shape(["classifier"], labelled, (20_000, 200_000, 2000), *LAST, "--loss", "hierarchical"),
    Shape(["pca"], numbers, (500, 8)),
    Shape(["pca"], numbers, (20_000, 100)),
    Shape(["pca"], numbers, (2000, 900), "--method", "exact"),
    Shape(["pca"], numbers, (400, 8000), "--epochs", "3"),
    Shape(["pca"], numbers, (2000, 300), "--method", "autoencoder", "--epochs", "50"),
    Shape(["gmm"], numbers, (300, 3), *LAST, "--components", "3"),
    Shape(["gmm"], numbers, (100_000, 8), *LAST, "--components", "8", "--restarts", "1"),
    Shape(["gmm"], numbers, (5000, 100), *LAST, "--components", "16", "--restarts", "1"),
    Shape(["gmm"], numbers, (5000, 100), *LAST, "--components", "64", "--restarts", "1",
          "--covariance", "diagonal"),
    Shape(["gmm"], numbers, (5000, 100), *LAST, "--components", "64", "--restarts", "1", "--method",
          "kmeans"),
    Shape(["feat2vec"], rows, (100, 5), "--epochs", "2"),
    Shape(["feat2vec"], rows, (5000, 500), "--epochs", "2"),
    Shape(["feat2vec"], rows, (300_000, 50, 4), "--epochs", "1", "--dim", "8"),
    Shape(["feat2vec"], rows, (100_000, 40_000), "--epochs", "1", "--types",
          "c0=category,c1=category"),
    Shape(["feat2vec"], rows, (50_000, 20_000, 2), "--epochs", "1", "--optimiser", "adam",
          "--types", "c0=category,c1=category", "--dim", "200"),
    Shape(["feat2vec"], rows, (50_000, 20_000, 2), "--epochs", "1", "--deterministic",
          "--types", "c0=category,c1=category"),
    Shape(["feat2vec"], rows, (50_000, 20_000, 2), "--epochs", "1", "--early-stop", "1",
          "--types", "c0=category,c1=category"),
    Shape(["feat2vec"], rows, (30_000, 5000, 1, 1, 20), "--epochs", "1", "--types",
          "c0=category,s=set"),
    Shape(["feat2vec"], rows, (2000, 20, 150, 20), "--epochs", "1", "--pair-weights"),
    Shape(["feat2vec"], rows, (200_000, 20, 1, 8), "--epochs", "1", "--loss", "nce"),
]


def high_water(process):
    """The peak of a process so far, in bytes; 0 before it is the program, and when it has ended."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r"Name:\tkith.*VmHWM:\s+(\d+) kB", status, re.DOTALL)
    return 1024 * int(found[1]) if found else 0


def forget_peak(process):
    try:
        pathlib.Path(f"/proc/{process.pid}/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        pass  # it has ended, or may not be written to: then the peak is that of all


def measure(run, *args):
    """Runs the program: its exit code, peak in bytes, what it said, seconds of work.

    The peak is that of training if there is any: what reading took before is forgotten when the
    program says what training will need. The kernel counts the memory of the parent into ru_maxrss
    of a child, so below that the peak is what was seen while it ran.
    """
    run.runs += 1
    run.history.append(args)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open(run.folder / "said", "wb") as said:
        process = subprocess.Popen([run.program, *args], cwd=run.folder, stderr=said,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        peak = before = 0
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if not before and estimated((run.folder / "said").read_text(errors="replace")):
                before, peak = peak, 0
                forget_peak(process)
            peak = max(peak, high_water(process))
            time.sleep(0.001)
    process.returncode = os.waitstatus_to_exitcode(status)
    peak = peak or before  # it was over before it was looked at again
    if usage.ru_maxrss > own:
        peak = 1024 * usage.ru_maxrss
    text = (run.folder / "said").read_text(encoding="utf-8", errors="replace")
    return process.returncode, peak, text, usage.ru_utime + usage.ru_stime


def in_mb(amount):
    return f"{amount / 1e6:.1f} MB"


def write_lines(run, name, lines):
    with open(run.folder / name, "w", encoding="utf-8") as out:
        out.writelines(lines)


def estimated(said):
    found = re.search(r"^memory +about ([\d.,]+) (bytes|kB|MB|GB)", said, re.MULTILINE)
    return float(found[1].replace(",", "")) * UNITS[found[2]] if found else None


def check_estimate(run, shape, model, bare):
    command = ["train", model, "d", "-o", "m.kith", *shape.flags, *SLOW.get(model, [])]
    where = f"{model} of {shape}"
    code, peak, said, _ = measure(run, *command)
    estimate = estimated(said)
    if code != kith.DONE or not estimate:
        return run.fail(f"exit {code}: {where}: {said[-300:]}")
    code, _, said, _ = measure(run, *command, "--max-memory", str(int(0.98 * estimate)))
    if code != kith.NO_MEMORY or "kith: " not in said:
        run.fail(f"exit {code} with --max-memory below the estimate: {where}")
    code, _, said, _ = measure(run, *command, "--max-memory", str(int(1.02 * estimate)))
    if code != kith.DONE:
        return run.fail(f"exit {code} with --max-memory above the estimate: {where}: {said[-200:]}")
    taken = peak - bare
    if run.options.all:
        print(f"{where} {' '.join(shape.flags)}: about {in_mb(estimate)}, {in_mb(taken)} measured",
              flush=True)
    share = SHARE_ABOVE.get(model, SHARE) if estimate > taken else SHARE
    if abs(taken - estimate) > max(SLACK, share * taken):
        run.fail(f"memory about {in_mb(estimate)} but {in_mb(taken)} measured: {where}")
    return None


# --- Hostile sizes ---

def gzip_of(run, name, byte):
    """2 GB of one byte, as gzip files behind one another."""
    part = gzip.compress(byte * (64 * MB), 1)
    with open(run.folder / name, "wb") as out:
        for _ in range(32):
            out.write(part)


def hostile(run):
    """Names of what is hostile, and what makes it and gives the commands."""
    def huge_set():
        write_lines(run, "d.csv", ["a,s\n", "x,", "|".join(f"m{i}" for i in range(1_000_000)), "\n",
                                   "y,m1|m2\n", "x,m1\n"])
        yield "train", "feat2vec", "d.csv", "-o", "m.kith", "--types", "s=set,a=category", \
            "--epochs", "1", "--dim", "8", "--quiet"

    def many_columns():
        write_lines(run, "d.csv", [",".join(f"c{i}" for i in range(100_000)) + "\n"]
                    + [",".join("xy"[(i + k) % 2] for i in range(100_000)) + "\n"
                       for k in range(3)])
        for model in ("feat2vec", "als"):
            yield "train", model, "d.csv", "-o", "m.kith", "--epochs", "1", "--dim", "8", "--quiet"

    def zeros():
        gzip_of(run, "d.gz", b"\0")
        for model in ("word2vec", "classifier", "feat2vec", "als"):
            yield "train", model, "d.gz", "-o", "m.kith", "--quiet"
        yield "import", "d.gz", "-o", "m.kith", "--quiet"

    def one_word():
        gzip_of(run, "d.gz", b"a")
        for model in ("word2vec", "classifier", "feat2vec", "als"):
            yield "train", model, "d.gz", "-o", "m.kith", "--quiet"
        yield "import", "d.gz", "-o", "m.kith", "--quiet"

    def empty_lines():
        gzip_of(run, "d.gz", b"\n")
        for model in ("word2vec", "feat2vec", "als"):
            yield "train", model, "d.gz", "-o", "m.kith", "--quiet"
    return huge_set, many_columns, zeros, one_word, empty_lines


def check_hostile(run, make):
    for command in make():
        run.history = []
        code, peak, said, seconds = measure(run, *command)
        where = f"{make.__name__}: {' '.join(command[:2])}"
        if run.options.all:
            print(f"{where}: exit {code}, {in_mb(peak)}, {seconds:.1f} s {said.strip()[:200]}")
        if code not in (kith.DONE, *campaign.REFUSED) or code and "kith: " not in said:
            run.fail(f"exit {code}: {where}: {said[-300:]}")
        if peak > BOUND:
            run.fail(f"{in_mb(peak)} of memory: {where}")
        if seconds > SECONDS * (10 if run.sanitized else 1):
            run.fail(f"{seconds:.0f} s: {where}")


def main():
    run = campaign.Campaign(__doc__, 4)
    if run.sanitized:
        print("memory.py: a sanitizer takes memory of its own; nothing was measured")
        return
    bare = max(measure(run, "version")[1] for _ in range(5))  # it ends before it is well seen
    work = [(check_estimate, (shape, model, bare)) for shape in SHAPES for model in shape.models]
    work += [(check_hostile, (make,)) for make in hostile(run)]
    if run.options.count:
        small = [(check, args) for check, args in work
                 if check is check_estimate and args[0].size() <= 20_000]
        work = random.Random(run.options.seed).sample(small, min(len(small), run.options.count))
    made = None
    for check, args in work:
        if check is check_hostile:
            run.begin()
        elif args[0] is not made:
            run.begin()
            write_lines(run, "d", args[0].make(*args[0].numbers))
        else:
            run.cases += 1
        made, run.history = args[0], []
        run.repeat = f"d has {made}" if check is check_estimate else made.__name__
        check(run, *args)
    run.finish()


if __name__ == "__main__":
    main()
