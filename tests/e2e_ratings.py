# SPDX-License-Identifier: Apache-2.0
"""Models of ratings: from a file of stars to recommendations, on tastes that are known."""
import contextlib
import csv
import gzip
import math
import random
import re
import shlex
import signal
import sqlite3

import kith
import stars
from stars import ITEMS, USERS, as_text, genre, truth


class Days(kith.TestCase):
    """What the ratings that a user gave on one day have in common."""

    def test_days(self):
        draw = random.Random(3)
        mood = {(u, d): draw.gauss(0, 1) for u in range(60) for d in range(5)}
        train, test = ["user,film,rating,time"], ["user,film,rating,time"]
        for u in range(60):
            for f in range(40):
                day = draw.randrange(5)
                value = 5 + f % 3 + mood[u, day] + draw.gauss(0, 0.3)
                into = test if draw.random() < 0.1 else train
                into.append(f"u{u},f{f},{value:.2f},{1600000000 + 86400 * day + draw.randrange(80)}")
        train = self.write("train.csv", "\n".join(train) + "\n")
        dated = self.write("test.csv", "\n".join(test) + "\n")
        undated = self.write("undated.csv", "\n".join(r.rsplit(",", 1)[0] for r in test) + "\n")
        for model in ("als", "bmf", "mf"):
            path, plain = self.path("m.kith"), self.path("p.kith")
            told = self.ok("train", model, train, "-o", path, "--dim", 4).err
            self.assertIn("the times (column time) say which ratings a user gave on one day", told)
            told = self.ok("train", model, train, "-o", plain, "--dim", 4, "--no-days").err
            self.assertIn("the times (column time) are not learned from", told)
            facts = self.ok("info", path, "--json").json["facts"]
            self.assertEqual(facts["days of users"], 300)
            self.assertNotIn("days of users", self.ok("info", plain, "--json").json["facts"])
            error = {name: self.ok("eval", kith_file, file, "--json").json["rmse"]
                     for name, kith_file, file in (("known", path, dated), ("unknown", path, undated),
                                                   ("plain", plain, dated))}
            # Moods are known to about 0.35, and are 1 large; what is rated is known to 0.3.
            self.assertLess(error["known"], 0.7, error)
            self.assertGreater(error["unknown"], 0.9, error)
            self.assertGreater(error["plain"], 0.9, error)
            rows = self.ok("predict", path, dated, "--json").json_lines
            squares = [(r["prediction"] - r["rating"]) ** 2 for r in rows]
            self.assertAlmostEqual(math.sqrt(sum(squares) / len(squares)), error["known"], 3)


class Columns(kith.TestCase):
    """What is known of users and items besides their ratings."""

    def setUp(self):
        super().setUp()
        lines = [f"u{u},f{f},{1 + (u * f) % 5},g{f % 3},{'ab'[(u + f) % 2]}"
                 for u in range(30) for f in range(20) if (u + f) % 3]
        self.ratings = self.write("r.csv", "user,film,rating,genre,mood\n" + "\n".join(lines))
        self.users = self.write("users.csv", "user,town\n"
                                + "".join(f"u{u},t{u % 4}\n" for u in range(30)))

    def trained(self, model, name, *flags):
        """The file's tensors, and what was said."""
        path = self.path(name)
        result = self.ok("train", model, self.ratings, "-o", path, "--dim", 4, "--epochs", 6, *flags)
        content = path.read_bytes()
        return content[8 + int.from_bytes(content[:8], "little"):], result.err

    def test_columns_of_ratings_and_tables_of_users(self):
        for model in ("als", "bmf", "mf"):
            usual, said = self.trained(model, "a.kith")
            self.assertIn("also learned from, about items: genre (category)", said)
            self.assertIn("not used: mood, which is not the same in all ratings of a user", said)
            without, _ = self.trained(model, "b.kith", "--no-columns")
            self.assertNotEqual(usual, without)
            more, said = self.trained(model, "b.kith", "--user-table", self.users)
            self.assertIn("users.csv has 30 of 30 users: town (category)", said)
            self.assertNotEqual(usual, more)

    def test_no_vectors_of_files(self):
        self.trained("als", "a.kith")
        self.refused("embed", self.path("a.kith"), self.ratings, "-o", self.path("z.npy"),
                     code=kith.BAD_USAGE, says="embed is for models that complete rows")

    def test_what_is_known_goes_along_with_new_ratings(self):
        new = self.write("new.csv", "user,film,rating\nnew,f1,5\nu1,fresh,4\n")
        for model in ("als", "mf"):
            self.trained(model, "a.kith", "--user-table", self.users)
            self.ok("update", self.path("a.kith"), new, "-o", self.path("b.kith"))
            self.assertTrue(self.ok("recommend", self.path("b.kith"), "new").out)
            self.ok("update", self.path("b.kith"), new, "-o", self.path("c.kith"))

    def test_interactions_are_ranked_without_columns_unless_they_are_asked_for(self):
        usual, said = self.trained("mf", "a.kith", "--rating", "none")
        self.assertIn("known besides, about items: genre (category)", said)
        self.assertIn("interactions are ranked without what other columns say", said)
        without, said = self.trained("mf", "b.kith", "--rating", "none", "--no-columns")
        self.assertNotIn("other columns say", said)
        self.assertEqual(usual, without)
        more, said = self.trained("mf", "b.kith", "--rating", "none", "--columns")
        self.assertNotIn("other columns say", said)
        self.assertNotEqual(usual, more)

    def test_tables_that_do_not_fit(self):
        other = self.write("other.csv", "user,town\nx1,t1\nx2,t2\n")
        self.refused("train", "als", self.ratings, "--user-table", other, says=(
            "other.csv: its column user has no user of the ratings, such as u0",))
        self.refused("train", "nmf", self.ratings, "--user-table", self.users, code=kith.BAD_USAGE,
                     says="learns from the ratings alone; leave --user-table out")
        self.refused("train", "als", self.ratings, "--item-table", self.path("none.csv"),
                     says="none.csv")


