# SPDX-License-Identifier: Apache-2.0
"""Tables from everywhere: text, JSON, SQLite and a PostgreSQL server give the same model."""
import bz2
import contextlib
import gzip
import json
import lzma
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest
import zipfile

import films
import kith

SAME = ["--dim", 8, "--epochs", 3, "--deterministic", "--threads", 2, "--quiet"]


class SameTable(kith.TestCase):
    """However the table comes, the same table gives the same model, byte for byte."""

    def setUp(self):
        super().setUp()
        self.rows = films.films(400)
        self.rows[3]["year"] = self.rows[5]["cast"] = self.rows[7]["director"] = ""
        self.rows[9]["title"] = 'a "quoted", title\nof two lines'
        self.csv = films.as_csv(self.rows).encode()
        self.expected = self.trained(self.write("films.csv", self.csv))

    def trained(self, *sources, **options):
        model = self.path("m.kith")
        self.ok("train", *sources, "-o", model, *SAME, **options)
        self.path("m.schema.json").unlink()
        return model.read_bytes()

    def lists(self):
        """The table with lists where the text has separators, numbers and null."""
        out = []
        for row in self.rows:
            new = {k: v if v else None for k, v in row.items()}
            new["year"] = int(row["year"]) if row["year"] else None
            for name in ("genres", "cast"):
                new[name] = row[name].split("|") if row[name] else None
            out.append(new)
        return out

    def answers(self, *sources, **options):
        """For sources of lists, whose schema has another separator: what the model says."""
        data = self.trained(*sources, **options)
        self.write("a.kith", data)
        told = [self.ok("near", self.path("a.kith"), query, "--top", 5, "--json").json["neighbours"]
                for query in ("director=Director 10", "cast=Actor 205", "genres=Genre00")]
        asked = ["--target", "director", "cast=Actor 003", "year=1960"]
        predicted = self.ok("predict", self.path("a.kith"), *asked, "--json").json["predictions"]
        return [*told, predicted]

    def expect_same_answers(self, *sources, **options):
        told = self.answers(*sources, **options)
        self.assertEqual(told, self.answers(self.path("films.csv")))


