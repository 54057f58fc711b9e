// Reads and checks packages of kind `plugin`, and makes new ones.
#include "mrvlc/target/plugin.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/support/diag/target.h"
#include "package_fields.h"
#include "package_options.h"
#include "plugin_templates.h"
#include "text.h"

namespace mrvlc::target {
namespace {

constexpr uint32_t kMostLayers = 1u << 20, kMostPorts = 4096, kMostBatch = 1u << 20;

class PluginReader : PackageFields {
 public:
  explicit PluginReader(std::string_view shown) : PackageFields(shown, "plugin") {}

  Result<PluginPackage> run(std::string_view text) {
    MRVLC_TRY(open(text, {"name", "description", "kind", "library", "rules", "max_layers", "max_ports",
                          "max_batch", "clock_ghz", "launch_us", "integers", "steps", "options"}));
    Machine& m = out_.machine;
    MRVLC_TRY(text_of("name", m.name));
    MRVLC_TRY(text_of("description", m.description));
    MRVLC_TRY(file_of("library", ".so", out_.library));
    MRVLC_TRY(file_of("rules", ".rules", out_.rules));
    MRVLC_TRY(count_of("max_layers", 512, kMostLayers, m.max_layers));
    MRVLC_TRY(count_of("max_ports", 32, kMostPorts, m.max_ports));
    MRVLC_TRY(count_of("max_batch", 8, kMostBatch, m.max_batch));
    MRVLC_TRY(number_of("clock_ghz", 1, 1e-6, m.clock_ghz));
    MRVLC_TRY(number_of("launch_us", 0, 0, m.launch_us));
    MRVLC_TRY(flag("integers", out_.integers));
    MRVLC_TRY(steps(out_.steps));
    MRVLC_TRY(options());
    m.max_tiles = 1;
    m.tile_counts = {1};
    return std::move(out_);
  }

 private:
  Status file_of(const char* key, std::string_view ending, std::string& out) const {
    if (root_.contains(key)) {
      MRVLC_TRY(text_of(key, out));
    } else {
      out = out_.machine.name + std::string(ending);
    }
    if (is_safe_file(out, false) && out.ends_with(ending)) return {};
    return field(key, fmt::format("takes the name of a file that ends in '{}', without folders", ending));
  }

  Status options() {
    const auto value = root_.find("options");
    if (value == root_.end()) return {};
    const std::string fault = read_options(*value, out_.options);
    return fault.empty() ? Status() : field("options", fault);
  }

  Status count_of(const char* key, uint32_t absent, uint32_t most, uint32_t& out) const {
    out = absent;
    const auto value = root_.find(key);
    if (value == root_.end()) return {};
    const uint64_t given = value->is_number_unsigned() ? value->get<uint64_t>() : 0;
    if (given < 1 || given > most) return field(key, fmt::format("is no whole number from 1 to {}", most));
    out = static_cast<uint32_t>(given);
    return {};
  }

  Status number_of(const char* key, double absent, double least, double& out) const {
    constexpr double kMost = 1e6;
    out = absent;
    const auto value = root_.find(key);
    if (value == root_.end()) return {};
    if (!value->is_number() || !(value->get<double>() >= least) || !(value->get<double>() <= kMost))
      return field(key, fmt::format("is no number from {} to {}", least, kMost));
    out = value->get<double>();
    return {};
  }

  PluginPackage out_;
};

}  // namespace

bool is_plugin(std::string_view json) {
  auto root = parse_target_json(json, "");
  return root.ok() && root->value("kind", Json()) == "plugin";
}

Result<PluginPackage> parse_plugin(std::string_view json, std::string_view shown_name) {
  return PluginReader(shown_name).run(json);
}

Result<std::vector<PackageFile>> new_plugin(std::string_view name) {
  MRVLC_TRY(check_c_name(name));
  const auto file = [&](std::string file_name, std::string_view text) {
    constexpr std::string_view kName = "NAME";
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const size_t next = std::min(text.find(kName, at), text.size());
      out += text.substr(at, next - at);
      if (next < text.size()) out += name;
      at = next + kName.size();
    }
    return PackageFile{std::move(file_name), std::move(out)};
  };
  const std::string stem(name);
  return std::vector<PackageFile>{file("target.json", kPluginJson), file(stem + ".rules", kPluginRules),
                                  file(stem + ".c", kPluginSource)};
}

}  // namespace mrvlc::target
