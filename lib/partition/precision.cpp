// Precisions of values: their names, which value can have which, and what the options ask for.
#include "mrvlc/partition/precision.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/glob.h"
#include "mrvlc/support/nearest.h"
#include "no_match.h"

namespace mrvlc::partition {

std::optional<Precision> parse_precision(std::string_view text) {
  using Kind = Precision::Kind;
  const size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  if (colon == std::string_view::npos) {
    if (word == "fp16") return Precision{};
    if (word == "pair") return Precision{Kind::Pair, 0};
    return std::nullopt;
  }
  int32_t shift = 0;
  const char *begin = text.data() + colon + 1, *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, shift);
  if (error != std::errc() || stop != end || std::abs(shift) > kMostShift) return std::nullopt;
  if (word == "scale") return Precision{Kind::Half, shift};
  if (word == "pair") return Precision{Kind::Pair, shift};
  return std::nullopt;
}

std::string to_text(const Precision& p) {
  const bool pair = p.kind == Precision::Kind::Pair;
  if (p.shift == 0) return pair ? "pair" : "fp16";
  return fmt::format("{}:{}", pair ? "pair" : "scale", p.shift);
}

bool is_view(const ir::Graph& graph, const Layer& layer) {
  const ir::Node& node = graph.node(layer.anchor);
  const bool moves = layer.kind == LayerKind::Move || layer.kind == LayerKind::Reshape;
  return moves && layer.nodes.size() == 1 &&
         (ops::traits(node).moves == ops::Moves::Same ||
          node.is(Op::Transpose, Op::Slice, Op::Split, Op::Expand));
}

PrecisionChoice::PrecisionChoice(const ir::Graph& graph, const Region& region) : graph_(graph) {
  std::set<ir::ValueId> seen;
  for (const Layer& l : region.layers) {
    for (ir::NodeId n : l.nodes) {
      layer_of_.emplace(n, &l);
      for (const auto* list : {&graph.node(n).inputs, &graph.node(n).outputs})
        for (ir::ValueId v : *list)
          if (v.valid() && seen.insert(v).second) values_.push_back(v);
    }
    join(l);
  }
}

// No instruction runs for a view that could convert: operand and results are the same bytes.
void PrecisionChoice::join(const Layer& layer) {
  if (!is_view(graph_, layer)) return;
  const ir::Node& node = graph_.node(layer.anchor);
  if (graph_.is_constant(node.inputs[0])) return;
  const auto [at, fresh] = class_of_.try_emplace(node.inputs[0], classes_.size());
  if (fresh) classes_.push_back({node.inputs[0]});
  for (ir::ValueId v : node.outputs)
    if (v.valid() && class_of_.emplace(v, at->second).second) classes_[at->second].push_back(v);
}

std::vector<ir::ValueId> PrecisionChoice::same_bytes(ir::ValueId value) const {
  const auto at = class_of_.find(value);
  return at == class_of_.end() ? std::vector{value} : classes_[at->second];
}

std::optional<std::string> PrecisionChoice::obstacle(ir::ValueId value, const Precision& precision) const {
  if (precision.plain()) return std::nullopt;
  for (ir::ValueId v : same_bytes(value))
    if (auto why = own_obstacle(v, precision))
      return v == value
                 ? why
                 : fmt::format("of '{}', the same bytes, {}", printable(graph_.value(v).name, 80), *why);
  return std::nullopt;
}

void PrecisionChoice::set(Precisions& precisions, ir::ValueId value, const Precision& precision) const {
  for (ir::ValueId v : same_bytes(value))
    precision.plain() ? static_cast<void>(precisions.erase(v)) : static_cast<void>(precisions[v] = precision);
}

std::optional<std::string> PrecisionChoice::own_obstacle(ir::ValueId value,
                                                         const Precision& precision) const {
  const ir::Value& v = graph_.value(value);
  if (v.type.elem != ElementType::F32) return fmt::format("its elements are {}", name(v.type.elem));
  if (graph_.is_constant(value)) return constant_obstacle(value, precision);
  if (v.kind != ir::ValueKind::Result) return std::nullopt;
  const auto layer = layer_of_.find(v.producer);
  return layer == layer_of_.end() ? std::nullopt : result_obstacle(*layer->second, value);
}

