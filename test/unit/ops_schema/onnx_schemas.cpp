#include "onnx_schemas.h"

#include <onnx/defs/schema.h>

#include <algorithm>

namespace mrvlc::test {
namespace {

ir::Attr value_of(const onnx::AttributeProto& a) {
  using Type = onnx::AttributeProto;
  switch (a.type()) {
    case Type::INT:
      return ir::Attr(static_cast<int64_t>(a.i()));
    case Type::FLOAT:
      return ir::Attr(a.f());
    case Type::STRING:
      return ir::Attr(a.s());
    case Type::INTS:
      return ir::Attr(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
    case Type::FLOATS:
      return ir::Attr(std::vector<float>(a.floats().begin(), a.floats().end()));
    case Type::STRINGS:
      return ir::Attr(std::vector<std::string>(a.strings().begin(), a.strings().end()));
    default:
      return {};
  }
}

OnnxSchema converted(const onnx::OpSchema& s) {
  OnnxSchema r;
  r.domain = s.domain(), r.name = s.Name(), r.since = s.SinceVersion(), r.deprecated = s.Deprecated();
  r.min_inputs = s.min_input(), r.max_inputs = s.max_input();
  r.min_outputs = s.min_output(), r.max_outputs = s.max_output();
  for (const auto& [name, a] : s.attributes())
    r.attributes.push_back(
        {name, a.required, a.type == onnx::AttributeProto::GRAPH, value_of(a.default_value)});
  std::sort(r.attributes.begin(), r.attributes.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return r;
}

}  // namespace

std::vector<OnnxSchema> onnx_schemas() {
  const auto& newest = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  std::vector<OnnxSchema> all;
  for (const onnx::OpSchema& s : onnx::OpSchemaRegistry::get_all_schemas_with_history())
    if (s.domain().empty() || s.domain() == "ai.onnx.ml") all.push_back(converted(s));
  auto key = [](const OnnxSchema& s) { return std::tie(s.domain, s.name, s.since); };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  for (size_t i = 0; i < all.size(); ++i) {
    bool last = i + 1 == all.size() || all[i + 1].name != all[i].name || all[i + 1].domain != all[i].domain;
    all[i].newest = last;
    all[i].until = last ? newest.at(all[i].domain).second : all[i + 1].since - 1;
  }
  return all;
}

}  // namespace mrvlc::test
