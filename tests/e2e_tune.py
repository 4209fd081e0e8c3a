# SPDX-License-Identifier: Apache-2.0
"""kith tune: the same runs from the same seed, better settings, every kind of model."""
import kith
import stars


class Tuned(kith.TestCase):
    def tuned(self, *args):
        return self.ok("tune", *args, "--threads", 1, "--json").json

    def test_a_bad_start_is_mended(self):
        file = self.write("stars.csv", stars.as_text(stars.ratings()))
        found = self.tuned("als", file, "--penalty=30", "--dim", 8, "--trials", 8, "--epochs", 8,
                           "--search", "dim,penalty")
        self.assertEqual(len(found["runs"]), 8)
        self.assertEqual(found["given"]["settings"]["penalty"], 30)
        self.assertEqual(found["command"].count("--penalty"), 1)  # the best instead of what was given
        self.assertEqual(found["command"].count("--dim"), 1)
        self.assertNotIn("--search", found["command"])
        self.assertIs(type(found["best"]["settings"]["dim"]), int)
        self.assertLess(found["best"]["held_out"], 0.6 * found["given"]["held_out"])
        self.assertEqual(found["best"]["held_out"], min(r["held_out"] for r in found["runs"]))
        for run in found["runs"][1:]:
            self.assertTrue(8 <= run["settings"]["dim"] <= 128, run)
            self.assertTrue(0.001 <= run["settings"]["penalty"] <= 0.5, run)
            self.assertNotIn("unobserved", run["settings"])  # has no say about ratings

    def test_what_is_given_stays(self):
        file = self.write("stars.csv", stars.as_text(stars.ratings()))
        done = self.ok("tune", "als", file, "--dim", 8, "--epochs", 4, "--trials", 3, "--threads", 1)
        self.assertIn("dim as given, not searched", done.err)
        self.assertNotIn("dim", done.out)
        following = next(line for line in done.err.splitlines() if line.startswith("next"))
        for flag in ("--dim 8", "--epochs 4", "--threads 1"):
            self.assertEqual(following.count(flag.split()[0]), 1, following)
            self.assertIn(flag, following)

    def test_the_same_seed_makes_the_same_runs(self):
        file = self.write("stars.csv", stars.as_text(stars.ratings()))
        scores = [[(r["settings"], r["held_out"]) for r in
                   self.tuned("mf", file, "--epochs", 4, "--trials", 12, "--seed", seed)["runs"]]
                  for seed in (5, 5, 6)]
        self.assertEqual(scores[0], scores[1])
        self.assertNotEqual(scores[0], scores[2])

    def test_the_model_is_trained_with_what_was_found(self):
        file = self.write("stars.csv", stars.as_text(stars.ratings()))
        model = self.path("best.kith")
        found = self.tuned("als", file, "--search", "penalty", "--trials", 3, "--epochs", 5, "-o", model)
        self.assertEqual(list(found["best"]["settings"]), ["penalty"])
        told = self.ok("info", model, "--toml").out
        self.assertIn(f"penalty = {found['best']['settings']['penalty']:g}", told)

    def test_other_kinds_of_data(self):
        text = self.write("words.txt", kith.two_topics(4000))
        found = self.tuned("word2vec", text, "--trials", 2, "--epochs", 1, "--min-count", 1, "--dim", 8)
        self.assertEqual(list(found["best"]["settings"]), ["lr"])
        found = self.tuned("word2vec", text, "--trials", 2, "--min-count", 1, "--search", "epochs,dim")
        self.assertEqual(list(found["best"]["settings"]), ["dim", "epochs"])
        table = self.write("table.csv", "a,b\n" + "".join(f"x{i % 3},y{i % 3}\n" for i in range(400)))
        found = self.tuned("feat2vec", table, "--trials", 2, "--epochs", 1, "--dim", 4)
        self.assertEqual(list(found["best"]["settings"]), ["lr", "l2"])

    def test_what_is_refused(self):
        file = self.write("stars.csv", stars.as_text(stars.ratings()))
        self.refused("tune", "als", file, "--search", "penality", code=kith.BAD_USAGE,
                     says=["penality", "did you mean penalty?"])
        self.refused("tune", "als", file, "--holdout", 0, code=kith.BAD_USAGE, says=["held out"], lines=None)


if __name__ == "__main__":
    kith.main()
