// placement.json, member by member: where every ONNX node runs, and why.
#pragma once
#include "model/accuracy.h"
#include "mrvlc/idmap/map.h"
#include "mrvlc/partition/partition.h"

template <>
struct mrvlc::json::Table<mrvlc::partition::RuleTrial> {
  static void fields(auto& f, auto& t) {
    f("rule", t.rule)("accepted", t.accepted)("condition", t.condition)("actual", t.actual)("limit", t.limit)(
        "reason", t.reason);
  }
};

template <>
struct mrvlc::json::Table<mrvlc::partition::TargetCost> {
  static void fields(auto& f, auto& c) { f("target", c.target)("seconds", c.seconds); }
};

namespace mrvlc::driver {

// Tried: a rule that was tried on the node.
template <class Tried>
struct PlacementEntryOf {
  std::string id = {}, name = {}, op_type = {}, where = {};
  std::vector<std::string> outputs = {};
  int64_t macs = 0;
  std::optional<uint32_t> expr_id = {}, region = {};
  std::optional<std::string> target = {}, call = {}, rule = {}, code = {};
  std::string reason = {};
  std::optional<std::vector<Tried>> tried = {};
  std::optional<std::vector<partition::TargetCost>> costs = {};
  static void fields(auto& f, auto& n) {
    f("id", n.id)("name", n.name)("op_type", n.op_type)("where", n.where)("outputs", n.outputs)(
        "macs", n.macs)("expr_id", n.expr_id)("region", n.region)("target", n.target)("call", n.call)(
        "rule", n.rule)("code", n.code)("reason", n.reason)("tried", n.tried)("costs", n.costs);
  }

  // Numbers of nodes change when a model is exported again; names mostly do not. A node without one is known
  // by its first output.
  const std::string& shown_name() const { return !name.empty() || outputs.empty() ? name : outputs[0]; }
};
using PlacementEntry = PlacementEntryOf<partition::RuleTrial>;

// A constraint as it was asked for.
struct PlacementConstraint {
  std::vector<std::string> nodes = {}, from = {}, to = {};
  std::optional<std::string> on = {}, border = {};
  std::optional<bool> together = {};
  std::optional<uint32_t> max_layers = {}, max_regions = {};
  static void fields(auto& f, auto& c) {
    f.some("nodes", c.nodes)
        .some("from", c.from)
        .some("to", c.to)("on", c.on)("border", c.border)("together", c.together)("max_layers", c.max_layers)(
            "max_regions", c.max_regions);
  }
};

struct PlacedModelHash {
  std::string sha256 = {};
  static void fields(auto& f, auto& m) { f("sha256", m.sha256); }
};

template <class Nodes>
struct PlacementTableOf {
  PlacedModelHash model = {};
  std::string target = {};
  std::vector<PlacementConstraint> constraints = {};
  Nodes nodes = {};
  std::vector<idmap::KeptPrecision> precisions = {};
  std::vector<StoredRange> ranges = {};
  static void fields(auto& f, auto& p) {
    f.schema("mrvlc-placement-1")("model", p.model)("target", p.target)
        .some("constraints", p.constraints)("nodes", p.nodes)
        .some("precisions", p.precisions)
        .some("ranges", p.ranges);
  }
};
using PlacementTable = PlacementTableOf<std::vector<PlacementEntry>>;

}  // namespace mrvlc::driver
