// The writer of a decomposition: nodes, constants, attributes read.
#include "contrib/contrib.h"

#include <algorithm>

#include "mrvlc/onnx/taken_apart.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {

Decomposition::Decomposition(const pb::NodeProto& node, std::vector<const TensorType*> types,
                             std::vector<const Tensor*> values, FindAttribute find)
    : node_(node),
      types_(std::move(types)),
      values_(std::move(values)),
      find_(std::move(find)),
      results_(static_cast<size_t>(node.output_size())) {}

const TensorType& Decomposition::type(size_t k) const {
  static const TensorType kNothing;
  return has(k) ? *types_[k] : kNothing;
}

const pb::AttributeProto* Decomposition::attribute(std::string_view name) const {
  read_.emplace(name);
  return find_(name);
}

int64_t Decomposition::int_attr(std::string_view name, int64_t otherwise) const {
  const auto* a = attribute(name);
  return a == nullptr ? otherwise : a->i();
}

float Decomposition::float_attr(std::string_view name, float otherwise) const {
  const auto* a = attribute(name);
  return a == nullptr ? otherwise : a->f();
}

std::string Decomposition::string_attr(std::string_view name) const {
  const auto* a = attribute(name);
  return a == nullptr ? "" : a->s();
}

std::vector<float> Decomposition::floats_attr(std::string_view name) const {
  const auto* a = attribute(name);
  return a == nullptr ? std::vector<float>{} : std::vector<float>(a->floats().begin(), a->floats().end());
}

std::string Decomposition::add(std::string_view op, const std::vector<std::string>& inputs, int outputs) {
  std::string first = fmt::format("v{}", nodes_.size());
  pb::NodeProto& node = *nodes_.Add();
  node.set_op_type(std::string(op));
  for (const std::string& input : inputs) node.add_input(input);
  for (int k = 0; k < outputs; ++k) node.add_output(k == 0 ? first : also(first, k));
  return first;
}

pb::AttributeProto& Decomposition::new_attribute(std::string_view name,
                                                 pb::AttributeProto::AttributeType type) {
  pb::AttributeProto& a = *nodes_.Mutable(nodes_.size() - 1)->add_attribute();
  a.set_name(std::string(name));
  a.set_type(type);
  return a;
}

Decomposition& Decomposition::set(std::string_view name, int64_t value) {
  new_attribute(name, pb::AttributeProto::INT).set_i(value);
  return *this;
}

Decomposition& Decomposition::set(std::string_view name, float value) {
  new_attribute(name, pb::AttributeProto::FLOAT).set_f(value);
  return *this;
}

Decomposition& Decomposition::set(std::string_view name, std::string_view value) {
  new_attribute(name, pb::AttributeProto::STRING).set_s(std::string(value));
  return *this;
}

Decomposition& Decomposition::set(std::string_view name, const std::vector<int64_t>& values) {
  pb::AttributeProto& a = new_attribute(name, pb::AttributeProto::INTS);
  for (int64_t v : values) a.add_ints(v);
  return *this;
}

Decomposition& Decomposition::set(std::string_view name, std::span<const float> values) {
  pb::AttributeProto& a = new_attribute(name, pb::AttributeProto::FLOATS);
  for (float v : values) a.add_floats(v);
  return *this;
}

void Decomposition::pass(std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    const auto* given = attribute(name);
    if (given == nullptr) continue;
    pb::AttributeProto& copy = *nodes_.Mutable(nodes_.size() - 1)->add_attribute();
    copy = *given;
    copy.set_name(std::string(name));
  }
}

std::string Decomposition::constant(const std::vector<int64_t>& values) {
  std::string name = add("Constant", {});
  set("value_ints", values);
  return name;
}

std::string Decomposition::scalar(float value, const std::string& like) {
  std::string name = add("Constant", {});
  set("value_float", value);
  return add("CastLike", {name, like});
}

