// Operators whose result is known at compile time: Constant, ConstantOfShape, Shape, Size, Range, EyeLike.
// They are folded before code is generated; the C they emit copies or fills the value.
#include <algorithm>
#include <cmath>

#include "common/dims.h"
#include "common/lanes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

constexpr std::string_view kFolded = "computed at compile time";

using Types = Result<std::vector<TensorType>>;

// -- Constant

template <class T>
Tensor vector_of(ElementType elem, const std::vector<T>& values) {
  return Tensor::of(elem, {static_cast<int64_t>(values.size())}, values);
}

Tensor attr_tensor(std::string_view name, const ir::Attr& attr) {
  if (name == "value") return std::get<Tensor>(attr);
  if (name == "value_int") return Tensor::of<int64_t>(E::I64, {}, {std::get<int64_t>(attr)});
  if (name == "value_float") return Tensor::of<float>(E::F32, {}, {std::get<float>(attr)});
  if (name == "value_ints") return vector_of(E::I64, std::get<std::vector<int64_t>>(attr));
  if (name == "value_floats") return vector_of(E::F32, std::get<std::vector<float>>(attr));
  if (name == "value_string") return Tensor::strings({}, {std::get<std::string>(attr)});
  const auto& strings = std::get<std::vector<std::string>>(attr);
  return Tensor::strings({static_cast<int64_t>(strings.size())}, strings);
}

Result<Tensor> constant_value(const InferContext& context) {
  const ir::AttrSpec* found = nullptr;
  for (const ir::AttrSpec& attr : context.op->attrs) {
    if (!is_attr_set(context, attr.name)) continue;
    if (found != nullptr) return bad_attr(attr.name, fmt::format("is given beside '{}'", found->name));
    found = &attr;
  }
  if (found == nullptr) return bad_operands("no value is given");
  return attr_tensor(found->name, context.attr(found->name));
}

// A sparse value is read as the dense one that it stands for.
Status upgrade_constant(RawNode& node) {
  ir::Attr sparse = node.take("sparse_value");
  if (!ir::is_set(sparse)) return {};
  if (node.find("value") != nullptr) return bad_attr("sparse_value", "is given beside 'value'");
  node.attrs.emplace_back("value", std::move(sparse));
  return {};
}

Types infer_constant(const InferContext& context) {
  MRVLC_ASSIGN(Tensor value, constant_value(context));
  return std::vector<TensorType>{value.type()};
}

Status eval_constant(const EvalContext& context) {
  MRVLC_ASSIGN(context.out(), constant_value(context.infer_view()));
  return {};
}

Status emit_constant(EmitContext& context) {
  MRVLC_ASSIGN(Tensor value, constant_value(emit_view(context)));
  emit_constant_output(context, value);
  return {};
}

// -- ConstantOfShape

Result<Tensor> fill_value(const InferContext& context) {
  if (!is_attr_set(context, "value")) return Tensor(TensorType{E::F32, {}});
  const auto& value = std::get<Tensor>(context.attr("value"));
  if (value.elements() != 1 || byte_size(value.elem()) == 0) return bad_attr("value", "must be one number");
  return value;
}

Types infer_constant_of_shape(const InferContext& context) {
  MRVLC_ASSIGN(Tensor value, fill_value(context));
  MRVLC_ASSIGN(auto shape, known_ints(context, 0, "shape", kMaxRank));
  for (int64_t dim : shape) MRVLC_TRY(check_dim(dim, "a dimension"));
  return one_type(value.elem(), shape);
}

Status eval_constant_of_shape(const EvalContext& context) {
  MRVLC_ASSIGN(Tensor value, fill_value(context.infer_view()));
  auto one = value.bytes();
  auto all = context.out().mutable_data<std::byte>();
  for (size_t i = 0; i < all.size(); ++i) all[i] = one[i % one.size()];
  return {};
}

Types infer_dynamic_constant_of_shape(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_ASSIGN(int64_t rank, known_length(context, 0, "shape"));
  MRVLC_ASSIGN(Tensor value, fill_value(context));
  return one_type(value.elem(), Dims(at(rank), kAnyDim));
}

