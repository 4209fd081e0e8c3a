# SPDX-License-Identifier: Apache-2.0
"""Training on tables: the same bits for any number of threads, killed and resumed, continued, with
a target, and measured on rows that it has not seen."""
import random
import re
import shlex
import signal
import subprocess
import time

import films
import kith
from films import ACTORS, DIRECTORS, topic_of


class SameBits(kith.TestCase):
    def trained(self, *flags):
        self.ok("train", "feat2vec", self.table, "-o", self.path("m.kith"), *flags, "--quiet")
        return self.path("m.kith").read_bytes()

    def setUp(self):
        super().setUp()
        self.table = self.write("films.csv", films.as_csv(films.films()))

    def test_deterministic_tables_for_any_number_of_threads(self):
        files = {self.trained("--deterministic", "--dim", 20, "--epochs", 5, "--threads", threads)
                 for threads in (1, 2, 8)}
        self.assertEqual(len(files), 1)

    def test_deterministic_targets_for_any_number_of_threads(self):
        for flags in (["--target", "director", "--mix", 0.3], ["--target", "year"], ["--paper"]):
            files = {self.trained("--deterministic", "--dim", 12, "--epochs", 2, *flags,
                                  "--threads", threads) for threads in (1, 2, 8)}
            self.assertEqual(len(files), 1, flags)

    def test_one_thread_twice_and_seeds(self):
        flags = ["--threads", 1, "--dim", 8, "--epochs", 2, "--seed", 5]
        first = self.trained(*flags)
        self.assertEqual(first, self.trained(*flags))
        flags[-1] = 6
        self.assertNotEqual(first, self.trained(*flags))


class Interrupted(kith.TestCase):
    def setUp(self):
        super().setUp()
        rows = films.films(400 if kith.SANITIZED else 4000)
        self.table = self.write("films.csv", films.as_csv(rows))
        self.model = self.path("films.kith")
        self.checkpoint = self.path("films.kith.checkpoint")
        self.epochs = 50

    @property
    def command(self):
        return ["train", "feat2vec", self.table, "-o", self.model, "--deterministic", "--dim", 64,
                "--threads", 2, "--checkpoint-every", 1, "--epochs", self.epochs]

    def start_and_wait_for_checkpoint(self):
        """Starts a run that is caught in its middle: a longer one, if it was too short for that."""
        deadline = time.monotonic() + (600 if kith.SANITIZED else 60)
        while True:
            process = kith.start(*self.command, "--quiet", stdout=subprocess.DEVNULL)
            self.addCleanup(process.stderr.close)
            while not self.checkpoint.exists() and process.poll() is None:
                self.assertLess(time.monotonic(), deadline, "no checkpoint")
                time.sleep(0.01)
            if self.checkpoint.exists() and process.poll() is None:
                return process
            self.assertEqual(process.returncode, kith.DONE)
            self.model.unlink()
            self.epochs *= 2

    def uninterrupted(self):
        self.ok(*self.command, "--quiet")
        data = self.model.read_bytes()
        self.model.unlink()
        self.assertFalse(self.checkpoint.exists(), "a finished run leaves no checkpoint")
        return data

    def test_a_killed_table_run_resumed_equals_an_uninterrupted_one(self):
        process = self.start_and_wait_for_checkpoint()
        process.kill()
        process.wait()
        self.assertFalse(self.model.exists(), "killed before the end")
        self.ok(*self.command, "--resume", "--quiet")
        data = self.model.read_bytes()
        self.assertFalse(self.checkpoint.exists())
        self.leftovers("films.csv", "films.kith", "films.schema.json")
        self.assertEqual(self.uninterrupted(), data)

    def test_control_c_keeps_a_checkpoint_of_a_table(self):
        process = self.start_and_wait_for_checkpoint()
        process.send_signal(signal.SIGINT)
        message = process.stderr.read().decode()
        self.assertEqual(process.wait(), kith.INTERRUPTED, message)
        self.assertIn("kith: interrupted", message)
        self.assertTrue(self.checkpoint.exists())
        self.assertFalse(self.model.exists())
        # The last line is the command that goes on: it must be true as it stands.
        told = shlex.split(message.splitlines()[-1])
        self.assertIn("--resume", told)
        self.ok(*told[1:])
        data = self.model.read_bytes()
        self.assertEqual(self.uninterrupted(), data)

    def test_resume_with_another_table_or_setting_is_refused(self):
        process = self.start_and_wait_for_checkpoint()
        process.kill()
        process.wait()
        kept = self.checkpoint.read_bytes()
        self.refused(*self.command, "--resume", "--negatives", 3, "--quiet", code=kith.BAD_USAGE,
                     says="negatives")
        other = self.write("other.csv", films.as_csv(films.films(400, seed=2)))
        command = [other if arg == self.table else arg for arg in self.command]
        self.refused(*command, "--resume", "--quiet", says=["films.kith.checkpoint", "other data"])
        self.assertEqual(self.checkpoint.read_bytes(), kept)


