# SPDX-License-Identifier: Apache-2.0
"""Defects that version 0.1 had, each as a test that fails if it comes back."""
import array
import json
import os
import pathlib
import random
import re
import signal
import stat
import subprocess
import threading
import time
import tomllib
import unittest

import e2e_tables_sources
import films
import kith
import stars


def vectors(rows, dim, seed=1):
    """Random vectors in the binary format of word2vec; quick to make."""
    rng = random.Random(seed)
    numbers = array.array("f", (rng.gauss(0, 1) for _ in range(4096 + dim))).tobytes()
    out = [b"%d %d\n" % (rows, dim)]
    for row in range(rows):
        first = 4 * rng.randrange(4096)
        out.append(b"w%d " % row + numbers[first:first + 4 * dim] + b"\n")
    return b"".join(out)


def many_ratings(rows, users, items, seed=5):
    rng = random.Random(seed)
    return "user,item,rating\n" + "".join(
        f"u{rng.randrange(users)},i{int(rng.random() ** 2 * items)},{rng.randrange(1, 6)}\n"
        for _ in range(rows))


class Running(kith.TestCase):
    """The program while it runs; what it says is read by a thread of its own."""

    def begin(self, *args, **options):
        process = kith.start(*args, **options)
        self.said, self.spoke = [], threading.Condition()

        def listen():
            for line in process.stderr:
                with self.spoke:
                    self.said.append(line.decode(errors="replace"))
                    self.spoke.notify_all()

        reader = threading.Thread(target=listen)
        reader.start()

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()
            reader.join()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()

        self.addCleanup(end)
        self.reader = reader
        return process

    def wait_for(self, text, seconds=120):
        with self.spoke:
            self.assertTrue(self.spoke.wait_for(lambda: any(text in l for l in self.said), seconds),
                            f"never said {text}: {self.said}")

    def ended(self, process, seconds):
        """The exit code and what was said, once it has ended."""
        try:
            code = process.wait(seconds * (10 if kith.SANITIZED else 1))
        except subprocess.TimeoutExpired:
            self.fail(f"no end in {seconds} s: {process.args}; {''.join(self.said)[-1000:]}")
        self.reader.join()
        return code, "".join(self.said)


class CutShort(Running):
    def test_a_model_cut_short_while_it_is_read_is_told(self):
        model = self.path("v.kith")
        self.ok("import", self.write("v.bin", vectors(60_000, 64)), "-o", model, "--quiet")
        # The pipe holds 64 kB, so the program waits in the middle of the file.
        process = self.begin("export", model, "--to", "word2vec-text", "-o", "-")
        start = process.stdout.read(1000)
        self.assertTrue(start.startswith(b"60000 64\n"), start[:50])
        os.truncate(model, 8000)
        while process.stdout.read(1 << 20):
            pass
        code, said = self.ended(process, 60)
        self.assertEqual(code, kith.BAD_INPUT, said)
        self.assertRegex(said, r"^kith: [^\n]*shorter while it was being read[^\n]*\n$")


class Rights(kith.TestCase):
    def mode(self, path):
        return stat.S_IMODE(path.stat().st_mode)

    def test_a_private_model_stays_private(self):
        self.addCleanup(os.umask, os.umask(0o022))
        rows = self.write("r.csv", stars.as_text(stars.ratings(10)))
        text = self.write("t.txt", kith.two_topics(100))
        table = self.write("t.csv", films.as_csv(films.films(200)))
        for train in (["als", rows, *stars.QUICK], ["feat2vec", table, *films.QUICK],
                      ["word2vec", text, *kith.QUICK]):
            model = self.path(train[0] + ".kith")
            again = ["train", *train, "-o", model]
            self.ok(*again)
            self.assertEqual(self.mode(model), 0o644, train[0])
            for mode in (0o600, 0o640):
                model.chmod(mode)
                self.ok(*again)
                self.assertEqual(self.mode(model), mode, train[0])
                if train[0] != "word2vec":
                    before = model.stat().st_ino
                    self.ok("update", model, train[1], "-o", model)
                    self.assertEqual(self.mode(model), mode, train[0])
                    self.assertNotEqual(model.stat().st_ino, before, "written anew")


