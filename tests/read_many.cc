// SPDX-License-Identifier: Apache-2.0
// Reads many files with every reader of model and vector files, in one process, so that a hundred
// thousand damaged ones take minutes. A file must be read or refused by a kith::Error: anything
// else that is thrown, a crash, two seconds of work or memory out of proportion is a bug.
//
//   read_many --make FOLDER      writes small files of every kind there
//   read_many < LIST             reads the files listed, a path a line; for each prints the path
//                                before it reads it and what came of it after
//
// A path that ends in .sealed is a damaged model file whose checksum is put right first, so that
// what lies behind the checksum is reached too.

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "data/bags/bags.h"
#include "data/counts/counts.h"
#include "data/counts/pair_counter.h"
#include "data/documents/document_reader.h"
#include "data/labelled/labelled_reader.h"
#include "data/matrix/matrix.h"
#include "data/ratings/ratings.h"
#include "data/table/table.h"
#include "data/text/corpus.h"
#include "io/fasttext_bin.h"
#include "io/test_fasttext_bytes.h"
#include "io/vector_files.h"
#include "models/capabilities.h"
#include "models/model.h"
#include "seal.h"

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr int kSeconds = kSanitized ? 20 : 2;
constexpr size_t kMemory = size_t{1} << 30;

// --- The files to damage ---

std::string two_topics() {
  std::string text;
  kith::Rng rng(1, 0);
  for (int line = 0; line < 60; ++line) {
    for (int word = 0; word < 8; ++word) {
      text += (line % 2 ? "sea" : "hill") + std::to_string(rng.below(6)) + ' ';
    }
    text.back() = '\n';
  }
  return text;
}

// A column of every type.
std::string make_csv(const std::string& folder) {
  std::string text = "who,tags,note,size,day,flag,vector\n";
  kith::Rng rng(3, 0);
  for (int row = 0; row < 40; ++row) {
    const auto n = [&](uint32_t below) { return std::to_string(rng.below(below)); };
    text += "w" + n(5) + ",t" + n(4) + "|t" + n(4) + ",some words " + n(9) + " of " + n(9) +
            " row " + std::to_string(row) + "," + n(100) + ".5,2020-0" +
            std::to_string(1 + row % 9) + "-11," + (row % 2 ? "yes" : "no") + ",[" + n(9) + ";" +
            n(9) + ";" + n(9) + "]\n";
  }
  std::string path = folder + "/table.words";
  std::ofstream(path) << text;
  return path;
}

kith::Ratings make_ratings() {
  kith::Names users, items;
  std::vector<kith::Rating> ratings, held_out;
  for (uint32_t u = 0; u < 6; ++u) users.add("u" + std::to_string(u));
  for (uint32_t i = 0; i < 5; ++i) items.add("i" + std::to_string(i));
  for (uint32_t k = 0; k < 24; ++k) {
    (k % 8 == 7 ? held_out : ratings).push_back({k % 6, k % 5, static_cast<float>(k % 4 + 1)});
  }
  return kith::Ratings::of(std::move(users), std::move(items), ratings, held_out);
}

kith::MatrixData make_matrix() {
  kith::Matrix rows(40, 5);
  for (size_t r = 0; r < rows.rows(); ++r) {
    for (size_t c = 0; c < rows.cols(); ++c) {
      rows.row(r)[c] = static_cast<float>((r * (c + 3)) % 11 + 5 * (r % 4));
    }
  }
  return kith::MatrixData::of(std::move(rows));
}

kith::Bags make_bags() {
  kith::Names words, names;
  kith::Sparse counts;
  counts.columns = 12;
  for (uint32_t w = 0; w < counts.columns; ++w) words.add("w" + std::to_string(w));
  for (uint32_t d = 0; d < 20; ++d) {
    names.add("d" + std::to_string(d));
    for (uint32_t w = d % 3; w < counts.columns; w += 3) {
      counts.column.push_back(w);
      counts.value.push_back(static_cast<float>(1 + (d + w) % 3));
    }
    counts.offsets.push_back(counts.column.size());
  }
  return {std::move(words), std::move(names), std::move(counts)};
}