Status emit_constant_of_shape(EmitContext& context) {
  MRVLC_ASSIGN(Tensor value, fill_value(emit_view(context)));
  Texts dims;
  for (int64_t d = 0; d < context.out_type(0).rank(); ++d) dims.push_back(int_operand(context, 0, d));
  context.set_dims(0, dims);
  open_loop(context, "i", product_text(out_dims(context)));
  context.line(fmt::format("{}[i] = {};", context.out(0), element_literal(value, 0)));
  context.close();
  return {};
}

// -- Shape, Size

// First and one past the last dimension that Shape gives.
std::pair<int64_t, int64_t> shape_range(const InferContext& context) {
  int64_t rank = context.type(0).rank();
  auto position = [rank](int64_t v) { return v < -rank ? 0 : v > rank ? rank : v < 0 ? v + rank : v; };
  int64_t start = position(context.int_attr("start"));
  int64_t end = is_attr_set(context, "end") ? position(context.int_attr("end")) : rank;
  return {start, std::max(start, end)};
}

// The result's type is known where its values are not.
Types infer_shape(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  if (context.op->kind == Op::Size) return one_type(E::I64, Dims());
  auto [start, end] = shape_range(context);
  return one_type(E::I64, Dims{Dim{end - start, false}});
}

Status eval_shape(const EvalContext& context) {
  const Shape& x = context.in(0).shape();
  if (context.op->kind == Op::Size) {
    context.out().set_int(0, element_count(x));
    return {};
  }
  auto [start, end] = shape_range(context.infer_view());
  for (int64_t d = start; d < end; ++d) context.out().set_int(d - start, x[at(d)]);
  return {};
}

Status emit_shape(EmitContext& context) {
  Texts dims = in_dims(context, 0), values{product_text(dims)}, shape;
  if (context.node().op->kind != Op::Size) {
    auto [start, end] = shape_range(emit_view(context));
    values.assign(dims.begin() + start, dims.begin() + end);
    shape.push_back(fmt::format("{}", end - start));
  }
  context.set_dims(0, shape);
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& v = values[i];
    context.line(fmt::format("{}[{}] = {};", context.out(0), i,
                             is_number(v) ? c_literal(int64_t{std::stoll(v)}, E::I64) : v));
  }
  return {};
}

// -- Range

struct RangeParams {
  double start = 0, delta = 0;
  int64_t int_start = 0, int_delta = 0, count = 0;
};

Result<RangeParams> range_params(const InferContext& context) {
  RangeParams r;
  MRVLC_TRY(check_same_elem(context, 1));
  MRVLC_TRY(check_same_elem(context, 2));
  MRVLC_ASSIGN(r.start, known_number(context, 0, "start"));
  MRVLC_ASSIGN(double limit, known_number(context, 1, "limit"));
  MRVLC_ASSIGN(r.delta, known_number(context, 2, "delta"));
  if (r.delta == 0) return bad_operands("delta is 0");
  if (is_integer(context.type(0).elem)) {
    r.int_start = context.constant(0)->as_int(0);
    r.int_delta = context.constant(2)->as_int(0);
  }
  double count = std::ceil((limit - r.start) / r.delta);
  if (count > static_cast<double>(kMaxElements)) return too_large();
  if (!(count >= -static_cast<double>(kMaxElements))) {
    return bad_operands(fmt::format("{} elements from {} to {} by {}", count, r.start, limit, r.delta));
  }
  r.count = count > 0 ? static_cast<int64_t>(count) : 0;
  return r;
}

Types infer_range(const InferContext& context) {
  MRVLC_ASSIGN(RangeParams r, range_params(context));
  return one_type(context.type(0).elem, {r.count});
}

