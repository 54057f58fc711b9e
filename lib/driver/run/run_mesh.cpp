// The program of a mesh in one process: its ranks take turns.
#include "run/run_mesh.h"

#include <fmt/format.h>

#include "mrvlc/driver/value_file.h"
#include "mrvlc/mesh/mesh.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/mesh.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/temporary_dir.h"
#include "mrvlc/tensor/npy.h"
#include "run/process.h"
#include "run/shown_outputs.h"
#include "run/stub_command.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

Status check_options(const RunOptions& o) {
  if (o.bench > 0) return make_diag<DiagCode::MRV1308>("'--bench'");
  if (!o.on.empty()) return make_diag<DiagCode::MRV1308>("'--on'");
  return {};
}

Status build(const RunOptions& options, const OutputFolder& folder, const mesh::Plan& plan,
             const fs::path& program) {
  MRVLC_ASSIGN(std::vector<std::string> argv, c_compiler(options.cc));
  const std::vector<std::string> flags = mesh::compile_flags();
  argv.insert(argv.end(), flags.begin(), flags.end());
  for (const std::string& word : split_words(options.cflags)) argv.push_back(word);
  argv.insert(argv.end(), {"-o", program.string()});
  const fs::path out = fs::absolute(folder.path);
  for (const std::string& source : mesh::sources(plan)) {
    MRVLC_TRY(folder.check(source));
    argv.push_back((out / source).string());
  }
  for (const char* header : {"coordinator.h", "messages.h", "mrvl/pe.h", mesh::kBlobFile})
    MRVLC_TRY(folder.check(header));
  argv.emplace_back("-lm");
  return compile_stub(argv);
}

// The program reads plain .npy files alone.
Result<fs::path> plain_file(const fs::path& input, const Port& port, const fs::path& folder, size_t i) {
  if (input.extension() == ".npy") {
    MRVLC_ASSIGN(const std::string bytes, read_file(input));
    if (is_plain_npy(bytes)) return input;
  }
  MRVLC_ASSIGN(Tensor value, read_value(input, port.type.wrapper));
  const fs::path file = folder / fmt::format("input_{}.npy", i);
  MRVLC_TRY(write_file_atomic(file, to_npy(as_declared(std::move(value), port.type))));
  return file;
}

}  // namespace

bool is_mesh(const OutputFolder& folder) {
  return folder.files.contains(mesh::kPlanFile);
}

Result<std::string> run_mesh(const RunOptions& options, const OutputFolder& folder,
                             const std::vector<fs::path>& inputs) {
  MRVLC_TRY(check_options(options));
  MRVLC_ASSIGN(const std::string text, folder.bytes(mesh::kPlanFile));
  MRVLC_ASSIGN(const mesh::Plan plan, mesh::parse_plan(text));
  InterruptGuard guard;  // first: after an interrupt, too, the folder is removed
  MRVLC_ASSIGN(const TemporaryDir temporary, TemporaryDir::create());
  MRVLC_TRY(build(options, folder, plan, temporary.path() / "mesh"));
  const fs::path results = options.output_dir.empty() ? temporary.path() / "results" : options.output_dir;
  std::error_code ec;
  fs::create_directories(results, ec);
  if (ec) return make_diag<DiagCode::MRV0002>(results.string(), ec.message());
  std::vector<std::string> argv = {(temporary.path() / "mesh").string(),
                                   "--dir",
                                   fs::absolute(folder.path).string(),
                                   "--output-dir",
                                   results.string(),
                                   "--ranks",
                                   std::to_string(options.ranks)};
  if (options.order > 0) argv.insert(argv.end(), {"--order", std::to_string(options.order)});
  if (options.repeat_axis0) argv.emplace_back("--repeat-axis0");
  for (size_t i = 0; i < inputs.size(); ++i) {
    MRVLC_ASSIGN(const fs::path file,
                 plain_file(fs::absolute(inputs[i]), folder.inputs[i], temporary.path(), i));
    argv.push_back(file.string());
  }
  MRVLC_ASSIGN(ProcessResult ran, run_process(argv, {}, options.timeout));
  if (ran.late) return make_diag<DiagCode::MRV0718>("the program", options.timeout);
  if (ran.exit_code != 0) return make_diag<DiagCode::MRV0709>(ran.exit_code, ran.output);
  if (!options.output_dir.empty()) return std::move(ran.output);
  MRVLC_ASSIGN(const std::string shown, shown_outputs(folder, results));
  return ran.output + shown;
}

}  // namespace mrvlc::driver
