// Tables of names, operators, ids and results for selectors that are one name; patterns are tried on every
// node.
#include "selectors.h"

#include <algorithm>

#include "mrvlc/support/diag.h"

namespace mrvlc::partition {
namespace {

using Table = std::unordered_map<std::string, std::vector<ir::SourceId>>;

void add_shown(Table& table, const std::string& name, ir::SourceId s) {
  table[name].push_back(s);
  if (std::string shown = printable(name, 1u << 20); shown != name) table[shown].push_back(s);
}

void append(const Table& table, std::string_view text, std::vector<ir::SourceId>& out) {
  const auto it = table.find(std::string(text));
  if (it != table.end()) out.insert(out.end(), it->second.begin(), it->second.end());
}

}  // namespace

Selectors::Selectors(const ir::Graph& graph, const std::vector<ir::NodeId>& order)
    : graph_(graph), order_(order) {
  add_sources();
  add_nodes();
  for (size_t i = 0; i < graph.value_slots(); ++i)
    values_.emplace(graph.value(ir::ValueId(i)).name, ir::ValueId(i));
}

void Selectors::add_sources() {
  for (size_t i = 0; i < graph_.sources().size(); ++i) {
    const ir::Source& source = graph_.sources()[i];
    const ir::SourceId s(i);
    add_shown(names_, source.name, s);
    operators_[source.op_type].push_back(s);
    ids_[source.id].push_back(s);
    for (const std::string& result : source.outputs)
      if (!result.empty()) add_shown(results_, result, s);
  }
}

void Selectors::add_nodes() {
  for (ir::NodeId id : order_) {
    const ir::Node& node = graph_.node(id);
    for (ir::SourceId s : graph_.lineage(id).sources) {
      // Most nodes are called like what they were made of.
      const ir::Source& source = graph_.sources()[s.index()];
      if (node.name != source.name) add_shown(names_, node.name, s);
      if (node.op->name != source.op_type) operators_[std::string(node.op->name)].push_back(s);
    }
  }
}

std::optional<ir::ValueId> Selectors::value(const std::string& name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? std::nullopt : std::optional(it->second);
}

std::vector<ir::SourceId> Selectors::named(const std::string& selector) const {
  using Kind = Selector::Kind;
  const Selector read = read_selector(selector);
  std::vector<ir::SourceId> out;
  // The id of a function's node may hold a star.
  if (read.kind == Kind::Id) append(ids_, read.text, out);
  if (out.empty()) {
    if (is_exact(read.text))
      find_exact(read, out);
    else
      find_pattern(selector, out);
  }
  if (out.empty() && read.kind == Kind::Tensor) add_readers(read.text, out);
  std::ranges::sort(out);
  const auto twice = std::ranges::unique(out);
  out.erase(twice.begin(), twice.end());
  return out;
}

void Selectors::find_exact(const Selector& selector, std::vector<ir::SourceId>& out) const {
  using Kind = Selector::Kind;
  const auto [kind, text] = selector;
  if (kind == Kind::Any || kind == Kind::Name) append(names_, text, out);
  if (kind == Kind::Any || kind == Kind::Operator) append(operators_, text, out);
  if (kind == Kind::Any) append(ids_, text, out);
  if (kind == Kind::Tensor) append(results_, text, out);
}

void Selectors::find_pattern(const std::string& selector, std::vector<ir::SourceId>& out) const {
  for (size_t i = 0; i < graph_.sources().size(); ++i) {
    if (answers(graph_.sources()[i], selector)) out.emplace_back(i);
  }
  for (ir::NodeId n : order_) {
    if (!answers_itself(graph_.node(n), selector)) continue;
    const auto& sources = graph_.lineage(n).sources;
    out.insert(out.end(), sources.begin(), sources.end());
  }
}

// Of an input or a weight of the model.
void Selectors::add_readers(std::string_view name, std::vector<ir::SourceId>& out) const {
  const auto found = value(std::string(name));
  if (!found) return;
  for (ir::NodeId n : graph_.value(*found).users) {
    const auto& sources = graph_.lineage(n).sources;
    out.insert(out.end(), sources.begin(), sources.end());
  }
}

}  // namespace mrvlc::partition