class Layouts(kith.TestCase):
    """What a file of ratings may look like."""

    def facts(self, *args, **options):
        model = self.path("m.kith")
        self.ok("train", *args, "-o", model, *stars.QUICK, **options)
        return self.ok("info", model, "--json").json["facts"]

    def test_bare_files_are_understood(self):
        rows = stars.ratings(10)
        for name, between, header in (("u.data", "\t", ""), ("ratings.dat", "::", ""),
                                      ("ratings.csv", ",", "userId,movieId,rating,timestamp\n"),
                                      ("plain.txt", " ", ""), ("semi.csv", ";", "")):
            file = self.write(name, as_text(rows, between, header))
            facts = self.facts("als", file)
            self.assertEqual(facts["users"], 240, name)
            self.assertEqual(facts["ratings"], 2400, name)
            self.assertEqual(facts["feedback"], "explicit")

    def test_without_a_model_the_file_is_seen_to_hold_ratings(self):
        rows = stars.ratings(10)
        numbered = [(USERS.index(u), ITEMS.index(i), r, t) for u, i, r, t in rows]
        for name, between, header, rows in (("ratings.dat", "::", "", rows),
                                            ("u.data", "\t", "", numbered),
                                            ("r.csv", ",", "user,item,stars,when\n", rows)):
            file = self.write(name, as_text(rows, between, header))
            told = self.ok("train", file, *stars.QUICK[:-1], cwd=self.folder)
            self.assertRegex(told.err, r"ratings \(.*\), so the model is als")
            self.assertRegex(told.err, r"read .*2,400 ratings of 80 items by 240 users; mean [23]\.")
            self.assertRegex(told.err, r"from -?[\d.]+ to [\d.]+; 12 % of all pairs")
            # The last line is a command that answers.
            next_one = shlex.split(re.search(r"(?m)^next +\S+ (.*)$", told.err).group(1))
            self.assertEqual(len(self.ok(*next_one, cwd=self.folder).out.splitlines()), 10)

    def test_a_database_of_ratings_is_seen_to_be_one_too(self):
        rows = stars.ratings(10)
        with contextlib.closing(sqlite3.connect(self.path("r.db"))) as base, base:
            base.execute("CREATE TABLE films(film TEXT, year INTEGER)")
            base.execute("CREATE TABLE seen(user TEXT, film TEXT, rating REAL, time INTEGER)")
            base.executemany("INSERT INTO seen VALUES(?, ?, ?, ?)", rows)
        file = self.write("r.csv", as_text(rows, ",", "user,film,rating,time\n"))
        models = []
        for source in ([file], [self.path("r.db"), "--query", "seen"]):
            told = self.ok("train", *source, "-o", self.path("m.kith"), *stars.QUICK[:-1])
            self.assertIn("ratings (columns user, film and rating), so the model is als", told.err)
            self.ok("export", self.path("m.kith"), "--to", "csv", "-o", self.path("v.csv"))
            models.append(self.path("v.csv").read_bytes())
            told = self.ok("eval", "als", *source, *stars.QUICK)
            self.assertIn("als on 240 test ratings", told.out)
        self.assertEqual(models[0], models[1])

    def test_other_columns_in_any_order(self):
        rows = stars.ratings(10)
        text = "id,note,stars,film,who\n" + "".join(
            f"{n},\"a, b\",{r},{i},{u}\n" for n, (u, i, r, _) in enumerate(rows))
        file = self.write("t.csv", text)
        self.assertEqual(self.facts("als", file, "--user", "who", "--item", "film", "--rating",
                                    "stars")["items"], 80)
        self.refused("train", "als", file, "-o", self.path("m.kith"), "--user", "whom",
                     code=kith.BAD_USAGE, says=["t.csv", "no column whom", "did you mean who?"])

    def test_standard_input_and_a_pipe_of_gzip(self):
        text = as_text(stars.ratings(10), "\t", "").encode()
        self.assertEqual(self.facts("als", "-", stdin=text)["ratings"], 2400)
        self.assertEqual(self.facts("als", "-", stdin=gzip.compress(text))["ratings"], 2400)

    def test_interactions(self):
        rows = [(u, i) for u, i, r, _ in stars.ratings(40) if r > 3.5]
        model = self.path("m.kith")
        told = self.ok("train", "als", self.write("clicks.txt", as_text(rows, " ", "")), "-o",
                       model, *stars.QUICK[:-1])
        self.assertIn("every row is an interaction", told.err)
        self.assertEqual(self.ok("info", model, "--json").json["facts"]["feedback"], "implicit")
        # What is recommended is of the genres that the user likes; by chance a third would be.
        right = asked = 0
        for user in USERS[:60]:
            liked = [g for g in stars.GENRES if stars.TASTE[user][g] > 0]
            if not liked:
                continue
            found = self.ok("recommend", model, user, "--top", 5, "--json").json
            right += sum(genre(r["id"]) in liked for r in found["recommendations"])
            asked += 5
        self.assertGreater(right / asked, 0.8)
        # With a column that counts, the value is the strength.
        played = self.write("p.csv", as_text([(u, i, 3) for u, i in rows], ",",
                                             "user,song,plays\n"))
        told = self.ok("train", "als", played, "-o", model, *stars.QUICK[:-1])
        self.assertIn("--implicit", told.err)
        self.assertEqual(self.facts("als", played, "--implicit")["feedback"], "implicit")
        played.write_text("user,song,plays\na,x,1\nb,y,0\n")
        self.refused("train", "als", played, "--implicit", "-o", model,
                     says=["p.csv:3", "plays", "above 0"])

    def test_interactions_are_called_so(self):
        clicks = self.write("c.csv", as_text([row[:2] for row in stars.ratings(10)], ",", "user,song\n"))
        model = self.path("m.kith")
        told = self.ok("train", "als", clicks, "-o", model, *stars.QUICK[:-1])
        self.assertRegex(told.err, r"(?m)^  epoch 1/8 .* interactions/s")
        self.assertRegex(told.err, r"(?m)^done .* interactions/s")
        self.assertNotIn("ratings/s", told.err)
        facts = self.ok("info", model, "--json").json["facts"]
        self.assertEqual(facts["interactions"], 2400)
        self.assertNotIn("ratings", facts)

    def test_what_is_no_longer_held_out_is_not_shown(self):
        # After a third of its sweeps bmf learns from what was held out, too.
        file = self.write("r.csv", as_text(stars.ratings(10)))
        told = self.ok("train", "bmf", file, "-o", self.path("m.kith"), "--dim", 2, "--epochs", 12).err
        shown = re.findall(r"(?m)^  epoch +(\d+)/12 .* held-out ", told)
        self.assertEqual([int(e) for e in shown], [1, 2, 3, 4])
        self.assertRegex(told, r"(?m)^done .*held-out")

    def test_duplicates(self):
        model, file = self.path("m.kith"), self.write("r.csv", "a,x,1\nb,x,5\nb,y,2\na,x,4\n")
        for how in ("last", "first", "mean", "sum"):
            told = self.ok("train", "als", file, "-o", model, "--holdout", 0, "--duplicates", how,
                           *stars.QUICK[:-1])
            self.assertRegex(told.err, r"note +1 row with a user and item that came before")
            self.assertEqual(self.ok("info", model, "--json").json["facts"]["ratings"], 3)
        self.refused("train", "als", file, "-o", model, "--duplicates", "refuse",
                     says=["r.csv:4", "user a", "item x", "--duplicates"])

    def test_missing_cells_are_told(self):
        file = self.write("r.csv", "user,item,rating\na,x,1\n,x,5\nb,,2\nb,y,\n b,x ,3\n")
        told = self.ok("train", "als", file, "-o", self.path("m.kith"), *stars.QUICK[:-1])
        self.assertRegex(told.err, r"note +3 rows without user, item or rating left out")
        self.assertRegex(told.err, r"note +1 row with white space around an id")

    def test_one_rating_and_ratings_that_are_all_the_same(self):
        model = self.path("m.kith")
        for text in ("a,x,4\n", "a,x,4\nb,y,4\na,y,4\n"):
            self.ok("train", "als", self.write("r.csv", text), "-o", model, *stars.QUICK)
            self.assertAlmostEqual(
                self.ok("predict", model, "user=a", "item=x", "--json").json["prediction"], 4, 3)


