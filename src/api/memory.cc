// SPDX-License-Identifier: Apache-2.0
// What memory there is for this process, and what it took.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "api/plan.h"

namespace kith {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// The number at the start of a file; nothing if there is none ("max" in a control group).
std::optional<uint64_t> number_in(const fs::path& path) {
  std::ifstream in(path);
  uint64_t n;
  return in >> n ? std::optional(n) : std::nullopt;
}

// The number after a key in a file of lines "key number" or "key: number kB".
std::optional<uint64_t> number_after(const fs::path& path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t n;
    if (words >> name >> n && name == key) return n;
  }
  return std::nullopt;
}

uint64_t left_of(uint64_t limit, uint64_t used) { return limit > used ? limit - used : 0; }

// What is left in the control group of `folder` and in those around it. Pages of files that could
// be dropped do not count as used.
uint64_t left_in_groups(const fs::path& root, fs::path folder, const char* limit_name,
                        const char* usage_name) {
  uint64_t left = kUnlimited;
  while (true) {
    if (const auto limit = number_in(folder / limit_name)) {
      const fs::path stat = folder / "memory.stat";
      const uint64_t files = number_after(stat, "inactive_file").value_or(0) +
                             number_after(stat, "active_file").value_or(0);
      const uint64_t used = number_in(folder / usage_name).value_or(0);
      left = std::min(left, left_of(*limit, left_of(used, files)));
    }
    if (folder == root || !folder.has_relative_path()) return left;
    folder = folder.parent_path();
  }
}

uint64_t left_in_control_groups() {
  const fs::path root = "/sys/fs/cgroup";
  uint64_t left = kUnlimited;
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // number:controllers:path
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path own = fs::path(line.substr(second + 1)).relative_path();
    if (controllers.empty()) {
      left = std::min(left, left_in_groups(root, root / own, "memory.max", "memory.current"));
    } else if (controllers.find("memory") != std::string::npos) {
      left = std::min(left, left_in_groups(root / "memory", root / "memory" / own,
                                           "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
  }
  return left;
}

}  // namespace
std::optional<uint64_t> available_memory() {
  uint64_t left = left_in_control_groups();
  if (const auto kilobytes = number_after("/proc/meminfo", "MemAvailable:")) {
    left = std::min(left, *kilobytes * 1024);
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const uint64_t used = number_after("/proc/self/status", "VmSize:").value_or(0) * 1024;
    left = std::min(left, left_of(limit.rlim_cur, used));
  }
  return left == kUnlimited ? std::nullopt : std::optional(left);
}

uint64_t memory_now() {
  uint64_t all = 0, resident = 0;  // pages
  std::ifstream in("/proc/self/statm");
  return in >> all >> resident ? resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

uint64_t peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace kith
