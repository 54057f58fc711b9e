// Cast between numeric types and bool. Floats truncate to integers; where C leaves the result undefined (NaN,
// out of range) it saturates, and NaN becomes 0. Integers wrap; floats round to nearest even.
#include <limits>

#include "elementwise.h"

namespace mrvlc::ops {

const OpDef& def_Cast();

namespace {

constexpr std::string_view kCastOnHost = "accelerator: conversion at its borders belongs to the host";

struct Range {
  double low, past;  // representable values v have low <= v < past
};

Range range_of(ElementType elem) {
  int bits = static_cast<int>(byte_size(elem)) * 8;
  if (is_signed_integer(elem)) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1)};
  return {0, std::ldexp(1.0, bits)};
}

ElementType target_of(const Attrs& attrs) {
  return std::get<ElementType>(attrs[0]);
}

double eval_cast(const double* x, const ir::OpSchema&, const Attrs& attrs) {
  ElementType to = target_of(attrs);
  if (!is_integer(to)) return x[0];
  Range range = range_of(to);
  if (std::isnan(x[0])) return 0;
  if (x[0] <= range.low) return range.low;
  if (x[0] < range.past) return std::trunc(x[0]);
  // The greatest 64-bit integer has no double; storing saturates from 2^63 and 2^64 on.
  return byte_size(to) == 8 ? range.past : range.past - 1;
}

template <class T>
T same(const T* x, const ir::OpSchema&, const Attrs&) {
  return x[0];
}

bool is_half(ElementType elem) {
  return elem == ElementType::F16 || elem == ElementType::BF16;
}

std::string cast_text(EmitContext& c, const std::vector<std::string>& x, ElementType) {
  ElementType from = c.in_type(0).elem, to = c.out_type(0).elem;
  if (from == to) return x[0];
  std::string value = x[0];
  if (is_half(from)) {
    value = fmt::format("{}({})", c.helper(from == ElementType::F16 ? "f16_to_f32" : "bf16_to_f32"), value);
    from = ElementType::F32;
  }
  if (is_half(to)) {
    return fmt::format("{}((float){})", c.helper(to == ElementType::F16 ? "f32_to_f16" : "f32_to_bf16"),
                       value);
  }
  if (to == ElementType::Bool) return fmt::format("{} != 0", value);
  if (is_float(from) && is_integer(to)) return saturated_text(value, from, to);
  return fmt::format("({}){}", c_type(to), value);
}

Result<std::vector<TensorType>> infer_cast(const InferContext& c) {
  ElementType to = target_of(*c.attrs);
  if (!spec::kFixedSize.has(to))
    return bad_attr("to", fmt::format("asks for {}, which is not supported", name(to)));
  return one_type(to, c.type(0).shape);
}

// -- CastLike: Cast to the type of the second input, whose values and shape do not matter

Result<std::vector<TensorType>> infer_cast_like(const InferContext& c) {
  MRVLC_TRY(check_elem(c, 1, spec::kFixedSize));
  return one_type(c.type(1).elem, c.type(0).shape);
}

Status eval_cast_like(const EvalContext& c) {
  const OpDef& cast = def_Cast();
  std::vector<ir::Attr> slots = ir::default_attrs(cast);
  ir::set_attr(cast, slots, "to", c.out().elem());
  EvalContext inner = c;
  inner.op = &cast;
  inner.attrs = &slots;
  inner.inputs.resize(1);
  return cast.eval(inner);
}

Status emit_cast_like(EmitContext& c) {
  c.loop("i", c.out_type(0).elements());
  std::string value = cast_text(c, {fmt::format("{}[i]", c.in(0))}, c.in_type(0).elem);
  std::string_view to_bool = c.out_type(0).elem == ElementType::Bool ? "(uint8_t)" : "";
  c.line(fmt::format("{}[i] = {}({});", c.out(0), to_bool, value));
  c.close();
  return {};
}

}  // namespace

std::string saturated_text(const std::string& x, ElementType from, ElementType to) {
  Range range = range_of(to);
  std::string lowest = c_literal(range.low, to);
  std::string highest =
      c_literal(static_cast<int64_t>(is_signed_integer(to) ? ~uint64_t{0} >> (65 - byte_size(to) * 8)
                                                           : ~uint64_t{0} >> (64 - byte_size(to) * 8)),
                to);
  return fmt::format(
      "({t})({x} >= {past} ? {highest} : {x} <= {low} ? {lowest} : isnan({x}) ? 0 : ({t}){x})",
      fmt::arg("t", c_type(to)), fmt::arg("x", x), fmt::arg("past", c_literal(range.past, from)),
      fmt::arg("low", c_literal(range.low, from)), fmt::arg("highest", highest), fmt::arg("lowest", lowest));
}

const OpDef& def_Cast() {
  static constexpr ScalarOp scalar{eval_cast, same<int64_t>, cast_text, same<uint64_t>};
  static const OpDef op = [] {
    OpDef d = elementwise("Cast", 1, spec::kFixedSize, scalar,
                          {spec::required("to", ir::AttrKind::Type), spec::with_int("saturate", 1),
                           spec::with_string("round_mode", "up")});
    d.since_min = 6;  // before, `to` was a text
    d.upgrade = nullptr;
    d.infer = infer_cast;
    return host_only(std::move(d), kCastOnHost);
  }();
  return op;
}

const OpDef& def_CastLike() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "CastLike";
    d.since_min = 15;
    d.attrs = {spec::with_int("saturate", 1), spec::with_string("round_mode", "up")};
    d.min_inputs = d.max_inputs = 2;
    d.types = spec::kFixedSize;
    d.infer = infer_cast_like;
    d.eval = eval_cast_like;
    d.emit = emit_cast_like;
    return host_only(std::move(d), kCastOnHost);
  }();
  return op;
}

}  // namespace mrvlc::ops