class Continued(kith.TestCase):
    def test_new_rows_add_values_and_the_old_ones_are_kept(self):
        base = films.train(self, "base.kith", films.films(1000))
        rows = films.films(600, seed=2)
        for row in rows:
            if row["director"] == "Director 30":
                row["director"] = "Newcomer"
        more, grown = self.write("more.csv", films.as_csv(rows)), self.path("grown.kith")
        self.ok("train", more, "-o", grown, "--from", base, "--threads", 1, "--quiet")
        # No schema is written: it is that of the model.
        self.leftovers("base.kith", "base.kith.csv", "base.schema.json", "more.csv", "grown.kith")
        old, new = self.names(base), self.names(grown)
        self.assertEqual(set(new) - set(old), {"director=Newcomer"})
        self.assertEqual([n for n in new if n in old], old)
        for name, topic in (("Newcomer", 3), ("Director 00", 0)):
            near = self.ok("near", grown, f"director={name}", "--top", 5, "--json").json
            self.assertEqual({topic_of(n["id"]) for n in near["neighbours"]}, {topic})

    def names(self, model):
        self.ok("export", model, "--to", "npy", "-o", self.path("v.npy"))
        out = self.path("v.npy.names.txt").read_text().splitlines()
        self.path("v.npy").unlink()
        self.path("v.npy.names.txt").unlink()
        return out

    def test_another_kind_of_model_cannot_go_on(self):
        words = kith.train_quick(self)
        table = self.write("films.csv", films.as_csv(films.films(100)))
        self.refused("train", "feat2vec", table, "-o", self.path("x.kith"), "--from", words,
                     code=kith.BAD_USAGE, says=["word2vec", "feat2vec"])
        model = films.train(self, "base.kith", films.films(100), *films.QUICK)
        self.refused("train", table, "-o", self.path("x.kith"), "--from", model, "--dim", 5,
                     code=kith.BAD_USAGE, says="dim")
        other = self.write("other.csv", "foo,bar\n1,2\n3,4\n")
        self.refused("train", other, "-o", self.path("x.kith"), "--from", model, *films.QUICK,
                     says=["other.csv", "foo, bar"])
        self.assertFalse(self.path("x.kith").exists())


