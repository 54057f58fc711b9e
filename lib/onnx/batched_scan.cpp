// Scan of opset 8 runs on every element of a batch on its own (ONNX Scan-8): inputs and outputs have the
// batch in front, then the sequence. In today's form that is a Scan over the batch around one over the
// sequence.
#include "batched_scan.h"

#include <algorithm>

#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

constexpr int64_t kBatchedOpset = 8;

const pb::GraphProto* body_of(const pb::NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "body" && attribute.has_g()) return &attribute.g();
  }
  return nullptr;
}

// Does a name that the graph takes or reads begin so?
bool mentions(const pb::GraphProto& graph, const std::string& prefix) {
  auto begins = [&](const std::string& name) { return name.compare(0, prefix.size(), prefix) == 0; };
  auto within = [&](const auto& attribute) { return attribute.has_g() && mentions(attribute.g(), prefix); };
  auto reads = [&](const pb::NodeProto& node) {
    return std::any_of(node.input().begin(), node.input().end(), begins) ||
           std::any_of(node.attribute().begin(), node.attribute().end(), within);
  };
  return std::any_of(graph.input().begin(), graph.input().end(),
                     [&](const auto& input) { return begins(input.name()); }) ||
         std::any_of(graph.node().begin(), graph.node().end(), reads) ||
         std::any_of(graph.output().begin(), graph.output().end(),
                     [&](const auto& output) { return begins(output.name()); });
}

// Of names that the graph does not read.
std::string free_prefix(const pb::GraphProto& graph) {
  std::string prefix = "each";
  while (mentions(graph, prefix)) prefix += '_';
  return prefix;
}

// A graph of one node: the Scan over the sequence. Its inputs are named like those of the node's own body,
// which hide them there: nothing that the body reads from outside changes its meaning.
pb::GraphProto graph_of(pb::NodeProto scan) {
  pb::GraphProto graph;
  const pb::GraphProto& body = *body_of(scan);
  const std::string prefix = free_prefix(body);
  scan.clear_input();
  scan.clear_output();
  for (const auto& input : body.input()) {
    graph.add_input()->set_name(input.name());
    scan.add_input(input.name());
  }
  for (int k = 0; k < body.output_size(); ++k) {
    const std::string name = prefix + std::to_string(k);
    graph.add_output()->set_name(name);
    scan.add_output(name);
  }
  for (auto& attribute : *scan.mutable_attribute()) {
    if (attribute.name() == "directions") attribute.set_name("scan_input_directions");
  }
  graph.add_node()->Swap(&scan);
  return graph;
}

void scan_over_batch(pb::NodeProto& node) {
  pb::NodeProto scan;
  scan.Swap(&node);
  node.set_op_type(scan.op_type());
  node.set_name(scan.name());
  for (int i = 1; i < scan.input_size(); ++i) node.add_input(scan.input(i));
  *node.mutable_output() = scan.output();
  auto* count = node.add_attribute();
  count->set_name("num_scan_inputs");
  count->set_type(pb::AttributeProto::INT);
  count->set_i(node.input_size());
  auto* body = node.add_attribute();
  body->set_name("body");
  body->set_type(pb::AttributeProto::GRAPH);
  *body->mutable_g() = graph_of(std::move(scan));
}

void rewrite(Nodes& nodes, Sink& sink) {
  for (auto& node : nodes) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) rewrite(*attribute.mutable_g()->mutable_node(), sink);
    }
    if (node.op_type() != "Scan" || !canonical_domain(node.domain()).empty()) continue;
    if (body_of(node) == nullptr) continue;  // refused where bodies are built
    if (node.input_size() > 0 && !node.input(0).empty()) {
      auto diag = make_diag<DiagCode::MRV0208>("lengths of the sequences (input 0) are not supported");
      sink.add(at_node(std::move(diag), node.name(), node.op_type()));
      continue;
    }
    scan_over_batch(node);
  }
}

bool is_batched(const Opsets& opsets) {
  auto opset = opsets.find("");
  return opset != opsets.end() && opset->second == kBatchedOpset;
}

}  // namespace

void rewrite_batched_scans(pb::ModelProto& model, const Opsets& opsets, Sink& sink) {
  if (is_batched(opsets)) rewrite(*model.mutable_graph()->mutable_node(), sink);
  for (auto& function : *model.mutable_functions()) {
    bool batched = false;
    for (const auto& set : function.opset_import())
      batched = batched || (canonical_domain(set.domain()).empty() && set.version() == kBatchedOpset);
    if (batched) rewrite(*function.mutable_node(), sink);
  }
}

}  // namespace mrvlc::onnx
