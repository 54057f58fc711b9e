#include "maker.h"

namespace mrvlc::fuzz {
namespace {

pb::AttributeProto& attribute(pb::NodeProto& node, const std::string& name,
                              pb::AttributeProto::AttributeType type) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(type);
  return *a;
}

pb::TensorProto& tensor(pb::GraphProto& graph, const std::string& name, int32_t elem, const Dims& dims) {
  auto* t = graph.add_initializer();
  t->set_name(name);
  t->set_data_type(elem);
  for (int64_t d : dims) t->add_dims(d);
  return *t;
}

int64_t count(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

}  // namespace

void set_type(pb::TypeProto& type, int32_t elem, const Dims& dims) {
  auto* t = type.mutable_tensor_type();
  t->set_elem_type(elem);
  t->mutable_shape();
  for (int64_t d : dims) {
    auto* dim = t->mutable_shape()->add_dim();
    if (d >= 0) dim->set_dim_value(d);
  }
}

GraphMaker& GraphMaker::in(const std::string& name, int32_t elem, const Dims& dims) {
  auto* value = graph_.add_input();
  value->set_name(name);
  set_type(*value->mutable_type(), elem, dims);
  return *this;
}

GraphMaker& GraphMaker::out(const std::string& name, int32_t elem, const Dims& dims) {
  auto* value = graph_.add_output();
  value->set_name(name);
  set_type(*value->mutable_type(), elem, dims);
  return *this;
}

GraphMaker& GraphMaker::out(const std::string& name) {
  graph_.add_output()->set_name(name);
  return *this;
}

GraphMaker& GraphMaker::ints(const std::string& name, const Dims& dims, const std::vector<int64_t>& values) {
  auto& t = tensor(graph_, name, kI64, dims);
  for (int64_t v : values) t.add_int64_data(v);
  return *this;
}

GraphMaker& GraphMaker::floats(const std::string& name, const Dims& dims, float value) {
  auto& t = tensor(graph_, name, kF32, dims);
  for (int64_t i = count(dims); i > 0; --i) t.add_float_data(value);
  return *this;
}

GraphMaker& GraphMaker::bytes(const std::string& name, int32_t elem, const Dims& dims, int32_t value) {
  auto& t = tensor(graph_, name, elem, dims);
  for (int64_t i = count(dims); i > 0; --i) t.add_int32_data(value);
  return *this;
}

pb::NodeProto& GraphMaker::node(const std::string& op, const Names& in, const Names& out) {
  auto* n = graph_.add_node();
  n->set_op_type(op);
  for (const auto& name : in) n->add_input(name);
  for (const auto& name : out) n->add_output(name);
  return *n;
}

Maker::Maker(std::unique_ptr<pb::ModelProto> model, int64_t opset)
    : GraphMaker(*model->mutable_graph()), model_(std::move(model)) {
  model_->set_ir_version(9);
  model_->add_opset_import()->set_version(opset);
}

void set(pb::NodeProto& node, const std::string& name, int64_t value) {
  attribute(node, name, pb::AttributeProto::INT).set_i(value);
}

void set(pb::NodeProto& node, const std::string& name, const std::vector<int64_t>& values) {
  auto& a = attribute(node, name, pb::AttributeProto::INTS);
  for (int64_t v : values) a.add_ints(v);
}

void set(pb::NodeProto& node, const std::string& name, const std::string& value) {
  attribute(node, name, pb::AttributeProto::STRING).set_s(value);
}

pb::GraphProto& body(pb::NodeProto& node, const std::string& name) {
  return *attribute(node, name, pb::AttributeProto::GRAPH).mutable_g();
}

}  // namespace mrvlc::fuzz
