// MRV0401 for selectors without a node: the nearest name, operator or value that the model has.
#include "no_match.h"

#include "mrvlc/partition/answers.h"
#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::partition {
namespace {

bool answers_any(const ir::Graph& graph, std::string_view selector) {
  for (const ir::Source& s : graph.sources())
    if (answers(s, selector)) return true;
  return false;
}

// Names, operators and results of the model's nodes.
std::vector<std::string_view> selectable_names(const ir::Graph& graph) {
  std::vector<std::string_view> names;
  for (const ir::Source& s : graph.sources()) {
    names.push_back(s.name);
    names.push_back(s.op_type);
    names.insert(names.end(), s.outputs.begin(), s.outputs.end());
  }
  return names;
}

}  // namespace

Diag matches_nothing(const ir::Graph& graph, const std::string& given_as,
                     const std::vector<std::string>& selectors) {
  for (const std::string& selector : selectors) {
    if (!is_exact(selector) || answers_any(graph, selector)) continue;
    const std::string_view meant = nearest_name(selector, selectable_names(graph));
    if (!meant.empty())
      return make_diag<DiagCode::MRV0401>(given_as, fmt::format("; did you mean '{}'?", printable(meant)));
  }
  return make_diag<DiagCode::MRV0401>(given_as, "; 'mrvlc inspect MODEL' lists them");
}

std::string nearest_value(const ir::Graph& graph, std::string_view name) {
  std::vector<std::string_view> all;
  for (size_t i = 0; i < graph.value_slots(); ++i) all.push_back(graph.value(ir::ValueId(i)).name);
  for (const ir::Source& s : graph.sources()) all.insert(all.end(), s.outputs.begin(), s.outputs.end());
  return did_you_mean(name, all);
}

}  // namespace mrvlc::partition
