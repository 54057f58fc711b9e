// `mrvlc run`: builds the host stub with the C compiler in a temporary folder and runs it against the
// simulator.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>

#include "inputs/json.h"
#include "mrvlc/driver/value_file.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/nearest.h"
#include "mrvlc/support/temporary_dir.h"
#include "mrvlc/target/find.h"
#include "mrvlc/tensor/npy.h"
#include "run/process.h"
#include "run/program.h"
#include "run/remote_program.h"
#include "run/run_mesh.h"
#include "run/shown_outputs.h"
#include "run/stub_command.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

// That what is compiled and run is what was written: no other model's binary under the right name.
Status check_sources(const OutputFolder& folder) {
  for (const std::string& file : weights_files(folder)) MRVLC_TRY(folder.check(file));
  for (const std::string& file : {folder.name + ".c", example_file(folder)}) MRVLC_TRY(folder.check(file));
  for (const std::string& file : folder.sources) MRVLC_TRY(folder.check(file));
  for (const auto& [file, hash] : folder.files) {
    if (file.ends_with(".mrvl") || file.ends_with(".h")) MRVLC_TRY(folder.check(file));
  }
  return {};
}

Status build_stub(const RunOptions& options, const OutputFolder& folder, const fs::path& out,
                  const fs::path& program) {
  const fs::path prefix = install_prefix();
  StubPlaces places;
  MRVLC_ASSIGN(places.cc, c_compiler(options.cc));
  places.sources = out.string();
  if (has_regions(folder)) places.link_folder = places.run_folder = (prefix / "lib").string();
  places.program = program.string();
  return compile_stub(stub_command(folder, options.cflags, places));
}

// "NAME=FILE": both may hold '=', so the model's names decide where NAME ends, the longest first. A name is
// taken as it is, as it is shown, and in its form for files.
const Port* port_of(const OutputFolder& folder, const std::string& binding, size_t& length) {
  const Port* found = nullptr;
  length = 0;
  for (size_t eq = binding.find('='); eq != std::string::npos; eq = binding.find('=', eq + 1)) {
    const std::string name = binding.substr(0, eq), shown = idmap::json_text(name);
    for (const Port& p : folder.inputs) {
      if (p.name != shown && p.file != name) continue;
      found = &p;
      length = eq;
      break;
    }
  }
  return found;
}

std::string input_names(const OutputFolder& folder) {
  std::string names;
  for (const Port& p : folder.inputs) names += (names.empty() ? "'" : ", '") + p.name + "'";
  return names.empty() ? "the model has no inputs" : "its inputs are " + names;
}

std::string nearest_input(const OutputFolder& folder, const std::string& name) {
  std::vector<std::string_view> names;
  for (const Port& p : folder.inputs) names.push_back(p.name);
  return did_you_mean(name, names);
}

// That the model has no such input, and why.
Diag unknown_input(const OutputFolder& folder, const std::string& name) {
  if (std::ranges::find(folder.bound_inputs, name) != folder.bound_inputs.end())
    return make_diag<DiagCode::MRV0004>(
        fmt::format("--input: '{0}' became a constant when the model was compiled; compile it again with "
                    "--bind {0}=FILE.npy "
                    "for another value",
                    printable(name)));
  return make_diag<DiagCode::MRV0004>(fmt::format("--input: '{}' names no input of the model{}; {}",
                                                  printable(name), nearest_input(folder, name),
                                                  input_names(folder)));
}

