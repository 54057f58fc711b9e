// Quant, BipolarQuant and Trunc of QONNX (Brevitas, FINN): x / scale + zero point is kept within an interval,
// rounded, and made a number again. What QuantizeLinear and DequantizeLinear can say is said by them:
//   x constant       its integers, computed as QONNX defines them, DequantizeLinear
//   ROUND            Clip (of few bits), QuantizeLinear, DequantizeLinear
//   other roundings  the formula, a QuantizeLinear of scale 1, which rounds nothing, DequantizeLinear
// Everything else is the formula in floats, and said to be.
#include <algorithm>
#include <cmath>

#include "contrib/contrib.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

constexpr size_t kX = 0, kScale = 1, kZero = 2, kBits = 3, kOutBits = 4;

std::string upper(std::string s) {
  for (char& c : s) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return s;
}

// The operators that round, by the name of the mode.
Result<std::string> rounded(Decomposition& r, const std::string& x, const std::string& mode) {
  if (mode == "ROUND" || mode == "HALF_EVEN") return r.add("Round", {x});
  if (mode == "CEIL") return r.add("Ceil", {x});
  if (mode == "FLOOR") return r.add("Floor", {x});
  const std::string away = r.add("Abs", {x});
  std::string magnitude;
  if (mode == "UP") {
    magnitude = r.add("Ceil", {away});
  } else if (mode == "DOWN" || mode == "ROUND_TO_ZERO") {
    magnitude = r.add("Floor", {away});
  } else if (mode == "HALF_UP") {
    magnitude = r.add("Floor", {r.add("Add", {away, r.scalar(0.5F, x)})});
  } else if (mode == "HALF_DOWN") {
    magnitude = r.add("Ceil", {r.add("Sub", {away, r.scalar(0.5F, x)})});
  } else {
    return make_diag<DiagCode::MRV0140>(
        "rounding_mode", fmt::format("'{}' is not known; ROUND, HALF_EVEN, CEIL, FLOOR, UP, DOWN, "
                                     "ROUND_TO_ZERO, HALF_UP and HALF_DOWN are",
                                     printable(mode)));
  }
  return r.add("Mul", {r.add("Sign", {x}), magnitude});
}

// The whole number that every element of a constant is.
Result<int64_t> bits(const Decomposition& r, size_t k) {
  const Tensor* t = r.value(k);
  if (t == nullptr || t->elements() == 0) return make_diag<DiagCode::MRV0160>("not known at compile time");
  const double v = t->as_double(0);
  for (int64_t i = 1; i < t->elements(); ++i)
    if (t->as_double(i) != v) return make_diag<DiagCode::MRV0160>("not the same for all elements");
  constexpr double kMost = 32;
  if (!(v >= 1 && v <= kMost) || v != std::floor(v))
    return make_diag<DiagCode::MRV0160>(fmt::format("{}; whole numbers from 1 to 32 are supported", v));
  return static_cast<int64_t>(v);
}

struct Interval {
  int64_t low, high;
};

struct Quantizer {
  int64_t bits = 8;
  bool is_signed = true, narrow = false;
  std::string mode;

  Interval interval() const {
    const int64_t half = int64_t{1} << (bits - 1), all = int64_t{1} << bits;
    if (is_signed) return {narrow ? 1 - half : -half, half - 1};
    return {0, narrow ? all - 2 : all - 1};
  }
  // Of an activation; of constants all that DequantizeLinear takes is as good.
  ElementType type() const {
    if (bits <= 8) return is_signed ? ElementType::I8 : ElementType::U8;
    return is_signed ? ElementType::I16 : ElementType::U16;
  }
  Interval held() const {
    const int64_t all = int64_t{1} << (bits <= 8 ? 8 : 16);
    return is_signed ? Interval{-all / 2, all / 2 - 1} : Interval{0, all - 1};
  }
  bool is_bipolar() const { return is_signed && bits == 1; }
  bool is_nearest() const { return mode == "ROUND" || mode == "HALF_EVEN"; }
};

// Where the one dimension of several elements is, from the back; 0: there is none; nullopt: several.
std::optional<size_t> channel_from_back(const Shape& shape) {
  std::optional<size_t> found;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (found) return std::nullopt;
    found = shape.size() - d;
  }
  return found.value_or(0);
}

// Scale and zero point as DequantizeLinear takes them.
struct Steps {
  std::string scale, zero;
  std::optional<int64_t> axis;
  bool is_zero = true;  // the zero point
};

