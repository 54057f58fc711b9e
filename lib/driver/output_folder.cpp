#include "output_folder.h"

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/hash.h"

namespace mrvlc::driver {
namespace {

Diag bad(const std::filesystem::path& file, std::string_view why) {
  return make_diag<DiagCode::MRV0003>(file.string(), why);
}

Result<Json> parse_json(const std::filesystem::path& file, const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return bad(file, "not valid JSON");
  return json;
}

Wrapper wrapper_from_name(const std::string& name) {
  if (name == "sequence") return Wrapper::Sequence;
  if (name == "optional") return Wrapper::Optional;
  return name == "optional(sequence)" ? Wrapper::OptionalSequence : Wrapper::None;
}

std::vector<Port> ports(const Json& list) {
  std::vector<Port> out;
  for (const Json& p : list) {
    TensorType type;
    type.elem = element_type_from_name(p.at("type").get<std::string>()).value_or(ElementType::Undefined);
    type.shape = p.at("shape").get<Shape>();
    for (const Json& d : p.value("open", Json::array())) type.open |= 1u << (d.get<uint32_t>() & 31u);
    type.capacity = p.value("capacity", int64_t{-1});
    type.wrapper = wrapper_from_name(p.value("wrapper", std::string()));
    type.length = p.value("length", int64_t{0});
    out.push_back({p.at("name").get<std::string>(), p.at("file").get<std::string>(), type});
  }
  return out;
}

}  // namespace

Result<std::string> OutputFolder::bytes(const std::string& file) const {
  MRVLC_ASSIGN(std::string text, read_file(path / file));
  for (const Json& f : manifest.at("files")) {
    if (f.at("file") == file && f.at("sha256") != sha256_hex(text)) {
      return bad(path / file, "it was changed after the compile (its SHA-256 is not the manifest's)");
    }
  }
  return text;
}

Result<Json> OutputFolder::json(const std::string& file) const {
  MRVLC_ASSIGN(std::string text, bytes(file));
  return parse_json(path / file, text);
}

Status check_replaceable(const std::filesystem::path& path) {
  auto refused = [&](std::string_view why) -> Status {
    return make_diag<DiagCode::MRV0002>(path.string(), why);
  };
  std::filesystem::path folder = path.has_filename() ? path : path.parent_path();
  std::error_code ec;
  auto kind = std::filesystem::symlink_status(folder, ec);
  if (!std::filesystem::exists(kind)) return {};
  if (std::filesystem::is_symlink(kind)) return refused("it is a symbolic link");
  if (!std::filesystem::is_directory(kind)) return refused("it exists and is not a folder");
  if (std::filesystem::is_empty(folder, ec)) return {};
  // Browser extensions and web pages have a manifest.json as well.
  auto text = read_file(folder / "manifest.json", 64u << 20);
  if (!text.ok()) return refused("it exists and no compile wrote it (no manifest.json)");
  Json manifest = Json::parse(*text, nullptr, false);
  if (manifest.is_object() && manifest.value("schema", Json()) == kManifestSchema) return {};
  return refused("it exists and no compile wrote it (its manifest.json is not mrvlc's)");
}

namespace {

bool lies_in(const std::filesystem::path& file, const std::filesystem::path& folder) {
  std::error_code ec;
  for (auto up = std::filesystem::weakly_canonical(file, ec); !ec; up = up.parent_path()) {
    if (up == folder) return true;
    if (up == up.parent_path()) return false;
  }
  return false;
}

}  // namespace

Status check_apart(const CompileOptions& options) {
  std::vector<std::filesystem::path> inputs = {options.model};
  inputs.insert(inputs.end(), options.rules.begin(), options.rules.end());
  for (const auto& written : {options.depfile, options.timing}) {
    for (const auto& input : inputs) {
      std::error_code ec;
      if (!written.empty() && std::filesystem::equivalent(written, input, ec))
        return make_diag<DiagCode::MRV0002>(written.string(), "it is read by this compile");
    }
  }
  inputs.insert(inputs.end(), options.target_dirs.begin(), options.target_dirs.end());
  if (!options.external_data_dir.empty()) inputs.push_back(options.external_data_dir);
  std::error_code ec;
  const auto out = std::filesystem::canonical(options.out, ec);
  if (ec) return {};  // it is not there yet
  for (const auto& input : inputs) {
    if (lies_in(input, out))
      return make_diag<DiagCode::MRV0002>(options.out.string(),
                                          "it holds '" + input.string() + "', which is read");
  }
  return {};
}

Result<OutputFolder> open_output(const std::filesystem::path& path) {
  OutputFolder folder;
  folder.path = path;
  std::filesystem::path file = path / "manifest.json";
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec) && !std::filesystem::exists(file, ec)) {
    return make_diag<DiagCode::MRV0001>(file.string(),
                                        "no such file; this folder is not made by 'mrvlc compile'");
  }
  MRVLC_ASSIGN(std::string text, read_file(file, 64u << 20));
  MRVLC_ASSIGN(folder.manifest, parse_json(file, text));
  try {
    folder.name = folder.manifest.at("model").at("name").get<std::string>();
    folder.target = "host";
    for (const Json& target : folder.manifest.at("options").at("target")) {
      if (target != "host") folder.target = target.get<std::string>();
    }
    folder.inputs = ports(folder.manifest.at("inputs"));
    folder.outputs = ports(folder.manifest.at("outputs"));
    if (!folder.manifest.at("files").is_array()) return bad(file, "not a manifest of mrvlc");
  } catch (const Json::exception&) {
    return bad(file, "not a manifest of mrvlc");
  }
  return folder;
}

}  // namespace mrvlc::driver
