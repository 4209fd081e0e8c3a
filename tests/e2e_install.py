# SPDX-License-Identifier: Apache-2.0
"""What an installed Kith gives: a program, a library that other programs find and use, its pages."""
import os
import pathlib
import random
import re
import subprocess
import unittest

import kith

BUILD = os.environ.get("KITH_BUILD", "build/release")
CMAKE = os.environ.get("CMAKE", "cmake")
DYNAMIC = os.environ.get("KITH_DYNAMIC", f"{BUILD}/kith_dynamic")
VERSION = re.search(r"^project\(kith VERSION (\S+)", (kith.SOURCE / "CMakeLists.txt").read_text(),
                    re.M)[1]


@unittest.skipIf(kith.SANITIZED, "a library with sanitizers is not for installing")
class Installed(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.prefix = self.path("prefix")
        self.shell(CMAKE, "--install", BUILD, "--prefix", self.prefix)
        self.library, = self.prefix.glob("lib*/**/libkith.so")
        self.environment = dict(os.environ, LD_LIBRARY_PATH=str(self.library.parent),
                                PKG_CONFIG_PATH=str(self.library.parent / "pkgconfig"))

    def shell(self, *command, ok=True, cwd=None, env=None):
        done = subprocess.run([*map(str, command)], cwd=cwd or self.folder, text=True, check=False,
                              capture_output=True, env=env or os.environ)
        self.assertEqual(done.returncode == 0, ok, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def example(self, name, *arguments):
        return self.shell(self.path("built") / name, *arguments, env=self.environment)

    def test_examples_use_it_through_cmake(self):
        self.shell(CMAKE, "-S", kith.SOURCE / "examples", "-B", self.path("built"),
                   f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        self.shell(CMAKE, "--build", self.path("built"), "-j2")
        for source in (kith.SOURCE / "examples").glob("*.cc"):
            self.assertLess(len(source.read_text().splitlines()), 60, source.name)

        rng = random.Random(1)
        # Two topics: a word is like the others of its own.
        topics = ("sea wave sail ship salt".split(), "hill rock path peak snow".split())
        text = self.write("text.txt", "".join(
            " ".join(rng.choices(topics[i % 2], k=8)) + "\n" for i in range(3000)))
        out = self.example("text", text, "wave", "rock", "nothing")
        self.assertIn("epoch 3 of 3", out)
        for query, topic in (("wave", topics[0]), ("rock", topics[1])):
            found = re.search(rf"^{query}:(.*)$", out, re.M)[1]
            self.assertTrue(set(re.findall(r"[a-z]+", found)) <= set(topic), out)
        self.assertIn("nothing", out.splitlines()[-1])

        # A city has one country, but for one row.
        places = {"Rome": "Italy", "Bari": "Italy", "Lyon": "France", "Nice": "France"}
        rows = [(c, places[c], rng.choice("ab")) for c in rng.choices([*places], k=2000)]
        rows[123] = ("Rome", "France", "a")
        table = self.write("table.csv", "city,country,kind\n" + "".join(
            ",".join(r) + "\n" for r in rows))
        out = self.example("table", table, "country", "city=Lyon")
        self.assertIn("feat2vec learns from a table", out)
        self.assertRegex(out, r"country: France, with probability (1|0\.[5-9])")
        self.assertIn("table.csv:125,", out.split("oddest")[1].splitlines()[1])  # 1 for the header

        # Half the users like the even items.
        ratings = self.write("ratings.csv", "user,item,rating\n" + "".join(
            f"u{u},i{i},{5 if (u + i) % 2 == 0 else 1}\n"
            for u in range(60) for i in range(30) if rng.random() < 0.5))
        out = self.example("ratings", ratings, "u2", "i1=5", "i2=1")
        ours, simple = (float(re.search(rf"^{way}: error ([0-9.]+)", out, re.M)[1])
                        for way in ("model", "biases"))
        self.assertLess(ours, simple / 2)
        for whom, parity in (("u2", 0), ("somebody new", 1)):
            items = re.findall(r"i([0-9]+) ", re.search(rf"^{whom}:(.*)$", out, re.M)[1])
            self.assertEqual({int(i) % 2 for i in items}, {parity}, out)

        self.assertIn("usage", self.shell(self.path("built") / "text", ok=False,
                                          env=self.environment))
        self.assertIn("none.txt", self.shell(self.path("built") / "text", "none.txt", "a", ok=False,
                                             env=self.environment))

    def test_pkg_config_knows_it(self):
        flags = self.shell("pkg-config", "--cflags", "--libs", "kith", env=self.environment).split()
        self.shell("c++", kith.SOURCE / "examples" / "text.cc", *flags, "-o", self.path("text"))
        self.assertIn("usage", self.shell(self.path("text"), ok=False, env=self.environment))
        self.assertEqual(self.shell("pkg-config", "--modversion", "kith",
                                    env=self.environment).strip(), VERSION)

    def test_another_version_is_refused(self):
        for version, fits in (("0.2", True), (VERSION, True), ("0.1", False), ("0.3", False),
                              ("1.0", False)):
            folder = self.path(version)
            folder.mkdir()
            (folder / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES CXX)\n"
                f"find_package(Kith {version} REQUIRED)\n")
            self.shell(CMAKE, "-S", folder, "-B", folder / "b",
                       f"-DCMAKE_PREFIX_PATH={self.prefix}", ok=fits)

    def test_only_what_the_headers_declare_is_visible(self):
        symbols = self.shell("nm", "-D", "--defined-only", self.library).splitlines()
        self.assertGreater(len(symbols), 100)
        headers = "".join(p.read_text() for p in (self.prefix / "include" / "kith").glob("*.h"))
        for symbol in symbols:
            # A function, a type or a table of it, mangled: what comes after kith:: is its name.
            found = re.search(r" _Z(T[ISV])?NK?4kith(\d+)(\w+)$", symbol)
            self.assertTrue(found, symbol)
            self.assertRegex(headers, rf"\b{found[3][:int(found[2])]}\b", symbol)

    def test_everything_has_its_place(self):
        told = self.shell(self.prefix / "bin" / "kith", "--version")
        self.assertEqual(told.splitlines()[0], f"kith {VERSION}")
        share = self.prefix / "share"
        for path, part in ((share / "man/man1/kith.1", ".SH NAME"),
                           (share / "bash-completion/completions/kith", "complete "),
                           (share / "zsh/vendor-completions/_kith", "#compdef kith"),
                           (share / "fish/vendor_completions.d/kith.fish", "complete -c kith"),
                           (self.prefix / "include/kith/version.h", VERSION),
                           (share / "doc/kith/LICENSE", "Apache")):
            self.assertIn(part, path.read_text(), path)
        for header in (kith.SOURCE / "include" / "kith").glob("*.h"):
            self.assertTrue((self.prefix / "include" / "kith" / header.name).exists(), header.name)

    def test_each_header_stands_alone(self):
        # A source file begins with its header, which shows it for most of them.
        shown = {m[1] for p in (kith.SOURCE / "src").rglob("*.cc")
                 if (m := re.search(r'^#include ["<](?:kith/(\w+\.h))?', p.read_text(), re.M))}
        headers = {p.name for p in (self.prefix / "include" / "kith").glob("*.h")} - shown
        for header in sorted(headers):
            self.write("alone.cc", f"#include <kith/{header}>\n")
            self.shell("c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                       f"-I{self.prefix}/include", self.path("alone.cc"))

    def test_code_in_the_documents_compiles(self):
        text = (kith.SOURCE / "docs" / "library.md").read_text()
        blocks = re.findall(r"^```cpp\n(.*?)^```$", text, re.M | re.S)
        self.assertGreater(len(blocks), 3)
        self.write("code.cc", "#include <kith/kith.h>\n#include <cstdio>\n" + "".join(
            f"void block{i}() {{\n{code}}}\n" for i, code in enumerate(blocks)))
        self.shell("c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                   f"-I{self.prefix}/include", self.path("code.cc"))

    def test_a_debian_package_holds_it(self):
        self.shell(pathlib.Path(CMAKE).with_name("cpack"), "--config", f"{BUILD}/CPackConfig.cmake",
                   "-B", self.path("package"))
        package, = self.path("package").glob("*.deb")
        self.assertRegex(package.name, rf"^kith_{VERSION}_\w+\.deb$")
        listed = self.shell("dpkg-deb", "-c", package)
        for part in ("usr/bin/kith", "libkith.so.0.2", "usr/include/kith/kith.h",
                     "man1/kith.1", "bash-completion/completions/kith", "KithConfig.cmake"):
            self.assertIn(part, listed)
        self.assertIn("libzstd", self.shell("dpkg-deb", "-f", package, "Depends"))


class Built(kith.TestCase):
    def test_the_program_needs_no_more_than_the_library_gives(self):
        run = subprocess.run([DYNAMIC, "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(run.stdout.splitlines()[0], f"kith {VERSION}")
        text = self.write("text.txt", "a b a c\n" * 300)
        subprocess.run([DYNAMIC, "train", text, "-o", self.path("m.kith"), "--dim", "4", "-q"],
                       check=True)
        # Errors cross its border with their type: the exit code is the one of bad input.
        done = subprocess.run([DYNAMIC, "near", self.path("m.kith"), "zebra"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, kith.BAD_INPUT)
        self.assertIn("kith: zebra is not in the vocabulary", done.stderr)

    @unittest.skipIf(kith.SANITIZED, "the same whatever the flags")
    def test_a_plain_configure_is_optimised_and_parts_can_be_left_out(self):
        def configured(*options):
            folder = self.path("b" + str(len(options)))
            subprocess.run([CMAKE, "-S", str(kith.SOURCE), "-B", str(folder), "-G", "Ninja",
                            *options], check=True, capture_output=True)
            return folder
        plain = configured()
        self.assertIn("CMAKE_BUILD_TYPE:STRING=Release\n", (plain / "CMakeCache.txt").read_text())
        parts = configured(*(f"-DKITH_{part}=OFF" for part in ("SQLITE", "POSTGRES", "TESTS",
                                                                "BENCH")))
        full, lean = ((b / "build.ninja").read_text() for b in (plain, parts))
        for part in ("sqlite_reader.cc", "postgres_reader.cc", "core_test", "bench_peak", "-lpq",
                     "libsqlite3"):
            self.assertRegex(full, re.escape(part).replace("\\-lpq", "(-lpq|libpq)"))
            self.assertNotRegex(lean, re.escape(part).replace("\\-lpq", "(-lpq|libpq)"))
        objects = [f"CMakeFiles/kith_data.dir/src/data/table/{name}.cc.o"
                   for name in ("missing_readers", "table_reader")]
        subprocess.run([CMAKE, "--build", str(parts), "--target", *objects], check=True,
                       capture_output=True)

    def test_the_version_stands_in_one_place(self):
        holders = [p for folder in ("include", "src", "cli", "cmake", "tools", "Makefile")
                   for p in [kith.SOURCE / folder, *(kith.SOURCE / folder).rglob("*")]
                   if p.is_file() and VERSION in p.read_text(errors="replace")]
        self.assertEqual(holders, [])


if __name__ == "__main__":
    kith.main()
