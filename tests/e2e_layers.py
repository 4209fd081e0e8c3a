# SPDX-License-Identifier: Apache-2.0
"""The script that guards the layers finds what it should, and only that."""
import subprocess
import sys

import kith


class Layers(kith.TestCase):
    def check(self, path, line):
        file = self.path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(line + "\n")
        done = subprocess.run([sys.executable, kith.SOURCE / "tools/check_layers.py", self.folder],
                              capture_output=True, text=True, check=False)
        file.unlink()
        return done.returncode, done.stdout

    def test_forbidden(self):
        for path, line in (
            ("src/core/a.h", '#include "io/file.h"'),
            ("src/kernels/a.h", '#include "config/fields.h"'),
            ("src/io/a.cc", '#include "data/corpus.h"'),
            ("src/data/a.cc", '#include "train/alias.h"'),
            ("src/train/a.cc", '#include "models/model.h"'),
            ("src/query/a.cc", '#include "models/model.h"'),
            ("src/eval/a.cc", '#include "train/svd.h"'),
            ("src/models/model.cc", '#include "api/plan.h"'),
            ("src/models/als/model.cc", '#include "kith/near.h"'),
            ("src/api/a.cc", '#include "models/als/model.h"'),
            ("include/kith/a.h", '#include "core/names.h"'),
            ("include/kith/a.h", "#include <fmt/format.h>"),
            ("src/models/glove/model.cc", '#include "query/neighbours.h"'),
            ("src/models/glove/model.cc", '#include "models/word2vec/config.h"'),
            ("cli/a.cc", '#include "models/word2vec/config.h"'),
            ("cli/a.cc", '#include "kernels/vec-inl.h"'),
            ("cli/a.cc", '#include "models/model.h"'),
            ("cli/a.cc", '#include "core/error.h"'),
            ("src/io/a.cc", "#include <hwy/highway.h>"),
            ("src/models/glove/model.cc", '#include "hwy/highway.h"'),
            ("src/kernels/a.cc", "#include <immintrin.h>"),
            ("src/data/a.cc", '  std::cerr << "oops";'),
            ("src/data/a.cc", '  fmt::print("oops");'),
            ("src/models/glove/kernel.cc", '  printf("oops");'),
            ("src/io/a.cc", "  std::abort();"),
            ("src/io/a.cc", "  exit(1);"),
            ("src/models/glove/model.cc", "#include <toml++/toml.h>"),
            ("src/stray/a.cc", ""),
        ):
            code, out = self.check(path, line)
            self.assertEqual(code, 1, f"{path}: {line}")
            self.assertIn(path, out)

    def test_allowed(self):
        self.path("src/core").mkdir(parents=True)
        self.write("src/core/ids.h", "#pragma once\n")
        for path, line in (
            ("src/data/a.h", '#include "config/fields.h"'),
            ("src/kernels/a-inl.h", "#include <hwy/highway.h>"),
            ("src/models/glove/kernel.cc", "#include <hwy/highway.h>"),
            ("src/models/glove/model.cc", '#include "models/glove/config.h"'),
            ("src/models/glove/model.cc", '#include "models/model.h"'),
            ("src/models/registry.cc", '#include "models/glove/model.h"'),
            ("src/io/a_test.cc", '#include "data/corpus.h"'),
            ("src/io/a.cc", "  // exit(1) would be wrong here"),
            ("src/io/a.cc", "  std::snprintf(text, 10, pattern);"),
            ("cli/a.cc", '#include "kith/near.h"'),
            ("cli/a.cc", '#include "terminal.h"'),
            ("cli/a.cc", '  fmt::print("hello");'),
            ("src/api/a.cc", '#include "models/capabilities.h"'),
            ("src/models/als/model.cc", '#include "models/ratings/model.h"'),
            ("src/models/als/model.cc", '#include "kith/error.h"'),
        ):
            code, out = self.check(path, line)
            self.assertEqual(code, 0, f"{path}: {line}: {out}")

    def test_nothing_to_check_is_a_failure(self):
        code, _ = self.check("src/README.md", "")
        self.assertEqual(code, 1)


if __name__ == "__main__":
    kith.main()
