#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Topics of documents: perplexity by document completion, CPU time, peak memory.

Associated Press (every tenth document is a test) and 20 Newsgroups (by date), all their words. Each
case has what is expected of it; the program fails if that is not met.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

from run import timed, told

# Sweeps of lda beside peers; it is to be better than they are, with a tenth of the CPU time.
FEW = ["--epochs", "60"]
# What is trained on which data: flags, and the perplexity that must be reached.
CASES = [
    ("AP", "plsa", 20, [], 2750),
    ("AP", "plsa", 50, [], 2450),
    ("20news", "plsa", 50, [], 1200),
    ("AP", "lda", 20, [], 2810),
    ("AP", "lda", 50, [], 2450),
    ("AP", "lda", 50, ["--method", "gibbs"], 2450),
    ("AP", "lda", 50, ["--method", "online"], 2950),
    ("20news", "lda", 50, [], 1200),
    ("AP", "lda", 50, FEW, 2850),
    ("20news", "lda", 50, FEW, 1380),
]
# Others, on the same words, scored by the same estimator: passes over the documents.
PEERS = [("AP", "gensim", 50, 20), ("AP", "sklearn", 50, 20), ("20news", "gensim", 50, 20)]
TIMES = 10
# Millions of tokens a second and core that sampling must reach, by topics, on so many copies of 20
# Newsgroups, in the sweeps between the second report and the first one after so many.
SPEED = {50: 5, 1000: 3}
COPIES, SWEEPS = 18, 12
INFERENCE = 20000  # documents a second and core
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


def run_peer(out, peer, topics, passes, data):
    target = out / "peer.npz"
    program = [sys.executable, pathlib.Path(__file__).parent / "topic_peers.py"]
    figures, _ = timed([*program, peer, data[0], topics, passes, target], out / "peer.log")
    _, score = timed([*program, "score", target, *data[:2]], out / "peer.log")
    return figures | {"perplexity": float(score)}


def compare(args, data, kith):
    """Peers beside what kith reached on the same words."""
    met = True
    for name, peer, topics, passes in PEERS:
        r = run_peer(args.out, peer, topics, passes, data[name])
        own = kith[name, "lda", topics, " ".join(FEW)]
        print(f"| {name} | {peer}, {passes} passes | {topics} | {r['perplexity']:.1f} | | | "
              f"{r['cpu']:.1f} | {r['peak_mb']:.0f} |", flush=True)
        good = own["perplexity"] < r["perplexity"] and TIMES * own["cpu"] <= r["cpu"]
        met = met and good
        print(f"bench: {name} lda {topics}: {own['perplexity']:.1f} in {own['cpu']:.1f} s, {peer} "
              f"{r['perplexity']:.1f} in {r['cpu']:.1f} s: {'met' if good else 'NOT MET'}",
              file=sys.stderr)
    return met


def seconds(kith, out, command):
    return timed([kith, *command, "--quiet"], out / "kith.log")[0]["cpu"]


def cpu_of(process):
    """Seconds that a running process and its threads have taken."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sweep_seconds(command):
    """CPU seconds of a sweep, between two reports of a run; then it is stopped."""
    process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True)
    seen = []  # sweeps and seconds
    for line in process.stderr:
        found = re.match(r"  epoch +(\d+)/", line)
        if found:
            seen.append((int(found[1]), cpu_of(process)))
        if len(seen) > 1 and seen[-1][0] >= SWEEPS:
            break
    process.kill()
    process.wait()
    (first, before), (last, after) = seen[0], seen[-1]
    return (after - before) / (last - first)


def measure_speed(args, data):
    """Of sampling, by the time between two reports, so that reading and the end do not count."""
    kith, met = args.build / "kith", True
    train, test, vocabulary = data["20news"]
    tokens = COPIES * sum(int(pair.split(":")[1]) for line in train.read_text().splitlines()
                          for pair in line.split()[1:])
    large = args.out / "large.ldac"
    large.write_text(train.read_text() * COPIES)
    print(f"\nSampling, {tokens / 1e6:.1f} M tokens, one thread:\n\n"
          "| topics | M tokens/s and core |\n|---|---|")
    for topics, least in SPEED.items():
        speed = tokens / 1e6 / sweep_seconds([
            kith, "train", "lda", large, "-o", args.out / "large.kith", "--topics", topics,
            "--epochs", 100, "--threads", 1])
        met = met and speed >= least
        print(f"| {topics} | {speed:.1f} |", flush=True)
    model = args.out / "topics.kith"
    seconds(kith, args.out, ["train", "lda", train, "-o", model, "--vocab", vocabulary,
                             "--topics", "50", "--epochs", "100", "--threads", "1"])
    documents = test.read_text()
    many = args.out / "many.ldac"
    took = []
    for copies in (1, 11):
        many.write_text(documents * copies)
        took.append(seconds(kith, args.out, ["embed", model, many, "--vocab", vocabulary, "-o",
                                             args.out / "mixtures.npy"]))
    rate = 10 * documents.count("\n") / (took[1] - took[0])
    print(f"\nMixtures of new documents (kith embed, reading and writing included): {rate:.0f} "
          "documents/s and core")
    return met and rate >= INFERENCE


def measure_quality(args, data):
    met, reached = True, {}
    print("| data | model | topics | perplexity | coherence | diversity | CPU s | peak MB |\n"
          "|---|---|---|---|---|---|---|---|")
    for name, model, topics, flags, most in CASES:
        r = run_kith(args.build / "kith", args.out, model, topics, data[name], flags)
        print(f"| {name} | {' '.join([model, *flags])} | {topics} | {r['perplexity']:.1f} | "
              f"{r['coherence']:.3f} | {r['diversity']:.2f} | {r['cpu']:.1f} | "
              f"{r['peak_mb']:.0f} |", flush=True)
        reached[name, model, topics, " ".join(flags)] = r
        good = r["perplexity"] <= most and abs(r["unigram_perplexity"] - UNIGRAM[name]) < 0.1
        met = met and good
        print(f"bench: {name} {model} {topics}: {r['perplexity']:.1f} of at most {most}, words "
              f"alone {r['unigram_perplexity']:.1f}: {'met' if good else 'NOT MET'}",
              file=sys.stderr)
    return compare(args, data, reached) and met


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--data", type=pathlib.Path, required=True, help="see bench/README.md")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--only", choices=["quality", "speed"])
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    data, met = collections(args.data / "topics", args.out), True
    if args.only != "speed":
        met = measure_quality(args, data)
    if args.only != "quality":
        met = measure_speed(args, data) and met
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
