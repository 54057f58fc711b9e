// Forked workers that answer through pipes: a crash or a hang, by processor time, costs one item and no more.
#include "isolate.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <vector>

namespace mrvlc::conformance {
namespace {

// On a loaded machine a child may wait long for its turn: it hangs when it has used the time, or when it is
// this many times over.
constexpr double kPatience = 12;

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double cpu_seconds(pid_t child) {
  clockid_t clock{};
  return clock_getcpuclockid(child, &clock) == 0 ? seconds_of(clock) : 0;
}

void write_all(int fd, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    ssize_t n = ::write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);  // nobody listens
    at += n;
    size -= static_cast<size_t>(n);
  }
}

// What a child sends for an item.
struct Head {
  size_t item = 0, size = 0;
};

void send(int fd, size_t item, const std::string& text) {
  const Head head{item, text.size()};
  write_all(fd, &head, sizeof head);
  write_all(fd, text.data(), text.size());
}

struct Child {
  pid_t pid = -1;
  int fd = -1;
  std::string buffer;

  // Takes a whole message off the buffer.
  std::optional<std::pair<size_t, std::string>> take();
  // Reads what is there; false at the end.
  bool read_some();
  // Why it ended.
  std::string reap();
};

std::optional<std::pair<size_t, std::string>> Child::take() {
  Head head;
  if (buffer.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, buffer.data(), sizeof head);
  if (buffer.size() < sizeof head + head.size) return std::nullopt;
  std::string text = buffer.substr(sizeof head, head.size);
  buffer.erase(0, sizeof head + head.size);
  return std::pair{head.item, std::move(text)};
}

bool Child::read_some() {
  char part[65536];
  ssize_t n = ::read(fd, part, sizeof part);
  if (n < 0) return errno == EINTR;
  buffer.append(part, static_cast<size_t>(n));
  return n > 0;
}

std::string Child::reap() {
  ::close(fd);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {}", strsignal(WTERMSIG(status)));
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

// Runs body(fd) in a child; what it writes to fd is read from Child::fd.
template <class Body>
Child start(const Body& body) {
  int ends[2];
  // What is still buffered would be written by parent and child.
  std::fflush(nullptr);
  if (::pipe(ends) != 0) std::abort();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before the call above.
    if (::getppid() != parent) _exit(1);
    ::close(ends[0]);
    body(ends[1]);
    _exit(0);
  }
  ::close(ends[1]);
  return {pid, ends[0], {}};
}

// Reads until the child ends or hangs; returns why. Items arrive through `got`.
std::string watch(Child& child, double seconds, const Done& got) {
  double wall = seconds_of(CLOCK_MONOTONIC), cpu = 0;
  for (;;) {
    pollfd wait{child.fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, 200);
    if (ready > 0 && !child.read_some()) return child.reap();
    while (auto message = child.take()) {
      got(message->first, std::move(message->second));
      wall = seconds_of(CLOCK_MONOTONIC);
      cpu = cpu_seconds(child.pid);
    }
    const double passed = seconds_of(CLOCK_MONOTONIC) - wall;
    if (passed < seconds || (passed < kPatience * seconds && cpu_seconds(child.pid) - cpu < seconds))
      continue;
    ::kill(child.pid, SIGKILL);
    child.reap();
    return fmt::format("not done after {:.0f} s", seconds);
  }
}

}  // namespace

void for_each_isolated(size_t count, double seconds, const Work& work, const Done& done, const Done& lost) {
  for (size_t next = 0; next < count;) {
    Child child = start([&](int fd) {
      for (size_t i = next; i < count; ++i) send(fd, i, work(i));
    });
    std::string why = watch(child, seconds, [&](size_t item, std::string text) {
      next = item + 1;
      done(item, std::move(text));
    });
    if (next < count) lost(next++, std::move(why));
  }
}

void for_each_parallel(size_t jobs, size_t count, const Work& work, const Done& done) {
  // Whoever is free takes the next number out of a pipe; numbers are written in one piece.
  int numbers[2];
  if (::pipe(numbers) != 0) std::abort();
  std::vector<Child> children;
  for (size_t j = 0; j < jobs; ++j) {
    children.push_back(start([&](int fd) {
      ::close(numbers[1]);
      for (size_t item = 0; ::read(numbers[0], &item, sizeof item) == sizeof item;)
        send(fd, item, work(item));
    }));
  }
  ::close(numbers[0]);
  for (size_t i = 0; i < count; ++i) write_all(numbers[1], &i, sizeof i);
  ::close(numbers[1]);
  while (!children.empty()) {
    std::vector<pollfd> wait;
    for (const Child& child : children) wait.push_back({child.fd, POLLIN, 0});
    ::poll(wait.data(), wait.size(), -1);
    for (size_t j = children.size(); j-- > 0;) {
      if (wait[j].revents == 0) continue;
      const bool more = children[j].read_some();
      while (auto message = children[j].take()) done(message->first, std::move(message->second));
      if (more) continue;
      children[j].reap();
      children.erase(children.begin() + static_cast<ptrdiff_t>(j));
    }
  }
}

}  // namespace mrvlc::conformance