// The file of each input of the model, in order; none for a state that begins with zeros.
Result<std::vector<fs::path>> input_files(const RunOptions& options, const OutputFolder& folder) {
  std::map<const Port*, fs::path> given;
  auto add = [&](const Port& p, const fs::path& file) -> Status {
    if (given.emplace(&p, file).second) return {};
    return make_diag<DiagCode::MRV0004>(fmt::format("--input: '{}' is given twice", p.name));
  };
  for (const std::string& binding : options.bindings) {
    size_t length = 0;
    const Port* p = port_of(folder, binding, length);
    if (p == nullptr) return unknown_input(folder, binding.substr(0, binding.rfind('=')));
    MRVLC_TRY(add(*p, binding.substr(length + 1)));
  }
  for (const auto& input : options.inputs) {
    auto p = std::find_if(folder.inputs.begin(), folder.inputs.end(),
                          [&](const Port& i) { return i.name == input.first; });
    if (p == folder.inputs.end()) return unknown_input(folder, input.first);
    MRVLC_TRY(add(*p, input.second));
  }
  std::vector<fs::path> files;
  for (const Port& p : folder.inputs) {
    if (!given.contains(&p) && !p.is_state)
      return make_diag<DiagCode::MRV0004>(fmt::format("--input {}=FILE.npy is missing", p.name));
    files.push_back(given[&p]);
  }
  return files;
}

// A sequence's tensors may differ in shape, but not in elements.
bool has_elements(const Tensor& value, ElementType elem) {
  if (value.type().wrapper == Wrapper::None) return value.elem() == elem;
  return std::all_of(value.items().begin(), value.items().end(),
                     [&](const Tensor& item) { return has_elements(item, elem); });
}

// Asked before minutes of compiling, and answered with the model's own terms.
Result<Tensor> checked_input(const Port& port, const fs::path& file, bool may_repeat) {
  MRVLC_ASSIGN(Tensor value, read_value(file, port.type.wrapper));
  value = as_declared(std::move(value), port.type);
  MRVLC_TRY(check_value(port, value, "--input: " + printable(file.string(), 4096), may_repeat));
  return value;
}

// What the example program reads: .npy, or the bytes of docs/values.md.
Result<fs::path> staged(const Tensor& value, const fs::path& folder, size_t i) {
  const bool bytes = needs_json(value.type());
  fs::path file = folder / fmt::format("input_{}.{}", i, bytes ? "value" : "npy");
  MRVLC_TRY(write_file_atomic(file, bytes ? to_value_bytes(value) : to_npy(value)));
  return file;
}

Status make_folder(const fs::path& folder) {
  std::error_code ec;
  if (!folder.empty()) fs::create_directories(folder, ec);
  if (ec) return make_diag<DiagCode::MRV0002>(folder.string(), ec.message());
  return {};
}

// Of outputs that .npy does not hold: FILE.value becomes FILE.json.
Status finish_output(const Port& port, const fs::path& folder) {
  if (!needs_json(port.type)) return {};
  const fs::path bytes = folder / (port.file + ".value");
  MRVLC_ASSIGN(const std::string text, read_file(bytes));
  std::error_code ignored;
  fs::remove(bytes, ignored);
  auto value = parse_value_bytes(text, port.type);
  if (!value.ok()) return make_diag<DiagCode::MRV0003>(bytes.string(), value.error().message);
  return write_file_atomic(folder / (port.file + ".json"), to_value_json(*value, port.type));
}

// Of a machine that is not built in: its file.
Result<std::string> target_argument(const RunOptions& options, const OutputFolder& folder,
                                    const std::string& target) {
  const std::string file = target_file(target, folder.targets.size());
  if (folder.files.contains(file)) return (folder.path / file).string();
  MRVLC_ASSIGN(const target::TargetText text, target::find_target(target, options.target_dirs));
  return text.files.empty() ? target : text.files.front().path.string();
}

Result<ProgramCall> program_call(const RunOptions& options, const OutputFolder& folder,
                                 const std::vector<fs::path>& files) {
  ProgramCall call;
  call.inputs = files;
  for (const std::string& target : folder.targets) {
    MRVLC_ASSIGN(std::string argument, target_argument(options, folder, target));
    call.targets.push_back(std::move(argument));
  }
  if (options.repeat_axis0) call.more.emplace_back("--repeat-axis0");
  if (options.bench > 0) call.more.insert(call.more.end(), {"--bench", std::to_string(options.bench)});
  if (options.steps) call.more.emplace_back("--steps");
  if (options.jobs > 0) call.environment.push_back(fmt::format("MRVLC_JOBS={}", options.jobs));
  return call;
}

}  // namespace

