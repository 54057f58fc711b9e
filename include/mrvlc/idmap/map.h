// The entries of an ID map, idmap.json member by member (docs/idmap.md).
#pragma once
#include "mrvlc/support/json_fields.h"

namespace mrvlc::idmap {

// Who computes what the other tables list.
struct Target {
  std::string name = {}, kind = {};
  std::optional<std::vector<uint32_t>> regions = {};  // of accelerators
  static void fields(auto& f, auto& t) { f("name", t.name)("kind", t.kind)("regions", t.regions); }
};

// Where a node comes from in the exported program.
struct Location {
  std::optional<std::string> file = {};
  std::optional<uint32_t> line = {};
  std::optional<std::string> module = {};  // "": the outermost one
  std::optional<std::string> class_name = {};
  static void fields(auto& f, auto& l) {
    f("file", l.file)("line", l.line)("module", l.module)("class", l.class_name);
  }
};

using Properties = json::Dictionary<json::Lines>;  // metadata_props

// A node of ONNX.
struct Source {
  std::string id = {}, name = {}, op_type = {}, domain = {};
  std::vector<std::string> outputs = {};
  std::string fate = {}, reason = {};
  std::optional<bool> same_bytes = {};  // true: it needs no code, as its result is the bytes of its operand
  std::optional<Properties> metadata = {};
  std::optional<Location> location = {};
  static void fields(auto& f, auto& s) {
    f("id", s.id)("name", s.name)("op_type", s.op_type)("domain", s.domain)("outputs", s.outputs)(
        "fate", s.fate)("reason", s.reason)("same_bytes", s.same_bytes)("metadata", s.metadata)("location",
                                                                                                s.location);
  }
};

struct Expression {
  uint32_t expr_id = 0;
  std::string op = {};
  std::vector<std::string> sources = {};  // ids
  std::vector<uint32_t> from = {};
  std::string pass = {};
  std::optional<std::string> erased = {};  // why it is gone
  static void fields(auto& f, auto& e) {
    f("expr_id", e.expr_id)("op", e.op)("sources", e.sources)("from", e.from)("pass", e.pass)("erased",
                                                                                              e.erased);
  }
};

struct Layer {
  uint32_t layer = 0, region = 0;
  std::string rule = {}, kind = {};
  std::vector<uint32_t> exprs = {};
  static void fields(auto& f, auto& l) {
    f("layer", l.layer)("region", l.region)("rule", l.rule)("kind", l.kind)("exprs", l.exprs);
  }
};

// Instructions [begin, end) of a section.
struct Instructions {
  uint32_t region = 0;
  std::string section = {};
  uint32_t begin = 0, end = 0, layer = 0, expr_id = 0;
  static void fields(auto& f, auto& i) {
    f("region", i.region)("section", i.section)("begin", i.begin)("end", i.end)("layer", i.layer)("expr_id",
                                                                                                  i.expr_id);
  }
};

// Of the stub.
struct Function {
  std::string symbol = {}, file = {};
  uint32_t first_line = 0, last_line = 0, expr_id = 0;
  std::vector<uint32_t> fused = {};  // expressions
  static void fields(auto& f, auto& c) {
    f("symbol", c.symbol)("file", c.file)("first_line", c.first_line)("last_line", c.last_line)(
        "expr_id", c.expr_id)("fused", c.fused);
  }
};

// Of a library; `symbol`: the function of the stub that calls.
struct Call {
  std::string target = {}, rule = {}, function = {}, symbol = {};
  std::vector<uint32_t> exprs = {};
  static void fields(auto& f, auto& c) {
    f("target", c.target)("rule", c.rule)("function", c.function)("symbol", c.symbol)("exprs", c.exprs);
  }
};

// A value of a region that is not plain fp16.
struct KeptPrecision {
  uint32_t region = 0;
  std::string value = {}, precision = {};
  static void fields(auto& f, auto& p) { f("region", p.region)("value", p.value)("precision", p.precision); }
};

// What the model says of itself, its graph or a function.
struct Described {
  std::string of = {};
  Properties entries = {};
  static void fields(auto& f, auto& d) { f("of", d.of)("entries", d.entries); }
};

// What is asked about.
struct Tables {
  std::vector<Source> sources = {};
  std::vector<Expression> expressions = {};
  std::vector<Layer> layers = {};
  std::vector<Instructions> instructions = {};
  std::vector<Function> host_functions = {};
  static void fields(auto& f, auto& t) {
    f("sources", t.sources)("expressions", t.expressions)("layers", t.layers)("instructions", t.instructions)(
        "host_functions", t.host_functions);
  }
};

struct Map : Tables {
  std::vector<Target> targets = {};
  std::optional<std::vector<Call>> calls = {};  // only of programs that call libraries
  std::optional<std::vector<KeptPrecision>> precisions = {};
  std::optional<std::vector<Described>> metadata = {};  // only where the model has some
  static void fields(auto& f, auto& m) {
    f.schema("mrvlc-idmap-1").added("targets", m.targets);
    Tables::fields(f, m);
    f("calls", m.calls)("precisions", m.precisions)("metadata", m.metadata);
  }
};

// Of a map, what belongs to one thing.
struct Part : Tables {
  std::optional<std::vector<Call>> calls = {};
  std::vector<Target> targets = {};
  static void fields(auto& f, auto& p) {
    Tables::fields(f, p);
    f("calls", p.calls)("targets", p.targets);
  }
};

// An entry of one of several maps.
template <class Entry>
struct OfModel {
  std::string model = {};
  Entry entry;
  static void fields(auto& f, auto& e) { Entry::fields(f("model", e.model), e.entry); }
};

struct MergedMaps {
  std::vector<std::string> models = {};
  std::vector<OfModel<Source>> sources = {};
  std::vector<OfModel<Expression>> expressions = {};
  std::vector<OfModel<Layer>> layers = {};
  std::vector<OfModel<Instructions>> instructions = {};
  std::vector<OfModel<Function>> host_functions = {};
  std::vector<OfModel<Call>> calls = {};
  std::vector<OfModel<Target>> targets = {};
  std::vector<OfModel<Described>> metadata = {};
  static void fields(auto& f, auto& m) {
    f.schema("mrvlc-idmaps-1")("models", m.models);
    Tables::fields(f, m);
    f.some("calls", m.calls).some("targets", m.targets).some("metadata", m.metadata);
  }
};

}  // namespace mrvlc::idmap
