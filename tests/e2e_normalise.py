# SPDX-License-Identifier: Apache-2.0
"""--normalise: users who rate on scales of their own, and answers in their unit."""
import csv
import math

import kith
import stars
from stars import ITEMS, USERS, as_text, truth

WAYS = ("users", "items", "both")


def scale(user):
    """Some give stars, some percents, some marks around 100."""
    return ((1, 0), (25, -25), (0.2, 100))[USERS.index(user) % 3]


def said(user, stars_given):
    factor, offset = scale(user)
    return offset + factor * stars_given


def error(user, prediction, item):
    """In stars, whatever the user's scale."""
    factor, offset = scale(user)
    return (prediction - offset) / factor - truth(user, item)


class Normalised(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.rows = [(u, i, round(said(u, r), 3), t) for u, i, r, t in stars.ratings()]
        self.seen = {(u, i) for u, i, _, _ in self.rows}

    def trained(self, by, name="als", *flags):
        model = self.path(f"{name}-{by}.kith")
        file = self.write("r.csv", as_text(self.rows))
        quick = [f for f in stars.QUICK if name == "als" or f not in ("--penalty", 0.05)]
        self.ok("train", name, file, "-o", model, "--normalise", by, *quick, *flags)
        return model

    def errors(self, model, users=USERS[:60]):
        pairs = [(u, i) for u in users for i in ITEMS if (u, i) not in self.seen]
        out = self.path("out.csv")
        self.ok("predict", model, self.write("p.csv", as_text(pairs, header="userId,movieId\n")),
                "-o", out)
        with open(out, newline="") as file:
            found = [error(r["userId"], float(r["prediction"]), r["movieId"])
                     for r in csv.DictReader(file)]
        return math.sqrt(sum(e * e for e in found) / len(found))

    def test_every_user_is_answered_on_the_scale_they_use(self):
        plain = self.errors(self.trained("none"))
        for by in ("users", "both"):
            told = self.errors(self.trained(by))
            # The noise is 0.1; tastes differ by 1.2. In one unit the percents drown the rest.
            self.assertLess(told, 0.4)
            self.assertLess(told, plain / 3)
        for name in ("mf", "bmf", "svp", "softimpute", "nmf"):
            self.assertLess(self.errors(self.trained("users", name)), 0.8, name)

    def test_recommendations_are_in_the_order_of_predictions(self):
        only = self.write("only.txt", "".join(f"{i}\n" for i in ITEMS[10:50]))
        for by in WAYS:
            model = self.trained(by)
            lists = self.path("all.csv")
            self.ok("recommend", model, "--all", "--top", 3, "-o", lists)
            with open(lists, newline="") as file:
                rows = list(csv.DictReader(file))
            for user in USERS[:12]:
                found = self.ok("recommend", model, user, "--top", 80, "--json").json
                found = found["recommendations"]
                predictions = [r["prediction"] for r in found]
                self.assertEqual(predictions, sorted(predictions, reverse=True))
                for r in found[:3]:
                    told = self.ok("predict", model, f"user={user}", f"item={r['id']}", "--json")
                    self.assertAlmostEqual(told.json["prediction"], r["prediction"], 4)
                mine = [r["movieId"] for r in rows if r["userId"] == user]
                self.assertEqual(mine, [r["id"] for r in found[:3]])
                some = self.ok("recommend", model, user, "--top", 80, "--only", only, "--json").json
                self.assertEqual(some["recommendations"],
                                 [r for r in found if r["id"] in ITEMS[10:50]])

    def test_someone_new_is_answered_on_their_scale(self):
        model = self.trained("both")
        # User 7, once as known and once, on another scale, as somebody new.
        given = ",".join(f"{i}={r}" for u, i, r, _ in self.rows if u == "u7")
        known = self.ok("recommend", model, "u7", "--json").json["recommendations"]
        new = self.ok("recommend", model, "--given", given, "--json").json["recommendations"]
        self.assertEqual([r["id"] for r in new[:5]], [r["id"] for r in known[:5]])
        for a, b in zip(known, new):
            self.assertAlmostEqual(a["prediction"], b["prediction"], delta=0.1 * scale("u7")[0])
        more = self.write("more.csv", as_text([("quiet", i, 50 + 0.01 * r, 1)
                                               for u, i, r, _ in self.rows if u == "u7"]))
        grown = self.path("grown.kith")
        self.ok("update", model, more, "-o", grown)
        found = self.ok("recommend", grown, "quiet", "--json").json["recommendations"]
        self.assertEqual([r["id"] for r in found[:5]], [r["id"] for r in known[:5]])
        for a, b in zip(known, found):
            self.assertAlmostEqual(50 + 0.01 * a["prediction"], b["prediction"],
                                   delta=0.002 * scale("u7")[0])

    def test_errors_are_in_the_unit_of_the_ratings(self):
        file = self.write("all.csv", as_text(self.rows))
        for name in ("als", "mf"):
            told = {by: self.ok("eval", name, file, "--normalise", by, "--epochs", 8, "--dim", 6,
                                "--json").json for by in ("none", *WAYS)}
            for by in WAYS:
                self.assertEqual(told[by]["baselines"], told["none"]["baselines"])
            # Percents make the error: 25 times that in stars.
            self.assertLess(told["users"]["rmse"], 0.4 * 25)
        model = self.trained("users", "als", "--json")
        told = self.ok("eval", model, file, "--json").json
        self.assertLess(told["rmse"], 0.4 * 25)
        tuned = self.ok("tune", "als", file, "--normalise", "users", "--trials", 2, "--epochs", 4,
                        "--dim", 6, "--json").json
        self.assertLess(tuned["best"]["held_out"], 0.6 * 25)
        self.assertIn("--normalise users", tuned["command"])

    def test_it_is_told(self):
        model = self.trained("both")
        self.assertEqual(self.ok("info", model, "--json").json["facts"]["normalise"], "both")
        self.assertIn('normalise = "both"', self.ok("info", model, "--toml").out)
        plain = self.ok("info", self.trained("none"), "--json").json["facts"]
        self.assertNotIn("normalise", plain)

    def test_the_same_file_for_any_number_of_threads(self):
        file = self.write("r.csv", as_text(self.rows))
        for name in ("als", "mf"):
            models = []
            for threads in (1, 2):
                model = self.path(f"{name}{threads}.kith")
                self.ok("train", name, file, "-o", model, "--normalise", "both", "--epochs", 5,
                        "--dim", 6, "--threads", threads, "--quiet")
                models.append(model.read_bytes())
            self.assertEqual(models[0], models[1])

    def test_what_is_refused(self):
        bad = dict(code=kith.BAD_USAGE)
        file, out = self.write("r.csv", as_text(self.rows)), self.path("m.kith")
        self.refused("train", "als", file, "-o", out, "--normalise", "rows",
                     says=["none, users, items, both"], **bad)
        clicks = self.write("clicks.txt", as_text([(u, i) for u, i in self.seen], " ", ""))
        self.refused("train", "als", clicks, "-o", out, "--normalise", "users", "--quiet",
                     says=["--normalise", "interactions"], **bad)
        for loss in ("logistic", "hinge", "kl", "bpr"):
            self.refused("train", "mf", file, "-o", out, "--loss", loss, "--normalise", "items",
                         "--quiet", says=["--normalise", "--loss"], **bad)
        for flags in (["--no-biases"], ["--loss", "kl"], ["--unrated", "zero"]):
            self.refused("train", "nmf", file, "-o", out, *flags, "--normalise", "users",
                         "--quiet", says=["--normalise", "--biases"], **bad)
        model = self.trained("users")
        for command in (["predict", model, file], ["predict", model, "user=u1", "item=west1"],
                        ["update", model, file, "-o", out], ["eval", model, file]):
            self.refused(*command, "--normalise", "users", says="--normalise", **bad)
        self.assertFalse(out.exists())


if __name__ == "__main__":
    kith.main()
