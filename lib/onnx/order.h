// Who defines and who reads which name, and an order in which every name is defined before it is read.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "file/proto.h"
#include "sink.h"

namespace mrvlc::onnx {

// What the nodes of one graph or function body stand in.
struct NameScope {
  std::function<bool(std::string_view)> defined;  // inputs, initializers, and names of the graphs around
  std::function<Diag(Diag, size_t)> at;           // adds node i to a diagnostic
};

struct NodeOrder {
  std::vector<uint32_t> nodes;  // those on a cycle, and behind one, are left out
  bool was_sorted = true;
};

// The order of the file where that is possible, else the nearest to it. Linear but for unsorted files (times
// a log). Reports names defined twice (MRV0110), never (MRV0111), empty outputs (MRV0118) and cycles
// (MRV0112).
NodeOrder order_nodes(const Nodes& nodes, const NameScope& scope, Sink& sink);

// Names a node reads: its inputs, and what graphs in its attributes read from outside of them.
std::vector<std::string_view> names_read(const pb::NodeProto& node);

}  // namespace mrvlc::onnx
