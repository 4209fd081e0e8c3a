#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores a word2vec binary file with gensim and prints JSON. usage: score_gensim.py FILE FOLDER

A program of its own, because importing gensim would count as memory of what run.py measures.
"""
import json
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")
import scipy.stats  # noqa: E402
from gensim.models import KeyedVectors  # noqa: E402


def main(path, folder):
    vectors = KeyedVectors.load_word2vec_format(path, binary=True, unicode_errors="replace")
    total, _ = vectors.evaluate_word_analogies(folder / "questions-words.txt", restrict_vocab=30000)
    scores = {"analogies": 100 * total}
    for file in sorted(folder.glob("EN-*.txt")):
        ours, human = [], []
        for line in file.read_text().splitlines():
            word = line.lower().split()
            if len(word) == 3 and word[0] in vectors and word[1] in vectors:
                ours.append(vectors.similarity(word[0], word[1]))
                human.append(float(word[2]))
        scores[file.stem.removeprefix("EN-")] = scipy.stats.spearmanr(ours, human)[0]
    print(json.dumps(scores))


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
