// `mrvlc run`: builds the host stub with the C compiler in a temporary folder and runs it against the
// simulator.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "compiled_model.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/temporary_dir.h"
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

// Includes of the stub's own header are quoted, so OUT is no include folder: a model called "features" must
// not hide <features.h>.
Status build_stub(const RunOptions& options, const OutputFolder& folder, const fs::path& out,
                  const fs::path& program) {
  fs::path prefix = install_prefix();
  std::vector<std::string> argv = split_words(compiler_of(options));
  if (argv.empty()) return make_diag<DiagCode::MRV0004>("--cc: names no compiler");
  auto flags = split_words(options.cflags.empty() ? "-O2" : options.cflags);
  argv.insert(argv.end(), flags.begin(), flags.end());
  auto file = [&](const std::string& name) { return (out / name).string(); };
  argv.insert(
      argv.end(),
      {"-std=c99", "-I" + (prefix / "include").string(), "-Xassembler", "-I" + out.string(), "-o",
       program.string(), file("main.c"), file(folder.name + ".c"), file(folder.name + "_weights.S"),
       "-L" + (prefix / "lib").string(), "-lmrvl_simdev", "-Wl,-rpath," + (prefix / "lib").string(), "-lm"});
  MRVLC_ASSIGN(ProcessResult built, run_process(argv));
  if (built.exit_code == 0) return {};
  return make_diag<DiagCode::MRV0708>(argv[0], built.exit_code, built.output);
}

// "NAME=FILE": both may hold '=', so the model's names decide where NAME ends, the longest first.
const Port* port_of(const OutputFolder& folder, const std::string& binding, size_t& length) {
  const Port* found = nullptr;
  length = 0;
  for (const Port& p : folder.inputs) {
    for (const std::string& name : {p.name, p.file}) {
      if (!binding.starts_with(name + "=") || (found != nullptr && name.size() <= length)) continue;
      found = &p;
      length = name.size();
    }
  }
  return found;
}

std::string input_names(const OutputFolder& folder) {
  std::string names;
  for (const Port& p : folder.inputs) names += (names.empty() ? "'" : ", '") + p.name + "'";
  return names.empty() ? "the model has no inputs" : "its inputs are " + names;
}

// The file of each input of the model, in order.
Result<std::vector<fs::path>> input_files(const RunOptions& options, const OutputFolder& folder) {
  std::map<const Port*, fs::path> given;
  auto add = [&](const Port& p, const fs::path& file) -> Status {
    if (given.emplace(&p, file).second) return {};
    return make_diag<DiagCode::MRV0004>(fmt::format("--input: '{}' is given twice", p.name));
  };
  for (const std::string& binding : options.bindings) {
    size_t length = 0;
    const Port* p = port_of(folder, binding, length);
    if (p == nullptr) {
      return make_diag<DiagCode::MRV0004>(fmt::format("--input: '{}' names no input of the model; {}",
                                                      printable(binding.substr(0, binding.rfind('='))),
                                                      input_names(folder)));
    }
    MRVLC_TRY(add(*p, binding.substr(length + 1)));
  }
  for (const auto& input : options.inputs) {
    auto p = std::find_if(folder.inputs.begin(), folder.inputs.end(),
                          [&](const Port& i) { return i.name == input.first; });
    if (p == folder.inputs.end())
      return make_diag<DiagCode::MRV0004>(fmt::format("no input '{}'", printable(input.first)));
    MRVLC_TRY(add(*p, input.second));
  }
  std::vector<fs::path> files;
  for (const Port& p : folder.inputs) {
    if (!given.contains(&p))
      return make_diag<DiagCode::MRV0004>(fmt::format("--input {}=FILE.npy is missing", p.name));
    files.push_back(given[&p]);
  }
  return files;
}