Status eval_range(const EvalContext& context) {
  MRVLC_ASSIGN(RangeParams r, range_params(context.infer_view()));
  bool integers = is_integer(context.in(0).elem());
  for (int64_t i = 0; i < r.count; ++i) {
    if (integers) {
      auto value =
          static_cast<uint64_t>(r.int_start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(r.int_delta);
      context.out().set_int(i, static_cast<int64_t>(value));
    } else {
      context.out().set_double(i, r.start + static_cast<double>(i) * r.delta);
    }
  }
  return {};
}

Types infer_dynamic_range(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  for (size_t i = 0; i < 3; ++i) {
    MRVLC_TRY(check_same_elem(context, i));
    if (!context.type(i).is_static() || context.type(i).elements() != 1)
      return bad_operands(fmt::format("input {} must be one number", i));
  }
  return one_type(context.type(0).elem, Dims{kAnyDim});
}

// Sets the size of the result: as many steps as the reference counts, in double.
void set_steps(EmitContext& context) {
  std::string start = context.in(0) + "[0]", limit = context.in(1) + "[0]", delta = context.in(2) + "[0]";
  context.fail_if(fmt::format("{} == 0", delta));
  context.line(
      fmt::format("const double steps = ceil(((double){} - (double){}) / (double){});", limit, start, delta));
  context.fail_if(fmt::format("!(fabs(steps) <= {}.0)", kMaxElements));
  context.set_dims(0, {"(steps > 0 ? (int64_t)steps : 0)"});
}

Status emit_range(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  const ElementType elem = context.in_type(0).elem;
  if (is_dynamic(context)) set_steps(context);
  auto number = [&](size_t i) {
    const Tensor* known = context.constant(i);
    if (known == nullptr) return fmt::format("{}{}[0]", is_float(elem) ? "(double)" : "", context.in(i));
    return is_float(elem) ? c_literal(known->as_double(0), E::F64) : c_literal(known->as_int(0), E::I64);
  };
  const std::string start = number(0), delta = number(2);
  // Unsigned: between the extremes of the type a step times i may pass the signed range on the way.
  const std::string value = is_float(elem)
                                ? fmt::format("{} + {} * (double)i", start, delta)
                                : fmt::format("(uint64_t){} + (uint64_t){} * (uint64_t)i", start, delta);
  open_loop(context, "i", context.out_dim(0, 0));
  context.line(fmt::format("{}[i] = ({})({});", context.out(0), c_type(elem), value));
  context.close();
  return {};
}

// -- EyeLike

Types infer_eye_like(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 2, 2));
  const TensorType& x = context.type(0);
  ElementType elem = is_attr_set(context, "dtype") ? std::get<ElementType>(context.attr("dtype")) : x.elem;
  if (!kFixedSize.has(elem)) return bad_attr("dtype", fmt::format("is {}", name(elem)));
  return std::vector<TensorType>{x.with_elem(elem)};
}

// f(position) for every element of the diagonal.
template <class F>
void for_diagonal(const Shape& shape, int64_t k, F f) {
  k = std::max(-kMaxElements, std::min(k, kMaxElements));
  for (int64_t row = std::max<int64_t>(0, -k); row < shape[0] && row + k < shape[1]; ++row)
    f(row * shape[1] + row + k);
}

Status eval_eye_like(const EvalContext& context) {
  for_diagonal(context.out().shape(), context.infer_view().int_attr("k"),
               [&](int64_t i) { context.out().set_int(i, 1); });
  return {};
}

// Ones on the diagonal `columns + 1` apart, from the row it begins in to the one it ends in front of.
Status emit_eye_like(EmitContext& context) {
  context.set_dims(0, in_dims(context, 0));
  const Texts dims = out_dims(context);
  const std::string &rows = dims[0], &columns = dims[1];
  const int64_t k = std::clamp(context.node().int_attr("k"), -kMaxElements, kMaxElements);
  const int64_t first = std::max<int64_t>(0, -k);
  const auto known = numbers_of(dims);
  const std::string count =
      known ? fmt::format("{}", std::min((*known)[0], (*known)[1] - k) - first)
            : fmt::format("({0} < {1} - {2} ? {0} : {1} - {2}) - {3}", rows, columns, signed_text(k), first);
  Tensor one(TensorType{context.out_type(0).elem, {}});
  one.set_int(0, 1);
  open_loop(context, "i", product_text(dims));
  context.line(fmt::format("{}[i] = 0;", context.out(0)));
  context.close();
  if (known && (count == "0" || count.starts_with('-'))) return {};
  const std::string apart = sum_text({columns, "1"});
  open_loop(context, "i", count);
  context.line(fmt::format(
      "{}[i * {} + {}] = {};", context.out(0), is_number(apart) ? apart : fmt::format("({})", apart),
      sum_text({product_text({fmt::format("{}", first), columns}), fmt::format("{}", first + k)}),
      element_literal(one, 0)));
  context.close();
  return {};
}

