# SPDX-License-Identifier: Apache-2.0
"""Faults that a run must survive, or end with a sentence: odd data, closed streams, full disks."""
import json
import os
import resource
import sqlite3
import subprocess
import threading
import time
import unittest

import kith
import stars

ONE_ITEM = "user,item\n" + "".join(f"u{i},i0\n" for i in range(6))
# Of five folds a later one has users to rank and the first has none.
FEW = "user,item,rating\nu0,i0,5\nu0,i1,1\nu0,i2,3\nu1,i2,5\nu2,i1,2\nu2,i3,1\nu3,i2,5\nu3,i3,2\n"
TWO_COLUMNS = "kind,size\n" + "".join(f"{'ab'[i % 2]},{i % 7}\n" for i in range(40))


class Data(kith.TestCase):
    def trained(self, text, *flags, name="m.kith"):
        self.ok("train", *flags[:1], self.write("data.csv", text), *flags[1:], "-o",
                self.path(name), "--quiet")
        self.ok("info", self.path(name))  # whatever is saved can be read
        return self.path(name)

    def test_one_item_is_enough(self):
        for model in ("als", "mf", "nmf"):
            self.trained(ONE_ITEM, model, "--rating", "none")

    def test_folds_with_and_without_ranked_users(self):
        file = self.write("few.csv", FEW)
        for folds in (2, 3, 5, 8):
            out = self.ok("eval", "als", file, "--folds", folds, "--json").json
            self.assertIn("rmse", json.dumps(out))

    def test_numbers_near_the_largest(self):
        rows = "kind,size\n" + "".join(f"{k},{n}\n" for k, n in zip(
            "ababab", ("1e308", "-1e308", "1.7e308", "1e308", "1e308", "1.7e308")))
        self.trained(rows, "feat2vec", "--types", "size=number")
        model = self.trained(rows, "feat2vec", "--types", "size=number", "--target", "size")
        self.assertNotRegex(self.ok("predict", model, "kind=a").out, "nan|inf")

    def test_a_row_whose_vector_would_not_be_finite_is_told(self):
        rows = "kind,place\n" + "".join(f"{'ab'[i % 2]},.00{i % 3}|.00{i % 5}|.00{i % 4}\n"
                                        for i in range(40))
        model = self.trained(rows, "feat2vec", "--types", "place=vector")
        wild = self.write("wild.csv", "kind,place\na,1|2|3\nb,3e38|-3e38|1\n")
        for output in ("rows.kith", "rows.npy"):
            self.refused("embed", model, wild, "-o", self.path(output), says="not finite")
            self.assertFalse(self.path(output).exists())

    def test_biases_alone_have_nothing_to_embed(self):
        model = self.trained(TWO_COLUMNS, "feat2vec", "--dim", 0)
        self.refused("embed", model, self.path("data.csv"), "-o", self.path("rows.kith"),
                     says="no vectors (dim = 0)")

    def test_a_model_without_names_has_nothing_to_export(self):
        dates = "a,b\n1916-12-05,1916-09-18\n2058-02-24,1919-04-06\n2049-03-17,1993-02-23\n"
        model = self.trained(dates, "feat2vec", "--types", "a=date,b=date")
        for to in ("csv", "glove", "fasttext-bin", "npy", "word2vec-bin", "word2vec-text", "safetensors"):
            self.refused("export", model, "--to", to, "-o", self.path("v"), says="no named vectors")
        self.assertFalse(self.path("v").exists())

    def test_more_columns_than_can_be_related(self):
        wide = ",".join(f"c{i}" for i in range(20000)) + "\n" + ",".join(["1"] * 20000) + "\n"
        self.refused("train", "feat2vec", self.write("wide.csv", wide), "-o", self.path("m.kith"),
                     "--types", "c0=category", code=kith.NO_MEMORY, says="20,000 columns", lines=1)

    def test_long_vectors_for_few_values_cost_little(self):
        self.trained(TWO_COLUMNS, "feat2vec", "--dim", 2000, "--epochs", 1)

    def test_reading_heeds_the_limit_of_memory(self):
        rows = self.write("long.csv", "user,item,rating\n" + "".join(
            f"user{i},item{i % 999},{i % 5}\n" for i in range(900_000)))
        self.refused("train", "als", rows, "-o", self.path("m.kith"), "--max-memory", "10M",
                     code=kith.NO_MEMORY, says=["reading needs", "--max-memory"])


