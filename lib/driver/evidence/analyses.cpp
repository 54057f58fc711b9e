// Runs cppcheck without a shell, for ten minutes at most. Comments of the C hold names of the model: no
// comment suppresses a finding.
#include "evidence/analyses.h"

#include <fmt/format.h>

#include <map>

#include "run/process.h"

namespace mrvlc::driver {
namespace {

constexpr double kMostSeconds = 600;
constexpr const char* kCppcheckFile = "cppcheck-misra.txt";

// What a C compiler of the machines that the C is for knows by itself: without it the C refuses to be
// compiled.
constexpr const char* kMacros[] = {"-D__GNUC__=12",       "-DCHAR_BIT=8",      "-DFLT_RADIX=2",
                                   "-DFLT_MANT_DIG=24",   "-DFLT_MAX_EXP=128", "-DFLT_EVAL_METHOD=0",
                                   "-DINT_MAX=2147483647"};

// Its first line, or nothing: it is not installed.
std::optional<std::string> version_of(const std::string& tool) {
  const auto ran = run_process({tool, "--version"}, {}, kMostSeconds);
  if (!ran.ok() || ran->exit_code != 0) return std::nullopt;
  return ran->output.substr(0, ran->output.find('\n'));
}

std::string without_folder(std::string text, const std::filesystem::path& folder) {
  const std::string prefix = folder.string() + "/";
  for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
    text.erase(at, prefix.size());
  return text;
}

// By what stands in brackets at the end of each line: "[misra-c2012-10.4]".
json::Dictionary<uint32_t> findings_of(std::string_view text) {
  std::map<std::string, uint32_t> counts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t open = line.rfind('[');
    if (line.ends_with(']') && open != std::string_view::npos)
      ++counts[std::string(line.substr(open + 1, line.size() - open - 2))];
  }
  return {counts.begin(), counts.end()};
}

std::vector<std::string> command(const std::filesystem::path& folder, const std::vector<std::string>& files) {
  std::vector<std::string> argv = {
      "cppcheck", "--addon=misra", "--std=c99", "--enable=style", "--suppress=missingIncludeSystem", "-q"};
  argv.insert(argv.end(), std::begin(kMacros), std::end(kMacros));
  argv.push_back("-I" + folder.string());
  for (const std::string& f : files) argv.push_back((folder / f).string());
  return argv;
}

}  // namespace

Result<Analysis> run_cppcheck(const std::filesystem::path& folder, const std::vector<std::string>& files) {
  Analysis a{{"cppcheck", "MISRA C:2012, by its addon"}, ""};
  a.of.version = version_of("cppcheck");
  if (!a.of.version) {
    a.of.not_run = "it is not installed";
    return a;
  }
  MRVLC_ASSIGN(const ProcessResult ran, run_process(command(folder, files), {}, kMostSeconds));
  if (ran.late || ran.exit_code != 0) {
    a.of.not_run = ran.late ? fmt::format("it took longer than {} s", kMostSeconds)
                            : fmt::format("it ended with exit code {}", ran.exit_code);
    return a;
  }
  a.said = without_folder(ran.output, folder);
  a.of.file = kCppcheckFile;
  a.of.findings = findings_of(a.said);
  return a;
}

}  // namespace mrvlc::driver
