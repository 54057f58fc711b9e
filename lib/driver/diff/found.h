// What `mrvlc diff` found: JSON, text and page are renderings of it.
#pragma once
#include <set>

#include "model/totals.h"

namespace mrvlc::driver {

struct DiffInput {
  std::string what;
  json::Json a, b;  // values of an option, as manifests have them
  static void fields(auto& f, auto& i) { f("what", i.what)("a", i.a)("b", i.b); }
};

struct DiffTotal {
  const TotalKind* kind = nullptr;
  std::string name = std::string(kind == nullptr ? "" : kind->name);
  std::optional<Number> a = {}, b = {}, change = {};
  std::optional<double> relative = {};
  bool worse = false;  // by more than the tolerance
  static void fields(auto& f, auto& t) {
    f("name", t.name)
        .null_or("a", t.a)
        .null_or("b", t.b)
        .null_or("change", t.change)
        .null_or("relative", t.relative)("worse", t.worse);
  }
  bool changed() const { return change && as_double(*change) != 0; }
};

// Layers whose cycles or traffic changed.
struct DiffLayers {
  std::string operators = {};
  std::set<std::string> nodes = {};  // of ONNX
  int64_t cycles_a = 0, cycles_b = 0, change = 0, ddr_bytes_a = 0, ddr_bytes_b = 0;
  std::string why = {};
  static void fields(auto& f, auto& l) {
    f("operators", l.operators)("nodes", l.nodes)("cycles_a", l.cycles_a)("cycles_b", l.cycles_b)(
        "change", l.change)("ddr_bytes_a", l.ddr_bytes_a)("ddr_bytes_b", l.ddr_bytes_b)("why", l.why);
  }
};

// A node that runs elsewhere; nullopt: there is no such node.
struct DiffMove {
  std::string node, op_type;
  std::optional<std::string> a, b;
  std::string reason;
  static void fields(auto& f, auto& m) {
    f("node", m.node)("op_type", m.op_type).null_or("a", m.a).null_or("b", m.b)("reason", m.reason);
  }
};

struct DiffFound {
  std::vector<DiffInput> inputs;
  std::vector<DiffTotal> totals;
  std::vector<DiffLayers> layers;  // the largest change first
  std::vector<DiffMove> placement;
  static void fields(auto& f, auto& d) {
    f.schema("mrvlc-diff-1")("inputs", d.inputs)("totals", d.totals)("layers", d.layers)("placement",
                                                                                         d.placement);
  }
};

std::string diff_text(const DiffFound& diff);
// `a` and `b`: what the two are called.
std::string diff_html(const DiffFound& diff, const std::string& a, const std::string& b);
std::string number_text(const std::optional<Number>& value);  // nullopt: not known
std::string where_text(const std::optional<std::string>& where);

}  // namespace mrvlc::driver