std::string Decomposition::number(int64_t value) {
  std::string name = add("Constant", {});
  set("value_int", value);
  return name;
}

std::string Decomposition::reshape(const std::string& x, const std::vector<int64_t>& dims) {
  return add("Reshape", {x, constant(dims)});
}

std::string Decomposition::transpose(const std::string& x, const std::vector<int64_t>& perm) {
  std::string y = add("Transpose", {x});
  set("perm", perm);
  return y;
}

std::string Decomposition::concat(const std::vector<std::string>& parts, int64_t axis) {
  std::string y = add("Concat", parts);
  set("axis", axis);
  return y;
}

std::string Decomposition::slice(const std::string& x, const std::string& from, const std::string& to,
                                 int64_t axis) {
  return add("Slice", {x, from, to, constant({axis})});
}

std::string Decomposition::pick(const std::string& x, int64_t at, int64_t axis) {
  std::string y = add("Gather", {x, number(at)});
  set("axis", axis);
  return y;
}

std::string Decomposition::size(const std::string& x, int64_t axis) {
  std::string y = add("Shape", {x});
  set("start", axis).set("end", axis + 1);
  return y;
}

std::string Decomposition::count(const std::string& n) {
  return add("Range", {number(0), add("Squeeze", {n}), number(1)});
}

Status Decomposition::expect(std::string_view name, int64_t value) const {
  const int64_t given = int_attr(name, value);
  if (given == value) return {};
  return make_diag<DiagCode::MRV0140>(name, fmt::format("{} is not supported", given));
}

Status Decomposition::refuse(size_t k, std::string_view name) const {
  if (!has(k)) return {};
  return make_diag<DiagCode::MRV0208>(fmt::format("input {} ({}) is not supported", k, name));
}

Status Decomposition::refuse_output(int k, std::string_view name) const {
  if (!wants(k)) return {};
  return make_diag<DiagCode::MRV0208>(fmt::format("output {} ({}) is not supported", k, name));
}

std::string Decomposition::cast(const std::string& x, ElementType to) {
  std::string name = add("Cast", {x});
  set("to", static_cast<int64_t>(to));
  return name;
}

const pb::AttributeProto* Decomposition::unread() const {
  for (const auto& a : node_.attribute()) {
    if (read_.count(a.name()) == 0) return &a;
  }
  return nullptr;
}

const std::vector<ContribOp>& contrib_ops() {
  static const std::vector<ContribOp> ops = [] {
    std::vector<ContribOp> all;
    for (const auto* family : {&contrib_fused(), &contrib_norm(), &contrib_integer(), &contrib_qlinear(),
                               &contrib_attention(), &contrib_group_query(), &contrib_weights(),
                               &contrib_channels_last(), &contrib_plain(), &contrib_qonnx()})
      all.insert(all.end(), family->begin(), family->end());
    return all;
  }();
  return ops;
}

std::vector<TakenApart> taken_apart() {
  std::vector<TakenApart> list;
  for (const ContribOp& op : contrib_ops()) {
    TakenApart entry{op.domain, op.name, op.made_of};
    // The table has its later forms.
    const ops::OpDef* own = ops::find_op(op.domain, op.name);
    if (own != nullptr) entry.since_max = own->since_min - 1;
    list.push_back(entry);
  }
  list.push_back({"ai.onnx.preview", "FlexAttention", "MatMul, the graphs of the node, Softmax, MatMul"});
  std::sort(list.begin(), list.end(), [](const TakenApart& a, const TakenApart& b) {
    return std::pair(a.domain, a.name) < std::pair(b.domain, b.name);
  });
  return list;
}

const ContribOp* find_contrib(std::string_view domain, std::string_view name) {
  const auto& all = contrib_ops();
  auto it = std::find_if(all.begin(), all.end(),
                         [&](const ContribOp& op) { return op.domain == domain && op.name == name; });
  return it == all.end() ? nullptr : &*it;
}

}  // namespace mrvlc::onnx
