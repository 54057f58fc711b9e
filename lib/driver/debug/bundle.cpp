// `mrvlc bundle`: what a report of a fault needs, in one archive.
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "debug/folders.h"
#include "inputs/rule_files.h"
#include "model/compiled_model.h"
#include "mrvlc/driver/debug.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/onnx/bare.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/printable.h"
#include "mrvlc/support/temporary_dir.h"
#include "run/process.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSeconds = "300";
constexpr const char* kFolder = "...";  // in the place of a folder of this machine

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

// Which options name a file, and which a folder.
constexpr std::string_view kFileOptions[] = {"--rules", "--placement", "--host-model", "--tuning",
                                             "--calibration"};
constexpr std::string_view kFolderOptions[] = {"--target-dir", "--external-data-dir"};

template <size_t N>
bool is_one_of(const std::string_view (&options)[N], std::string_view option) {
  return std::ranges::find(options, option) != std::end(options);
}

// A file below the folder it is written to.
bool stays_inside(const fs::path& file) {
  return file.is_relative() && std::ranges::find(file, fs::path("..")) == file.end();
}

class Bundler {
 public:
  Bundler(const BundleOptions& options, fs::path folder) : o_(options), folder_(std::move(folder)) {
    note_folders();
  }

  Result<std::string> pack() {
    MRVLC_TRY(add_model());
    MRVLC_TRY(add_options());
    MRVLC_TRY(write("versions.json", folders_.without(json_document(versions()))));
    MRVLC_TRY(add_messages());
    MRVLC_TRY(archive());
    return list();
  }

 private:
  void note_folders() {
    folders_.add(folder_ / "bundle", ".");
    folders_.add(folder_, "..");
    std::error_code ec;
    folders_.add(fs::read_symlink("/proc/self/exe", ec).parent_path(), kFolder);
    folders_.add(fs::current_path(ec), kFolder);
    folders_.add(fs::absolute(o_.compile.model, ec).parent_path(), kFolder);
    for (const fs::path& dir : o_.compile.target_dirs) folders_.add(fs::absolute(dir, ec), kFolder);
    for (const char* variable : {"HOME", "TMPDIR"})
      if (const char* path = std::getenv(variable); path != nullptr) folders_.add(path, kFolder);
  }

  Status write(const std::string& name, std::string_view text) {
    files_.push_back(name);
    const fs::path file = folder_ / "bundle" / name;
    std::error_code ec;
    fs::create_directories(file.parent_path(), ec);
    return write_file_atomic(file, text);
  }

  Status copy(const fs::path& from, const std::string& name) {
    std::error_code ec;
    if (fs::equivalent(from, o_.out, ec))
      return make_diag<DiagCode::MRV0002>(o_.out.string(), "it is a file that is packed; name another one");
    MRVLC_ASSIGN(const std::string text, read_file(from));
    return write(name, text);
  }

  Status add_model() {
    if (!o_.weights) {
      std::error_code ec;
      if (fs::equivalent(o_.compile.model, o_.out, ec))
        return make_diag<DiagCode::MRV0002>(o_.out.string(), "it is the model that is packed");
      MRVLC_ASSIGN(const std::string bare, onnx::bare_model(o_.compile.model));
      return write(model_, bare);
    }
    Diagnostics ignored;
    onnx::ImportOptions import = o_.compile.import;
    import.hash = false;
    const auto model = onnx::import_file(o_.compile.model, import, ignored);
    std::vector<onnx::ModelFile> external;
    if (model)
      std::ranges::copy_if(model->files, std::back_inserter(external),
                           [](const onnx::ModelFile& file) { return !file.location.empty(); });
    return add_with_data(external);
  }

  // Locations are the model's: beside it in a folder without other files, and none is the model's own name.
  Status add_with_data(const std::vector<onnx::ModelFile>& external) {
    if (!external.empty()) model_ = "model/model.onnx";
    const auto taken = [&] {
      return std::ranges::any_of(external, [&](const onnx::ModelFile& file) {
        return fs::path("model") / fs::path(file.location).lexically_normal() == model_;
      });
    };
    for (int i = 1; taken(); ++i) model_ = fmt::format("model/model-{}.onnx", i);
    MRVLC_TRY(copy(o_.compile.model, model_));
    for (const onnx::ModelFile& file : external) {
      const fs::path location = fs::path(file.location).lexically_normal();
      if (stays_inside(location))
        MRVLC_TRY(copy(file.path, "model/" + location.string()));
      else
        left_out_.push_back(folders_.without(file.location));
    }
    return {};
  }

