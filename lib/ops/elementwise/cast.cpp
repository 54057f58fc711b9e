// Cast between numeric types, bool and strings. Floats truncate to integers; where C leaves the result
// undefined (NaN, out of range) it saturates, and NaN becomes 0. Integers wrap, and floats to those of less
// than eight bits do, too; floats round to nearest even.
#include <limits>

#include "common/convert.h"
#include "common/dims.h"
#include "common/number_text.h"
#include "common/string_cast.h"
#include "elementwise/elementwise.h"

namespace mrvlc::ops {

namespace {

constexpr std::string_view kCastOnHost = "accelerator: conversion at its borders belongs to the host";

constexpr TypeSet kCastable{spec::kFixedSize.bits | types_of({ElementType::String}).bits};

ElementType target_of(const Attrs& attrs) {
  return std::get<ElementType>(attrs[0]);
}

double eval_cast(const double* x, const ir::OpSchema&, const Attrs& attrs) {
  ElementType to = target_of(attrs);
  if (!is_integer(to)) return x[0];
  IntegerRange range = integer_range(to);
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

Result<CastMode> mode_of(const ir::OpSchema& op, const std::vector<ir::Attr>& attrs) {
  CastMode mode;
  mode.saturate = std::get<int64_t>(attrs[at(op.attr_index("saturate"))]) != 0;
  const auto& rounding = std::get<std::string>(attrs[at(op.attr_index("round_mode"))]);
  if (rounding == "down") {
    mode.rounding = ScaleRounding::Down;
  } else if (rounding == "nearest") {
    mode.rounding = ScaleRounding::Nearest;
  } else if (rounding != "up") {
    return bad_attr("round_mode", fmt::format("is '{}'; it can be up, down or nearest", printable(rounding)));
  }
  return mode;
}

std::string cast_text(EmitContext& c, const std::vector<std::string>& x, ElementType) {
  const ElementType from = c.in_type(0).elem, to = c.out_type(0).elem;
  if (from == to) return x[0];
  auto mode = mode_of(*c.node().op, c.node().attrs);
  return encoded_text(c, decoded_text(c, x[0], from), computing_type(from), to,
                      mode.ok() ? *mode : CastMode{});
}

// Between ordinary types.
constexpr ScalarOp kConversion{eval_cast, same<int64_t>, cast_text, same<uint64_t>};

// -- strings

Status strings_from_numbers(const Tensor& in, Tensor& out) {
  std::vector<std::string>& texts = out.mutable_strings();
  for (size_t i = 0; i < texts.size(); ++i) texts[i] = number_text(in, static_cast<int64_t>(i));
  return {};
}

Status numbers_from_strings(const Tensor& in, Tensor& out, const CastMode& mode) {
  Tensor value(TensorType{ElementType::F64, {}});
  for (int64_t i = 0; i < out.elements(); ++i) {
    const std::string& text = in.string_data()[at(i)];
    auto integer = is_integer(out.elem()) ? parse_integer(text) : std::nullopt;
    auto number = parse_number(text);
    if (!number) return bad_operands(fmt::format("'{}' is no number", printable(text)));
    if (integer) {
      out.set_int(i, *integer);
      continue;
    }
    value.set_double(0, *number);
    convert_element(value, 0, out, i, mode);
  }
  return {};
}

// -- Cast to any type

bool is_narrow(ElementType elem) {
  return is_narrow_float(elem) || is_narrow_integer(elem);
}

Status eval_any_cast(const EvalContext& c) {
  MRVLC_ASSIGN(CastMode mode, mode_of(*c.op, *c.attrs));
  const Tensor& in = c.in(0);
  Tensor& out = c.out();
  if (in.elem() == out.elem()) {
    out = in;
    return {};
  }
  if (out.elem() == ElementType::String) return strings_from_numbers(in, out);
  if (in.elem() == ElementType::String) return numbers_from_strings(in, out, mode);
  if (is_narrow(in.elem()) || is_narrow(out.elem())) {
    for (int64_t i = 0; i < out.elements(); ++i) convert_element(in, i, out, i, mode);
    return {};
  }
  const std::vector<ir::Attr> to{ir::Attr(out.elem())};
  EvalContext conversion = c;
  conversion.attrs = &to;
  return eval_scalar(kConversion, conversion, {&in}, false);
}

Status emit_cast(EmitContext& c) {
  c.set_dims(0, in_dims(c, 0));
  MRVLC_ASSIGN(CastMode mode, mode_of(*c.node().op, c.node().attrs));
  const ElementType from = c.in_type(0).elem, to = c.out_type(0).elem;
  if (from == ElementType::String || to == ElementType::String)
    return from == to ? emit_same_elements(c), Status() : emit_text_cast(c, mode);
  if (c.out_type(0).elements() == 0) return {};
  if (from == to) {
    emit_same_elements(c);
    return {};
  }
  c.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", size_product(out_sizes(c, 0))));
  std::string x = fmt::format("{}[i]", c.in(0));
  const ElementType computed = computing_type(from);
  if (is_float(computed)) {
    c.line(fmt::format("const {} v = {};", c_type(computed), decoded_text(c, x, from)));
    x = "v";
  }
  c.line(fmt::format("{}[i] = {};", c.out(0), encoded_text(c, x, computed, to, mode)));
  c.close();
  return {};
}

Status check_cast(const InferContext& c, ElementType to) {
  MRVLC_TRY(mode_of(*c.op, *c.attrs));
  if (kCastable.has(to)) return {};
  return bad_attr("to", fmt::format("asks for {}, which is not supported", name(to)));
}

Result<std::vector<TensorType>> infer_cast(const InferContext& c) {
  ElementType to = target_of(*c.attrs);
  MRVLC_TRY(check_tensors(c));
  MRVLC_TRY(check_cast(c, to));
  return std::vector<TensorType>{c.type(0).with_elem(to)};
}

// Before opset 6 the target was a text: "FLOAT".
Status upgrade_cast(RawNode& node) {
  if (node.opset >= 6) return {};
  ir::Attr to = node.take("to");
  const auto* text = std::get_if<std::string>(&to);
  constexpr std::pair<std::string_view, ElementType> kNames[] = {
      {"FLOAT", ElementType::F32},  {"UINT8", ElementType::U8},   {"INT8", ElementType::I8},
      {"UINT16", ElementType::U16}, {"INT16", ElementType::I16},  {"INT32", ElementType::I32},
      {"INT64", ElementType::I64},  {"BOOL", ElementType::Bool},  {"FLOAT16", ElementType::F16},
      {"DOUBLE", ElementType::F64}, {"UINT32", ElementType::U32}, {"UINT64", ElementType::U64}};
  for (const auto& [name, elem] : kNames) {
    if (text != nullptr && *text == name) {
      node.attrs.emplace_back("to", ir::Attr(elem));
      return {};
    }
  }
  return bad_attr("to", "names no element type");
}

// -- CastLike: Cast to the type of the second input, whose values and shape do not matter

Result<std::vector<TensorType>> infer_cast_like(const InferContext& c) {
  MRVLC_TRY(check_tensors(c));
  MRVLC_TRY(check_cast(c, c.type(1).elem));
  return std::vector<TensorType>{c.type(0).with_elem(c.type(1).elem)};
}

}  // namespace

const OpDef& def_Cast() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "Cast";
    d.traits = {.work = Work::Linear};
    d.attrs = {spec::required("to", ir::AttrKind::Type), spec::with_int("saturate", 1),
               spec::with_string("round_mode", "up")};
    d.types = kCastable;
    d.upgrade = upgrade_cast;
    d.infer = d.infer_dynamic = infer_cast;
    d.eval = eval_any_cast;
    d.scalar = &kConversion;
    d.emit = d.emit_dynamic = emit_cast;
    return host_only(std::move(d), kCastOnHost);
  }();
  return op;
}

const OpDef& def_CastLike() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "CastLike";
    d.traits = {.work = Work::Linear};
    d.since_min = 15;
    d.attrs = {spec::with_int("saturate", 1), spec::with_string("round_mode", "up")};
    d.min_inputs = d.max_inputs = 2;
    d.types = kCastable;
    d.infer = d.infer_dynamic = infer_cast_like;
    d.eval = eval_any_cast;
    d.emit = d.emit_dynamic = emit_cast;
    return host_only(std::move(d), kCastOnHost);
  }();
  return op;
}

}  // namespace mrvlc::ops
