// `mrvlc run`: builds the host stub with the C compiler in a temporary folder and runs it against the simulator.
#include <cstdlib>

#include "compiled_model.h"
#include "mrvlc/support/file.h"
#include "mrvlc/tensor/npy.h"
#include "output_folder.h"
#include "process.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

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

std::string compiler_of(const RunOptions& options) {
  if (!options.cc.empty()) return options.cc;
  const char* cc = std::getenv("CC");
  return cc != nullptr && *cc != '\0' ? cc : "cc";
}

Status build_stub(const RunOptions& options, const OutputFolder& folder, const fs::path& program) {
  fs::path prefix = install_prefix();
  std::vector<std::string> argv = split_words(compiler_of(options));
  auto flags = split_words(options.cflags.empty() ? "-O2" : options.cflags);
  argv.insert(argv.end(), flags.begin(), flags.end());
  auto file = [&](const std::string& name) { return (options.out / name).string(); };
  argv.insert(argv.end(), {"-std=c99", "-I" + (prefix / "include").string(), "-I" + options.out.string(), "-o",
                           program.string(), file("main.c"), file(folder.name + ".c"), file(folder.name + "_weights.S"),
                           "-L" + (prefix / "lib").string(), "-lmrvl_simdev",
                           "-Wl,-rpath," + (prefix / "lib").string(), "-lm", "-I" + options.out.string()});
  MRVLC_ASSIGN(ProcessResult built, run_process(argv));
  if (built.exit_code == 0) return {};
  return make_diag<DiagCode::MRV0708>(argv[0], built.exit_code, built.output);
}

Status check_inputs(const RunOptions& options, const OutputFolder& folder) {
  for (const auto& [name, path] : options.inputs) {
    bool known = std::any_of(folder.inputs.begin(), folder.inputs.end(), [&](const Port& p) { return p.name == name; });
    if (!known) return make_diag<DiagCode::MRV0004>(fmt::format("--input: the model has no input '{}'", printable(name)));
  }
  for (const Port& p : folder.inputs) {
    bool given = std::any_of(options.inputs.begin(), options.inputs.end(), [&](const auto& i) { return i.first == p.name; });
    if (!given) return make_diag<DiagCode::MRV0004>(fmt::format("--input {}=FILE.npy is missing", printable(p.name)));
  }
  return {};
}

}  // namespace

Result<std::string> run(const RunOptions& options) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(options.out));
  MRVLC_TRY(check_inputs(options, folder));
  MRVLC_ASSIGN(TemporaryDir temporary, TemporaryDir::create());
  fs::path program = temporary.path() / "program";
  MRVLC_TRY(build_stub(options, folder, program));
  std::error_code ec;
  if (!options.output_dir.empty()) fs::create_directories(options.output_dir, ec);
  if (ec) return make_diag<DiagCode::MRV0002>(options.output_dir.string(), ec.message());
  std::vector<std::string> argv = {program.string(), "--dir", options.out.string()};
  for (const auto& [name, path] : options.inputs) argv.insert(argv.end(), {"--input", name + "=" + path.string()});
  if (!options.output_dir.empty()) argv.insert(argv.end(), {"--output-dir", options.output_dir.string()});
  if (options.repeat_axis0) argv.emplace_back("--repeat-axis0");
  if (options.bench > 0) argv.insert(argv.end(), {"--bench", std::to_string(options.bench)});
  MRVLC_ASSIGN(ProcessResult ran, run_process(argv));
  if (ran.exit_code != 0) return make_diag<DiagCode::MRV0709>(ran.exit_code, ran.output);
  return std::move(ran.output);
}

}  // namespace mrvlc::driver