OpDef folded(std::string_view name, int inputs, Types (*infer)(const InferContext&),
             Status (*eval)(const EvalContext&), Status (*emit)(EmitContext&)) {
  OpDef d;
  d.name = name;
  d.min_inputs = d.max_inputs = inputs;
  d.infer = infer;
  d.eval = eval;
  d.emit = emit;
  d.declined = kFolded;
  return d;
}

}  // namespace

const OpDef& def_Constant() {
  static const OpDef def = [] {
    OpDef d = folded("Constant", 0, infer_constant, eval_constant, emit_constant);
    d.attrs = {
        optional("value", ir::AttrKind::Tensor),         optional("value_float", ir::AttrKind::Float),
        optional("value_floats", ir::AttrKind::Floats),  optional("value_int", ir::AttrKind::Int),
        optional("value_ints", ir::AttrKind::Ints),      optional("value_string", ir::AttrKind::String),
        optional("value_strings", ir::AttrKind::Strings)};
    d.traits = {.work = Work::Linear};
    d.upgrade = upgrade_constant;
    return d;
  }();
  return def;
}

const OpDef& def_ConstantOfShape() {
  static const OpDef def = [] {
    OpDef d =
        folded("ConstantOfShape", 1, infer_constant_of_shape, eval_constant_of_shape, emit_constant_of_shape);
    d.attrs = {optional("value", ir::AttrKind::Tensor)};
    d.infer_dynamic = infer_dynamic_constant_of_shape;
    d.emit_dynamic = emit_constant_of_shape;
    d.types = types_of({E::I64});
    d.since_min = 9;
    d.traits = {.work = Work::Linear};
    return d;
  }();
  return def;
}

const OpDef& def_Shape() {
  static const OpDef def = [] {
    OpDef d = folded("Shape", 1, infer_shape, eval_shape, emit_shape);
    d.attrs = {optional("end", ir::AttrKind::Int), with_int("start", 0)};
    d.infer_dynamic = infer_shape;
    d.emit_dynamic = emit_shape;
    d.traits = {.work = Work::Linear};
    return d;
  }();
  return def;
}

const OpDef& def_Size() {
  static const OpDef def = [] {
    OpDef d = folded("Size", 1, infer_shape, eval_shape, emit_shape);
    d.infer_dynamic = infer_shape;
    d.emit_dynamic = emit_shape;
    d.traits = {.work = Work::Linear};
    return d;
  }();
  return def;
}

const OpDef& def_Range() {
  static const OpDef def = [] {
    OpDef d = folded("Range", 3, infer_range, eval_range, emit_range);
    d.infer_dynamic = infer_dynamic_range;
    d.emit_dynamic = emit_range;
    d.types = types_of({E::F32, E::F64, E::F16, E::BF16, E::I16, E::I32, E::I64});
    d.since_min = 11;
    d.traits = {.work = Work::Linear};
    return d;
  }();
  return def;
}

const OpDef& def_EyeLike() {
  static const OpDef def = [] {
    OpDef d = folded("EyeLike", 1, infer_eye_like, eval_eye_like, emit_eye_like);
    d.infer_dynamic = infer_eye_like;
    d.emit_dynamic = emit_eye_like;
    d.attrs = {optional("dtype", ir::AttrKind::Type), with_int("k", 0)};
    d.types = kFixedSize;
    d.since_min = 9;
    d.traits = {.work = Work::Linear};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
