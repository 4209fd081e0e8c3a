#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Topics of documents, as a user has them."""
import json
import random

import kith

# Each topic has words of its own; a document is mostly of one.
TOPICS = ["ship sail wave harbour anchor tide".split(), "oven bread flour butter dough crust".split(),
          "snow slope summit glacier ridge rope".split()]


def documents(count, seed=1):
    draw = random.Random(seed)
    lines = []
    for number in range(count):
        own = TOPICS[number % 3]
        words = [draw.choice(own if draw.random() < 0.9 else draw.choice(TOPICS))
                 for _ in range(20)]
        lines.append(" ".join(["the", *words]))
    return "\n".join(lines) + "\n"


def as_counts(lines):
    """The same in lda-c, and its vocabulary."""
    vocabulary = sorted({word for line in lines.splitlines() for word in line.split()})
    out = []
    for line in lines.splitlines():
        words = line.split()
        pairs = [f"{vocabulary.index(w)}:{words.count(w)}" for w in sorted(set(words))]
        out.append(f"{len(pairs)} " + " ".join(pairs) + "\n")
    return "".join(out), "".join(f"{word}\n" for word in vocabulary)


class Topics(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("t.kith")

    def train(self, *sources, model="plsa", flags=()):
        return self.ok("train", model, *sources, "-o", self.model, "--topics", 3, "--threads", 1,
                       *flags)

    def trained(self):
        return self.train(self.write("d.txt", documents(300)), flags=["--stop-words", "english"])

    def shown(self, *flags):
        return self.ok("topics", self.model, "--json", *flags).json["topics"]

    def test_words_of_topics(self):
        told = self.trained()
        self.assertIn("drop     1 distinct word, 4.8 % of the text: --stop-words english", told.err)
        self.assertIn(f" topics {self.model}\n", told.err)  # what to do next
        for order in ("probability", "lift", "frex"):
            topics = self.shown("--by", order, "--top", 6)
            found = sorted(sorted(w["word"] for w in t["words"]) for t in topics)
            self.assertEqual(found, sorted(sorted(t) for t in TOPICS), order)
        self.assertAlmostEqual(sum(t["size"] for t in topics), 1, places=2)
        self.assertGreater(min(t["coherence"] for t in topics), 0)
        self.assertEqual([t["size"] for t in topics], sorted((t["size"] for t in topics))[::-1])
        table = self.ok("topics", self.model, "--top", 2, "--plot", self.path("t.svg"))
        self.assertEqual(len(table.out.splitlines()), 5)
        self.assertRegex(table.out.splitlines()[1], r"^  topic\d +\d+\.\d % +\d\.\d+  \w+ \w+$")
        picture = self.path("t.svg").read_text()
        self.assertTrue(picture.startswith("<svg") and picture.endswith("</svg>\n"))
        for word in table.out.splitlines()[1].split()[-2:]:
            self.assertIn(word, picture)

    def test_documents_become_mixtures(self):
        self.trained()
        new = self.write("n.txt", "ship sail ship\nqwerty\nbread oven snow slope\n")
        told = self.ok("embed", self.model, new, "-o", self.path("m.jsonl"))
        self.assertIn("1 of 8 words are not known", told.err)
        self.assertIn("1 document without a word that the model knows", told.err)
        rows = [json.loads(line)["vector"] for line in self.path("m.jsonl").read_text().splitlines()]
        self.assertGreater(max(rows[0]), 0.9)
        self.assertEqual(rows[1], [0, 0, 0])
        self.assertAlmostEqual(sum(rows[2]), 1, places=5)
        self.assertLess(max(rows[2]), 0.7)
        one = self.ok("embed", self.model, "ship", "sail", "ship", "--json").json["vector"]
        for a, b in zip(one, rows[0], strict=True):
            self.assertAlmostEqual(a, b, places=4)
        # The same from a table, and from counts.
        table = self.write("n.csv", "id,body\nx,ship sail ship\n")
        self.ok("embed", self.model, table, "--column", "body", "--name", "id", "-o",
                self.path("c.csv"))
        self.assertEqual(self.path("c.csv").read_text().splitlines()[1].split(",")[0], "x")
        counts = self.write("n.ldac", "2 0:2 1:1\n")
        vocabulary = self.write("v.txt", "ship\nsail\n")
        self.ok("embed", self.model, counts, "--vocab", vocabulary, "-o", self.path("l.jsonl"))
        row = json.loads(self.path("l.jsonl").read_text())["vector"]
        for a, b in zip(row, rows[0], strict=True):
            self.assertAlmostEqual(a, b, places=6)
        self.refused("embed", self.model, new, "-o", self.path("x.npy"), "--smooth", 0.1,
                     code=kith.BAD_USAGE, says="--smooth is for models of words")

    def test_what_is_near(self):
        self.trained()
        own = {w["word"]: t["id"] for t in self.shown("--top", 6) for w in t["words"]}
        near = self.ok("near", self.model, "document=1", "--json").json
        self.assertEqual(near["column"], "document")
        self.assertTrue(all(int(n["id"]) % 3 == 1 for n in near["neighbours"]))
        near = self.ok("near", self.model, own["ship"], "--to", "word", "--top", 6, "--json").json
        self.assertEqual({n["id"] for n in near["neighbours"]}, set(TOPICS[0]))
        near = self.ok("near", self.model, "ship", "--top", 5, "--json").json
        self.assertEqual({n["id"] for n in near["neighbours"]}, set(TOPICS[0]) - {"ship"})
        near = self.ok("near", self.model, own["ship"], "--to", "document", "--json").json
        self.assertTrue(all(int(n["id"]) % 3 == 1 for n in near["neighbours"]))
        near = self.ok("near", self.model, "--text", "oven and bread", "--json").json
        self.assertTrue(all(int(n["id"]) % 3 == 2 for n in near["neighbours"]))
        self.refused("near", self.model, "ship", "--to", "film", code=kith.BAD_USAGE,
                     says="there are document, topic, word")

    def test_perplexity_of_documents_not_learned_from(self):
        self.trained()
        test = self.write("test.txt", documents(60, seed=2))
        told = self.ok("eval", self.model, test, "--json")
        found = told.json
        # About six words that are as likely, a few of others; all eighteen for words alone.
        self.assertLess(found["perplexity"], 13)
        self.assertGreater(found["unigram_perplexity"], 16)
        self.assertEqual(found["baselines"]["unigram"]["perplexity"], found["unigram_perplexity"])
        self.assertGreater(found["coherence"], 0)
        self.assertEqual(found["diversity"], 0)  # of 18 words all are among the 25 of each topic
        self.assertEqual(found["documents"], 60)
        self.assertEqual(found["unknown_words"], 60)  # "the" in each
        told = self.ok("eval", self.model, test)
        self.assertIn("60 of 1,260 words are not known to the model", told.err)
        self.assertRegex(told.out, r"unigram +\d")
        self.refused("eval", self.model, self.write("u.txt", "qq rr\n"),
                     says="the model knows none of the 2 words in it")
        self.refused("eval", self.model, self.write("s.txt", "ship\n"),
                     says="no document has two words that the model knows")

    def test_files_of_counts(self):
        counts, vocabulary = as_counts(documents(300))
        source, words = self.write("d.ldac", counts), self.write("v.txt", vocabulary)
        self.train(source, flags=["--vocab", words, "--stop-words", "english"])
        found = sorted(sorted(w["word"] for w in t["words"]) for t in self.shown("--top", 6))
        self.assertEqual(found, sorted(sorted(t) for t in TOPICS))
        scored = self.ok("eval", self.model, source, "--vocab", words, "--json").json
        self.assertLess(scored["perplexity"], 13)
        self.refused("eval", self.model, source, says="give the words of the counts with --vocab")
        # A model is chosen by what the file is; text stays text.
        told = self.ok("train", source, "-o", self.model, "--vocab", words, "--topics", 3)
        self.assertIn("documents as counts of words (lda-c), so the model is", told.err)
        self.refused("train", "word2vec", source, "-o", self.model, code=kith.BAD_USAGE,
                     says="these are documents as counts of words, and word2vec learns from text")
        told = self.ok("train", self.write("t.txt", documents(300)), "-o", self.model, "--dim", 4,
                       "--min-count", 1, "--epochs", 1)
        self.assertIn("so the model is word2vec", told.err)
        # Packed, and as UCI has them.
        entries = [(d + 1, int(w) + 1, n) for d, line in enumerate(counts.splitlines())
                   for w, n in (p.split(":") for p in line.split()[1:])]
        docword = f"300\n{len(vocabulary.split())}\n{len(entries)}\n" + "".join(
            f"{d} {w} {n}\n" for d, w, n in entries)
        uci = self.write("docword.txt", docword)
        self.train(uci, flags=["--vocab", words, "--stop-words", "english"])
        again = self.ok("eval", self.model, uci, "--vocab", words, "--json").json
        self.assertEqual(again["perplexity"], scored["perplexity"])

    def test_factors_of_counts(self):
        counts, vocabulary = as_counts(documents(300))
        source, words = self.write("d.ldac", counts), self.write("v.txt", vocabulary)
        self.ok("train", "nmf", source, "-o", self.model, "--vocab", words, "--loss", "kl",
                "--unrated", "zero", "--dim", 3)
        near = self.ok("near", self.model, "word=ship", "--top", 5, "--json").json
        self.assertEqual({n["id"] for n in near["neighbours"]}, set(TOPICS[0]) - {"ship"})

    def test_what_is_refused(self):
        text = self.write("d.txt", documents(30))
        self.refused("train", "plsa", self.write("e.txt", "\n\n"), "-o", self.model,
                     says="no words in 2 documents")
        self.refused("train", "plsa", self.write("f.txt", "a b\nc d\n"), "-o", self.model,
                     says="0 of 4 distinct words remain, and training needs 2; --min-df 5 took")
        self.refused("train", "plsa", text, "-o", self.model, "--vocab", text, code=kith.BAD_USAGE,
                     says="--vocab is for files of counts")
        bad = self.write("b.ldac", "1 0:1\n" * 30 + "2 0:1\n")
        self.refused("train", "plsa", bad, "-o", self.model,
                     says="b.ldac:31: the line says 2 words and has 1")
        self.trained()
        words = self.path("w.kith")
        self.ok("train", "word2vec", text, "-o", words, "--dim", 4, "--min-count", 1, "--epochs", 1)
        self.refused("topics", words, code=kith.BAD_USAGE, says="topics is for models that have topics")
        self.refused("topics", self.model, self.model, code=kith.BAD_USAGE, says="topics needs one model")
        self.refused("topics", self.model, "--plot", self.model, code=kith.BAD_USAGE, says="t.kith")

    def test_resumed_runs_are_equal(self):
        text = self.write("d.txt", documents(300))
        flags = ["--topics", 3, "--epochs", 40, "--tolerance", 0, "--quiet"]
        one, two = self.path("1.kith"), self.path("2.kith")
        self.ok("train", "plsa", text, "-o", one, *flags, "--threads", 1)
        self.ok("train", "plsa", text, "-o", two, *flags, "--threads", 2)
        self.assertEqual(one.read_bytes(), two.read_bytes())


if __name__ == "__main__":
    kith.main()
