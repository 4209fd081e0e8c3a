# SPDX-License-Identifier: Apache-2.0
"""Text from tables, in any spelling and any script: what is read, and what is told about it."""
import contextlib
import csv
import gzip
import io
import json
import sqlite3
import unicodedata

import kith

QUICK = ["--dim", 8, "--epochs", 2, "--min-count", 1, "--threads", 1]


class Text(kith.TestCase):
    def vectors(self, *args, **options):
        model, out = self.path("m.kith"), self.path("m.csv")
        self.told = self.ok("train", *args, "-o", model, *QUICK, **options).err
        self.ok("export", model, "--to", "csv", "-o", out)
        return out.read_text()

    def words(self, *args, **options):
        rows = list(csv.reader(io.StringIO(self.vectors(*args, **options))))
        return {row[0] for row in rows[1:]}


class Columns(Text):
    """A column of a table gives the vectors of the same text in lines."""

    def setUp(self):
        super().setUp()
        self.lines = kith.two_topics(200).splitlines()
        self.expected = self.vectors("word2vec", self.write("plain.txt", "\n".join(self.lines)))

    def table(self, delimiter=","):
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter)
        writer.writerow(["id", "title", "text"])
        for n, line in enumerate(self.lines):
            writer.writerow([n, f"no, {n}", line.replace(" ", "\n", 1)])  # in quotes
        return out.getvalue()

    def expect_same(self, *args, **options):
        self.assertEqual(self.vectors("word2vec", *args, **options), self.expected)

    def test_csv_and_tsv(self):
        self.expect_same(self.write("t.csv", self.table()), "--column", "text")
        self.expect_same(self.write("t.tsv", self.table("\t")), "--column", "text")
        self.expect_same(self.write("t.txt", self.table("+")), "--column", "text",
                         "--delimiter", "+")

    def test_packed_and_standard_input(self):
        packed = gzip.compress(self.table().encode())
        self.expect_same(self.write("t.csv.gz", packed), "--column", "text")
        self.expect_same("-", "--column", "text", stdin=packed)

    def test_json(self):
        rows = [{"n": n, "text": line} for n, line in enumerate(self.lines)]
        self.expect_same(self.write("t.jsonl", "\n".join(map(json.dumps, rows))),
                         "--column", "text")
        tokens = [{"words": line.split()} for line in self.lines]
        self.expect_same(self.write("t.json", json.dumps(tokens)), "--column", "words")

    def test_sqlite(self):
        file = self.path("t.sqlite")
        with contextlib.closing(sqlite3.connect(file)) as base, base:
            base.execute("CREATE TABLE notes(n INTEGER PRIMARY KEY, body TEXT)")
            base.execute("CREATE TABLE other(x)")
            base.executemany("INSERT INTO notes(body) VALUES (?)", [(l,) for l in self.lines])
        self.expect_same(file, "--query", "notes", "--column", "body")
        self.expect_same(file, "--column", "line", "--query",
                         "SELECT body AS line FROM notes ORDER BY n")
        self.refused("train", "word2vec", file, "-o", self.path("x.kith"), code=kith.BAD_USAGE,
                     says=["t.sqlite: this is a database and has no lines", "--column"])

    def test_several_files_and_columns(self):
        half = len(self.lines) // 2
        files = [self.write(f"{i}.csv", "id,text\n" + "".join(f"{i},{l}\n" for l in part))
                 for i, part in enumerate((self.lines[:half], self.lines[half:]))]
        self.expect_same(*files, "--column", "text")
        pairs = list(zip(self.lines[::2], self.lines[1::2]))
        both = self.write("b.csv", "a,b\n" + "".join(f"{a},{b}\n" for a, b in pairs))
        self.expect_same(both, "--column", "a,b")

    def test_no_model_is_named(self):
        told = self.vectors(self.write("t.csv", self.table()), "--column", "text")
        self.assertEqual(told, self.expected)
        self.assertIn("word2vec", self.told)

    def test_a_column_that_is_not_there(self):
        file = self.write("t.csv", self.table())
        self.refused("train", "word2vec", file, "-o", self.path("x.kith"), "--column", "txt",
                     code=kith.BAD_USAGE,
                     says=["t.csv: there is no column txt for --column",
                           "there are id, title, text", "did you mean text?"])

    def test_resume_knows_the_column(self):
        file, model = self.write("t.csv", self.table()), self.path("r.kith")
        train = ["train", "word2vec", file, "-o", model, *QUICK]
        self.ok(*train, "--column", "text")
        before = model.read_bytes()
        self.ok(*train, "--resume")  # done already; the column is that of the run
        self.assertEqual(model.read_bytes(), before)
        self.refused(*train, "--resume", "--column", "title", code=kith.BAD_USAGE,
                     says="--column title contradicts column = text")
        # With the epochs of a longer run, the data are read again and must be the same.
        self.ok("train", file, "--from", model, "-o", self.path("more.kith"), "--threads", 1)
        self.assertIn('column = "text"', self.ok("info", self.path("more.kith"), "--toml").out)
        plain = self.path("plain.txt")
        self.refused("train", plain, "--from", model, "-o", self.path("x.kith"),
                     code=kith.BAD_USAGE, says="for plain text leave --column out")
        self.ok("train", plain, "--from", model, "-o", self.path("x.kith"), "--column", "")

    def test_memory_does_not_grow_with_the_table(self):
        if kith.SANITIZED:
            self.skipTest("a sanitizer needs memory of its own")
        peaks = []
        for rows in (2_000, 200_000):
            file = self.path(f"{rows}.csv")
            with open(file, "w") as out:
                out.write("id,text\n")
                for n in range(rows):
                    out.write(f"{n},{self.lines[n % len(self.lines)]}\n")
            code, peak = kith.peak_memory("train", "word2vec", file, "--column", "text", "-o",
                                          self.path("x.kith"), "--dim", 8, "--epochs", 0)
            self.assertEqual(code, kith.DONE)
            peaks.append(peak)
        self.assertLess(peaks[1] - peaks[0], 5 << 20)


