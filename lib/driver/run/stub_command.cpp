// The C compiler's command for main.c, stub, weights and libraries, and the arguments of the program.
#include "run/stub_command.h"

#include <algorithm>
#include <iterator>

#include "mrvlc/support/diag/sim.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;

namespace {

constexpr const char* kSingleExample = "example/main.c";

// Of `compile --emit single`: the headers are in NAME.h, the weights in NAME.c.
bool is_single(const OutputFolder& folder) {
  return folder.files.contains(kSingleExample);
}

}  // namespace

bool has_regions(const OutputFolder& folder) {
  return std::ranges::any_of(folder.files, [](const auto& f) { return f.first.ends_with(".mrvl"); });
}

bool has_headers(const OutputFolder& folder) {
  return is_single(folder) || folder.files.contains("mrvl/device.h");
}

std::string example_file(const OutputFolder& folder) {
  return is_single(folder) ? kSingleExample : "main.c";
}

std::vector<std::string> weights_files(const OutputFolder& folder) {
  std::vector<std::string> files;
  for (const char* end : {"_weights.S", "_weights.c", "_weights.bin"})
    if (folder.files.contains(folder.name + end)) files.push_back(folder.name + end);
  return files;
}

std::vector<std::string> stub_command(const OutputFolder& folder, const std::string& cflags,
                                      const StubPlaces& places) {
  // Of two flags that contradict each other compilers heed the last: those in the compiler's own words are
  // not taken back, and --cflags come behind all of ours.
  std::vector<std::string> argv = places.cc;
  const auto says = [&](std::string_view begin) {
    return std::any_of(places.cc.begin() + 1, places.cc.end(),
                       [&](const std::string& word) { return word.starts_with(begin); });
  };
  if (cflags.empty() && !says("-O")) argv.emplace_back("-O2");
  if (!says("-std=")) argv.insert(argv.end(), folder.standard.begin(), folder.standard.end());
  // A template of arguments that does not suit the function is a mistake, not a warning.
  if (folder.calls_libraries)
    argv.insert(argv.end(), std::begin(chost::kStrictCalls), std::end(chost::kStrictCalls));
  const auto flags = split_words(cflags);
  argv.insert(argv.end(), flags.begin(), flags.end());
  const auto file = [&](const std::string& name) { return (fs::path(places.sources) / name).string(); };
  // The assembler looks for the blob of weights (.incbin) where the sources are.
  argv.insert(argv.end(), {"-Xassembler", "-I" + places.sources, "-o", places.program,
                           file(example_file(folder)), file(folder.name + ".c")});
  for (const std::string& weights : weights_files(folder))
    if (!weights.ends_with(".bin")) argv.push_back(file(weights));
  if (!has_headers(folder)) argv.push_back("-I" + (install_prefix() / "include").string());
  for (const std::string& source : folder.sources) argv.push_back(file(source));
  if (!places.link_folder.empty())
    argv.insert(argv.end(), {"-L" + places.link_folder, "-lmrvl_simdev", "-Wl,-rpath," + places.run_folder});
  for (const std::string& library : folder.libraries) argv.push_back("-l" + library);
  argv.emplace_back("-lm");
  argv.emplace_back("-pthread");  // the example of a program that takes threads has some
  return argv;
}

Status compile_stub(const std::vector<std::string>& argv) {
  MRVLC_ASSIGN(const ProcessResult built, run_process(argv));
  if (built.exit_code == 0) return {};
  return make_diag<DiagCode::MRV0708>(argv[0], built.exit_code, built.output);
}

std::vector<std::string> ProgramCall::words(const OutputFolder& folder,
                                            const std::function<std::string(const fs::path&)>& name) const {
  std::vector<std::string> argv;
  std::error_code ec;
  for (const std::string& target : targets)
    argv.insert(argv.end(), {"--target", fs::is_regular_file(target, ec) ? name(target) : target});
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].empty())
      argv.insert(argv.end(), {"--input", folder.inputs[i].file + "=" + name(inputs[i])});
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

}  // namespace mrvlc::driver
