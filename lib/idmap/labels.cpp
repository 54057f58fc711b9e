// What people call an expression: by the ONNX nodes that it stands for.
#include <fmt/format.h>

#include <map>

#include "mrvlc/idmap/idmap.h"

namespace mrvlc::idmap {

namespace {

// Calls f with each source of an expression that the map has, found by id: an expression of a large model may
// have thousands.
class SourcesById {
 public:
  explicit SourcesById(const Map& map) {
    for (const Source& s : map.sources) sources_.emplace(s.id, &s);
  }
  template <class F>
  void each(const Expression& e, F f) const {
    for (const std::string& id : e.sources)
      if (const auto it = sources_.find(id); it != sources_.end()) f(*it->second);
  }

 private:
  std::map<std::string_view, const Source*> sources_;
};

}  // namespace

Labels::Labels(const Map& map) {
  const SourcesById sources(map);
  for (const Expression& e : map.expressions) {
    std::string& label = labels_.emplace_back();
    sources.each(e, [&](const Source& s) {
      const std::string& name = s.name.empty() && !s.outputs.empty() ? s.outputs[0] : s.name;
      label += fmt::format("{}{} ({})", label.empty() ? "" : " + ", name, s.op_type);
    });
  }
}

const std::string& Labels::of(uint32_t expr_id) const {
  static const std::string none;
  return expr_id < labels_.size() ? labels_[expr_id] : none;
}

Locations::Locations(const Map& map) {
  const SourcesById sources(map);
  for (const Expression& e : map.expressions) {
    const Location*& found = locations_.emplace_back(nullptr);
    sources.each(e, [&](const Source& s) {
      if (s.location && (found == nullptr || (!found->file && s.location->file))) found = &*s.location;
    });
  }
}

const Location* Locations::of(uint32_t expr_id) const {
  return expr_id < locations_.size() ? locations_[expr_id] : nullptr;
}

}  // namespace mrvlc::idmap
