// Functions by domain, name and overload; nodes and depth of calls when inlined, without recursion; cycles.
#include "functions.h"

#include <algorithm>

#include "file/wire.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {
namespace {

// Counts stop here: beyond every limit on nodes, and far from overflow.
constexpr int64_t kManyNodes = int64_t{1} << 40;

// Calls visit(node) for the nodes and those of graphs in their attributes. Protobuf's limit on nesting bounds
// the depth.
template <class Visit>
void for_each_node(const Nodes& nodes, const Visit& visit) {
  for (const auto& node : nodes) {
    visit(node);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) for_each_node(attribute.g().node(), visit);
      for (const auto& graph : attribute.graphs()) for_each_node(graph.node(), visit);
    }
  }
}

enum class Mark : uint8_t { New, Open, Done };

}  // namespace

struct FunctionTable::Frame {
  size_t function = 0;
  std::vector<size_t> callees;
  size_t next = 0;
};

FunctionTable::FunctionTable(pb::ModelProto& model, Sink& sink) {
  for (auto& proto : *model.mutable_functions()) add(proto, sink);
  measure(sink);
}

void FunctionTable::add(pb::FunctionProto& proto, Sink& sink) {
  Key key{canonical_domain(proto.domain()), proto.name(),
          unknown_string(proto.unknown_fields(), kFunctionOverload)};
  if (proto.name().empty()) sink.add(make_diag<DiagCode::MRV0114>("a function"));
  if (!index_.emplace(key, functions_.size()).second) {
    sink.add(make_diag<DiagCode::MRV0115>(printable(proto.name()), "is defined more than once"));
    return;
  }
  Function function;
  function.proto = &proto;
  function.opsets = read_opsets(proto.opset_import(), sink);
  for (const std::string& bytes : unknown_field(proto.unknown_fields(), kFunctionAttributeProto)) {
    pb::AttributeProto attribute;
    if (!attribute.ParseFromString(bytes)) {
      sink.add(make_diag<DiagCode::MRV0115>(printable(proto.name()), "a default value is malformed"));
      continue;
    }
    std::string name = attribute.name();
    function.defaults.emplace(std::move(name), std::move(attribute));
  }
  functions_.push_back(std::move(function));
}

Function* FunctionTable::find(const pb::NodeProto& node) {
  if (functions_.empty()) return nullptr;
  auto it = index_.find(Key{canonical_domain(node.domain()), node.op_type(),
                            unknown_string(node.unknown_fields(), kNodeOverload)});
  return it == index_.end() ? nullptr : &functions_[it->second];
}

std::vector<size_t> FunctionTable::callees(const Nodes& nodes) {
  std::vector<size_t> found;
  for_each_node(nodes, [&](const pb::NodeProto& node) {
    if (Function* f = find(node)) found.push_back(static_cast<size_t>(f - functions_.data()));
  });
  return found;
}

void FunctionTable::finish(size_t function, const std::vector<size_t>& calls) {
  Function& f = functions_[function];
  int64_t nodes = 0;
  for_each_node(f.proto->node(), [&](const pb::NodeProto&) { ++nodes; });
  f.call_depth = 1;
  for (size_t callee : calls) {
    nodes = std::min(kManyNodes, nodes + functions_[callee].expanded_nodes);
    f.call_depth = std::max(f.call_depth, functions_[callee].call_depth + 1);
  }
  f.expanded_nodes = nodes;
}

// Depth first over the calls, without recursion: there may be as many functions as the file has room for.
void FunctionTable::measure(Sink& sink) {
  std::vector<Mark> marks(functions_.size(), Mark::New);
  std::vector<Frame> stack;
  auto enter = [&](size_t f) {
    marks[f] = Mark::Open;
    stack.push_back({f, callees(functions_[f].proto->node()), 0});
  };
  for (size_t root = 0; root < functions_.size(); ++root) {
    if (marks[root] == Mark::New) enter(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.callees.size()) {
        size_t callee = top.callees[top.next++];
        if (marks[callee] == Mark::Open) {
          sink.add(make_diag<DiagCode::MRV0115>(printable(functions_[callee].proto->name()), "calls itself"));
        }
        if (marks[callee] == Mark::New) enter(callee);
        continue;
      }
      finish(top.function, top.callees);
      marks[top.function] = Mark::Done;
      if (functions_[top.function].call_depth == kMaxCallDepth + 1) {
        sink.add(make_diag<DiagCode::MRV0117>(
            fmt::format("functions call each other more than {} levels deep", kMaxCallDepth)));
      }
      stack.pop_back();
    }
  }
}

int64_t FunctionTable::nodes(const pb::GraphProto& graph) const {
  int64_t nodes = 0;
  auto count = [&](const pb::NodeProto&) { ++nodes; };
  for_each_node(graph.node(), count);
  for (const Function& f : functions_) for_each_node(f.proto->node(), count);
  return nodes;
}

int64_t FunctionTable::expanded_nodes(const pb::GraphProto& graph) {
  int64_t nodes = 0;
  for_each_node(graph.node(), [&](const pb::NodeProto& node) {
    const Function* f = find(node);
    nodes = std::min(kManyNodes, nodes + 1 + (f == nullptr ? 0 : f->expanded_nodes));
  });
  return nodes;
}

}  // namespace mrvlc::onnx