Status check_value(const Port& port, const Tensor& value, const std::string& what, bool may_repeat) {
  const TensorType& type = value.type();
  Shape one = type.shape;
  bool repeats = may_repeat && !needs_json(type) && !one.empty() && !port.type.shape.empty() &&
                 port.type.shape[0] > 0 && one[0] > 0 && one[0] % port.type.shape[0] == 0;
  if (repeats) one[0] = port.type.shape[0];
  const bool wrapped = type.wrapper != Wrapper::None || port.type.wrapper != Wrapper::None;
  // An optional that holds nothing has no shape.
  const bool nothing = type.wrapper == port.type.wrapper && ops::is_optional(type) && value.items().empty();
  if (nothing && type.elem == port.type.elem) return {};
  const bool admitted = wrapped ? admits(port.type, type) : admits(port.type, TensorType{type.elem, one});
  if (admitted && has_elements(value, port.type.elem)) return {};
  // The element type alone is another one: what numpy makes by itself is float64 and int64.
  const bool cast =
      !wrapped && type.elem != port.type.elem && admits(port.type, TensorType{port.type.elem, one});
  bool would = !may_repeat && !wrapped && !needs_json(type) && type.elem == port.type.elem &&
               one.size() == port.type.shape.size() && !one.empty() &&
               std::equal(one.begin() + 1, one.end(), port.type.shape.begin() + 1);
  return make_diag<DiagCode::MRV0004>(fmt::format("{} is {}, input '{}' takes {}{}", what, to_string(type),
                                                  port.name, to_string(port.type),
                                                  would  ? "; --repeat-axis0 runs slice by slice"
                                                  : cast ? "; convert it with x.astype"
                                                         : ""));
}

Result<Program> Program::build(const RunOptions& options, OutputFolder folder) {
  for (const std::string& target : folder.targets) {
    // Asked here for a message that names the known targets; the program would only fail later.
    auto backend = folder.backend(target, options.target_dirs, OutputFolder::Libraries::Any);
    if (!backend.ok()) return backend.error();
    if (!(*backend)->runs_here()) return make_diag<DiagCode::MRV0357>(target);
  }
  MRVLC_ASSIGN(TemporaryDir temporary, TemporaryDir::create());
  // A name that begins with '-' must not become an option of the compiler.
  folder.path = fs::absolute(folder.path);
  std::unique_ptr<RemoteProgram> remote;
  if (options.on.empty()) {
    MRVLC_TRY(build_stub(options, folder, folder.path, temporary.path() / "program"));
  } else {
    MRVLC_ASSIGN(remote, RemoteProgram::build(options, folder, temporary.path()));
  }
  Program program(options, std::move(folder), std::move(temporary));
  program.remote_ = std::move(remote);
  return program;
}

Program::Program(Program&&) noexcept = default;
Program::~Program() = default;
Program::Program(RunOptions options, OutputFolder folder, TemporaryDir temporary)
    : options_(std::move(options)), folder_(std::move(folder)), temporary_(std::move(temporary)) {}

Result<ProcessResult> Program::call(const std::vector<fs::path>& files, const fs::path& output_dir) const {
  MRVLC_ASSIGN(const ProgramCall call, program_call(options_, folder_, files));
  if (remote_) return remote_->run(call, output_dir);
  std::vector<std::string> argv = {(temporary_.path() / "program").string(), "--dir", folder_.path.string()};
  const auto words = call.words(folder_, [](const fs::path& file) { return file.string(); });
  argv.insert(argv.end(), words.begin(), words.end());
  if (!output_dir.empty()) argv.insert(argv.end(), {"--output-dir", output_dir.string()});
  if (!options_.dump.empty()) argv.insert(argv.end(), {"--dump", options_.dump.string()});
  return run_process(argv, call.environment, options_.timeout);
}

