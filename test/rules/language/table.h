// A small operator table of its own: the tests of the language do not depend on which operators the compiler
// has.
#pragma once
#include <map>

#include "mrvlc/ir/text.h"
#include "mrvlc/rules/matcher.h"

namespace mrvlc::test {

using ir::AttrKind;

inline ops::OpDef op(std::string_view name, int min_inputs, int max_inputs,
                     std::vector<ir::AttrSpec> attrs = {}) {
  ops::OpDef def;
  def.name = name;
  def.attrs = std::move(attrs);
  def.min_inputs = min_inputs;
  def.max_inputs = max_inputs;
  return def;
}

inline const std::map<std::string_view, ops::OpDef>& table() {
  static const std::map<std::string_view, ops::OpDef> kTable = [] {
    std::map<std::string_view, ops::OpDef> t;
    ir::AttrSpec group{"group", AttrKind::Int, ir::Attr(int64_t{1})};
    ir::AttrSpec strides{"strides", AttrKind::Ints};
    ir::AttrSpec auto_pad{"auto_pad", AttrKind::String, ir::Attr(std::string("NOTSET"))};
    ir::AttrSpec alpha{"alpha", AttrKind::Float, ir::Attr(0.01f)};
    for (ops::OpDef def :
         {op("Conv", 2, 3, {group, strides, auto_pad}), op("Add", 2, 2), op("Sub", 2, 2), op("Mul", 2, 2),
          op("Relu", 1, 1), op("Clip", 1, 3), op("LeakyRelu", 1, 1, {alpha}), op("Sigmoid", 1, 1),
          op("Concat", 1, -1), op("MatMul", 2, 2)}) {
      def.traits.commutative = def.name == "Add" || def.name == "Mul";
      t.emplace(def.name, def);
    }
    return t;
  }();
  return kTable;
}

inline const ops::OpDef* find(std::string_view domain, std::string_view name) {
  auto it = table().find(name);
  return domain.empty() && it != table().end() ? &it->second : nullptr;
}

class Registry final : public ir::OpRegistry {
 public:
  const ir::OpSchema* find(std::string_view domain, std::string_view name) const override {
    return test::find(domain, name);
  }
};

inline rules::LoadResult load(const std::string& text) {
  auto ops = [](std::initializer_list<std::string_view> names) {
    std::vector<const ops::OpDef*> out;
    for (std::string_view name : names) out.push_back(&table().at(name));
    return out;
  };
  rules::Vocabulary words;
  words.kinds = {{"conv", true, ops({"Conv", "Add", "Relu"})},
                 {"elementwise", true, ops({"Conv", "Add", "Sub", "Mul", "Relu", "Clip"})},
                 {"cpu", false, {}}};
  words.find_operator = find;
  words.machine = {"ocm_bytes"};
  for (const auto& [name, def] : table()) words.operators.push_back(&def);
  return rules::load_rules({{"my.rules", text}}, words);
}

}  // namespace mrvlc::test