class Refused(kith.TestCase):
    """Files that hold something else: one clear line each, and nothing is written."""

    def test_what_is_no_rating(self):
        for cell in ("nan", "inf", "five", "", "1e99"):
            text = f"user,item,rating\na,x,4\nb,y,{cell}\nc,z,3\n"
            file = self.write("bad.csv", text)
            if cell == "":
                self.ok("train", "als", file, "-o", self.path("m.kith"), *stars.QUICK)
                self.path("m.kith").unlink()
                continue
            self.refused("train", "als", file, "-o", self.path("m.kith"), *stars.QUICK,
                         says=["bad.csv:3", "rating", cell, "is not a number"])
        self.leftovers("bad.csv")

    def test_what_has_no_ratings(self):
        model = self.path("m.kith")
        for text, says in (("user,item,rating\n", "no ratings"), ("", "no row"),
                           ("word\nhello\n", "column of users and one of items"),
                           ("user,item,rating\n,,\n", "every row lacks"),
                           ("1,2,3\n1,3,3\n1,2\n", "bad.csv:3")):
            self.refused("train", "als", self.write("bad.csv", text), "-o", model, says=says)
        self.refused("train", "als", self.path("no.csv"), "-o", model, says="no.csv")
        self.refused("train", "als", self.write("bad.csv", "1:2:3\n"), "--delimiter", ":,", "-o",
                     model, code=kith.BAD_USAGE, says="::")
        self.leftovers("bad.csv")

    def test_commands_of_other_models(self):
        model = stars.train(self)
        words = kith.train_quick(self)
        self.refused("recommend", words, "hill1", code=kith.BAD_USAGE,
                     says="for models that rate items for users; ")
        self.refused("score", model, self.path("stars.kith.csv"), code=kith.BAD_USAGE,
                     says="for models that complete rows of a table; ")
        self.refused("near", words, "hill1", "--names", self.path("x"), code=kith.BAD_USAGE,
                     says="titles is for models that rate items")
        self.refused("near", model, "u1", "--to", "x", code=kith.BAD_USAGE, says="--to")
        self.refused("train", "als", self.path("stars.kith.csv"), "--from", model, "-o",
                     self.path("x.kith"), code=kith.BAD_USAGE, says="kith update")
        self.refused("eval", "word2vec", "x.txt", code=kith.BAD_USAGE, says="rate items for users")


