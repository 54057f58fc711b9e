// What people call an expression: by the ONNX nodes that it stands for.
#include <fmt/format.h>

#include <map>

#include "mrvlc/idmap/idmap.h"

namespace mrvlc::idmap {

Labels::Labels(const Json& map) {
  std::map<std::string_view, const Json*>
      sources;  // by id: an expression of a large model may have thousands
  for (const Json& s : map.at("sources")) sources.emplace(s.at("id").get_ref<const std::string&>(), &s);
  for (const Json& e : map.at("expressions")) {
    std::string label;
    for (const Json& id : e.at("sources")) {
      const auto it = sources.find(id.get_ref<const std::string&>());
      if (it == sources.end()) continue;
      const Json& s = *it->second;
      std::string name = s.at("name").get<std::string>();
      if (name.empty() && !s.at("outputs").empty()) name = s.at("outputs")[0].get<std::string>();
      label += fmt::format("{}{} ({})", label.empty() ? "" : " + ", name, s.at("op_type").get<std::string>());
    }
    labels_.push_back(std::move(label));
  }
}

const std::string& Labels::of(uint32_t expr_id) const {
  static const std::string none;
  return expr_id < labels_.size() ? labels_[expr_id] : none;
}

}  // namespace mrvlc::idmap
