// Integers of 8 bits: exact sums, their scales, tables of 256.
#include <algorithm>
#include <cmath>

#include "reference.h"
#include "shapes.h"

namespace mrvlc::prove {
namespace {

// An integer of 32 bits is a sum of two numbers that fp32 holds.
uint64_t of_integer(const Field& f, int32_t v) {
  return f.add(f.of(static_cast<float>(v / 65536 * 65536)), f.of(static_cast<float>(v % 65536)));
}

Type byte_type(ElementType t) {
  return t == ElementType::I8 ? Type::I8 : Type::U8;
}

}  // namespace

// Sums of (x - zero) * (w - zero), exact.
std::vector<uint64_t> Reference::integer_sums(const Node& n, size_t weights, size_t zero_x, size_t zero_w) {
  const Symbols& x = get(n.inputs.at(0));
  const Tensor& w = c_.of(n.inputs.at(weights));
  const ConvShape c = conv_shape(n, x.shape, w.shape(), n.outputs.at(0).shape);
  const auto given = [&](size_t i) {
    return i < n.inputs.size() && !n.inputs[i].empty() ? &c_.of(n.inputs[i]) : nullptr;
  };
  const Tensor *zx = given(zero_x), *zw = given(zero_w);
  const Field& f = v_.field();
  const auto each = static_cast<size_t>(w.elements() / c.out);
  std::vector<uint64_t> of_field(static_cast<size_t>(w.elements()));
  for (size_t i = 0; i < of_field.size(); ++i) {
    const int64_t zero =
        zw == nullptr ? 0 : zw->as_int(zw->elements() == 1 ? 0 : static_cast<int64_t>(i / each));
    of_field[i] = f.of(static_cast<float>(w.as_int(static_cast<int64_t>(i)) - zero));
  }
  const uint64_t zero = f.neg(f.of(zx == nullptr ? 0.0f : static_cast<float>(zx->as_int(0))));
  return conv_sums(
      v_, x, c, of_field, [&](uint64_t e) { return f.add(e, zero); }, false);
}

void Reference::integer_conv(const Layer& l) {
  const Node& n = l.nodes.at(l.anchor);
  if (l.anchor != 0) throw NotProved{"a product that is not the first of its layer"};
  if (n.op == "QLinearConv") return quantized_conv(l);
  if (n.op == "ConvInteger") return scaled_conv(l);
  throw NotProved{n.op + " has no reference yet"};
}

void Reference::quantized_conv(const Layer& l) {
  const Node& n = l.nodes[0];
  const Quantum qx = quantum(n, 1, 2), qy = quantum(n, 6, 7);
  const Tensor& sw = c_.of(n.inputs.at(4));
  const std::vector<uint64_t> sums = integer_sums(n, 3, 2, 5);
  const Tensor* bias = n.inputs.size() > 8 && !n.inputs[8].empty() ? &c_.of(n.inputs[8]) : nullptr;
  float low = -kInfinity, high = kInfinity;
  for (size_t k = 1; k < l.nodes.size(); ++k) {
    const Node& clip = l.nodes[k];
    if (clip.op != "Clip") throw NotProved{clip.op + " behind a product of integers"};
    const auto bound = [&](size_t i, float otherwise) {
      return i < clip.inputs.size() && !clip.inputs[i].empty()
                 ? static_cast<float>(c_.of(clip.inputs[i]).as_int(0))
                 : otherwise;
    };
    // The bounds are integers of y.
    low = std::max(low, (bound(1, -kInfinity) - qy.zero));
    high = std::min(high, (bound(2, kInfinity) - qy.zero));
  }
  const Shape& shape = n.outputs[0].shape;
  Symbols s{shape, {}};
  const auto channels = static_cast<size_t>(shape.at(1));
  const size_t pixels = sums.size() / static_cast<size_t>(shape.at(0)) / channels;
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto channel = static_cast<int64_t>(i / pixels % channels);
    uint64_t sum = sums[i];
    if (bias != nullptr)
      sum = v_.field().add(sum, of_integer(v_.field(), static_cast<int32_t>(bias->as_int(channel))));
    const auto scale = static_cast<float>(sw.as_double(sw.elements() == 1 ? 0 : channel));
    const float product = qx.scale * scale;
    const Val real = v_.is_real() ? v_.div(v_.mul(number(qx.scale), number(scale)), number(qy.scale))
                                  : number(product / qy.scale);
    const Val y = v_.clip(v_.mul(v_.from_sum(sum), real), low, high);
    s.v.push_back(v_.store(y, {qy.zero, 1.0f}, byte_type(n.outputs[0].elem)));
  }
  put(l.nodes.back().outputs.at(0), std::move(s));
}

// ConvInteger, Cast, Mul by constants: in fp32; then an element-wise layer.
void Reference::scaled_conv(const Layer& l) {
  if (l.nodes.size() < 3 || l.nodes[1].op != "Cast" || l.nodes[2].op != "Mul")
    throw NotProved{"ConvInteger without its scale"};
  const Node &n = l.nodes[0], &mul = l.nodes[2];
  const bool first = c_.is_constant(mul.inputs.at(0));
  const std::vector<float> factors = c_.numbers(mul.inputs.at(first ? 0 : 1));
  const std::vector<uint64_t> sums = integer_sums(n, 1, 2, 3);
  const Shape& shape = mul.outputs.at(0).shape;
  if (element_count(shape) != static_cast<int64_t>(sums.size()) || shape.size() < 2)
    throw NotProved{"ConvInteger whose shapes do not agree"};
  const auto channels = static_cast<size_t>(shape[1]);
  const size_t pixels = sums.size() / static_cast<size_t>(shape[0]) / channels;
  Symbols s{shape, {}};
  for (size_t i = 0; i < sums.size(); ++i)
    s.v.push_back(
        v_.mul(v_.from_sum(sums[i]), number(factors.at(factors.size() == 1 ? 0 : i / pixels % channels))));
  if (l.nodes.size() == 3) return put(mul.outputs[0], std::move(s));
  env_.insert_or_assign(mul.outputs[0].name, std::move(s));
  wide_.insert(mul.outputs[0].name);
  elementwise(l, 3);
}

