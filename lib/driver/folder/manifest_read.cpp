// manifest.json as data: every field is checked.
#include <algorithm>

#include "folder/output_folder.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/target/library.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kMaxManifest = 64u << 20;

Diag bad(const fs::path& file, std::string_view why) {
  return make_diag<DiagCode::MRV0003>(file.string(), why);
}

// A file right in the folder.
bool plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == name.npos;
}

// A file in the folder or below it.
bool inner_name(std::string_view name) {
  for (size_t slash; (slash = name.find('/')) != name.npos; name.remove_prefix(slash + 1))
    if (!plain_name(name.substr(0, slash))) return false;
  return plain_name(name);
}

// Members of an object; null when it is none, or there is none of that name.
const Json& member(const Json& json, const char* name) {
  static const Json null;
  auto it = json.is_object() ? json.find(name) : json.end();
  return it == json.end() ? null : *it;
}

std::optional<std::string> text(const Json& json) {
  return json.is_string() ? std::optional(json.get<std::string>()) : std::nullopt;
}

bool read_shape(const Json& json, TensorType& type) {
  if (!json.is_array() || json.size() > static_cast<size_t>(kMaxRank)) return false;
  for (const Json& dim : json) {
    if (!dim.is_number_integer() || dim.get<int64_t>() < 0 || dim.get<int64_t>() > kMaxElements) return false;
    type.shape.push_back(dim.get<int64_t>());
  }
  return true;
}

// As a shape without dimensions of 0 would be: products are formed in any order. Where a capacity bounds the
// elements, none is formed.
bool counts_elements(const TensorType& type) {
  if (type.capacity >= 0) return type.dynamic != 0;
  int64_t elements = 1;
  for (int64_t dim : type.shape) {
    if (dim > 0 && elements > kMaxElements / dim) return false;
    elements *= std::max<int64_t>(dim, 1);
  }
  return true;
}

// Dimensions that are known at run time only; kDynamicRank's bit: all of them.
bool read_dynamic(const Json& json, TensorType& type) {
  if (json.is_null()) return true;
  if (!json.is_array()) return false;
  for (const Json& dim : json) {
    if (!dim.is_number_unsigned() || dim.get<uint64_t>() > 31) return false;
    const uint32_t bit = 1u << dim.get<uint32_t>();
    if (bit != kDynamicRank && dim.get<uint64_t>() >= type.shape.size()) return false;
    type.dynamic |= bit;
  }
  return true;
}

// A number from `least`, or the default when there is none.
bool read_number(const Json& json, int64_t least, int64_t& number) {
  if (json.is_null()) return true;
  if (!json.is_number_integer() || json.get<int64_t>() < least || json.get<int64_t>() > kMaxElements)
    return false;
  number = json.get<int64_t>();
  return true;
}

bool read_wrapper(const Json& json, TensorType& type) {
  constexpr std::pair<std::string_view, Wrapper> kNames[] = {
      {"sequence", Wrapper::Sequence},
      {"optional", Wrapper::Optional},
      {"optional(sequence)", Wrapper::OptionalSequence}};
  if (json.is_null()) return true;
  const auto given = text(json);
  for (const auto& [name, wrapper] : kNames) {
    if (given == name) type.wrapper = wrapper;
  }
  return type.wrapper != Wrapper::None;
}

bool read_type(const Json& json, TensorType& type) {
  auto elem = text(member(json, "type"));
  auto known = elem ? element_type_from_name(*elem) : std::nullopt;
  if (!known) return false;
  type.elem = *known;
  return read_shape(member(json, "shape"), type) && read_dynamic(member(json, "open"), type) &&
         read_number(member(json, "capacity"), -1, type.capacity) && counts_elements(type) &&
         read_wrapper(member(json, "wrapper"), type) && read_number(member(json, "length"), 0, type.length);
}

std::optional<Port> read_port(const Json& json) {
  auto name = text(member(json, "name")), file = text(member(json, "file"));
  if (!name || !file || !plain_name(*file)) return std::nullopt;
  Port port{*name, *file, {}};
  return read_type(json, port.type) ? std::optional(std::move(port)) : std::nullopt;
}