class Hints(Text):
    def test_a_table_that_is_read_as_text_is_noticed(self):
        rows = "".join(f"{n},{line}\n" for n, line in enumerate(kith.two_topics(50).splitlines()))
        self.vectors("word2vec", self.write("t.csv", "id,plot\n" + rows))
        self.assertIn("t.csv looks like a table and is read as lines of text", self.told)
        self.assertIn("--column plot takes one column", self.told)
        self.vectors("word2vec", "-", stdin=("id\tplot\n" + rows.replace(",", "\t")).encode())
        self.assertIn("--column plot takes one column", self.told)
        self.vectors("word2vec", self.write("t.csv", "a,b\n1,x\n2,x\n" * 9))
        self.assertIn("to learn from its columns: kith train feat2vec", self.told)
        self.vectors("word2vec", self.write("t.txt", kith.two_topics(50)))
        self.assertNotIn("table", self.told)

    def test_text_without_spaces(self):
        chinese = "我们今天去公园散步，天气很好。\n"
        self.vectors("word2vec", self.write("t.txt", chinese * 9), "--tokens", "words")
        self.assertIn("much of the text is Chinese", self.told)
        self.assertIn("jieba", self.told)
        # Sentences do not repeat, so there may be nothing to learn from at all.
        self.refused("train", "word2vec", self.write("t.txt", chinese), "-o", self.path("x.kith"),
                     says=["0 of 1 distinct words remain", "much of the text is Chinese", "jieba"])
        self.vectors("word2vec", self.write("t.txt", "我们 今天 去 公园 散步\n" * 9))
        self.assertNotIn("Chinese", self.told)


class Spelling(Text):
    def test_accents_stored_in_two_ways(self):
        text = "café crème\n" * 5
        apart = unicodedata.normalize("NFD", text)
        file = self.write("t.txt", text + apart)
        composed, decomposed = {"café", "crème"}, set(apart.split())
        self.assertNotEqual(composed, decomposed)
        self.assertEqual(self.words("word2vec", file), composed)
        model = self.path("m.kith")
        answers = [self.ok("similarity", model, *words.split()[:2]).out for words in (text, apart)]
        self.assertEqual(answers[0], answers[1])
        near = self.ok("near", model, apart.split()[0], "--json").json["neighbours"]
        self.assertEqual([n["id"] for n in near], ["crème"])
        self.assertEqual(self.words("word2vec", file, "--no-nfc"), composed | decomposed)

    def test_emoji_are_words(self):
        family = "👩\u200d👧"
        text = f"I ❤\ufe0f it👍🏽 {family}! ©\n" * 5
        self.assertEqual(self.words("word2vec", self.write("t.txt", text), "--tokens", "words"),
                         {"i", "❤", "it", "👍🏽", family})

    def test_a_query_is_read_as_the_text_is(self):
        heart = "❤\ufe0f"
        text = self.write("t.txt", f"love {heart} it\n" * 9)
        model = self.path("m.kith")
        self.ok("train", "word2vec", text, "-o", model, "--tokens", "words", "--threads", 1, "--dim", 4)
        for command in (("near",), ("embed",)):
            self.assertEqual(self.ok(*command, model, heart).out, self.ok(*command, model, heart[0]).out)
        self.assertEqual(self.ok("similarity", model, heart, "love").out,
                         self.ok("similarity", model, heart[0], "love").out)


if __name__ == "__main__":
    kith.main()
