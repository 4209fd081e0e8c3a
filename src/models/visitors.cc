// SPDX-License-Identifier: Apache-2.0
#include "models/visitors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace kith {
namespace {

bool finite(std::span<const float> values) {
  float sum = 0;  // x * 0 is 0, or NaN
  for (const float x : values) sum += x * 0;
  return sum == 0;
}

constexpr size_t kFewBytes = size_t{1} << 20;  // numbers that are always read

bool may_be_absent(Use use) { return use == Use::kOptional || use == Use::kRun; }

}  // namespace

// --- Saver ---

bool Saver::wanted(Use use, bool empty) const {
  if (use == Use::kRun) return checkpoint_ && !empty;
  return use != Use::kOptional || !empty;
}

void Saver::matrix(const std::string& name, Matrix& m, size_t, size_t, Use use) {
  if (wanted(use, m.rows() == 0)) out_.tensors[name] = tensor_of(m);
}

template <class T>
void Saver::put(const std::string& name, const std::vector<T>& v, Use use) {
  if (wanted(use, v.empty())) out_.tensors[name] = tensor_of(std::span<const T>(v));
}
void Saver::values(const std::string& name, std::vector<float>& v, size_t, Use use) {
  put(name, v, use);
}
void Saver::values(const std::string& name, std::vector<double>& v, size_t, Use use) {
  put(name, v, use);
}
void Saver::values(const std::string& name, std::vector<uint32_t>& v, size_t, Use use) {
  put(name, v, use);
}
void Saver::values(const std::string& name, std::vector<uint64_t>& v, size_t, Use use) {
  put(name, v, use);
}

void Saver::entry(const std::string& key, const Entry& entry) {
  std::string text = entry.get();
  if (wanted(entry.use, text.empty())) out_.metadata[key] = std::move(text);
}

void Saver::stored_settings(const std::string& key, const Section& section) {
  out_.metadata[key] = to_toml({&section, 1});
}

// --- Loader ---

void Loader::check(bool good, std::string_view what) {
  if (!good) throw fault(ErrorKind::kInput, "{}: {}; the file is damaged", in_.where(), what);
}

bool Loader::absent(const std::string& name, Use use) const {
  return may_be_absent(use) && !in_.has(name);
}

void Loader::matrix(const std::string& name, Matrix& m, size_t rows, size_t cols, Use use) {
  if (absent(name, use)) {
    m = Matrix();
    return;
  }
  m = mode_ == Mode::kMapped ? in_.borrowed_matrix(name) : in_.matrix(name);
  if ((rows != kAny && m.rows() != rows) || (cols != kAny && m.cols() != cols)) {
    throw fault(ErrorKind::kInput,
                "{}: {} has {} x {} numbers and not {} x {} as it should; the file is damaged",
                in_.where(), name, m.rows(), m.cols(),
                rows == kAny ? std::string("any") : fmt::format("{}", rows),
                cols == kAny ? std::string("any") : fmt::format("{}", cols));
  }
  // In place, a row that is not finite is never an answer.
  if (mode_ == Mode::kOwn && !all_finite(m)) {
    throw fault(ErrorKind::kInput, "{}: a number in {} is not finite; the file is damaged",
                in_.where(), name);
  }
}

template <class T>
void Loader::take(const std::string& name, std::vector<T>& v, size_t size, Use use) {
  v.clear();
  if (absent(name, use)) return;
  if (vectors_only() && in_.bytes_of(name) > kFewBytes) return;
  v = in_.values<T>(name);
  if (size != kAny && v.size() != size) {
    throw fault(ErrorKind::kInput,
                "{}: {} has {} numbers and not {} as it should; the file is damaged", in_.where(),
                name, v.size(), size);
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::ranges::all_of(v, [](T x) { return std::isfinite(x); })) {
      throw fault(ErrorKind::kInput, "{}: a number in {} is not finite; the file is damaged",
                  in_.where(), name);
    }
  }
}
void Loader::values(const std::string& name, std::vector<float>& v, size_t size, Use use) {
  take(name, v, size, use);
}
void Loader::values(const std::string& name, std::vector<double>& v, size_t size, Use use) {
  take(name, v, size, use);
}
void Loader::values(const std::string& name, std::vector<uint32_t>& v, size_t size, Use use) {
  take(name, v, size, use);
}
void Loader::values(const std::string& name, std::vector<uint64_t>& v, size_t size, Use use) {
  take(name, v, size, use);
}

void Loader::names(const std::string& name, Names& names) {
  names = mode_ == Mode::kMapped ? in_.borrowed_names(name) : in_.names(name);
}

void Loader::entry(const std::string& key, const Entry& entry) {
  if (may_be_absent(entry.use) && !in_.metadata().contains(key)) return;
  try {
    entry.set(in_.metadata_at(key));
  } catch (const Error& e) {
    if (std::string_view(e.what()).starts_with(in_.where())) throw;
    throw fault(e.kind(), "{}: {}; the file is damaged", in_.where(), e.what());
  }
}

void Loader::stored_settings(const std::string& key, const Section& section) {
  std::vector<Setting> stored = settings_from_toml_text(in_.metadata_at(key), in_.where());
  if (in_.metadata_at("format") == "1") stored = modernised(std::move(stored), {&section, 1});
  try {
    apply_settings(stored, {&section, 1});
  } catch (const Error& e) {  // nobody typed them
    throw fault(ErrorKind::kInput, "{}", e.what());
  }
}

