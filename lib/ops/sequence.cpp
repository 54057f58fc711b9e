// Sequences (ONNX SequenceAt-11, SequenceConstruct-11, SequenceEmpty-11, SequenceErase-11, SequenceInsert-11,
// SequenceLength-11, SplitToSequence-24, ConcatFromSequence-11, SequenceMap-17) and optionals (Optional-15,
// OptionalGetElement-18, OptionalHasElement-18).
#include "sequence.h"

#include <algorithm>

#include "mrvlc/ops/control_flow.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {

using namespace spec;

Status check_sequence(const InferContext& context, size_t i) {
  if (is_sequence(context.type(i))) return {};
  return bad_operands(fmt::format("input {} must be a sequence", i));
}

Status check_tensor(const InferContext& context, size_t i) {
  if (context.type(i).wrapper == Wrapper::None) return {};
  return bad_operands(fmt::format("input {} must be a tensor", i));
}

Tensor make_sequence(ElementType elem, std::vector<Tensor> items) {
  if (items.empty()) return Tensor::wrapped(sequence_type(TensorType{elem, {}}, 0), {});
  return wrap(Wrapper::Sequence, std::move(items));
}

Tensor wrap(Wrapper wrapper, std::vector<Tensor> items) {
  TensorType type;
  if (!items.empty()) type = items.front().type();
  if (wrapper == Wrapper::Sequence) {
    type = sequence_type(type, 0);
    for (const Tensor& item : items) {
      // Tensors of different elements cannot stand in one sequence; the first one's are told.
      if (auto joined = join_types(type, sequence_type(item.type(), 1))) {
        joined->length = type.length + 1;
        type = *joined;
      }
    }
  }
  type.wrapper = wrapper;
  return Tensor::wrapped(type, std::move(items));
}

namespace {

constexpr TypeSet kAny = {~0u};

Result<std::vector<TensorType>> infer_construct(const InferContext& context) {
  TensorType item = sequence_type(context.type(0), 1);
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    MRVLC_TRY(check_tensor(context, i));
    auto joined = join_types(item, sequence_type(context.type(i), 1));
    if (!joined) return bad_operands("the tensors of a sequence must have the same elements");
    item = *joined;
  }
  item.length = static_cast<int64_t>(context.num_inputs());
  return std::vector<TensorType>{item};
}

Status eval_construct(const EvalContext& context) {
  std::vector<Tensor> items;
  for (const Tensor* t : context.inputs) items.push_back(*t);
  context.out() = wrap(Wrapper::Sequence, std::move(items));
  return {};
}

ElementType empty_elem(const InferContext& context) {
  const ir::Attr& dtype = context.attr("dtype");
  return ir::is_set(dtype) ? std::get<ElementType>(dtype) : E::F32;
}

Result<std::vector<TensorType>> infer_empty(const InferContext& context) {
  return std::vector<TensorType>{sequence_type(TensorType{empty_elem(context), {}}, 0)};
}

Status eval_empty(const EvalContext& context) {
  context.out() = make_sequence(empty_elem(context.infer_view()), {});
  return {};
}

Status check_position(const InferContext& context, size_t i) {
  if (!context.has(i)) return {};
  MRVLC_TRY(check_elem(context, i, kIndices));
  MRVLC_TRY(check_tensor(context, i));
  if (context.type(i).is_static() && context.type(i).elements() != 1)
    return bad_operands("the position must be one number");
  return {};
}

Result<std::vector<TensorType>> infer_insert(const InferContext& context) {
  MRVLC_TRY(check_sequence(context, 0));
  MRVLC_TRY(check_tensor(context, 1));
  MRVLC_TRY(check_position(context, 2));
  auto joined = join_types(context.type(0), sequence_type(context.type(1), 1));
  if (!joined) return bad_operands("the tensor's elements are not those of the sequence");
  joined->length = context.type(0).length + 1;
  return std::vector<TensorType>{*joined};
}

// Positions count from the back when they are negative; `end`: the number of valid ones.
Result<size_t> position(const EvalContext& context, size_t i, int64_t count, int64_t end, int64_t otherwise) {
  int64_t p = context.has(i) ? context.in(i).as_int(0) : otherwise;
  if (p < 0 && context.has(i)) p += count;
  if (p < 0 || p >= end) return bad_operands(fmt::format("position {} of {} tensors", p, count));
  return static_cast<size_t>(p);
}

