// What the vendor's compiler for cn10ka (mrvl-tmlc) takes, and the files it reads: Nodes-JSON and
// Constants-JSON, as TVM 0.19's contrib `mrvl` writes them (docs/vendor.md).
#pragma once
#include "mrvlc/partition/legality.h"
#include "mrvlc/partition/region.h"
#include "mrvlc/partition/rules.h"

namespace mrvlc::vendor {

// The composites as rules; the same, read and checked, once a process.
rules::RuleFile rule_file();
const partition::SoundRules& rules();

// The limits that the published flow checks, on a layer of these rules.
partition::Legality legal(const ir::Graph& graph, const partition::Layer& layer);

struct Texts {
  std::string nodes, constants;  // S-nodes.json, S-consts.json
};
// Of a region of legal layers. `symbol`: S, a C identifier. Inputs of rank 4 are NCHW, and transformed to
// NHWC by nodes of the region; results of rank 4 leave it as NHWC.
Texts nodes_json(const ir::Graph& graph, const partition::Region& region, const std::string& symbol);

}  // namespace mrvlc::vendor
