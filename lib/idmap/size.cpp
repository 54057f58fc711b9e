// Expressions that live name every ONNX node that they come from: of each pair a text stands in the map.
#include "mrvlc/idmap/size.h"

#include "mrvlc/support/diag/idmap.h"

namespace mrvlc::idmap {
namespace {

constexpr uint64_t kAroundAnId = 4;  // quotes, comma, space

struct Named {
  uint64_t expressions = 0, sources = 0, bytes = 0;
};

void add(const ir::Graph& graph, Named& named) {
  for (size_t i = 0; i < graph.node_slots(); ++i) {
    const ir::NodeId id(i);
    if (graph.node(id).erased) continue;
    ++named.expressions;
    for (ir::SourceId s : graph.lineage(id).sources) {
      ++named.sources;
      named.bytes += graph.sources()[s.index()].id.size() + kAroundAnId;
    }
  }
}

}  // namespace

Status check_size(const ir::Graph& graph, uint64_t most) {
  Named named;
  add(graph, named);
  ir::for_each_body(graph, [&](const ir::Graph& body) { add(body, named); });
  if (named.bytes <= most) return {};
  return make_diag<DiagCode::MRV1060>(named.bytes, most, named.expressions, named.sources,
                                      graph.sources().size());
}

}  // namespace mrvlc::idmap
