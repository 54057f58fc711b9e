// `mrvlc diff` as text: inputs that differ, totals with their change, layers by cycles, nodes that moved.
#include "diff/found.h"

namespace mrvlc::driver {

std::string number_text(const std::optional<Number>& value) {
  if (!value) return "not known";
  const double* const fraction = std::get_if<double>(&*value);
  return fraction != nullptr ? fmt::format("{:.4g}", *fraction) : number_text(*value);
}

std::string where_text(const std::optional<std::string>& where) {
  return where.value_or("(no such node)");
}

namespace {

std::string total_line(const DiffTotal& t) {
  std::string line = fmt::format("{:<22} {:>14} -> {:>14}", t.name, number_text(t.a), number_text(t.b));
  if (!t.changed()) return line + "\n";
  const double* const fraction = std::get_if<double>(&*t.change);
  line += fraction != nullptr ? fmt::format("  {:+.4g}", *fraction)
                              : fmt::format("  {:+}", std::get<int64_t>(*t.change));
  if (t.relative) line += fmt::format(" ({:+.2f} %)", 100 * *t.relative);
  return line + (t.worse ? "  worse\n" : "\n");
}

}  // namespace

std::string diff_text(const DiffFound& diff) {
  std::string out;
  for (const DiffInput& i : diff.inputs) out += fmt::format("{}: {} -> {}\n", i.what, i.a.dump(), i.b.dump());
  if (diff.inputs.empty()) out += "the same model, options and version\n";
  out += "\n";
  for (const DiffTotal& t : diff.totals) out += total_line(t);
  if (!diff.layers.empty()) out += "\ncycles by layer, the largest change first\n";
  for (const DiffLayers& l : diff.layers)
    out += fmt::format("{:>+12}  {:>10} -> {:>10}  {}\n{:>14}{}\n", l.change, l.cycles_a, l.cycles_b,
                       l.operators, "", l.why);
  if (!diff.placement.empty()) out += "\nplacement\n";
  for (const DiffMove& p : diff.placement)
    out +=
        fmt::format("{} ({}): {} -> {}: {}\n", p.node, p.op_type, where_text(p.a), where_text(p.b), p.reason);
  return out;
}

}  // namespace mrvlc::driver
