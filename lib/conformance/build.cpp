// Generated C to a library, with the system's compiler.
#include <fmt/format.h>

#include <cstdlib>

#include "mrvlc/support/file.h"
#include "mrvlc/support/shell.h"
#include "stub.h"

namespace mrvlc::conformance {
namespace fs = std::filesystem;

namespace {

constexpr int kCompilerSeconds = 60;  // of its own time, for a case

// The compiler's output of `files`, run in the folder; nullopt when it succeeds.
std::optional<std::string> compile(const Options& options, const fs::path& folder, const std::string& files) {
  const std::string command = fmt::format("cd {} && ulimit -t {} && {} -std=c99 {} -fPIC -I{} {} > log 2>&1",
                                          shell_quoted(folder.string()), kCompilerSeconds, options.compiler,
                                          options.cflags, shell_quoted(options.include.string()), files);
  if (std::system(command.c_str()) == 0) return std::nullopt;
  auto log = read_file(folder / "log");
  return log.ok() && !log->empty() ? *log : "the compiler failed";
}

std::string sources(const fs::path& folder, const std::string& name) {
  const std::string weights = name + "_weights.S";
  return fmt::format("{}_shim.c {} ", name, fs::exists(folder / weights) ? weights : "");
}

std::optional<std::string> link(const Options& options, const fs::path& folder,
                                const std::vector<std::string>& names) {
  std::string files = "-shared -o cases.so ";
  for (const std::string& name : names) files += sources(folder, name);
  return compile(options, folder, files + "-lm");
}

std::string first_error(const std::string& log) {
  size_t at = log.find("error");
  if (at == std::string::npos) at = 0;
  size_t begin = log.rfind('\n', at);
  begin = begin == std::string::npos ? 0 : begin + 1;
  return log.substr(begin, log.find('\n', at) - begin);
}

}  // namespace

std::vector<std::string> build_stubs(const Options& options, const fs::path& folder,
                                     const std::vector<std::string>& names) {
  std::vector<std::string> errors(names.size());
  if (names.empty() || !link(options, folder, names)) return errors;
  std::vector<std::string> good;
  for (size_t i = 0; i < names.size(); ++i) {
    auto log = compile(options, folder, fmt::format("-fsyntax-only {}_shim.c", names[i]));
    if (log) {
      errors[i] = first_error(*log);
    } else {
      good.push_back(names[i]);
    }
  }
  if (auto log = good.empty() ? std::nullopt : link(options, folder, good)) {
    for (std::string& error : errors) error = error.empty() ? first_error(*log) : error;
  }
  return errors;
}

}  // namespace mrvlc::conformance
