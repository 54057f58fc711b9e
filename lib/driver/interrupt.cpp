// Handlers of SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT and SIGBUS (a mapped input that was cut short), and
// the atomics they set.
#include "mrvlc/driver/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <utility>

namespace mrvlc::driver {
namespace {

// A signal handler has no other way to reach the program than objects of static lifetime.
std::atomic<const char*> pending_text{""}, lost_input{""}, abort_text{""};
std::atomic<int> guards{0}, pending{0};
std::atomic<bool> finished{false};  // by InterruptGuard::done()
std::atomic<int64_t> first_ms{0};
// `timeout` and shells signal the process and then its group: one wish, delivered twice.
constexpr int64_t kSameSignalMs = 500;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free &&
              std::atomic<const char*>::is_always_lock_free);

int64_t now_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

// As ExitClass::Io and ExitClass::Internal (support/diag.h).
constexpr int kInputOutput = 3, kInternal = 70;

[[noreturn]] void end(const char* message, int code) {
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, message, std::strlen(message));
  ::_exit(code);
}

extern "C" void mrvlc_on_signal(int signal) {
  int expected = 0;
  if (guards.load() > 0 || finished.load()) {
    if (pending.compare_exchange_strong(expected, signal)) {
      first_ms = now_ms();
      return;
    }
    if (now_ms() - first_ms.load() < kSameSignalMs) return;
  }
  end(pending_text.load(), 128 + signal);
}

// A check of the C++ library failed: an internal error, told as one.
extern "C" void mrvlc_on_abort(int) {
  end(abort_text.load(), kInternal);
}

extern "C" void mrvlc_on_bus_error(int signal, siginfo_t* info, void*) {
  if (info->si_code == BUS_ADRERR) end(lost_input.load(), kInputOutput);
  ::signal(signal, SIG_DFL);  // the instruction is run again, and ends the process
}

}  // namespace

void handle_interrupts(const char* message) {
  pending_text = message;
  struct sigaction action {};
  action.sa_handler =
      mrvlc_on_signal;  // without SA_RESTART: calls that wait return, and their loops ask interrupted()
  // A shell without job control ignores SIGINT for what runs in the background; who sends it nonetheless
  // means it.
  for (int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  for (int signal : {SIGHUP, SIGQUIT}) {
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;  // nohup
    ::sigaction(signal, &action, nullptr);
  }
}

void handle_lost_input(const char* message) {
  lost_input = message;
  struct sigaction action {};
  action.sa_sigaction = mrvlc_on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

void handle_abort(const char* message) {
  abort_text = message;
  ::signal(SIGABRT, mrvlc_on_abort);
}

int interrupted() {
  int signal = finished.load() ? 0 : pending.load();
  return signal == 0 ? 0 : 128 + signal;
}

InterruptGuard::InterruptGuard() {
  if (guards++ > 0 || !finished.load()) return;
  pending = 0;
  finished = false;
}

void InterruptGuard::done() {
  if (guards.load() == 1) finished = true;
}

InterruptGuard::~InterruptGuard() {
  --guards;
}

EndOnInterrupt::EndOnInterrupt(std::function<void()> clean_up)
    : watcher_([this, clean_up = std::move(clean_up)] { watch(clean_up); }) {}

EndOnInterrupt::~EndOnInterrupt() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  watcher_.join();
}

void EndOnInterrupt::watch(const std::function<void()>& clean_up) {
  constexpr auto kLook = std::chrono::milliseconds(50);
  std::unique_lock lock(mutex_);
  while (!over_.wait_for(lock, kLook, [this] { return is_over_; })) {
    if (int code = interrupted()) {
      clean_up();
      end(pending_text.load(), code);
    }
  }
}

}  // namespace mrvlc::driver