class Asking(kith.TestCase):
    """predict, recommend, near."""

    def setUp(self):
        super().setUp()
        self.rows = stars.ratings()
        self.model = stars.train(self, rows=self.rows)
        self.seen = {(u, i) for u, i, _, _ in self.rows}

    def recommended(self, *args):
        return self.ok("recommend", self.model, *args, "--json").json["recommendations"]

    def titles(self, name="movies.dat"):
        return self.write(name, "".join(f"{i}::The {genre(i)}: {n} (19{n:02})::A|B\n"
                                        for n, i in enumerate(ITEMS)))

    def test_predictions_are_near_the_truth(self):
        unseen = [(u, i) for u in USERS[:100] for i in ITEMS if (u, i) not in self.seen]
        pairs = self.write("pairs.csv", as_text(unseen, header="userId,movieId\n"))
        out = self.path("out.csv")
        self.ok("predict", self.model, pairs, "-o", out)
        with open(out, newline="") as file:
            found = list(csv.DictReader(file))
        self.assertEqual([(r["userId"], r["movieId"]) for r in found], unseen)
        errors = [(float(r["prediction"]) - truth(r["userId"], r["movieId"])) ** 2 for r in found]
        # The noise is 0.1 and 30 ratings tell four tastes; the tastes themselves differ by 1.2.
        self.assertLess(math.sqrt(sum(errors) / len(errors)), 0.3)
        # One pair gives the same, under either name of the columns.
        one = found[7]
        for terms in ([f"user={one['userId']}", f"item={one['movieId']}"],
                      [f"movieId={one['movieId']}", f"userId={one['userId']}"]):
            told = self.ok("predict", self.model, *terms, "--json").json
            self.assertAlmostEqual(told["prediction"], float(one["prediction"]), 4)

    def test_whom_the_model_does_not_know(self):
        nobody = self.ok("predict", self.model, "user=nobody", "item=west1", "--json").json
        self.assertEqual(nobody["known"], {"user": False, "item": True})
        # The mean and the item's bias: what others think of it.
        others = [r for _, i, r, _ in self.rows if i == "west1"]
        self.assertAlmostEqual(nobody["prediction"], sum(others) / len(others), delta=0.4)
        neither = self.ok("predict", self.model, "user=nobody", "item=nothing", "--json").json
        mean = sum(r for _, _, r, _ in self.rows) / len(self.rows)
        self.assertAlmostEqual(neither["prediction"], mean, delta=0.1)
        file = self.write("pairs.txt", "u1 west1\nnobody west1\nu1 nothing\nnobody nothing\n")
        told = self.ok("predict", self.model, file)
        self.assertIn("2 rows with a user and 2 rows with an item", told.err)
        self.assertEqual(len(told.out.splitlines()), 5)

    def test_what_predict_refuses(self):
        bad = dict(code=kith.BAD_USAGE)
        self.refused("predict", self.model, "user=u1", says="name a user and an item", **bad)
        self.refused("predict", self.model, "user=u1", "user=u2", says="one user", **bad)
        self.refused("predict", self.model, "colour=u1", "item=x", says="userId", **bad)
        self.refused("predict", self.model, "no/such.csv", says="no such file")
        self.refused("predict", self.model, "user=u1", "item=west1", "-o", self.path("x"), **bad)
        table = self.path("stars.kith.csv")
        self.refused("predict", self.model, table, "-o", table, says="read and written", **bad)

    def test_recommendations_are_what_the_user_would_like(self):
        regret = []
        for user in USERS[:40]:
            found = self.recommended(user, "--top", 5)
            self.assertEqual(len(found), 5)
            unseen = sorted((truth(user, i) for i in ITEMS if (user, i) not in self.seen),
                            reverse=True)
            for r in found:
                self.assertNotIn((user, r["id"]), self.seen)
            predictions = [r["prediction"] for r in found]
            self.assertEqual(predictions, sorted(predictions, reverse=True))
            regret.append(sum(unseen[:5]) - sum(truth(user, r["id"]) for r in found))
        # In stars, over five items; at random it would be more than 5.
        self.assertLess(sum(regret) / len(regret), 0.5)
        self.assertEqual(self.recommended("user=u3"), self.recommended("u3"))
        self.assertEqual(self.recommended("userId=u3"), self.recommended("u3"))

    def test_what_was_rated_can_be_kept(self):
        everything = self.recommended("u5", "--top", 1000, "--include-seen")
        self.assertEqual({r["id"] for r in everything}, set(ITEMS))
        new = self.recommended("u5", "--top", 1000)
        self.assertEqual(len(new), 50)
        seen = {i for u, i in self.seen if u == "u5"}
        self.assertEqual([r for r in everything if r["id"] not in seen], new)

    def test_lists_of_items(self):
        only = self.write("only.txt", "".join(f"{i}\n" for i in ITEMS if genre(i) == "fear"))
        found = self.recommended("u5", "--only", only, "--top", 50)
        self.assertEqual({genre(r["id"]) for r in found}, {"fear"})
        everything = self.recommended("u5", "--top", 1000)
        self.assertEqual(found, [r for r in everything if genre(r["id"]) == "fear"])
        rest = self.recommended("u5", "--exclude", only, "--top", 1000)
        self.assertEqual(rest, [r for r in everything if genre(r["id"]) != "fear"])
        only.write_text("fear1\r\nnothing\n")
        told = self.ok("recommend", self.model, "u5", "--only", only, "--include-seen")
        self.assertIn("1 line with an item that the model does not know", told.err)
        only.write_text("nothing\n")
        self.refused("recommend", self.model, "u5", "--only", only, says=["none of 1 name", "nothing"])

    def test_titles(self):
        names = self.titles()
        plain = self.ok("recommend", self.model, "u5", "--names", names, "--top", 3).out
        self.assertRegex(plain, r"(?m)^\w+ +The \w+: \d+ \(19\d\d\) +\d\.\d{3}$")
        for r in self.recommended("u5", "--names", names):
            self.assertEqual(r["title"], f"The {genre(r['id'])}: {ITEMS.index(r['id'])} "
                                         f"(19{ITEMS.index(r['id']):02})")
        table = self.write("m.csv", "movieId,year,german,title\n" + "".join(
            f'{i},1999,"{i}, der Film",T{i}\n' for i in ITEMS))
        self.assertTrue(all(r["title"] == "T" + r["id"]
                            for r in self.recommended("u5", "--names", table)))
        found = self.recommended("u5", "--names", table, "--names-column", "german")
        self.assertEqual(found[0]["title"], found[0]["id"] + ", der Film")
        # An item may be asked for by its title.
        near = self.ok("near", self.model, "item=The west: 3 (1903)", "--names", names, "--json")
        self.assertEqual(near.json["neighbours"][0]["title"][:9], "The west:")
        self.refused("near", self.model, "item=the WEST: 3", "--names", names,
                     says=["similar: The west: 3 (1903)"])
        self.refused("near", self.model, "item=west1", "--names", table, "--names-column", "titel",
                     code=kith.BAD_USAGE, says="did you mean title?")
        other = self.write("other.dat", "1::A::x\n2::B::y\n")
        self.refused("recommend", self.model, "u5", "--names", other, says="no item of the model")

    def test_someone_new_is_placed_by_what_they_rated(self):
        given = ",".join(f"{g}{k}={5 if g == 'love' else 1.5}"
                         for g in stars.GENRES for k in range(3))
        found = self.recommended("--given", given, "--top", 5)
        self.assertEqual({genre(r["id"]) for r in found}, {"love"})
        self.assertFalse({r["id"] for r in found} & {"love0", "love1", "love2"})
        rated = [a for one in given.split(",") for a in ("--rated", one)]
        self.assertEqual(self.recommended("newcomer", *rated, "--top", 5), found)
        # Someone known, with all that they rated, is where they were.
        again = ",".join(f"{i}={r}" for u, i, r, _ in self.rows if u == "u7")
        known, folded = self.recommended("u7"), self.recommended("--given", again)
        self.assertEqual([r["id"] for r in known[:3]], [r["id"] for r in folded[:3]])

    def test_what_recommend_refuses(self):
        bad = dict(code=kith.BAD_USAGE)
        self.refused("recommend", self.model, "u24o", says=["no user u24o", "similar: u2",
                                                            "--given"])
        self.refused("recommend", self.model, "--given", "west1=good", says="item=rating", **bad)
        for flags in (["--all"], ["u7", "-o", self.path("x.csv")]):
            self.refused("recommend", self.model, *flags, "--explain", says="--explain is for", **bad)
        reasons = self.ok("recommend", self.model, "u7", "--explain", "--json").json["recommendations"][0]["reasons"]
        self.assertEqual(set(reasons[0]), {"id", "score"})
        self.refused("recommend", self.model, "--given", "west1", says="item=rating", **bad)
        self.refused("recommend", self.model, "--given", "wets1=3", says=["wets1", "west1"])
        self.refused("recommend", self.model, "item=west1", says="is an item", **bad)
        self.refused("recommend", self.model, says="--all", **bad)
        self.refused("recommend", self.model, "u1", "--all", says="leave out the users", **bad)
        self.refused("recommend", self.model, "u1", "-o", self.path("x"), says=".csv, .tsv", **bad)
        # Of many users, those that are known get their list.
        result = kith.run("recommend", self.model, "u1", "nobody", "u2", "--json")
        self.assertEqual(result.code, kith.BAD_INPUT)
        self.assertEqual([o["user"] for o in result.json_lines], ["u1", "u2"])

    def test_everybody_at_once(self):
        out = self.path("all.csv")
        for threads in (1, 3):
            told = self.ok("recommend", self.model, "--all", "--top", 3, "-o", out, "--threads",
                           threads)
            self.assertIn("3 items for each of 240 users", told.err)
            with open(out, newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), 3 * 240)
            for user in ("u0", "u100", "u239"):
                mine = [r for r in rows if r["userId"] == user]
                self.assertEqual([r["rank"] for r in mine], ["1", "2", "3"])
                alone = self.recommended(user, "--top", 3)
                self.assertEqual([r["movieId"] for r in mine], [r["id"] for r in alone])
        printed = self.ok("recommend", self.model, "--all", "--top", 3).out
        self.assertEqual(printed, out.read_text())
        some = self.path("some.tsv")
        self.ok("recommend", self.model, "u0", "u100", "--top", 3, "-o", some)
        with open(some, newline="") as file:
            mine = list(csv.DictReader(file, delimiter="\t"))
        for user in ("u0", "u100"):
            self.assertEqual([r for r in mine if r["userId"] == user],
                             [r for r in rows if r["userId"] == user])
        lines = self.ok("recommend", self.model, "--all", "--json").json_lines
        self.assertEqual({o["user"] for o in lines}, set(USERS))

    def correlation(self, a, b):
        tastes = [[t - sum(stars.TASTE[u].values()) / 4 for t in stars.TASTE[u].values()]
                  for u in (a, b)]
        product = sum(x * y for x, y in zip(*tastes))
        return product / math.sqrt(math.prod(sum(x * x for x in t) for t in tastes) or 1)

    def test_neighbours_are_of_the_same_genre(self):
        for item in ("west1", "love7", "fear19", "joke3"):
            near = self.ok("near", self.model, f"item={item}", "--top", 10, "--json").json
            self.assertEqual(near["column"], "movieId")
            self.assertEqual({genre(n["id"]) for n in near["neighbours"]}, {genre(item)})
            self.assertNotIn(item, [n["id"] for n in near["neighbours"]])
            similar = self.ok("similar", self.model, f"movieId={item}", "--top", 10, "--json").json
            self.assertEqual(similar["neighbours"], near["neighbours"])
        # Users of the same taste are near, whether or not one likes everything more.
        varied = [u for u in USERS if len(set(stars.TASTE[u].values())) == 3][:10]
        for user in varied:
            near = self.ok("near", self.model, f"user={user}", "--top", 3, "--json").json
            for n in near["neighbours"]:
                self.assertGreater(self.correlation(user, n["id"]), 0.8)
        # A name that only one side has needs no column.
        self.assertEqual(self.ok("near", self.model, "west1").out,
                         self.ok("near", self.model, "item=west1").out)
        self.refused("near", self.model, "item=wset1", says=["wset1", "similar: west1"])
        many = kith.run("near", self.model, "item=west1", "user=nobody", "user=u1")
        self.assertEqual(many.code, kith.BAD_INPUT)
        self.assertEqual(len(many.out.splitlines()), 22)