class Sources(SameTable):
    def test_tabs(self):
        file = self.write("films.tsv", films.as_csv(self.rows, "\t"))
        self.assertEqual(self.trained(file), self.expected)

    def test_other_delimiters_are_found(self):
        file = self.write("films.csv", films.as_csv(self.rows, ";"))
        self.assertEqual(self.trained(file), self.expected)

    def test_gzip_and_zstd(self):
        file = self.write("films.csv.gz", gzip.compress(self.csv))
        self.assertEqual(self.trained(file), self.expected)
        packed = subprocess.run(["zstd", "-qc"], input=self.csv, capture_output=True, check=True)
        file = self.write("films.csv.zst", packed.stdout)
        self.assertEqual(self.trained(file), self.expected)

    def test_xz_and_bzip2(self):
        for name, pack in (("films.csv.xz", lzma.compress), ("films.csv.bz2", bz2.compress)):
            file = self.write(name, pack(self.csv[:5000]) + pack(self.csv[5000:]))
            self.assertEqual(self.trained(file), self.expected)
            self.refused("train", self.write(name, pack(self.csv)[:-20]), "-o", self.path("x.kith"),
                         says=[name, "cut off"])

    def test_archives_are_refused_with_the_command_that_unpacks_them(self):
        with zipfile.ZipFile(self.path("films.zip"), "w") as archive:
            archive.write(self.path("films.csv"), "films.csv")
        for command in (["train"], ["train", "feat2vec"], ["train", "als"], ["train", "word2vec"]):
            self.refused(*command, self.path("films.zip"), "-o", self.path("x.kith"),
                         says=["zip archive", f"unzip {self.path('films.zip')}"])
        self.refused("train", "feat2vec", "-", "-o", self.path("x.kith"), says="unzip FILE",
                     stdin=self.path("films.zip").read_bytes())
        self.refused("train", self.write("t.parquet", b"PAR1\x15\x04" + bytes(100)), "-o",
                     self.path("x.kith"), says=["Parquet", "read_parquet"])

    def test_other_encodings_are_the_same_table(self):
        for row in self.rows:
            row["director"] = row["director"].replace("Director 1", "Andr\u00e9 \u20ac")
        text = films.as_csv(self.rows)
        plain = self.trained(self.write("films.csv", text))
        for name, flags in (("utf-16", []), ("utf-16-le", ["--encoding", "utf-16"]),
                            ("utf-16-be", ["--encoding", "utf-16"]), ("utf-8-sig", []),
                            ("cp1252", ["--encoding", "windows-1252"])):
            told = self.answered(self.write("films.csv", text.encode(name)), *flags)
            self.assertEqual(told, self.answered(self.write("films.csv", text)), name)
        self.assertNotEqual(plain, self.expected)

    def answered(self, *source):
        model = self.path("e.kith")
        self.ok("train", *source, "-o", model, *SAME)
        self.path("e.schema.json").unlink()
        return self.ok("near", model, "director=Andr\u00e9 \u20ac0", "--json").json["neighbours"]

    def test_what_is_not_utf8_is_counted_and_told(self):
        bad = self.csv.replace(b"Director 10", b"Ren\xe9e")
        rows = bad.count(b"Ren\xe9e")
        file, model = self.write("films.csv", bad), self.path("m.kith")
        told = self.ok("train", file, "-o", model, *SAME[:-1]).err
        self.assertIn(f"{rows} rows with bytes that are not UTF-8, which became U+FFFD", told)
        self.assertIn("--encoding latin-1", told)
        self.ok("near", model, "director=Ren\ufffde")
        told = self.ok("predict", model, file, "--target", "director").err
        self.assertIn(f"{rows} rows with bytes", told)
        self.ok("train", file, "-o", model, *SAME, "--encoding", "latin-1")
        self.ok("near", model, "director=Ren\u00e9e")
        # Questions read files of their own, and are told what these are.
        out = self.ok("predict", model, file, "--target", "year", "--encoding", "latin-1")
        self.assertIn("Ren\u00e9e", out.out)
        self.assertNotIn("UTF-8", out.err)

    def test_the_encoding_is_remembered_by_a_run_that_goes_on(self):
        file = self.write("films.csv", self.csv.replace(b"Director 10", b"Ren\xe9e"))
        model = self.path("m.kith")
        self.ok("train", file, "-o", model, *SAME, "--encoding", "latin-1", "--bad-rows", "skip")
        self.ok("train", file, "--from", model, "-o", self.path("n.kith"), "--quiet")
        self.ok("near", self.path("n.kith"), "director=Ren\u00e9e")
        self.refused("near", self.path("n.kith"), "director=Ren\ufffde", says="no value")

    def test_bad_rows(self):
        lines = self.csv.decode().split("\n")
        bad = "\n".join([*lines[:3], "too,few", *lines[3:20], 'a "b" c,"x"y,1,2,3,4,5',
                         *lines[20:-1], 'tt9,"never closed', ""])
        file = self.write("films.csv", bad)
        self.refused("train", file, "-o", self.path("x.kith"), says="films.csv:4: found 2 cells")
        self.assertEqual(self.answers_of(file), self.answers_of(self.write("good.csv", self.csv)))
        told = self.ok("train", file, "--bad-rows", "skip", "-o", self.path("m.kith"), *SAME[:-1])
        said = f"3 rows could not be read and were skipped; the first: {file}:4: found 2 cells"
        self.assertIn(said, told.err)
        asked = ["--target", "director", "--bad-rows", "skip"]
        predicted = self.ok("predict", self.path("m.kith"), file, *asked)
        self.assertIn(said, predicted.err)
        alone = self.ok("predict", self.path("m.kith"), self.path("good.csv"), *asked[:2])
        without_numbers = [[line.split(",", 1)[1] for line in run.out.splitlines()]
                           for run in (predicted, alone)]
        self.assertEqual(*without_numbers)
        # Of the lines in front of the second one that is bad, two are one row.
        numbers = [n for n in range(1, len(self.rows) + 3) if n not in (3, 20)]
        rows = self.ok("predict", self.path("m.kith"), file, *asked, "--json").json_lines
        self.assertEqual([row["row"] for row in rows], numbers)
        self.ok("embed", self.path("m.kith"), file, "--bad-rows", "skip", "-o", self.path("v.jsonl"))
        rows = [json.loads(row) for row in self.path("v.jsonl").read_text().splitlines()]
        self.assertEqual([(row["row"], row["id"]) for row in rows], [(n, str(n)) for n in numbers])
        odd = self.ok("score", self.path("m.kith"), file, "--bad-rows", "skip", "--all", "--json")
        self.assertEqual([row["row"] for row in odd.json_lines], numbers)
        for command in (["eval", self.path("m.kith"), file, *asked],
                        ["update", self.path("m.kith"), file, "-o", self.path("u.kith"),
                         "--bad-rows", "skip"],
                        ["score", self.path("m.kith"), file, "--bad-rows", "skip"]):
            self.assertIn(said, self.ok(*command).err)
            self.refused(*(flag for flag in command if flag not in ("--bad-rows", "skip")),
                         says="films.csv:4")

    def answers_of(self, file):
        self.ok("train", file, "--bad-rows", "skip", "-o", self.path("m.kith"), *SAME)
        self.path("m.schema.json").unlink()
        return self.ok("near", self.path("m.kith"), "director=Director 10", "--json").json

    def test_more_bad_rows_than_good_ones(self):
        file = self.write("films.csv", self.csv + b"x\n" * 401)
        self.refused("train", file, "--bad-rows", "skip", "-o", self.path("x.kith"),
                     says=["401 of 801 rows", "more than half", "films.csv:40"])
        self.assertFalse(self.path("x.kith").exists())

    def test_bad_ratings(self):
        good = "user,item,rating\n" + "".join(
            f"u{u},i{i},{1 + (u * i) % 5}\n" for u in range(12) for i in range(12) if (u + i) % 3)
        bad = good.replace("u3,i5,", "u3,i5,lots;").replace("\nu7,i1,", "\nu7\nu7,i1,")
        file, other = self.write("r.csv", bad), self.write("g.csv", good.replace("u3,i5,1\n", ""))
        model, same = self.path("r.kith"), self.path("g.kith")
        self.refused("train", "als", file, "-o", model, says="r.csv")
        told = self.ok("train", "als", file, "-o", model, "--bad-rows", "skip", "--dim", 3).err
        self.assertIn("2 rows could not be read and were skipped", told)
        self.ok("train", "als", other, "-o", same, "--dim", 3)
        pair = ["user=u3", "item=i4"]
        self.assertEqual(self.ok("predict", model, *pair).out, self.ok("predict", same, *pair).out)
        for command in (["eval", model, file], ["predict", model, file], ["eval", "als", file],
                        ["update", model, file, "-o", self.path("u.kith")]):
            self.assertIn("skipped; the first", self.ok(*command, "--bad-rows", "skip").err)

    def test_titles_in_latin1(self):
        ratings = "".join(f"u{u},i{i},{1 + (u * i) % 5}\n" for u in range(9) for i in range(9))
        model = self.path("r.kith")
        self.ok("train", "als", self.write("r.csv", "user,item,rating\n" + ratings), "-o", model,
                "--dim", 2, "--quiet")
        names = self.write("n.csv", b"item,title\n" + b"".join(b"i%d,Caf\xe9 %d\n" % (i, i)
                                                               for i in range(9)))
        asked = ["near", model, "item=i1", "--names", names]
        told = self.ok(*asked)
        self.assertIn("Caf\ufffd 2", told.out)
        self.assertIn("9 rows with bytes that are not UTF-8", told.err)
        told = self.ok(*asked, "--encoding", "latin-1")
        self.assertIn("Caf\u00e9 2", told.out)
        self.assertEqual(told.err, "")

    def test_table_from_standard_input(self):
        for data in (self.csv, gzip.compress(self.csv)):
            self.assertEqual(self.trained("feat2vec", "-", stdin=data), self.expected)

    def test_a_pipe(self):
        pipe = self.path("films.csv.pipe")
        os.mkfifo(pipe)
        writer = subprocess.Popen(["cp", self.path("films.csv"), pipe])
        self.addCleanup(writer.wait)
        self.assertEqual(self.trained("feat2vec", pipe), self.expected)

    def test_several_files_are_one_table(self):
        first = self.write("1.csv", films.as_csv(self.rows[:150]))
        # Columns may stand in another order.
        turned = [dict(reversed(row.items())) for row in self.rows[150:]]
        second = self.write("2.csv", films.as_csv(turned))
        self.assertEqual(self.trained(first, second), self.expected)

    def test_windows_line_ends_and_byte_order_mark(self):
        rows = [dict(row) for row in self.rows]
        rows[9]["title"] = "one line"
        plain = self.trained(self.write("films.csv", films.as_csv(rows)))
        dos = b"\xef\xbb\xbf" + films.as_csv(rows).replace("\n", "\r\n").encode()
        self.assertEqual(self.trained(self.write("films.csv", dos)), plain)

    def test_json_lines(self):
        lines = "".join(json.dumps({k: v or None for k, v in row.items()}) + "\n"
                        for row in self.rows)
        self.assertEqual(self.trained(self.write("films.jsonl", lines)), self.expected)
        lines = "".join(json.dumps(row) + "\n" for row in self.lists())
        self.expect_same_answers(self.write("films.jsonl", lines))

    def test_json_array(self):
        file = self.write("films.json", json.dumps(self.rows, indent=2))
        self.assertEqual(self.trained(file), self.expected)
        self.expect_same_answers(self.write("films.json", json.dumps(self.lists())))

    def test_sqlite(self):
        file = self.path("films.db")
        with contextlib.closing(sqlite3.connect(file)) as base, base:
            base.execute("CREATE TABLE films(film_id TEXT, title TEXT, year INTEGER, genres TEXT, "
                         "\"cast\" TEXT, director TEXT, country TEXT)")
            base.executemany("INSERT INTO films VALUES(?, ?, ?, ?, ?, ?, ?)",
                             [[v or None for v in row.values()] for row in self.rows])
        self.assertEqual(self.trained(file), self.expected)
        model = self.path("q.kith")
        for query in ("films", "SELECT * FROM films ORDER BY film_id"):
            self.ok("train", file, "--query", query, "-o", model, *SAME)
            self.ok("near", model, "director=Director 10")
        told = self.ok("score", model, file, "--query", "films", "--top", 1, "--json").json
        self.assertIn("director x cast", " ".join(told["pairs"]).replace("cast x director",
                                                                         "director x cast"))