Status eval_insert(const EvalContext& context) {
  std::vector<Tensor> items = context.in(0).items();
  const auto count = static_cast<int64_t>(items.size());
  MRVLC_ASSIGN(size_t at, position(context, 2, count, count + 1, count));
  items.insert(items.begin() + static_cast<ptrdiff_t>(at), context.in(1));
  context.out() = make_sequence(context.in(1).elem(), std::move(items));
  return {};
}

Result<std::vector<TensorType>> infer_erase(const InferContext& context) {
  MRVLC_TRY(check_sequence(context, 0));
  MRVLC_TRY(check_position(context, 1));
  return std::vector<TensorType>{context.type(0)};
}

Status eval_erase(const EvalContext& context) {
  std::vector<Tensor> items = context.in(0).items();
  const auto count = static_cast<int64_t>(items.size());
  MRVLC_ASSIGN(size_t at, position(context, 1, count, count, count - 1));
  items.erase(items.begin() + static_cast<ptrdiff_t>(at));
  context.out() = make_sequence(context.in(0).elem(), std::move(items));
  return {};
}

Result<std::vector<TensorType>> infer_at(const InferContext& context) {
  MRVLC_TRY(check_sequence(context, 0));
  MRVLC_TRY(check_position(context, 1));
  return std::vector<TensorType>{item_type(context.type(0))};
}

Status eval_at(const EvalContext& context) {
  const auto& items = context.in(0).items();
  const auto count = static_cast<int64_t>(items.size());
  MRVLC_ASSIGN(size_t at, position(context, 1, count, count, 0));
  context.out() = items[at];
  return {};
}

Result<std::vector<TensorType>> infer_length(const InferContext& context) {
  MRVLC_TRY(check_sequence(context, 0));
  return one_type(E::I64, Shape{});
}

Status eval_length(const EvalContext& context) {
  context.out().set_int(0, static_cast<int64_t>(context.in(0).items().size()));
  return {};
}

// --- Cutting and joining

Result<std::vector<TensorType>> infer_split(const InferContext& context) {
  MRVLC_ASSIGN(SplitPlan p, split_plan(context));
  TensorType item = context.type(0);
  const auto axis = at(p.axis);
  if (p.keep) {
    item.shape[axis] = p.longest;
    item.open = p.equal ? item.open & ~(1u << p.axis) : item.open | 1u << p.axis;
  } else {
    item.shape.erase(item.shape.begin() + p.axis);
    const uint32_t low = item.open & ((1u << p.axis) - 1);
    item.open = low | (item.open >> (p.axis + 1) << p.axis);
  }
  if (item.open == 0) item.capacity = -1;
  return std::vector<TensorType>{sequence_type(item, p.parts)};
}

// [begin, begin + size) along the axis.
Tensor part_of(const Tensor& x, int64_t axis, int64_t begin, int64_t size, bool keep) {
  Shape shape = x.shape();
  const int64_t n = shape[at(axis)];
  const int64_t outer = element_count(Shape(shape.begin(), shape.begin() + axis));
  const int64_t inner = element_count(Shape(shape.begin() + axis + 1, shape.end()));
  shape[at(axis)] = size;
  if (!keep) shape.erase(shape.begin() + axis);
  Tensor out(TensorType{x.elem(), shape});
  for (int64_t o = 0; o < outer; ++o) {
    const int64_t from = (o * n + begin) * inner, to = o * size * inner, count = size * inner;
    if (x.elem() == E::String) {
      std::copy_n(x.string_data().begin() + from, count, out.mutable_strings().begin() + to);
    } else if (count > 0) {
      const auto width = at(byte_size(x.elem()));
      std::memcpy(out.mutable_data<uint8_t>().data() + at(to) * width, x.bytes().data() + at(from) * width,
                  at(count) * width);
    }
  }
  return out;
}

Status eval_split(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(SplitPlan p, split_plan(view));
  const Tensor& x = context.in(0);
  const int64_t dim = x.shape()[at(p.axis)];
  std::vector<int64_t> sizes;
  if (p.sizes) {
    sizes = context.in(1).to_ints();
  } else {
    const int64_t size = p.chunk ? context.in(1).as_int(0) : 1;
    for (int64_t begin = 0; begin < dim; begin += size) sizes.push_back(std::min(size, dim - begin));
  }
  std::vector<Tensor> items;
  int64_t begin = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > dim - begin) return bad_operands("the parts are larger than the whole");
    items.push_back(part_of(x, p.axis, begin, size, p.keep));
    begin += size;
  }
  if (begin != dim) return bad_operands("the parts are smaller than the whole");
  context.out() = make_sequence(x.elem(), std::move(items));
  return {};
}

