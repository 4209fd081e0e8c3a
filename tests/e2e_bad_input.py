# SPDX-License-Identifier: Apache-2.0
"""Every kind of bad input: one clear line with place and remedy, the promised exit code, nothing
written over, nothing left lying about."""
import json
import os
import pathlib
import random
import signal
import struct
import subprocess

import kith
from kith import BAD_INPUT, BAD_USAGE, NO_MEMORY, QUICK


class Corpora(kith.TestCase):
    """A corpus that cannot be trained on leaves an existing model as it was."""

    def setUp(self):
        super().setUp()
        self.model = self.write("words.kith", "what stood here before")

    def train(self, corpus, *flags):
        return ["train", "word2vec", corpus, "-o", self.model, *QUICK, *flags]

    def refused_and_untouched(self, corpus, *flags, says, code=BAD_INPUT, **options):
        before = sorted(p.name for p in self.folder.iterdir())
        self.refused(*self.train(corpus, *flags), says=says, code=code, **options)
        self.assertEqual(self.model.read_text(), "what stood here before")
        self.leftovers(*before)

    def test_missing_file(self):
        self.refused_and_untouched(self.path("no.txt"), says=["no.txt", "no such file"])

    def test_directory(self):
        self.path("texts").mkdir()
        self.refused_and_untouched(self.path("texts"), says=["texts", "folder"])

    def test_empty_file(self):
        self.refused_and_untouched(self.write("a.txt", ""), says=["a.txt", "no words in 0 bytes"])

    def test_empty_standard_input(self):
        self.refused_and_untouched("-", says=["standard input", "no words in 0 bytes"], stdin=b"")

    def test_only_white_space(self):
        self.refused_and_untouched(self.write("a.txt", " \n\n\t\r\n" * 50), says="a.txt")

    def test_only_rare_words(self):
        text = self.write("a.txt", "one two three two three three\n")
        self.refused_and_untouched(text, says=["min-count", "3"])

    def test_one_word_only(self):
        self.refused_and_untouched(self.write("a.txt", "again " * 50), says="the same word 50 times")

    def test_utf16(self):
        for encoding in ("utf-16-le", "utf-16-be"):
            text = self.write("a.txt", kith.two_topics(50).encode(encoding))  # no byte-order mark
            self.refused_and_untouched(text, says=["a.txt", "--encoding utf-16"])
        self.refused_and_untouched(self.write("a.txt", kith.two_topics(50).encode("utf-32")),
                                   says=["a.txt", "utf-32"])

    def test_nul_bytes(self):
        text = kith.two_topics(50).encode()
        corpus = self.write("a.txt", text + b"\0\0" + text)
        self.refused_and_untouched(corpus, says=["a.txt", "nul"])

    def test_unreadable_file(self):
        text = self.write("a.txt", kith.two_topics(50))
        text.chmod(0)
        self.refused_and_untouched(text, says=["a.txt", "permission"],
                                   preexec_fn=kith.without_root_powers)

    def test_damaged_compression(self):
        packed = subprocess.run(["gzip", "-c"], input=kith.two_topics(500).encode(),
                                capture_output=True, check=True).stdout
        self.refused_and_untouched(self.write("a.gz", packed[:-200]), says="a.gz")
        broken = bytearray(packed)
        broken[len(broken) // 2] ^= 0xff
        self.refused_and_untouched(self.write("a.gz", broken), says="a.gz")
        packed = subprocess.run(["zstd", "-c", "-q"], input=kith.two_topics(500).encode(),
                                capture_output=True, check=True).stdout
        self.refused_and_untouched(self.write("a.zst", packed[:-20]), says="a.zst")

    def test_trailing_garbage_after_gzip(self):
        packed = subprocess.run(["gzip", "-c"], input=kith.two_topics(500).encode(),
                                capture_output=True, check=True).stdout
        self.refused_and_untouched(self.write("a.gz", packed + b"garbage"), says="a.gz")


class Encoding(kith.TestCase):
    """Bytes that are not UTF-8 are counted, and treated as the user says."""

    def setUp(self):
        super().setUp()
        good = kith.two_topics(200).encode()
        bad = good.replace(b"hill0", b"caf\xe9")  # Latin-1
        self.share = bad.count(b"caf\xe9")
        self.corpus = self.write("latin1.txt", bad)

    def names(self, *flags):
        model = self.path("words.kith")
        result = self.ok("train", "word2vec", self.corpus, "-o", model, *QUICK[:-1], *flags)
        self.ok("export", model, "--to", "npy", "-o", self.path("v.npy"))
        return result, self.path("v.npy.names.txt").read_text(encoding="utf-8").split()

    def test_replace_is_the_default_and_is_counted(self):
        result, names = self.names()
        self.assertIn("caf\ufffd", names)
        self.assertIn(str(self.share), result.err.replace(",", ""))
        self.assertIn("UTF-8", result.err)

    def test_other_encodings_are_read(self):
        text = self.corpus.read_bytes().decode("latin-1")
        for encoding, flags in (("latin-1", ["--encoding", "latin-1"]), ("utf-16", []),
                                ("utf-16-be", ["--encoding", "utf-16"])):
            self.corpus.write_bytes(text.encode(encoding))
            result, names = self.names(*flags)
            self.assertIn("caf\u00e9", names)
            self.assertNotIn("UTF-8", result.err)

    def test_drop(self):
        _, names = self.names("--invalid-utf8", "drop")
        self.assertEqual(len(names), 19)
        self.assertFalse([n for n in names if n.startswith("caf")])

    def test_error_names_the_place(self):
        line = 1 + self.corpus.read_bytes().split(b"caf\xe9")[0].count(b"\n")
        self.refused("train", "word2vec", self.corpus, "-o", self.path("words.kith"), *QUICK,
                     "--invalid-utf8", "error", says=[f"latin1.txt:{line}", "utf-8"])
        self.leftovers("latin1.txt")

    def test_unknown_policy(self):
        self.refused("train", "word2vec", self.corpus, "-o", self.path("words.kith"), *QUICK,
                     "--invalid-utf8", "ignore", code=BAD_USAGE,
                     says=["replace", "drop", "error", "ignore"])


class Sizes(kith.TestCase):
    def test_a_very_long_line(self):
        # 100 MB without a newline. Memory: tables of a few kB, and the reader's buffers.
        megabytes = 5 if kith.SANITIZED else 100
        piece = kith.many_words(150_000, vocabulary=500).replace(b"\n", b" ")
        corpus = self.path("long.txt")
        with corpus.open("wb") as file:
            for _ in range(megabytes * 1_000_000 // len(piece) + 1):
                file.write(piece)
        code, peak = kith.peak_memory(
            "train", "word2vec", corpus, "-o", self.path("words.kith"), "--dim", 4, "--epochs", 1,
            "--window", 1, "--negatives", 1, "--sample", "1e-5", "--threads", 1, "--quiet")
        self.assertEqual(code, 0)
        if not kith.SANITIZED:
            self.assertLess(peak, 100e6)
        self.ok("near", self.path("words.kith"), "w0")

    def test_a_word_without_end(self):
        # 100 MB without a space are no word, and are not held whole to find that out.
        corpus = self.write("endless.txt", kith.two_topics(300))
        with corpus.open("ab") as file:
            for _ in range(5 if kith.SANITIZED else 100):
                file.write(b"a" * 10**6)
        for tokens in ("spaces", "words"):
            code, peak = kith.peak_memory("train", "word2vec", corpus, "-o", self.path("w.kith"),
                                          *kith.QUICK, "--tokens", tokens)
            self.assertEqual(code, 0)
            if not kith.SANITIZED:
                self.assertLess(peak, 60e6)

    def test_words_of_ten_kilobytes(self):
        long_word = "x" * 10_000
        corpus = self.write("a.txt", kith.two_topics(300) + f"{long_word} hill0\n" * 10)
        model = self.path("words.kith")
        result = self.ok("train", "word2vec", corpus, "-o", model, *QUICK[:-1])
        self.assertIn("10 words longer than 1000 bytes, dropped", result.err)
        self.refused("near", model, long_word, says="not in")
        self.ok("train", "word2vec", corpus, "-o", model, *QUICK, "--max-word", 20_000)
        self.ok("near", model, long_word)
        for to in ("word2vec-text", "word2vec-bin", "glove", "csv"):
            out, again = self.path("v." + to), self.path("again.kith")
            self.ok("export", model, "--to", to, "-o", out)
            self.ok("import", out, "-o", again)
            self.ok("near", again, long_word)

    def test_too_little_memory(self):
        corpus = self.write("a.txt", kith.many_words(100_000, vocabulary=20_000))
        model = self.write("words.kith", "before")
        result = self.refused("train", "word2vec", corpus, "-o", model, *QUICK, "--min-count", 1,
                              "--dim", 1000, "--max-memory", "1M", code=NO_MEMORY,
                              says=["memory", "--dim"])
        self.assertRegex(result.error, r"\d+(\.\d+)? ?[MG]i?B")  # the estimate
        self.assertEqual(model.read_text(), "before")
        self.leftovers("a.txt", "words.kith")

    def test_the_estimate_is_for_the_whole_run(self):
        # What was promised as enough must be enough.
        if kith.SANITIZED:
            self.skipTest("sanitizers use memory of their own")
        corpus = self.write("a.txt", kith.many_words(300_000, vocabulary=30_000))
        flags = ["train", "word2vec", corpus, "-o", self.path("words.kith"), "--min-count", 1,
                 "--dim", 200, "--epochs", 1, "--threads", 2, "--quiet"]
        low, high = 1, 4096  # MiB; find the smallest limit that is accepted
        while low < high:
            middle = (low + high) // 2
            code = kith.run(*flags, "--max-memory", f"{middle}M").code
            self.assertIn(code, (0, NO_MEMORY))
            low, high = (low, middle) if code == 0 else (middle + 1, high)
        code, peak = kith.peak_memory(*flags, "--max-memory", f"{low}M")
        self.assertEqual(code, 0)
        # The program itself and its libraries come on top of what it counts.
        self.assertLess(peak, (low + 24) * 2**20)


class Writing(kith.TestCase):
    def test_a_full_disk_at_any_write(self):
        corpus = self.write("corpus.txt", kith.two_topics(300))
        model = self.path("words.kith")
        train = ["train", "word2vec", corpus, "-o", model, *QUICK]
        self.ok(*train)
        whole = model.read_bytes()
        limits = sorted({0, 1, 100, 1000, 4096, len(whole) // 2, len(whole) - 1, len(whole)})
        failures = 0
        for limit in limits:
            for name, command in {
                "train": train,
                "export": ["export", model, "--to", "word2vec-text", "-o", self.path("out.txt")],
                "npy": ["export", model, "--to", "npy", "-o", self.path("out.npy")],
            }.items():
                result = kith.run(*command, preexec_fn=kith.with_file_limit(limit))
                self.assertEqual(model.read_bytes(), whole, result)
                if result.code == 0:
                    continue
                failures += 1
                self.assertEqual(result.code, BAD_INPUT, result)
                self.assertEqual(len(result.error.splitlines()), 1, result)
                self.assertFalse(list(self.folder.glob("*.tmp*")), result)
                for out in ("out.txt", "out.npy"):
                    if name != "train" and not self.path(out).exists():
                        continue
                    if name != "train":
                        self.path(out).unlink()  # whole, from a smaller limit that sufficed
            for path in self.folder.iterdir():
                self.assertIn(path.name, {"corpus.txt", "words.kith", "out.txt", "out.npy",
                                          "out.npy.names.txt"})
        self.assertGreater(failures, 8)

    def test_a_full_disk_while_reading(self):
        # The numbered text goes to a scratch file: here that is what does not fit.
        corpus = self.write("corpus.txt", kith.many_words(200_000))
        self.refused("train", "word2vec", corpus, "-o", self.path("words.kith"), *QUICK,
                     preexec_fn=kith.with_file_limit(64 * 1024), says="file too large")
        self.leftovers("corpus.txt")

    def test_a_checkpoint_that_does_not_fit(self):
        corpus = self.write("corpus.txt", kith.many_words(100_000, vocabulary=3000))
        limit = 1_000_000  # the scratch file fits, tables of 3000 x 200 floats do not
        self.refused("train", "word2vec", corpus, "-o", self.path("words.kith"), *QUICK,
                     "--dim", 200, "--checkpoint-every", 1, "--epochs", 20, lines=None,
                     preexec_fn=kith.with_file_limit(limit), says="file too large")
        self.leftovers("corpus.txt")

    def test_full_standard_output(self):
        model = kith.train_quick(self)
        for command in (["near", model, "hill0"], ["near", model, "hill0", "--json"],
                        ["info", model], ["models"], ["help"],
                        ["export", model, "--to", "csv", "-o", "-"]):
            with open("/dev/full", "wb") as full:
                self.refused(*command, stdout=full, says="no space left")

    def test_closed_pipe(self):
        # kith near ... | head -1: whoever reads has what it wanted.
        model = kith.train_quick(self)
        text = "film,year,place\n" + "".join(f"f{i % 9},{1950 + i % 40},p{i % 5}\n" for i in range(400))
        table, films = self.write("films.csv", text), self.path("films.kith")
        self.ok("train", "feat2vec", table, "-o", films, "--dim", 4, "--epochs", 2, "--quiet")
        text = "user,item,rating\n" + "".join(f"u{i % 50},i{i % 37},{i % 5}\n" for i in range(600))
        ratings, stars = self.write("stars.csv", text), self.path("stars.kith")
        self.ok("train", "als", ratings, "-o", stars, "--dim", 2, "--quiet")
        questions = self.write("questions.txt", "hill0 hill1 sea0 sea1\n")
        for command in (["export", model, "--to", "csv", "-o", "-"], ["near", model, "hill0"],
                        ["near", model, "hill0", "sea1", "--json"], ["info", model], ["models"],
                        ["analogy", model, "hill0", "hill1", "sea0"], ["models", "--json"],
                        ["odd", model, "hill0", "hill1", "sea0"], ["help"], ["help", "als"],
                        ["similarity", model, "hill0", "hill1"], ["version"],
                        ["predict", films, table, "--target", "place"],
                        ["predict", films, table, "--target", "place", "--json"],
                        ["predict", films, "--target", "place", "film=f1"],
                        ["score", films, table, "--all"], ["score", films, table, "--json"],
                        ["embed", films, "film=f1"], ["embed", films, table, "-o", "-", "--quiet"],
                        ["recommend", stars, "u1"], ["recommend", stars, "--all"],
                        ["recommend", stars, "--all", "--json"], ["predict", stars, ratings],
                        ["eval", model, questions, "--quiet"],
                        ["eval", stars, ratings, "--json"],
                        ["tune", "als", ratings, "--trials", 2, "--epochs", 2, "--json"]):
            read, write = os.pipe()
            os.close(read)
            result = kith.run(*command, stdout=write)
            os.close(write)
            self.assertEqual(result.code, 0, result)
            self.assertEqual([l for l in result.err.splitlines() if "warning" not in l], [], result)

    def test_errors_are_json_where_answers_are(self):
        model = kith.train_quick(self)
        ragged = self.write("ragged.csv", "a,b\n1,2\n3\n")

        def told(*command):
            result = kith.run(*command, "--json")
            self.assertEqual(result.out, "", result)
            error = json.loads(result.err)
            self.assertEqual(list(error), ["error"])
            self.assertEqual(error["error"]["exit"], result.code)
            return error["error"]

        wrong = told("train", "feat2vec", ragged, "-o", self.path("m.kith"), "--quiet")
        self.assertEqual((wrong["kind"], wrong["file"], wrong["line"]), ("input", str(ragged), 3))
        self.assertIn("found 1 cell", wrong["message"])
        wrong = told("near", model, "hill0", "--tpo", 3)
        self.assertEqual((wrong["kind"], wrong["exit"]), ("usage", BAD_USAGE))
        self.assertNotIn("file", wrong)
        wrong = told("near", self.path("no.kith"), "hill0")
        self.assertEqual((wrong["kind"], wrong["file"]), ("io", str(self.path("no.kith"))))
        self.assertEqual(told("near", model, "hlil0")["kind"], "input")
        # One of several: the others are answered.
        result = kith.run("near", model, "hill0", "hlil0", "--json")
        self.assertEqual(len(result.json_lines), 1)
        self.assertEqual(json.loads(result.err)["error"]["exit"], result.code)

    def test_read_only_folder(self):
        model = kith.train_quick(self)
        locked = self.path("locked")
        locked.mkdir()
        locked.chmod(0o555)
        corpus = self.write("corpus.txt", kith.two_topics(100))
        for command in (["train", "word2vec", corpus, *QUICK, "-o", locked / "words.kith"],
                        ["export", model, "--to", "csv", "-o", locked / "v.csv"]):
            self.refused(*command, preexec_fn=kith.without_root_powers,
                         says=["locked", "permission"])
            self.assertEqual(list(locked.iterdir()), [])

    def test_a_folder_that_is_not_there(self):
        corpus = self.write("corpus.txt", kith.two_topics(100))
        self.refused("train", "word2vec", corpus, *QUICK, "-o", self.path("no/words.kith"),
                     says=["no/words.kith", "there is no folder", "mkdir"])

    def test_the_output_is_a_folder(self):
        corpus = self.write("corpus.txt", kith.two_topics(100))
        self.path("out").mkdir()
        self.refused("train", "word2vec", corpus, *QUICK, "-o", self.path("out"),
                     says="out")
        self.leftovers("corpus.txt", "out")

    def test_the_output_may_not_be_the_input(self):
        text = kith.two_topics(100)
        corpus = self.write("corpus.txt", text)
        self.refused("train", "word2vec", corpus, *QUICK, "-o", corpus, code=BAD_USAGE,
                     says="corpus.txt")
        self.assertEqual(corpus.read_text(), text)

    def test_a_link_is_followed_and_stays(self):
        model = kith.train_quick(self)
        target, link = self.write("target.csv", "before"), self.path("link.csv")
        link.symlink_to("target.csv")
        self.ok("export", model, "--to", "csv", "-o", link)
        self.assertTrue(link.is_symlink())
        self.assertNotEqual(target.read_text(), "before")

    def test_a_named_pipe_is_written_to_and_stays(self):
        model, pipe = kith.train_quick(self), self.path("pipe")
        os.mkfifo(pipe)
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
        self.ok("export", model, "--to", "glove", "-o", pipe)
        self.assertEqual(len(reader.communicate()[0].splitlines()), 20)
        self.assertTrue(pipe.is_fifo())

    def test_where_to_write_is_checked_before_training(self):
        # A long run must not end with "permission denied".
        corpus = self.write("corpus.txt", kith.many_words(300_000))
        self.refused("train", "word2vec", corpus, "-o", self.path("no/words.kith"), "--dim", 300,
                     "--epochs", 200, "--quiet", says="no/words.kith", timeout=20)


class ModelFiles(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.model = kith.train_quick(self)
        self.whole = self.model.read_bytes()
        self.bad = self.path("bad.kith")

    def refused_everywhere(self, says="bad.kith"):
        """No command takes this file."""
        for command in (["near", self.bad, "hill0"], ["info", self.bad],
                        ["export", self.bad, "--to", "csv", "-o", self.path("out.csv")],
                        ["eval", self.bad, self.bad]):
            self.refused(*command, says=says)
        self.leftovers("words.kith", "bad.kith")

    def test_truncated(self):
        for length in (0, 1, 7, 8, 9, 100, len(self.whole) // 2, len(self.whole) - 1):
            self.bad.write_bytes(self.whole[:length])
            self.refused_everywhere()

    def test_longer_than_it_should_be(self):
        self.bad.write_bytes(self.whole + b"\0")
        self.refused_everywhere()

    def test_flipped_bits(self):
        rng = random.Random(1)
        for _ in range(10):
            data = bytearray(self.whole)
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            self.bad.write_bytes(data)
            self.refused("near", self.bad, "hill0", says="bad.kith")

    def test_another_kind_of_file(self):
        for content in (b"hello\n", b"\x89PNG\r\n\x1a\n" + bytes(100), b"\x1f\x8b" + bytes(100),
                        pathlib.Path(kith.KITH).read_bytes()[:100_000], b"{}", bytes(1000),
                        b"PK\x03\x04" + bytes(100), b"\x80\x04\x95" + bytes(100)):
            self.bad.write_bytes(content)
            self.refused_everywhere()

    def test_vectors_of_another_tool_are_pointed_to_import(self):
        vectors = self.write("v.txt", "2 3\nking 1 2 3\nqueen 1 2 4\n")
        self.refused("near", vectors, "king", says=["v.txt", "kith import"])

    def test_a_directory_and_a_missing_file(self):
        self.path("folder").mkdir()
        self.refused("near", self.path("folder"), "hill0", says="this is a folder")
        self.refused("near", self.path("no.kith"), "hill0", says=["no.kith", "no such file"])

    def test_absurd_sizes(self):
        def file(header, data=b"", length=None):
            text = json.dumps(header).encode()
            self.bad.write_bytes(struct.pack("<Q", length or len(text)) + text + data)
        table = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
        for change in ({"shape": [2**62, 4]}, {"shape": [2**32, 2**32]}, {"shape": [-1, -4]},
                       {"shape": [2.5, 2]}, {"shape": [10**30, 1]}, {"shape": "big"},
                       {"data_offsets": [0, 2**60]}, {"data_offsets": [2**63, 2**63 + 16]},
                       {"data_offsets": [16, 0]}, {"data_offsets": [-16, 0]}, {"data_offsets": [0]},
                       {"dtype": "F99"}, {"dtype": 7}):
            file({"__metadata__": {"model": "word2vec"}, "input": {**table, **change}}, bytes(16))
            self.refused("info", self.bad, says="bad.kith")
            self.refused("import", self.bad, "-o", self.path("out.kith"), says="bad.kith")
        for length in (2**63, 2**64 - 1, 2**40, 1_000_000):
            file({}, length=length)
            self.refused("info", self.bad, says="bad.kith")
        deep = b"[" * 100_000
        self.bad.write_bytes(struct.pack("<Q", len(deep)) + deep)
        self.refused("info", self.bad, says="bad.kith")

    def test_a_safetensors_file_that_is_not_a_model(self):
        text = json.dumps({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        self.bad.write_bytes(struct.pack("<Q", len(text)) + text + bytes(4))
        self.refused("near", self.bad, "hill0", says="bad.kith")

    def test_vector_files(self):
        for name, content, says in (
            ("ragged", "2 3\na 1 2 3\nb 1 2\n", "3"),
            ("nan", "2 3\na 1 2 3\nb 1 nan 2\n", "3"),
            ("infinite", "2 3\na 1 2 3\nb 1 inf 2\n", "3"),
            ("words", "2 3\na 1 2 3\nb 1 x 2\n", "3"),
            ("short", "5 3\na 1 2 3\nb 1 2 3\n", "5"),
            ("absurd", "99999999999 99999999999\na 1 2 3\n", ""),
            ("empty", "", "empty"),
            ("negative", "-2 3\na 1 2 3\nb 1 2 4\n", ""),
        ):
            file = self.write(name + ".txt", content)
            self.refused("import", file, "-o", self.path("out.kith"), says=[name + ".txt", says])
            self.assertFalse(self.path("out.kith").exists(), name)


class Words(kith.TestCase):
    def setUp(self):
        super().setUp()
        text = "kitchen chicken garden window mother father brother sister\n" * 20
        self.model = kith.train_quick(self, "words.kith", text)

    def test_an_unknown_word_gets_the_nearest_spellings(self):
        for command in (["near", self.model, "kichen"],
                        ["similarity", self.model, "kichen", "garden"],
                        ["analogy", self.model, "mother", "kichen", "sister"],
                        ["odd", self.model, "mother", "father", "kichen"]):
            self.refused(*command, says=["kichen", "nearest spellings: kitchen"])

    def test_nothing_similar(self):
        result = self.refused("near", self.model, "qqqqqqqqqqqq", says="qqqqqqqqqqqq")
        self.assertNotIn("did you mean", result.error)

    def test_a_word_in_capitals(self):
        self.refused("near", self.model, "Mother", says="mother")

    def test_strange_queries(self):
        for query in ("", " ", "\n", "a" * 100_000, "\u202e", "%s%n"):
            self.refused("near", self.model, query)
        self.refused("near", self.model, b"\xff\xfe")


class Usage(kith.TestCase):
    def test_misspelt_commands_flags_models(self):
        for args, says in (
            (["tran", "x.txt"], ["tran", "did you mean train"]),
            (["train", "word2vec", "x.txt", "--epocs", 3], ["--epocs", "did you mean --epochs"]),
            (["train", "wrod2vec", "x.txt", "-o", "y.kith"], ["wrod2vec", "word2vec"]),
            (["near", "x.kith", "king", "--tpo", 3], ["--tpo", "did you mean --top"]),
            (["export", "x.kith", "--to", "word2vec-txt", "-o", "y"], ["word2vec-text"]),
        ):
            self.refused(*args, code=BAD_USAGE, says=says, cwd=self.folder)
        self.leftovers()

    def test_values_out_of_range(self):
        corpus = self.write("a.txt", kith.two_topics(50))
        for flag, value, says in (
            ("--dim", 0, "between 1 and 4096"), ("--dim", -3, "dim"), ("--dim", "ten", "dim"),
            ("--dim", "2.5", "dim"), ("--epochs", "", "epochs"), ("--lr", "nan", "lr"),
            ("--lr", "inf", "lr"), ("--window", 1000, "between 1 and 100"),
            ("--threads", -1, "threads"),
            ("--max-memory", "lots", "max-memory"), ("--min-count", 0, "min-count"),
            ("--seed", "x", "seed"), ("--objective", "glove", "skipgram, cbow"),
            ("--dim", "99999999999999999999", "dim"),
        ):
            self.refused("train", "word2vec", corpus, "-o", self.path("x.kith"), f"{flag}={value}",
                         code=BAD_USAGE, says=says)
        self.leftovers("a.txt")

    def test_missing_arguments(self):
        self.refused("train", code=BAD_USAGE)
        self.refused("train", "word2vec", code=BAD_USAGE)
        self.refused("near", code=BAD_USAGE)
        self.refused("near", "x.kith", code=BAD_USAGE)
        self.refused("train", "word2vec", "x.txt", "--dim", code=BAD_USAGE, says="--dim")
        self.refused("export", "x.kith", code=BAD_USAGE, says="--to")

    def test_no_command(self):
        # Not an error but a question: what is this?
        self.assertEqual(self.ok().out, self.ok("help").out)


if __name__ == "__main__":
    kith.main()
