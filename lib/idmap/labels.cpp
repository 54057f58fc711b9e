// What people call an expression: by the ONNX nodes that it stands for.
#include <fmt/format.h>

#include <map>

#include "mrvlc/idmap/idmap.h"

namespace mrvlc::idmap {

namespace {

// By id: an expression of a large model may have thousands.
std::map<std::string_view, const Json*> sources_by_id(const Json& map) {
  std::map<std::string_view, const Json*> sources;
  for (const Json& s : map.at("sources")) sources.emplace(s.at("id").get_ref<const std::string&>(), &s);
  return sources;
}

}  // namespace

Labels::Labels(const Json& map) {
  const auto sources = sources_by_id(map);
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

Locations::Locations(const Json& map) {
  const auto sources = sources_by_id(map);
  for (const Json& e : map.at("expressions")) {
    const Json*& found = locations_.emplace_back(nullptr);
    for (const Json& id : e.at("sources")) {
      const auto it = sources.find(id.get_ref<const std::string&>());
      if (it == sources.end() || !it->second->contains("location")) continue;
      const Json& location = it->second->at("location");
      if (found == nullptr || (!found->contains("file") && location.contains("file"))) found = &location;
    }
  }
}

const Json* Locations::of(uint32_t expr_id) const {
  return expr_id < locations_.size() ? locations_[expr_id] : nullptr;
}

}  // namespace mrvlc::idmap
