#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Labels of texts, side by side with Debian's fasttext: accuracy, CPU time, peak memory.

TREC and SST-2 as in docs/recipes.md, with the same settings for both: bigrams, dim 100, 25 epochs.
Each case has what is expected of it; the program fails if that is not met.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys

from run import timed, told

FASTTEXT = ["-wordNgrams", "2", "-dim", "100", "-epoch", "25", "-lr", "0.5", "-thread", "10"]
KITH = ["--word-ngrams", "2", "--dim", "100", "--epochs", "25", "--threads", "1", "--quiet"]
TIMES_LESS_CPU = 3
FILES = {"TREC": ("TREC.train.all", "TREC.test.all"),
         "SST-2": ("stsa.binary.train", "stsa.binary.test")}


def as_fasttext(source, target):
    """Lines of "label text" in Latin-1 as fasttext wants them, in UTF-8."""
    lines = source.read_text(encoding="latin-1").splitlines()
    target.write_text("".join(f"__label__{line}\n" for line in lines), encoding="utf-8")


def run_fasttext(folder, train, test):
    figures, _ = timed(["fasttext", "supervised", "-input", train, "-output", folder / "ft",
                        *FASTTEXT], folder / "fasttext.log")
    said = subprocess.run(["fasttext", "test", folder / "ft.bin", test], check=True, text=True,
                          capture_output=True).stdout
    for end in (".bin", ".vec"):
        (folder / f"ft{end}").unlink(missing_ok=True)
    return figures | {"accuracy": float(said.split("P@1")[1].split()[0])}


def run_kith(folder, train, test, kith, *flags):
    model = folder / "labels.kith"
    figures, _ = timed([kith, "train", "classifier", train, "-o", model, *KITH, *flags],
                       folder / "kith.log")
    return figures | {"accuracy": told([kith, "eval", model, test, "--json"])["accuracy"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--data", type=pathlib.Path, required=True, help="see bench/README.md")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--seeds", type=int, default=3, help="of kith; the mean counts")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    kith, met = args.build / "kith", True
    print("| data | tool | accuracy | CPU s | peak MB |\n|---|---|---|---|---|")
    for name, sources in FILES.items():
        train, test = (args.out / f"{name}.{part}.txt" for part in ("train", "test"))
        for source, target in zip(sources, (train, test)):
            as_fasttext(args.data / "labels" / source, target)
        theirs = run_fasttext(args.out, train, test)
        runs = [run_kith(args.out, train, test, kith, "--seed", str(s + 1))
                for s in range(args.seeds)]
        ours = {key: statistics.mean(r[key] for r in runs) for key in runs[0]}
        for tool, r in (("fasttext", theirs), ("kith", ours)):
            print(f"| {name} | {tool} | {r['accuracy']:.3f} | {r['cpu']:.2f} | "
                  f"{r['peak_mb']:.0f} |")
        good = (ours["accuracy"] >= theirs["accuracy"]
                and TIMES_LESS_CPU * ours["cpu"] <= theirs["cpu"])
        met = met and good
        print(f"bench: {name}: {theirs['cpu'] / ours['cpu']:.1f} times less CPU, accuracy "
              f"{ours['accuracy'] - theirs['accuracy']:+.3f}: {'met' if good else 'NOT MET'}",
              file=sys.stderr)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