Result<int64_t> concat_axis(const InferContext& context, bool new_axis) {
  const TensorType& type = context.type(0);
  if (!type.has_rank()) return bad_operands("the tensors of the sequence have different ranks");
  if (new_axis && type.rank() >= kMaxRank) return bad_operands("the result has too high a rank");
  return normalize_axis(context.int_attr("axis"), type.rank() + (new_axis ? 1 : 0));
}

Result<std::vector<TensorType>> infer_concat(const InferContext& context) {
  MRVLC_TRY(check_sequence(context, 0));
  const bool new_axis = context.int_attr("new_axis") != 0;
  MRVLC_ASSIGN(int64_t axis, concat_axis(context, new_axis));
  TensorType out = item_type(context.type(0));
  const int64_t length = context.type(0).length;
  if (new_axis) {
    const uint32_t low = out.open & ((1u << axis) - 1);
    out.open = low | (out.open >> axis << (axis + 1));
    out.shape.insert(out.shape.begin() + axis, length);
  } else {
    auto total = checked_mul(out.shape[at(axis)], length);
    if (!total) return bad_operands("the result is too large");
    out.shape[at(axis)] = *total;
  }
  out.open |= 1u << axis;
  if (out.capacity >= 0) out.capacity = checked_mul(out.capacity, length).value_or(kMaxElements);
  return std::vector<TensorType>{out};
}

Status eval_concat(const EvalContext& context) {
  InferContext view = context.infer_view();
  const bool new_axis = view.int_attr("new_axis") != 0;
  const auto& items = context.in(0).items();
  if (items.empty()) return bad_operands("there is nothing to concatenate");
  MRVLC_ASSIGN(int64_t axis, concat_axis(view, new_axis));
  Shape shape = items.front().shape();
  if (new_axis) shape.insert(shape.begin() + axis, 1);
  std::vector<Tensor> parts;
  int64_t total = 0;
  for (const Tensor& item : items) {
    Shape own = item.shape();
    if (new_axis) own.insert(own.begin() + axis, 1);
    total += own[at(axis)];
    Shape same = own;
    same[at(axis)] = shape[at(axis)];
    if (same != shape) return bad_operands("the tensors of the sequence do not fit each other");
    parts.push_back(item.reshaped(own));
  }
  shape[at(axis)] = total;
  Tensor out(TensorType{items.front().elem(), shape});
  const int64_t outer = element_count(Shape(shape.begin(), shape.begin() + axis));
  const int64_t inner = element_count(Shape(shape.begin() + axis + 1, shape.end()));
  int64_t begin = 0;
  for (const Tensor& part : parts) {
    const int64_t count = part.shape()[at(axis)] * inner;
    for (int64_t o = 0; o < outer; ++o) {
      const int64_t to = (o * total + begin) * inner;
      if (part.elem() == E::String) {
        std::copy_n(part.string_data().begin() + o * count, count, out.mutable_strings().begin() + to);
      } else if (count > 0) {
        const auto width = at(byte_size(part.elem()));
        std::memcpy(out.mutable_data<uint8_t>().data() + at(to) * width,
                    part.bytes().data() + at(o * count) * width, at(count) * width);
      }
    }
    begin += part.shape()[at(axis)];
  }
  context.out() = std::move(out);
  return {};
}

// --- SequenceMap

std::shared_ptr<const ir::Graph> map_body(const InferContext& context) {
  const ir::Attr& value = context.attr("body");
  return ir::is_set(value) ? std::get<std::shared_ptr<const ir::Graph>>(value) : nullptr;
}

Result<std::vector<TensorType>> infer_map(const InferContext& context) {
  auto body = map_body(context);
  if (body == nullptr || body->inputs().size() != context.num_inputs())
    return bad_attr("body", "does not take the inputs of the node");
  MRVLC_TRY(check_sequence(context, 0));
  std::vector<TensorType> types;
  for (ir::ValueId v : body->outputs()) {
    if (body->value(v).type.wrapper != Wrapper::None) return bad_attr("body", "must give back tensors");
    types.push_back(sequence_type(body->value(v).type, context.type(0).length));
  }
  return types;
}