// Why there are none.
std::optional<std::string> no_steps(const Decomposition& r, Interval held) {
  const Tensor *scale = r.value(kScale), *zero = r.value(kZero);
  if (scale == nullptr || zero == nullptr) return "its scale or zero point is not known at compile time";
  if (!channel_from_back(scale->shape()) || scale->shape().size() > static_cast<size_t>(r.type(kX).rank()))
    return "it has scales along several dimensions";
  for (int64_t i = 0; i < scale->elements(); ++i)
    if (const double s = scale->as_double(i); !(s > 0 && std::isfinite(s)))
      return fmt::format("a scale is {}, which is not above 0", s);
  if (zero->elements() != 1 && zero->shape() != scale->shape())
    return "its zero points have not the shape of its scales";
  for (int64_t i = 0; i < zero->elements(); ++i) {
    const double z = zero->as_double(i);
    if (z != std::floor(z)) return fmt::format("a zero point is {}, which is no whole number", z);
    if (z < static_cast<double>(held.low) || z > static_cast<double>(held.high))
      return fmt::format("a zero point is {}, beyond its integers", z);
  }
  return std::nullopt;
}

Steps steps(Decomposition& r, ElementType type) {
  const Tensor &scale = *r.value(kScale), &zero = *r.value(kZero);
  Steps s;
  s.scale = r.add("Squeeze", {r.in(kScale)});
  s.zero = r.cast(r.add("Squeeze", {r.in(kZero)}), type);
  if (scale.elements() != 1) {
    s.axis = r.type(kX).rank() - static_cast<int64_t>(*channel_from_back(scale.shape()));
    if (zero.elements() == 1) s.zero = r.add("Expand", {s.zero, r.constant({scale.elements()})});
  }
  for (int64_t i = 0; i < zero.elements(); ++i) s.is_zero = s.is_zero && zero.as_double(i) == 0;
  return s;
}

std::string with_steps(Decomposition& r, std::string_view op, const std::string& x, const Steps& s) {
  std::string y = r.add(op, {x, s.scale, s.zero});
  if (s.axis) r.set("axis", *s.axis);
  return y;
}

// x / scale + zero point within the interval, rounded: numbers that are whole.
Result<std::string> codes(Decomposition& r, const Quantizer& q) {
  std::string y = r.add("Add", {r.add("Div", {r.in(kX), r.in(kScale)}), r.in(kZero)});
  if (q.is_bipolar())
    return r.add("Where", {r.add("GreaterOrEqual", {y, r.scalar(0, y)}), r.scalar(1, y), r.scalar(-1, y)});
  const Interval i = q.interval();
  y = r.add("Clip", {y, r.scalar(static_cast<float>(i.low), y), r.scalar(static_cast<float>(i.high), y)});
  return rounded(r, y, q.mode);
}

// A QuantizeLinear that rounds as ROUND does: only x that lies at half a step is another matter where the
// zero point is odd, and where fp32 rounds its sum with the zero point.
std::string nearest(Decomposition& r, const Quantizer& q, const Steps& s) {
  std::string x = r.in(kX);
  const Interval i = q.interval(), held = q.held();
  if (i.low != held.low || i.high != held.high) {
    const auto bound = [&](int64_t at) {
      const std::string steps_away = r.add("Sub", {r.scalar(static_cast<float>(at), x), r.in(kZero)});
      const std::string b = r.add("Mul", {steps_away, r.in(kScale)});
      return s.axis ? b : r.add("Squeeze", {b});
    };
    const std::string low = bound(i.low), high = bound(i.high);
    x = s.axis ? r.add("Min", {r.add("Max", {x, low}), high}) : r.add("Clip", {x, low, high});
  }
  if (!s.is_zero) r.remark(make_diag<DiagCode::MRV0161>());
  return with_steps(r, "QuantizeLinear", x, s);
}

Status in_floats(Decomposition& r, const Quantizer& q, std::string_view why) {
  r.remark(make_diag<DiagCode::MRV0162>(why));
  MRVLC_ASSIGN(std::string y, codes(r, q));
  r.result(0, r.add("Mul", {r.add("Sub", {y, r.in(kZero)}), r.in(kScale)}));
  return {};
}