bool read_ports(const Json& json, std::vector<Port>& ports) {
  if (!json.is_array()) return false;
  for (const Json& entry : json) {
    auto port = read_port(entry);
    if (!port) return false;
    ports.push_back(*std::move(port));
  }
  return true;
}

bool read_files(const Json& json, OutputFolder& folder) {
  if (!json.is_array()) return false;
  for (const Json& entry : json) {
    auto file = text(member(entry, "file")), sha256 = text(member(entry, "sha256"));
    if (!file || !sha256 || !inner_name(*file)) return false;
    folder.files.emplace(*std::move(file), *std::move(sha256));
  }
  return true;
}

bool read_names(const Json& json, std::vector<std::string>& names) {
  if (!json.is_array()) return false;
  for (const Json& entry : json) {
    const auto name = text(entry);
    if (!name || !plain_name(*name) || name->starts_with('-')) return false;
    names.push_back(*name);
  }
  return true;
}

// Accelerators. Older versions say only what --target named, which was no more than one.
bool read_targets(const Json& json, const Json& targets, OutputFolder& folder) {
  if (!targets.is_array()) return false;
  if (const Json& several = member(json, "accelerators"); !several.is_null())
    return read_names(several, folder.targets) && !folder.targets.empty();
  if (const auto name = text(member(json, "accelerator"))) {
    folder.targets = {*name};
    return true;
  }
  if (folder.tells_linked) return true;
  for (const Json& entry : targets) {
    auto target = text(entry);
    if (!target) return false;
    if (*target != "host") folder.targets = {*target};
  }
  return true;
}

// What libraries add to the program; older versions have none.
bool read_linked(const Json& json, OutputFolder& folder) {
  if (json.is_null()) return true;
  if (!read_names(member(json, "sources"), folder.sources)) return false;
  if (!read_names(member(json, "libraries"), folder.libraries)) return false;
  if (const Json& standard = member(json, "standard"); !standard.is_null()) {
    const auto name = text(standard);
    if (!name || std::ranges::find(target::kStandards, *name) == std::end(target::kStandards)) return false;
    folder.standard = target::standard_flags(*name);
  }
  folder.tells_linked = true;
  folder.calls_libraries = member(json, "includes").is_array() && !member(json, "includes").empty();
  return true;
}

// Older versions may lack some of it.
void read_given(const Json& json, Given& given) {
  given.version = text(member(member(json, "tool"), "version")).value_or("");
  given.sha256 = text(member(member(json, "model"), "sha256")).value_or("");
  if (const Json& options = member(json, "options"); options.is_object()) {
    given.options = options;
    given.trace_values = member(options, "trace_values") == true;
  }
  if (const Json& read = member(json, "read"); read.is_array())
    for (const Json& file : read)
      if (member(file, "kind") != "model") given.read.push_back(file);
}

// Inputs that are outputs of the run before.
bool read_states(const Json& json, OutputFolder& folder) {
  if (json.is_null()) return true;
  if (!json.is_array()) return false;
  for (const Json& state : json) {
    const auto input = text(member(state, "input"));
    const auto port =
        std::ranges::find_if(folder.inputs, [&](const Port& p) { return input && p.name == *input; });
    if (port == folder.inputs.end()) return false;
    port->is_state = true;
  }
  return true;
}

// Empty, or the field that is not what it must be.
std::string read_fields(const Json& json, OutputFolder& folder) {
  auto name = text(member(member(json, "model"), "name"));
  if (!name || !name_fault(*name).empty()) return "model";
  folder.name = *name;
  if (!read_linked(member(json, "linked"), folder)) return "linked";
  if (!read_targets(json, member(member(json, "options"), "target"), folder)) return "options";
  if (!read_ports(member(json, "inputs"), folder.inputs)) return "inputs";
  if (!read_ports(member(json, "outputs"), folder.outputs)) return "outputs";
  const Json& bound = member(json, "bound_inputs");
  if (!bound.is_null() && !read_names(bound, folder.bound_inputs)) return "bound_inputs";
  if (!read_states(member(json, "states"), folder)) return "states";
  return read_files(member(json, "files"), folder) ? "" : "files";
}

// Manifests of versions before there was a schema have none.
bool of_this_schema(const Json& json) {
  const Json& schema = member(json, "schema");
  return schema.is_null() || schema == kManifestSchema;
}

