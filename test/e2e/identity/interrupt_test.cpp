// Signals: before OUT is in place nothing has happened; after that, all has.
#include "mrvlc/driver/interrupt.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "paths.h"
#include "support/folders.h"

using namespace mrvlc;
namespace fs = std::filesystem;

namespace {

template <class Work>
int exit_code_of(Work work) {
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(STDERR_FILENO);
    driver::handle_interrupts("interrupted\n");
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

}  // namespace

TEST_CASE("a signal under a guard is told to its owner; one that comes when the work is done is not") {
  CHECK(exit_code_of([] { return ::raise(SIGTERM); }) == 128 + SIGTERM);
  CHECK(exit_code_of([] {
          driver::InterruptGuard guard;
          ::raise(SIGTERM);
          return driver::interrupted();
        }) == 128 + SIGTERM);
  CHECK(exit_code_of([] {
          {
            driver::InterruptGuard guard;
            ::raise(SIGTERM);
            guard.done();
          }
          ::raise(SIGINT);
          return driver::interrupted();
        }) == 0);
  CHECK(exit_code_of([] {
          driver::InterruptGuard guard;
          guard.done();
          ::raise(SIGINT);
          sleep_ms(600);
          ::raise(SIGINT);  // somebody means it
          return 0;
        }) == 128 + SIGINT);
}

TEST_CASE("work that is part of more work does not swallow a signal") {
  CHECK(exit_code_of([] {
          driver::InterruptGuard whole;
          {
            driver::InterruptGuard part;
            ::raise(SIGINT);
            part.done();
          }
          return driver::interrupted();
        }) == 128 + SIGINT);
  CHECK(exit_code_of([] {
          { driver::InterruptGuard{}.done(); }
          driver::InterruptGuard next;
          ::raise(SIGINT);
          return driver::interrupted();
        }) == 128 + SIGINT);
}

TEST_CASE("work that nothing can stop ends with the process, after what has to be cleaned up") {
  test::TempDir dir;
  dir.write("half", "done");
  const fs::path half = dir.path() / "half";
  CHECK(exit_code_of([&] {
          driver::InterruptGuard guard;
          driver::EndOnInterrupt long_work([&] { fs::remove(half); });
          ::raise(SIGTERM);
          sleep_ms(20'000);
          return 0;
        }) == 128 + SIGTERM);
  CHECK_FALSE(fs::exists(half));
  CHECK(exit_code_of([&] {
          driver::InterruptGuard guard;
          {
            driver::EndOnInterrupt long_work([] { ::_exit(1); });
          }
          ::raise(SIGTERM);
          sleep_ms(200);
          return driver::interrupted();  // it is over: the guard's owner is told
        }) == 128 + SIGTERM);
}

TEST_CASE("a compile that is ended by SIGTERM exits with 0 if, and only if, its output is there") {
  test::TempDir dir;
  ::signal(SIGTERM, SIG_DFL);  // Catch has a handler of its own, which a child has until it is mrvlc
  const std::string mrvlc = MRVLC_BINARY_DIR "/bin/mrvlc";
  const std::string model = std::string(MRVLC_SOURCE_DIR) + "/models/digits/digits.onnx";
  const std::string out = (dir.path() / "out").string();
  auto name_of_output = [&]() -> std::string {
    if (!fs::exists(out + "/manifest.json")) return {};
    return nlohmann::json::parse(test::slurp(out + "/manifest.json"))["model"]["name"];
  };
  std::string before;
  int whole = 0, run = 0;
  // Until it is through several times, however slow the machine is.
  for (int delay_us = 500; whole < 3 && delay_us < 20'000'000; delay_us = delay_us * 8 / 7 + 100) {
    const std::string name = "run" + std::to_string(run++);
    pid_t pid = ::fork();
    if (pid == 0) {
      ::execl(mrvlc.c_str(), "mrvlc", "-q", "compile", model.c_str(), "-o", out.c_str(), "--name",
              name.c_str(), nullptr);
      ::_exit(127);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
    ::kill(pid, SIGTERM);
    int status = 0;
    ::waitpid(pid, &status, 0);
    const std::string now = name_of_output();
    INFO("after " << delay_us << " us: status " << status << ", output of '" << now << "'");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      CHECK(now == name);
      ++whole;
    } else {
      CHECK(now == before);
    }
    before = now;
  }
  CHECK(whole > 0);
  CHECK(whole < run);
}
