#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kith count, and the models that learn from counts, as a user runs them."""
import random
import re

import kith

TEXT = kith.two_topics(80)


class Counts(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.text = self.write("text.txt", TEXT)
        self.counts = self.path("text.counts")

    def count(self, *flags):
        return self.ok("count", self.text, "-o", self.counts, *flags)

    def test_counts_are_written_and_shown(self):
        made = self.count("--json").json
        self.assertEqual(made["file"], str(self.counts))
        shown = self.ok("count", self.counts, "--json").json
        self.assertEqual(shown, made)
        self.assertIn(f"{made['cells']:,}", self.ok("count", self.counts).out)

    def test_the_company_of_a_word(self):
        self.count("--window", 2, "--weight", "flat", "--direction", "right")
        wanted = {}
        for line in TEXT.splitlines():
            words = line.split()
            for i, word in enumerate(words):
                for other in words[i + 1:i + 3] if word == "hill1" else []:
                    wanted[other] = wanted.get(other, 0) + 1
        told = self.ok("count", self.counts, "hill1", "--top", 1000, "--json").json
        self.assertEqual({c["id"]: c["count"] for c in told["company"]}, wanted)
        counts = [c["count"] for c in told["company"]]
        self.assertEqual(counts, sorted(counts, reverse=True))
        by_pmi = self.ok("count", self.counts, "hill1", "--by", "pmi", "--json").json["company"]
        self.assertEqual([c["pmi"] for c in by_pmi],
                         sorted((c["pmi"] for c in by_pmi), reverse=True))
        self.refused("count", self.counts, "hlil1", says="hlil1 was not counted; is it hill1")

    def test_a_text_and_its_counts_give_the_same_model(self):
        self.count("--window", 4, "--threads", 2)
        for model in ("glove", "pmi"):
            files = [self.path(f"{model}{k}.kith") for k in (1, 2)]
            self.ok("train", model, self.text, "--window", 4, "-o", files[0], "--dim", 8, "--quiet")
            self.ok("train", model, self.counts, "-o", files[1], "--dim", 8, "--quiet")
            vectors = [self.path(f"{model}{k}.vec") for k in (1, 2)]
            for kith_file, vec in zip(files, vectors):
                self.ok("export", kith_file, "--to", "word2vec-text", "-o", vec)
            self.assertEqual(vectors[0].read_bytes(), vectors[1].read_bytes(), model)

    def test_all_models_of_words_find_the_topics(self):
        # Of ten words of a line two are of the other topic: glove learns from pairs that occur.
        rng = random.Random(1)
        mixed = self.write("mixed.txt", "".join(
            " ".join(f"{rng.choices(('hill', 'sea'), weights)[0]}{rng.randrange(10)}"
                     for _ in range(10)) + "\n" for weights in [(8, 2), (2, 8)] * 300))
        for train in (["word2vec", "--epochs", 20, "--sample", 0], ["glove"], ["pmi"],
                      ["pmi", "--solver", "als"], ["pmi", "--solver", "gradient"]):
            model = self.path("m.kith")
            self.ok("train", train[0], mixed, "-o", model, "--dim", 4, "--quiet", "--threads", 1,
                    *train[1:])
            for word in ("hill1", "sea1", "hill5", "sea8"):
                near = self.ok("near", model, word, "--top", 3, "--json").json["neighbours"]
                self.assertEqual({n["id"].rstrip("0123456789") for n in near},
                                 {word.rstrip("0123456789")}, f"{train}: {near}")

    def test_a_file_of_counts_chooses_its_model(self):
        self.count()
        told = self.ok("train", self.counts, "-o", self.path("m.kith"), "--dim", 4)
        self.assertRegex(told.err, "counts.*glove")
        self.refused("train", "word2vec", self.counts, "-o", self.path("m.kith"),
                     code=kith.BAD_USAGE, says="and word2vec learns from text; choose glove or pmi")

    def test_what_counts_are_not_for(self):
        self.count()
        self.refused("info", self.counts, says="these are counts, not a model; kith count shows")
        self.refused("count", self.counts, "--window", 3, code=kith.BAD_USAGE,
                     says="--window is for counting a text")
        self.refused("train", "glove", self.counts, "--window", 3, "-o", self.path("m.kith"),
                     code=kith.BAD_USAGE, says="counts made with --window 10, not 3; leave it out")
        self.refused("count", self.text, "-o", self.text, code=kith.BAD_USAGE, says="text.txt")
        self.refused("count", code=kith.BAD_USAGE, says="count needs a text")
        self.refused("count", self.path("no.txt"), says="no.txt")
        lonely = self.write("lonely.txt", "a\nb\n" * 9)
        self.refused("count", lonely, says="no two words stand together")

    def test_a_damaged_file_is_refused(self):
        self.count()
        whole = self.counts.read_bytes()
        for size in (0, 7, 100, len(whole) // 2, len(whole) - 1):
            self.counts.write_bytes(whole[:size])
            self.refused("train", "pmi", self.counts, "-o", self.path("m.kith"))
        self.counts.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        self.refused("train", "pmi", self.counts, "-o", self.path("m.kith"), says="checksum")
        self.refused("count", self.counts, says="checksum")

    def test_an_older_file_stays_if_counting_fails(self):
        self.count()
        before = self.counts.read_bytes()
        self.refused("count", self.write("lonely.txt", "a\nb\n" * 9), "-o", self.counts)
        self.assertEqual(self.counts.read_bytes(), before)

    def test_the_output_is_named_after_the_text(self):
        told = self.ok("count", self.text, cwd=self.path("."))
        self.assertTrue(self.path("text.counts").exists())
        self.assertTrue(re.search(r"next +\S+ train glove text.counts", told.err), told.err)


if __name__ == "__main__":
    kith.main()
