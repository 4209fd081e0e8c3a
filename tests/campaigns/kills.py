#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills training again and again, resumes it, and compares with a run that was never killed.

usage: kills.py --kith PROGRAM [--shim LIBRARY] [--count N] [--seed S] [--case NAME] [--keep FOLDER]

Promised: with --deterministic the file in the end is the same in all its bytes, whatever the model
and its settings, wherever it was killed or interrupted, and however often checkpoints were kept.
The program is killed by faults.c, at a call and not at a time, so a failure comes back. COUNT is
the number of kills.
"""
import argparse
import json
import pathlib
import random
import shutil
import signal
import sys
import tempfile

import shim
from shim import kith

MOST_KILLS = 5  # of one run

# Small, but for what a case is about. Learning rates that diverge are there to be rolled back.
WORDS = ["text.txt", "--dim", 6, "--epochs", 3, "--sample", 0]
TABLE = ["table.csv", "--dim", 6, "--epochs", 3]
STARS = ["stars.csv", "--dim", 4]
CASES = {
    "word2vec": ["word2vec", *WORDS],
    "word2vec defaults": ["word2vec", "text.txt"],
    "word2vec cbow": ["word2vec", *WORDS, "--objective", "cbow"],
    "word2vec reference": ["word2vec", *WORDS, "--objective", "cbow", "--gradient", "reference"],
    "word2vec plain steps": ["word2vec", *WORDS, "--adapt-rate", 0, "--noise", "pair"],
    "word2vec noise by centre": ["word2vec", *WORDS, "--noise", "centre", "--fixed-window"],
    "word2vec noise by window": ["word2vec", *WORDS, "--noise", "window"],
    "word2vec thinned": ["word2vec", *WORDS, "--sample", 0.01],
    "word2vec early stop": ["word2vec", *WORDS, "--epochs", 30, "--early-stop", 1],
    "word2vec rolled back": ["word2vec", *WORDS, "--adapt-rate", 0, "--lr", 1, "--objective",
                             "cbow"],
    "word2vec diverges": ["word2vec", *WORDS, "--adapt-rate", 0, "--lr", 1],
    "word2vec from": ["word2vec", *WORDS, "--from", "word2vec.base"],
    "doc2vec": ["doc2vec", "text.txt", "--dim", 6, "--epochs", 4],
    "doc2vec dm": ["doc2vec", "text.txt", "--dim", 6, "--epochs", 4, "--method", "dm"],
    "plsa": ["plsa", "text.txt", "--topics", 6, "--epochs", 20, "--tolerance", 0],
    "plsa early stop": ["plsa", "text.txt", "--topics", 6, "--epochs", 40, "--early-stop", 1,
                        "--holdout", 0.1, "--temper", 1],
    "fasttext": ["fasttext", "text.txt", "--dim", 6, "--epochs", 4],
    "fasttext parts of their own": ["fasttext", "text.txt", "--dim", 6, "--epochs", 4, "--ngrams",
                                    "explicit", "--deterministic"],
    "glove": ["glove", "text.txt", "--dim", 6, "--epochs", 4],
    "glove defaults": ["glove", "text.txt"],
    "glove plain steps": ["glove", "text.txt", "--dim", 6, "--epochs", 4, "--optimiser", "sgd"],
    "glove early stop": ["glove", "text.txt", "--dim", 6, "--epochs", 30, "--early-stop", 1, "--lr",
                         3, "--holdout", 0.1],
    "glove rolled back": ["glove", "text.txt", "--dim", 6, "--optimiser", "sgd", "--lr", 3],
    "pmi": ["pmi", "text.txt", "--dim", 6],
    "pmi als": ["pmi", "text.txt", "--dim", 6, "--epochs", 4, "--solver", "als", "--observed", 3],
    "pmi gradient": ["pmi", "text.txt", "--dim", 6, "--epochs", 6, "--solver", "gradient",
                     "--penalty", 0.5],
    "classifier": ["classifier", "labelled.txt", "--dim", 6, "--epochs", 4],
    "classifier defaults": ["classifier", "labelled.txt"],
    "classifier tree": ["classifier", "labelled.txt", "--dim", 6, "--loss", "hierarchical",
                        "--optimiser", "sgd"],
    "classifier early stop": ["classifier", "labelled.txt", "--dim", 6, "--epochs", 30,
                              "--early-stop", 1, "--lr", 3],
    "feat2vec": ["feat2vec", *TABLE],
    "feat2vec defaults": ["feat2vec", "table.csv"],
    "feat2vec paper": ["feat2vec", *TABLE, "--paper"],
    "feat2vec target": ["feat2vec", *TABLE, "--target", "director", "--mix", 0.3],
    "feat2vec number": ["feat2vec", *TABLE, "--target", "year"],
    "feat2vec pairs": ["feat2vec", *TABLE, "--pair-weights", "--l2", 0.01],
    "feat2vec noise": ["feat2vec", *TABLE, "--loss", "ns", "--intercepts", "one"],
    "feat2vec early stop": ["feat2vec", *TABLE, "--epochs", 30, "--early-stop", 1, "--lr", 0.5,
                            "--holdout", 0.1],
    "feat2vec rolled back": ["feat2vec", *TABLE, "--optimiser", "momentum", "--lr", 15],
    "feat2vec from": ["feat2vec", *TABLE, "--from", "feat2vec.base"],
    **{f"feat2vec {o}": ["feat2vec", *TABLE, "--optimiser", o, "--lr", 0.02]
       for o in ("sgd", "momentum", "nesterov", "adagrad", "adam")},
    "als": ["als", *STARS],
    "als defaults": ["als", "stars.csv"],
    "als implicit": ["als", "chosen.csv", "--dim", 4],
    "als blocks": ["als", *STARS, "--solver", "blocks", "--block", 3],
    "als cholesky": ["als", *STARS, "--solver", "cholesky", "--epochs", 5, "--early-stop", 0],
    "als no refit": ["als", *STARS, "--no-refit", "--early-stop", 1],
    "als normalised": ["als", *STARS, "--normalise", "both"],
    "als nothing held out": ["als", *STARS, "--holdout", 0, "--epochs", 6],
    "als start is best": ["als", *STARS, "--penalty", 100],
    "mf": ["mf", *STARS],
    "mf defaults": ["mf", "stars.csv"],
    "mf bpr": ["mf", "chosen.csv", "--dim", 4, "--epochs", 6],
    "mf huber": ["mf", *STARS, "--loss", "huber", "--early-stop", 1],
    "mf logistic": ["mf", "binary.csv", "--dim", 4, "--loss", "logistic", "--no-refit"],
    "mf plain steps": ["mf", *STARS, "--no-adapt", "--normalise", "users"],
    "mf rolled back": ["mf", *STARS, "--no-adapt", "--lr", 1, "--no-refit"],
    "mf rolled back, refit": ["mf", *STARS, "--no-adapt", "--lr", 1],
    "mf refit rolled back": ["mf", *STARS, "--no-adapt", "--holdout", 0.3, "--lr", 0.4, "--seed",
                             2],
    "bmf": ["bmf", *STARS, "--epochs", 24, "--burn-in", 4, "--samples", 6],
    "bmf no refit": ["bmf", *STARS, "--epochs", 20, "--burn-in", 5, "--samples", 20, "--no-refit"],
    "bmf all alike": ["bmf", *STARS, "--epochs", 15, "--burn-in", 3, "--noise-prior", 0,
                      "--normalise", "items"],
    "svp": ["svp", *STARS],
    "svp defaults": ["svp", "stars.csv"],
    "svp converges": ["svp", *STARS, "--early-stop", 0, "--tolerance", 1e-2],
    "svp power": ["svp", *STARS, "--svd", "power", "--epochs", 6, "--no-refit"],
    "svp step": ["svp", *STARS, "--step", 0.5, "--normalise", "both"],
    "softimpute": ["softimpute", *STARS, "--decay", 0.6],
    "softimpute als": ["softimpute", *STARS, "--decay", 0.6, "--method", "als"],
    "softimpute shrink": ["softimpute", *STARS, "--method", "shrink", "--epochs", 20],
    "softimpute debiased": ["softimpute", *STARS, "--decay", 0.6, "--debias", "--no-refit"],
    "softimpute one penalty": ["softimpute", *STARS, "--penalty", 3],
    "pca": ["pca", "numbers.csv", "--dim", 3, "--holdout", 0.1],
    "pca randomised": ["pca", "numbers.csv", "--dim", 2, "--method", "randomised"],
    "pca power": ["pca", "numbers.csv", "--dim", 3, "--method", "power", "--scale"],
    "pca autoencoder": ["pca", "numbers.csv", "--dim", 2, "--method", "autoencoder", "--epochs",
                        200, "--holdout", 0.1],
    "nmf": ["nmf", *STARS],
    "nmf defaults": ["nmf", "stars.csv", "--epochs", 10],
    "nmf multiplicative": ["nmf", *STARS, "--method", "multiplicative", "--no-biases"],
    "nmf kl": ["nmf", *STARS, "--loss", "kl", "--no-biases", "--sparsity", 0.1],
    "nmf converges": ["nmf", *STARS, "--early-stop", 0, "--tolerance", 0.05, "--no-refit"],
    "gmm": ["gmm", "numbers.csv", "--components", 3, "--restarts", 2, "--epochs", 8],
    "gmm how many": ["gmm", "numbers.csv", "--max-components", 3, "--restarts", 2, "--epochs", 4,
                     "--covariance", "diagonal", "--holdout", 0.1],
    "gmm kmeans": ["gmm", "numbers.csv", "--components", 4, "--method", "kmeans", "--tolerance", 0],
    "nmf zero": ["nmf", "chosen.csv", "--dim", 4, "--epochs", 6],
    "lda": ["lda", "text.txt", "--topics", 4, "--epochs", 20, "--min-df", 1, "--burn-in", 2],
    "lda gibbs": ["lda", "text.txt", "--topics", 4, "--epochs", 12, "--min-df", 1, "--method",
                  "gibbs", "--holdout", 0.2],
    "lda online": ["lda", "text.txt", "--topics", 4, "--epochs", 6, "--min-df", 1, "--method",
                   "online", "--batch", 40],
}
# Where the program is hit: the call, and what happens there.
BLOWS = [("rename", "killafter"), ("rename", "killafter"), ("rename", "kill"), ("write", "kill"),
         ("alloc", "kill"), ("alloc", "interrupt"), ("alloc", "interrupt")]


def parts(data):
    """The metadata and tensors of a model file, by name."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    out = {f"metadata {k}": v for k, v in header.pop("__metadata__").items()}
    for name, about in header.items():
        first, end = (8 + size + at for at in about["data_offsets"])
        out[f"tensor {name}"] = (about["dtype"], about["shape"], data[first:end])
    return out


