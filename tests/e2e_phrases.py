#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Phrases, as a user has them: those that gensim finds."""
import math
import random

import kith


def text(lines=3000):
    """Some pairs belong together, each to another degree; the rest is chance."""
    rng = random.Random(1)
    out = []
    for _ in range(lines):
        words = [f"w{int(40 * rng.random() ** 2)}" for _ in range(rng.randint(0, 12))]
        for k in range(12):
            if rng.random() < 0.02:
                at = rng.randint(0, len(words))
                pair = [f"a{k}", f"b{k}"] if rng.random() < k / 12 else [f"a{k}"]
                words[at:at] = pair
            if rng.random() < 0.01:
                words.append(f"b{k}")
        out.append(" ".join(words))
    return out


def word2phrase(worda_count, wordb_count, bigram_count, len_vocab, min_count, corpus_word_count):
    """As in the word2phrase program: gensim's own has the number of distinct words for that of all."""
    return (bigram_count - min_count) * corpus_word_count / (worda_count * wordb_count)


class Phrases(kith.TestCase):
    def joined(self, lines, *flags):
        out = self.path("out.txt")
        told = self.ok("phrases", self.write("in.txt", "".join(x + "\n" for x in lines)), "-o", out,
                       "--json", "--top", 100000, *flags)
        return out.read_text().split("\n")[:-1], {p["id"]: p for p in told.json_lines}

    def test_the_same_as_gensim(self):
        from gensim.models.phrases import Phrases as Gensim

        lines = text()
        sentences = [line.split() for line in lines]
        for score, scoring, thresholds in (("npmi", "npmi", (0.1, 0.5)),
                                           ("word2phrase", word2phrase, (1.5, 10))):
            for threshold in thresholds:
                with self.subTest(score=score, threshold=threshold):
                    peer = Gensim(sentences, min_count=5, threshold=threshold, scoring=scoring,
                                  delimiter="_")
                    out, found = self.joined(lines, "--score", score, "--threshold", threshold)
                    wanted = peer.export_phrases()
                    self.assertGreater(len(wanted), 3)
                    self.assertEqual(set(found), set(wanted))
                    for name, value in wanted.items():
                        self.assertTrue(math.isclose(found[name]["score"], value, rel_tol=1e-5,
                                                     abs_tol=1e-5), name)
                    self.assertEqual(out, [" ".join(peer[s]) for s in sentences])

    def test_what_is_shown(self):
        told = self.ok("phrases", self.write("in.txt", "\n".join(["new york city x", "y z"] * 9)),
                       "-o", self.path("out.txt"), "--passes", 2)
        self.assertIn("new_york_city", told.out)
        self.assertIn("18 lines", told.err)
        self.assertTrue(self.path("out.txt").read_text().startswith("new_york_city_x\n"))

    def test_what_is_refused(self):
        file = self.write("in.txt", "a b\n")
        self.refused("phrases", file, code=kith.BAD_USAGE, says="-o")
        self.refused("phrases", "-o", self.path("out.txt"), code=kith.BAD_USAGE)
        self.refused("phrases", self.path("none.txt"), "-o", self.path("out.txt"), says="none.txt")
        self.refused("phrases", self.write("e.txt", ""), "-o", self.path("out.txt"), says="words")
        self.refused("phrases", file, "-o", file, code=kith.BAD_USAGE, says="read and written")
        self.assertFalse(self.path("out.txt").exists())


if __name__ == "__main__":
    kith.main()