class Divergence(kith.TestCase):
    def test_every_optimiser_is_near_that_of_one_thread(self):
        data = self.write("data.csv", TWO_COLUMNS)
        for optimiser in ("sgd", "momentum", "nesterov", "adagrad", "adam", "adagrad-row"):
            losses = []
            for threads in (["--deterministic"], ["--threads", 1]):
                out = self.ok("train", "feat2vec", data, "-o", self.path("m.kith"), "--optimiser",
                              optimiser, "--epochs", 10, "--json", *threads).json
                losses.append(out["loss"])
            self.assertLess(max(losses), 1.5 * min(losses) + 0.1, optimiser)

    def test_a_loss_that_explodes_is_no_result(self):
        data = self.write("data.csv", stars.as_text(stars.ratings()))
        model = self.path("m.kith")
        self.refused("train", "mf", data, "-o", model, "--no-adapt", "--lr", 10,
                     "--epochs", 4, "--early-stop", 0, code=kith.DIVERGED, says="diverged")
        self.assertFalse(model.exists())


class Streams(kith.TestCase):
    def closed(self, numbers, *args):
        """Runs the program with these streams closed."""
        command = [kith.KITH, *map(str, args)]
        return subprocess.run(command, preexec_fn=lambda: [os.close(n) for n in numbers],
                              close_fds=False, check=False).returncode

    def test_closed_streams_do_not_lend_their_numbers_to_files(self):
        data = self.write("data.txt", kith.two_topics(300))
        first = self.path("first.kith")
        flags = ["--dim", 8, "--epochs", 2, "--deterministic"]
        self.ok("train", "word2vec", data, "-o", first, *flags)
        for numbers in ([2], [1, 2], [0, 1, 2]):
            model = self.path("m.kith")
            self.assertEqual(self.closed(numbers, "train", "word2vec", data, "-o", model, *flags),
                             kith.DONE, numbers)
            self.assertEqual(model.read_bytes(), first.read_bytes(), numbers)
        # Nor is a file of its own what it reads where there is no input.
        self.refused("train", "word2vec", "-", "-o", self.path("m.kith"), *flags,
                     preexec_fn=lambda: os.close(0), says="standard input: cannot read")

    def test_results_that_cannot_be_written_are_a_failure(self):
        model = stars.train(self)
        for command in (["info", model], ["info", model, "--json"], ["models", "--json"],
                        ["eval", model, self.path("stars.kith.csv")]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([kith.KITH, *map(str, command)], stdout=full,
                                      stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, kith.BAD_INPUT, command)
            self.assertIn(b"standard output: cannot write", done.stderr)

    def test_a_reader_who_leaves_is_no_failure(self):
        model = kith.train_quick(self)
        for command in (["export", model, "--to", "glove", "-o", "-"], ["info", model]):
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run([kith.KITH, *map(str, command)], stdout=write,
                                  stderr=subprocess.PIPE, check=False)
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (kith.DONE, b""), command)

    def test_names_do_not_steer_the_terminal(self):
        wild = "evil\x1b[2J\u009b31m\x07"
        rows = [(u, wild if i == "west0" else i, r, t) for u, i, r, t in stars.ratings()]
        model = stars.train(self, rows=rows)
        out = self.ok("recommend", model, "u0", "--top", 100, "--include-seen")
        self.assertIn("evil", out.out)
        self.assertNotRegex(out.out + out.err, "[\x1b\x07\u009b]")