def shown(value):
    return "nothing" if value is None else value[-60:]


def difference(expected, found):
    """What differs between two model files, in a line."""
    a, b = parts(expected), parts(found)
    names = [n for n in {**a, **b} if a.get(n) != b.get(n) and n != "metadata checksum"]
    return "; ".join(f"{n}: {shown(b.get(n))}, not {shown(a.get(n))}" if n.startswith("metadata")
                     else n for n in names) or "the order of the parts"


class Campaign:
    def __init__(self, program, folder, keep):
        self.shim, self.folder, self.keep = program, folder, keep
        self.known, self.kills, self.failures, self.runs = {}, 0, 0, 0

    def fresh(self, name):
        run = self.folder / name
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(self.folder / "data", run)
        return run

    def train(self, case, folder, every, *flags, **settings):
        """One process. The clock jumps, so that checkpoints are due at every few looks at it."""
        args = ["train", *CASES[case], "-o", "m.kith", "--deterministic", "--threads", 2, "--quiet",
                "--checkpoint-every", every, *flags]
        return self.shim.count(args, folder, 60, clock=1, **settings)

    def reference(self, case):
        """The file of a run that was never killed, and its calls; None if it failed."""
        if case not in self.known:
            files = []
            for every in (0, 1):
                folder = self.fresh("reference")
                result, counts = self.train(case, folder, every)
                model = folder / "m.kith"
                files.append(model.read_bytes() if model.exists() else b"")
                if result is None or result.code not in (kith.DONE, kith.DIVERGED):
                    self.fail(case, f"never killed: {result}")
                    self.known[case] = None
                    return None
            if files[0] != files[1]:
                self.fail(case, "keeping checkpoints changed it: "
                          + (difference(*files) if all(files) else "one of the runs diverged"))
            self.known[case] = files[1], counts
        return self.known[case]

    def fail(self, case, why, folder=None, repeat=""):
        self.failures += 1
        print(f"kills: {case}: {why}", flush=True)
        if repeat:
            print(f"  again with: {repeat}", flush=True)
        if folder and self.keep:
            shutil.copytree(folder, self.keep / folder.name, dirs_exist_ok=True)

    def run(self, case, seed):
        """A run that is killed some times. What is wrong with its end, or nothing."""
        self.runs += 1
        rng = random.Random(f"{case} {seed}")
        expected, counts = self.known[case]
        folder = self.fresh(f"{case.replace(' ', '-')}-{seed}")
        checkpoint, model = folder / "m.kith.checkpoint", folder / "m.kith"
        history = []
        for blow in range(MOST_KILLS + 1):
            call, do = rng.choice(BLOWS)
            settings = {"call": call, "nth": rng.randint(1, max(1, counts[call])), "do": do}
            every = rng.choice((1, 1, 3, 20))
            flags = ["--resume"] if checkpoint.exists() else []
            if blow == MOST_KILLS:
                settings = {}
            result, _ = self.train(case, folder, every, *flags, **settings)
            history.append((f"{do} at {call} {settings['nth']}" if settings else "to its end")
                           + " resumed" * bool(flags))
            if result is None:
                return folder, f"hangs after {history}"
            if result.code in (kith.DONE, kith.DIVERGED):
                break
            self.kills += 1
            # Before it listens, an interrupt ends it like any other program.
            if result.code not in (-signal.SIGKILL, -signal.SIGINT, kith.INTERRUPTED):
                return folder, f"{history}: {result}"
            if model.exists() and not checkpoint.exists():
                break  # killed when all was done
        found = model.read_bytes() if model.exists() else b""
        given = {p.name for p in (self.folder / "data").iterdir()}
        left = {p.name for p in folder.iterdir() if p.suffix != ".tmp"} - given
        if found != expected:
            both = found and expected
            return folder, f"{history}: " + (difference(expected, found) if both else
                                             f"diverged: {not found}, not {not expected}")
        if found and not left <= {"m.kith", "m.schema.json"}:
            return folder, f"{history}: leaves {sorted(left)}"
        shutil.rmtree(folder)
        return folder, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kith", required=True, type=pathlib.Path)
    parser.add_argument("--shim", type=pathlib.Path, help="faults.c, compiled; else it is now")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", choices=list(CASES))
    parser.add_argument("--keep", type=pathlib.Path, help="where the files of failures go")
    args = parser.parse_args()
    kith.KITH = str(args.kith.resolve())
    with tempfile.TemporaryDirectory(prefix="kith-kills-") as name:
        folder = pathlib.Path(name)
        shim.write_data(folder / "data")
        program = shim.Shim(args.shim or shim.build(folder))
        for model, flags in (("word2vec", WORDS), ("feat2vec", TABLE)):
            base = program.run(["train", model, *flags, "-o", f"{model}.base", "--threads", 1,
                                "--quiet"], folder / "data")
            assert base and base.code == kith.DONE, str(base)
            (folder / "data" / f"{model}.base.schema.json").unlink(missing_ok=True)
        campaign = Campaign(program, folder, args.keep)
        cases = [args.case] if args.case else list(CASES)
        random.Random(args.seed).shuffle(cases)
        seed = args.seed
        while campaign.kills < args.count and cases:
            case = cases[(seed - args.seed) % len(cases)]
            if campaign.reference(case) is None:
                cases.remove(case)
                continue
            where, why = campaign.run(case, seed)
            if why:
                campaign.fail(case, why, where, f"{sys.argv[0]} --kith {args.kith} --count 1 "
                              f"--seed {seed} --case '{case}'")
            seed += 1
        print(f"kills: {campaign.kills} kills over {len(campaign.known)} cases, "
              f"{campaign.failures} failures")
    return 1 if campaign.failures else 0


if __name__ == "__main__":
    sys.exit(main())