Status eval_map(const EvalContext& context) {
  InferContext view = context.infer_view();
  auto body = map_body(view);
  const auto formals = static_cast<size_t>(view.int_attr("formals"));
  std::vector<std::vector<Tensor>> results(context.outputs->size());
  for (size_t i = 0; i < context.in(0).items().size(); ++i) {
    std::vector<Tensor> inputs;
    for (size_t k = 0; k < context.inputs.size(); ++k) {
      const bool each = k < formals && is_sequence(context.in(k).type());
      if (each && i >= context.in(k).items().size()) return bad_operands("the sequences differ in length");
      inputs.push_back(each ? context.in(k).items()[i] : context.in(k));
    }
    MRVLC_ASSIGN(auto values, context.run(*body, inputs));
    for (size_t k = 0; k < results.size(); ++k) results[k].push_back(std::move(values[k]));
  }
  for (size_t k = 0; k < results.size(); ++k) {
    const ElementType elem = body->value(body->outputs()[k]).type.elem;
    context.out(k) = make_sequence(elem, std::move(results[k]));
  }
  return {};
}

// --- Optionals

Result<TensorType> wrapped_in_optional(TensorType type) {
  if (type.wrapper == Wrapper::None) {
    if (type.rank() >= kMaxRank) return bad_operands("an optional tensor has too high a rank");
    type.wrapper = Wrapper::Optional;
  } else if (type.wrapper == Wrapper::Sequence) {
    type.wrapper = Wrapper::OptionalSequence;
  } else {
    return bad_operands("an optional cannot hold an optional");
  }
  return type;
}

Result<std::vector<TensorType>> infer_optional(const InferContext& context) {
  TensorType type;
  if (context.has(0)) {
    type = context.type(0);
  } else if (ir::is_set(context.attr("type"))) {
    type = std::get<TensorType>(context.attr("type"));
  } else {
    return bad_attr("type", "is required without an input");
  }
  MRVLC_ASSIGN(type, wrapped_in_optional(type));
  return std::vector<TensorType>{type};
}

Status eval_optional(const EvalContext& context) {
  MRVLC_ASSIGN(auto types, infer_optional(context.infer_view()));
  std::vector<Tensor> items;
  if (context.has(0)) items.push_back(context.in(0));
  context.out() = Tensor::wrapped(types[0], std::move(items));
  return {};
}

TensorType element_of(TensorType type) {
  if (type.wrapper == Wrapper::Optional) type.wrapper = Wrapper::None;
  if (type.wrapper == Wrapper::OptionalSequence) type.wrapper = Wrapper::Sequence;
  return type;
}

bool is_optional(const TensorType& type) {
  return type.wrapper == Wrapper::Optional || type.wrapper == Wrapper::OptionalSequence;
}

Result<std::vector<TensorType>> infer_get(const InferContext& context) {
  return std::vector<TensorType>{element_of(context.type(0))};
}

Status eval_get(const EvalContext& context) {
  const Tensor& x = context.in(0);
  if (is_optional(x.type()) && x.items().empty()) return bad_operands("the optional holds nothing");
  context.out() = is_optional(x.type()) ? x.items().front() : x;
  return {};
}

Result<std::vector<TensorType>> infer_has(const InferContext&) {
  return one_type(E::Bool, Shape{});
}

Status eval_has(const EvalContext& context) {
  const bool there = context.has(0) && !(is_optional(context.in(0).type()) && context.in(0).items().empty());
  context.out().set_int(0, there ? 1 : 0);
  return {};
}

using Infer = Result<std::vector<TensorType>> (*)(const InferContext&);
using Eval = Status (*)(const EvalContext&);
using Emit = Status (*)(EmitContext&);

OpDef sequence_def(std::string_view name, int since, int min_inputs, int max_inputs, Infer infer, Eval eval,
                   Emit emit) {
  OpDef d;
  d.name = name;
  d.since_min = since;
  d.min_inputs = min_inputs;
  d.max_inputs = max_inputs;
  d.types = kAny;
  d.infer = d.infer_open = infer;
  d.eval = eval;
  d.emit_open = emit;
  d.declined = "accelerator: its programs are made for tensors of one shape";
  return d;
}

}  // namespace

