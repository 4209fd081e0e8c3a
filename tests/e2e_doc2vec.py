#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Vectors of documents, as a user has them."""
import json

import kith


class Documents(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("d.kith")
        self.lines = kith.two_topics(300)

    def train(self, *flags):
        return self.ok("train", "doc2vec", self.write("d.txt", self.lines), "-o", self.model,
                       "--dim", 12, "--min-count", 1, "--threads", 1, *flags)

    def topic(self, number):
        return self.lines.splitlines()[number - 1].split()[0][:3]

    def test_documents_and_words_are_asked(self):
        self.train("--words")
        near = self.ok("near", self.model, "document=17", "--json").json
        self.assertEqual(near["column"], "document")
        own = [self.topic(int(n["id"])) == self.topic(17) for n in near["neighbours"]]
        self.assertGreaterEqual(sum(own), 9)
        word = self.lines.split()[0]
        self.assertEqual(self.ok("near", self.model, word, "--json").json["column"], "word")
        self.refused("near", self.model, "document=400", says="document")

    def test_a_text_is_inferred_the_same_every_time(self):
        self.train()
        first = self.lines.splitlines()[0]
        once = self.ok("embed", self.model, first, "--json").json["vector"]
        self.assertEqual(once, self.ok("embed", self.model, *first.split(), "--json").json["vector"])
        out = self.path("v.jsonl")
        told = self.ok("embed", self.model, self.write("n.txt", f"qq\n{first}\n"), "-o", out)
        self.assertIn("1 text without a word that the model knows", told.err)
        rows = [json.loads(line)["vector"] for line in out.read_text().splitlines()]
        self.assertEqual(rows[0], [0] * 12)
        for a, b in zip(rows[1], once, strict=True):
            self.assertAlmostEqual(a, b, places=6)
        near = self.ok("near", self.model, "--text", first, "--json").json
        self.assertEqual(near["column"], "document")
        own = [self.topic(int(n["id"])) == self.topic(1) for n in near["neighbours"]]
        self.assertGreaterEqual(sum(own), 9)
        self.refused("embed", self.model, first, "-o", self.path("x.npy"), code=kith.BAD_USAGE,
                     says="leave them out to have one vector printed")
        self.refused("embed", self.model, "qwerty", says="no word that the model knows")
        self.refused("embed", self.model, first, "--smooth", 0.1, code=kith.BAD_USAGE,
                     says="--smooth is for models of words")

    def test_rows_of_a_table_have_names(self):
        rows = "".join(f"n{i},{line}\n" for i, line in enumerate(self.lines.splitlines()))
        self.ok("train", "doc2vec", self.write("d.csv", "id,body\n" + rows), "-o", self.model,
                "--dim", 8, "--min-count", 1, "--column", "body", "--id", "id", "--quiet")
        self.ok("near", self.model, "document=n17")
        self.refused("train", "doc2vec", self.write("e.txt", "\n\n"), "-o", self.path("e.kith"),
                     says="no words in 2 documents")

    def test_the_same_file_for_any_number_of_threads(self):
        self.train("--epochs", 6, "--deterministic")
        whole = self.model.read_bytes()
        self.train("--epochs", 6, "--deterministic", "--threads", 2)
        self.assertEqual(whole, self.model.read_bytes())


if __name__ == "__main__":
    kith.main()
