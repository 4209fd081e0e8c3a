// SPDX-License-Identifier: Apache-2.0
#include "models/run_file.h"

#include <cmath>

namespace kith {

void pack(const RunState& state, bool checkpoint, ArchiveWriter& out) {
  const auto put = [&](const char* key, auto value) {
    out.metadata[key] = fmt::format("{}", value);
  };
  put("progress.block", state.block);
  put("progress.lr_scale", state.lr_scale);
  put("progress.loss", state.loss);
  put("progress.epoch_loss", state.epoch_loss);
  put("progress.epoch_steps", state.epoch_steps);
  out.metadata["progress.held_out"] = fmt::format("{}", fmt::join(state.held_out, " "));
  if (state.kept) put("progress.kept", *state.kept);
  if (state.refit) put("progress.refit", state.refit);
  put("progress.finished", state.finished && !checkpoint ? 1 : 0);
}

void read_run(const Archive& in, RunState& state) {
  state.block = in.number_at<uint64_t>("progress.block");
  state.lr_scale = in.number_at<double>("progress.lr_scale");
  state.loss = in.number_at<double>("progress.loss");
  state.epoch_loss = in.number_at<double>("progress.epoch_loss");
  state.epoch_steps = in.number_at<uint64_t>("progress.epoch_steps");
  state.held_out = in.numbers_at("progress.held_out");
  state.kept.reset();
  state.refit = 0;
  if (in.metadata().contains("progress.refit")) {
    state.refit = in.number_at<uint64_t>("progress.refit");
  }
  if (in.metadata().contains("progress.kept")) state.kept = in.number_at<uint64_t>("progress.kept");
  state.finished = in.metadata_at("progress.finished") == "1";
}

void add_facts(const RunState& state, std::vector<Fact>& out) {
  out.push_back({"loss", fmt::format("{:.5f}", state.loss)});
  if (!state.held_out.empty()) {
    out.push_back({"held_out_before", fmt::format("{:.5f}", state.held_out.front())});
    out.push_back({"held_out", fmt::format("{:.5f}", *state.held_out_now())});
    if (state.kept) out.push_back({"kept_epoch", fmt::format("{}", *state.kept)});
  }
  if (state.lr_scale < 1) {
    out.push_back({"rollbacks", fmt::format("{}", std::lround(-std::log2(state.lr_scale)))});
  }
}

}  // namespace kith
