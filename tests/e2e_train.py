# SPDX-License-Identifier: Apache-2.0
"""Training: what is learned, the same bits, killed and resumed, every kind of input."""
import gzip
import math
import os
import pty
import re
import shlex
import signal
import subprocess
import time

import kith
from kith import HILL, QUICK, SEA

LEARN = ["--dim", 16, "--epochs", 5, "--sample", 0, "--quiet"]


class Learning(kith.TestCase):
    def test_neighbours_stay_in_their_topic(self):
        # Hill words only ever meet hill words, so the nine nearest of one are the nine others.
        corpus = self.write("corpus.txt", kith.two_topics())
        for mode in (["--threads", 1], ["--threads", 2], ["--deterministic", "--threads", 2],
                     ["--objective", "cbow", "--threads", 1, "--epochs", 15]):
            model = self.path("words.kith")
            self.ok("train", "word2vec", corpus, "-o", model, *LEARN, *mode)
            for topic in (HILL, SEA):
                answer = self.ok("near", model, topic[0], "--top", 9, "--json").json
                found = sorted(n["id"] for n in answer["neighbours"])
                self.assertEqual(found, sorted(topic[1:]), mode)

    def test_every_noise_mode_learns(self):
        corpus = self.write("corpus.txt", kith.two_topics())
        for noise in ("pool", "window", "pair", "centre"):
            model = self.path(noise + ".kith")
            self.ok("train", "word2vec", corpus, "-o", model, *LEARN, "--noise", noise)
            answer = self.ok("near", model, "sea3", "--top", 9, "--json").json
            self.assertEqual({n["id"][:3] for n in answer["neighbours"]}, {"sea"}, noise)

    def test_train_looks_at_the_data_when_no_model_is_named(self):
        corpus = self.write("corpus.txt", kith.two_topics(300))
        result = self.ok("train", corpus, "-o", self.path("words.kith"), *QUICK[:-1])
        self.assertIn("word2vec", result.err)
        told = self.ok("info", self.path("words.kith"), "--json").json
        self.assertEqual(told["model"], "word2vec")

    def test_a_log_of_many_epochs_is_short(self):
        corpus = self.write("corpus.txt", kith.two_topics(20))
        for epochs in (20, 21, 199):
            for flags in ([], ["--json"]):
                told = self.ok("train", "word2vec", corpus, "-o", self.path("words.kith"), "--dim",
                               2, "--min-count", 1, "--epochs", epochs, *flags).err
                shown = [int(e) for e in re.findall(r"(?m)^  epoch +(\d+)/", told)]
                if flags or epochs == 20:
                    self.assertEqual(shown, list(range(1, epochs + 1)))
                    continue
                self.assertEqual((shown[0], shown[-1]), (1, epochs))
                self.assertTrue(len(shown) <= 21, shown)
                steps = [b - a for a, b in zip(shown[1:], shown[2:])]
                self.assertLessEqual(max(steps) - min(steps), 1, shown)

    def counts(self, corpus, *flags):
        """Words seen and pairs trained, as the model file has them."""
        model = self.path("words.kith")
        self.ok("train", "word2vec", corpus, "-o", model, *QUICK, "--holdout", 0, *flags)
        facts = self.ok("info", model, "--json").json["facts"]
        return int(facts["words_seen"]), int(facts["pairs"])

    def test_each_word_is_seen_once_an_epoch(self):
        # The bug of a well-known tool: epochs that end early, depending on the threads. With the
        # whole window and no thinning out, the number of pairs is known too: 70 in a line of ten.
        lines = 700
        corpus = self.write("corpus.txt", kith.two_topics(lines))
        for mode in (["--threads", 1], ["--threads", 2], ["--threads", 8],
                     ["--threads", 2, "--deterministic"]):
            for epochs in (1, 4):
                words, pairs = self.counts(corpus, "--epochs", epochs, "--fixed-window", *mode)
                self.assertEqual(words, 10 * lines * epochs, mode)
                self.assertEqual(pairs, 70 * lines * epochs, mode)

    def test_a_long_line_loses_no_pair(self):
        # One endless sentence. Each word has five neighbours on either side, but for the ends.
        for words in (999, 1000, 1001, 30_000):
            text = " ".join(kith.two_topics(words // 10 + 1).split()[:words])
            for mode in (["--threads", 1], ["--threads", 2, "--deterministic"]):
                seen, pairs = self.counts(self.write("endless.txt", text), "--epochs", 1,
                                          "--fixed-window", *mode)
                self.assertEqual(seen, words, mode)
                self.assertEqual(pairs, 10 * words - 30, mode)

    def test_json_tells_what_was_done(self):
        corpus = self.write("corpus.txt", kith.two_topics(500))
        model = self.path("words.kith")
        told = self.ok("train", "word2vec", corpus, "-o", model, *QUICK, "--json").json
        self.assertEqual(told["model"], "word2vec")
        self.assertEqual(told["output"], str(model))
        self.assertEqual(told["vocabulary"], 20)
        self.assertEqual(told["epochs"], 2)
        for key in ("seconds", "cpu_seconds", "loss", "words", "words_per_second", "peak_memory"):
            self.assertGreater(told[key], 0, key)

    def test_held_out_loss_falls(self):
        corpus = self.write("corpus.txt", kith.two_topics(5000))
        result = self.ok("train", "word2vec", corpus, "-o", self.path("words.kith"), "--dim", 16,
                         "--epochs", 3, "--sample", 0, "--threads", 1, "--json")
        # It is told after each epoch, and the last one is in the summary.
        scores = [float(x) for x in re.findall(r"(?m)^  epoch.*held-out (\d+\.\d+)", result.err)]
        self.assertEqual(len(scores), 3, result.err)
        self.assertLess(scores[-1], scores[0])
        self.assertAlmostEqual(result.json["held_out"], scores[-1], 3)

    def test_more_epochs_are_more_training(self):
        corpus = self.write("corpus.txt", kith.two_topics(500))
        loss = {}
        for epochs in (1, 10):
            told = self.ok("train", "word2vec", corpus, "-o", self.path("words.kith"), *QUICK,
                           "--epochs", epochs, "--json").json
            loss[epochs] = told["loss"]
        self.assertLess(loss[10], loss[1])


class SameBits(kith.TestCase):
    def trained(self, name, corpus, *flags):
        self.ok("train", "word2vec", corpus, "-o", self.path(name), *flags, "--quiet")
        return self.path(name).read_bytes()

    def test_deterministic_for_any_number_of_threads(self):
        corpus = self.write("corpus.txt", kith.many_words(200_000))
        files = {self.trained("words.kith", corpus, "--deterministic", "--dim", 20, "--epochs", 2,
                              "--threads", threads) for threads in (1, 2, 8)}
        self.assertEqual(len(files), 1)

    def test_deterministic_cbow_for_any_number_of_threads(self):
        corpus = self.write("corpus.txt", kith.many_words(50_000))
        files = {self.trained("words.kith", corpus, "--deterministic", "--objective", "cbow",
                              "--dim", 12, "--epochs", 2, "--threads", threads)
                 for threads in (1, 2, 8)}
        self.assertEqual(len(files), 1)

    def test_one_thread_twice(self):
        corpus = self.write("corpus.txt", kith.many_words(50_000))
        flags = ["--threads", 1, "--dim", 20, "--epochs", 2, "--seed", 5]
        first = self.trained("words.kith", corpus, *flags)
        self.assertEqual(first, self.trained("words.kith", corpus, *flags))
        flags[-1] = 6
        self.assertNotEqual(first, self.trained("words.kith", corpus, *flags))


class Interrupted(kith.TestCase):
    WORDS = 50_000 if kith.SANITIZED else 600_000

    def setUp(self):
        super().setUp()
        self.corpus = self.write("corpus.txt", kith.many_words(self.WORDS))
        self.model = self.path("words.kith")
        self.checkpoint = self.path("words.kith.checkpoint")
        train = ["train", "word2vec", self.corpus, "-o", self.model, "--deterministic",
                 "--threads", 2, "--dim", 50, "--sample", 0, "--checkpoint-every", 1]
        # As many epochs as make a run that can be caught in its middle on this machine: four
        # times as long as it takes to see the first checkpoint.
        epochs = 5
        took = self.ok(*train, "--epochs", epochs, "--quiet").seconds
        self.model.unlink()
        self.command = [*train, "--epochs", math.ceil(epochs * max(1, 4 / took))]

    def start_and_wait_for_checkpoint(self):
        process = kith.start(*self.command, "--quiet", stdout=subprocess.DEVNULL)
        self.addCleanup(process.stderr.close)
        deadline = time.monotonic() + (300 if kith.SANITIZED else 60)
        while not self.checkpoint.exists():
            self.assertIsNone(process.poll(), "ended before there was a checkpoint")
            self.assertLess(time.monotonic(), deadline, "no checkpoint")
            time.sleep(0.01)
        return process

    def uninterrupted(self):
        self.ok(*self.command, "--quiet")
        data = self.model.read_bytes()
        self.model.unlink()
        self.assertFalse(self.checkpoint.exists(), "a finished run leaves no checkpoint")
        return data

    def test_killed_and_resumed_equals_uninterrupted(self):
        expected = self.uninterrupted()
        process = self.start_and_wait_for_checkpoint()
        process.kill()
        process.wait()
        self.assertFalse(self.model.exists(), "killed before the end")
        self.ok(*self.command, "--resume", "--quiet")
        self.assertEqual(self.model.read_bytes(), expected)
        self.assertFalse(self.checkpoint.exists())
        self.leftovers("corpus.txt", "words.kith")

    def test_control_c_keeps_a_checkpoint_and_says_how_to_resume(self):
        expected = self.uninterrupted()
        process = self.start_and_wait_for_checkpoint()
        process.send_signal(signal.SIGINT)
        message = process.stderr.read().decode()
        self.assertEqual(process.wait(), kith.INTERRUPTED, message)
        self.assertIn("kith: interrupted", message)
        self.assertIn(str(self.checkpoint), message)
        self.assertTrue(self.checkpoint.exists())
        self.assertFalse(self.model.exists())
        # The last line is the command that goes on: it must be true as it stands.
        told = shlex.split(message.splitlines()[-1])
        self.assertEqual(told[1], "train")
        self.assertIn("--resume", told)
        self.ok(*told[1:])
        self.assertEqual(self.model.read_bytes(), expected)

    def test_terminate_is_like_control_c(self):
        process = self.start_and_wait_for_checkpoint()
        process.terminate()
        message = process.stderr.read().decode()
        self.assertEqual(process.wait(), kith.INTERRUPTED, message)
        self.assertIn("--resume", message)

    def test_resume_of_something_else_is_refused(self):
        process = self.start_and_wait_for_checkpoint()
        process.kill()
        process.wait()
        kept = self.checkpoint.read_bytes()
        self.refused(*self.command, "--resume", "--window", 3, "--quiet", code=kith.BAD_USAGE,
                     says="window")
        other = self.write("other.txt", kith.many_words(50_000, seed=2))
        command = [other if arg == self.corpus else arg for arg in self.command]
        self.refused(*command, "--resume", "--quiet", says=["words.kith.checkpoint"])
        self.assertEqual(self.checkpoint.read_bytes(), kept)

    def test_resume_without_a_checkpoint(self):
        # So a job script can always say --resume: the run begins, and once it is done it stays so.
        told = self.ok(*self.command, "--resume").err
        self.assertIn("words.kith.checkpoint: there is none yet", told)
        made = self.model.stat().st_mtime_ns
        done = self.ok(*self.command, "--resume", "--json")
        self.assertIn("words.kith was finished", done.err)
        self.assertEqual(done.json["epochs"], 0)
        self.assertEqual(self.model.stat().st_mtime_ns, made)


class Terminal(kith.TestCase):
    """What somebody sees who waits."""

    def shown(self, *command, answers=False):
        """What is on the terminal while the input is silent for 2.5 seconds, and in the end."""
        read, write = os.pipe()
        master, terminal = pty.openpty()
        environment = dict(os.environ, TERM="xterm")
        process = subprocess.Popen([kith.KITH, *map(str, command)], stdin=read, stderr=terminal,
                                   stdout=terminal if answers else subprocess.DEVNULL,
                                   env=environment)
        os.close(read)
        os.close(terminal)
        time.sleep(2.5)
        os.set_blocking(master, False)
        try:
            meanwhile = os.read(master, 1 << 16)
        except BlockingIOError:
            meanwhile = b""
        os.set_blocking(master, True)
        rest = b""
        with open(write, "wb") as data:
            rows = (b"f%d,p%d\n" % (i % 9, i % 5) for i in range(60))
            data.write(b"film,place\n" + b"".join(rows))
        try:
            while more := os.read(master, 1 << 16):
                rest += more
        except OSError:  # a terminal whose other side is closed
            pass
        os.close(master)
        self.assertEqual(process.wait(), 0, meanwhile + rest)
        return meanwhile.decode(), rest.decode()

    def test_a_sign_of_life_while_nothing_comes(self):
        command = ["train", "feat2vec", "-", "-o", self.path("m.kith"), "--dim", 4, "--epochs", 2,
                   "--types", "film=category,place=category"]
        meanwhile, rest = self.shown(*command)
        self.assertRegex(meanwhile, r"\r\x1b\[K  .*working  [12] s")
        self.assertTrue(rest.startswith("\r\x1b[K"), "it goes before anything else comes")
        quiet, rest = self.shown(*command, "--quiet")
        self.assertEqual(quiet + rest, "")
        # Answers on the same terminal have it for themselves.
        asked = ["predict", self.path("m.kith"), "--target", "film", "-"]
        _, rest = self.shown(*asked, answers=True)
        self.assertTrue(rest.startswith("row,film,place,prediction"), rest)
        meanwhile, rest = self.shown(*asked)
        self.assertIn("working", meanwhile)

    def test_a_log_has_a_line_after_two_seconds(self):
        command = ["train", "word2vec", "-", "-o", self.path("m.kith"), "--dim", 4, "--epochs", 1]
        for flags, signs in (((), True), (("--quiet",), False), (("--json",), False)):
            process = subprocess.Popen([kith.KITH, *map(str, command), *flags], stdin=subprocess.PIPE,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(2.8)
            _, told = process.communicate(kith.two_topics(100))
            self.assertEqual(process.returncode, 0, told)
            found = [line for line in told.splitlines() if line.startswith("  working, ")]
            self.assertEqual(bool(found), signs, told)


class Continued(kith.TestCase):
    def test_new_text_adds_words_and_keeps_the_old_rows(self):
        first = self.write("first.txt", kith.two_topics(1000))
        base, grown = self.path("base.kith"), self.path("grown.kith")
        self.ok("train", "word2vec", first, "-o", base, *LEARN)
        # New words that live among the hills.
        more = kith.two_topics(1000, seed=2).replace("hill0", "ridge")
        second = self.write("second.txt", more)
        self.ok("train", "word2vec", second, "-o", grown, *LEARN, "--from", base)
        old, new = self.names(base), self.names(grown)
        self.assertEqual(new[:len(old)], old)
        self.assertEqual(new[len(old):], ["ridge"])
        near = self.ok("near", grown, "ridge", "--top", 5, "--json").json["neighbours"]
        self.assertEqual({n["id"][:4] for n in near}, {"hill"})

    def names(self, model):
        self.ok("export", model, "--to", "npy", "-o", self.path("v.npy"))
        return self.path("v.npy.names.txt").read_text().splitlines()

    def test_from_a_file_that_is_no_model(self):
        text = self.write("corpus.txt", kith.two_topics(200))
        self.refused("train", "word2vec", text, "-o", self.path("x.kith"), *QUICK, "--from", text,
                     says="corpus.txt")
        self.leftovers("corpus.txt")


class Inputs(kith.TestCase):
    """However the text comes, the same text gives the same vectors."""

    def setUp(self):
        super().setUp()
        self.text = kith.two_topics(400).encode()
        plain = self.write("corpus.txt", self.text)
        self.expected = self.vectors("plain", plain)

    def vectors(self, name, *inputs, **options):
        model, out = self.path(name + ".kith"), self.path(name + ".npy")
        self.ok("train", "word2vec", *inputs, "-o", model, *QUICK, "--deterministic", **options)
        self.ok("export", model, "--to", "npy", "-o", out)
        return out.read_bytes() + self.path(name + ".npy.names.txt").read_bytes()

    def test_standard_input(self):
        self.assertEqual(self.vectors("stdin", "-", stdin=self.text), self.expected)

    def test_gzip(self):
        file = self.write("corpus.gz", gzip.compress(self.text))
        self.assertEqual(self.vectors("gz", file), self.expected)

    def test_gzip_of_several_members(self):
        half = len(self.text) // 2
        members = [gzip.compress(part) for part in (self.text[:half], self.text[half:])]
        file = self.write("corpus.gz", b"".join(members))
        self.assertEqual(self.vectors("gz", file), self.expected)

    def test_zstd(self):
        packed = subprocess.run(["zstd", "-qc"], input=self.text, capture_output=True, check=True)
        file = self.write("corpus.zst", packed.stdout)
        self.assertEqual(self.vectors("zst", file), self.expected)

    def test_compressed_standard_input(self):
        self.assertEqual(self.vectors("stdin", "-", stdin=gzip.compress(self.text)), self.expected)

    def test_several_files(self):
        cut = self.text.index(b"\n", len(self.text) // 3) + 1
        first, second = self.write("1.txt", self.text[:cut]), self.write("2.txt", self.text[cut:])
        self.assertEqual(self.vectors("several", first, second), self.expected)

    def test_the_end_of_a_file_ends_its_last_line(self):
        # No newline at the end of the first file: its last word must not run into the next.
        cut = self.text.index(b"\n", len(self.text) // 3) + 1
        first = self.write("1.txt", self.text[:cut - 1])
        second = self.write("2.txt", self.text[cut:-1])
        self.assertEqual(self.vectors("several", first, second), self.expected)

    def test_crlf(self):
        file = self.write("dos.txt", self.text.replace(b"\n", b"\r\n"))
        self.assertEqual(self.vectors("dos", file), self.expected)

    def test_byte_order_mark_of_utf8(self):
        file = self.write("bom.txt", b"\xef\xbb\xbf" + self.text)
        self.assertEqual(self.vectors("bom", file), self.expected)

    def test_empty_lines_and_spaces_do_not_matter(self):
        file = self.write("airy.txt", self.text.replace(b"\n", b" \n\n").replace(b" ", b"  \t "))
        self.assertEqual(self.vectors("airy", file), self.expected)


class Configuration(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.corpus = self.write("corpus.txt", kith.two_topics(200))
        self.model = self.path("words.kith")

    def dim(self):
        run = self.ok("info", self.model, "--toml").out
        return int(re.search(r"(?m)^dim = (\d+)$", run).group(1))

    def test_default_then_file_then_flag(self):
        config = self.write("run.toml", "dim = 12\nepochs = 1\nsample = 0.0\nmin-count = 2\n")
        train = ["train", "word2vec", self.corpus, "-o", self.model, "--config", config, "--quiet"]
        self.ok(*train)
        self.assertEqual(self.dim(), 12)
        self.ok(*train, "--dim", 7)
        self.assertEqual(self.dim(), 7)
        self.ok("train", "word2vec", self.corpus, "-o", self.model, "--epochs", 1, "--quiet")
        self.assertEqual(self.dim(), 100)

    def test_a_wrong_key_is_named_with_its_line(self):
        config = self.write("run.toml", "dim = 12\n\nwindw = 4\n")
        self.refused("train", "word2vec", self.corpus, "-o", self.model, "--config", config,
                     code=kith.BAD_USAGE, says=["run.toml:3", "windw", "did you mean window"])
        self.assertFalse(self.model.exists())

    def test_a_wrong_value_is_named_with_its_line(self):
        config = self.write("run.toml", "epochs = 2\ndim = \"many\"\n")
        self.refused("train", "word2vec", self.corpus, "-o", self.model, "--config", config,
                     code=kith.BAD_USAGE, says=["run.toml:2", "dim"])

    def test_what_is_not_toml(self):
        config = self.write("run.toml", "dim = 12\nepochs = = 3\n")
        self.refused("train", "word2vec", self.corpus, "-o", self.model, "--config", config,
                     says=["run.toml:2"])

    def test_a_missing_file(self):
        self.refused("train", "word2vec", self.corpus, "-o", self.model, "--config",
                     self.path("no.toml"), says="no.toml")


if __name__ == "__main__":
    kith.main()
