// `mrvlc diff` as text: inputs that differ, totals with their change, layers by cycles, nodes that moved.
#include "diff/text.h"

namespace mrvlc::driver {

std::string number_text(const Json& value) {
  if (value.is_null()) return "not known";
  return value.is_number_float() ? fmt::format("{:.4g}", value.get<double>()) : value.dump();
}

std::string where_text(const Json& where) {
  return where.is_null() ? "(no such node)" : where.get<std::string>();
}

namespace {

std::string total_line(const Json& t) {
  std::string line = fmt::format("{:<22} {:>14} -> {:>14}", t.at("name").get<std::string>(),
                                 number_text(t.at("a")), number_text(t.at("b")));
  const Json& change = t.at("change");
  if (change.is_null() || change == 0) return line + "\n";
  const bool fraction = change.is_number_float();
  line += fraction ? fmt::format("  {:+.4g}", change.get<double>())
                   : fmt::format("  {:+}", change.get<int64_t>());
  if (t.at("relative").is_number()) line += fmt::format(" ({:+.2f} %)", 100 * t.at("relative").get<double>());
  return line + (t.at("worse").get<bool>() ? "  worse\n" : "\n");
}

}  // namespace

std::string diff_text(const Json& diff) {
  std::string out;
  for (const Json& i : diff.at("inputs"))
    out += fmt::format("{}: {} -> {}\n", i.at("what").get<std::string>(), i.at("a").dump(), i.at("b").dump());
  if (diff.at("inputs").empty()) out += "the same model, options and version\n";
  out += "\n";
  for (const Json& t : diff.at("totals")) out += total_line(t);
  if (!diff.at("layers").empty()) out += "\ncycles by layer, the largest change first\n";
  for (const Json& l : diff.at("layers"))
    out += fmt::format("{:>+12}  {:>10} -> {:>10}  {}\n{:>14}{}\n", l.at("change").get<int64_t>(),
                       l.at("cycles_a").get<int64_t>(), l.at("cycles_b").get<int64_t>(),
                       l.at("operators").get<std::string>(), "", l.at("why").get<std::string>());
  if (!diff.at("placement").empty()) out += "\nplacement\n";
  for (const Json& p : diff.at("placement"))
    out += fmt::format("{} ({}): {} -> {}: {}\n", p.at("node").get<std::string>(),
                       p.at("op_type").get<std::string>(), where_text(p.at("a")), where_text(p.at("b")),
                       p.at("reason").get<std::string>());
  return out;
}

}  // namespace mrvlc::driver
