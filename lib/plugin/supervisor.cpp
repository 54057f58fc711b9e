// The parent that waits for a process with plug-ins in it.
#include "mrvlc/plugin/supervisor.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <new>

#include "mrvlc/plugin/call.h"
#include "mrvlc/support/diag/target.h"

namespace mrvlc::plugin {
namespace {

constexpr long long kTold = 10, kTrusted = 60, kPatient = 900;  // seconds of a call

struct Shared {
  Running running;
  bool done = false;
  int exit_code = 0;
};

std::function<void(const Diag&)> say_it;
Shared own;             // where nobody waits
Shared* shared = &own;  // with who waits
bool begun = false;

Diag fault(const Running& r, std::string_view what) {
  Diag d = make_diag<DiagCode::MRV0356>(r.target[0] == 0 ? "?" : r.target,
                                        r.function[0] == 0 ? "?" : r.function, what);
  return r.op[0] == 0 ? d : at_node(std::move(d), r.node, r.op);
}

bool alone() {
  std::error_code ec;
  size_t threads = 0;
  for (const auto& t : std::filesystem::directory_iterator("/proc/self/task", ec)) {
    (void)t;
    ++threads;
  }
  return !ec && threads == 1;
}

long long seconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

// Functions that compile or compute may take long; those that are asked thousands of times may not.
long long patience(const Running& r) {
  const std::string_view f = r.function;
  return f == "encode" || f == "run" ? kPatient : kTrusted;
}

int say(const Diag& d) {
  if (say_it) say_it(d);
  return static_cast<int>(d.exit_class());
}

class Watch {
 public:
  Watch(pid_t child, const sigset_t& signals) : child_(child), signals_(signals) {}

  int run() {
    const timespec second{1, 0};
    for (;;) {
      siginfo_t info{};
      const int signal = ::sigtimedwait(&signals_, &info, &second);
      if (signal == SIGINT || signal == SIGTERM) {
        interrupted_ = true;
        ::kill(child_, signal);
      }
      int status = 0;
      if (::waitpid(child_, &status, WNOHANG) == child_) return ended(status);
      look();
    }
  }

 private:
  // How long a call has taken.
  void look() {
    const Running& r = shared->running;
    if (!r.inside) return;
    const long long taken = seconds_now() - r.since;
    if (taken >= kTold && told_ != r.since) {
      told_ = r.since;
      std::fprintf(stderr, "mrvlc: waiting for the plug-in of target '%s', in '%s'%s%s\n", r.target,
                   r.function, r.node[0] == 0 ? "" : ", node ", r.node);
    }
    if (taken < patience(r) || killed_) return;
    killed_ = true;
    ::kill(child_, SIGKILL);
  }

  int ended(int status) const {
    if (shared->done) return shared->exit_code;
    const Running& r = shared->running;
    if (killed_) return say(fault(r, fmt::format("has not returned in {} s", patience(r))));
    if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      if (r.inside) return say(fault(r, fmt::format("ends in signal {} ({})", signal, ::strsignal(signal))));
      // Not its fault: end as the child did.
      ::signal(signal, SIG_DFL);
      sigset_t none;
      ::sigemptyset(&none);
      ::sigprocmask(SIG_SETMASK, &none, nullptr);
      ::raise(signal);
      return 128 + signal;
    }
    const int code = WEXITSTATUS(status);
    if ((r.inside && !interrupted_) || code == 0)
      return say(fault(r, fmt::format("ends the process, with exit code {}", code)));
    return code;
  }

  pid_t child_;
  sigset_t signals_;
  long long told_ = -1;
  bool killed_ = false, interrupted_ = false;
};

// exit() in a call. What is to be destroyed at the end is in use by other threads: none of it is.
void at_exit(int code, void*) {
  if (!shared->running.inside) return;
  ::_exit(shared == &own ? say(fault(own.running, "calls exit()")) : code);
}

// The child returns from here; the parent does not.
void part() {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  new (memory) Shared();
  sigset_t signals, before;
  ::sigemptyset(&signals);
  for (int s : {SIGCHLD, SIGINT, SIGTERM}) ::sigaddset(&signals, s);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child > 0) {
    shared = static_cast<Shared*>(memory);
    ::_exit(Watch(child, signals).run());
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return;
  shared = static_cast<Shared*>(memory);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
}

}  // namespace

void allow_supervisor(std::function<void(const Diag&)> say) {
  say_it = std::move(say);
}

int work_done(int exit_code) {
  std::fflush(nullptr);
  shared->running.inside = false;
  shared->exit_code = exit_code;
  shared->done = true;
  if (begun) ::_exit(exit_code);  // not by way of what plug-ins left to be done at the end
  return exit_code;
}

void unwatched() {
  begun = true;
  own.running.inside = false;
  shared = &own;
  say_it = nullptr;
}

void detail::supervise() {
  if (begun || !say_it) return;
  begun = true;
  if (alone()) part();
}

void detail::expect_exit() {
  static uint64_t calls = 0;
  if (std::has_single_bit(++calls)) ::on_exit(at_exit, nullptr);
}

Running& detail::running() {
  return shared->running;
}

}  // namespace mrvlc::plugin
