// Operators of com.microsoft, which ONNX Runtime's optimizer and quantizer write and exporters with it. Each
// is taken apart into the operators of ONNX that define it, so that shapes, C and the accelerator need
// nothing new.
#pragma once
#include <functional>
#include <set>
#include <span>

#include "file/proto.h"
#include "mrvlc/support/result.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::onnx {

// The operators of ONNX that these are written in: opset 24.
inline constexpr int64_t kContribOpset = 24;

// One node that is taken apart. A decomposition adds the nodes of its body, which read the inputs as in(k).
class Decomposition {
 public:
  using FindAttribute = std::function<const pb::AttributeProto*(std::string_view)>;
  // `values` of inputs that are known at import; null: not known.
  Decomposition(const pb::NodeProto& node, std::vector<const TensorType*> types,
                std::vector<const Tensor*> values, FindAttribute find);

  // Inputs; one that is left out has neither name nor type.
  bool has(size_t k) const { return k < types_.size() && types_[k] != nullptr; }
  std::string in(size_t k) const { return has(k) ? fmt::format("in{}", k) : std::string(); }
  // An input that is left out has the type of nothing, which no operator takes.
  const TensorType& type(size_t k) const;
  size_t inputs() const { return types_.size(); }
  // nullptr: it is not known at import.
  const Tensor* value(size_t k) const { return k < values_.size() ? values_[k] : nullptr; }
  // Is this output asked for?
  bool wants(int k) const { return k < node_.output_size() && !node_.output(k).empty(); }

  const pb::AttributeProto* attribute(std::string_view name) const;
  int64_t int_attr(std::string_view name, int64_t otherwise) const;
  float float_attr(std::string_view name, float otherwise) const;
  std::string string_attr(std::string_view name) const;
  std::vector<float> floats_attr(std::string_view name) const;

  // Adds a node; the name of its first output.
  std::string add(std::string_view op, const std::vector<std::string>& inputs, int outputs = 1);
  // Output k of the node that made `first`.
  static std::string also(const std::string& first, int k) { return fmt::format("{}.{}", first, k); }
  // Attributes of the node added last.
  Decomposition& set(std::string_view name, int64_t value);
  Decomposition& set(std::string_view name, float value);
  Decomposition& set(std::string_view name, std::string_view value);
  Decomposition& set(std::string_view name, const std::vector<int64_t>& values);
  Decomposition& set(std::string_view name, std::span<const float> values);
  // Gives the node added last the attributes of these names, where the node taken apart has them.
  void pass(std::initializer_list<std::string_view> names);
  std::string constant(const std::vector<int64_t>& values);  // of rank 1
  std::string number(int64_t value);                         // of rank 0
  std::string scalar(float value, const std::string& like);  // of the element type of that value
  std::string cast(const std::string& x, ElementType to);

  // Movement. In `dims` 0 keeps a dimension and -1 is what is left.
  std::string reshape(const std::string& x, const std::vector<int64_t>& dims);
  std::string transpose(const std::string& x, const std::vector<int64_t>& perm);
  std::string concat(const std::vector<std::string>& parts, int64_t axis);
  // Elements from `from` up to `to` along an axis, both tensors of one element.
  std::string slice(const std::string& x, const std::string& from, const std::string& to, int64_t axis);
  std::string slice(const std::string& x, int64_t from, int64_t to, int64_t axis) {
    return slice(x, constant({from}), constant({to}), axis);
  }
  // One place along an axis, which goes.
  std::string pick(const std::string& x, int64_t at, int64_t axis);
  std::string size(const std::string& x, int64_t axis);  // i64 [1]
  std::string count(const std::string& n);               // 0, 1, .. n - 1 in i64

  void result(int k, std::string name) {
    if (wants(k)) results_[static_cast<size_t>(k)] = std::move(name);
  }
  const std::vector<std::string>& results() const { return results_; }
  // What an attribute that is there must be, since nothing else is supported.
  Status expect(std::string_view name, int64_t value) const;
  // The input must not be there.
  Status refuse(size_t k, std::string_view name) const;
  Status refuse_output(int k, std::string_view name) const;
  Nodes& nodes() { return nodes_; }
  // What is said about the node beside errors.
  void remark(Diag diag) { remarks_.push_back(std::move(diag)); }
  const std::vector<Diag>& remarks() const { return remarks_; }
  // An attribute that the decomposition did not ask for.
  const pb::AttributeProto* unread() const;

 private:
  pb::AttributeProto& new_attribute(std::string_view name, pb::AttributeProto::AttributeType type);

  const pb::NodeProto& node_;
  std::vector<const TensorType*> types_;
  std::vector<const Tensor*> values_;
  FindAttribute find_;
  mutable std::set<std::string, std::less<>> read_;
  Nodes nodes_;
  std::vector<Diag> remarks_;
  std::vector<std::string> results_;  // one an output; empty: not made
};

struct ContribOp {
  std::string_view domain, name;
  size_t min_inputs, max_inputs;
  Status (*expand)(Decomposition&);
  std::string_view made_of = "";  // the operators of ONNX that do the work, for the list of operators
};
inline constexpr size_t kAnyInputs = 1'000'000;

// One list a family.
const std::vector<ContribOp>& contrib_fused();
const std::vector<ContribOp>& contrib_norm();
const std::vector<ContribOp>& contrib_integer();
const std::vector<ContribOp>& contrib_qlinear();
const std::vector<ContribOp>& contrib_attention();
const std::vector<ContribOp>& contrib_group_query();
const std::vector<ContribOp>& contrib_weights();
const std::vector<ContribOp>& contrib_channels_last();
const std::vector<ContribOp>& contrib_plain();
const std::vector<ContribOp>& contrib_qonnx();

// Those of all families.
const std::vector<ContribOp>& contrib_ops();

// nullptr: no such operator.
const ContribOp* find_contrib(std::string_view domain, std::string_view name);

}  // namespace mrvlc::onnx