Result<std::string> Program::run(const std::vector<fs::path>& inputs, const fs::path& output_dir) const {
  MRVLC_TRY(make_folder(output_dir));
  std::vector<fs::path> files;
  for (size_t i = 0; i < inputs.size(); ++i) {
    files.push_back(inputs[i]);
    if (inputs[i].empty()) continue;
    const Port& port = folder_.inputs[i];
    if (inputs[i].extension() == ".npy" && !needs_json(port.type)) {
      MRVLC_ASSIGN(const std::string bytes, read_file(inputs[i]));
      if (is_plain_npy(bytes)) continue;  // the program reads it as it is
    }
    MRVLC_ASSIGN(Tensor value, read_value(inputs[i], port.type.wrapper));
    MRVLC_ASSIGN(files.back(), staged(as_declared(std::move(value), port.type), temporary_.path(), i));
  }
  MRVLC_ASSIGN(ProcessResult ran, call(files, output_dir));
  if (ran.late) return make_diag<DiagCode::MRV0718>("the program", options_.timeout);
  const std::string said = ran.errors + ran.output;
  // The inputs were checked, so that what the program could not read or write is a matter of the files.
  if (ran.exit_code == 3) {
    return make_diag<DiagCode::MRV0002>(output_dir.string(), said.substr(0, said.find_last_not_of('\n') + 1));
  }
  if (ran.exit_code != 0) return make_diag<DiagCode::MRV0709>(ran.exit_code, said);
  if (options_.said && !ran.errors.empty()) options_.said(ran.errors);
  for (const Port& port : folder_.outputs) {
    if (!output_dir.empty()) MRVLC_TRY(finish_output(port, output_dir));
  }
  return std::move(ran.output);
}

Result<std::vector<Tensor>> Program::run(const std::vector<Tensor>& inputs) const {
  std::vector<fs::path> files;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool json = needs_json(inputs[i].type());
    files.push_back(temporary_.path() / fmt::format("given_{}.{}", i, json ? "json" : "npy"));
    MRVLC_TRY(write_file_atomic(files.back(),
                                json ? to_value_json(inputs[i], folder_.inputs[i].type) : to_npy(inputs[i])));
  }
  const fs::path results = temporary_.path() / "results";
  auto ran = run(files, results);
  if (!ran.ok()) return ran.error();
  std::vector<Tensor> outputs;
  for (const Port& port : folder_.outputs) {
    const fs::path file = results / (port.file + (needs_json(port.type) ? ".json" : ".npy"));
    MRVLC_ASSIGN(Tensor value, read_value(file, port.type.wrapper));
    outputs.push_back(as_declared(std::move(value), port.type));
  }
  return outputs;
}

namespace {

Status check_dump(const RunOptions& options, const OutputFolder& folder) {
  if (options.dump.empty()) return {};
  if (!options.on.empty() || is_mesh(folder))
    return make_diag<DiagCode::MRV0004>("--dump is for a program on this machine, and not for a mesh");
  if (!folder.given.trace_values)
    return make_diag<DiagCode::MRV0004>(
        "--dump: the program tells of no values; compile it with --trace-values");
  return make_folder(options.dump);
}

}  // namespace

Result<std::string> run(const RunOptions& options) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(options.out));
  MRVLC_ASSIGN(std::vector<fs::path> files, input_files(options, folder));
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].empty()) continue;
    auto value = checked_input(folder.inputs[i], files[i], options.repeat_axis0);
    if (!value.ok()) return value.error();
  }
  MRVLC_TRY(check_dump(options, folder));
  if (is_mesh(folder)) return run_mesh(options, folder, files);
  if (options.ranks != 1 || options.order != 0)
    return make_diag<DiagCode::MRV0004>("--ranks and --order are for an OUT of a mesh");
  MRVLC_TRY(check_sources(folder));
  MRVLC_TRY(make_folder(options.output_dir));  // before the C compiler is kept busy
  InterruptGuard guard;                        // first: after an interrupt, too, the folder is removed
  MRVLC_ASSIGN(const Program program, Program::build(options, std::move(folder)));
  if (!options.output_dir.empty() || options.bench > 0) return program.run(files, options.output_dir);
  MRVLC_ASSIGN(const TemporaryDir results, TemporaryDir::create());
  MRVLC_ASSIGN(std::string said, program.run(files, results.path()));
  MRVLC_ASSIGN(const std::string shown, shown_outputs(program.folder(), results.path()));
  return said + shown;
}

}  // namespace mrvlc::driver