kith::Labelled make_labelled(const std::string& folder) {
  const std::string path = folder + "/labelled.words";
  std::ofstream out(path);
  for (int k = 0; k < 40; ++k) {
    out << "__label__" << k % 3 << " w" << k % 7 << " w" << k % 5 << " w" << k % 3 << "\n";
  }
  out.close();
  return kith::LabelledReader({}, {}, {}).read({path}, std::nullopt);
}

void make_models(const std::string& folder) {
  const std::string text = folder + "/corpus.words";
  std::ofstream(text) << two_topics();
  kith::CorpusOptions options;
  options.holdout = 0;
  auto corpus = kith::Corpus::read({text}, options, folder);
  kith::SampledTable rows(kith::open_table({make_csv(folder)}, {}));
  auto table = kith::Table::read(rows, kith::infer_schema(rows).schema, 0);
  auto ratings = make_ratings();
  auto cells = kith::count_pairs(corpus, {}, folder, kith::Context(1));
  kith::Counts counts(kith::Vocabulary(corpus.vocabulary()), std::move(cells), "", {});
  counts.save(folder + "/words.counts");
  auto labelled = make_labelled(folder);
  kith::TextRows lines({text}, "", "", "id", {});
  auto documents = kith::DocumentReader(options, {}).read(lines);
  auto matrix = make_matrix();
  auto bags = make_bags();
  const std::vector<kith::Dataset*> all{&corpus,   &table,     &ratings, &counts,
                                        &labelled, &documents, &matrix,  &bags};
  for (const auto& info : kith::models()) {
    if (!info.data) continue;
    const std::string name(info.name);
    for (const bool checkpoint : {true, false}) {
      const auto model = info.make();
      const kith::Section section = model->settings();
      for (const char* size : {"dim", "topics", "components"}) {
        if (section.find(size)) section.set(size, kith::Value(int64_t{4}));
      }
      section.set("epochs", kith::Value(int64_t{3}));
      kith::Job job;
      job.deterministic = checkpoint;
      if (checkpoint) {
        job.on_progress = [&](const kith::Progress&) { job.cancel(); };
      }
      // One of the files shall have what normalising takes out of ratings.
      ratings.normalise_by(name == "svp" ? kith::Normalise::kBoth : kith::Normalise::kNone);
      const auto own = std::ranges::find_if(
          all, [&](const kith::Dataset* d) { return &d->kind() == info.data; });
      model->fit(**own, job, false);
      kith::save_model(*model, name, folder + "/" + name + (checkpoint ? ".checkpoint" : ".kith"),
                       checkpoint, {});
    }
  }
}

void make_vectors(const std::string& folder) {
  kith::Names names;
  kith::Matrix matrix(7, 5);
  kith::Rng rng(2, 0);
  for (size_t r = 0; r < matrix.rows(); ++r) {
    names.add(r == 3 ? "gr\u00fcn" : "word" + std::to_string(r));
    for (float& x : matrix.row(r)) x = rng.uniform() - 0.5f;
  }
  const std::pair<kith::VectorFormat, const char*> formats[] = {
      {kith::VectorFormat::kWord2vecBin, "vectors.bin"},
      {kith::VectorFormat::kWord2vecText, "vectors.txt"},
      {kith::VectorFormat::kGlove, "vectors.glove"},
      {kith::VectorFormat::kNpy, "vectors.npy"},
      {kith::VectorFormat::kCsv, "vectors.csv"},
      {kith::VectorFormat::kSafetensors, "vectors.safetensors"},
  };
  for (const auto& [format, file] : formats) {
    kith::write_vectors(folder + "/" + file, format, names, matrix);
  }
}

void make_fasttext(const std::string& folder) {
  const auto put = [&](const char* name, std::string_view bytes) {
    std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
  };
  put("fasttext.bin", kith::testing::kOfFastText);
  put("fasttext.ftz", kith::testing::quantised(true, true, true));
}

// --- Reading them ---

uint64_t digest(const kith::Names& names, const kith::Vectors& vectors) {
  uint64_t h = XXH3_64bits(names.bytes().data(), names.bytes().size());
  kith::for_each_row(vectors, [&](size_t, std::span<const float> row) {
    h = XXH3_64bits_withSeed(row.data(), row.size_bytes(), h);
  });
  return h;
}