class Postgres(SameTable):
    """The same from a real server, started in a folder of its own and reached by a socket there."""

    def setUp(self):
        versions = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not versions or (os.geteuid() == 0 and not shutil.which("runuser")):
            raise unittest.SkipTest("there is no PostgreSQL server here")
        super().setUp()
        self.programs = versions[-1].parent
        # Not in the test's folder: the name of a socket may have 107 bytes only.
        self.server = pathlib.Path(tempfile.mkdtemp(prefix="kith-pg-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.server, ignore_errors=True)
        if os.geteuid() == 0:  # the server refuses to be root
            shutil.chown(self.server, "postgres")
        self.as_server("initdb", "-D", self.server / "data", "-A", "trust", "-U", "kith", "-E",
                       "UTF8", "--no-locale", "--no-sync")
        self.as_server("pg_ctl", "start", "-w", "-D", self.server / "data", "-l",
                       self.server / "log", "-o",
                       f"-k {self.server} -c listen_addresses= -c fsync=off")
        self.addCleanup(self.stop)
        self.address = f"postgresql://kith:s3cret@/postgres?host={self.server}"

    def as_server(self, program, *args):
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        # Output to a file: a server that inherits a pipe would keep it open.
        with open(self.path("server.txt"), "w") as out:
            subprocess.run([*user, self.programs / program, *args], check=True, cwd="/", stdout=out,
                           stderr=out, stdin=subprocess.DEVNULL)

    def stop(self):
        with contextlib.suppress(subprocess.CalledProcessError):  # stopped already
            self.as_server("pg_ctl", "stop", "-m", "immediate", "-D", self.server / "data")

    def execute(self, sql, stdin=""):
        return subprocess.run([self.programs / "psql", "-qXAt", "-v", "ON_ERROR_STOP=1",
                               self.address, "-c", sql], input=stdin, text=True, check=True,
                              capture_output=True).stdout

    def test_postgresql(self):
        self.execute('CREATE TABLE films(film_id text, title text, year int, genres text, '
                     '"cast" text, director text, country text)')
        self.execute("COPY films FROM STDIN WITH (FORMAT csv, HEADER)", self.csv.decode())
        # The server puts a short row wherever it finds room; this brings them back into order.
        self.execute("CREATE INDEX by_id ON films(film_id); CLUSTER films USING by_id")
        self.assertEqual(self.trained(self.address), self.expected)
        self.execute('CREATE VIEW listed AS SELECT film_id, title, year, '
                     'string_to_array(genres, \'|\') AS genres, string_to_array("cast", \'|\') AS '
                     '"cast", director, country FROM films')
        self.execute("ALTER TABLE films RENAME TO others")
        model = self.path("m.kith")
        self.ok("train", self.address, "--query", "listed", "-o", model, *SAME)
        self.path("m.schema.json").unlink()
        near = self.ok("near", model, "cast=Actor 205", "--top", 3, "--json").json["neighbours"]
        self.assertEqual(near, self.answers(self.path("films.csv"))[1][:3])

    def test_ratings_are_seen_by_their_columns(self):
        self.execute("CREATE TABLE seen AS SELECT 'u' || n % 20 AS \"user\", 'f' || n % 9 AS film, "
                     "n % 5 AS rating FROM generate_series(1, 180) n")
        for source in (["--query", "seen"], ["--query", "SELECT * FROM seen"]):
            told = self.ok("train", self.address, *source, "-o", self.path("m.kith"))
            self.assertIn("ratings (columns user, film and rating), so the model is als", told.err)

    def test_a_column_as_text(self):
        text = kith.two_topics(300)
        self.execute("CREATE TABLE notes(n serial PRIMARY KEY, body text)")
        self.execute("COPY notes(body) FROM STDIN", text)
        models = []
        for name, source in (("a", [self.write("t.txt", text)]),
                             ("b", [self.address, "--query", "notes", "--column", "body"]),
                             ("c", [self.address, "--column", "body", "--query",
                                    "SELECT body FROM notes ORDER BY n"])):
            self.ok("train", "word2vec", *source, "-o", self.path(name), "--threads", 1, "--dim", 8)
            self.ok("export", self.path(name), "--to", "csv", "-o", self.path("v.csv"))
            models.append(self.path("v.csv").read_bytes())
        self.assertEqual(models[1], models[0])
        self.assertEqual(models[2], models[0])
        self.refused("train", "word2vec", self.address, "-o", self.path("x"), code=kith.BAD_USAGE,
                     says=["a database and has no lines of text", "--column"])

    def test_postgresql_refuses(self):
        model = self.write("m.kith", "before")
        self.execute("CREATE TABLE a(x int); CREATE TABLE b(x int)")
        train = ["train", self.address, "-o", model, *SAME]
        for flags, says in (([], ["2 tables", "--query"]), (["--query", "c"], "no table c"),
                            (["--query", "SELECT y FROM a"], 'column "y" does not exist'),
                            (["--query", "a"], "no rows")):
            result = self.refused(*train, *flags, says=says)
            self.assertNotIn("s3cret", result.err)
        self.assertEqual(model.read_text(), "before")

    def test_a_server_that_stops_in_the_middle(self):
        # So many rows that it cannot be done before the server is.
        query = ("SELECT i % 1000 AS a, i % 7 AS b, repeat('x', 100) || i AS c "
                 "FROM (SELECT generate_series(1, 100000000) AS i) AS numbers")
        process = kith.start("train", self.address, "--query", query, "-o", self.path("x.kith"),
                             "--quiet", "--types", "c=ignore")
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        asked = ("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND "
                 "query LIKE '%numbers' AND pid <> pg_backend_pid()")
        deadline = time.monotonic() + 30
        while self.execute(asked).strip() == "0":
            self.assertLess(time.monotonic(), deadline, "it never asked the server")
        time.sleep(0.3)
        self.assertIsNone(process.poll(), "it reads")
        self.stop()
        message = process.stderr.read().decode()
        self.assertEqual(process.wait(), kith.BAD_INPUT, message)
        self.assertRegex(message, r"^kith: .*the connection was lost after row \d+")
        self.assertNotIn("s3cret", message)
        self.assertEqual(len(message.splitlines()), 1, message)
        self.assertFalse(self.path("x.kith").exists())


if __name__ == "__main__":
    kith.main()