std::optional<std::string> PrecisionChoice::constant_obstacle(ir::ValueId value,
                                                              const Precision& precision) const {
  if (precision.shift != 0)
    return "it is a constant, and those that need a factor get it without being asked";
  for (ir::NodeId user : graph_.value(value).users) {
    const auto at = layer_of_.find(user);
    if (at == layer_of_.end() || at->second->anchor != user) continue;
    if (!multiplies(at->second->kind) || multiplies_integers(at->second->kind)) continue;
    const auto& operands = graph_.node(user).inputs;
    if (operands[1] == value || operands[0] == value) return std::nullopt;
  }
  return "of constants only the weights of convolutions and products can be pairs";
}

std::optional<std::string> PrecisionChoice::result_obstacle(const Layer& layer, ir::ValueId value) const {
  const ir::Node& node = graph_.node(graph_.value(value).producer);
  if (node.id != layer.nodes.back())
    return fmt::format("it does not leave its layer, whose result is '{}'",
                       printable(graph_.value(graph_.node(layer.nodes.back()).outputs[0]).name, 80));
  const bool averages = layer.kind == LayerKind::Pool && node.id == layer.anchor && node.is(Op::AveragePool);
  if (averages) return fmt::format("{} writes float16 alone", node.op->name);
  return std::nullopt;
}

namespace {

bool names(std::string_view pattern, const ir::Value& value) {
  return glob_match(pattern, value.name) || glob_match(pattern, printable(value.name, 1u << 20));
}

bool is_wild(std::string_view pattern) {
  return pattern.find_first_of("*?") != std::string_view::npos;
}

using Asked = std::pair<std::string, Precision>;

// What counts for a value, or nullptr: the last, so that exceptions can follow a pattern for many.
const Asked* asked_for(const Options& options, const ir::Value& value) {
  for (size_t i = options.precisions.size(); i-- > 0;)
    if (names(options.precisions[i].first, value)) return &options.precisions[i];
  return nullptr;
}

bool names_any(const ir::Graph& graph, std::string_view pattern) {
  for (size_t i = 0; i < graph.value_slots(); ++i)
    if (names(pattern, graph.value(ir::ValueId(i)))) return true;
  return std::ranges::any_of(graph.sources(), [&](const ir::Source& s) {
    return std::ranges::any_of(s.outputs, [&](const std::string& o) { return glob_match(pattern, o); });
  });
}

// What became of one pattern.
struct Followed {
  size_t values = 0, refused = 0;
  std::string first, why;  // of those that are refused
};

Followed followed(const ir::Graph& graph, const Partition& partition, const Options& options,
                  const Asked& asked) {
  Followed out;
  for (const Region& region : partition.regions) {
    const PrecisionChoice choice(graph, region);
    for (ir::ValueId v : choice.values()) {
      if (asked_for(options, graph.value(v)) != &asked) continue;
      const auto obstacle = choice.obstacle(v, asked.second);
      ++(obstacle ? out.refused : out.values);
      if (obstacle && out.refused == 1) out.first = printable(graph.value(v).name, 80), out.why = *obstacle;
    }
  }
  return out;
}

}  // namespace

void assign_precisions(const ir::Graph& graph, Region& region, const Options& options) {
  if (options.precisions.empty()) return;
  const PrecisionChoice choice(graph, region);
  region.precisions.clear();
  for (ir::ValueId v : choice.values()) {
    const Asked* asked = asked_for(options, graph.value(v));
    if (asked == nullptr || asked->second.plain()) continue;
    if (!choice.obstacle(v, asked->second)) choice.set(region.precisions, v, asked->second);
  }
}

Status assign_precisions(const ir::Graph& graph, Partition& partition, const Options& options) {
  for (const auto& [pattern, precision] : options.precisions)
    if (!names_any(graph, pattern))
      return make_diag<DiagCode::MRV0407>(printable(pattern), nearest_value(graph, pattern));
  for (Region& region : partition.regions) assign_precisions(graph, region, options);
  return {};
}

std::vector<Diag> refused_precisions(const ir::Graph& graph, const Partition& partition,
                                     const Options& options) {
  std::vector<Diag> out;
  for (const Asked& asked : options.precisions) {
    const std::string pattern = printable(asked.first);
    const Followed f = followed(graph, partition, options, asked);
    // A pattern for many is about those that can.
    if (f.refused > 0 && (f.values == 0 || !is_wild(asked.first)))
      out.push_back(make_diag<DiagCode::MRV0408>(
          pattern, f.first, f.why, f.refused > 1 ? fmt::format(" (and {} more)", f.refused - 1) : ""));
    if (f.values + f.refused == 0)
      out.push_back(make_diag<DiagCode::MRV0406>(fmt::format("--precision '{}'", pattern),
                                                 "no layer of the accelerator makes or reads such a value",
                                                 "take it out, or name a value that is left"));
  }
  return out;
}

}  // namespace mrvlc::partition