Status quantize(Decomposition& r, const Quantizer& q) {
  constexpr int64_t kMostBits = 16;  // of QuantizeLinear
  const bool constant = r.value(kX) != nullptr;
  constexpr Interval kAny = {INT32_MIN, INT32_MAX};
  const bool wide = constant && q.bits > 8;
  if (!constant && q.bits > kMostBits)
    return in_floats(r, q, fmt::format("no QuantizeLinear has {} bits", q.bits));
  if (std::optional<std::string> why = no_steps(r, wide ? kAny : q.held())) return in_floats(r, q, *why);
  const ElementType type = wide ? ElementType::I32 : q.type();
  const Steps s = steps(r, type);
  std::string integers;
  if (constant) {
    MRVLC_ASSIGN(integers, codes(r, q));
    integers = r.cast(integers, type);
  } else if (q.is_nearest() && !q.is_bipolar()) {
    integers = nearest(r, q, s);
  } else {
    MRVLC_ASSIGN(const std::string y, codes(r, q));
    integers = r.add("QuantizeLinear", {y, r.scalar(1, y), r.cast(r.number(0), type)});
  }
  r.result(0, with_steps(r, "DequantizeLinear", integers, s));
  return {};
}

// Inputs: x, scale, zero point, bits.
Status quant(Decomposition& r) {
  Quantizer q;
  MRVLC_ASSIGN(q.bits, bits(r, kBits));
  q.is_signed = r.int_attr("signed", 1) != 0;
  q.narrow = r.int_attr("narrow", 0) != 0;
  q.mode = upper(r.string_attr("rounding_mode"));
  if (q.mode.empty()) q.mode = "ROUND";
  if (q.narrow && q.bits == 1 && !q.is_signed)
    return make_diag<DiagCode::MRV0160>("1 and narrow: only 0 is left");
  return quantize(r, q);
}

// Inputs: x, scale. The sign, of 0 that of 1.
Status bipolar_quant(Decomposition& r) {
  const std::string zero = r.scalar(0, r.in(kX));
  const std::string is_positive = r.add("GreaterOrEqual", {r.in(kX), zero});
  const std::string one = r.cast(r.number(1), ElementType::I8), minus = r.cast(r.number(-1), ElementType::I8);
  const std::string sign = r.add("Where", {is_positive, one, minus});
  const Tensor* scale = r.value(kScale);
  if (scale == nullptr || !channel_from_back(scale->shape()) ||
      scale->shape().size() > static_cast<size_t>(r.type(kX).rank())) {
    r.remark(
        make_diag<DiagCode::MRV0162>("its scale is not known at compile time, or has several dimensions"));
    r.result(0, r.add("Mul", {r.add("CastLike", {sign, r.in(kX)}), r.in(kScale)}));
    return {};
  }
  std::string y = r.add("DequantizeLinear", {sign, r.add("Squeeze", {r.in(kScale)})});
  if (scale->elements() != 1)
    r.set("axis", r.type(kX).rank() - static_cast<int64_t>(*channel_from_back(scale->shape())));
  r.result(0, y);
  return {};
}

// Inputs: x, scale, zero point, bits of x and of the result: the lowest bits go.
Status trunc(Decomposition& r) {
  MRVLC_ASSIGN(const int64_t from, bits(r, kBits));
  MRVLC_ASSIGN(const int64_t to, bits(r, kOutBits));
  std::string mode = upper(r.string_attr("rounding_mode"));
  if (mode.empty()) mode = "FLOOR";
  std::string y = r.add("Round", {r.add("Add", {r.add("Div", {r.in(kX), r.in(kScale)}), r.in(kZero)})});
  const auto factor = static_cast<float>(std::ldexp(1.0, static_cast<int>(from - to)));
  MRVLC_ASSIGN(y, rounded(r, r.add("Div", {y, r.scalar(factor, y)}), mode));
  r.remark(
      make_diag<DiagCode::MRV0162>("Trunc does not say whether its integers have a sign, nor bounds them"));
  r.result(0, r.add("Mul", {r.add("Sub", {y, r.in(kZero)}), r.in(kScale)}));
  return {};
}

}  // namespace

const std::vector<ContribOp>& contrib_qonnx() {
  static const std::vector<ContribOp> ops = [] {
    std::vector<ContribOp> all;
    for (std::string_view domain : {"qonnx.custom_op.general", "finn.custom_op.general", "onnx.brevitas"}) {
      all.push_back({domain, "Quant", 4, 4, quant, "QuantizeLinear, DequantizeLinear"});
      all.push_back({domain, "BipolarQuant", 2, 2, bipolar_quant, "GreaterOrEqual, Where, DequantizeLinear"});
      all.push_back({domain, "Trunc", 5, 5, trunc, "Div, Add, Round, Floor, Sub, Mul"});
    }
    return all;
  }();
  return ops;
}

}  // namespace mrvlc::onnx