uint64_t digest(const kith::ModelBase& model) {
  uint64_t h = 0;
  if (const auto* const with = dynamic_cast<const kith::HasVectors*>(&model)) {
    for (const auto& g : with->vectors(kith::Side::kInput)) {
      h = h * 31 + digest(*g.names, *g.vectors);
    }
  }
  for (const auto& f : model.info()) h = h * 31 + XXH3_64bits(f.value.data(), f.value.size());
  return h;
}

// Restores the archive into a fresh model of every kind, whatever it says it is: this is how a
// checkpoint is read.
uint64_t read_checkpoint(const std::string& path) {
  const auto archive = kith::Archive::open(path);
  for (const auto& info : kith::models()) {
    try {
      const auto model = info.make();
      kith::restore_checkpoint(*model, info.name, archive);
      return digest(*model);
    } catch (const kith::Error&) {
      if (&info == &kith::models().back()) throw;
    }
  }
  return 0;
}

// All of it, and what is looked at in place.
uint64_t read_model(const std::string& path) {
  const auto archive = kith::Archive::open(path);
  uint64_t h = 0;
  try {
    h = digest(*kith::load_model(archive, kith::Loader::Mode::kMapped));
  } catch (const kith::Error&) {  // refused
  }
  return h + digest(*kith::load_model(archive));
}

uint64_t read_vector_file(const std::string& path) {
  const auto vectors = kith::read_vectors(path);
  return digest(vectors.names, kith::MatrixVectors(vectors.matrix));
}

uint64_t read_fasttext(const std::string& path) {
  const auto file = kith::read_fasttext_bin(path);
  return digest(file.words, kith::MatrixVectors(file.input)) +
         digest(file.labels, kith::MatrixVectors(file.output));
}

// To be learned from.
uint64_t read_counts(const std::string& path) { return kith::Counts::open(path).fingerprint(); }

struct Tally {
  size_t files = 0, read = 0, refused = 0, wrong = 0;
};

void set_timers(int seconds) {
  // Work, not waiting: other programs on the machine must not look like a hang here.
  const itimerval cpu{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &cpu, nullptr);
  alarm(static_cast<unsigned>(seconds) * 15);
}

void try_file(const std::string& path, Tally& counts) {
  std::printf("%s", path.c_str());
  std::fflush(stdout);  // if this file kills us, its name stands last
  set_timers(kSeconds);
  ++counts.files;
  bool read = false, wrong = false;
  try {
    if (path.ends_with(".sealed")) seal(path);
    for (const auto reader :
         {read_model, read_checkpoint, read_vector_file, read_fasttext, read_counts}) {
      try {
        std::printf(" read=%016llx", static_cast<unsigned long long>(reader(path)));
        read = true;
      } catch (const kith::Error& e) {
        std::printf(" refused");
        // A small file can never need much memory: a size in it was believed.
        if (e.kind() == kith::ErrorKind::kLimit) {
          std::printf(" WRONG: asked for too much memory: %s", e.what());
          wrong = true;
        }
      }
    }
  } catch (const std::exception& e) {
    std::printf(" WRONG: threw %s", e.what());
    wrong = true;
  }
  set_timers(0);
  std::printf("\n");
  counts.read += read;
  counts.refused += !read;
  counts.wrong += wrong;
}

int read_list() {
  // One mapping too many must not take the machine down. Sanitizers reserve terabytes.
  const rlimit limit{kMemory, kMemory};
  if (!kSanitized) setrlimit(RLIMIT_AS, &limit);
  Tally counts;
  for (std::string path; std::getline(std::cin, path);) try_file(path, counts);
  std::printf("%zu files: %zu read, %zu clean errors, %zu wrong\n", counts.files, counts.read,
              counts.refused, counts.wrong);
  return counts.wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 3 && std::string_view(argv[1]) == "--make") {
      make_models(argv[2]);
      make_vectors(argv[2]);
      make_fasttext(argv[2]);
      return 0;
    }
    if (argc == 1) return read_list();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "read_many: %s\n", e.what());
    return 1;
  }
  std::fprintf(stderr, "usage: read_many --make FOLDER, or a list of files on standard input\n");
  return 2;
}
