// SPDX-License-Identifier: Apache-2.0
#pragma once
// Model files as commands take and write them.

#include <map>
#include <memory>
#include <string>

#include "models/model.h"
#include "query/neighbours.h"

namespace kith::cli {

struct OpenModel {
  std::string kind;
  std::map<std::string, std::string> metadata;
  std::unique_ptr<Model> model;
};
// Error(kInput) with the command that imports it if the file is another tool's.
OpenModel open_model(const std::string& path);

// A model and one of its sides, ready to be asked.
struct AskedModel {
  AskedModel(OpenModel opened, Side side);
  AskedModel(const std::string& path, Side side) : AskedModel(open_model(path), side) {}
  std::unique_ptr<Model> model;
  Space space;  // borrows the model's names
};

// Error unless a file can be written there; "-" can. Better now than after the work.
void check_writable(const std::string& path);
// Error(kUsage) if writing `output` would replace the file that is read.
void check_distinct(const std::string& input, const std::string& output);

// `threads` as users give it: 0 is every core.
int thread_count(int threads);

}  // namespace kith::cli
