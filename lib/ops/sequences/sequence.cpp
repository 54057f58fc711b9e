// SequenceAt, SequenceConstruct, SequenceEmpty, SequenceErase, SequenceInsert, SequenceLength (all of ONNX
// 11).
#include <algorithm>

#include "mrvlc/ops/control_flow.h"
#include "mrvlc/support/diag/ops.h"
#include "sequences/sequence_emit.h"

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

OpDef sequence_def(std::string_view name, int since, int min_inputs, int max_inputs,
                   decltype(OpDef::infer) infer, decltype(OpDef::eval) eval, decltype(OpDef::emit) emit) {
  OpDef d;
  d.name = name;
  d.since_min = since;
  d.min_inputs = min_inputs;
  d.max_inputs = max_inputs;
  d.types = {~0u};
  d.infer = d.infer_dynamic = infer;
  d.eval = eval;
  d.emit_dynamic = emit;
  d.declined = "accelerator: its programs are made for tensors of one shape";
  return d;
}

namespace {

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

}  // namespace

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

}  // namespace mrvlc::ops
