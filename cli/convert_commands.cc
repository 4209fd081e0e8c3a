// SPDX-License-Identifier: Apache-2.0
// export and import: vectors from and for other tools.
#include <algorithm>
#include <csignal>

#include "commands.h"
#include "core/error.h"
#include "enums.h"
#include "model_file.h"
#include "terminal.h"

namespace kith::cli {
namespace {

struct ExportOptions {
  VectorFormat to = VectorFormat::kWord2vecBin;
  std::string output;
  Side vectors = Side::kInput;

  static constexpr std::tuple fields{
      field("to", &ExportOptions::to, "the format to write"),
      field("output", &ExportOptions::output, "the file to write (-o); - is standard output"),
      field("vectors", &ExportOptions::vectors, "which vectors of the model to write"),
  };
};

struct ImportOptions {
  std::string output;
  bool quiet = false;

  static constexpr std::tuple fields{
      field("output", &ImportOptions::output, "the model file to write (-o)"),
      field("quiet", &ImportOptions::quiet, "no remarks (-q)"),
  };
};

int run_export(Args args) {
  ExportOptions options;
  const std::vector<std::string> words = parse(args, options);
  if (words.size() != 1) misused(kExport, "export needs one model");
  if (options.output.empty()) misused(kExport, "export needs a file to write: -o FILE");
  // The format has no sensible default, but its field needs one: so look whether it was given.
  const auto is_to = [](std::string_view a) { return a == "--to" || a.starts_with("--to="); };
  if (std::none_of(args.begin(), args.end(), is_to)) {
    misused(kExport, fmt::format("export needs a format: --to {}",
                                 fmt::join(EnumNames<VectorFormat>::names, "|")));
  }
  if (options.to == VectorFormat::kNpy && options.output == "-") {
    throw Error(ErrorKind::kUsage,
                "npy takes two files, the matrix and its names; name one with -o");
  }
  check_distinct(words[0], options.output);
  check_writable(options.output);
  const OpenModel opened = open_model(words[0]);
  // Like any filter, it ends without a word when the reader leaves.
  if (options.output == "-") std::signal(SIGPIPE, SIG_DFL);
  write_vectors(options.output, options.to, opened.model->names(),
                opened.model->vectors(options.vectors));
  return kDone;
}

int run_import(Args args) {
  ImportOptions options;
  const std::vector<std::string> words = parse(args, options);
  if (words.size() != 1) misused(kImport, "import needs one file of vectors");
  if (options.output.empty()) misused(kImport, "import needs a model file to write: -o MODEL");
  check_distinct(words[0], options.output);
  check_writable(options.output);
  ReadReport report{};
  NamedVectors vectors = read_vectors(words[0], &report);
  const size_t rows = vectors.matrix.rows(), dim = vectors.matrix.cols();
  const std::string format = detail::show(report.format);
  const auto model = model_of(std::move(vectors));
  save_model(*model, "vectors", options.output, false, {{"imported.format", format}});
  if (options.quiet) return kDone;
  if (report.duplicates) {
    say("kith: {}: {} stood there twice; the first was kept", words[0],
        count_of(report.duplicates, "word"));
  }
  if (report.invalid_utf8) {
    say("kith: {}: {} with bytes that are not UTF-8, which became U+FFFD", words[0],
        count_of(report.invalid_utf8, "word"));
  }
  say("{}: {} of length {} read as {}", options.output, count_of(rows, "vector"), dim, format);
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
    "npy writes FILE and FILE.names.txt.",
    sections_of<ExportOptions>,
    run_export,
};

const Command kImport{
    "import",
    "FILE -o MODEL",
    "read vectors that another tool made",
    {"kith import GoogleNews-vectors-negative300.bin.gz -o news.kith",
     "kith import glove.6B.100d.txt -o glove.kith", "kith import vectors.npy -o vectors.kith"},
    "The format is seen from the bytes: word2vec binary or text, GloVe, NumPy, CSV, safetensors; "
    "plain, gzip or zstd.",
    sections_of<ImportOptions>,
    run_import,
};

}  // namespace kith::cli
