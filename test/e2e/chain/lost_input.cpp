// A mapped input file that is cut short while it is read ends the process with a message and exit code 3.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>

#include "mrvlc/driver/interrupt.h"
#include "mrvlc/support/mapped_file.h"
#include "support/folders.h"

namespace mrvlc {
namespace {

struct End {
  int status = 0;
  std::string message;
};

// Runs `work` in a process of its own, with stderr caught.
template <class Work>
End in_child(Work work) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    for (int signal : {SIGBUS, SIGSEGV}) ::signal(signal, SIG_DFL);  // Catch has handlers of its own
    work();
    ::_exit(0);
  }
  ::close(ends[1]);
  End end;
  char piece[256];
  for (ssize_t n = 0; (n = ::read(ends[0], piece, sizeof piece)) > 0;)
    end.message.append(piece, static_cast<size_t>(n));
  ::close(ends[0]);
  ::waitpid(child, &end.status, 0);
  return end;
}

}  // namespace

TEST_CASE("a mapped file that is cut short") {
  test::TempDir folder;
  folder.write("file", "");
  const std::filesystem::path path = folder.path() / "file";
  std::filesystem::resize_file(path, 4 << 20);
  End end = in_child([&] {
    driver::handle_lost_input("gone\n");
    auto file = *MappedFile::open(path, UINT64_MAX);
    std::filesystem::resize_file(path, 1 << 20);
    volatile auto byte = file->bytes()[3 << 20];
    static_cast<void>(byte);
  });
  CHECK(end.message == "gone\n");
  REQUIRE(WIFEXITED(end.status));
  CHECK(WEXITSTATUS(end.status) == 3);
}

TEST_CASE("a bus error that no file caused is a crash") {
  End end = in_child([] {
    driver::handle_lost_input("gone\n");
    ::raise(SIGBUS);
    ::raise(SIGBUS);
  });
  CHECK(end.message.empty());
  REQUIRE(WIFSIGNALED(end.status));
  CHECK(WTERMSIG(end.status) == SIGBUS);
}

}  // namespace mrvlc
