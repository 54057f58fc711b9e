#include "models.h"

namespace mrvlc::test {

void add_weights(pb::ModelProto& model, const std::string& name, const std::vector<int64_t>& dims,
                 float value) {
  size_t count = 1;
  for (int64_t d : dims) count *= static_cast<size_t>(d);
  *model.mutable_graph()->add_initializer() = float_tensor(name, dims, std::vector<float>(count, value));
}

pb::NodeProto& add_named(pb::ModelProto& model, const std::string& name, const std::string& op,
                         const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  pb::NodeProto& node = add_node(model, op, inputs, outputs);
  node.set_name(name);
  return node;
}

pb::ModelProto counted_model() {
  pb::ModelProto m = empty_model();
  add_input(m, "x", {1, 3, 8, 8});
  add_weights(m, "w1", {8, 3, 3, 3});
  add_weights(m, "wd", {8, 1, 3, 3});
  add_weights(m, "wf", {8, 4});
  add_ints(add_named(m, "c1", "Conv", {"x", "w1"}, {"c1_out"}), "pads", {1, 1, 1, 1});
  add_named(m, "r1", "Relu", {"c1_out"}, {"r1_out"});
  pb::NodeProto& dw = add_named(m, "dw", "Conv", {"r1_out", "wd"}, {"dw_out"});
  add_ints(dw, "pads", {1, 1, 1, 1});
  add_int(dw, "group", 8);
  add_named(m, "gap", "GlobalAveragePool", {"dw_out"}, {"gap_out"});
  add_named(m, "flat", "Flatten", {"gap_out"}, {"flat_out"});
  add_named(m, "fc", "Gemm", {"flat_out", "wf"}, {"y"});
  add_output(m, "y", {1, 4});
  return m;
}

pb::ModelProto pointwise_model() {
  pb::ModelProto m = empty_model();
  add_input(m, "x", {1, 16, 8, 8});
  add_weights(m, "w", {16, 16, 1, 1});
  add_named(m, "c", "Conv", {"x", "w"}, {"y"});
  add_output(m, "y", {1, 16, 8, 8});
  return m;
}

pb::ModelProto unread_model() {
  pb::ModelProto m = empty_model();
  add_input(m, "x", {1, 16, 8, 8});
  add_weights(m, "w1", {16, 16, 1, 1});
  add_weights(m, "w2", {32, 16, 1, 1});
  add_named(m, "c1", "Conv", {"x", "w1"}, {"c1_out"});
  add_ints(add_named(m, "c2", "Conv", {"c1_out", "w2"}, {"y"}), "strides", {2, 2});
  add_output(m, "y", {1, 32, 4, 4});
  return m;
}

pb::ModelProto mixed_model() {
  pb::ModelProto m = empty_model();
  add_input(m, "x", {2, 4});
  add_weights(m, "w1", {4, 8});
  add_weights(m, "w2", {8, 2});
  add_named(m, "g1", "Gemm", {"x", "w1"}, {"g1_out"});
  add_named(m, "s", "Sin", {"g1_out"}, {"s_out"});
  add_named(m, "g2", "Gemm", {"s_out", "w2"}, {"y"});
  add_output(m, "y", {2, 2});
  return m;
}

pb::ModelProto folded_model() {
  pb::ModelProto m = empty_model();
  add_input(m, "x", {1, 4});
  add_weights(m, "w", {4, 8});
  add_weights(m, "p", {8}, 2);
  add_weights(m, "q", {8}, 3);
  add_named(m, "g", "Gemm", {"x", "w"}, {"g_out"});
  add_named(m, "drop", "Dropout", {"g_out"}, {"drop_out"});
  add_named(m, "k", "Mul", {"p", "q"}, {"k_out"});
  add_named(m, "a", "Add", {"drop_out", "k_out"}, {"y"});
  add_output(m, "y", {1, 8});
  return m;
}

namespace {

pb::GraphProto branch(const std::string& name, bool twice) {
  pb::GraphProto g;
  g.set_name(name);
  *g.add_node() = make_node("MatMul", {"x", "w"}, {name + "_product"});
  g.mutable_node(0)->set_name(name + "_matmul");
  if (twice) *g.add_node() = make_node("MatMul", {"x", "w"}, {name + "_again"});
  if (twice) *g.add_node() = make_node("Add", {name + "_product", name + "_again"}, {name + "_sum"});
  *g.add_output() = value_info(twice ? name + "_sum" : name + "_product", {2, 3});
  return g;
}

}  // namespace

pb::ModelProto branches_model() {
  pb::ModelProto m = empty_model();
  add_input(m, "choose", {}, pb::TensorProto::BOOL);
  add_input(m, "x", {2, 4});
  add_weights(m, "w", {4, 3});
  pb::NodeProto& node = add_named(m, "choice", "If", {"choose"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    pb::AttributeProto* a = node.add_attribute();
    a->set_name(name);
    a->set_type(pb::AttributeProto::GRAPH);
    *a->mutable_g() = branch(name, name[0] == 't');
  }
  add_output(m, "y", {2, 3});
  return m;
}

namespace {

void add_norm(pb::ModelProto& m, const std::string& from, const std::string& to) {
  add_weights(m, "scale", {4}, 2);
  add_weights(m, "bias", {4}, 1);
  add_weights(m, "mean", {4}, 0.5f);
  add_weights(m, "var", {4}, 4);
  add_named(m, "bn", "BatchNormalization", {from, "scale", "bias", "mean", "var"}, {to});
}

}  // namespace

pb::ModelProto split_model() {
  pb::ModelProto m = empty_model();
  add_input(m, "x", {1, 4, 8, 8});
  add_weights(m, "w", {4, 4, 1, 1});
  add_norm(m, "x", "bn_out");
  add_named(m, "r", "Relu", {"bn_out"}, {"r_out"});
  add_named(m, "c", "Conv", {"r_out", "w"}, {"y"});
  add_output(m, "y", {1, 4, 8, 8});
  return m;
}

pb::ModelProto late_split_model() {
  pb::ModelProto m = empty_model();
  add_input(m, "x", {1, 4, 8, 8});
  add_weights(m, "w", {4, 4, 1, 1});
  add_named(m, "c0", "Conv", {"x", "w"}, {"c0_out"});
  add_named(m, "r0", "Relu", {"c0_out"}, {"r0_out"});
  add_norm(m, "r0_out", "bn_out");
  add_named(m, "r", "Relu", {"bn_out"}, {"r_out"});
  add_named(m, "c", "Conv", {"r_out", "w"}, {"y"});
  add_output(m, "y", {1, 4, 8, 8});
  return m;
}

pb::ModelProto half_quantised_model(int64_t columns) {
  pb::ModelProto m = empty_model();
  add_input(m, "x", {2, 4});
  add_input(m, "i", {2, 4}, pb::TensorProto::UINT8);
  add_weights(m, "w", {4, 8});
  auto* v = m.mutable_graph()->add_initializer();
  v->set_name("v");
  v->set_data_type(pb::TensorProto::UINT8);
  v->add_dims(4);
  v->add_dims(columns);
  v->set_raw_data(std::string(static_cast<size_t>(4 * columns), '\1'));
  add_named(m, "g", "Gemm", {"x", "w"}, {"y"});
  add_named(m, "mi", "MatMulInteger", {"i", "v"}, {"z"});
  add_output(m, "y", {2, 8});
  add_output(m, "z", {2, columns}, pb::TensorProto::INT32);
  return m;
}

pb::ModelProto merged_model() {
  pb::ModelProto m = empty_model();
  add_input(m, "x", {1, 4, 8, 8});
  add_weights(m, "w", {4, 4, 1, 1});
  add_named(m, "c", "Conv", {"x", "w"}, {"c_out"});
  add_norm(m, "c_out", "bn_out");
  add_named(m, "r", "Relu", {"bn_out"}, {"r_out"});
  add_named(m, "flat", "Flatten", {"r_out"}, {"y"});
  add_output(m, "y", {1, 256});
  return m;
}

}  // namespace mrvlc::test
