// Reading back a folder that compile wrote.
#pragma once
#include <filesystem>
#include <map>

#include "inputs/json.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/json_fields.h"
#include "mrvlc/support/other_files.h"

namespace mrvlc::driver {

inline constexpr const char* kManifestSchema = "mrvlc-manifest-1";

// The file that holds the whole of an accelerator's machine, where it is not a built-in one; `count`: of the
// accelerators that there are.
inline std::string target_file(const std::string& name, size_t count) {
  return count == 1 ? "target.json" : name + ".target.json";
}
inline constexpr const char* kReportPage = "report.html";
// What `mrvlc prove` and --prove write.
inline constexpr const char* kCertificate = "certificate.json";
inline constexpr const char* kCertificateSchema = "mrvlc-certificate-1";
// The graph; not where it is larger than a picture can be.
inline constexpr const char* kGraphFile = "graph.json";

struct Port {
  std::string name;  // printable form
  std::string file;  // what stands in file names, see support/file_names.h
  TensorType type;
  bool is_state = false;  // of an input: an output of the run before, zeros in the beginning
};

// What a compile was given, as its manifest says it.
struct Given {
  std::string version;  // of mrvlc
  std::string sha256;   // of the model
  Json options = Json::object();
  bool trace_values = false;  // among the options: the program takes --dump
  Json read = Json::array();  // files besides the model
};

struct OutputFolder {
  std::filesystem::path path;
  Given given;
  std::string name;                                       // of the model: NAME.c, NAME.region0.mrvl
  std::vector<std::string> targets;                       // accelerators; none: of the host alone
  std::map<std::string, std::string, std::less<>> files;  // all but the manifest, with their SHA-256
  std::vector<Port> inputs, outputs;
  std::vector<std::string> bound_inputs;             // of the model; constants of the program
  std::vector<std::string> sources, libraries;       // chost::Linked
  std::vector<std::string> standard = {"-std=c99"};  // chost::Linked
  bool tells_linked = false;                         // the manifest says what is linked
  bool calls_libraries = false;                      // ... and there is something

  // A file of the manifest; MRV0712 when it is not what was written, MRV0713 when it is not listed.
  Result<std::string> bytes(const std::string& file) const;
  // ... as the struct that it was written from; MRV0003 names what of it is missing or of another type.
  template <class T>
  Result<T> read(const std::string& file) const {
    MRVLC_ASSIGN(const Json parsed, parse(file));
    std::optional<T> value(std::in_place);
    json::Fault fault;
    if (!json::read(parsed, *value, fault)) return misread(file, fault);
    return *std::move(value);
  }
  // ... as a tree, for who has a reader of its own; texts are lines that can be shown.
  Result<Json> json(const std::string& file) const;
  // An accelerator as the compile knew it; of a built-in one what `search` has by its name, or what is built
  // in. A plug-in's library in the folder is code of whoever made it. Who does not run the folder's code
  // anyway loads it only where a package that `search` finds has the same bytes: MRV1082.
  enum class Libraries : uint8_t { OfPackages, Any };
  Result<backends::Opened> backend(const std::string& target,
                                   const std::vector<std::filesystem::path>& search, Libraries from) const;
  // That the file is what was written, without keeping it.
  Status check(const std::string& file) const;
  // That a file to be written is none of the folder's own.
  Status check_apart(const std::filesystem::path& written) const;

 private:
  // What --target-opt said of a plug-in.
  backends::Settings settings_of(const std::string& target, const target::TargetText& text) const;
  Result<Json> parse(const std::string& file) const;
  Diag misread(const std::string& file, const json::Fault& fault) const;
};

// What a compile wrote there: the files of its manifest, and the manifest. Empty where there is none that can
// be read; every file is somebody else's then.
WrittenFiles own_files(const std::filesystem::path& out);
// Whether `path` may be replaced: it does not exist, is empty, or holds the manifest of a compile.
Status check_replaceable(const std::filesystem::path& path);

// Refuses folders without a readable manifest. Nothing of a manifest is trusted: files lie in the folder or
// below it, shapes are shapes.
Result<OutputFolder> open_output(const std::filesystem::path& path);
// The folder that a file lies in, when a compile wrote it: there is a manifest of mrvlc beside the file.
Result<std::optional<OutputFolder>> folder_of(const std::filesystem::path& file);

}  // namespace mrvlc::driver
