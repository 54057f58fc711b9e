// posix_spawn with the output drained through a pipe; an interrupt ends the child's whole process group.
#include "run/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "mrvlc/support/diag/general.h"

extern char** environ;

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

Diag failed(std::string_view what) {
  return make_diag<DiagCode::MRV0003>(what, std::strerror(errno));
}

using Clock = std::chrono::steady_clock;

// Reads to the end, or until `late`. Woken up now and then: a signal may come between the question and the
// wait, and a child of the child may hold the pipe open.
std::string drain(int fd, pid_t child, double seconds, bool& late) {
  std::string out;
  char buffer[4096];
  const auto begin = Clock::now();
  for (;;) {
    pollfd wait{fd, POLLIN, 0};
    int ready = ::poll(&wait, 1, 100);
    if (interrupted() != 0) ::kill(-child, SIGTERM);
    late = seconds > 0 && std::chrono::duration<double>(Clock::now() - begin).count() > seconds;
    if (late) {
      ::kill(-child, SIGKILL);
      return out;
    }
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    out.append(buffer, static_cast<size_t>(n));
  }
}

// This process's environment, where `added` takes the place of variables of the same name.
std::vector<char*> environment_with(const std::vector<std::string>& added) {
  std::vector<char*> all;
  for (const std::string& variable : added) all.push_back(const_cast<char*>(variable.c_str()));
  for (char** v = environ; *v != nullptr; ++v) {
    bool replaced = std::any_of(added.begin(), added.end(), [&](const std::string& variable) {
      return std::strncmp(*v, variable.c_str(), variable.find('=') + 1) == 0;
    });
    if (!replaced) all.push_back(*v);
  }
  all.push_back(nullptr);
  return all;
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& argv,
                                  const std::vector<std::string>& environment, double seconds) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return failed("pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
  std::vector<char*> args;
  for (const std::string& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  std::vector<char*> variables = environment_with(environment);
  pid_t pid = 0;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP);  // a group of its own, so that all of it can be ended
  int error = ::posix_spawnp(&pid, args[0], &actions, &attributes, args.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(fds[1]);
  if (error != 0) {
    ::close(fds[0]);
    return make_diag<DiagCode::MRV0001>(
        argv[0], error == ENOENT ? std::string("there is no such program; install it, or name another")
                                 : fmt::format("the program cannot be started: {}", std::strerror(error)));
  }
  ProcessResult result;
  result.output = drain(fds[0], pid, seconds, result.late);
  ::close(fds[0]);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (interrupted() != 0) return make_diag<DiagCode::MRV0003>(argv[0], "interrupted");
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string_view::npos) {
    size_t end = std::min(text.find(' ', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

Result<std::vector<std::string>> c_compiler(const std::string& given) {
  const char* cc = std::getenv("CC");
  std::vector<std::string> words = split_words(!given.empty()                 ? given
                                               : cc != nullptr && *cc != '\0' ? cc
                                                                              : "cc");
  if (words.empty()) return make_diag<DiagCode::MRV0004>("--cc: names no compiler");
  return words;
}

fs::path install_prefix() {
  std::error_code ec;
  return fs::read_symlink("/proc/self/exe", ec).parent_path().parent_path();
}

}  // namespace mrvlc::driver
