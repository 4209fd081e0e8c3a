// SPDX-License-Identifier: Apache-2.0
#include "models/words/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "models/two_sided.h"
#include "models/words/kernel.h"
#include "models/words/softmax.h"

namespace kith::words {

void WordsModel::visit(Parts& parts) {
  parts.names("words", names_);
  if (parts.loading()) rows_ = names_.size();
  if (parts_of_words().longest > 0) subwords_.visit(parts, parts_of_words());
  visit_tables(parts);
  parts.number("progress.words", words_);
  parts.number("progress.windows", windows_);
  parts.number("progress.pairs", pairs_);
  parts.number("progress.learned_rows", learned_rows_);
  for (const auto* energy : {&input_energy_, &output_energy_}) {
    parts.check(std::ranges::all_of(*energy, [](float e) { return e >= 1; }),
                "an energy is below 1");
  }
}

void WordsModel::visit_tables(Parts& parts) {
  const auto dim = static_cast<size_t>(common().dim);
  parts.values("counts", counts_, rows_, Use::kFixed);
  // Which parts there are may be left out where only vectors are wanted.
  const size_t inputs = parts.vectors_only() ? Parts::kAny : rows_ + subwords_.size();
  parts.matrix("input", input_, inputs, dim, Use::kLearned);
  parts.matrix("output", output_, rows_, dim, Use::kLearned);
  parts.values("input.energy", input_energy_, rows_, Use::kFixed);
  parts.values("output.energy", output_energy_, rows_, Use::kFixed);
  if (has_biases()) parts.values("output.bias", output_bias_, rows_, Use::kLearned);
  if (form_rows() > 0) parts.matrix("form", form_, form_rows(), dim, Use::kLearned);
  if (state_floats() > 0) {
    parts.matrix("input.state", input_state_, rows_, state_floats(), Use::kRun);
    parts.matrix("output.state", output_state_, rows_, state_floats(), Use::kRun);
  }
  if (common().loss == WordLoss::kSoftmax) {
    parts.values("input.squares", input_squares_, rows_, Use::kRun);
    parts.values("output.squares", output_squares_, rows_, Use::kRun);
  }
}

bool WordsModel::has_biases() const {
  return common().loss == WordLoss::kNce || common().loss == WordLoss::kSoftmax;
}

size_t WordsModel::form_rows() const {
  const Config& config = common();
  if (config.form == Form::kNone) return 0;
  const size_t forms = FormTable::count(config.relations, static_cast<size_t>(config.window));
  return forms * (config.form == Form::kDiagonal ? 1 : static_cast<size_t>(config.dim));
}

size_t WordsModel::state_floats() const {
  if (!has_state(common().optimiser)) return 0;
  return state_width(common().optimiser, padded(static_cast<size_t>(common().dim)));
}

void WordsModel::check_settings(size_t words) const {
  const Config& config = common();
  if (config.form != Form::kNone && config.noise == Noise::kCentre) {
    throw fault(ErrorKind::kUsage, "--form is not for --noise centre; leave one of them out");
  }
  if (config.form != Form::kNone && config.loss == WordLoss::kSoftmax) {
    throw fault(ErrorKind::kUsage,
                "--form is not for --loss softmax; choose --loss ns, nce or hierarchical");
  }
  if (config.form == Form::kNone && config.relations != Relations::kOne) {
    throw fault(ErrorKind::kUsage,
                "--relations is for --form diagonal or full; choose one of them");
  }
  if (has_state(config.optimiser) && config.form != Form::kNone) {
    throw fault(ErrorKind::kUsage,
                "--form is for --optimiser sgd or adagrad-row; choose one of them");
  }
  if (config.optimiser != Optimiser::kRowAdaGrad && config.loss == WordLoss::kSoftmax) {
    throw fault(
        ErrorKind::kUsage,
        "--loss softmax has steps of its own; leave --optimiser out, or choose --loss ns, nce "
        "or hierarchical");
  }
  if (config.loss == WordLoss::kNs) return;
  if (config.noise == Noise::kCentre) {
    throw fault(ErrorKind::kUsage, "--noise centre is for --loss ns; leave one of them out");
  }
  if (config.loss != WordLoss::kSoftmax) return;
  if (config.objective == Objective::kCbow) {
    throw fault(ErrorKind::kUsage,
                "--loss softmax learns from pairs of words, so it is for --objective skipgram; "
                "for cbow choose --loss nce or hierarchical");
  }
  if (words > kMostWordsOfSoftmax) {
    throw fault(ErrorKind::kUsage,
                "--loss softmax compares every word with all others, for up to {} of them; these "
                "are {}: choose --max-vocab, --min-count or --loss nce",
                kMostWordsOfSoftmax, words);
  }
}

void WordsModel::initialise_row(uint64_t seed, size_t row) {
  const float scale = 1.0f / static_cast<float>(input_.cols());
  Rng rng(seed, row);
  // The padding, too: what a run that went out of bounds left there would spoil the next one.
  std::fill_n(input_.view().row(row), input_.stride(), 0.0f);
  for (float& x : input_.row(row)) x = (rng.uniform() - 0.5f) * scale;
}

void WordsModel::initialise(uint64_t seed, size_t words, const std::vector<bool>& known) {
  for (size_t s = 0; s < subwords_.size(); ++s) {
    if (!known[s]) initialise_row(seed, rows_ + s);
  }
  for (size_t r = words; r < rows_; ++r) {
    initialise_row(seed, r);
    std::fill_n(output_.view().row(r), output_.stride(), 0.0f);
    input_energy_[r] = output_energy_[r] = 1;
  }
  // Before anything is known of a pair, words are as likely as they are frequent.
  if (has_biases()) {
    const double all =
        static_cast<double>(std::accumulate(counts_.begin(), counts_.end(), uint64_t{0}));
    for (size_t r = words; r < rows_; ++r) {
      output_bias_[r] = static_cast<float>(
          std::log(static_cast<double>(std::max<uint64_t>(counts_[r], 1)) / all));
    }
  }
  if (words == 0) {  // B = I
    form_ = form_rows() > 0 ? Matrix(form_rows(), input_.cols()) : Matrix();
    const bool full = common().form == Form::kFull;
    for (size_t row = 0; row < form_.rows(); ++row) {
      for (size_t k = 0; k < input_.cols(); ++k) {
        if (!full || k == row % input_.cols()) form_.row(row)[k] = 1;
      }
    }
  }
  const size_t floats = state_floats();
  input_state_ = floats > 0 ? Matrix(rows_, floats) : Matrix();
  output_state_ = floats > 0 ? Matrix(rows_, floats) : Matrix();
  std::ranges::fill(input_squares_, 0.0f);
  std::ranges::fill(output_squares_, 0.0f);
}

// What a model that knows words can go on with: its own settings, and a text that was read on top
// of its words.
void WordsModel::check_goes_on(const Vocabulary& vocabulary) const {
  const size_t old = names_.size(), size = vocabulary.words.size();
  const auto dim = static_cast<size_t>(common().dim);
  if (input_.cols() != dim) {
    throw fault(ErrorKind::kUsage, "a model goes on with its own --dim, {}; got {}", input_.cols(),
                dim);
  }
  if (subwords_.settings() != parts_of_words()) {
    throw fault(ErrorKind::kUsage,
                "a model goes on with the parts of words that it has; leave --min-n, --max-n, "
                "--ngrams and --buckets out");
  }
  const auto kept = [&](auto setting) { return before_.*setting == common().*setting; };
  if (!kept(&Config::loss)) {
    throw fault(ErrorKind::kUsage, "a model goes on with its own --loss, {}; got {}",
                EnumNames<WordLoss>::names[static_cast<size_t>(before_.loss)],
                EnumNames<WordLoss>::names[static_cast<size_t>(common().loss)]);
  }
  if (!kept(&Config::form) || !kept(&Config::relations) ||
      (common().relations == Relations::kPlace && !kept(&Config::window))) {
    throw fault(ErrorKind::kUsage,
                "a model goes on with its own --form, --relations and, if each place has a form, "
                "--window; leave them out");
  }
  if (common().loss == WordLoss::kHierarchical) {
    throw fault(ErrorKind::kUsage,
                "a model with --loss hierarchical cannot go on: its tree is that of the counts it "
                "began with; train anew on all of the text");
  }
  bool fits = old <= size && vocabulary.counts.size() == size;
  for (size_t r = 0; r < old && fits; ++r) fits = vocabulary.words[r] == names_[r];
  if (!fits) {
    throw fault(ErrorKind::kInput,
                "the text was not read on top of the model's {} words, so they cannot go on", old);
  }
}

void WordsModel::grow(const Vocabulary& vocabulary, uint64_t seed) {
  const size_t old = names_.size(), size = vocabulary.words.size();
  const auto dim = static_cast<size_t>(common().dim);
  if (old > 0) check_goes_on(vocabulary);
  Subwords subwords(parts_of_words(), vocabulary.words, subwords_);
  Matrix input(size + subwords.size(), dim), output(size, dim);
  for (size_t r = 0; r < old; ++r) {
    std::ranges::copy(input_.row(r), input.row(r).begin());
    std::ranges::copy(output_.row(r), output.row(r).begin());
  }
  std::vector<bool> known(subwords.size());
  for (uint32_t s = 0; s < subwords_.size(); ++s) {
    const uint32_t to = *subwords.find(subwords_, s);
    std::ranges::copy(input_.row(old + s), input.row(size + to).begin());
    known[to] = true;
  }
  input_ = std::move(input);
  output_ = std::move(output);
  input_energy_.resize(size);
  output_energy_.resize(size);
  output_bias_.resize(has_biases() ? size : 0);
  const size_t squares = common().loss == WordLoss::kSoftmax ? size : 0;
  input_squares_.resize(squares);
  output_squares_.resize(squares);
  names_ = vocabulary.words;
  counts_ = vocabulary.counts;
  subwords_ = std::move(subwords);
  rows_ = size;
  learned_rows_ = old;
  initialise(seed, old, known);
}

void WordsModel::take(Vocabulary vocabulary, Subwords subwords, Matrix input, Matrix output) {
  names_ = std::move(vocabulary.words);
  counts_ = std::move(vocabulary.counts);
  rows_ = learned_rows_ = names_.size();
  subwords_ = std::move(subwords);
  input_ = std::move(input);
  output_ = std::move(output);
  input_energy_.assign(rows_, 1);
  output_energy_.assign(rows_, 1);
  state_.finished = true;
}

void WordsModel::reopen() {
  before_ = common();
  state_ = RunState{};
  words_ = windows_ = pairs_ = 0;
}

std::vector<VectorGroup> WordsModel::vectors(Side side) const {
  if (common().loss == WordLoss::kHierarchical && side != Side::kInput) {
    throw fault(
        ErrorKind::kUsage,
        "a model with --loss hierarchical has input vectors alone: its other rows are those "
        "of a tree over the words");
  }
  return two_sided(side, names_, input_, output_);
}

std::vector<Fact> WordsModel::info() const {
  std::vector<Fact> out{{"vocabulary", fmt::format("{}", names_.size()), true}};
  if (subwords_.settings().longest > 0) {
    out.push_back({"subwords", fmt::format("{}", subwords_.size()), true});
  }
  for (const auto& [name, value] : {std::pair{"dim", input_.cols()},
                                    {"words_seen", words_},
                                    {"windows", windows_},
                                    {"pairs", pairs_}}) {
    out.push_back({name, fmt::format("{}", value), true});
  }
  for (Fact& f : run_facts()) out.push_back(std::move(f));
  return out;
}

}  // namespace kith::words