// --- Checks and sums ---

void FiniteCheck::matrix(const std::string& name, Matrix& m, size_t, size_t, Use use) {
  if (bad_.empty() && use == Use::kLearned && !all_finite(m)) bad_ = name;
}

void FiniteCheck::values(const std::string& name, std::vector<float>& v, size_t, Use use) {
  if (bad_.empty() && use == Use::kLearned && !finite(v)) bad_ = name;
}

void LoadableCheck::check(bool good, std::string_view what) {
  if (!good && bad_.empty()) bad_ = what;
}
void LoadableCheck::matrix(const std::string& name, Matrix& m, size_t, size_t, Use) {
  check(all_finite(m), name + " holds numbers that are not finite");
}
void LoadableCheck::values(const std::string& name, std::vector<float>& v, size_t, Use) {
  check(finite(v), name + " holds numbers that are not finite");
}
void LoadableCheck::values(const std::string& name, std::vector<double>& v, size_t, Use) {
  check(std::ranges::all_of(v, [](double x) { return std::isfinite(x); }),
        name + " holds numbers that are not finite");
}

void MemorySum::matrix(const std::string&, Matrix&, size_t rows, size_t cols, Use use) {
  if (rows == kAny || cols == kAny || may_be_absent(use)) return;
  const uint64_t bytes = uint64_t{rows} * padded(cols) * sizeof(float);
  bytes_ += keeps_best_ && use == Use::kLearned ? 2 * bytes : bytes;
}
void MemorySum::values(const std::string&, std::vector<float>&, size_t size, Use) {
  bytes_ += size == kAny ? 0 : size * sizeof(float);
}
void MemorySum::values(const std::string&, std::vector<double>&, size_t size, Use) {
  bytes_ += size == kAny ? 0 : size * sizeof(double);
}
void MemorySum::values(const std::string&, std::vector<uint32_t>&, size_t size, Use) {
  bytes_ += size == kAny ? 0 : size * sizeof(uint32_t);
}
void MemorySum::values(const std::string&, std::vector<uint64_t>&, size_t size, Use) {
  bytes_ += size == kAny ? 0 : size * sizeof(uint64_t);
}

// --- The best epoch ---

void Best::clear() {
  any_ = false;
  matrices_.clear();
  values_.clear();
  entries_.clear();
}

void Best::Walker::matrix(const std::string& name, Matrix& m, size_t, size_t, Use use) {
  if (use != Use::kLearned) return;
  if (matrix_ == best_.matrices_.size()) best_.matrices_.emplace_back();
  matrix_at(name, m, best_.matrices_[matrix_++]);
}
void Best::Walker::values(const std::string& name, std::vector<float>& v, size_t, Use use) {
  if (use != Use::kLearned) return;
  if (values_ == best_.values_.size()) best_.values_.emplace_back();
  values_at(name, v, best_.values_[values_++]);
}
void Best::Walker::entry(const std::string& key, const Entry& entry) {
  if (entry.use != Use::kLearned) return;
  if (entry_ == best_.entries_.size()) best_.entries_.emplace_back();
  entry_at(key, entry, best_.entries_[entry_++]);
}

void Best::Keeper::matrix_at(const std::string&, Matrix& of_model, Matrix& kept) {
  kept = Matrix();  // before the copy is made, so that there are two of them and never three
  kept = of_model.copy();
}
void Best::Keeper::values_at(const std::string&, std::vector<float>& of_model,
                             std::vector<float>& kept) {
  kept = of_model;
}
void Best::Keeper::entry_at(const std::string&, const Entry& of_model, std::string& kept) {
  kept = of_model.get();
}

void Best::Taker::matrix_at(const std::string&, Matrix& of_model, Matrix& kept) {
  of_model = std::move(kept);
}
void Best::Taker::values_at(const std::string&, std::vector<float>& of_model,
                            std::vector<float>& kept) {
  of_model = std::move(kept);
}
void Best::Taker::entry_at(const std::string&, const Entry& of_model, std::string& kept) {
  of_model.set(kept);
}

void Best::InFile::matrix_at(const std::string& name, Matrix& of_model, Matrix& kept) {
  parts_.matrix("best." + name, kept, of_model.rows(), of_model.cols(), Use::kRun);
  found_ = found_ || kept.rows() > 0;
  whole_ = whole_ && kept.rows() == of_model.rows();
}
void Best::InFile::values_at(const std::string& name, std::vector<float>& of_model,
                             std::vector<float>& kept) {
  parts_.values("best." + name, kept, of_model.size(), Use::kRun);
  found_ = found_ || !kept.empty();
  whole_ = whole_ && kept.size() == of_model.size();
}
void Best::InFile::entry_at(const std::string& key, const Entry&, std::string& kept) {
  parts_.text("best." + key, kept, Use::kRun);
}

void Best::Exchange::entry_at(const std::string&, const Entry& of_model, std::string& kept) {
  std::string before = of_model.get();
  of_model.set(kept);
  kept = std::move(before);
}

}  // namespace kith
