// `mrvlc bundle`: what a report of a fault needs, in one archive.
#include <sys/utsname.h>

#include <algorithm>

#include "model/compiled_model.h"
#include "mrvlc/driver/debug.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/onnx/bare.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/temporary_dir.h"
#include "run/process.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSeconds = "300";

// The first line that a program says of itself.
std::string version_of(const std::vector<std::string>& argv) {
  auto ran = run_process(argv);
  if (!ran.ok() || ran->exit_code != 0) return "";
  return printable(ran->output.substr(0, ran->output.find('\n')), 1000);
}

Json versions() {
  utsname system{};
  ::uname(&system);
  auto cc = c_compiler("");
  if (cc.ok()) cc->emplace_back("--version");
  return {{"mrvlc", MRVLC_VERSION},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          {"cc", cc.ok() ? version_of(*cc) : ""}};
}

class Bundler {
 public:
  Bundler(const BundleOptions& options, fs::path folder) : o_(options), folder_(std::move(folder)) {}

  Result<std::string> pack() {
    MRVLC_TRY(add_model());
    MRVLC_TRY(add_options());
    MRVLC_TRY(write("versions.json", versions().dump(1) + "\n"));
    MRVLC_TRY(add_messages());
    MRVLC_TRY(archive());
    return list();
  }

 private:
  Status write(const std::string& name, std::string_view text) {
    files_.push_back(name);
    return write_file_atomic(folder_ / "bundle" / name, text);
  }

  Status copy(const fs::path& from, const std::string& name) {
    MRVLC_ASSIGN(const std::string text, read_file(from));
    return write(name, text);
  }

  Status add_model() {
    std::error_code ec;
    fs::create_directories(folder_ / "bundle", ec);
    if (!o_.weights) {
      MRVLC_ASSIGN(const std::string bare, onnx::bare_model(o_.compile.model));
      return write("model.onnx", bare);
    }
    MRVLC_TRY(copy(o_.compile.model, "model.onnx"));
    Diagnostics ignored;
    onnx::ImportOptions import = import_options(o_.compile);
    import.hash = false;
    const auto model = onnx::import_file(o_.compile.model, import, ignored);
    if (!model) return {};
    for (const onnx::ModelFile& file : model->files) {
      if (file.location.empty()) continue;
      fs::create_directories((folder_ / "bundle" / file.location).parent_path(), ec);
      MRVLC_TRY(copy(file.path, file.location));
    }
    return {};
  }

  // Files that options name are packed under their own names, without folders; so are the options.
  Status add_options() {
    Json options = Json::object();
    argv_ = {};
    for (const auto& [option, words] : o_.options) {
      if (option == "--calibration" && !o_.calibration) continue;
      for (const std::string& word : words) {
        std::string said = word;
        if (option == "--rules" || option == "--placement" || option == "--host-model" ||
            option == "--tuning" || option == "--calibration") {
          said = fs::path(word).filename().string();
          MRVLC_TRY(copy(word, said));
        } else if (option == "--target-dir" || option == "--external-data-dir") {
          continue;  // folders of this machine
        }
        options[option].push_back(idmap::json_text(said));
        argv_.push_back(option + "=" + said);
      }
    }
    return write("options.json", options.dump(1) + "\n");
  }

  // What this compiler says of what was packed, in a process of its own: it may end in any way.
  Status add_messages() {
    std::vector<std::string> argv = {
        "timeout", "-k",         "1",  kSeconds, fs::read_symlink("/proc/self/exe").string(),
        "compile", "model.onnx", "-o", "../out", "--log-format",
        "json",    "-v"};
    argv.insert(argv.end(), argv_.begin(), argv_.end());
    std::vector<std::string> in_folder = {"env", "-C", (folder_ / "bundle").string()};
    in_folder.insert(in_folder.end(), argv.begin(), argv.end());
    MRVLC_ASSIGN(const ProcessResult ran, run_process(in_folder));
    exit_code_ = ran.exit_code;
    return write("messages.txt", fmt::format("{}exit code {}\n", ran.output, ran.exit_code));
  }

  // The same bytes of the same files: no time, no user.
  Status archive() {
    std::ranges::sort(files_);
    const fs::path made = folder_ / "bundle.tar.gz";
    MRVLC_ASSIGN(const ProcessResult ran,
                 run_process({"tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0",
                              "-C", folder_.string(), "-czf", made.string(), "bundle"},
                             {"GZIP=-n"}));
    if (ran.exit_code != 0) return make_diag<DiagCode::MRV0003>("tar", printable(ran.output, 1000));
    MRVLC_ASSIGN(const std::string bytes, read_file(made));
    return write_file_atomic(o_.out, bytes);
  }

  std::string list() const {
    std::string out = printable(o_.out.string(), 4096) + ":\n";
    for (const std::string& file : files_) out += "  bundle/" + printable(file) + "\n";
    return out + fmt::format("the compile of what was packed ends with exit code {}\n", exit_code_) +
           (o_.weights ? "" : "weights are zeros; names, operators and shapes are the model's\n");
  }

  const BundleOptions& o_;
  fs::path folder_;
  std::vector<std::string> files_, argv_;
  int exit_code_ = 0;
};

}  // namespace

std::optional<std::string> bundle(const BundleOptions& options, Diagnostics& diagnostics) {
  const InterruptGuard guard;
  auto temporary = TemporaryDir::create();
  Result<std::string> text = temporary.ok() ? Bundler(options, temporary->path()).pack() : temporary.error();
  if (!text.ok()) diagnostics.add(text.error());
  return text.ok() ? std::optional(*std::move(text)) : std::nullopt;
}

}  // namespace mrvlc::driver
