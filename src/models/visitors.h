// SPDX-License-Identifier: Apache-2.0
#pragma once
// The visitors of a model's parts.

#include <deque>
#include <memory>

#include "io/archive.h"
#include "models/parts.h"

namespace kith {

// Puts views of the parts into a file to be written; those of a run only if `checkpoint`.
class Saver final : public Parts {
 public:
  Saver(ArchiveWriter& out, bool checkpoint) : out_(out), checkpoint_(checkpoint) {}
  void matrix(const std::string& name, Matrix& m, size_t rows, size_t cols, Use use) override;
  void values(const std::string& name, std::vector<float>& v, size_t size, Use use) override;
  void values(const std::string& name, std::vector<double>& v, size_t size, Use use) override;
  void values(const std::string& name, std::vector<uint32_t>& v, size_t size, Use use) override;
  void values(const std::string& name, std::vector<uint64_t>& v, size_t size, Use use) override;
  void names(const std::string& name, Names& names) override { out_.add_names(name, names); }

 private:
  void entry(const std::string& key, const Entry& entry) override;
  void stored_settings(const std::string& key, const Section& section) override;
  bool wanted(Use use, bool empty) const;
  template <class T>
  void put(const std::string& name, const std::vector<T>& v, Use use);
  ArchiveWriter& out_;
  bool checkpoint_;
};

// Reads the parts of a file. Shapes are checked, and numbers that training moves are finite.
// Error(kInput) that names the file and the part.
class Loader final : public Parts {
 public:
  enum class Mode {
    kOwn,     // everything, in memory of the model's own
    kMapped,  // only what names and vectors are made of, in place: the file must stay mapped
  };
  Loader(const Archive& in, Mode mode) : in_(in), mode_(mode) {}
  bool loading() const override { return true; }
  bool vectors_only() const override { return mode_ == Mode::kMapped; }
  void check(bool good, std::string_view what) override;
  void matrix(const std::string& name, Matrix& m, size_t rows, size_t cols, Use use) override;
  void values(const std::string& name, std::vector<float>& v, size_t size, Use use) override;
  void values(const std::string& name, std::vector<double>& v, size_t size, Use use) override;
  void values(const std::string& name, std::vector<uint32_t>& v, size_t size, Use use) override;
  void values(const std::string& name, std::vector<uint64_t>& v, size_t size, Use use) override;
  void names(const std::string& name, Names& names) override;

 private:
  void entry(const std::string& key, const Entry& entry) override;
  void stored_settings(const std::string& key, const Section& section) override;
  bool absent(const std::string& name, Use use) const;
  template <class T>
  void take(const std::string& name, std::vector<T>& v, size_t size, Use use);
  const Archive& in_;
  Mode mode_;
};

// What one look at all parts needs: nothing of the header.
class TensorVisitor : public Parts {
 public:
  void values(const std::string&, std::vector<float>&, size_t, Use) override {}
  void values(const std::string&, std::vector<double>&, size_t, Use) override {}
  void values(const std::string&, std::vector<uint32_t>&, size_t, Use) override {}
  void values(const std::string&, std::vector<uint64_t>&, size_t, Use) override {}
  void names(const std::string&, Names&) override {}

 protected:
  void entry(const std::string&, const Entry&) override {}
  void stored_settings(const std::string&, const Section&) override {}
};

// Whether what training moves is finite; the name of the first part that is not.
class FiniteCheck : public TensorVisitor {
 public:
  void matrix(const std::string& name, Matrix& m, size_t rows, size_t cols, Use use) override;
  void values(const std::string& name, std::vector<float>& v, size_t size, Use use) override;
  const std::string& bad() const { return bad_; }

 protected:
  using TensorVisitor::values;
  std::string bad_;
};

// Whether a Loader would take all parts: what it would say against them.
class LoadableCheck final : public TensorVisitor {
 public:
  void check(bool good, std::string_view what) override;
  void matrix(const std::string& name, Matrix& m, size_t rows, size_t cols, Use use) override;
  void values(const std::string& name, std::vector<float>& v, size_t size, Use use) override;
  void values(const std::string& name, std::vector<double>& v, size_t size, Use use) override;
  const std::string& bad() const { return bad_; }

 private:
  using TensorVisitor::values;
  std::string bad_;
};

// Bytes that the parts take, of a model whose sizes are known and whose tensors are not there yet.
class MemorySum final : public TensorVisitor {
 public:
  explicit MemorySum(bool keeps_best) : keeps_best_(keeps_best) {}
  void matrix(const std::string& name, Matrix& m, size_t rows, size_t cols, Use use) override;
  void values(const std::string& name, std::vector<float>& v, size_t size, Use use) override;
  void values(const std::string& name, std::vector<double>& v, size_t size, Use use) override;
  void values(const std::string& name, std::vector<uint32_t>& v, size_t size, Use use) override;
  void values(const std::string& name, std::vector<uint64_t>& v, size_t size, Use use) override;
  uint64_t bytes() const { return bytes_; }

