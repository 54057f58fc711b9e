// Child processes for `mrvlc run` and `verify`.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/driver/interrupt.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

struct ProcessResult {
  int exit_code = 0;   // 128 + signal when killed
  bool late = false;   // it took longer than it may, and was killed
  std::string output;  // stdout and stderr together, in order
  std::string errors;  // stderr, where it was asked for apart
};
// argv[0] is looked up in PATH; no shell is involved. An interrupt ends the child and everything it started.
// `environment`: NAME=VALUE, beside this process's own. `seconds`: what it may take, then it is killed with
// everything it started; 0: no limit.
Result<ProcessResult> run_process(const std::vector<std::string>& argv,
                                  const std::vector<std::string>& environment = {}, double seconds = 0);
// The same, with stdout and stderr apart.
Result<ProcessResult> run_process_apart(const std::vector<std::string>& argv);

// In a child: the kernel sends it `signal` when the thread that made it ends; it ends itself where `parent`
// is gone already.
void end_with(pid_t parent, int signal);

// Words between blanks.
std::vector<std::string> split_words(std::string_view text);
// The words that call the C compiler: `given`, else $CC, else cc. MRV0004: there are none.
Result<std::vector<std::string>> c_compiler(const std::string& given);

// Folder that holds bin/, include/ and lib/ of this mrvlc, from the running executable's own path.
std::filesystem::path install_prefix();

}  // namespace mrvlc::driver
