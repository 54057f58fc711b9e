// The kind of layer a rule makes against the operators that its pattern begins with.
#include <fmt/ranges.h>

#include <algorithm>

#include "check.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::rules {
namespace {

constexpr size_t kMostNamed = 12;  // operators in a message

bool begins_with(const LayerWord& kind, const ops::OpDef* op) {
  return !kind.accelerated || std::ranges::find(kind.anchors, op) != kind.anchors.end();
}

std::string listed(const std::vector<std::string_view>& names) {
  size_t shown = std::min(names.size(), kMostNamed);
  std::string out =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return names.size() == shown ? out : fmt::format("{} and {} more", out, names.size() - shown);
}

std::string names_of(const std::vector<const ops::OpDef*>& operators) {
  std::vector<std::string_view> names;
  for (const ops::OpDef* op : operators) names.push_back(op->name);
  return listed(names);
}

// What to write instead: the kinds that do begin with the operator.
std::string remedy(const ops::OpDef& op, const std::vector<LayerWord>& kinds) {
  std::vector<std::string_view> fitting, free;
  for (const LayerWord& k : kinds) {
    if (!k.accelerated) free.push_back(k.name);
    if (k.accelerated && begins_with(k, &op)) fitting.push_back(k.name);
  }
  if (fitting.empty()) {
    return fmt::format("no layer of the accelerator begins with {}{}, so take it out or write 'layer {}'",
                       op.name, op.declined.empty() ? "" : fmt::format(" ({})", op.declined), listed(free));
  }
  return fmt::format("{} begins layers of kind {}", op.name, listed(fitting));
}

}  // namespace

void check_layer(const CheckContext& c, const std::vector<LayerWord>& kinds) {
  if (c.rule.layer.empty()) return;  // reported by the parser
  auto kind = std::ranges::find(kinds, c.rule.layer, &LayerWord::name);
  if (kind == kinds.end()) {
    std::vector<std::string_view> known;
    for (const LayerWord& k : kinds) known.push_back(k.name);
    c.messages.at<DiagCode::MRV0309>(c.rule, c.rule.layer_at, printable(c.rule.layer),
                                     fmt::format("{}", fmt::join(known, ", ")),
                                     did_you_mean(c.rule.layer, known));
    return;
  }
  // What the passes make of the imported nodes is not known yet.
  if (c.rule.pattern.empty() || c.rule.stage == Stage::Source) return;
  std::vector<const ops::OpDef*> wrong;
  for (const Operator& o : c.rule.pattern[c.rule.anchor].operators) {
    if (o.def != nullptr && !begins_with(*kind, o.def)) wrong.push_back(o.def);  // others: see check_pattern
  }
  if (wrong.empty()) return;
  c.messages.at<DiagCode::MRV0316>(c.rule, c.rule.pattern[c.rule.anchor].at, c.rule.layer, names_of(wrong),
                                   names_of(kind->anchors), remedy(*wrong.front(), kinds));
}

}  // namespace mrvlc::rules
