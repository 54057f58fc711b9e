// What measured times depend on: the compiler, its flags and the extensions it compiles for.
#include "tuning/machine.h"

#include <set>
#include <sstream>

#include "run/process.h"

namespace mrvlc::driver {
namespace {

// Macros that compilers define, and what they say.
constexpr std::pair<std::string_view, std::string_view> kFeatures[] = {{"__x86_64__", "x86-64"},
                                                                       {"__SSE4_1__", "sse4.1"},
                                                                       {"__AVX__", "avx"},
                                                                       {"__AVX2__", "avx2"},
                                                                       {"__FMA__", "fma"},
                                                                       {"__AVXVNNI__", "avx-vnni"},
                                                                       {"__AVX512F__", "avx512f"},
                                                                       {"__AVX512BW__", "avx512bw"},
                                                                       {"__AVX512VNNI__", "avx512-vnni"},
                                                                       {"__aarch64__", "aarch64"},
                                                                       {"__arm__", "arm"},
                                                                       {"__ARM_NEON", "neon"},
                                                                       {"__ARM_FEATURE_DOTPROD", "dotprod"},
                                                                       {"__ARM_FEATURE_SVE", "sve"},
                                                                       {"__riscv", "riscv"},
                                                                       {"__riscv_vector", "rvv"}};

// Words that name a place of this machine say nothing elsewhere.
std::string without_folders(const std::string& flags) {
  std::string out;
  for (const std::string& word : split_words(flags))
    if (word.find('/') == std::string::npos) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace

Result<TuningMachine> tuning_machine(const RunOptions& run) {
  TuningMachine out;
  out.mrvlc = MRVLC_VERSION;
  out.flags = without_folders(run.cflags);
  if (!run.on.empty() && run.cc.empty()) return out;
  MRVLC_ASSIGN(std::vector<std::string> argv, c_compiler(run.cc));
  for (std::string& word : split_words(run.cflags)) argv.push_back(std::move(word));
  argv.insert(argv.end(), {"-dM", "-E", "-x", "c", "/dev/null"});
  MRVLC_ASSIGN(const ProcessResult ran, run_process(argv));
  std::set<std::string, std::less<>> defined;
  std::istringstream lines(ran.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string define, name, value;
    words >> define >> name;
    std::getline(words >> std::ws, value);
    if (define != "#define") continue;
    if (name == "__VERSION__" && value.size() > 2) out.compiler = value.substr(1, value.size() - 2);
    defined.insert(name);
  }
  for (const auto& [macro, text] : kFeatures)
    if (defined.contains(macro)) out.features.emplace_back(text);
  return out;
}

}  // namespace mrvlc::driver
