// The model's own functions: which are there, what they call, how large they get when inlined.
#pragma once
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "opsets.h"

namespace mrvlc::onnx {

// A chain of calls longer than this is refused, so that inlining may recurse.
inline constexpr int kMaxCallDepth = 64;

struct Function {
  pb::FunctionProto* proto = nullptr;
  Opsets opsets;
  std::map<std::string, pb::AttributeProto, std::less<>> defaults;  // attribute_proto, IR version 9
  int64_t expanded_nodes = 0;  // nodes of its body with all calls inlined; saturates
  int call_depth = 0;          // 1: calls nothing
};

class FunctionTable {
 public:
  // Reports duplicates and recursion (MRV0115) and chains of calls that are too long (MRV0117).
  FunctionTable(pb::ModelProto& model, Sink& sink);

  // nullptr: the node is no call of a function of the model.
  Function* find(const pb::NodeProto& node);
  // Nodes of a graph with all calls inlined; saturates.
  int64_t expanded_nodes(const pb::GraphProto& graph);
  // Nodes of the graph and of all functions, as they are in the file.
  int64_t nodes(const pb::GraphProto& graph) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
  struct Frame;

  void add(pb::FunctionProto& proto, Sink& sink);
  void measure(Sink& sink);
  std::vector<size_t> callees(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes);
  void finish(size_t function, const std::vector<size_t>& callees);

  std::map<Key, size_t> index_;
  std::vector<Function> functions_;
};

}  // namespace mrvlc::onnx
