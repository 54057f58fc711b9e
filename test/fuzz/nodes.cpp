#include "mrvlc/ops/op.h"
#include "mutate.h"

namespace mrvlc::fuzz {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;

const std::string& any_name(const Parts& parts, Random& random) {
  static const std::string nothing = "nothing";
  return parts.names.empty() || random.one_in(20) ? nothing : parts.names[random.below(parts.names.size())];
}

void set_random_op(pb::NodeProto& node, Random& random) {
  const auto& all = ops::all_ops();
  const ops::OpDef* op = all[random.below(all.size())];
  node.set_op_type(std::string(op->name));
  node.set_domain(std::string(op->domain));
}

void change_inputs(pb::NodeProto& node, const Parts& parts, Random& random) {
  auto* list = node.mutable_input();
  switch (random.pick(5)) {
    case 0:
      *list->Add() = any_name(parts, random);
      return;
    case 1:
      if (!list->empty()) list->RemoveLast();
      return;
    case 2:
      if (!list->empty()) list->at(random.pick(list->size())).clear();
      return;
    case 3:
      if (!list->empty() && node.output_size() > 0) list->at(random.pick(list->size())) = node.output(0);
      return;
    default:
      if (!list->empty()) list->at(random.pick(list->size())) = any_name(parts, random);
  }
}

void change_outputs(pb::NodeProto& node, const Parts& parts, Random& random) {
  auto* list = node.mutable_output();
  switch (random.pick(5)) {
    case 0:
      *list->Add() = "extra" + std::to_string(random.below(4));
      return;
    case 1:
      if (!list->empty()) list->RemoveLast();
      return;
    case 2:
      if (!list->empty()) list->at(random.pick(list->size())).clear();
      return;
    case 3:
      if (!list->empty()) list->at(random.pick(list->size())) = random.hostile_name();
      return;
    default:
      if (!list->empty()) list->at(random.pick(list->size())) = any_name(parts, random);
  }
}

void add_random_node(Nodes& list, const Parts& parts, Random& random) {
  auto* node = list.Add();
  set_random_op(*node, random);
  for (int i = random.pick(4); i >= 0; --i) node->add_input(any_name(parts, random));
  for (int i = random.pick(2); i >= 0; --i) node->add_output("made" + std::to_string(random.below(1000)));
  for (int i = random.pick(3); i > 0; --i) random_attribute(*node->add_attribute(), random);
  list.SwapElements(random.pick(list.size()), list.size() - 1);
}

}  // namespace

bool change_node(Parts& parts, Random& random) {
  if (parts.nodes.empty()) return false;
  pb::NodeProto& node = *parts.nodes[random.below(parts.nodes.size())];
  switch (random.pick(10)) {
    case 0:
    case 1:
      set_random_op(node, random);
      break;
    case 2:
      node.set_domain(
          random.of<const char*>({"", "ai.onnx", "ai.onnx.ml", "com.microsoft", "\xff", "ai.onnx.training"}));
      break;
    case 3:
      node.set_name(random.hostile_name());
      break;
    case 4:
      node.set_op_type(random.hostile_name());
      break;
    case 5:
    case 6:
      change_outputs(node, parts, random);
      break;
    default:
      change_inputs(node, parts, random);
  }
  return true;
}

bool change_list(Parts& parts, const Parts& donor, Random& random) {
  Nodes& list = *parts.lists[random.below(parts.lists.size())];
  const int n = list.size();
  switch (random.pick(6)) {
    case 0:
      if (n > 0) list.DeleteSubrange(random.pick(n), 1);
      break;
    case 1:
      if (n > 0) {
        pb::NodeProto copy = list[random.pick(n)];
        for (auto& output : *copy.mutable_output()) {
          if (!random.one_in(4)) output += "'";
        }
        *list.Add() = std::move(copy);
      }
      break;
    case 2:
      if (n > 1) list.SwapElements(random.pick(n), random.pick(n));
      break;
    case 3:
    case 4:
      if (!donor.nodes.empty()) {
        pb::NodeProto node = *donor.nodes[random.below(donor.nodes.size())];
        for (auto& input : *node.mutable_input()) input = any_name(parts, random);
        *list.Add() = std::move(node);
        list.SwapElements(random.pick(n + 1), n);
      }
      break;
    default:
      add_random_node(list, parts, random);
  }
  return true;
}

}  // namespace mrvlc::fuzz
