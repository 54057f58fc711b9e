// Types and constants of textual IR.
#include "type_reader.h"

#include <algorithm>

namespace mrvlc::ir {

Result<ElementType> TypeReader::element_type() {
  MRVLC_ASSIGN(std::string name, lex_.word());
  auto t = element_type_from_name(name);
  if (!t) return lex_.error("unknown element type '" + name + "'");
  return *t;
}

Result<TensorType> TypeReader::type() {
  if (lex_.accept("optional")) return optional();
  if (lex_.accept("sequence")) return sequence();
  return tensor_type();
}

Result<TensorType> TypeReader::optional() {
  MRVLC_TRY(lex_.expect("("));
  MRVLC_ASSIGN(TensorType t, type());
  MRVLC_TRY(lex_.expect(")"));
  if (t.wrapper != Wrapper::None && t.wrapper != Wrapper::Sequence) return lex_.error("impossible type");
  t.wrapper = t.wrapper == Wrapper::Sequence ? Wrapper::OptionalSequence : Wrapper::Optional;
  return t;
}

Result<TensorType> TypeReader::sequence() {
  MRVLC_TRY(lex_.expect("("));
  MRVLC_ASSIGN(TensorType t, tensor_type());
  MRVLC_TRY(lex_.expect(","));
  MRVLC_ASSIGN(t.length, lex_.integer());
  MRVLC_TRY(lex_.expect(")"));
  if (t.length < 0 || t.length > kMaxElements) return lex_.error("impossible length");
  t.wrapper = Wrapper::Sequence;
  return t;
}

Status TypeReader::dimensions(TensorType& t) {
  if (lex_.accept("*")) {
    t.dynamic = kDynamicRank;
  } else if (!lex_.next_is(']') && !lex_.next_is(';')) {
    do {
      if (t.rank() == kMaxRank) return lex_.error("impossible shape");
      if (lex_.accept("<=")) t.dynamic |= 1u << t.rank();
      MRVLC_ASSIGN(t.shape.emplace_back(), lex_.integer());
    } while (lex_.accept(","));
  }
  return {};
}

Result<TensorType> TypeReader::tensor_type() {
  TensorType t;
  MRVLC_ASSIGN(t.elem, element_type());
  MRVLC_TRY(lex_.expect("["));
  MRVLC_TRY(dimensions(t));
  if (lex_.accept(";")) {
    MRVLC_ASSIGN(t.capacity, lex_.integer());
    if (t.capacity < 0 || t.capacity > kMaxElements || t.dynamic == 0)
      return lex_.error("impossible capacity");
  }
  MRVLC_TRY(lex_.expect("]"));
  MRVLC_TRY(check_size(t));
  return t;
}

Status TypeReader::check_size(const TensorType& t) const {
  auto count = checked_product(t.shape);
  const bool negative = std::any_of(t.shape.begin(), t.shape.end(), [](int64_t d) { return d < 0; });
  const bool large = t.capacity < 0 && (!count || *count > kMaxElements);
  if (negative || large || (!t.has_rank() && t.capacity < 0)) return lex_.error("impossible shape");
  return {};
}

Result<Tensor> TypeReader::tensor(TensorType t) {
  if (t.elem == ElementType::String) {
    MRVLC_ASSIGN(std::vector<std::string> values, string_list());
    if (static_cast<int64_t>(values.size()) != t.elements()) return lex_.error("wrong number of elements");
    return Tensor::strings(t.shape, std::move(values));
  }
  if (lex_.next_is('[')) return numbers(t);
  MRVLC_ASSIGN(std::string bytes, lex_.hex());
  if (static_cast<int64_t>(bytes.size()) != t.bytes())
    return lex_.error("wrong number of bytes for the type");
  return Tensor(std::move(t), std::move(bytes));
}

Result<Tensor> TypeReader::numbers(const TensorType& t) {
  auto fits = [&](size_t count) { return static_cast<int64_t>(count) == t.elements(); };
  if (is_float(t.elem)) {
    MRVLC_ASSIGN(std::vector<float> floats, list<float>([&] { return lex_.real(); }));
    if (fits(floats.size())) return Tensor::of(t.elem, t.shape, floats);
  } else {
    MRVLC_ASSIGN(std::vector<int64_t> ints, list<int64_t>([&] { return lex_.integer(); }));
    if (fits(ints.size())) return Tensor::of(t.elem, t.shape, ints);
  }
  return lex_.error("wrong number of elements");
}

}  // namespace mrvlc::ir
