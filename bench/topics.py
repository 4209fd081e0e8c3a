#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Topics of documents: perplexity by document completion, CPU time, peak memory.

Associated Press (every tenth document is a test) and 20 Newsgroups (by date), all their words. Each
case has what is expected of it; the program fails if that is not met.
"""
import argparse
import pathlib
import subprocess
import sys

from run import timed, told

# What is trained on which data: flags, and the perplexity that must be reached.
CASES = [
    ("AP", "plsa", 20, [], 2750),
    ("AP", "plsa", 50, [], 2450),
    ("20news", "plsa", 50, [], 1200),
]
# Words alone; the same for everybody who counts the same words, so they check the reading.
UNIGRAM = {"AP": 4519.8, "20news": 1849.4}


def unpacked(source):
    return subprocess.run(["zstd", "-dc", source], check=True, capture_output=True,
                          text=True).stdout


def collections(folder, out):
    """Of each name the documents to learn from, those to test, and the words."""
    ap = unpacked(folder / "ap.ldac.zst").splitlines(keepends=True)
    parts = {"AP": (["".join(l for i, l in enumerate(ap) if i % 10 != 9),
                     "".join(l for i, l in enumerate(ap) if i % 10 == 9)], folder / "ap.vocab"),
             "20news": ([unpacked(folder / f"20news.{p}.ldac.zst") for p in ("train", "test")],
                        folder / "20news.vocab")}
    found = {}
    for name, (texts, vocabulary) in parts.items():
        paths = [out / f"{name}.{part}.ldac" for part in ("train", "test")]
        for path, text in zip(paths, texts):
            path.write_text(text)
        found[name] = (*paths, vocabulary)
    return found


def run_kith(kith, out, model, topics, data, flags):
    train, test, vocabulary = data
    path = out / "topics.kith"
    figures, _ = timed([kith, "train", model, train, "-o", path, "--vocab", vocabulary,
                        "--topics", str(topics), "--holdout", "0", "--threads", "1", "--quiet",
                        *flags], out / "kith.log")
    return figures | told([kith, "eval", path, test, "--vocab", vocabulary, "--json"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--data", type=pathlib.Path, required=True, help="see bench/README.md")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    data, met = collections(args.data / "topics", args.out), True
    print("| data | model | topics | perplexity | coherence | diversity | CPU s | peak MB |\n"
          "|---|---|---|---|---|---|---|---|")
    for name, model, topics, flags, most in CASES:
        r = run_kith(args.build / "kith", args.out, model, topics, data[name], flags)
        print(f"| {name} | {' '.join([model, *flags])} | {topics} | {r['perplexity']:.1f} | "
              f"{r['coherence']:.3f} | {r['diversity']:.2f} | {r['cpu']:.1f} | "
              f"{r['peak_mb']:.0f} |", flush=True)
        good = r["perplexity"] <= most and abs(r["unigram_perplexity"] - UNIGRAM[name]) < 0.1
        met = met and good
        print(f"bench: {name} {model} {topics}: {r['perplexity']:.1f} of at most {most}, words "
              f"alone {r['unigram_perplexity']:.1f}: {'met' if good else 'NOT MET'}",
              file=sys.stderr)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
