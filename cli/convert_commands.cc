// SPDX-License-Identifier: Apache-2.0
// export and import: vectors from and for other tools.
#include <optional>

#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "narrator.h"
#include "terminal.h"

namespace kith::cli {
namespace {

struct ExportOptions {
  std::optional<VectorFormat> to{};
  std::string output{};
  std::optional<Side> vectors{};

  static constexpr std::tuple fields{
      field("to", &ExportOptions::to, "the format to write").automatic("required"),
      field("output", &ExportOptions::output, "the file to write (-o); - is standard output"),
      field("vectors", &ExportOptions::vectors, "which vectors of the model to write")
          .automatic(kUsualSide),
  };
};

struct ImportOptions {
  std::string output{};

  static constexpr std::tuple fields{
      field("output", &ImportOptions::output, "the model file to write (-o)"),
  };
};

int run_export(Args args) {
  ExportOptions options;
  Output answer;
  const std::vector<std::string> words = parse(args, options, answer);
  if (words.size() != 1) misused(kExport, "export needs one model");
  if (options.output.empty()) misused(kExport, "export needs a file to write: -o FILE");
  if (!options.to) {
    misused(kExport, fmt::format("export needs a format: --to {}",
                                 fmt::join(EnumNames<VectorFormat>::names, "|")));
  }
  const std::string output = results_path(options.output);
  Context context(1);
  std::optional<Interrupts> interrupts;
  if (output != "-") interrupts.emplace(context);  // there is something to clean up
  if (answer.json && output == "-") misused(kExport, "--json is for a file; name one with -o");
  const ExportReport told =
      export_vectors(open(words[0]), output, *options.to, context, options.vectors);
  if (answer.json) {
    put_json({{"output", output},
              {"format", detail::show(*options.to)},
              {"rows", told.rows},
              {"cols", told.dim},
              {"bytes", told.bytes}});
  }
  return kDone;
}

int run_import(Args args) {
  ImportOptions options;
  Quiet quiet;
  Output answer;
  const std::vector<std::string> words = parse(args, options, quiet, answer);
  if (words.size() != 1) misused(kImport, "import needs one file of vectors");
  if (options.output.empty()) misused(kImport, "import needs a model file to write: -o MODEL");
  Context context(1);
  const Interrupts interrupts(context);
  Narrator narrator(quiet.quiet);
  const ImportReport report = import_vectors(words[0], options.output, context, &narrator);
  if (answer.json) {
    put_json({{"output", options.output},
              {"format", report.format},
              {"rows", report.rows},
              {"cols", report.dim},
              {"duplicates", report.duplicates},
              {"invalid_utf8", report.invalid_utf8},
              {"bytes", report.bytes}});
  }
  if (quiet.quiet || answer.json) return kDone;
  if (report.duplicates) {
    say("kith: {}: {} more than once; the first of each was kept", words[0],
        count_of(report.duplicates, "word"));
  }
  if (report.invalid_utf8) {
    say("kith: {}: {} with bytes that are not UTF-8, which became U+FFFD", words[0],
        count_of(report.invalid_utf8, "word"));
  }
  say("{}: {} of length {} read as {}", options.output, count_of(report.rows, "vector"), report.dim,
      report.format);
  return kDone;
}

}  // namespace

const Command kExport{
    "export",
    "MODEL --to FORMAT -o FILE",
    "write the vectors in the format of another tool",
    {"kith export words.kith --to word2vec-bin -o words.bin",
     "kith export words.kith --to npy -o words.npy",
     "kith export words.kith --to glove -o - | gzip > words.txt.gz"},
    "npy writes FILE and FILE.names.txt, fasttext-bin a whole model of words or labels. If a model "
    "has names "
    "of several kinds, they are written "
    "as column=value.",
    groups_for<ExportOptions, Output>,
    run_export,
};

const Command kImport{
    "import",
    "FILE -o MODEL",
    "read vectors that another tool made",
    {"kith import GoogleNews-vectors-negative300.bin.gz -o news.kith",
     "kith import glove.6B.100d.txt -o glove.kith", "kith import cc.en.300.bin.gz -o english.kith"},
    "The format is recognised by the content: word2vec binary or text, GloVe, fastText models "
    "(.bin, .ftz), NumPy, CSV, safetensors; plain, gzip, zstd, xz or bzip2.",
    groups_for<ImportOptions, Quiet, Output>,
    run_import,
};

}  // namespace kith::cli