 private:
  bool keeps_best_;
  uint64_t bytes_ = 0;
};

// The best epoch's parameters, while a run that may go back to them is on.
class Best {
 public:
  template <class M>
  void keep(M& model);
  template <class M>
  bool take(M& model);  // false if none were kept
  // As parts of a checkpoint, called as those of the model with "best." in front.
  template <class M>
  void visit(M& model, Parts& parts);
  void clear();

 private:
  class Walker : public TensorVisitor {
   public:
    explicit Walker(Best& best) : best_(best) {}
    void matrix(const std::string& name, Matrix& m, size_t rows, size_t cols, Use use) override;
    void values(const std::string& name, std::vector<float>& v, size_t size, Use use) override;

   protected:
    using TensorVisitor::values;
    void entry(const std::string& key, const Entry& entry) override;
    virtual void matrix_at(const std::string& name, Matrix& of_model, Matrix& kept) = 0;
    virtual void values_at(const std::string& name, std::vector<float>& of_model,
                           std::vector<float>& kept) = 0;
    virtual void entry_at(const std::string& key, const Entry& of_model, std::string& kept) = 0;
    Best& best_;

   private:
    size_t matrix_ = 0, values_ = 0, entry_ = 0;
  };
  class Keeper;
  class Taker;
  class InFile;
  class Exchange;
  class Recheck;
  friend class Walker;

  bool any_ = false;
  std::deque<Matrix> matrices_;
  std::deque<std::vector<float>> values_;
  std::deque<std::string> entries_;
};

class Best::Keeper final : public Best::Walker {
 public:
  using Walker::Walker;

 private:
  void matrix_at(const std::string& name, Matrix& of_model, Matrix& kept) override;
  void values_at(const std::string& name, std::vector<float>& of_model,
                 std::vector<float>& kept) override;
  void entry_at(const std::string& key, const Entry& of_model, std::string& kept) override;
};

class Best::Taker final : public Best::Walker {
 public:
  using Walker::Walker;

 private:
  void matrix_at(const std::string& name, Matrix& of_model, Matrix& kept) override;
  void values_at(const std::string& name, std::vector<float>& of_model,
                 std::vector<float>& kept) override;
  void entry_at(const std::string& key, const Entry& of_model, std::string& kept) override;
};

class Best::InFile final : public Best::Walker {
 public:
  InFile(Best& best, Parts& parts) : Walker(best), parts_(parts) {}
  bool found() const { return found_; }
  bool whole() const { return whole_; }

 private:
  void matrix_at(const std::string& name, Matrix& of_model, Matrix& kept) override;
  void values_at(const std::string& name, std::vector<float>& of_model,
                 std::vector<float>& kept) override;
  void entry_at(const std::string& key, const Entry& of_model, std::string& kept) override;
  Parts& parts_;
  bool found_ = false, whole_ = true;
};

// The numbers of the header of the best epoch for those of the model.
class Best::Exchange final : public Best::Walker {
 public:
  using Walker::Walker;

 private:
  void matrix_at(const std::string&, Matrix&, Matrix&) override {}
  void values_at(const std::string&, std::vector<float>&, std::vector<float>&) override {}
  void entry_at(const std::string& key, const Entry& of_model, std::string& kept) override;
};

// What a model says against its parts is said against the file.
class Best::Recheck final : public TensorVisitor {
 public:
  explicit Recheck(Parts& parts) : parts_(parts) {}
  void check(bool good, std::string_view what) override { parts_.check(good, what); }
  void matrix(const std::string&, Matrix&, size_t, size_t, Use) override {}

 private:
  Parts& parts_;
};

template <class M>
void Best::keep(M& model) {
  Keeper keeper(*this);
  model.visit(keeper);
  any_ = true;
}

template <class M>
bool Best::take(M& model) {
  if (!any_) return false;
  Taker taker(*this);
  model.visit(taker);
  clear();
  return true;
}

template <class M>
void Best::visit(M& model, Parts& parts) {
  if (parts.loading()) any_ = true;  // and else not a write: models are saved from many threads
  if (!any_) return;
  InFile in_file(*this, parts);
  model.visit(in_file);
  if (!parts.loading()) return;
  if (!in_file.found()) return clear();
  parts.check(in_file.whole(), "a part of the best epoch is missing");
  // Tensors were as long as the model's; its numbers must fit them as well.
  Exchange there(*this), back(*this);
  Recheck recheck(parts);
  model.visit(there);
  model.visit(recheck);
  model.visit(back);
}

}  // namespace kith