class Updated(kith.TestCase):
    """New ratings, users and items without training."""

    def test_new_users_and_items_find_their_place(self):
        rows = stars.ratings()
        later = [r for r in rows if r[0] in USERS[-20:] or r[1] in ("west0", "joke0")]
        model = stars.train(self, rows=[r for r in rows if r not in later])
        new = self.write("new.csv", as_text(later))
        grown = self.path("grown.kith")
        told = self.ok("update", model, new, "-o", grown, "--json").json
        self.assertEqual(told["new"], {"userId": 20, "movieId": 2})
        self.assertEqual(len(told["added"]), 22)
        self.assertEqual(told["ratings"], len(later))
        self.assertGreaterEqual(told["solved"], 22)
        errors = [(self.ok("predict", grown, f"user={u}", f"item={i}", "--json")
                   .json["prediction"] - truth(u, i)) ** 2
                  for u, i in (("u230", "west1"), ("u231", "love4"), ("u1", "west0"),
                               ("u235", "joke0"), ("u2", "joke0"), ("u239", "fear2"))]
        self.assertLess(math.sqrt(sum(errors) / len(errors)), 0.5)
        near = self.ok("near", grown, "item=west0", "--top", 5, "--json").json["neighbours"]
        self.assertEqual({genre(n["id"]) for n in near}, {"west"})
        # What was rated now is not recommended, and nobody is new twice.
        found = self.ok("recommend", grown, "u230", "--top", 80, "--json").json["recommendations"]
        mine = {i for u, i, _, _ in later if u == "u230"}
        self.assertFalse(mine & {r["id"] for r in found})
        again = self.ok("update", grown, new, "-o", grown)
        self.assertNotIn("new value", again.err)

    def test_what_update_refuses(self):
        model = stars.train(self)
        before = model.read_bytes()
        pairs = self.write("pairs.csv", "userId,movieId\nu1,west1\n")
        self.refused("update", model, pairs, "-o", model, says="--rating")
        bad = self.write("bad.csv", "userId,movieId,rating\nu1,west1,good\n")
        self.refused("update", model, bad, "-o", model, says=["bad.csv:2", "good"])
        self.refused("update", model, bad, code=kith.BAD_USAGE, says="-o")
        self.assertEqual(model.read_bytes(), before)


