// Selectors: a prefix says what is compared, without one names, operators and ids are.
#include "mrvlc/partition/answers.h"

#include <algorithm>

#include "mrvlc/partition/constraints.h"
#include "mrvlc/support/diag.h"
#include "mrvlc/support/glob.h"

namespace mrvlc::partition {
namespace {

using Kind = Selector::Kind;

// By the name, or by the name as messages and reports show it.
bool matches(std::string_view pattern, std::string_view name) {
  if (glob_match(pattern, name)) return true;
  const std::string shown = printable(name, 1u << 20);
  return shown != name && glob_match(pattern, shown);
}

}  // namespace

Selector read_selector(std::string_view text) {
  constexpr std::pair<std::string_view, Kind> kPrefixes[] = {{"name:", Kind::Name},
                                                             {"op:", Kind::Operator},
                                                             {"id:", Kind::Id},
                                                             {"tensor:", Kind::Tensor},
                                                             {"rule:", Kind::Rule}};
  for (const auto& [prefix, kind] : kPrefixes) {
    if (text.starts_with(prefix)) return {kind, text.substr(prefix.size())};
  }
  return {Kind::Any, text};
}

bool is_exact(std::string_view text) {
  return text.find_first_of("*?") == text.npos;
}

std::string_view rule_selected(std::string_view selector) {
  const Selector s = read_selector(selector);
  return s.kind == Kind::Rule ? s.text : std::string_view();
}

bool answers_itself(const ir::Node& node, std::string_view selector) {
  const auto [kind, text] = read_selector(selector);
  const bool named = (kind == Kind::Any || kind == Kind::Name) && matches(text, node.name);
  return named || ((kind == Kind::Any || kind == Kind::Operator) && glob_match(text, node.op->name));
}

bool answers(const ir::Source& source, std::string_view selector) {
  const auto [kind, text] = read_selector(selector);
  auto makes = [&, pattern = text](const std::string& o) { return !o.empty() && matches(pattern, o); };
  switch (kind) {
    case Kind::Any:
      return matches(text, source.name) || glob_match(text, source.op_type) || text == source.id;
    case Kind::Name:
      return matches(text, source.name);
    case Kind::Operator:
      return glob_match(text, source.op_type);
    case Kind::Id:
      return glob_match(text, source.id);
    case Kind::Tensor:
      return std::ranges::any_of(source.outputs, makes);
    case Kind::Rule:
      return false;
  }
  return false;
}

bool answers(const ir::Graph& graph, const ir::Node& node, std::string_view selector) {
  const auto& made_of = graph.lineage(node.id).sources;
  return answers_itself(node, selector) || std::ranges::any_of(made_of, [&](ir::SourceId s) {
           return answers(graph.sources()[s.index()], selector);
         });
}

}  // namespace mrvlc::partition
