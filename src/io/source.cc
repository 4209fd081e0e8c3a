// SPDX-License-Identifier: Apache-2.0
// Which bytes are packed, and how, by the first of them.

#include <array>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "io/file.h"
#include "io/raw_input.h"
#include "kith/text.h"

namespace kith {
namespace {

using namespace std::string_view_literals;

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(RawInput input) : input_(std::move(input)) {}
  std::span<const char> next() override { return input_.next(); }
  double share() const override { return input_.share(); }

 private:
  RawInput input_;
};

// A file that ends inside the magic number counts too: it is cut off, not text.
bool begins_with(std::string_view bytes, std::string_view magic, size_t least = 2) {
  const size_t n = std::min(bytes.size(), magic.size());
  return n >= least && bytes.substr(0, n) == magic.substr(0, n);
}

bool is_zstd(std::string_view bytes) {
  if (begins_with(bytes, "\x28\xb5\x2f\xfd")) return true;
  // A skippable frame in front, as parallel compressors write.
  return bytes.size() >= 4 && (bytes[0] & 0xf0) == 0x50 && bytes.substr(1, 3) == "\x2a\x4d\x18";
}

// A text may begin with BZh1 too; behind it stands a block, or the end of an empty file.
bool is_bzip2(RawInput& input) {
  const std::string_view four = input.peek(4);
  if (four.substr(0, 3) != "BZh" || four.size() < 4 || four[3] < '1' || four[3] > '9') return false;
  const std::string_view rest = input.peek(10).substr(4, 6);
  return begins_with(rest, "1AY&SY", 0) || begins_with(rest, "\x17rE8P\x90", 0);
}

// Whether a character is one that no text has.
bool is_control(std::string_view one) {
  return !one.empty() && static_cast<uint8_t>(one[0]) < ' ' && "\t\r\n"sv.find(one[0]) == one.npos;
}

bool is_workbook(std::string_view first_member) {
  return first_member.starts_with("[Content_Types].xml") || first_member.starts_with("xl/") ||
         first_member.starts_with("mimetypeapplication/vnd.oasis");
}

// Error(kInput) for what holds data but is no stream of them, with the command that makes one.
void refuse_containers(RawInput& input, const std::string& path) {
  const std::string file = path == "-" ? "FILE" : shell_quoted(path);
  const auto refuse = [&](std::string_view what, std::string_view command) {
    throw fault(ErrorKind::kInput, "{}: this is {} {}", input.where(), what, command);
  };
  const std::string_view start = input.peek(4).substr(0, 4);
  if (start == "PK\3\4" || start == "PK\5\6") {
    constexpr size_t kName = 30;  // where that of the first member begins
    const std::string_view head = input.peek(2 * kName);
    if (head.size() > kName && is_workbook(head.substr(kName))) {
      refuse("a workbook; convert it with: libreoffice --headless --convert-to csv", file);
    }
    refuse("a zip archive; unpack it with: unzip", file);
  }
  if (start == "7z\xbc\xaf") refuse("a 7z archive; unpack it with: 7z x", file);
  // A column may be called PAR1; behind the magic of Parquet stands no text.
  if (start == "PAR1" && is_control(input.peek(5).substr(4, 1))) {
    refuse(
        "a Parquet file; convert it with: python3 -c \"import sys, pandas; "
        "pandas.read_parquet(sys.argv[1]).to_csv(sys.argv[1] + '.csv', index=False)\"",
        file);
  }
}

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  RawInput input(path);
  const std::string_view start = input.peek(4);
  if (begins_with(start, "\x1f\x8b")) return unpack_gzip(std::move(input));
  if (is_zstd(start)) return unpack_zstd(std::move(input));
  if (begins_with(start, "\xfd\x37\x7a\x58")) return unpack_xz(std::move(input));
  if (is_bzip2(input)) return unpack_bzip2(std::move(input));
  refuse_containers(input, path);
  return std::make_unique<PlainSource>(std::move(input));
}

std::string name_unpacked(const std::string& name) {
  constexpr std::array kEnds{".gz"sv, ".zst"sv, ".zstd"sv, ".xz"sv, ".bz2"sv};
  const std::filesystem::path path(name);
  return std::ranges::find(kEnds, path.extension().string()) != kEnds.end()
             ? (path.parent_path() / path.stem()).string()
             : name;
}

}  // namespace kith