  // Each option's file has a folder of its own: it may be called like one of ours, or like another option's.
  Result<std::string> add_file(const fs::path& from) {
    const std::string name = fmt::format("files/{}/{}", ++file_number_, file_name(from.filename().string()));
    MRVLC_TRY(copy(from, name));
    return name;
  }

  // With what it includes, as far as that lies below its folder.
  Result<std::string> add_rules(const fs::path& from) {
    MRVLC_ASSIGN(const std::string name, add_file(from));
    const fs::path folder = from.parent_path(), packed = fs::path(name).parent_path();
    std::vector<fs::path> included;
    const auto read = read_rule_files({from}, [&](const fs::path& file, const std::string&) {
      if (file.lexically_normal() != from.lexically_normal()) included.push_back(file);
    });
    if (!read.ok()) return name;  // the compile of what is packed says why
    for (const fs::path& file : included) {
      const fs::path relative = file.lexically_relative(folder.empty() ? "." : folder);
      if (!relative.empty() && stays_inside(relative))
        MRVLC_TRY(copy(file, (packed / relative).string()));
      else
        left_out_.push_back(file.filename().string());
    }
    return name;
  }

  // What stands in the place of an option's word; nothing: it stays behind.
  Result<std::optional<std::string>> packed(const std::string& option, const std::string& word) {
    const auto file = [](Result<std::string> name) -> Result<std::optional<std::string>> {
      if (!name.ok()) return name.error();
      return std::optional(*std::move(name));
    };
    if (option == "--rules") return file(add_rules(word));
    if (is_one_of(kFileOptions, option)) return file(add_file(word));
    const size_t equals = word.find('=');
    const bool value = option == "--bind" && equals != word.npos && word.ends_with(".npy");
    if (!value) return std::optional(word);
    if (!o_.weights) return std::optional<std::string>();
    MRVLC_ASSIGN(const std::string name, add_file(word.substr(equals + 1)));
    return std::optional(word.substr(0, equals + 1) + name);
  }

  // Files that options name are packed; folders of this machine, and what tells of data, are not.
  Status add_options() {
    Json options = Json::object();
    argv_ = {};
    for (const auto& [option, words] : o_.options) {
      for (const std::string& word : words) {
        const bool behind =
            is_one_of(kFolderOptions, option) || (option == "--calibration" && !o_.calibration);
        std::optional<std::string> said;
        if (!behind) {
          MRVLC_ASSIGN(said, packed(option, word));
        }
        if (!said) {
          left_out_.push_back(option);
          continue;
        }
        options[option].push_back(folders_.without(idmap::json_text(*said)));
        argv_.push_back(option + "=" + *said);
      }
    }
    return write("options.json", json_document(options));
  }

  // What this compiler says of what was packed, in a process of its own: it may end in any way.
  Status add_messages() {
    std::vector<std::string> argv = {
        "timeout", "-k",   "1",  kSeconds, fs::read_symlink("/proc/self/exe").string(),
        "compile", model_, "-o", "../out", "--log-format",
        "json",    "-v"};
    argv.insert(argv.end(), argv_.begin(), argv_.end());
    std::vector<std::string> in_folder = {"env", "-u", "MRVLC_LOG_LEVEL", "-C",
                                          (folder_ / "bundle").string()};
    in_folder.insert(in_folder.end(), argv.begin(), argv.end());
    MRVLC_ASSIGN(const ProcessResult ran, run_process(in_folder));
    exit_code_ = ran.exit_code;
    return write("messages.txt", fmt::format("{}exit code {}\n",
                                             folders_.without(printable_lines(ran.output)), ran.exit_code));
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
    for (const std::string& what : left_out_) out += fmt::format("  not packed: {}\n", printable(what));
    return out + fmt::format("the compile of what was packed ends with exit code {}\n", exit_code_) +
           (o_.weights ? "" : "weights are zeros; names, operators and shapes are the model's\n");
  }

  const BundleOptions& o_;
  fs::path folder_;
  Folders folders_;
  std::string model_ = "model.onnx";
  std::vector<std::string> files_, argv_, left_out_;
  size_t file_number_ = 0;
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
