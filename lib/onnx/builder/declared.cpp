// Sizes that are known at run time only need a bound: where an operator's operands give none, the shape that
// the model declares for the value does. A declared dimension of a shape that operands decide (Reshape,
// Slice, Expand...) is taken at its word, and checked at run time; of a shape that depends on data (NonZero,
// Unique...) it is a bound.
#include <algorithm>

#include "builder/builder.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

const pb::TypeProto::Tensor* tensor_of(const pb::TypeProto& type) {
  if (type.has_tensor_type()) return &type.tensor_type();
  if (type.has_optional_type()) return tensor_of(type.optional_type().elem_type());
  if (type.has_sequence_type() && type.sequence_type().elem_type().has_tensor_type())
    return &type.sequence_type().elem_type().tensor_type();
  return nullptr;
}

// Could the value have the declared shape? `declared` has -1 where the model says nothing.
bool possible(const Shape& declared, const TensorType& type) {
  int64_t elements = 1;
  bool complete = true;
  for (size_t d = 0; d < declared.size(); ++d) {
    complete = complete && declared[d] >= 0;
    if (type.is_dynamic(static_cast<int64_t>(d)) && type.shape[d] != kNoBound && declared[d] > type.shape[d])
      return false;
    elements = checked_mul(elements, std::max<int64_t>(declared[d], 0)).value_or(kMaxElements);
  }
  return !complete || type.capacity < 0 || elements <= type.capacity;
}

void apply(const Shape& declared, bool only_bounds, TensorType& type) {
  if (!type.has_rank() && type.wrapper == Wrapper::None) {
    // A tensor of a sequence whose tensors differ in rank: the model must say which it is here.
    type.shape.assign(declared.size(), kNoBound);
    type.dynamic = (1u << declared.size()) - 1;
  }
  if (static_cast<int64_t>(declared.size()) != type.rank()) return;
  // A size that the value cannot have is a mistake of the model; what inference says holds.
  if (!only_bounds && !possible(declared, type)) return;
  for (int64_t d = 0; d < type.rank(); ++d) {
    const int64_t size = declared[static_cast<size_t>(d)];
    int64_t& bound = type.shape[static_cast<size_t>(d)];
    if (!type.is_dynamic(d) || size < 0) continue;
    if (only_bounds) {
      if (bound == kNoBound) bound = size;
    } else {
      bound = size;
      type.dynamic &= ~(1u << d);
    }
  }
}

// Nothing when no shape is declared.
std::optional<Shape> declared_shape(const pb::TypeProto& type) {
  Shape shape;
  const auto* tensor = tensor_of(type);
  if (tensor == nullptr || !tensor->has_shape()) return std::nullopt;
  for (int d = 0; d < std::min<int>(tensor->shape().dim_size(), kMaxRank); ++d) {
    const auto& dim = tensor->shape().dim(d);
    shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  }
  return shape;
}

// Does nothing bound one of the dimensions? An empty tensor costs nothing, whatever its dimensions.
bool unbounded(TensorType& type, int64_t max_dynamic) {
  for (int64_t d = 0; d < type.rank(); ++d) {
    int64_t& bound = type.shape[static_cast<size_t>(d)];
    if (!type.is_dynamic(d) || bound != kNoBound) continue;
    if (type.capacity < 0) return true;
    bound = type.capacity > 0 ? type.capacity : max_dynamic;
  }
  if (type.dynamic == 0) type.capacity = -1;
  return false;
}

}  // namespace

void Builder::note_declared(Scope& scope, const pb::GraphProto& graph) {
  for (const auto* list : {&graph.value_info(), &graph.output()}) {
    for (const auto& info : *list) scope.declared.emplace(info.name(), &info.type());
  }
}

void Builder::bound_by(const pb::TypeProto& declared, bool only_bounds, TensorType& type) {
  if (auto shape = declared_shape(declared)) apply(*shape, only_bounds, type);
}

Status Builder::finish_bounds(const Site& site, const std::string& name, TensorType& type) {
  auto given = options_.bounds.find(name);
  if (given == options_.bounds.end()) given = options_.bounds.find(printable(name, 1u << 20));
  if (site.scope.is_main() && given != options_.bounds.end()) apply(given->second, true, type);
  if (!type.has_rank() && type.wrapper == Wrapper::None)
    return make_diag<DiagCode::MRV0208>(
        fmt::format("the rank of '{}' is known at run time only", printable(name)));
  if (type.length == kNoBound) type.length = options_.max_sequence;
  if (unbounded(type, options_.max_dynamic)) {
    // Nothing says how large it can be. A tensor of moderate size runs; a larger one is an error at run time.
    int64_t known = 1;
    for (int64_t& bound : type.shape) {
      if (bound != kNoBound) known = checked_mul(known, std::max<int64_t>(bound, 1)).value_or(kMaxElements);
      if (bound == kNoBound) bound = options_.max_dynamic;
    }
    type.capacity = std::max(known, options_.max_dynamic);
    sink_.add(at_node(make_diag<DiagCode::MRV0144>(printable(name), type.capacity, printable(name)),
                      shown_name(site), site.node.op_type()));
  }
  return ops::check_size(type);
}

Status Builder::bound_types(const Site& site, const ops::OpDef& op, Pending& pending) {
  // Sizes that come from dynamic operands are what inference says.
  auto dynamic = [&](ir::ValueId in) { return in.valid() && !graph_->value(in).type.is_static(); };
  const bool only_bounds =
      ops::has_data_dependent_shape(op) || std::any_of(pending.inputs.begin(), pending.inputs.end(), dynamic);
  for (size_t k = 0; k < pending.types.size() && k < static_cast<size_t>(site.node.output_size()); ++k) {
    TensorType& type = pending.types[k];
    if (type.dynamic == 0 && type.length != kNoBound) continue;
    const std::string& name = site.node.output(static_cast<int>(k));
    if (auto it = site.scope.declared.find(name); it != site.scope.declared.end())
      bound_by(*it->second, only_bounds, type);
    MRVLC_TRY(finish_bounds(site, name, type));
  }
  return {};
}

}  // namespace mrvlc::onnx