class Inputs(kith.TestCase):
    def test_nests_are_refused(self):
        deep = 100_000
        table = self.write("data.csv", TWO_COLUMNS)
        schema = self.write("s.json", '{"columns": ' + "[" * deep + "]" * deep + "}")
        self.refused("train", "feat2vec", table, "--schema", schema, "-o", self.path("m.kith"),
                     says="64 deep")
        config = self.write("c.toml", "dim = " + "[" * deep + "]" * deep)
        self.refused("train", "feat2vec", table, "--config", config, "-o", self.path("m.kith"),
                     says="c.toml:1")

    def test_a_table_of_no_model_in_a_config(self):
        data = self.write("data.txt", kith.two_topics(100))
        config = self.write("c.toml", "[wrod2vec]\ndim = 3\n")
        self.refused("train", "word2vec", data, "--config", config, "-o", self.path("m.kith"),
                     code=kith.BAD_USAGE, says="c.toml:1: there is no model [wrod2vec]; did you "
                     "mean word2vec?")
        self.write("c.toml", "[word2vec]\ndim = 3\n[als]\ndim = 4\n")
        self.ok("train", "word2vec", data, "--config", config, "-o", self.path("m.kith"))

    def test_passwords_are_never_shown(self):
        for address in ("postgresql://u:secret/x@localhost:1/d", "postgresql://u:secret@x@h:1/d",
                        "PostgreSQL://u:secret@localhost:1/d", "postgres://u:secret@localhost:1/d",
                        "postgresql://localhost:1/d?password=secret&user=u"):
            result = self.refused("train", "als", address, "-o", self.path("m.kith"), code=None)
            self.assertNotIn("secret", result.err + result.out, address)

    def refused(self, *args, code=kith.BAD_INPUT, **options):
        if code is not None:
            return super().refused(*args, code=code, **options)
        result = kith.run(*args)
        self.assertIn(result.code, (kith.BAD_INPUT, kith.BAD_USAGE), str(result))
        return result

    def test_a_database_that_is_busy_for_a_moment(self):
        path = self.path("rows.db")
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE t (user TEXT, item TEXT, rating REAL)")
            db.executemany("INSERT INTO t VALUES (?, ?, ?)",
                           [(u, i, r) for u, i, r, _ in stars.ratings()[:500]])
        db.close()
        holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        holder.execute("BEGIN EXCLUSIVE")

        def release():
            time.sleep(1)
            holder.execute("COMMIT")

        thread = threading.Thread(target=release)
        thread.start()
        self.ok("train", "als", path, "-o", self.path("m.kith"), "--epochs", 1)
        thread.join()
        holder.close()


class Files(kith.TestCase):
    def test_of_two_files_both_are_new_or_none(self):
        model = kith.train_quick(self)
        self.ok("export", model, "--to", "npy", "-o", self.path("v.npy"))
        before = {p.name: p.read_bytes() for p in self.folder.iterdir()}
        other = kith.two_topics(300).replace("hill", "mountain")  # the names change as well
        big = kith.train_quick(self, "big.kith", other, "--dim", 200)
        before["big.kith"] = big.read_bytes()
        self.refused("export", big, "--to", "npy", "-o", self.path("v.npy"),
                     preexec_fn=kith.with_file_limit(8192), says="untouched")
        self.assertEqual({p.name: p.read_bytes() for p in self.folder.iterdir()}, before)

    @unittest.skipIf(kith.SANITIZED, "sanitizers take address space of their own")
    def test_no_memory_at_all_is_told(self):
        model = kith.train_quick(self)

        def little():
            resource.setrlimit(resource.RLIMIT_AS, (24 << 20, 24 << 20))

        for command in (["info", model], ["near", model, "hill1"], ["models"]):
            result = kith.run(*command, preexec_fn=little)
            self.assertIn(result.code, (kith.DONE, kith.NO_MEMORY, 127), str(result))


if __name__ == "__main__":
    kith.main()