class Targets(kith.TestCase):
    """With a column to predict, by every kind of loss."""

    def setUp(self):
        super().setUp()
        self.rows = films.films(800)
        for row in self.rows:
            row["good"] = "yes" if films.topic(row) < 2 else "no"
        self.test = films.films(200, seed=7)
        for row in self.test:
            row["good"] = "yes" if films.topic(row) < 2 else "no"
        self.file = self.write("test.csv", films.as_csv(self.test))

    def evaluated(self, model, target, *args):
        return self.ok("eval", model, self.file, "--target", target, *args, "--json").json

    def test_a_category_as_target(self):
        model = films.train(self, "m.kith", self.rows, "--target", "director")
        self.assertEqual(self.ok("info", model, "--json").json["facts"]["target"], "director")
        table = self.write("again.csv", films.as_csv(self.rows))
        again = self.ok("train", "feat2vec", table, "-o", model, "--resume").err
        # What it was trained for comes first.
        self.assertRegex(again, rf"(?m)^next +\S+ predict {model} FILE, with rows that it has not "
                                rf"seen\n +\S+ eval {model} FILE, likewise\n +\S+ near ")
        plain = self.ok("train", table, "-o", self.path("p.kith"), *films.QUICK[:-1], "--epochs", 1)
        self.assertNotIn(" eval ", plain.err)
        self.assertEqual(self.evaluated(model, "director")["hit10"], 1)
        # What it was trained for need not be said again.
        found = self.ok("predict", model, f"cast={'|'.join(ACTORS[1][:3])}", "year=1970", "--json",
                        "--top", 6).json
        self.assertEqual(found["target"], "director")
        self.assertEqual({topic_of(p["id"]) for p in found["predictions"]}, {1})

    def test_a_number_as_target(self):
        for flags in ([], ["--loss", "absolute"], ["--loss", "huber"], ["--loss", "tukey"]):
            model = films.train(self, "m.kith", self.rows, "--target", "year", *flags)
            told = self.evaluated(model, "year")
            self.assertLess(told["rmse"], 6, flags)
            self.assertLess(told["rmse"], told["baselines"]["mean"]["rmse"] / 2, flags)
        # What is held out chooses between them, if nobody does.
        for flags, objectives in (([], ["squared", "softmax"]), (["--loss", "squared"], ["squared"])):
            model = films.train(self, "m.kith", self.rows, "--target", "year", *flags)
            facts = self.ok("info", model, "--json").json["facts"]
            self.assertIn(facts["objective"], objectives, flags)
            # Whatever the loss, in years.
            rmse = self.evaluated(model, "year")["rmse"]
            self.assertTrue(rmse / 2 < facts["held_out"] < 2 * rmse, facts)
            self.assertGreater(facts["held_out_before"], facts["held_out"])
        row = self.test[0]
        given = [f"{k}={row[k]}" for k in ("title", "genres", "cast", "director", "good")]
        told = self.ok("predict", model, *given, "--json").json
        self.assertEqual(told["target"], "year")
        self.assertLess(abs(told["prediction"] - float(row["year"])), 15)
        self.assertAlmostEqual(float(self.ok("predict", model, *given).out), told["prediction"], 1)

    def test_a_number_is_told_in_one_unit(self):
        draw = random.Random(2)
        table = self.write("r.csv", "user,film,year,rating\n" + "".join(
            f"u{draw.randrange(60)},f{draw.randrange(90)},{draw.randrange(1970, 2000)},"
            f"{draw.randrange(1, 6)}\n" for _ in range(1500)))
        model = self.path("r.kith")
        done = self.ok("train", "feat2vec", table, "--target", "rating", "--types", "rating=number",
                       "--l2", 0.001, "--threads", 1, "-o", model)
        self.assertIn("held-out is the root mean square error of rating", done.err)
        # By chance alone the error is that of the mean: the root of two.
        told = [float(x) for x in re.findall(r"held-out (?:RMSE )?([0-9.]+)", done.err)]
        self.assertGreater(len(told), 2)
        for number in told:
            self.assertTrue(1.2 < number < 2.2, done.err)
        facts = self.ok("info", model, "--json").json["facts"]
        self.assertAlmostEqual(facts["held_out"], told[-1], 3)

    def test_two_classes(self):
        for loss in ("logistic", "hinge"):
            model = films.train(self, "m.kith", self.rows, "--target", "good", "--loss", loss)
            told = self.evaluated(model, "good")
            self.assertGreater(told["accuracy"], 0.98, loss)
            self.assertGreater(told["auc"], 0.98, loss)
            self.assertEqual("log_loss" in told, loss == "logistic")
            self.assertEqual(sum(sum(row.values()) for row in told["confusion"].values()), 200)
            right = 0
            found = self.ok("predict", model, self.file, "--json").json_lines
            for answer, row in zip(found, self.test):
                right += answer["predictions"][0]["id"] == row["good"]
            self.assertGreater(right, 195, loss)
        model = films.train(self, "m.kith", self.rows, "--target", "good", "--loss", "logistic")
        for t in range(films.TOPICS):
            told = self.ok("predict", model, f"director={DIRECTORS[t][0]}", f"year={1955 + 15 * t}",
                           f"cast={ACTORS[t][0]}", "--json").json["predictions"]
            self.assertEqual(told[0]["id"], "yes" if t < 2 else "no")
            self.assertAlmostEqual(sum(p["probability"] for p in told), 1, 4)

    def test_a_mix_learns_the_other_columns_too(self):
        model = films.train(self, "m.kith", self.rows, "--target", "director", "--mix", 0.5)
        self.assertEqual(self.evaluated(model, "director")["hit10"], 1)
        self.assertGreater(self.evaluated(model, "genres", "--given", "cast")["hit1"], 0.4)

    def test_the_published_setting(self):
        model = films.train(self, "m.kith", self.rows, "--paper")
        self.assertEqual(self.ok("info", model, "--json").json["facts"]["objective"], "nce")
        told = self.evaluated(model, "director", "--given", "cast,genres")
        self.assertGreater(told["hit10"], 0.8)
        self.assertLess(told["mpr"], told["baselines"]["popularity"]["mpr"] / 2)

    def test_targets_that_do_not_fit_their_loss(self):
        table = self.write("films.csv", films.as_csv(self.rows))
        train = ["train", "feat2vec", table, "-o", self.path("x.kith"), *films.QUICK]
        for flags, code, says in (
            (["--loss", "squared"], kith.BAD_USAGE, "--target"),
            (["--loss", "logistic"], kith.BAD_USAGE, "--target"),
            (["--loss", "squared", "--target", "director"], kith.BAD_INPUT, "numbers"),
            (["--loss", "logistic", "--target", "director"], kith.BAD_INPUT, "two values"),
            (["--loss", "squard"], kith.BAD_USAGE, ["squared", "squard"]),
            (["--target", "directr"], kith.BAD_USAGE, "did you mean director"),
            (["--target", "country"], kith.BAD_USAGE, ["ignored", "--types country="]),
        ):
            self.refused(*train, *flags, code=code, says=says)
        self.assertFalse(self.path("x.kith").exists())


