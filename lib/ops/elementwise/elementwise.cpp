// Definition, upgrade, inference and C patterns shared by element-wise operators.
#include "elementwise/elementwise.h"

#include <stdexcept>

#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

// Opsets 1 to 6: `broadcast` = 1 aligns the second operand to dimension `axis` of the first (default: the
// last ones).
Status upgrade_broadcast(RawNode& node) {
  ir::Attr broadcast = node.take("broadcast"), axis = node.take("axis");
  const auto* enabled = std::get_if<int64_t>(&broadcast);
  const auto* given = std::get_if<int64_t>(&axis);
  const TensorType *a = node.input_type(0), *b = node.input_type(1);
  if (enabled == nullptr || *enabled == 0 || given == nullptr || a == nullptr || b == nullptr) return {};
  MRVLC_ASSIGN(int64_t at_axis, normalize_axis(*given, std::max<int64_t>(a->rank(), 1)));
  int64_t trailing = a->rank() - at_axis - b->rank();
  if (trailing < 0)
    return make_diag<DiagCode::MRV0205>(to_string(a->shape), to_string(b->shape), "axis is too large");
  if (trailing == 0) return {};
  Shape shape = b->shape;
  shape.insert(shape.end(), static_cast<size_t>(trailing), 1);
  node.reshapes.emplace_back(1, std::move(shape));
  return {};
}

std::string_view unsigned_arithmetic(ElementType elem) {
  return byte_size(elem) == 8 ? "uint64_t" : "uint32_t";
}

}  // namespace

Status upgrade_elementwise(RawNode& node) {
  node.take("consumed_inputs");
  return node.opset < 7 ? upgrade_broadcast(node) : Status();
}

Result<Shape> broadcast_inputs(const InferContext& c, size_t first, size_t last) {
  Shape shape;
  for (size_t i = first; i < last && i < c.num_inputs(); ++i) {
    if (!c.has(i)) continue;
    auto merged = broadcast_shapes(shape, c.type(i).shape);
    if (!merged) {
      return make_diag<DiagCode::MRV0205>(to_string(shape), to_string(c.type(i).shape),
                                          "they do not broadcast");
    }
    shape = *std::move(merged);
  }
  return shape;
}

Result<std::vector<TensorType>> infer_elementwise(const InferContext& c) {
  for (size_t i = 1; i < c.num_inputs(); ++i) {
    if (c.has(i)) MRVLC_TRY(check_same_elem(c, i));
  }
  MRVLC_ASSIGN(Shape shape, broadcast_inputs(c, 0, c.num_inputs()));
  return one_type(c.type(0).elem, std::move(shape));
}

Result<std::vector<TensorType>> infer_predicate(const InferContext& c) {
  MRVLC_ASSIGN(auto types, infer_elementwise(c));
  types[0].elem = ElementType::Bool;
  return types;
}

OpDef elementwise(std::string_view name, int arity, TypeSet types, const ScalarOp& scalar,
                  std::vector<ir::AttrSpec> attrs) {
  OpDef op;
  op.name = name;
  op.attrs = std::move(attrs);
  op.min_inputs = op.max_inputs = arity;
  op.types = types;
  op.upgrade = upgrade_elementwise;
  op.infer = infer_elementwise;
  op.eval = eval_elementwise;
  op.scalar = &scalar;
  op.infer_dynamic = infer_dynamic_elementwise;
  op.emit = op.emit_dynamic = emit_elementwise;
  op.accel = {LayerKind::Elementwise};
  return op;
}

OpDef host_only(OpDef op, std::string_view reason) {
  op.accel = {};
  op.declined = reason;
  return op;
}

namespace {

// What a pattern's field stands for; an attribute's literal is made only where it is asked for.
std::string field_text(std::string_view field, EmitContext& context, const std::vector<std::string>& x,
                       ElementType elem) {
  const ir::Node& node = context.node();
  constexpr std::string_view kOperands[] = {"x", "y", "z"};
  for (size_t i = 0; i < x.size() && i < std::size(kOperands); ++i) {
    if (field == kOperands[i]) return x[i];
  }
  if (field == "t") return std::string(c_type(elem));
  if (field == "u") return std::string(unsigned_arithmetic(elem));
  if (field == "f") return elem == ElementType::F64 ? "" : "f";
  if (std::string function = math_function(context, field, elem); !function.empty()) return function;
  const int at = node.op->attr_index(field);
  if (at < 0) throw std::logic_error(fmt::format("a C pattern has the unknown field {{{}}}", field));
  const ir::Attr& attr = node.attrs[static_cast<size_t>(at)];
  if (const auto* f = std::get_if<float>(&attr)) return c_literal(static_cast<double>(*f), elem);
  return c_literal(std::get<int64_t>(attr), elem);
}

}  // namespace

// Not fmt's named arguments: they are all made for every node, and this is called for every node.
std::string expand_pattern(std::string_view pattern, EmitContext& context, const std::vector<std::string>& x,
                           ElementType elem) {
  std::string expr;
  for (size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    const bool brace = c == '{' || c == '}';
    if (!brace || (at + 1 < pattern.size() && pattern[at + 1] == c)) {  // "{{" is a brace
      expr += c;
      at += brace ? 2 : 1;
      continue;
    }
    const size_t end = pattern.find('}', at);
    expr += field_text(pattern.substr(at + 1, end - at - 1), context, x, elem);
    at = end + 1;
  }
  return is_float(elem) ? expr : fmt::format("({})({})", c_type(elem), expr);
}

}  // namespace mrvlc::ops