class Evaluated(kith.TestCase):
    """Measures with what simpler ways reach beside them."""

    def setUp(self):
        super().setUp()
        rows = stars.ratings()
        random.Random(1).shuffle(rows)
        self.train, self.test = rows[:-1000], rows[-1000:]
        self.model = stars.train(self, rows=self.train)
        self.file = self.write("test.csv", as_text(self.test))

    def test_errors_are_what_they_are_said_to_be(self):
        told = self.ok("eval", self.model, self.file, "--json").json
        out = self.path("out.csv")
        self.ok("predict", self.model, self.file, "-o", out)
        with open(out, newline="") as file:
            errors = [float(r["prediction"]) - float(r["rating"]) for r in csv.DictReader(file)]
        self.assertAlmostEqual(told["rmse"], math.sqrt(sum(e * e for e in errors) / 1000), 4)
        self.assertAlmostEqual(told["mae"], sum(map(abs, errors)) / 1000, 4)
        mean = sum(r for _, _, r, _ in self.train) / len(self.train)
        plain = math.sqrt(sum((r - mean) ** 2 for _, _, r, _ in self.test) / 1000)
        self.assertAlmostEqual(told["baselines"]["mean"]["rmse"], plain, 4)
        self.assertLess(told["rmse"], 0.5 * told["baselines"]["biases"]["rmse"])
        self.assertLess(told["baselines"]["biases"]["rmse"], plain)
        self.assertEqual(told["trained_on"], 0)
        self.assertEqual(told["ratings"], 1000)

    def test_ranking_is_over_all_that_was_not_seen(self):
        told = self.ok("eval", self.model, self.file, "--json", "--top", 5, "--relevant", 4).json
        recall, ndcg, ap, users = 0, 0, 0, 0
        for user in USERS:
            relevant = {i for u, i, r, _ in self.test if u == user and r >= 4}
            if not relevant:
                continue
            users += 1
            found = [r["id"] in relevant for r in self.ok(
                "recommend", self.model, user, "--top", 5, "--json").json["recommendations"]]
            best = min(5, len(relevant))
            recall += sum(found) / len(relevant)
            ndcg += (sum(h / math.log2(k + 2) for k, h in enumerate(found)) /
                     sum(1 / math.log2(k + 2) for k in range(best)))
            ap += sum(h * sum(found[:k + 1]) / (k + 1) for k, h in enumerate(found)) / best
        self.assertEqual(told["users"], users)
        for name, value in (("recall", recall), ("ndcg", ndcg), ("map", ap)):
            self.assertAlmostEqual(told[name], value / users, 4)
            self.assertGreater(told[name], 1.5 * told["baselines"]["popularity"][name])
            self.assertGreater(told[name], told["baselines"]["chance"][name])

    def test_in_words(self):
        told = self.ok("eval", self.model, self.file)
        for word in ("rmse", "mae", "biases", "recall@10", "ndcg@10", "map@10", "popularity"):
            self.assertIn(word, told.out)
        flattered = self.ok("eval", self.model, self.path("stars.kith.csv"))
        self.assertIn("which flatters it", flattered.err)
        self.assertNotIn("--rating none", told.err + flattered.err)  # it ranks better than popularity
        strange = self.write("s.csv", as_text([("nobody", "west1", 3, 1), ("u1", "nothing", 2, 1)]))
        self.assertIn("1 rating of users and 1 rating of items",
                      self.ok("eval", self.model, strange).err)

    def test_says_so_when_popularity_ranks_better(self):
        # Everyone has seen some of ten hits and thinks little of them; a rare film or two is loved.
        dice = random.Random(2)
        rows = [(f"u{u}", f"hit{i}", 3, 1) for u in range(200) for i in dice.sample(range(10), 6)]
        rows += [(f"u{u}", f"rare{dice.randrange(150)}", 5, 1) for u in range(200)]
        told = self.ok("eval", "als", self.write("hits.csv", as_text(rows)), "--relevant", 3)
        self.assertIn("als with --rating none", told.err)

    def test_folds(self):
        file = self.path("stars.kith.csv")
        told = self.ok("eval", "als", file, "--folds", 3, *stars.QUICK[:-1], "--json").json
        self.assertEqual(len(told["folds"]), 3)
        self.assertEqual(sum(f["ratings"] for f in told["folds"]), len(self.train))
        self.assertAlmostEqual(told["rmse"], sum(f["rmse"] for f in told["folds"]) / 3, 4)
        self.assertLess(told["rmse"], 0.5 * told["baselines"]["biases"]["rmse"])
        again = self.ok("eval", "als", file, "--folds", 3, *stars.QUICK[:-1], "--json").json
        self.assertEqual(again, told)
        other = self.ok("eval", "als", file, "--folds", 3, "--seed", 2, *stars.QUICK[:-1],
                        "--json").json
        self.assertNotEqual(other["rmse"], told["rmse"])
        plain = self.ok("eval", "als", file, "--folds", 3, *stars.QUICK[:-1]).out
        self.assertIn("the mean of 3 folds", plain)
        self.assertRegex(plain, r"(?m)^  deviation +0\.\d{4}")

    def test_splits(self):
        file = self.path("stars.kith.csv")
        for how in ("random", "user", "time", "user-time"):
            told = self.ok("eval", "als", file, "--split", how, "--test", 0.2, *stars.QUICK[:-1],
                           "--json").json
            self.assertEqual(told["split"], how)
            self.assertAlmostEqual(told["ratings"] / len(self.train), 0.2, delta=0.02)
            self.assertLess(told["rmse"], told["baselines"]["biases"]["rmse"])

    def test_what_eval_refuses(self):
        bad = dict(code=kith.BAD_USAGE)
        file = self.path("stars.kith.csv")
        self.refused("eval", "als", file, "--split", "time", "--folds", 3, says="--folds", **bad)
        self.refused("eval", "als", says="needs a file", **bad)
        self.refused("eval", "als", file, "--dimm", 3, says="dim", **bad)
        self.refused("eval", "als", file, "--dim", -3, says="dim", **bad)
        self.refused("eval", self.model, self.file, "--relevant", "good", says="relevant", **bad)
        self.refused("eval", "als", self.write("r.csv", "user,item,rating\na,x,3\n"), "--split",
                     "time", says="no column of times was found")
        self.refused("eval", "als", self.write("r.csv", "user,item,rating\na,x,3\n"),
                     says="too few")