// Asked here, before minutes of compiling, and answered with the model's own terms.
Status check_input(const Port& port, const fs::path& file, bool may_repeat) {
  auto tensor = read_npy(file);
  if (!tensor.ok()) {
    if (tensor.error().code != DiagCode::MRV0006) return tensor.error();
    const std::string& text = tensor.error().message;  // "... is not a valid .npy file: why"
    return make_diag<DiagCode::MRV0003>(file.string(),
                                        "not a valid .npy file: " + text.substr(text.rfind(": ") + 2));
  }
  TensorType type = from_npy(*tensor, port.type.elem).type();
  Shape one = type.shape;
  bool repeats = may_repeat && !one.empty() && !port.type.shape.empty() && port.type.shape[0] > 0 &&
                 one[0] > 0 && one[0] % port.type.shape[0] == 0;
  if (repeats) one[0] = port.type.shape[0];
  if (admits(port.type, TensorType{type.elem, one})) return {};
  bool would = !may_repeat && type.elem == port.type.elem && one.size() == port.type.shape.size() &&
               !one.empty() && std::equal(one.begin() + 1, one.end(), port.type.shape.begin() + 1);
  return make_diag<DiagCode::MRV0004>(
      fmt::format("--input: {} is {}, input '{}' takes {}{}", printable(file.string(), 4096), to_string(type),
                  port.name, to_string(port.type), would ? "; --repeat-axis0 runs slice by slice" : ""));
}

Result<ProcessResult> run_program(const RunOptions& options, const OutputFolder& folder,
                                  const std::vector<fs::path>& files, const fs::path& out,
                                  const fs::path& program) {
  std::vector<std::string> argv = {program.string(), "--dir", out.string()};
  std::string target = folder.target;
  if (target != "host" && !target.empty()) {
    for (const fs::path& dir : options.target_dirs) {
      std::error_code ec;
      if (fs::exists(dir / target / "target.json", ec)) {
        target = (dir / target / "target.json").string();
        break;
      }
    }
    argv.insert(argv.end(), {"--target", target});
  }
  for (size_t i = 0; i < files.size(); ++i) {
    argv.insert(argv.end(), {"--input", folder.inputs[i].file + "=" + files[i].string()});
  }
  if (!options.output_dir.empty()) argv.insert(argv.end(), {"--output-dir", options.output_dir.string()});
  if (options.repeat_axis0) argv.emplace_back("--repeat-axis0");
  if (options.bench > 0) argv.insert(argv.end(), {"--bench", std::to_string(options.bench)});
  std::vector<std::string> environment;
  if (options.jobs > 0) environment.push_back(fmt::format("MRVLC_JOBS={}", options.jobs));
  return run_process(argv, environment);
}

}  // namespace

Result<std::string> run(const RunOptions& options) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(options.out));
  MRVLC_TRY(check_ports(folder));
  MRVLC_ASSIGN(std::vector<fs::path> files, input_files(options, folder));
  for (size_t i = 0; i < files.size(); ++i)
    MRVLC_TRY(check_input(folder.inputs[i], files[i], options.repeat_axis0));
  if (folder.target != "host") {
    // Asked here for a message that names the known targets; the program would only fail later.
    auto machine = target::load_machine(folder.target, options.target_dirs);
    if (!machine.ok()) return machine.error();
  }
  std::error_code ec;
  if (!options.output_dir.empty()) fs::create_directories(options.output_dir, ec);
  if (ec) return make_diag<DiagCode::MRV0002>(options.output_dir.string(), ec.message());
  InterruptGuard guard;  // first: after an interrupt, too, the folder is removed
  MRVLC_ASSIGN(TemporaryDir temporary, TemporaryDir::create());
  fs::path program = temporary.path() / "program";
  fs::path out =
      fs::absolute(options.out);  // a name that begins with '-' must not become an option of the compiler
  MRVLC_TRY(build_stub(options, folder, out, program));
  MRVLC_ASSIGN(ProcessResult ran, run_program(options, folder, files, out, program));
  // The inputs were checked, so that what the program could not read or write is a matter of the files.
  if (ran.exit_code == 3) return make_diag<DiagCode::MRV0002>(options.output_dir.string(), ran.output);
  if (ran.exit_code != 0) return make_diag<DiagCode::MRV0709>(ran.exit_code, ran.output);
  return std::move(ran.output);
}

}  // namespace mrvlc::driver
