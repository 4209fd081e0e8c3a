// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tells on standard error what the engine says while it works.

#include <string>
#include <string_view>

#include "kith/events.h"
#include "terminal.h"

namespace kith::cli {

// "read     12 MB in 0.2 s ...": a label, and a text that wraps beside it on a terminal.
std::string labelled(std::string_view label, std::string_view text);

class Narrator final : public Observer {
 public:
  explicit Narrator(bool quiet) : status_(quiet) {}
  void on(const Note& e) override;
  void on(const Choice& e) override;
  void on(const Reading& e) override;
  void on(const Profile& e) override;
  void on(const Memory& e) override;
  void on(const Training& e) override;
  void on(const Checkpoint& e) override;
  void on(const Examples& e) override;
  void on(const Attempt& e) override;

  Status& status() { return status_; }

 private:
  Status status_;
};

}  // namespace kith::cli