class Runs(kith.TestCase):
    """Threads, Ctrl-C and going on."""

    def test_the_same_file_for_any_number_of_threads(self):
        file = self.write("r.csv", as_text(stars.ratings()))
        models = []
        for threads in (1, 2, 8):
            model = self.path(f"m{threads}.kith")
            self.ok("train", "als", file, "-o", model, "--epochs", 5, "--threads", threads,
                    "--quiet", "--penalty", 0.1)
            models.append(model.read_bytes())
        self.assertEqual(models[0], models[1])
        self.assertEqual(models[0], models[2])

    def test_control_c_and_resume(self):
        rng = random.Random(5)
        rows = [(rng.randrange(20000), rng.randrange(3000), rng.randrange(1, 6))
                for _ in range(300000)]
        file = self.write("r.csv", as_text(rows, header="user,item,rating\n"))
        model, whole = self.path("m.kith"), self.path("whole.kith")
        flags = ["--dim", 48, "--epochs", 12, "--early-stop", 0, "--threads", 1, "--penalty", 0.1]
        process = kith.start("train", "als", file, "-o", model, *flags)
        for line in process.stderr:
            if b"epoch" in line:
                break
        process.send_signal(signal.SIGINT)
        message = process.stderr.read().decode()
        process.stderr.close()
        process.stdout.close()
        self.assertEqual(process.wait(), kith.INTERRUPTED, message)
        told = shlex.split(message.splitlines()[-1])
        self.assertIn("--resume", told)
        self.ok(*told[1:])
        self.ok("train", "als", file, "-o", whole, *flags)
        self.assertEqual(model.read_bytes(), whole.read_bytes())

    def test_json_tells_what_was_done(self):
        told = self.ok("train", "als", self.write("r.csv", as_text(stars.ratings())), "-o",
                       self.path("m.kith"), *stars.QUICK, "--json").json
        self.assertEqual(told["model"], "als")
        self.assertEqual(told["vocabulary"], len(USERS) + len(ITEMS))
        self.assertTrue(0.9 * 7200 < told["ratings"] < 7200, told)
        self.assertGreater(told["held_out"], 0)

    def test_which_models_there_are(self):
        told = {m["name"]: m["input"] for m in self.ok("models", "--json").json}
        self.assertEqual(told["als"], "ratings")
        self.assertEqual(told["feat2vec"], "table")
        self.assertEqual(told["word2vec"], "text")
        self.assertIn("--folds", self.ok("eval", "--help").out)
        self.assertIn("--penalty", self.ok("eval", "als", "--help").out)
        self.assertIn("--given", self.ok("help", "recommend").out)


if __name__ == "__main__":
    kith.main()
