// Element-wise layers and activations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reference.h"

namespace mrvlc::prove {
namespace {

float as_float(double v) {
  return static_cast<float>(v);
}

}  // namespace

// By its name alone: nodes come and go.
Reference::Function Reference::table(const std::string& name, const std::function<double(double)>& f,
                                     bool steps) {
  auto known = named_tables_.find(name);
  if (known == named_tables_.end())
    known = named_tables_.emplace(name, v_.register_table(name, steps ? steps_of(f) : table_of(f))).first;
  return [this, id = known->second](Val x) { return v_.look_up(id, x); };
}

Reference::Function Reference::activation(const Node& n) {
  if (n.op == "Relu") return [this](Val x) { return v_.clip(x, 0, kInfinity); };
  if (n.op == "LeakyRelu")
    return [this, slope = n.real("alpha", 0.01f)](Val x) { return v_.leaky(x, slope); };
  if (n.op == "Clip") {
    const auto bound = [&](size_t i, float otherwise) {
      if (i >= n.inputs.size() || n.inputs[i].empty()) return otherwise;
      return as_float(c_.of(n.inputs[i]).as_double(0));
    };
    const float low = bound(1, -kInfinity), high = bound(2, kInfinity);
    return [this, low, high](Val x) { return v_.clip(x, low, high); };
  }
  const bool swish = n.op == "HardSwish";
  if (swish || n.op == "HardSigmoid") {
    const Val alpha = number(swish ? as_float(1.0 / 6) : n.real("alpha", 0.2f)),
              beta = number(swish ? 0.5f : n.real("beta", 0.5f));
    return [this, swish, alpha, beta](Val x) {
      const Val part = v_.clip(v_.fma(alpha, x, beta), 0, 1);
      return swish ? v_.mul(x, part) : part;
    };
  }
  const auto f = table_function(n);
  if (!f) throw NotProved{n.op + " has no reference yet"};
  return table(f->name, f->of);
}

Reference::Function Reference::exponential() {
  const Function exp = table("Exp", [](double v) { return std::exp(v); });
  if (v_.is_real()) return exp;
  const Function steps = table(
      "steps Exp 2", [](double v) { return std::exp(2 * v); }, true);
  return [this, exp, steps](Val x) {
    const Val n = v_.floor(v_.clip(v_.mul(number(0.5f), x), -64, 64));
    return v_.mul(steps(n), exp(v_.fma(number(1), x, v_.mul(number(-2), n))));
  };
}

// Integers as numbers.
bool Reference::widens(const Node& n) const {
  const auto made = producer_.find(n.inputs.at(0));
  if (made == producer_.end() || n.outputs.at(0).elem != ElementType::F32) return false;
  return std::any_of(made->second->outputs.begin(), made->second->outputs.end(),
                     [&](const ValueInfo& o) { return o.name == n.inputs[0] && is_integer(o.elem); });
}

Reference::Function Reference::logarithm(bool large) {
  if (v_.is_real()) return table("Log", [](double v) { return std::log(v); });
  const double times = large ? 4 : 2;
  const Function of_root =
      table(fmt::format("Log {}", times), [times](double v) { return times * std::log(v); });
  return [this, of_root, large](Val x) { return of_root(v_.sqrt(large ? v_.sqrt(x) : x)); };
}

Reference::Function Reference::hyperbolic(bool sine) {
  const Function exp = exponential();
  const auto cosh = [this, exp](Val x) {
    const Val e = exp(v_.abs(x));
    return v_.fma(number(0.5f), e, v_.mul(number(0.5f), v_.div(number(1), e)));
  };
  if (!sine) return cosh;
  const Function tanh = table("Tanh", [](double v) { return std::tanh(v); });
  return [this, tanh, cosh](Val x) { return v_.mul(tanh(x), cosh(x)); };
}

Reference::Function Reference::unary(const Node& n, bool stored_half, bool large) {
  if (n.op == "Sqrt") return [this](Val x) { return v_.sqrt(x); };
  if (n.op == "Reciprocal") return [this](Val x) { return v_.div(number(1), x); };
  if (n.op == "Abs") return [this](Val x) { return v_.abs(x); };
  if (n.op == "Neg") return [this](Val x) { return v_.neg(x); };
  if (n.op == "Floor") return [this](Val x) { return v_.floor(x); };
  if (n.op == "Ceil") return [this](Val x) { return v_.neg(v_.floor(v_.neg(x))); };
  if (n.op == "Identity" || (n.op == "Cast" && v_.is_real() && widens(n))) return [](Val x) { return x; };
  if (n.op == "Exp") return exponential();
  if (n.op == "Log") return logarithm(large);
  if (n.op == "Cosh" || n.op == "Sinh") return hyperbolic(n.op == "Sinh");
  const Function f = activation(n);
  if (n.op == "HardSwish" && stored_half && !v_.is_real())
    return [this, f](Val x) { return f(v_.clip(x, -4, kInfinity)); };
  return f;
}

Symbols Reference::power(const Node& n, Symbols s) {
  const double exponent = c_.is_constant(n.inputs.at(1)) && c_.of(n.inputs[1]).elements() == 1
                              ? c_.of(n.inputs[1]).as_double(0)
                              : 0;
  const Function root = table("root", [](double v) { return std::isinf(v) ? std::fabs(v) : v; });
  for (Val& x : s.v) {
    if (exponent == 2)
      x = v_.mul(x, x);
    else if (exponent == 3)
      x = v_.mul(v_.mul(x, x), x);
    else if (exponent == 0.5 && v_.is_real())
      x = v_.sqrt(x);
    else if (exponent == 0.5)
      x = v_.sqrt(root(x));
    else
      throw NotProved{"Pow with another exponent"};
  }
  return s;
}

Reference::Binary Reference::operation(const Node& n) {
  constexpr std::pair<std::string_view, Binary> kAll[] = {
      {"Add", &Values::add}, {"Sub", &Values::sub}, {"Mul", &Values::mul},    {"Div", &Values::div},
      {"Max", &Values::max}, {"Min", &Values::min}, {"PRelu", &Values::prelu}};
  for (const auto& [op, f] : kAll)
    if (n.op == op) return f;
  throw NotProved{n.op + " has no reference yet"};
}

// Constants of several values as they are stored; of one, the line that the operator is in the other.
Symbols Reference::binary(const Node& n, const std::map<std::string, Symbols>& local, bool exact) {
  const Shape& y = n.outputs.at(0).shape;
  const auto side = [&](size_t i) -> Symbols {
    const std::string& name = n.inputs.at(i);
    if (const auto own = local.find(name); own != local.end()) return own->second;
    if (!c_.is_constant(name)) return get(name);
    if (v_.is_real()) return constant(name);
    std::vector<float> numbers = c_.numbers(name);
    const bool scalar = numbers.size() == 1 && !c_.is_constant(n.inputs[1 - i]);
    const bool line =
        scalar && (n.is({"Add", "Sub"}) || (n.op == "Mul" && std::isfinite(numbers[0]) && numbers[0] != 0) ||
                   (n.op == "Div" && i == 1 && std::isfinite(1 / numbers[0])));
    if (line && n.op == "Div") numbers[0] = as_float(1 / c_.of(name).as_double(0));
    if (!line && !exact) numbers = as_stored(std::move(numbers));
    Symbols s{c_.of(name).shape(), {}};
    for (float f : numbers) s.v.push_back(number(f));
    return s;
  };
  if (n.op == "Pow") return power(n, side(0));
  const Symbols a = side(0), b = side(1);
  const bool reciprocal = !v_.is_real() && n.op == "Div" && c_.is_constant(n.inputs[1]) && b.v.size() == 1 &&
                          std::isfinite(1 / c_.numbers(n.inputs[1])[0]);
  const std::vector<size_t> from_a = broadcast_offsets(a.shape, y), from_b = broadcast_offsets(b.shape, y);
  const Binary f = reciprocal ? &Values::mul : operation(n);
  Symbols s{y, {}};
  s.v.reserve(from_a.size());
  for (size_t i = 0; i < from_a.size(); ++i) s.v.push_back((v_.*f)(a.v[from_a[i]], b.v[from_b[i]]));
  return s;
}

// (q - zero) * scale, of one scale or one along an axis.
Symbols Reference::dequantized(const Node& n) {
  Symbols s = get(n.inputs.at(0));
  const Tensor& scale = c_.of(n.inputs.at(1));
  const Tensor* zero = n.inputs.size() > 2 && !n.inputs[2].empty() ? &c_.of(n.inputs[2]) : nullptr;
  const auto rank = static_cast<int64_t>(s.shape.size());
  int64_t axis = n.integer("axis", 1), inner = 1;
  if (axis < 0) axis += rank;
  for (int64_t d = axis + 1; d < rank; ++d) inner *= s.shape[static_cast<size_t>(d)];
  if (n.integer("block_size", 0) != 0) throw NotProved{"scales of blocks"};
  if (scale.elements() == 0) throw NotProved{"no scale"};
  for (size_t i = 0; i < s.v.size(); ++i) {
    const int64_t k = scale.elements() == 1 ? 0 : static_cast<int64_t>(i) / inner % scale.elements();
    const int64_t z = zero == nullptr ? 0 : zero->as_int(zero->elements() == 1 ? 0 : k);
    s.v[i] = v_.read(s.v[i], {static_cast<int16_t>(z), static_cast<float>(scale.as_double(k))});
  }
  return s;
}

Symbols Reference::apply(const Node& n, const std::map<std::string, Symbols>& local, bool exact) {
  if (n.is({"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu", "Pow"}) && n.inputs.size() == 2)
    return binary(n, local, exact);
  const std::string& name = n.inputs.at(0);
  const auto own = local.find(name);
  Symbols s = own != local.end() ? own->second : c_.is_constant(name) ? constant(name) : get(name);
  const bool half = own == local.end() && !is_wide(name) && !codes_.contains(name);
  const bool large = is_asked(name) || exact;
  if (n.op == "QuantizeLinear") return s;
  if (n.op == "DequantizeLinear" && own == local.end()) return dequantized(n);
  const Function f = unary(n, half, large);
  for (Val& x : s.v) x = f(x);
  return s;
}

// Operators in fp32 up to the end of the layer, then rounded once; one that broadcasts to a larger shape
// reads a stored value.
void Reference::elementwise(const Layer& l, size_t from) {
  const Node& last = l.nodes.back();
  const bool quantised = last.op == "QuantizeLinear", exact = quantised || is_asked(last.outputs.at(0).name);
  std::map<std::string, Symbols> local;
  for (size_t k = from; k < l.nodes.size(); ++k) {
    const Node& n = l.nodes[k];
    Symbols s = apply(n, local, exact);
    s.shape = n.outputs.at(0).shape;
    if (n.op == "QuantizeLinear" && k + 1 < l.nodes.size())
      throw NotProved{"a QuantizeLinear inside a layer"};
    const bool ends = k + 1 == l.nodes.size() || l.nodes[k + 1].outputs.at(0).shape != s.shape;
    if (k + 1 == l.nodes.size() && quantised) {
      const Quantum q = quantum(n, 1, 2);
      for (Val& v : s.v) v = v_.store(v, q, n.outputs[0].elem == ElementType::I8 ? Type::I8 : Type::U8);
    } else if (ends && k + 1 < l.nodes.size() && !exact) {
      for (Val& v : s.v) v = v_.half(v);
    }
    if (k + 1 == l.nodes.size()) {
      put(n.outputs[0], std::move(s));
    } else {
      local.insert_or_assign(n.outputs[0].name, std::move(s));
    }
  }
}

}  // namespace mrvlc::prove
