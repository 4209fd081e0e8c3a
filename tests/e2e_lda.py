#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Topics by latent Dirichlet allocation, as a user learns and asks for them."""
import pathlib
import random

import kith

SPORT = "goal match team player ball".split()
VOTE = "vote law party parliament minister".split()


def documents(count, seed=1):
    """Each of one subject, or of both."""
    draw = random.Random(seed)
    lines = []
    for d in range(count):
        words = SPORT if d % 3 == 0 else VOTE if d % 3 == 1 else SPORT + VOTE
        lines.append(" ".join(draw.choices(words, k=20)))
    return "\n".join(lines) + "\n"


class Lda(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("docs.txt", documents(300))

    def train(self, *flags, model="m.kith"):
        self.ok("train", "lda", self.file, "-o", self.path(model), "--topics", 2, "--epochs", 100,
                "--max-df", 1, *flags)
        return self.path(model)

    def test_topics_are_the_subjects(self):
        for method in ("warp", "gibbs", "online"):
            model = self.train("--method", method)
            topics = self.ok("topics", model, "--top", 5, "--json").json["topics"]
            found = sorted(sorted(w["word"] for w in t["words"]) for t in topics)
            self.assertEqual(found, sorted([sorted(SPORT), sorted(VOTE)]), method)

    def test_any_number_of_threads_writes_the_same_file(self):
        for method in ("warp", "gibbs", "online"):
            files = [self.train("--method", method, "--threads", n, model=f"{n}.kith")
                     for n in (1, 3)]
            first, second = (pathlib.Path(path).read_bytes() for path in files)
            self.assertEqual(first, second, method)

    def test_held_out_documents_are_scored(self):
        info = self.ok("info", self.train("--holdout", 0.2), "--json").json["facts"]
        self.assertLess(info["held_out"], info["held_out_before"])

    def test_evaluation_beats_words_alone(self):
        test = self.write("test.txt", documents(90, seed=2))
        scores = self.ok("eval", self.train(), test, "--json").json
        self.assertLess(scores["perplexity"], 0.9 * scores["unigram_perplexity"])

    def test_settings_out_of_range_are_refused(self):
        for flag, value in (("--topics", 0), ("--topics", 65536), ("--proposals", 0),
                            ("--alpha", 0), ("--kappa", 2)):
            self.refused("train", "lda", self.file, "-o", self.path("m.kith"), flag, value,
                         code=kith.BAD_USAGE)


if __name__ == "__main__":
    kith.main()
