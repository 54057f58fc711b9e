// What is put back behind a call of a plug-in. A library built with -ffast-math switches the thread that
// loads it to flush-to-zero, which would change constants, weights and the reference.
#include "mrvlc/plugin/call.h"

#include <fcntl.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "mrvlc/plugin/supervisor.h"

namespace mrvlc::plugin {
namespace {

constexpr int kHandled[] = {SIGINT, SIGTERM, SIGABRT};

// What stays the same from the first call on: copies of stdout and stderr.
struct Streams {
  int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  int err = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
};

const Streams& streams() {
  static const Streams kStreams;
  return kStreams;
}

struct sigaction handlers[std::size(kHandled)];

void copy(std::string_view text, char* to, size_t size) {
  const size_t n = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), n);
  to[n] = 0;
}

void note(std::string_view target, std::string_view function, std::string_view node, std::string_view op) {
  Running& r = detail::running();
  copy(target, r.target, sizeof r.target);
  copy(function, r.function, sizeof r.function);
  copy(node, r.node, sizeof r.node);
  copy(op, r.op, sizeof r.op);
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  r.since = now.tv_sec;
  r.inside = true;
}

}  // namespace

Call::Call(std::string_view target, std::string_view function, std::string_view node, std::string_view op) {
  detail::expect_exit();
  std::fegetenv(&environment_);
  const char* locale = std::setlocale(LC_ALL, nullptr);
  locale_ = locale == nullptr ? "C" : locale;
  folder_ = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (size_t i = 0; i < std::size(kHandled); ++i) ::sigaction(kHandled[i], nullptr, &handlers[i]);
  ::signal(SIGABRT, SIG_DFL);  // is no fault of this program's
  std::fflush(stdout);
  if (streams().err >= 0) ::dup2(streams().err, STDOUT_FILENO);
  note(target, function, node, op);
}

Call::~Call() {
  detail::running().inside = false;
  std::fflush(stdout);
  if (streams().out >= 0) ::dup2(streams().out, STDOUT_FILENO);
  if (streams().err >= 0) ::dup2(streams().err, STDERR_FILENO);
  for (size_t i = 0; i < std::size(kHandled); ++i) ::sigaction(kHandled[i], &handlers[i], nullptr);
  if (folder_ >= 0) {
    [[maybe_unused]] const int moved = ::fchdir(folder_);
    ::close(folder_);
  }
  if (const char* now = std::setlocale(LC_ALL, nullptr); now == nullptr || locale_ != now)
    std::setlocale(LC_ALL, locale_.c_str());
  std::fesetenv(&environment_);
}

}  // namespace mrvlc::plugin
