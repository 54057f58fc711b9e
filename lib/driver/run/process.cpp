// fork and exec with the output drained through a pipe. An interrupt ends the child's whole process group,
// and the child does not outlive this process, however that ends.
#include "run/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
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

// What a child writes into a pipe, and the end of it that is read; -1: it ended.
struct Stream {
  int fd = -1;
  std::string text;

  void read_some() {
    char buffer[4096];
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) return close();
    text.append(buffer, static_cast<size_t>(n));
  }
  void close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

// Reads both to the end, or until `late`. Woken up now and then: a signal may come between the question and
// the wait, and a child of the child may hold a pipe open.
void drain(Stream& output, Stream& errors, pid_t child, double seconds, bool& late) {
  const auto begin = Clock::now();
  while (output.fd >= 0 || errors.fd >= 0) {
    pollfd wait[2] = {{output.fd, POLLIN, 0}, {errors.fd, POLLIN, 0}};
    const int ready = ::poll(wait, 2, 100);
    if (interrupted() != 0) ::kill(-child, SIGTERM);
    late = seconds > 0 && std::chrono::duration<double>(Clock::now() - begin).count() > seconds;
    if (late) {
      ::kill(-child, SIGKILL);
      return;
    }
    if (ready <= 0) continue;
    if (wait[0].revents != 0) output.read_some();
    if (wait[1].revents != 0) errors.read_some();
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

// In the child, between fork and exec: nothing but calls that signal handlers may make.
[[noreturn]] void become(char* const* args, char* const* variables, int output, int errors, int report,
                         pid_t parent) {
  ::setpgid(0, 0);  // a group of its own, so that all of it can be ended
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  end_with(parent, SIGKILL);
  ::execvpe(args[0], args, variables);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof error);
  ::_exit(127);
}

// The child; `error` says why there is none, or why it is not the program.
pid_t start(char* const* args, char* const* variables, int output, int errors, int& error) {
  int report[2];  // closed by exec, or holds errno
  if (::pipe2(report, O_CLOEXEC) != 0) {
    error = errno;
    return -1;
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(args, variables, output, errors, report[1], parent);
  error = child < 0 ? errno : 0;
  ::close(report[1]);
  if (child > 0) {
    ::setpgid(child, child);  // here too: who is first
    ssize_t n = 0;
    while ((n = ::read(report[0], &error, sizeof error)) < 0 && errno == EINTR) {
    }
    if (n == sizeof error)
      while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
  }
  ::close(report[0]);
  return child;
}

}  // namespace

void end_with(pid_t parent, int signal) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, signal);
#endif
  if (::getppid() != parent) ::_exit(128 + signal);  // it ended before
}

namespace {

Result<ProcessResult> run_to_end(const std::vector<std::string>& argv,
                                 const std::vector<std::string>& environment, double seconds, bool apart) {
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  if (::pipe2(out, O_CLOEXEC) != 0) return failed("pipe");
  if (apart && ::pipe2(err, O_CLOEXEC) != 0) {
    const Diag diag = failed("pipe");
    ::close(out[0]);
    ::close(out[1]);
    return diag;
  }
  Stream output{out[0], {}}, errors{err[0], {}};
  std::vector<char*> args;
  for (const std::string& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  std::vector<char*> variables = environment_with(environment);
  int error = 0;
  const pid_t pid = start(args.data(), variables.data(), out[1], apart ? err[1] : out[1], error);
  ::close(out[1]);
  if (apart) ::close(err[1]);
  ProcessResult result;
  if (error == 0) drain(output, errors, pid, seconds, result.late);
  output.close();
  errors.close();
  if (error != 0)
    return make_diag<DiagCode::MRV0001>(
        argv[0], error == ENOENT ? std::string("there is no such program; install it, or name another")
                                 : fmt::format("the program cannot be started: {}", std::strerror(error)));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (interrupted() != 0) return make_diag<DiagCode::MRV0003>(argv[0], "interrupted");
  result.output = std::move(output.text);
  result.errors = std::move(errors.text);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& argv,
                                  const std::vector<std::string>& environment, double seconds) {
  return run_to_end(argv, environment, seconds, false);
}

Result<ProcessResult> run_process_apart(const std::vector<std::string>& argv) {
  return run_to_end(argv, {}, 0, true);
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
