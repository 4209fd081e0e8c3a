#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words and their parts, and files of fastText, as a user has them."""
import random

import kith

STEMS = ("flumi", "gorda")


def text(lines=400):
    """Sentences of words with one stem; the stem alone says what a word is about."""
    rng = random.Random(1)
    return "".join(
        " ".join(STEMS[i % 2] + rng.choice("abcdefgh") + rng.choice("abcdefgh") for _ in range(10))
        + "\n" for i in range(lines))


class FastText(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.model = self.path("m.kith")

    def train(self, *flags):
        return self.ok("train", "fasttext", self.write("text.txt", text()), "-o", self.model,
                       "--dim", 12, "--min-count", 1, "--sample", 0, "--buckets", 20000,
                       "--threads", 1, "--epochs", 5, *flags)

    def vectors(self, model):
        out = self.path("v.txt")
        self.ok("export", model, "--to", "word2vec-text", "-o", out)
        lines = out.read_text(encoding="utf-8").splitlines()[1:]
        return {w[0]: [float(x) for x in w[1:]] for w in (line.split() for line in lines)}

    def test_an_unseen_word_has_neighbours(self):
        self.train()
        told = self.ok("near", self.model, "flumizz", "--top", 5)
        self.assertIn("flumizz is not among the words of the model", told.err)
        near = self.ok("near", self.model, "flumizz", "--top", 5, "--json").json["neighbours"]
        self.assertEqual({n["id"][:5] for n in near}, {"flumi"})
        alike = [float(self.ok("similarity", self.model, "flumizz", word).out.split()[-1])
                 for word in ("flumiaa", "gordaaa")]
        self.assertGreater(alike[0], alike[1] + 0.3)
        self.refused("near", self.model, "xyxyxy", says="xyxyxy")
        self.refused("near", self.model, "flumizz", "--vectors", "output", says="flumizz")

    def test_pairs_with_unseen_words_are_scored_beside_the_others(self):
        self.train()
        pairs = self.write("pairs.tsv", "flumiaa\tflumibb\t9\nflumiaa\tgordaaa\t1\n"
                           "flumiab\tgordabb\t2\nflumizz\tflumiac\t8\nflumizz\tgordazz\t1\n"
                           "flumiaa\txyxyxy\t3\n")
        report = self.ok("eval", self.model, pairs)
        self.assertIn("similarity of 3 pairs; 3 skipped for an unknown word; 2 more pairs with "
                      "unseen words", report.out)
        self.assertRegex(report.out, r"unseen words too +0\.[5-9]")
        self.assertNotIn("unseen", self.ok("eval", self.model, pairs, "--vectors", "output").out)

    def test_gensim_reads_what_is_exported(self):
        from gensim.models.fasttext import load_facebook_model
        self.train()
        out = self.path("m.bin")
        self.ok("export", self.model, "--to", "fasttext-bin", "-o", out)
        theirs = load_facebook_model(str(out)).wv
        ours = self.vectors(self.model)
        self.assertEqual(list(ours), theirs.index_to_key)
        for word, vector in ours.items():
            for x, y in zip(vector, theirs[word]):
                self.assertAlmostEqual(x, float(y), 5)
        back = self.path("back.kith")
        told = self.ok("import", out, "-o", back)
        self.assertIn("read as fasttext-bin", told.err)
        self.assertEqual(self.vectors(back), ours)

    def test_what_gensim_learned_is_imported(self):
        from gensim.models.fasttext import FastText as Gensim, save_facebook_model
        sentences = [line.split() for line in text(100).splitlines()]
        theirs = Gensim(sentences=sentences, vector_size=8, min_count=1, bucket=3000, epochs=1,
                        workers=1)
        file = self.path("theirs.bin")
        save_facebook_model(theirs, str(file))
        self.ok("import", file, "-o", self.model)
        self.assertEqual(self.ok("info", self.model, "--json").json["model"], "fasttext")
        for word, vector in self.vectors(self.model).items():
            for x, y in zip(vector, theirs.wv[word]):
                self.assertAlmostEqual(x, float(y), 5)
        unseen = float(self.ok("similarity", self.model, "flumizz", "flumiab").out.split()[-1])
        self.assertAlmostEqual(unseen, float(theirs.wv.similarity("flumizz", "flumiab")), 4)

    def fasttext_trains(self, *flags):
        kith.fasttext("skipgram", "-input", self.write("text.txt", text(100)), "-output",
                      self.path("ft"), "-dim", 8, "-minCount", 1, "-bucket", 3000, "-epoch", 2,
                      "-thread", 10, *flags)
        return self.path("ft.bin")

    def assert_same_vectors(self, file):
        """Of known and unseen words the model and fastText's file say the same."""
        words = ["flumiaa", "gordabc", "flumizz", "gordax"]
        told = kith.fasttext("print-word-vectors", file, asked="\n".join(words) + "\n")
        for word, line in zip(words, told.splitlines(), strict=True):
            theirs = [float(x) for x in line.split()[1:]]
            ours = self.ok("embed", self.model, word, "--weights", "mean", "--json").json["vector"]
            for x, y in zip(ours, theirs, strict=True):  # fastText prints five digits
                self.assertAlmostEqual(x, y, delta=1e-6 + 1e-4 * abs(y))
        for word in words:
            told = kith.fasttext("nn", file, 5, asked=word + "\n")
            theirs = [line.replace("Query word?", "").split() for line in told.splitlines()]
            theirs = [(name, float(score)) for name, score in filter(None, theirs)]
            near = self.ok("near", self.model, word, "--top", 5, "--json").json["neighbours"]
            for n, (_, score) in zip(near, theirs, strict=True):
                self.assertAlmostEqual(n["score"], score, delta=2e-5)
            if len({round(score, 4) for _, score in theirs}) == 5:
                self.assertEqual([n["id"] for n in near], [name for name, _ in theirs])

    def test_fasttext_answers_as_the_model_that_it_was_written_of(self):
        self.train()
        self.ok("export", self.model, "--to", "fasttext-bin", "-o", self.path("m.bin"))
        self.assert_same_vectors(self.path("m.bin"))

    def test_what_fasttext_learned_is_imported_and_comes_out_as_it_was(self):
        for loss in ("ns", "softmax", "hs"):
            for flags in (["-minn", 3, "-maxn", 5], ["-maxn", 0, "-minCount", 3]):
                file = self.fasttext_trains("-loss", loss, *flags)
                told = self.ok("import", file, "-o", self.model).err
                self.assertEqual("by negative sampling" in told, loss != "ns", told)
                self.ok("export", self.model, "--to", "fasttext-bin", "-o", self.path("again.bin"))
                self.assertEqual(self.path("again.bin").read_bytes(), file.read_bytes())
                if flags[0] == "-minn":
                    self.assert_same_vectors(file)
        self.assertIn("nodes of a tree", told)
        for command in (["near", "flumiaa"], ["export", "--to", "glove", "-o", self.path("v")]):
            self.refused(command[0], self.model, *command[1:], "--vectors", "output",
                         code=kith.BAD_USAGE, says="hierarchical softmax (-loss hs)")
        self.ok("train", "--from", self.model, self.path("text.txt"), "-o", self.path("on.kith"),
                "--min-count", 1, "--quiet")
        self.ok("near", self.path("on.kith"), "flumiaa", "--vectors", "output")

    def test_an_imported_model_goes_on(self):
        self.train()
        out, back = self.path("m.bin"), self.path("back.kith")
        self.ok("export", self.model, "--to", "fasttext-bin", "-o", out)
        self.ok("import", out, "-o", back)
        more = self.write("more.txt", "flumiaa flumizz flumiab\n" * 20)
        self.ok("train", "--from", back, more, "-o", self.path("on.kith"), "--min-count", 1,
                "--quiet")
        self.assertIn("flumizz", self.vectors(self.path("on.kith")))

    def test_words_without_parts_are_a_file_of_fasttext_too(self):
        self.ok("train", "word2vec", self.write("text.txt", text()), "-o", self.model, "--dim", 8,
                "--min-count", 1, "--quiet")
        out, back = self.path("m.bin"), self.path("back.kith")
        self.ok("export", self.model, "--to", "fasttext-bin", "-o", out)
        self.ok("import", out, "-o", back)
        self.assertEqual(self.vectors(back), self.vectors(self.model))

    def test_a_damaged_file_is_refused(self):
        self.train()
        out = self.path("m.bin")
        self.ok("export", self.model, "--to", "fasttext-bin", "-o", out)
        data = out.read_bytes()
        for size in (5, 40, 200, len(data) // 2, len(data) - 1):
            out.write_bytes(data[:size])
            self.refused("import", out, "-o", self.path("x.kith"), says="m.bin")
            self.assertFalse(self.path("x.kith").exists())

    def test_settings_that_contradict_each_other(self):
        file = self.write("text.txt", text(20))
        self.refused("train", "fasttext", file, "-o", self.model, "--min-n", 7, "--min-count", 1,
                     code=kith.BAD_USAGE, says="--min-n 7 is more than --max-n 6")
        self.train("--ngrams", "explicit")
        self.refused("export", self.model, "--to", "fasttext-bin", "-o", self.path("m.bin"),
                     code=kith.BAD_USAGE, says="--ngrams hashed")
        self.ok("export", self.model, "--to", "fasttext-bin", "-o", self.path("m.bin"),
                "--vectors", "input")


if __name__ == "__main__":
    kith.main()