Result<SplitPlan> split_plan(const InferContext& context) {
  SplitPlan p;
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_tensor(context, 0));
  const TensorType& x = context.type(0);
  MRVLC_ASSIGN(p.axis, normalize_axis(context.int_attr("axis"), x.rank()));
  const int64_t dim = x.shape[at(p.axis)];
  const bool known_dim = !x.is_open(p.axis);
  if (!context.has(1)) {
    p.keep = context.int_attr("keepdims") != 0;
    p.parts = dim;
    p.longest = 1;
    p.equal = true;
    return p;
  }
  MRVLC_TRY(check_elem(context, 1, kIndices));
  MRVLC_TRY(check_rank(context, 1, 0, 1));
  const Tensor* split = context.constant(1);
  p.sizes = context.type(1).rank() == 1;
  p.chunk = !p.sizes;
  p.longest = dim;
  p.parts = p.sizes ? context.type(1).elements() : dim;
  if (split == nullptr) return p;
  const std::vector<int64_t> given = split->to_ints();
  if (p.chunk) {
    if (given[0] < 1) return bad_operands("the size of the parts must be positive");
    p.longest = std::min(given[0], dim);
    p.parts = dim / given[0] + (dim % given[0] != 0 ? 1 : 0);
    p.equal = known_dim && dim % given[0] == 0;
  } else if (!given.empty()) {
    p.longest = *std::max_element(given.begin(), given.end());
    p.equal = std::all_of(given.begin(), given.end(), [&](int64_t g) { return g == given[0]; });
    if (p.longest < 0 || p.longest > dim) return bad_operands("the parts are larger than the whole");
  }
  return p;
}

const OpDef& def_SequenceConstruct() {
  static const OpDef def =
      sequence_def("SequenceConstruct", 11, 1, -1, infer_construct, eval_construct, emit_sequence_construct);
  return def;
}

const OpDef& def_SequenceEmpty() {
  static const OpDef def = [] {
    OpDef d = sequence_def("SequenceEmpty", 11, 0, 0, infer_empty, eval_empty, emit_sequence_empty);
    d.attrs = {optional("dtype", ir::AttrKind::Type)};
    return d;
  }();
  return def;
}

const OpDef& def_SequenceInsert() {
  static const OpDef def =
      sequence_def("SequenceInsert", 11, 2, 3, infer_insert, eval_insert, emit_sequence_insert);
  return def;
}

const OpDef& def_SequenceErase() {
  static const OpDef def =
      sequence_def("SequenceErase", 11, 1, 2, infer_erase, eval_erase, emit_sequence_erase);
  return def;
}

const OpDef& def_SequenceAt() {
  static const OpDef def = sequence_def("SequenceAt", 11, 2, 2, infer_at, eval_at, emit_sequence_at);
  return def;
}

const OpDef& def_SequenceLength() {
  static const OpDef def =
      sequence_def("SequenceLength", 11, 1, 1, infer_length, eval_length, emit_sequence_length);
  return def;
}

const OpDef& def_SplitToSequence() {
  static const OpDef def = [] {
    OpDef d = sequence_def("SplitToSequence", 11, 1, 2, infer_split, eval_split, emit_split_to_sequence);
    d.attrs = {with_int("axis", 0), with_int("keepdims", 1)};
    return d;
  }();
  return def;
}

const OpDef& def_ConcatFromSequence() {
  static const OpDef def = [] {
    OpDef d =
        sequence_def("ConcatFromSequence", 11, 1, 1, infer_concat, eval_concat, emit_concat_from_sequence);
    d.attrs = {required("axis", ir::AttrKind::Int), with_int("new_axis", 0)};
    return d;
  }();
  return def;
}

const OpDef& def_SequenceMap() {
  static const OpDef def = [] {
    OpDef d = sequence_def("SequenceMap", 17, 1, -1, infer_map, eval_map, nullptr);
    d.attrs = {optional("body", ir::AttrKind::Graph), with_int("formals", 0)};
    d.max_outputs = -1;
    d.declined = "accelerator: no jumps; the C of bodies is made by the host code generator";
    return d;
  }();
  return def;
}

const OpDef& def_Optional() {
  static const OpDef def = [] {
    OpDef d = sequence_def("Optional", 15, 0, 1, infer_optional, eval_optional, emit_optional);
    d.attrs = {optional("type", ir::AttrKind::ValueType)};
    return d;
  }();
  return def;
}

const OpDef& def_OptionalGetElement() {
  static const OpDef def =
      sequence_def("OptionalGetElement", 15, 1, 1, infer_get, eval_get, emit_optional_get);
  return def;
}

const OpDef& def_OptionalHasElement() {
  static const OpDef def =
      sequence_def("OptionalHasElement", 15, 0, 1, infer_has, eval_has, emit_optional_has);
  return def;
}

}  // namespace mrvlc::ops
