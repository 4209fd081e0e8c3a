// SPDX-License-Identifier: Apache-2.0
// compress: vectors in fewer bytes.
#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "terminal.h"

namespace kith::cli {
namespace {

struct CompressOutput {
  std::string output{};
  static constexpr std::tuple fields{
      field("output", &CompressOutput::output, "the model file to write (-o)")};
};

int run_compress(Args args) {
  CompressOptions options;
  CompressOutput output;
  Threads threads;
  Quiet quiet;
  Output answer;
  const std::vector<std::string> words = parse(args, options, output, threads, quiet, answer);
  if (words.size() != 1) misused(kCompress, "compress needs one model");
  if (output.output.empty()) misused(kCompress, "compress needs a model file to write: -o SMALL");
  Context context(threads.threads);
  const Interrupts interrupts(context);
  const Compressed told = compress(words[0], output.output, options, context);
  if (answer.json) {
    Json tables = Json::array();
    for (const Compressed::Table& t : told.tables) {
      tables.push_back({{"name", t.name}, {"rows", t.rows}, {"cols", t.dim}, {"lost", t.error}});
    }
    put_json({{"output", output.output},
              {"bytes", told.bytes},
              {"bytes_before", told.bytes_before},
              {"tables", std::move(tables)}});
  }
  if (quiet.quiet || answer.json) return kDone;
  for (const Compressed::Table& t : told.tables) {
    say("{}: {} of length {}{}", t.name, count_of(t.rows, "vector"), t.dim,
        t.coded ? fmt::format("; {:.3g} % of their squared length is lost", 100 * t.error)
                : ", too few to gain by it");
  }
  say("{}: {}, which were {}", output.output, in_bytes(static_cast<double>(told.bytes)),
      in_bytes(static_cast<double>(told.bytes_before)));
  return kDone;
}

}  // namespace

const Command kCompress{
    "compress",
    "MODEL -o SMALL",
    "write a model with its vectors in fewer bytes",
    {"kith compress words.kith -o small.kith", "kith compress labels.kith -o small.kith --norms",
     "kith compress words.kith -o tiny.kith --width 4"},
    "Product quantisation, as fastText's quantize: each run of --width numbers becomes one of 256, "
    "and takes a byte. The file answers all questions, nearly as before.",
    groups_for<CompressOptions, CompressOutput, Threads, Quiet, Output>,
    run_compress,
};

}  // namespace kith::cli
