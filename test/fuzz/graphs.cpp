// Subgraphs, and the frame around the main graph.
#include "mutate.h"

namespace mrvlc::fuzz {
namespace {

template <class List>
void drop_or_double(List& list, Random& random) {
  if (list.empty()) return;
  const int i = random.pick(list.size());
  if (random.one_in(2)) {
    list.DeleteSubrange(i, 1);
  } else {
    auto copy = list[i];
    *list.Add() = std::move(copy);
  }
}

// The graph becomes a branch of an If or the body of a loop, several times over.
void nest(pb::GraphProto& graph, Random& random) {
  const int levels = random.of({1, 2, 5, 12, 30});
  const char* op = random.of({"If", "Loop", "Scan", "SequenceMap"});
  for (int i = 0; i < levels; ++i) {
    pb::GraphProto inner = graph;
    if (op[0] != 'I') inner.mutable_input()->Clear();
    pb::NodeProto node;
    node.set_op_type(op);
    for (int k = random.pick(3); k >= 0 && !graph.input().empty(); --k)
      node.add_input(graph.input(random.pick(graph.input_size())).name());
    for (const auto& output : graph.output()) node.add_output(output.name());
    for (const char* name : {"then_branch", "else_branch", "body"}) {
      if ((op[0] == 'I') != (name[0] != 'b')) continue;
      auto* a = node.add_attribute();
      a->set_name(name);
      a->set_type(pb::AttributeProto::GRAPH);
      *a->mutable_g() = inner;
      if (i > 2 && name[0] == 't') a->mutable_g()->mutable_node()->Clear();
    }
    graph.mutable_node()->Clear();
    *graph.add_node() = std::move(node);
  }
}

void rename_everywhere(Parts& parts, Random& random) {
  if (parts.names.empty()) return;
  const std::string from = parts.names[random.below(parts.names.size())], to = random.hostile_name();
  auto rename = [&](std::string* name) {
    if (*name == from) *name = to;
  };
  for (auto* node : parts.nodes) {
    for (auto& name : *node->mutable_input()) rename(&name);
    for (auto& name : *node->mutable_output()) rename(&name);
  }
  for (auto* value : parts.values) rename(value->mutable_name());
  for (auto* tensor : parts.tensors) rename(tensor->mutable_name());
}

}  // namespace

bool change_graph(Parts& parts, const Parts& donor, Random& random) {
  pb::GraphProto& graph = *parts.graphs[random.below(parts.graphs.size())];
  switch (random.pick(9)) {
    case 0:
      drop_or_double(*graph.mutable_input(), random);
      break;
    case 1:
      drop_or_double(*graph.mutable_output(), random);
      break;
    case 2:
      drop_or_double(*graph.mutable_initializer(), random);
      break;
    case 3:
      if (!parts.names.empty()) graph.add_output()->set_name(parts.names[random.below(parts.names.size())]);
      break;
    case 4: {
      const pb::GraphProto* other = donor.graphs[random.below(donor.graphs.size())];
      if (other->ByteSizeLong() < 20000) graph = *other;
      break;
    }
    case 5:
      if (graph.ByteSizeLong() < 4000) nest(graph, random);
      break;
    case 6:
      graph.set_name(random.hostile_name());
      break;
    case 7:
      if (!parts.tensors.empty() && parts.tensors[0]->ByteSizeLong() < 10000) {
        auto* sparse = graph.add_sparse_initializer();
        *sparse->mutable_values() = *parts.tensors[random.below(parts.tensors.size())];
        *sparse->mutable_indices() =
            random_tensor("", pb::TensorProto::INT64, {random.dimension(), random.dimension()}, random);
        for (int i = random.pick(3); i >= 0; --i) sparse->add_dims(random.dimension());
      }
      break;
    default:
      rename_everywhere(parts, random);
  }
  return true;
}

bool change_frame(pb::ModelProto& model, Parts& parts, Random& random) {
  switch (random.pick(8)) {
    case 0:
      model.set_ir_version(random.integer());
      break;
    case 1:
      if (model.opset_import_size() > 0) model.mutable_opset_import(0)->set_version(random.integer());
      break;
    case 2:
    case 3:
      if (model.opset_import_size() > 0)
        model.mutable_opset_import(random.pick(model.opset_import_size()))
            ->set_version(static_cast<int64_t>(random.below(27)));
      break;
    case 4:
      drop_or_double(*model.mutable_opset_import(), random);
      break;
    case 5: {
      auto* set = model.add_opset_import();
      set->set_domain(random.of<const char*>({"", "ai.onnx", "ai.onnx.ml", "x", "ai.onnx.preview.training"}));
      set->set_version(random.integer());
      break;
    }
    case 6:
      drop_or_double(*model.mutable_functions(), random);
      break;
    default: {
      if (parts.nodes.empty()) return false;
      // A function of a node's name, which may call itself.
      const pb::NodeProto& node = *parts.nodes[random.below(parts.nodes.size())];
      auto* function = model.add_functions();
      function->set_name(node.op_type());
      function->set_domain(node.domain());
      for (const auto& in : node.input()) function->add_input(in);
      for (const auto& out : node.output()) function->add_output(out);
      *function->add_opset_import() =
          model.opset_import_size() > 0 ? model.opset_import(0) : pb::OperatorSetIdProto();
      *function->add_node() = *parts.nodes[random.below(parts.nodes.size())];
    }
  }
  return true;
}

}  // namespace mrvlc::fuzz
