// Optionals (ONNX Optional-15, OptionalGetElement-18, OptionalHasElement-18).
#include "sequences/sequence_emit.h"

namespace mrvlc::ops {

using namespace spec;

namespace {

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
  type.wrapper = holds_sequence(type) ? Wrapper::Sequence : Wrapper::None;
  return type;
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

// -- C

void copy_dims(EmitContext& context, int64_t count) {
  for (int64_t d = 0; d < count; ++d)
    context.line(fmt::format("{} = {};", context.out_dim(0, d), context.in_dim(0, d)));
}

void copy_tensor(EmitContext& context) {
  context.line(fmt::format("memcpy({}, {}, {});", context.out(0), context.in(0),
                           tensor_size(in_dims(context, 0), context.in_type(0))));
}

Status emit_optional(EmitContext& context) {
  if (!context.has(0)) {
    for (int64_t d = 0; d < kMaxRank; ++d) context.line(fmt::format("{} = 0;", context.out_dim(0, d)));
    return {};
  }
  const TensorType& type = context.in_type(0);
  if (type.wrapper == Wrapper::None) {
    copy_dims(context, type.rank());
    copy_tensor(context);
  } else {
    set_count(context, context.in_dim(0, 0));
    copy_sequence(context);
  }
  context.line(fmt::format("{} = 1;", context.out_dim(0, 7)));
  return {};
}

Status emit_optional_get(EmitContext& context) {
  if (is_optional(context.in_type(0))) context.fail_if(fmt::format("!{}", context.in_dim(0, 7)));
  if (context.out_type(0).wrapper != Wrapper::None) {
    set_count(context, context.in_dim(0, 0));
    copy_sequence(context);
    return {};
  }
  context.set_dims(0, in_dims(context, 0));
  copy_tensor(context);
  return {};
}

Status emit_optional_has(EmitContext& context) {
  std::string there = context.has(0) ? "1" : "0";
  if (context.has(0) && is_optional(context.in_type(0))) there = context.in_dim(0, 7) + " != 0";
  context.line(fmt::format("*{} = {};", context.out(0), there));
  return {};
}

}  // namespace

Status emit_wrapped_copy(EmitContext& context) {
  const TensorType& type = context.in_type(0);
  copy_dims(context, kMaxRank);
  if (type.wrapper == Wrapper::Optional) {
    // No more than there are: the caller's memory may be smaller than that of the largest.
    context.line(fmt::format("if ({}) memcpy({}, {}, {});", context.in_dim(0, 7), context.out(0),
                             context.in(0), tensor_size(in_dims(context, 0), type)));
  } else {
    copy_sequence(context);
  }
  return {};
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
