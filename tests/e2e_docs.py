# SPDX-License-Identifier: Apache-2.0
"""The documents are true: their flags and links exist, their commands are tested (run_page.py), and
help is complete.
"""
import re
import subprocess
import unittest

import kith
from pages import FENCE, not_printed, script_of, shown_outputs


def documents():
    found = [kith.SOURCE / "README.md", *sorted((kith.SOURCE / "docs").glob("**/*.md")),
             *sorted((kith.SOURCE / "src").glob("**/*.md")), kith.SOURCE / "CONTRIBUTING.md",
             kith.SOURCE / "DESIGN.md"]
    return [p for p in found if p.exists()]


def limited_documents():
    """Those whose lines have a limit."""
    found = [kith.SOURCE / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md")]
    for pattern in ("docs/**/*.md", "src/models/*/README.md", "bench/*.md"):
        found += sorted(kith.SOURCE.glob(pattern))
    return [p for p in found if p.exists()]


class Documents(kith.TestCase):
    def test_each_page_with_commands_is_a_test(self):
        tests = (kith.BUILD / "CTestTestfile.cmake").read_text(encoding="utf-8")
        with_commands = [p for p in documents() if script_of(p.read_text(encoding="utf-8"))[1]]
        self.assertGreater(len(with_commands), 10)
        for path in with_commands:
            self.assertIn(f"page.{path.relative_to(kith.SOURCE)}", tests)

    def test_lines_are_short(self):
        for path in limited_documents():
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                self.assertLessEqual(len(line), 120, f"{path.relative_to(kith.SOURCE)}:{number}")
        readme = (kith.SOURCE / "README.md").read_text(encoding="utf-8")
        self.assertLessEqual(len(readme.splitlines()), 110, "README.md is a first page")

    def test_flags_in_tables_exist(self):
        known = set(flags_of(all_help()))
        for path in documents():
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if not line.startswith("|"):
                    continue
                for flag in re.findall(r"`(--[a-z0-9][a-z0-9-]*)", line):
                    self.assertIn(flag, known, f"{path.relative_to(kith.SOURCE)}:{number}")

    def test_flags_in_commands_exist(self):
        # Every `kith ...` line in any block, run or not; one that is shown to fail may be wrong.
        known = set(flags_of(all_help()))
        for path in documents():
            for m in FENCE.finditer(path.read_text(encoding="utf-8")):
                for line in m["body"].splitlines():
                    if re.match(r"\s*(\$ )?kith ", line) and '|| echo "exit' not in line:
                        for flag in flags_of(line.split(" #")[0]):
                            self.assertIn(flag, known, f"{path.relative_to(kith.SOURCE)}: {line}")

    def test_links_lead_somewhere(self):
        for path in documents():
            text = FENCE.sub("", path.read_text(encoding="utf-8"))
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                if "://" in target or target.startswith("mailto:"):
                    continue
                self.assertTrue((path.parent / target).exists(),
                                f"{path.relative_to(kith.SOURCE)}: {target}")

    def test_the_convention_itself(self):
        text = ("# x\n```toml file=run.toml\ndim = 3\n```\n```sh\nfalse\n```\n```sh run\n"
                "test \"$(cat run.toml)\" = 'dim = 3'\nX=1\n```\n\n```sh run\ntest $X = 1\n```\n")
        script, blocks = script_of(text)
        self.assertEqual(blocks, 2)
        self.assertEqual(subprocess.run(["bash", "-c", script], cwd=self.folder, check=False,
                                        capture_output=True).returncode, 0)
        script, _ = script_of("```sh run\nfalse\ntrue\n```\n")
        self.assertNotEqual(subprocess.run(["bash", "-c", script], cwd=self.folder, check=False,
                                           capture_output=True).returncode, 0)

    def test_the_convention_of_outputs(self):
        text = ("```sh run\necho one 1.5\nX=2\n```\n\n```text output\none 7\n```\n"
                "```sh run\necho two $X >&2\n```\nwords\n```text output\n...\n```\n")
        outputs = self.path("out")
        outputs.mkdir()
        script, _ = script_of(text, outputs)
        self.assertEqual(subprocess.run(["bash", "-c", script], cwd=self.folder, check=False,
                                        capture_output=True).returncode, 0)
        self.assertEqual((outputs / "1").read_text(), "one 1.5\n")
        self.assertEqual((outputs / "2").read_text(), "two 2\n", "what a block sets stays")
        self.assertEqual([block for _, block, _ in shown_outputs(text)], [1, None])
        # Blocks of another kind are left to those who ask for them.
        data = text.replace("sh run", "sh data", 1)
        self.assertEqual(script_of(data)[1], 1)
        self.assertEqual(script_of(data, kind="data")[1], 1)
        self.assertEqual([block for _, block, _ in shown_outputs(data, "data")], [1, None])
        printed = ("  a is near b, c\ncello  0.777\nread 7.5 MB in 0.1 s: all of it\n"
                   "  epoch 1/5  21 k rows/s\nat 5 %\rdone: 0123456789abcdef\nkith: no such file\n")
        for shown in ("viola 0.81", "...", "read 99 kB in 3.2 s: ...", "epoch 2/40  1.9 M rows/s",
                      "done: fedcba9876543210", "kith: no such file", "b is near a"):
            self.assertEqual(not_printed(shown, printed), [], shown)
        for shown in ("viola 0.81 %", "kith: no such folder", "write 7.5 MB ...", "at 5 %"):
            self.assertEqual(not_printed(shown, printed), [shown])


def flags_of(text):
    """The --names in a text, each with its --no- form."""
    for name in re.findall(r"(?<![\w-])--([a-z0-9][a-z0-9-]*)", text.replace("\\-", "-").replace("--[no-]", "--")):
        yield "--" + name


def all_help():
    parts = [kith.run("help").out]
    for command in commands():
        parts.append(kith.run(command, "--help").out)
    for model in models():
        parts.append(kith.run("train", model, "--help").out)
    text = "\n".join(parts)
    # A switch can be turned off again.
    return text + " ".join(flag.replace("--", "--no-", 1) for flag in flags_of(text)) + " --help"


def commands():
    return sorted(set(re.findall(r"^ +(?:kith )?([a-z-]+)  +\S", kith.run("help").out, re.M)))


def models():
    return sorted(set(re.findall(r"^ *([a-z0-9]+)  +\S", kith.run("models").out, re.M)))


class Help(kith.TestCase):
    def test_overview_names_every_command(self):
        out = self.ok("help").out
        for command in ("train", "near", "analogy", "similarity", "odd", "eval", "export", "import",
                        "compress", "info", "models", "demo"):
            self.assertIn(command, out)
        self.assertLessEqual(len(out.splitlines()), 40, "help fits a screen")

    def test_each_command_shows_three_examples(self):
        for command in ("train", "near", "analogy", "similarity", "odd", "eval", "export", "import",
                        "compress", "info", "models", "demo"):
            out = self.ok(command, "--help").out
            examples = out[out.index("Examples"):].split("\n\n")[0].splitlines()[1:]
            self.assertEqual(len(examples), 3, out)
            self.assertTrue(all("kith " in line for line in examples), out)
            self.assertEqual(self.ok("help", command).out, out)

    def test_help_of_a_model_lists_its_settings(self):
        out = self.ok("train", "word2vec", "--help").out
        for flag in ("--objective", "--dim", "--window", "--negatives", "--sample", "--min-count",
                     "--max-vocab", "--epochs", "--lr", "--seed", "--threads", "--deterministic",
                     "--resume", "--checkpoint-every", "--config", "--quiet", "--json",
                     "--max-memory", "--output"):
            self.assertIn(flag, out)

    def test_man_page(self):
        page = self.ok("help", "man").out
        self.assertTrue(page.startswith(".TH"), page[:200])
        for section in ("NAME", "SYNOPSIS", "EXIT STATUS"):
            self.assertRegex(page, rf'(?m)^\.SH "?{section}')
        flags = set(flags_of(page))
        for flag in flags_of(self.ok("train", "word2vec", "--help").out):
            self.assertIn(flag, flags | {"--help", "--no-"}, "the man page has all flags")

    def test_completion(self):
        script = self.ok("help", "completion", "bash").out
        file = self.write("kith.bash", script)
        check = subprocess.run(["bash", "-n", file], capture_output=True, check=False)
        self.assertEqual(check.returncode, 0, check.stderr)
        # Ask bash itself what it would offer.
        for line, expected in (("kith tr", "train"), ("kith near m.kith --to", "--top"),
                               ("kith train word2vec --obj", "--objective"),
                               ("kith train --objective cb", "cbow"),
                               ("kith train word2vec --objective cb", "cbow"),
                               ("kith train mf --no-ad", "--no-adapt"),
                               ("kith tune als --pen", "--penalty")):
            words = line.split()
            probe = (f"source '{file}'; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
                     "function=$(complete -p kith | sed -E 's/.*-F ([^ ]+).*/\\1/'); "
                     f"$function kith {words[-1]} {words[-2]}; echo \"${{COMPREPLY[@]}}\"")
            done = subprocess.run(["bash", "-c", probe], capture_output=True, text=True,
                                  check=False)
            self.assertIn(expected, done.stdout.split(), done.stderr)
            # A model is offered its own flags only.
            if "word2vec" in line:
                self.assertNotIn("--penalty", done.stdout.split())

    def test_completion_for_other_shells(self):
        for shell in ("zsh", "fish"):
            script = self.ok("help", "completion", shell).out
            self.assertIn("--objective" if shell == "zsh" else "-l objective", script)
        self.refused("help", "completion", "bsh", code=kith.BAD_USAGE, says=["bash", "bsh"])

    def test_version(self):
        self.assertRegex(self.ok("--version").out, r"^kith \d+\.\d+\.\d+\nvector instructions: \w+\n$")
        told = self.ok("version", "--json").json
        self.assertRegex(told["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn(told["vector_instructions"], self.ok("version").out)


class Demo(kith.TestCase):
    def test_demo(self):
        # WordNet's glosses, learned from scratch: what is said must have been learned.
        if kith.SANITIZED:
            self.skipTest("a demonstration, not a check; slow under a sanitizer")
        result = self.ok("demo", "--folder", self.path("demo"))
        for shown in ("king", "violin", "held-out", "Which concept", "Try next"):
            self.assertIn(shown, result.out)
        model = self.path("demo") / "wordnet.kith"
        for word, some in (("violin", {"cello", "viola", "stringed", "oboe", "fiddle", "bass"}),
                           ("king", {"monarch", "queen", "prince", "throne", "reign"})):
            answer = self.ok("near", model, word, "--top", 20, "--json").json
            self.assertTrue(some & {n["id"] for n in answer["neighbours"]}, answer)
        # The table: a gloss that nobody has seen has a category, and a concept above it.
        concepts = self.path("demo") / "concepts.kith"
        answer = self.ok("predict", concepts, "--target", "category", "--top", 1, "--json",
                         "gloss=a dish of rice with raw fish").json
        self.assertEqual(answer["predictions"][0]["id"], "food")
        answer = self.ok("near", concepts, "gloss=a dish of rice with raw fish", "--to", "kind_of",
                         "--top", 5, "--json").json
        self.assertIn("dish", {n["id"] for n in answer["neighbours"]})


if __name__ == "__main__":
    kith.main()