class Measured(kith.TestCase):
    """eval: against rows that training has not seen, and against simpler ways."""

    def setUp(self):
        super().setUp()
        self.model = films.train(self)
        self.table = self.path("films.kith.csv")
        self.test = self.write("test.csv", films.as_csv(films.films(300, seed=9)))

    def evaluate(self, *args, model=None):
        return self.ok("eval", model or self.model, self.test, *args, "--json")

    def test_a_category_is_ranked(self):
        told = self.evaluate("--target", "director", "--given", "cast,year").json
        self.assertEqual(told["rows"], 300)
        self.assertEqual(told["unseen"], 0)
        self.assertEqual(set(told["baselines"]), {"popularity", "random"})
        # Which of six directors of the topic it is cannot be known; the topic can. Then the rank
        # is uniform in 1 .. 6: mean reciprocal rank 0.41, median 3 or 4, hit10 all.
        self.assertEqual(told["hit10"], 1)
        self.assertIn(told["median_rank"], (3, 4))
        self.assertAlmostEqual(told["mrr"], 0.41, delta=0.08)
        self.assertLess(told["mpr"], 0.15)
        for baseline in told["baselines"].values():
            for key in ("mrr", "hit1", "hit10"):
                self.assertLess(baseline[key], told[key], key)
            self.assertGreater(baseline["mpr"], told["mpr"])
            self.assertGreater(baseline["median_rank"], told["median_rank"])
        plain = self.ok("eval", self.model, self.test, "--target", "director").out
        for word in ("mrr", "mpr", "hit1", "hit10", "median_rank", "this model", "popularity"):
            self.assertIn(word, plain)

    def test_the_same_by_random_guessing(self):
        # Of n values: mean reciprocal rank H(n) / n, hit1 1 / n, hit10 10 / n.
        told = self.evaluate("--target", "director").json["baselines"]["random"]
        harmonic = sum(1 / r for r in range(1, 25))
        for key, value in (("mrr", harmonic / 24), ("hit1", 1 / 24), ("hit10", 10 / 24)):
            self.assertAlmostEqual(told[key], value, 4)

    def test_skip_gram_beside_it(self):
        told = self.evaluate("--target", "director", "--train", self.table, "--threads", 1).json
        skip_gram = told["baselines"]["skip-gram"]
        self.assertEqual(skip_gram["hit10"], 1)  # it finds the topic, too
        self.assertAlmostEqual(skip_gram["mrr"], told["mrr"], delta=0.1)

    def test_members_of_a_set_are_ranked_one_by_one(self):
        told = self.evaluate("--target", "cast", "--given", "director").json
        self.assertGreater(told["hit10"], 0.9)  # ten that are left of twelve of the topic

    def test_a_number_is_compared(self):
        told = self.evaluate("--target", "year").json
        self.assertEqual(set(told["baselines"]), {"mean", "median"})
        # Ten years of a topic, uniform: the best guess is off by 2.9 in the mean of squares.
        self.assertTrue(2.5 < told["rmse"] < 4, told)
        self.assertTrue(2 < told["mae"] < 3.5, told)
        self.assertTrue(1 <= told["median_error"] <= 4, told)
        for baseline in told["baselines"].values():
            for key in ("rmse", "mae", "median_error"):
                self.assertGreater(baseline[key], 2 * told[key], key)
        self.assertIn("rmse", self.ok("eval", self.model, self.test, "--target", "year").out)

    def test_a_name_that_stands_in_a_text_is_a_leak(self):
        rows = films.films(300, seed=9)
        for row in rows[:60]:
            row["title"] = f"{row['director'].lower()} tells a story"
        model = films.train(self, "leak.kith", films.films(300), *films.QUICK)
        self.test.write_text(films.as_csv(rows))
        result = self.evaluate("--target", "director", model=model)
        self.assertAlmostEqual(result.json["leaks"]["title"], 0.2, 3)
        self.assertRegex(result.err, r"in 20 % of the rows the text in column title holds the director")
        # Not if the text is not given.
        told = self.evaluate("--target", "director", "--given", "cast", model=model)
        self.assertNotIn("leaks", told.json)

    def test_values_that_training_never_saw_are_counted(self):
        rows = films.films(100, seed=9)
        for row in rows[:10]:
            row["director"] = "Nobody"
        self.test.write_text(films.as_csv(rows))
        told = self.evaluate("--target", "director").json
        self.assertEqual((told["rows"], told["unseen"]), (100, 10))
        for row in rows:
            row["director"] = "Nobody"
        self.test.write_text(films.as_csv(rows))
        self.refused("eval", self.model, self.test, "--target", "director",
                     says=["test.csv", "director"])

    def test_questions_of_eval(self):
        for args, says in (([], "--target"), (["--target", "directr"], "did you mean director"),
                           (["--target", "director", "--given", "cats"], "did you mean cast")):
            self.refused("eval", self.model, self.test, *args, code=kith.BAD_USAGE, says=says)
        self.write("less.csv", films.as_csv([{"cast": "Actor 000", "year": "1950"}] * 3))
        self.refused("eval", self.model, self.path("less.csv"), "--target", "director",
                     says=["less.csv", "director"])


if __name__ == "__main__":
    kith.main()
