// Cross-compiled here or compiled there, the simulator library beside it; inputs and outputs carried.
#include "run/remote_program.h"

#include <algorithm>
#include <map>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/diag/tools.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSimulator = "libmrvl_simdev.so";
// The folder that the program lies in, to the dynamic linker (ld.so(8)).
constexpr const char* kBeside = "$ORIGIN";

bool is_source(const OutputFolder& folder, const std::string& file) {
  if (std::ranges::find(folder.sources, file) != folder.sources.end()) return true;
  return std::ranges::any_of(std::initializer_list<const char*>{".c", ".h", ".S", ".bin"},
                             [&](const char* end) { return file.ends_with(end); });
}

// What the program reads when it runs.
bool is_loaded(const OutputFolder& folder, const std::string& file) {
  const auto weights = weights_files(folder);
  return file.ends_with(".mrvl") || (weights.size() == 1 && weights[0] == file && file.ends_with(".bin"));
}

// By the folder below OUT that they lie in.
std::map<std::string, std::vector<fs::path>> files_of(const OutputFolder& folder, bool sources) {
  std::map<std::string, std::vector<fs::path>> out;
  for (const auto& [file, hash] : folder.files)
    if (is_loaded(folder, file) || (sources && is_source(folder, file)))
      out[fs::path(file).parent_path().string()].push_back(folder.path / file);
  return out;
}

// What a compiler compiles for: "x86_64-linux-gnu". Empty: it does not say.
std::string machine_of(std::vector<std::string> cc) {
  cc.emplace_back("-dumpmachine");
  auto ran = run_process(cc);
  return ran.ok() && ran->exit_code == 0 ? ran->output.substr(0, ran->output.find('\n')) : "";
}

Status place_file(const fs::path& from, const fs::path& to) {
  std::error_code ec;
  fs::create_directories(to.parent_path(), ec);
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, ec);
  if (ec) return make_diag<DiagCode::MRV0003>(from.string(), ec.message());
  return {};
}

}  // namespace

Result<std::unique_ptr<RemoteProgram>> RemoteProgram::build(const RunOptions& options,
                                                            const OutputFolder& folder,
                                                            const fs::path& scratch) {
  MRVLC_ASSIGN(Remote remote, Remote::open(options.on, options.ssh_config));
  std::unique_ptr<RemoteProgram> program(new RemoteProgram(std::move(remote), folder, scratch));
  MRVLC_TRY(options.cc.empty() ? program->build_there(options) : program->build_here(options));
  return program;
}

Status RemoteProgram::build_here(const RunOptions& options) {
  StubPlaces places;
  MRVLC_ASSIGN(places.cc, c_compiler(options.cc));
  places.sources = folder_.path.string();
  places.program = (scratch_ / "program").string();
  std::vector<fs::path> files = files_of(folder_, false)[""];
  if (has_regions(folder_)) {
    MRVLC_ASSIGN(const std::vector<std::string> own, c_compiler(""));
    const std::string here = machine_of(own), there = machine_of(places.cc);
    if (options.device_lib.empty() && here != there) return make_diag<DiagCode::MRV1021>(there, here);
    const fs::path library = scratch_ / "lib" / kSimulator;
    MRVLC_TRY(place_file(
        options.device_lib.empty() ? install_prefix() / "lib" / kSimulator : options.device_lib, library));
    places.link_folder = library.parent_path().string();
    places.run_folder = kBeside;
    files.push_back(library);
  }
  MRVLC_TRY(compile_stub(stub_command(folder_, options.cflags, places)));
  files.push_back(scratch_ / "program");
  return remote_.send(files);
}

Status RemoteProgram::build_there(const RunOptions& options) {
  StubPlaces places;
  places.cc = {"cc"};
  places.sources = ".";
  places.program = "program";
  auto files = files_of(folder_, true);
  if (!has_headers(folder_)) files[""].push_back(install_prefix() / "include" / "mrvl");
  if (has_regions(folder_)) {
    const fs::path library = scratch_ / "lib" / kSimulator;
    MRVLC_TRY(place_file(
        options.device_lib.empty() ? install_prefix() / "lib" / kSimulator : options.device_lib, library));
    files[""].push_back(library);
    places.link_folder = ".";
    places.run_folder = kBeside;
  }
  for (const auto& [below, those] : files) MRVLC_TRY(remote_.send(those, below));
  MRVLC_ASSIGN(const ProcessResult built, remote_.run(stub_command(folder_, options.cflags, places)));
  if (built.exit_code == 0) return {};
  return make_diag<DiagCode::MRV0708>("cc on " + printable(remote_.host()), built.exit_code,
                                      built.errors + built.output);
}

Result<ProcessResult> RemoteProgram::run(const ProgramCall& call, const fs::path& output_dir) const {
  // Files of the same name, from several folders, must not meet.
  const fs::path staged = scratch_ / "in";
  std::vector<fs::path> given, files;  // side by side
  const auto stage = [&](const fs::path& file) -> Status {
    given.push_back(file);
    files.push_back(staged / (std::to_string(files.size()) + file.extension().string()));
    return place_file(file, files.back());
  };
  for (const fs::path& file : call.inputs)
    if (!file.empty()) MRVLC_TRY(stage(file));
  std::error_code ec;
  for (const std::string& target : call.targets)
    if (fs::is_regular_file(target, ec)) MRVLC_TRY(stage(target));
  MRVLC_TRY(remote_.send(files, "in"));
  MRVLC_ASSIGN(const ProcessResult made, remote_.run({"mkdir", "-p", "results"}));
  if (made.exit_code != 0)
    return make_diag<DiagCode::MRV1020>(printable(remote_.host()), made.exit_code,
                                        printable(made.errors + made.output, 1000));
  std::vector<std::string> argv = {"env"};
  argv.insert(argv.end(), call.environment.begin(), call.environment.end());
  argv.insert(argv.end(), {"./program", "--dir", "."});
  const auto words = call.words(folder_, [&](const fs::path& file) {
    const auto at = std::ranges::find(given, file) - given.begin();
    return (fs::path("in") / files[static_cast<size_t>(at)].filename()).string();
  });
  argv.insert(argv.end(), words.begin(), words.end());
  if (!output_dir.empty()) argv.insert(argv.end(), {"--output-dir", "results"});
  MRVLC_ASSIGN(ProcessResult ran, remote_.run(argv));
  if (ran.exit_code == 0 && !output_dir.empty()) MRVLC_TRY(bring_outputs(output_dir));
  return ran;
}

Status RemoteProgram::bring_outputs(const fs::path& output_dir) const {
  const fs::path results = scratch_ / "fetched";
  MRVLC_TRY(remote_.fetch("results", results));
  std::error_code ec;
  for (fs::directory_iterator at(results, ec), end; !ec && at != end; at.increment(ec))
    MRVLC_TRY(place_file(at->path(), output_dir / at->path().filename()));
  if (ec) return make_diag<DiagCode::MRV0003>(results.string(), ec.message());
  return {};
}

}  // namespace mrvlc::driver
