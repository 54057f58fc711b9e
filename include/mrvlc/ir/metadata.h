// What an exporter wrote into the metadata_props of a model, its graph, its functions and its nodes, and
// where a node comes from in the exported program, as far as these say so (docs/idmap.md). All of it is text
// that is not ours.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/shared_text.h"

namespace mrvlc::ir {

using Properties = std::vector<std::pair<SharedText, SharedText>>;  // in the model's order, keys distinct

struct Origin {
  SharedText file;  // empty: unknown, and so is the line
  uint32_t line = 0;
  bool in_module = false;
  SharedText module;      // "layer1.0.conv1"; empty: the outermost one, or unknown (in_module)
  SharedText class_name;  // of the module: "torch.nn.modules.conv.Conv2d"; empty: unknown

  bool known() const { return !file.empty() || in_module; }
};

// Of an ONNX node.
struct Metadata {
  Properties properties;
  Origin origin;  // of the node, or of the one whose function or body it is in
};

// metadata_props of the model, its graph or a function.
struct Described {
  std::string of;  // "model", "graph", "function DOMAIN.NAME"
  Properties properties;
};
struct ModelMetadata {
  std::vector<Described> parts;
};

// Longer texts of a model lose their middle, and say there how much that was.
inline constexpr size_t kMaxPropertyBytes = size_t{64} << 10;
// As much of a text as is kept.
std::string shortened(std::string_view text);

// Where a node with these properties (whole, not shortened) comes from: the innermost line of
// `pkg.torch.onnx.stack_trace` that is not of a library, and the innermost module that
// `pkg.torch.onnx.name_scopes`, `pkg.torch.onnx.class_hierarchy` or `namespace` name.
Origin read_origin(std::span<const std::pair<std::string, std::string>> properties);

// Of an ONNX node; nothing known where the model does not say.
const Origin& origin_of(const Source& source);

// Of the ONNX nodes that this one comes from, of the first whose line is known, or else that has any; or
// null.
std::shared_ptr<const Metadata> metadata_of(const Graph& graph, NodeId node);

// "net.py:12 in layer1.0 (Conv2d)", as it was written; empty where nothing is known.
std::string to_string(const Origin& origin);

}  // namespace mrvlc::ir
