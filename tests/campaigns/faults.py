#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one call of the system or the allocator fail, in every command, at every place.

usage: faults.py --kith PROGRAM [--shim LIBRARY] [--count N] [--seed S] [--command NAME]
                 [--call KIND [--nth N --error ENOMEM [--forever]]] [--keep FOLDER]

Promised: no crash and no hang; exit 0 only with the answer and the files of a run without faults;
else an error (`kith: ...`, or JSON) comes last, with exit code 5 where memory is missing and 1
where the system said no. A file is what it was, or the new one, whole; no temporary file is left.
COUNT is the number of faults, spread over commands, calls and the way in which they fail.
"""
import argparse
import collections
import errno
import gzip
import math
import os
import pathlib
import random
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import shim
from shim import films, kith, stars

# How a call fails: with what, and whether all that follow do, too.
WAYS = {
    "alloc": [("ENOMEM", False), ("ENOMEM", True)],
    "open": [("EMFILE", False), ("EMFILE", True), ("EACCES", False)],
    "read": [("EIO", False), ("EIO", True), ("EINTR", False)],
    "write": [("ENOSPC", False), ("ENOSPC", True), ("EINTR", False)],
    "sync": [("EIO", False), ("EINTR", False)],
    "rename": [("EACCES", False), ("EIO", True)],
    "map": [("ENOMEM", False), ("ENOMEM", True)],
    "size": [("ENOSPC", False), ("ENOSPC", True)],
    "thread": [("EAGAIN", False), ("EAGAIN", True)],
}
SHOWN = 3  # failures of one kind
SMALL = ["--dim", 4, "--epochs", 3, "--quiet", "--threads", 1]
TWO = ["--dim", 4, "--epochs", 3, "--quiet", "--deterministic", "--threads", 2]
SAVED = ["-o", "out.kith"]
COMMANDS = {
    "train word2vec": ["train", "word2vec", "text.txt", *SAVED, *SMALL],
    "train word2vec, two threads": ["train", "word2vec", "text.txt", *SAVED, *TWO],
    "train word2vec, gzip": ["train", "word2vec", "text.txt.gz", *SAVED, *SMALL],
    "train word2vec, zstd": ["train", "word2vec", "text.txt.zst", *SAVED, *SMALL],
    "train word2vec, resumed": ["train", "word2vec", "text.txt", "-o", "words.kith", *SMALL,
                                "--resume"],
    "train word2vec, from": ["train", "text.txt", *SAVED, *SMALL, "--from", "words.kith"],
    "train word2vec, config": ["train", "text.txt", *SAVED, "--config", "run.toml", "--quiet",
                               "--threads", 1],
    "train feat2vec": ["train", "feat2vec", "table.csv", *SAVED, *SMALL],
    "train feat2vec, aloud": ["train", "feat2vec", "table.csv", *SAVED, *SMALL[:4], "--threads", 1],
    "train feat2vec, two threads": ["train", "feat2vec", "table.csv", *SAVED, *TWO],
    "train feat2vec, sqlite": ["train", "feat2vec", "table.db", *SAVED, *SMALL],
    "train feat2vec, jsonl": ["train", "feat2vec", "table.jsonl", *SAVED, *SMALL],
    "train feat2vec, resumed": ["train", "feat2vec", "table.csv", "-o", "table.kith", *SMALL,
                                "--resume"],
    **{f"train {m}": ["train", m, "stars.csv", *SAVED, *SMALL]
       for m in ("als", "mf", "bmf", "svp", "softimpute", "nmf")},
    **{f"train {m}, two threads": ["train", m, "stars.csv", *SAVED, *TWO]
       for m in ("als", "mf", "bmf", "svp", "softimpute", "nmf")},
    "train als, resumed": ["train", "als", "stars.csv", "-o", "stars.kith", *SMALL, "--resume"],
    "train mf, chosen": ["train", "mf", "chosen.csv", *SAVED, *SMALL],
    "train, looks": ["train", "stars.csv", *SAVED, *SMALL],
    "train glove": ["train", "glove", "text.txt", *SAVED, *SMALL],
    "train fasttext": ["train", "fasttext", "text.txt", *SAVED, *SMALL],
    "train doc2vec": ["train", "doc2vec", "text.txt", *SAVED, *SMALL],
    "train plsa": ["train", "plsa", "text.txt", *SAVED, "--topics", 3, *SMALL[2:]],
    "train plsa, two threads": ["train", "plsa", "text.txt", *SAVED, "--topics", 3, *TWO[2:]],
    "phrases": ["phrases", "text.txt", "-o", "joined.txt"],
    "train classifier": ["train", "classifier", "labelled.txt", *SAVED, *SMALL],
    "train classifier, two threads": ["train", "labelled.txt", *SAVED, *TWO],
    "train pmi, two threads": ["train", "pmi", "text.txt", *SAVED, *TWO],
    "train pmi, counts": ["train", "pmi", "words.counts", *SAVED, *SMALL],
    "count": ["count", "text.txt", "-o", "words.counts", "--quiet", "--threads", 2],
    "count, shown": ["count", "words.counts", "hill1", "--by", "pmi"],
    "near": ["near", "words.kith", "hill1", "sea1 + hill2", "--threads", 1],
    "near, hnsw": ["near", "words.kith", "hill1", "--search", "hnsw", "--threads", 1],
    "near, queries": ["near", "words.kith", "--queries", "queries.txt", "--json", "--threads", 2],
    "near, table": ["near", "table.kith", "director=Director 10", "--to", "cast", "--threads", 1],
    "near, titles": ["near", "stars.kith", "item=west1", "--names", "titles.csv", "--threads", 1],
    "analogy": ["analogy", "words.kith", "hill1", "hill2", "sea1"],
    "similarity": ["similarity", "words.kith", "hill1", "hill2"],
    "odd": ["odd", "words.kith", "hill1", "hill2", "sea1"],
    "predict": ["predict", "table.kith", "--target", "director", "year=1951"],
    "predict, file": ["predict", "table.kith", "--target", "director", "few.csv", "-o", "out.csv"],
    "predict, printed": ["predict", "table.kith", "--target", "director", "few.csv"],
    "predict, text": ["predict", "labels.kith", "hill1 hill2"],
    "predict, texts": ["predict", "labels.kith", "text.txt", "-o", "out.csv"],
    "predict, rating": ["predict", "stars.kith", "user=u1", "item=west1"],
    "predict, ratings": ["predict", "bayes.kith", "stars.csv", "-o", "out.csv"],
    "recommend": ["recommend", "stars.kith", "u1", "u2", "--threads", 1],
    "recommend, given": ["recommend", "stars.kith", "--given", "west1=5,love2=1", "--threads", 1],
    "recommend, all": ["recommend", "stars.kith", "--all", "-o", "out.csv", "--threads", 2],
    "recommend, only": ["recommend", "stars.kith", "u1", "--only", "items.txt", "--json"],
    "tune": ["tune", "als", "stars.csv", "--trials", 2, *SMALL],
    "tune, saved": ["tune", "mf", "stars.csv", "--trials", 2, *SAVED, *SMALL],
    "score": ["score", "table.kith", "few.csv", "--top", 3],
    "embed": ["embed", "table.kith", "director=Director 10", "--json"],
    "embed, model": ["embed", "table.kith", "few.csv", *SAVED, "--quiet"],
    "embed, npy": ["embed", "table.kith", "few.csv", "--to", "npy", "-o", "out.npy", "--quiet"],
    "update, table": ["update", "table.kith", "few.csv", "-o", "table.kith"],
    "update, ratings": ["update", "stars.kith", "stars.csv", "-o", "stars.kith", "--threads", 2],
    "eval, words": ["eval", "words.kith", "analogies.txt", "pairs.tsv", "--threads", 1, "--quiet"],
    "eval, table": ["eval", "table.kith", "few.csv", "--target", "director", "--given", "cast",
                    "--train", "few.csv", "--threads", 1, "--quiet"],
    "eval, texts": ["eval", "labels.kith", "labelled.txt", "--threads", 1, "--quiet"],
    "eval, ratings": ["eval", "stars.kith", "stars.csv", "--threads", 1, "--quiet"],
    "eval, folds": ["eval", "als", "stars.csv", "--folds", 2, "--threads", 2, "--quiet", "--dim", 2,
                    "--epochs", 2],
    **{f"export, {f}": ["export", "words.kith", "--to", f, "-o", "out.npy"]
       for f in ("word2vec-bin", "glove", "fasttext-bin", "npy", "csv", "safetensors")},
    "compress": ["compress", "words.kith", *SAVED, "--quiet"],
    "compress, labels": ["compress", "labels.kith", *SAVED, "--norms", "--threads", 2, "--quiet"],
    "export, printed": ["export", "words.kith", "--to", "word2vec-text", "-o", "-"],
    **{f"import, {f}": ["import", f, *SAVED, "--quiet"]
       for f in ("vectors.bin", "vectors.txt", "vectors.npy", "vectors.safetensors",
                 "vectors.csv.gz")},
    "info": ["info", "table.kith"],
    "info, json": ["info", "stars.kith", "--json"],
    "info, toml": ["info", "words.kith", "--toml"],
    "models": ["models", "--json"],
    "recover-demo": ["recover-demo", "--size", 12, "--ranks", 2, "--shares", 2, "--trials", 1, "-o",
                     "out.svg", "--quiet", "--threads", 2],
    "help": ["help", "train"],
    "help, man": ["help", "man"],
    "help, completion": ["help", "completion", "bash"],
    "version": ["version"],
}


def write_table(folder, rows):
    base = sqlite3.connect(folder / "table.db")
    base.execute(f"CREATE TABLE films({', '.join(f'{c} TEXT' for c in films.COLUMNS)})")
    base.executemany(f"INSERT INTO films VALUES ({','.join('?' * len(films.COLUMNS))})",
                     [list(row.values()) for row in rows])
    base.commit()
    base.close()


def prepare(folder, program):
    """The folder in which every command begins: data, models, checkpoints, older results."""
    shim.write_data(folder)
    path = folder.joinpath
    rows = films.films(60)
    path("text.txt").write_text(kith.two_topics(60))
    path("labelled.txt").write_text(kith.labelled_topics(60))
    path("table.csv").write_text(films.as_csv(rows))
    path("few.csv").write_text(films.as_csv(films.films(20, seed=2)))
    path("table.jsonl").write_text("".join(kith.json.dumps(row) + "\n" for row in rows))
    path("stars.csv").write_text(stars.as_text(stars.ratings(2)))
    path("titles.csv").write_text("item,title\n" + "".join(f"{i},Film {i}\n" for i in stars.ITEMS))
    path("text.txt.gz").write_bytes(gzip.compress(path("text.txt").read_bytes(), mtime=0))
    subprocess.run(["zstd", "-q", path("text.txt")], check=True)
    write_table(folder, rows)
    path("run.toml").write_text("dim = 4\nepochs = 2\nsample = 0.0\n")
    path("queries.txt").write_text("".join(f"hill{k}\nsea{k}\n" for k in range(10)))
    path("items.txt").write_text("west1\nlove2\nfear3\n")
    path("analogies.txt").write_text("hill1 hill2 hill3 hill4\nsea1 sea2 sea3 sea4\n")
    path("pairs.tsv").write_text("hill1\thill2\t9\nhill1\tsea2\t1\nhill3\tsea2\t2\n")

    def ok(*args, **settings):
        result = program.run(args, folder, **settings)
        assert result and result.code == kith.DONE, str(result)

    for model, data, name in (("word2vec", "text.txt", "words"), ("feat2vec", "table.csv", "table"),
                              ("als", "stars.csv", "stars"), ("bmf", "stars.csv", "bayes")):
        train = ["train", model, data, "-o", f"{name}.kith", *SMALL]
        ok(*train)
        killed = program.run([*train, "--checkpoint-every", 1], folder, clock=1, call="rename",
                             nth=1, do="killafter")
        assert killed and killed.code == -9, str(killed)
    for form, name in (("word2vec-bin", "vectors.bin"), ("word2vec-text", "vectors.txt"),
                       ("npy", "vectors.npy"), ("safetensors", "vectors.safetensors"),
                       ("csv", "vectors.csv")):
        ok("export", "words.kith", "--to", form, "-o", name)
    path("vectors.csv.gz").write_bytes(gzip.compress(path("vectors.csv").read_bytes(), mtime=0))
    ok("count", "text.txt", "-o", "words.counts", "--quiet")
    ok("train", "classifier", "labelled.txt", "-o", "labels.kith", *SMALL)
    ok("train", "als", "stars.csv", "-o", "out.kith", *SMALL, "--seed", 9)
    for name in ("out.csv", "out.npy", "out.npy.names.txt", "out.svg"):
        path(name).write_text("an older result\n")


def content(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


class Campaign:
    def __init__(self, program, folder):
        self.shim, self.folder = program, folder
        self.good, self.counts = {}, {}
        self.faults, self.found = 0, collections.Counter()
        self.before = content(folder / "start")

    def fresh(self):
        run = self.folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        # Links: the program puts new files in the place of old ones, and changes none.
        shutil.copytree(self.folder / "start", run, copy_function=os.link)
        return run

    def learn(self, name):
        """What the command says and writes, and which calls it makes, when nothing fails."""
        folder = self.fresh()
        result, self.counts[name] = self.shim.count(COMMANDS[name], folder)
        assert result and result.code == kith.DONE, f"{name}: {result}"
        self.good[name] = result.out, content(folder)

    def wrong_files(self, name, after, done):
        """What is wrong with the files that the command left."""
        good = self.good[name][1]
        for file in sorted({*self.before, *good, *after}):
            old, new, now = (files.get(file) for files in (self.before, good, after))
            if now == new or (now == old and not done):
                continue
            if file.endswith(".tmp"):
                return "a temporary file is left"
            if now is None:
                return f"{file} is lost"
            whole = self.shim.run(["info", file], self.folder / "run")
            if done or not (file.endswith((".kith", ".checkpoint")) and whole and whole.code == 0):
                return f"{file} is neither the old nor the new one"
        return ""

    def wrong(self, name, code, result, after):
        """What is wrong with how the command ended."""
        if result is None:
            return "hangs"
        if result.code < 0:
            return f"dies of signal {-result.code}"
        done = result.code == kith.DONE
        if done and result.out != self.good[name][0]:
            return "exit 0 with another answer"
        expected = kith.NO_MEMORY if code == "ENOMEM" else kith.BAD_INPUT
        if not done and result.code != expected:
            return f"exit {result.code}, not {expected}: {result.err[-200:].strip()}"
        if not done and not result.err.rstrip("\n").split("\n")[-1].startswith(kith.ERROR):
            return f"no error comes last, but {result.err[-200:]!r}"
        if code == "EINTR" and not done:
            return f"a call that a signal cut short was not repeated: {result.err[-200:].strip()}"
        return self.wrong_files(name, after, done)

    def fault(self, name, call, code, forever, nth, **more):
        """One run in which that call fails."""
        self.faults += 1
        folder = self.fresh()
        if forever:
            more["forever"] = 1
        result = self.shim.run(COMMANDS[name], folder, call=call, nth=nth,
                               do=getattr(errno, code), **more)
        if "trace" in more:
            print(result)
        why = self.wrong(name, code, result, content(folder))
        if not why:
            return
        kind = (call, code, forever, why[:60])
        self.found[kind] += 1
        if self.found[kind] <= SHOWN:
            again = [sys.argv[0], "--kith", kith.KITH, "--command", name, "--call", call, "--nth",
                     str(nth), "--error", code, *["--forever"] * forever]
            print(f"faults: {name}: {call} {nth} of {self.counts[name][call]}, {code}"
                  f"{' from there on' * forever}: {why}\n  again with: {shlex.join(again)}",
                  flush=True)


def places(calls, most, rng):
    """Numbers of calls: all, or some that are spread evenly and some at random."""
    if calls <= most:
        return list(range(1, calls + 1))
    even = {1 + k * (calls - 1) // max(1, most // 2) for k in range(most // 2)}
    return sorted(even | {rng.randint(1, calls) for _ in range(most - len(even))})


def spread(campaign, args, rng):
    """Faults everywhere, as many as were asked for."""
    ways = [(command, call, *way) for command in ([args.command] if args.command else COMMANDS)
            for call in ([args.call] if args.call else WAYS) for way in WAYS[call]]
    rng.shuffle(ways)
    # Those with few calls leave more for the others.
    for left, (command, call, code, forever) in zip(range(len(ways), 0, -1), ways):
        if campaign.faults >= args.count:
            break
        if command not in campaign.good:
            campaign.learn(command)
        most = math.ceil((args.count - campaign.faults) / left)
        for nth in places(campaign.counts[command][call], most, rng):
            campaign.fault(command, call, code, forever, nth)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kith", required=True, type=pathlib.Path)
    parser.add_argument("--shim", type=pathlib.Path, help="faults.c, compiled; else it is now")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", choices=list(COMMANDS))
    parser.add_argument("--call", choices=list(WAYS))
    parser.add_argument("--nth", type=int, help="this call alone, and who makes it")
    parser.add_argument("--error", default="ENOMEM", help="with --nth: how it fails")
    parser.add_argument("--forever", action="store_true", help="with --nth: and all after it")
    parser.add_argument("--keep", type=pathlib.Path, help="gets the files that the commands read")
    args = parser.parse_args()
    kith.KITH = str(args.kith.resolve())
    with tempfile.TemporaryDirectory(prefix="kith-faults-") as name:
        folder = pathlib.Path(name)
        program = shim.Shim(args.shim or shim.build(folder))
        prepare(folder / "start", program)
        if args.keep:
            shutil.copytree(folder / "start", args.keep, dirs_exist_ok=True)
        campaign = Campaign(program, folder)
        if args.nth:
            campaign.learn(args.command)
            campaign.fault(args.command, args.call, args.error, args.forever, args.nth, trace=1)
        else:
            spread(campaign, args, random.Random(args.seed))
        failures = sum(campaign.found.values())
        print(f"faults: {campaign.faults} faults in {len(campaign.good)} commands, "
              f"{failures} failures of {len(campaign.found)} kinds")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
