// SPDX-License-Identifier: Apache-2.0
#include "models/word2vec/model.h"

#include <algorithm>
#include <cmath>

#include "models/run_file.h"

namespace kith::word2vec {
namespace {

void check(const Archive& in, bool good, std::string_view what) {
  if (!good) throw Error(ErrorKind::kInput, "{}: {}; the file is damaged", in.where(), what);
}

}  // namespace

void Word2Vec::initialise(uint64_t seed, size_t from) {
  const float scale = 1.0f / static_cast<float>(input_.cols());
  for (size_t r = from; r < input_.rows(); ++r) {
    Rng rng(seed, r);
    for (float& x : input_.row(r)) x = (rng.uniform() - 0.5f) * scale;
    std::ranges::fill(output_.row(r), 0.0f);
    input_energy_[r] = output_energy_[r] = 1;
  }
}

void Word2Vec::grow(const Vocabulary& vocabulary, uint64_t seed) {
  const size_t old = names_.size(), size = vocabulary.words.size();
  Matrix input(size, static_cast<size_t>(config_.dim)), output(size, input.cols());
  for (size_t r = 0; r < old; ++r) {
    std::ranges::copy(input_.row(r), input.row(r).begin());
    std::ranges::copy(output_.row(r), output.row(r).begin());
  }
  input_ = std::move(input);
  output_ = std::move(output);
  input_energy_.resize(size);
  output_energy_.resize(size);
  names_ = vocabulary.words;
  counts_ = vocabulary.counts;
  learned_rows_ = old;
  initialise(seed, old);
}

void Word2Vec::reopen() { state_ = State{}; }

bool Word2Vec::finite() const { return all_finite(input_) && all_finite(output_); }

void Word2Vec::pack(ArchiveWriter& out, bool checkpoint) const {
  if (!finite()) {
    throw Error(ErrorKind::kDiverged,
                "the vectors hold values that are not finite, so they are not saved; try a smaller "
                "--lr");
  }
  Config config = config_;
  const Section section("word2vec", config);
  out.metadata["settings"] = to_toml({&section, 1});
  kith::pack(state_, checkpoint, out);
  out.metadata["progress.words"] = fmt::format("{}", state_.words);
  out.metadata["progress.windows"] = fmt::format("{}", state_.windows);
  out.metadata["progress.pairs"] = fmt::format("{}", state_.pairs);
  out.metadata["progress.learned_rows"] = fmt::format("{}", learned_rows_);
  out.add_names("words", names_);
  out.tensors["counts"] = tensor_of(std::span<const uint64_t>(counts_));
  out.tensors["input"] = tensor_of(input_);
  out.tensors["output"] = tensor_of(output_);
  out.tensors["input.energy"] = tensor_of(std::span<const float>(input_energy_));
  out.tensors["output.energy"] = tensor_of(std::span<const float>(output_energy_));
  if (checkpoint && best_input_.rows() > 0) {
    out.tensors["best.input"] = tensor_of(best_input_);
    out.tensors["best.output"] = tensor_of(best_output_);
  }
}

void Word2Vec::restore(const Archive& in) {
  Word2Vec other;
  const Section section = other.settings();
  apply(settings_from_toml_text(in.metadata_at("settings"), in.where()), {&section, 1});
  other.names_ = in.names("words");
  other.counts_ = in.values<uint64_t>("counts");
  other.input_ = in.matrix("input");
  other.output_ = in.matrix("output");
  other.input_energy_ = in.values<float>("input.energy");
  other.output_energy_ = in.values<float>("output.energy");
  const size_t size = other.names_.size(), dim = static_cast<size_t>(other.config_.dim);
  if (in.has("best.input")) {
    other.best_input_ = in.matrix("best.input");
    other.best_output_ = in.matrix("best.output");
    for (const Matrix* m : {&other.best_input_, &other.best_output_}) {
      check(in, m->rows() == size && m->cols() == dim && all_finite(*m),
            "the best epoch's table does not fit");
    }
  }
  for (const Matrix* m : {&other.input_, &other.output_}) {
    check(in, m->rows() == size && m->cols() == dim, "a table does not fit the words and --dim");
  }
  check(in, other.counts_.size() == size, "the counts do not fit the words");
  for (const auto* energy : {&other.input_energy_, &other.output_energy_}) {
    check(in,
          energy->size() == size && std::ranges::all_of(*energy, [](float e) { return e >= 1; }),
          "the energies do not fit the words");
  }
  check(in, other.finite(), "a vector is not finite");
  State& state = other.state_;
  read_run(in, state);
  state.words = in.number_at<uint64_t>("progress.words");
  state.windows = in.number_at<uint64_t>("progress.windows");
  state.pairs = in.number_at<uint64_t>("progress.pairs");
  other.learned_rows_ = in.number_at<uint64_t>("progress.learned_rows");
  *this = std::move(other);
}

Matrix Word2Vec::vectors(Side side) const {
  if (side == Side::kInput) return input_.copy();
  if (side == Side::kOutput) return output_.copy();
  Matrix sum = input_.copy();
  for (size_t r = 0; r < sum.rows(); ++r) {
    std::ranges::transform(sum.row(r), output_.row(r), sum.row(r).begin(), std::plus<>{});
  }
  return sum;
}

std::vector<Fact> Word2Vec::info() const {
  std::vector<Fact> out{{"vocabulary", fmt::format("{}", names_.size())},
                        {"dim", fmt::format("{}", input_.cols())},
                        {"words_seen", fmt::format("{}", state_.words)},
                        {"windows", fmt::format("{}", state_.windows)},
                        {"pairs", fmt::format("{}", state_.pairs)}};
  add_facts(state_, out);
  return out;
}

ModelInfo info() {
  return {"word2vec", "words of a text: skip-gram and CBOW with negative sampling",
          InputKind::kText,
          []() -> std::unique_ptr<Model> { return std::make_unique<Word2Vec>(); }};
}

}  // namespace kith::word2vec