// Each function in double, rounded to fp32; the last operator makes integers of it.
bool Reference::code_table(const Layer& l) {
  const Node& last = l.nodes.back();
  if (v_.is_real() || l.nodes.size() < 2 || last.op != "QuantizeLinear") return false;
  const std::string& name = l.nodes[0].inputs.at(0);
  if (c_.is_constant(name) || !codes_.contains(name)) return false;
  const auto& [type, from] = codes_.at(name);
  for (size_t k = 0; k + 1 < l.nodes.size(); ++k) {
    const Node& n = l.nodes[k];
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const bool operand = i == 0 && (k == 0 || n.inputs[0] == l.nodes[k - 1].outputs.at(0).name);
      const bool constant =
          n.inputs[i].empty() || (c_.is_constant(n.inputs[i]) && c_.of(n.inputs[i]).elements() == 1);
      if (i == 0 ? !operand : !constant) return false;
    }
    if (!value_of(n, 1.0)) return false;
  }
  const Quantum to = quantum(last, 1, 2);
  const Type result = byte_type(last.outputs[0].elem);
  const int low = type == Type::I8 ? -128 : 0, low_result = result == Type::I8 ? -128 : 0;
  std::string bytes(256, '\0');
  for (int code = 0; code < 256; ++code) {
    float v = static_cast<float>(code + low - from.zero) * from.scale;
    for (size_t k = 0; k + 1 < l.nodes.size(); ++k)
      v = static_cast<float>(*value_of(l.nodes[k], static_cast<double>(v)));
    const float y = number_of(v_.store(number(v), to, result));
    bytes[static_cast<uint8_t>(code + low_result)] = static_cast<char>(static_cast<int>(y));
  }
  const uint32_t id = v_.register_bytes(bytes);
  Symbols s = get(name);
  const Quantum plain{static_cast<int16_t>(low), 1.0f}, plain_result{static_cast<int16_t>(low_result), 1.0f};
  for (Val& v : s.v) {
    const Val q = v_.store(v, from, type);  // the integer that was read
    v = v_.look_up_byte(id, v_.store(v_.read(q, plain), plain_result, result), result);
  }
  put(last.outputs[0], std::move(s));
  return true;
}

// Of an operator of one variable operand, in double; nullopt: it is none that is known here.
std::optional<double> Reference::value_of(const Node& n, double x) {
  const auto constant = [&](size_t i, double otherwise) {
    return i < n.inputs.size() && !n.inputs[i].empty() ? c_.of(n.inputs[i]).as_double(0) : otherwise;
  };
  const auto attribute = [&](const char* name, float otherwise) {
    return static_cast<double>(n.real(name, otherwise));
  };
  const auto clipped = [](double v, double low, double high) {
    v = v < low ? low : v;
    return v > high ? high : v;
  };
  if (!n.domain.empty()) return std::nullopt;
  if (n.op == "Relu") return x > 0 ? x : 0.0;
  if (n.op == "Clip")
    return clipped(x, constant(1, -std::numeric_limits<double>::infinity()),
                   constant(2, std::numeric_limits<double>::infinity()));
  if (n.op == "LeakyRelu") return x < 0 ? attribute("alpha", 0.01f) * x : x;
  if (n.op == "HardSigmoid") return clipped(attribute("alpha", 0.2f) * x + attribute("beta", 0.5f), 0, 1);
  if (n.op == "HardSwish") return x * clipped(x / 6 + 0.5, 0, 1);
  if (n.op == "Sqrt") return std::sqrt(x);
  if (n.op == "Reciprocal") return 1 / x;
  if (n.op == "Abs") return std::fabs(x);
  if (n.op == "Neg") return -x;
  if (n.op == "Floor") return std::floor(x);
  if (n.op == "Ceil") return std::ceil(x);
  if (n.op == "Exp") return std::exp(x);
  if (n.op == "Log") return std::log(x);
  if (n.op == "Sinh") return std::sinh(x);
  if (n.op == "Cosh") return std::cosh(x);
  if (n.inputs.size() == 2 && c_.is_constant(n.inputs[1])) {
    const double c = constant(1, 0);
    if (n.op == "Add") return x + c;
    if (n.op == "Sub") return x - c;
    if (n.op == "Mul") return x * c;
    if (n.op == "Div") return x / c;
    if (n.op == "Pow") return std::pow(x, c);
    if (n.op == "PRelu") return x < 0 ? c * x : x;
  }
  if (const auto f = table_function(n)) return f->of(x);
  return std::nullopt;
}

// Of claim B: the sums themselves.
void Reference::exact_integer_conv(const Node& n) {
  Symbols s{n.outputs.at(0).shape, integer_sums(n, 1, 2, 3)};
  put(n.outputs[0], std::move(s));
}

}  // namespace mrvlc::prove
