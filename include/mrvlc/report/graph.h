// The graph of a model as plain data, and its writers: JSON, SVG, DOT, and a page that needs no network. What
// it shows are items: what is computed at once, a layer of a region or an expression of the host, with the
// ONNX nodes it stands for. Bodies of control flow are graphs of their own. Texts may hold any bytes; the
// writers escape them. The same data gives the same bytes.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mrvlc/support/json_writer.h"
#include "mrvlc/support/result.h"

namespace mrvlc::report {

struct GraphNode {  // of ONNX
  std::string id, name, op_type;
  std::string location = {};  // "net.py:12 in layer1 (Linear)"; empty: not known
};

struct GraphItem {
  // Node: where it runs is not known, as nothing was compiled.
  enum class Kind : uint8_t { Input, Output, Layer, Host, Call, Node } kind = Kind::Node;
  std::vector<GraphNode> nodes;           // none of an input or output, which is called after its value
  std::string name;                       // what to call it where it has no nodes
  std::optional<uint32_t> region, layer;  // Layer: index into Graph::regions, and its number there
  std::optional<uint32_t> expression;     // expr_id, of the first
  std::string rule, layer_kind, cut;      // Layer
  std::string target;                     // Call: the library
  std::string reason;                     // why it is not on the accelerator, or how it got there
  std::string type, precision;            // of its first result: "float32[1,64,56,56]"; "fp16"
  std::optional<uint64_t> cycles;         // Layer
  std::optional<double> seconds;          // expected
  int64_t macs = 0, weights_bytes = 0;
  std::vector<uint32_t> bodies;  // index into GraphDocument::graphs
};

struct GraphValue {
  std::string name, type, precision;
};

struct GraphEdge {
  uint32_t from = 0, to = 0;  // items
  uint32_t value = 0;
};

struct GraphRegion {
  uint32_t id = 0;
  std::optional<uint64_t> cycles;
  std::optional<double> seconds;
};

struct Graph {
  std::string name;
  std::vector<GraphItem> items;  // in an order of execution
  std::vector<GraphValue> values;
  std::vector<GraphEdge> edges;
  std::vector<GraphRegion> regions;
};

struct GraphDocument {
  std::string model, target;  // target: empty where nothing was compiled
  std::vector<Graph> graphs;  // that of the model first
  size_t items() const {
    size_t all = 0;
    for (const Graph& g : graphs) all += g.items.size();
    return all;
  }
};

// What a picture can hold; compile writes no graph.json above it.
inline constexpr size_t kMostGraphItems = 20000;

const char* name(GraphItem::Kind kind);
// "Conv + Relu"; the name of a value.
std::string graph_title(const GraphItem& item);

// graph.json, docs/schemas/graph.schema.json.
void write_graph(JsonWriter& out, const GraphDocument& document);
// Throws nlohmann's exceptions where it is something else; numbers of items are checked.
GraphDocument read_graph(const nlohmann::ordered_json& json);

std::string graph_dot(const GraphDocument& document);
std::string graph_svg(const GraphDocument& document);
std::string graph_html(const GraphDocument& document);

}  // namespace mrvlc::report