Result<OutputFolder> read_manifest(const fs::path& path, const Json& json) {
  if (!of_this_schema(json)) {
    const std::string theirs = text(member(json, "schema")).value_or("no text");
    return bad(
        path / "manifest.json",
        fmt::format("its schema is '{}', this mrvlc reads '{}': compile the model again, or use the mrvlc "
                    "that wrote it",
                    printable(theirs), kManifestSchema));
  }
  OutputFolder folder;
  folder.path = path;
  std::string wrong = read_fields(json, folder);
  read_given(json, folder.given);
  if (wrong.empty()) return folder;
  return bad(path / "manifest.json", "not a manifest of mrvlc: '" + wrong + "' is missing or wrong");
}

}  // namespace

Result<OutputFolder> open_output(const fs::path& path) {
  const fs::path file = path / "manifest.json";
  std::error_code ec;
  if (fs::is_regular_file(path, ec))
    return make_diag<DiagCode::MRV0001>(
        path.string(),
        path.extension() == ".onnx"
            ? "it is a model; this takes the folder that 'mrvlc compile MODEL -o OUT' makes of it"
            : "it is a file; this takes a folder made by 'mrvlc compile'");
  if (fs::is_directory(path, ec) && !fs::exists(file, ec)) {
    return make_diag<DiagCode::MRV0001>(file.string(),
                                        "no such file; this folder is not made by 'mrvlc compile'");
  }
  MRVLC_ASSIGN(std::string text, read_file(file, kMaxManifest));
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return bad(file, "not valid JSON");
  return read_manifest(path, json);
}

Result<std::optional<OutputFolder>> folder_of(const fs::path& file) {
  const fs::path path = file.parent_path();
  std::error_code ec;
  if (!fs::exists(path / "manifest.json", ec)) return std::optional<OutputFolder>();
  MRVLC_ASSIGN(std::string text, read_file(path / "manifest.json", kMaxManifest));
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return bad(path / "manifest.json", "not valid JSON");
  if (member(json, "schema") != kManifestSchema) return std::optional<OutputFolder>();
  MRVLC_ASSIGN(OutputFolder folder, read_manifest(path, json));
  return std::optional(std::move(folder));
}

namespace {

// It is written, or written anew, behind the manifest, and of binaries that go.
void add_certificate(const fs::path& out, WrittenFiles& own) {
  const auto certificate = read_file(out / kCertificate, kMaxManifest);
  if (!certificate.ok() || certificate->find(kCertificateSchema) == std::string::npos) return;
  std::erase_if(own, [](const auto& file) { return file.first == kCertificate; });
  own.emplace_back(kCertificate, sha256_hex(*certificate));
}

}  // namespace

WrittenFiles own_files(const fs::path& out) {
  std::error_code ec;
  if (!fs::exists(out / "manifest.json", ec)) return {};
  auto manifest = read_file(out / "manifest.json", kMaxManifest);
  auto folder = open_output(out);
  if (!folder.ok() || !manifest.ok()) return {};
  WrittenFiles own(folder->files.begin(), folder->files.end());
  own.emplace_back("manifest.json", sha256_hex(*manifest));
  add_certificate(out, own);
  return own;
}

Status check_replaceable(const fs::path& path) {
  auto refused = [&](std::string_view why) -> Status {
    return make_diag<DiagCode::MRV0002>(path.string(), why);
  };
  fs::path folder = path.has_filename() ? path : path.parent_path();
  std::error_code ec;
  auto kind = fs::symlink_status(folder, ec);
  if (!fs::exists(kind)) return {};
  if (fs::is_symlink(kind)) return refused("it is a symbolic link");
  if (!fs::is_directory(kind)) return refused("it exists and is not a folder; name another");
  if (fs::is_empty(folder, ec)) return {};
  // Browser extensions and web pages have a manifest.json as well.
  auto text = read_file(folder / "manifest.json", kMaxManifest);
  if (!text.ok())
    return refused("it exists and no compile wrote it (no manifest.json); name another, or empty it");
  if (member(Json::parse(*text, nullptr, false), "schema") == kManifestSchema) return {};
  return refused(
      "it exists and no compile wrote it (its manifest.json is not mrvlc's); name another, or empty it");
}

}  // namespace mrvlc::driver
