#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much the vectors of sentences tell: 82,115 glosses of nouns, from Debian's wordnet-base.

Each way to a vector is asked two things. kind: the share of glosses whose nearest other gloss is of
a noun of the same kind, of 26 (animal, act, place, ...). above: the mean reciprocal rank, among all
others, of the gloss of the noun above (cello: bowed stringed instrument). Bags of words, weighted
by tf-idf, stand beside them.
"""
import argparse
import collections
import math
import pathlib
import re
import sys

import numpy

from run import timed

SAMPLE = 5000
TRAIN = ["--tokens", "words", "--threads", "1", "--quiet"]
WORDS = ["--epochs", "10", "--window", "8"]
WHOLE = ["--objective", "cbow", "--window", "100", "--fixed-window", "--epochs", "10"]
# What to train; how to make a vector of a text.
WAYS = {
    "word2vec": (["word2vec", *WORDS], []),
    "word2vec, plain mean": (["word2vec", *WORDS], ["--weights", "mean"]),
    "word2vec, whole sentences (sent2vec)": (["word2vec", *WHOLE], []),
    "... plain mean": (["word2vec", *WHOLE], ["--weights", "mean"]),
    "fasttext": (["fasttext", *WORDS], []),
    "pmi": (["pmi"], []),
    "glove": (["glove"], []),
    "doc2vec dbow": (["doc2vec"], []),
    "doc2vec dbow --words": (["doc2vec", "--words"], []),
    "doc2vec dm": (["doc2vec", "--method", "dm"], []),
    "doc2vec dm, exact gradient": (["doc2vec", "--method", "dm", "--gradient", "exact"], []),
}
# At least so much of (kind, above).
EXPECTED = {"word2vec": (0.67, 0.050), "word2vec, plain mean": (0.69, 0.046)}


def read_nouns(path):
    """The glosses, the kind of each, and (number, number of the noun above)."""
    glosses, kinds, above, numbers = [], [], [], {}
    for line in path.read_text().splitlines():
        if line.startswith("  "):  # the licence
            continue
        data, gloss = line.split(" | ", maxsplit=1)
        fields = data.split(" ")
        numbers[fields[0]] = len(glosses)
        glosses.append(gloss.strip())
        kinds.append(int(fields[1]))
        pointers = fields[5 + 2 * int(fields[3], 16):]
        above.append(next((pointers[k + 1] for k in range(0, len(pointers), 4)
                           if pointers[k] == "@"), None))
    pairs = [(n, numbers[up]) for n, up in enumerate(above) if up in numbers]
    return glosses, numpy.array(kinds), pairs


def ask(likeness, kinds, pairs):
    """`likeness` gives, for numbers of glosses, how like they are to all."""
    rng = numpy.random.default_rng(1)
    chosen = [pairs[k] for k in rng.permutation(len(pairs))[:SAMPLE]]
    right, ranks = 0, []
    for first in range(0, len(chosen), 250):
        part = chosen[first:first + 250]
        like = likeness([noun for noun, _ in part])
        for row, (noun, up) in zip(like, part):
            row[noun] = -math.inf
            right += kinds[row.argmax()] == kinds[noun]
            ranks.append(1 + (row > row[up]).sum())
    return right / len(chosen), float(numpy.mean(1 / numpy.array(ranks)))


def of_vectors(vectors):
    lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    units = (vectors / numpy.maximum(lengths, 1e-9)).astype(numpy.float32)
    return lambda numbers: units[numbers] @ units.T


def of_bags(glosses):
    bags = [collections.Counter(re.findall(r"\w+", g.lower())) for g in glosses]
    holders = collections.defaultdict(list)
    for n, bag in enumerate(bags):
        for word, count in bag.items():
            holders[word].append((n, count))
    weight = {w: math.log(len(bags) / len(held)) for w, held in holders.items()}
    columns = {w: tuple(map(numpy.array, zip(*held))) for w, held in holders.items()}
    length = [math.sqrt(sum((c * weight[w]) ** 2 for w, c in b.items())) or 1 for b in bags]

    def likeness(numbers):
        out = numpy.zeros((len(numbers), len(bags)))
        for row, n in zip(out, numbers):
            for word, count in bags[n].items():
                others, counts = columns[word]
                row[others] += count * weight[word] ** 2 * counts
            row /= length
        return out

    return likeness


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--wordnet", type=pathlib.Path,
                        default=pathlib.Path("/usr/share/wordnet/data.noun"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    glosses, kinds, pairs = read_nouns(args.wordnet)
    texts, model, vectors = (args.out / n for n in ("glosses.txt", "glosses.kith", "glosses.npy"))
    texts.write_text("".join(g + "\n" for g in glosses))
    met = True
    print("| | kind | above | training, CPU s |\n|---|---|---|---|")
    kind, above = ask(of_bags(glosses), kinds, pairs)
    print(f"| bags of words, tf-idf | {kind:.3f} | {above:.4f} | |", flush=True)
    for name, (train, embed) in WAYS.items():
        log = args.out / "sentences.log"
        figures, _ = timed([args.build / "kith", "train", train[0], texts, "-o", model, *train[1:],
                            *TRAIN], log)
        timed([args.build / "kith", "embed", model, texts, "-o", vectors, "--quiet", *embed], log)
        kind, above = ask(of_vectors(numpy.load(vectors)), kinds, pairs)
        print(f"| {name} | {kind:.3f} | {above:.4f} | {figures['cpu']:.1f} |", flush=True)
        least = EXPECTED.get(name, (0, 0))
        if kind < least[0] or above < least[1]:
            print(f"bench: {name}: NOT MET, {least} expected", file=sys.stderr)
            met = False
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