@unittest.skipIf(kith.SANITIZED, "how soon it ends; the unit tests cancel everything")
class ControlC(Running):
    """Ctrl-C is obeyed soon wherever it comes; what was begun is not left lying about.

    Measured it is a fraction of a second. Here more is allowed, for machines that do other work.
    """

    SOON = 5

    def interrupt(self, process, *files, checkpoint=False):
        """Ctrl-C now. Then only these files are there."""
        self.assertIsNone(process.poll(), f"has ended already: {process.args} {self.said}")
        process.send_signal(signal.SIGINT)
        code, said = self.ended(process, self.SOON)
        if checkpoint:
            self.assertEqual(code, kith.INTERRUPTED, said)
            self.assertIn("kith: interrupted; ", said)
        else:
            self.assertIn(code, (kith.INTERRUPTED, -signal.SIGINT), said)
        self.leftovers(*files)

    def after(self, seconds, *args, **options):
        process = self.begin(*args, **options)
        time.sleep(seconds * (4 if kith.SANITIZED else 1))
        return process

    def test_control_c_while_a_silent_pipe_is_read(self):
        model = stars.train(self, "old.kith")
        kept = model.read_bytes()
        out = self.path("m.kith")
        for args, line in ((["train", "word2vec", "-", "-o", out], b"hill sea hill\n"),
                           (["train", "als", "-", "-o", out], b"u1,i1,3\nu2,i1,4\n"),
                           (["train", "feat2vec", "-", "-o", out], b"a,b\nx,y\nx,z\n"),
                           (["update", model, "-", "-o", model], b"u1,i1,3\nu2,i1,4\n"),
                           (["near", model, "--queries", "-"], b"item=west1\n"),
                           (["import", "-", "-o", out], b"3 2\na 1 2\n")):
            with self.subTest(command=args[:2]):
                process = self.begin(*args, stdin=subprocess.PIPE)
                process.stdin.write(line)
                process.stdin.flush()
                time.sleep(0.5)
                self.interrupt(process, "old.kith", "old.kith.csv")
        self.assertEqual(model.read_bytes(), kept)

    def test_control_c_while_a_big_text_is_read(self):
        text = self.write("t.txt", kith.many_words(2_000_000))
        # The same file many times: it is read for long, and made quickly.
        process = self.after(0.5, "train", "word2vec", *[text] * 60, "-o", self.path("m.kith"))
        self.interrupt(process, "t.txt")

    def test_control_c_while_words_are_learned(self):
        text = self.write("t.txt", kith.many_words(1_000_000))
        for flags in ([], ["--deterministic"], ["--objective", "cbow"]):
            process = self.begin("train", "word2vec", text, "-o", self.path("m.kith"), "--dim", 300,
                                 "--epochs", 200, *flags)
            self.wait_for("  epoch ")
            self.interrupt(process, "t.txt", "m.kith.checkpoint", checkpoint=True)
            self.path("m.kith.checkpoint").unlink()

    def test_control_c_while_ratings_are_learned(self):
        file = self.write("r.csv", many_ratings(200_000, 5000, 2000))
        for flags in (["als", "--dim", 256, "--solver", "cholesky", "--early-stop", 0],
                      ["mf", "--dim", 256, "--early-stop", 0, "--epochs", 1000],
                      ["bmf", "--dim", 64]):
            process = self.begin("train", *flags, file, "-o", self.path("m.kith"))
            self.wait_for("  epoch ")
            self.interrupt(process, "r.csv", "m.kith.checkpoint", checkpoint=True)
            self.path("m.kith.checkpoint").unlink()

    def test_control_c_while_a_table_is_learned(self):
        file = self.write("t.csv", films.as_csv(films.films(20_000)))
        process = self.begin("train", "feat2vec", file, "-o", self.path("m.kith"), "--dim", 200,
                             "--epochs", 1000)
        self.wait_for("  epoch ")
        self.interrupt(process, "t.csv", "m.kith.checkpoint", "m.schema.json", checkpoint=True)

    def imported(self, rows, dim):
        model, file = self.path("v.kith"), self.write("v.bin", vectors(rows, dim))
        self.ok("import", file, "-o", model, "--quiet")
        file.unlink()
        return model

    def test_control_c_while_neighbours_are_sought(self):
        model = self.imported(60_000, 64)
        queries = self.write("q.txt", "".join(f"w{k}\n" for k in range(60_000)) * 5)
        for seconds, flags in ((0.3, ["--search", "exact"]), (2, ["--search", "exact"]),
                               (1, ["--search", "hnsw"])):
            process = self.after(seconds, "near", model, "--queries", queries, *flags,
                                 stdout=subprocess.DEVNULL)
            self.interrupt(process, "v.kith", "q.txt")

    def test_control_c_while_analogies_are_asked(self):
        model = self.imported(60_000, 64)
        file = self.write("q.txt", "".join(f"w{k} w{k + 1} w{k + 2} w{k + 3}\n"
                                           for k in range(50_000)))
        for seconds in (0.3, 2):
            process = self.after(seconds, "eval", model, file, "--restrict", "auto")
            self.interrupt(process, "v.kith", "q.txt")

    def test_control_c_while_ratings_are_evaluated_and_tuned(self):
        file = self.write("r.csv", many_ratings(200_000, 5000, 2000))
        for args in (["eval", "als", file, "--dim", 256, "--solver", "cholesky", "--folds", 10],
                     ["tune", "mf", file, "--budget", 100]):
            for seconds in (0.3, 2):
                self.interrupt(self.after(seconds, *args), "r.csv")

    def test_control_c_while_users_are_placed(self):
        # Little to train, much to solve.
        file = self.write("r.csv", many_ratings(200_000, 6000, 2000))
        model = self.path("m.kith")
        self.ok("train", "als", file, "-o", model, "--dim", 512, "--epochs", 1, "--no-refit",
                "--quiet")
        kept = model.read_bytes()
        process = self.after(1, "update", model, file, "-o", model, "--threads", 1)
        self.interrupt(process, "r.csv", "m.kith")
        self.assertEqual(model.read_bytes(), kept)

    def test_control_c_while_vectors_are_written_leaves_nothing(self):
        model = self.imported(400_000, 64)
        for seconds in (0.1, 0.3):
            process = self.after(seconds, "export", model, "--to", "word2vec-text", "-o",
                                 self.path("v.txt"))
            self.interrupt(process, "v.kith")

    def test_control_c_while_nobody_reads_what_is_written(self):
        model = self.imported(60_000, 64)
        process = self.begin("export", model, "--to", "word2vec-text", "-o", "-")
        process.stdout.read(1000)
        self.interrupt(process, "v.kith")

    def test_control_c_while_vectors_are_read_leaves_nothing(self):
        # A pipe that gives slowly, so that it is surely in the middle.
        data = vectors(60_000, 64)
        process = self.begin("import", "-", "-o", self.path("m.kith"), stdin=subprocess.PIPE)
        process.stdin.write(data[:len(data) // 2])
        process.stdin.flush()
        time.sleep(0.5)
        self.interrupt(process)


class Noise(kith.TestCase):
    def test_noise_that_is_nearly_always_the_centre_ends(self):
        # By count^2 one draw in hundreds of millions is the other word.
        text = self.write("t.txt", "a a a a a a a a\n" * 3000 + "a b a\n")
        for noise in ("window", "pair", "pool", "centre"):
            self.ok("train", "word2vec", text, "-o", self.path("m.kith"), "--alpha", 2, "--noise",
                    noise, "--min-count", 1, "--sample", 0, "--threads", 1, "--dim", 8, "--quiet",
                    timeout=60)


class Flags(kith.TestCase):
    def settings(self, model):
        return tomllib.loads(self.ok("info", model, "--toml").out)

    def test_a_flag_that_is_on_can_be_said_and_taken_back(self):
        file = self.write("r.csv", stars.as_text(stars.ratings(10)))
        model = self.path("m.kith")
        bytes_of = {}
        for flags in ((), ("--adapt",), ("--no-adapt",)):
            # The file comes right behind the flag, which must not take it.
            self.ok("train", "mf", "--dim", 4, "--epochs", 2, "--threads", 1, "-o", model,
                    "--quiet", *flags, file)
            self.assertEqual(self.ok("info", model, "--json").json["facts"]["users"], 240)
            self.assertIs(self.settings(model)["adapt"], flags != ("--no-adapt",))
            bytes_of[flags] = model.read_bytes()
        self.assertEqual(bytes_of[()], bytes_of[("--adapt",)])
        self.assertNotEqual(bytes_of[()], bytes_of[("--no-adapt",)])

    def test_the_published_setting_gives_way_to_what_is_said(self):
        table = self.write("t.csv", films.as_csv(films.films(200)))
        model = self.path("m.kith")

        def facts(*flags):
            self.ok("train", "feat2vec", table, "-o", model, "--epochs", 1, "--threads", 1,
                    "--quiet", *flags)
            told = self.ok("info", model, "--json").json["facts"]
            return told["dim"], told["objective"]

        self.assertEqual(facts("--paper"), (50, "nce"))
        for flags in (["--paper", "--dim", 100], ["--dim", 100, "--paper"]):
            self.assertEqual(facts(*flags), (100, "nce"))
            self.assertEqual(self.settings(model)["dim"], 100)
            self.assertEqual(len(self.ok("embed", model, "director=Director 10",
                                         "--json").json["vector"]), 100)
        self.assertEqual(facts("--paper", "--loss", "softmax"), (50, "softmax"))
        # Not given, as the file says, is not the same as given.
        facts("--paper", "--negatives", 20)
        self.assertEqual(self.settings(model)["negatives"], 20)
        twenty = model.read_bytes()
        facts("--paper")
        self.assertEqual(self.settings(model)["negatives"], "auto")
        self.assertNotEqual(model.read_bytes(), twenty)

    def test_every_flag_of_the_help_can_be_given_its_default(self):
        text = self.write("t.txt", kith.two_topics(60))
        data = {"text": text, "counts": text, "documents": text,
                "labelled": self.write("l.txt", kith.labelled_topics(60)),
                "table": self.write("t.csv", films.as_csv(films.films(60))),
                "ratings": self.write("r.csv", stars.as_text(stars.ratings(2))), "bags": text,
                "matrix": self.write("m.csv", "".join(f"{k % 7},{k % 5},{k % 3 + k % 7}\n"
                                                      for k in range(60)))}
        # Of the run and not of the model.
        run = {"output", "resume", "checkpoint-every", "max-memory", "scratch", "config", "threads",
               "quiet", "json", "help", "plot"}
        for about in self.ok("models", "--json").json:
            if about["input"] == "none":
                continue
            name, model = about["name"], self.path("m.kith")
            size = {s["name"] for s in about["settings"]} & {"dim", "topics", "components"}
            small = {size.pop(): 3, "epochs": 2}
            train = ["train", name, data[about["input"]], "-o", model, "--quiet", "--threads", 1,
                     *(word for pair in small.items() for word in (f"--{pair[0]}", pair[1]))]
            self.ok(*train)
            expected, content = self.settings(model), model.read_bytes()
            help_text = self.ok("train", name, "--help").out
            shown = re.findall(r"(?m)^  --(\[no-\])?([a-z0-9-]+)", help_text)
            names = {flag for _, flag in shown} - run
            self.assertEqual(names, set(expected), f"{name}: the help and the file")
            self.assertLessEqual({s["name"] for s in about["settings"]}, names, name)
            on = {flag for no, flag in shown if no}
            flags = {s["name"] for s in about["settings"] if s["type"] == "flag"}
            said = []
            for flag, value in expected.items():
                if flag in small or (flag in flags and value == "auto"):
                    continue  # a flag is on or off; auto can only be said in a file of settings
                if isinstance(value, bool):
                    self.assertEqual(flag in on, value, f"{name} --{flag}: what the help says")
                    said.append(f"--{flag}" if value else f"--no-{flag}")
                else:
                    said += [f"--{flag}", value]
            self.ok(*train, *said)
            self.assertEqual(self.settings(model), expected, name)
            self.assertEqual(model.read_bytes(), content, f"{name}: what is learned")
            config = self.write("run.toml", "".join(f"{k} = {json.dumps(v)}\n"
                                                    for k, v in expected.items()))
            self.ok("train", name, data[about["input"]], "-o", model, "--quiet", "--threads", 1,
                    "--config", config)
            self.assertEqual(model.read_bytes(), content, f"{name}: from a file of settings")

    def test_the_help_shows_which_flags_are_on(self):
        # A flag that nothing was said of may still be on: --biases of feat2vec.
        for about in self.ok("models", "--json").json:
            if about["input"] == "none":
                continue
            help_text = self.ok("train", about["name"], "--help").out
            for one in about["settings"]:
                if one["type"] == "flag" and "true" in (one["default"], one.get("auto")):
                    self.assertIn(f"--[no-]{one['name']} ", help_text, about["name"])


@unittest.skipIf(kith.SANITIZED, "what it writes does not depend on that")
class Temporary(Running):
    def test_eval_writes_nowhere_that_can_be_guessed(self):
        table = self.write("t.csv", films.as_csv(films.films(1500)))
        model, empty = self.path("m.kith"), self.path("empty")
        empty.mkdir()
        self.ok("train", "feat2vec", table, "-o", model, *films.QUICK)
        ours = re.compile(r"kith", re.IGNORECASE)
        shared = [pathlib.Path("/tmp"), pathlib.Path("/var/tmp"), empty]

        def present():
            return {p for folder in shared if folder.is_dir() for p in folder.iterdir()
                    if ours.search(p.name) or folder == empty}

        before, seen = present(), set()
        process = self.begin("eval", model, table, "--target", "director", "--given",
                             "cast,genres", "--train", table, "--json", "--threads", 1,
                             env={"TMPDIR": str(empty)})
        while process.poll() is None:
            seen |= present() - before
            time.sleep(0.002)
        code, said = self.ended(process, 60)
        self.assertEqual(code, kith.DONE, said)
        told = json.loads(process.stdout.read())
        self.assertIn("skip-gram", " ".join(told["baselines"]), "it trained the other model")
        # Other tests run at the same time, so only names with the number of this process count.
        guessed = {p for p in seen if str(process.pid) in p.name or p.parent == empty}
        self.assertEqual(guessed, set())
        self.assertEqual(list(empty.iterdir()), [])


class Ordered(e2e_tables_sources.Postgres):
    """Rows of a server come in the order of their key, wherever it keeps them."""

    # Those of the other file are run there.
    test_postgresql = test_postgresql_refuses = test_a_server_that_stops_in_the_middle = None

    def test_rows_of_a_server_come_in_the_order_of_their_key(self):
        self.execute('CREATE TABLE films(director text, film_id text, title text, year int, '
                     'genres text, "cast" text, "a ""key" int, '
                     'PRIMARY KEY ("a ""key", film_id))')
        rows = [{**row, "a": i // 100} for i, row in enumerate(self.rows)]

        def fill(rows):
            self.execute("DELETE FROM films")
            self.execute('COPY films(film_id, title, year, genres, "cast", director, "a ""key") '
                         "FROM STDIN WITH (FORMAT csv, HEADER)",
                         films.as_csv([{k: v for k, v in r.items() if k != "country"}
                                       for r in rows]))
            return self.trained(self.address)

        expected = fill(rows)
        random.Random(3).shuffle(rows)
        self.assertEqual(fill(rows), expected)


if __name__ == "__main__":
    kith.main()
