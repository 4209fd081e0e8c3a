#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Labels of texts, as a user learns and asks them."""
import csv
import io
import json

import kith

SMALL = ["--dim", 8, "--threads", 1, "--quiet"]


def sea_rows(rows=300):
    """The same texts as a table: id, text, topics, weight."""
    out = []
    for k, line in enumerate(kith.labelled_topics(rows, seed=3).splitlines()):
        label, text = line.split(" ", 1)
        topics = [label.removeprefix("__label__")] + ["even"] * (k % 2 == 0)
        out.append({"id": k, "text": text, "topics": topics, "weight": 1 + k % 2})
    return out


class Classifier(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.texts = self.write("texts.txt", kith.labelled_topics())
        self.model = self.path("m.kith")

    def train(self, *flags, source=None, model=None):
        return self.ok("train", "classifier", source or self.texts, "-o", model or self.model,
                       *SMALL, *flags)

    def bits(self, path):
        """The tensors of a model file."""
        data = path.read_bytes()
        return data[8 + int.from_bytes(data[:8], "little"):]

    def test_a_file_with_labels_chooses_the_model(self):
        told = self.ok("train", self.texts, "-o", self.model, "--dim", 4)
        self.assertRegex(told.err, "texts with labels.*classifier")
        self.assertIn("labels   2; the most frequent", told.err)
        self.assertRegex(told.err, r"next +\S+ predict \S+ FILE, with texts that it has not seen")
        self.assertEqual(self.ok("info", self.model, "--json").json["facts"]["labels"], 2)

    def test_predict_a_text(self):
        self.train()
        told = self.ok("predict", self.model, "hill1 and hill3", "--json").json
        self.assertEqual(told["prediction"], "hill")
        self.assertEqual([p["id"] for p in told["predictions"]], ["hill", "sea"])
        self.assertAlmostEqual(sum(p["probability"] for p in told["predictions"]), 1, places=4)
        self.assertRegex(self.ok("predict", self.model, "sea1", "sea2", "--top", 1).out,
                         r"^sea +\d+\.\d %\n$")
        unknown = self.ok("predict", self.model, "nothing of this")
        self.assertIn("knows no word of the text", unknown.err)
        self.assertEqual(self.ok("predict", self.model, "no", "--threshold", 0.9).out, "")

    def test_predict_lines_and_rows(self):
        self.train()
        lines = b"hill1 hill2\nsea1, __label__hill sea2\n\n"
        out = self.ok("predict", self.model, "-", stdin=lines)
        rows = list(csv.DictReader(io.StringIO(out.out)))
        self.assertEqual([r["prediction"] for r in rows][:2], ["hill", "sea"])
        self.assertEqual(len(rows), 3)
        self.assertIn("1 text without a word that the model knows", out.err)
        table = self.write("new.csv", "id,what\n1,sea3\n2,hill4\n")
        self.ok("predict", self.model, table, "--text", "what", "-o", self.path("out.jsonl"))
        found = [json.loads(line) for line in self.path("out.jsonl").read_text().splitlines()]
        self.assertEqual([(f["id"], f["prediction"]) for f in found],
                         [("1", "sea"), ("2", "hill")])

    def test_eval_beside_the_majority(self):
        self.train()
        test = self.write("test.txt", kith.labelled_topics(100, seed=9))
        told = self.ok("eval", self.model, test, "--json").json
        self.assertEqual(told["accuracy"], 1)
        self.assertEqual(told["macro_f1"], 1)
        self.assertLess(told["baselines"]["majority"]["accuracy"], 0.7)
        self.assertEqual(sum(label["texts"] for label in told["labels"].values()), 100)
        self.assertEqual(told["confusion"]["hill"]["sea"], 0)
        shown = self.ok("eval", self.model, test).out
        for part in ("this model", "majority", "precision", "true \\ guess"):
            self.assertIn(part, shown)

    def test_tables_are_the_same_texts(self):
        rows = sea_rows()
        forms = {
            "t.csv": "id,text,topics,weight\n" + "".join(
                f"{r['id']},{r['text']},{'|'.join(r['topics'])},1\n" for r in rows),
            "t.tsv": "topics\ttext\n" + "".join(
                f"{'|'.join(r['topics'])}\t{r['text']}\n" for r in rows),
            "t.jsonl": "".join(json.dumps(r) + "\n" for r in rows),
        }
        lines = self.write("t.txt", "".join(
            " ".join(f"__label__{t}" for t in r["topics"]) + f" {r['text']}\n" for r in rows))
        flags = ["--loss", "one-vs-all", "--tokens", "words"]
        self.train(*flags, source=lines)
        expected = self.bits(self.model)
        for name, content in forms.items():
            model = self.path(name + ".kith")
            self.train(*flags, "--text", "text", "--label", "topics",
                       source=self.write(name, content), model=model)
            self.assertEqual(self.bits(model), expected, name)
            # The model knows its columns.
            told = self.ok("eval", model, self.path(name), "--json").json
            self.assertEqual(told["texts"], 300)
        weighed = self.path("w.kith")
        self.train(*flags, "--text", "text", "--label", "topics", "--row-weight", "weight",
                   source=self.path("t.jsonl"), model=weighed)
        self.assertNotEqual(self.bits(weighed), expected)

    def test_latin_1(self):
        data = "".join(f"__label__{'ab'[k % 2]} {('été', 'hiver')[k % 2]}\n" for k in range(40))
        source = self.write("l.txt", data.encode("latin-1"))
        self.train("--encoding", "latin-1", source=source)
        self.assertEqual(self.ok("predict", self.model, "été", "--json").json["prediction"], "a")

    def test_several_labels(self):
        several = self.write("s.txt", "__label__a __label__b both\n__label__a one\n"
                             "__label__b other\n" * 60)
        self.train("--loss", "one-vs-all", "--epochs", 20, source=several)
        told = self.ok("predict", self.model, "both", "--threshold", 0.5, "--json").json
        self.assertEqual({p["id"] for p in told["predictions"]}, {"a", "b"})
        self.assertEqual(self.ok("eval", self.model, several, "--json").json["exact"], 1)

    def test_a_validation_file_stops_early(self):
        # Where hills are called sea and the sea hills, the first epoch is the best.
        swapped = {"__label__hill": "__label__sea", "__label__sea": "__label__hill"}
        lines = [line.split(" ", 1) for line in kith.labelled_topics(50, seed=7).splitlines()]
        check = self.write("v.txt", "".join(f"{swapped[label]} {text}\n" for label, text in lines))
        told = self.ok("train", "classifier", self.texts, "-o", self.model, "--dim", 4, "--threads",
                       1, "--validation", check, "--early-stop", 1, "--epochs", 50)
        self.assertIn("held out to score the model, from a file of its own", told.err)
        self.assertIn("the held-out loss no longer fell", told.err)
        self.assertEqual(self.ok("info", self.model, "--json").json["facts"]["kept_epoch"], 1)

    def test_early_stop_holds_a_tenth_out_and_trains_again(self):
        told = self.ok("train", "classifier", self.texts, "-o", self.model, "--dim", 4, "--threads",
                       1, "--early-stop", 2, "--epochs", 30)
        self.assertIn("now training again with what was held out", told.err)

    def test_the_same_bits_and_resume(self):
        self.train("--deterministic")
        for threads in (2, 3):
            other = self.path("o.kith")
            self.ok("train", "classifier", self.texts, "-o", other, "--dim", 8, "--quiet",
                    "--deterministic", "--threads", threads)
            self.assertEqual(self.bits(other), self.bits(self.model))
        again = self.train("--deterministic", "--resume")
        self.assertEqual(again.code, kith.DONE)

    def test_near_words_and_labels(self):
        self.train()
        near = self.ok("near", self.model, "hill1", "--top", 5, "--json").json["neighbours"]
        self.assertEqual({n["id"].rstrip("0123456789") for n in near}, {"hill"})
        self.assertEqual(self.ok("near", self.model, "label=sea", "--json").json["neighbours"][0]
                         ["id"], "hill")

    def test_memory_is_small(self):
        code, peak = kith.peak_memory("train", "classifier", self.texts, "-o", self.model, *SMALL)
        self.assertEqual(code, kith.DONE)
        if not kith.SANITIZED:
            self.assertLess(peak, 60 << 20)  # 2 M buckets of 100 numbers would be 800 MB

    def test_bad_input(self):
        cases = [
            ("plain text\n", [], kith.BAD_INPUT, "no line has a label; a label is a word such as"),
            ("", [], kith.BAD_INPUT, "no line has a label"),
            ("__label__a x\n__label__a y\n", [], kith.BAD_INPUT, "all texts have the label a"),
            ("__label__a\n__label__b\n", [], kith.BAD_INPUT, "none of 2 labelled texts has a word"),
            ("__label__a x\n__label__ y\n", [], kith.BAD_INPUT, "bad:2"),
            ("t,l\nx,a\ny,b,c\n", ["--text", "t", "--label", "l"], kith.BAD_INPUT, "bad:3"),
            ("t,l\nx,a\n", ["--text", "u", "--label", "l"], kith.BAD_USAGE,
             "there is no column u for --text; there are t, l"),
            ("t,l\nx,a\n", ["--text", "t", "--label", "m"], kith.BAD_USAGE,
             "there is no column m for --label"),
            ("t,l\nx,a\n", ["--text", "t"], kith.BAD_USAGE, "--text is given, and --label is not"),
            ("t,l,w\nx,a,1\ny,b,-1\n", ["--text", "t", "--label", "l", "--row-weight", "w"],
             kith.BAD_INPUT, "the weight must be a number from 0"),
            ("__label__a x\n__label__b y\n", ["--class-weights", "c=2"], kith.BAD_USAGE,
             "there is no label c"),
            ("__label__a x\n__label__b y\n", ["--class-weights", "a"], kith.BAD_USAGE,
             "class-weights must be none, balanced, or a list"),
            ("__label__a x\n__label__b y\n", ["--validation", "missing"], kith.BAD_INPUT,
             "missing"),
            ("__label__a x\n__label__b y\n", ["--loss", "squared"], kith.BAD_USAGE,
             "softmax, one-vs-all, hierarchical"),
        ]
        for text, flags, code, says in cases:
            bad = self.write("bad", text)
            self.refused("train", "classifier", bad, "-o", self.model, "--quiet", *flags, code=code,
                         says=says)
            self.assertFalse(self.model.exists(), text)
        self.train()
        self.refused("predict", self.model, "new.txt", says="there is no such file of texts")
        self.refused("eval", self.model, self.write("e.txt", "no labels\n"),
                     says="no text has a label")
        words = kith.train_quick(self)
        self.refused("predict", words, "hill1", code=kith.BAD_USAGE, says="classify texts")

    def test_compress(self):
        many = "".join(f"{line} n{k}\n" for k, line in
                       enumerate(kith.labelled_topics(2000).splitlines()))
        self.train("--dim", 32, source=self.write("many.txt", many))
        small = self.path("small.kith")
        for flags in ([], ["--norms"], ["--width", 4, "--threads", 2]):
            told = self.ok("compress", self.model, "-o", small, *flags)
            self.assertRegex(told.err, r"input: .* vectors of length 32; .* % of their squared")
            self.assertIn("output: 2 vectors of length 32, too few to gain by it", told.err)
            self.assertLess(small.stat().st_size, self.model.stat().st_size / 2)
            accuracy = self.ok("eval", small, self.texts, "--json").json["accuracy"]
            self.assertGreater(accuracy, 0.98)
        self.ok("compress", self.model, "-o", self.path("same.kith"), *flags[:2], "--threads", 1)
        self.assertEqual(self.bits(small), self.bits(self.path("same.kith")))
        self.assertIn("compressed", self.ok("info", small).out)
        self.ok("near", small, "hill1")
        data = bytearray(small.read_bytes())
        data[-1] ^= 1
        self.write("bad.kith", bytes(data))
        self.refused("predict", self.path("bad.kith"), "hill1", says="damaged")
        self.refused("compress", small, "-o", self.path("x.kith"), code=kith.BAD_USAGE,
                     says="compressed already")

    def test_lists_come_out_as_lists(self):
        table = self.write("l.jsonl", '{"text":"hill1 hill2","label":["x","y"]}\n'
                           '{"text":"sea1 sea2","label":["z"]}\n' * 20)
        self.train("--text", "text", "--label", "label", source=table)
        lines = self.ok("predict", self.model, table, "--json").out.splitlines()
        self.assertEqual(json.loads(lines[0])["label"], ["x", "y"])
        self.ok("predict", self.model, table, "-o", self.path("l.csv"))
        told = self.path("l.csv").read_text(encoding="utf-8")
        self.assertIn("\n1,hill1 hill2,x|y,", told)
        self.assertNotIn("\x1f", told)

    def test_texts_that_look_like_files(self):
        self.train()
        for text in ("hill1/sea1", "http://hill1.com"):
            self.refused("predict", self.model, text, says="if it is a text itself, add --as-text")
            self.ok("predict", self.model, "--as-text", text)
            self.refused("embed", self.model, text, says="if it is a text itself, add --text")
        self.assertEqual(self.ok("predict", self.model, "--as-text", self.texts, "--top", 1).out,
                         self.ok("predict", self.model, "nothing known", "--top", 1).out)
        self.refused("embed", self.model, "--text", "hill1/sea1", says="no word that the model")
        self.refused("embed", self.model, "--text", "hill1", "-o", self.path("z.npy"),
                     code=kith.BAD_USAGE, says="hill1 is a text, and --output")

    def test_vectors_of_texts(self):
        self.train("--word-ngrams", 1)
        out = self.path("v.txt")
        self.ok("export", self.model, "--to", "word2vec-text", "-o", out)
        words = {line.split()[0]: [float(x) for x in line.split()[1:]]
                 for line in out.read_text(encoding="utf-8").splitlines()[1:]}
        told = self.ok("embed", self.model, "hill1 unknown sea2 sea2", "--json").json["vector"]
        for x, *parts in zip(told, words["word=hill1"], words["word=sea2"], words["word=sea2"]):
            self.assertAlmostEqual(x, sum(parts) / 3, 5)
        self.ok("embed", self.model, self.texts, "-o", self.path("z.npy"), "--weights", "mean")
        for flags, name in ((["--weights", "sif"], "--weights"), (["--smooth", 0.1], "--smooth"),
                            (["--common", "model"], "--common")):
            self.refused("embed", self.model, "hill1", *flags, code=kith.BAD_USAGE,
                         says=f"plain mean with a classifier; leave {name} out")
        self.ok("near", self.model, "--text", "hill1 hill2", "--top", 1)

    def test_far_too_large_a_rate_is_told(self):
        told = kith.run("train", "classifier", self.texts, "-o", self.model, *SMALL, "--optimiser",
                        "sgd", "--lr", 1000)
        self.assertIn(told.code, (kith.DONE, kith.DIVERGED), str(told))

    def test_beside_fasttext(self):
        # Of ten words one is of the other topic, so that there is something to get wrong.
        noisy = kith.labelled_topics(1500, seed=5).splitlines()
        mixed = [f"{line} {other.split()[1]}\n" for line, other in zip(noisy, noisy[1:])]
        train, test = self.write("a.txt", "".join(mixed[:1000])), self.write(
            "b.txt", "".join(mixed[1000:]))
        kith.fasttext("supervised", "-input", train, "-output", self.path("ft"), "-wordNgrams", 2,
                      "-epoch", 10, "-lr", 0.5, "-bucket", 20000, "-thread", 10)
        told = kith.fasttext("test", self.path("ft.bin"), test)
        theirs = float(told.split("P@1")[1].split()[0])
        self.train(source=train)
        ours = self.ok("eval", self.model, test, "--json").json["accuracy"]
        self.assertGreaterEqual(ours, theirs - 0.01)


class FromFastText(kith.TestCase):
    """Models that fastText made, and models for it: the same labels and probabilities."""

    def setUp(self):
        super().setUp()
        texts = kith.labelled_topics(400, seed=7).splitlines()
        # Three labels, words that training has not seen, an umlaut, and two that are the same.
        texts = [line.replace("__label__sea", "__label__lake") if k % 3 == 0 else line
                 for k, line in enumerate(texts)]
        self.train = self.write("train.txt", "\n".join(texts[:300]) + "\n")
        asked = [line.split(" ", 1)[1] + new for line, new in
                 zip(texts[300:], [" never gr\u00fcn", "", " hill1 hill1", " x"] * 25)]
        self.asked = self.write("asked.txt", "\n".join(asked) + "\n")
        self.model = self.path("m.kith")

    def supervised(self, *flags):
        kith.fasttext("supervised", "-input", self.train, "-output", self.path("ft"), "-dim", 10,
                      "-epoch", 5, "-lr", 0.3, "-bucket", 5000, "-thread", 10, *flags)
        return self.path("ft.bin")

    def theirs(self, model):
        """By text: labels and probabilities as fastText tells them, which adds 1e-5 to them."""
        out = []
        for line in kith.fasttext("predict-prob", model, self.asked, 3).splitlines():
            words = line.split()
            out.append({l.removeprefix("__label__"): float(p)
                        for l, p in zip(words[::2], words[1::2])})
        return out

    def ours(self, model):
        self.ok("predict", model, self.asked, "--top", 3, "-o", self.path("told.jsonl"))
        lines = self.path("told.jsonl").read_text(encoding="utf-8").splitlines()
        return [{p["id"]: p["probability"] for p in json.loads(line)["predictions"]}
                for line in lines]

    def assert_same(self, ours, theirs, tolerance):
        self.assertEqual(len(ours), len(theirs))
        for a, b in zip(ours, theirs):
            self.assertEqual(sorted(a), sorted(b))
            for label, p in b.items():
                self.assertAlmostEqual(a[label], p, delta=tolerance)
            first, second = sorted(b.values())[:-3:-1]
            if first - second > 2 * tolerance:
                self.assertEqual(max(a, key=a.get), max(b, key=b.get))

    def test_import(self):
        # fastText looks sigma up in a table with steps of 1/32: .008 off at worst. Its logarithms
        # have 1e-5 added, at each node of a tree.
        for loss, tolerance in (("softmax", 3e-5), ("ova", 9e-3), ("ns", 9e-3), ("hs", 1e-4)):
            for flags in (["-wordNgrams", 2], ["-minn", 2, "-maxn", 4], ["-wordNgrams", 3, "-minn",
                                                                         3, "-maxn", 5]):
                model = self.supervised("-loss", loss, *flags)
                told = self.ok("import", model, "-o", self.model)
                self.assertIn("read as fasttext-bin", told.err)
                self.assert_same(self.ours(self.model), self.theirs(model), tolerance)
        facts = self.ok("info", self.model, "--json").json
        self.assertEqual((facts["model"], facts["facts"]["labels"]), ("classifier", 3))
        self.ok("near", self.model, "hill1")
        self.assertGreater(self.ok("eval", self.model, self.train, "--json").json["accuracy"], 0.6)

    def test_import_quantised(self):
        self.supervised("-wordNgrams", 2, "-minn", 2, "-maxn", 3)
        for flags in ([], ["-qnorm", "-cutoff", 400], ["-dsub", 3]):
            kith.fasttext("quantize", "-input", self.train, "-output", self.path("ft"), "-thread",
                          10, *flags)
            self.ok("import", self.path("ft.ftz"), "-o", self.model)
            self.assert_same(self.ours(self.model), self.theirs(self.path("ft.ftz")), 3e-5)

    def test_export(self):
        for loss in ("softmax", "one-vs-all"):
            self.ok("train", "classifier", self.train, "-o", self.model, *SMALL, "--word-ngrams", 1,
                    "--loss", loss)
            self.ok("export", self.model, "--to", "fasttext-bin", "-o", self.path("own.bin"))
            self.assert_same(self.ours(self.model), self.theirs(self.path("own.bin")),
                             3e-5 if loss == "softmax" else 9e-3)

    def test_there_and_back(self):
        for loss in ("softmax", "hs", "ns", "ova"):
            for flags in (["-wordNgrams", 2, "-minn", 2, "-maxn", 3], ["-ws", 7, "-minCount", 2]):
                model = self.supervised(*flags, "-loss", loss)
                self.ok("import", model, "-o", self.model)
                self.ok("export", self.model, "--to", "fasttext-bin", "-o", self.path("again.bin"))
                self.assertEqual(self.path("again.bin").read_bytes(), model.read_bytes())

    def test_vectors_of_texts_as_fasttext_has_them(self):
        for flags in (["-wordNgrams", 2, "-minn", 2, "-maxn", 3], []):
            model = self.supervised(*flags)
            self.ok("import", model, "-o", self.model)
            asked = self.asked.read_text(encoding="utf-8")
            theirs = kith.fasttext("print-sentence-vectors", model, asked=asked).splitlines()
            self.ok("embed", self.model, self.asked, "-o", self.path("v.csv"), "--quiet")
            with open(self.path("v.csv"), encoding="utf-8") as file:
                ours = list(csv.reader(file))[1:]
            self.assertEqual(len(ours), len(theirs))
            for a, b in zip(ours, theirs):
                for x, y in zip(a[1:], b.split(), strict=True):
                    self.assertAlmostEqual(float(x), float(y), delta=1e-6 + 1e-4 * abs(float(y)))
            one = self.ok("embed", self.model, asked.splitlines()[0], "--json").json["vector"]
            self.assertEqual([f"{x:.5g}" for x in one], [f"{float(x):.5g}" for x in ours[0][1:]])

    def test_what_fasttext_would_answer_otherwise_is_not_written(self):
        self.ok("train", "classifier", self.train, "-o", self.model, *SMALL)
        self.refused("export", self.model, "--to", "fasttext-bin", "-o", self.path("no.bin"),
                     code=kith.BAD_USAGE, says="--word-ngrams 1")
        self.assertFalse(self.path("no.bin").exists())
        self.ok("export", self.model, "--to", "fasttext-bin", "--vectors", "input", "-o",
                self.path("vectors.bin"))


if __name__ == "__main__":
    kith.main()
