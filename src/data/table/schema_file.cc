// SPDX-License-Identifier: Apache-2.0
#include "data/table/schema_file.h"

#include <filesystem>

#include "core/error.h"
#include "core/hash.h"
#include "io/file.h"
#include "kith/text.h"

namespace kith {
namespace {

namespace fs = std::filesystem;
constexpr size_t kLongestSchema = size_t{16} << 20;
constexpr std::string_view kStart = "{\n";

std::string text_of_file(const std::string& path) {
  std::string out;
  const auto source = open_source(path);
  for (auto piece = source->next(); !piece.empty(); piece = source->next()) {
    out.append(piece.data(), piece.size());
    if (out.size() > kLongestSchema) {
      throw fault(ErrorKind::kInput, "{}: too long for a schema", path);
    }
  }
  return out;
}

// A key in front says what the columns were when it was written: then it is known whether they have
// been edited since.
std::string text_of(const Schema& schema) {
  const std::string plain = to_json(schema);
  return fmt::format("{}  \"inferred\": \"{:016x}\",\n{}", kStart, stable_hash(plain),
                     plain.substr(kStart.size()));
}

enum class Found { kNothing, kSame, kUntouched, kEdited };

Found look_at(const std::string& path, const Schema* schema) {
  std::error_code none;
  if (!fs::exists(path, none)) return Found::kNothing;
  const std::string text = text_of_file(path);
  try {
    const Schema found = schema_from_json(text, path);
    if (schema && to_json(found) == to_json(*schema)) return Found::kSame;
    return text == text_of(found) ? Found::kUntouched : Found::kEdited;
  } catch (const Error&) {
    return Found::kEdited;  // and is no schema any more
  }
}

// Renames it to the first of NAME.1, NAME.2 that is free, and says which.
std::string put_aside(const std::string& path) {
  std::error_code failed;
  int k = 1;
  while (fs::exists(fmt::format("{}.{}", path, k), failed)) ++k;
  std::string out = fmt::format("{}.{}", path, k);
  fs::rename(path, out, failed);
  if (!failed) return out;
  throw fault(ErrorKind::kIo, "{}: cannot rename it to {}: {}", path, out, failed.message());
}

}  // namespace

Schema read_schema(const std::string& path) { return schema_from_json(text_of_file(path), path); }

std::optional<Note> write_schema(const std::string& path, bool given, const Schema& schema) {
  const Found found = look_at(path, &schema);
  if (found == Found::kSame || (given && found != Found::kNothing)) return std::nullopt;
  std::string before;
  if (found == Found::kEdited) before = put_aside(path);
  AtomicFile file(path);
  file.write(text_of(schema));
  file.commit();
  std::string said = fmt::format(
      "the types of the columns were written to {}: to change them, edit it and give it with "
      "--schema",
      path);
  if (!before.empty()) {
    said += fmt::format("; the one that was there before was not used: to use it, give --schema {}",
                        shell_quoted(before));
  }
  return Note{Note::Level::kNote, said};
}

std::optional<Note> retire_schema(const std::string& path) {
  const Found found = look_at(path, nullptr);
  if (found == Found::kNothing) return std::nullopt;
  if (found == Found::kEdited) {
    return Note{Note::Level::kNote, fmt::format("{} was of another model, and had been edited: it "
                                                "is {} now",
                                                path, put_aside(path))};
  }
  std::error_code failed;
  fs::remove(path, failed);
  if (!failed) return std::nullopt;
  return Note{Note::Level::kWarning, fmt::format("{} is of another model and cannot be removed: {}",
                                                 path, failed.message())};
}

}  // namespace kith
