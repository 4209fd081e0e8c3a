// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string_view>

#include "commands.h"

namespace kith::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
std::atomic<Context*> g_context{nullptr};
static_assert(std::atomic<Context*>::is_always_lock_free, "a signal handler reads it");
std::array<struct sigaction, kSignals.size()> g_before;

void tell(std::string_view text) {
  // The return value does not matter here, but must be looked at.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

// Only calls that are safe in a signal handler.
extern "C" void on_interrupt(int) {
  const int saved = errno;
  if (Context* const context = g_context.load()) context->cancel();
  tell("\nkith: stopping at the next safe point; Ctrl-C again stops at once\n");
  errno = saved;
}

extern "C" void on_lost_file(int) {
  tell(
      "kith: a file became shorter while it was being read; was it overwritten? Nothing was "
      "changed\n");
  ::_exit(kFailed);
}

}  // namespace

Interrupts::Interrupts(Context& context) {
  g_context.store(&context);
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &g_before[i]);
    // nohup means it: the run outlives its terminal.
    if (kSignals[i] == SIGHUP && g_before[i].sa_handler == SIG_IGN) continue;
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

Interrupts::~Interrupts() {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &g_before[i], nullptr);
  g_context.store(nullptr);
}

void explain_lost_files() {
  struct sigaction action {};
  action.sa_handler = on_lost_file;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace kith::cli
