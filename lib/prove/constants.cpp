// Initializers, batch norm and factors folded into them, and their rounding.
#include "constants.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/tensor/float16.h"

namespace mrvlc::prove {
namespace {

// What a node behind a product does to its channels: y = scale x + shift.
struct Affine {
  std::vector<double> scale, shift;
};

const Tensor* constant_input(const ir::Graph& g, const ir::Node& n, size_t i) {
  return i < n.inputs.size() ? g.constant(n.inputs[i]) : nullptr;
}

std::string_view op_of(const ir::Node& n) {
  return n.op->name;
}

std::optional<Affine> batch_norm(const ir::Graph& g, const ir::Node& n) {
  const Tensor* t[4];
  for (size_t i = 0; i < 4; ++i)
    if ((t[i] = constant_input(g, n, i + 1)) == nullptr) return std::nullopt;
  Affine a;
  const auto epsilon = static_cast<double>(n.float_attr("epsilon"));
  for (int64_t c = 0; c < t[0]->elements(); ++c) {
    a.scale.push_back(t[0]->as_double(c) / std::sqrt(t[3]->as_double(c) + epsilon));
    a.shift.push_back(t[1]->as_double(c) - t[2]->as_double(c) * a.scale.back());
  }
  return a;
}

std::optional<Affine> affine(const ir::Graph& g, const ir::Node& n) {
  if (op_of(n) == "BatchNormalization") return batch_norm(g, n);
  const bool sum = op_of(n) == "Add" || op_of(n) == "Sub";
  if (!sum && op_of(n) != "Mul" && op_of(n) != "Div") return std::nullopt;
  const Tensor* t = constant_input(g, n, 1);
  const bool commutes = op_of(n) == "Add" || op_of(n) == "Mul";
  if (t == nullptr && commutes) t = constant_input(g, n, 0);
  if (t == nullptr || !is_float(t->elem())) return std::nullopt;
  Affine a;
  for (int64_t c = 0; c < t->elements(); ++c) {
    const double x = t->as_double(c);
    a.scale.push_back(op_of(n) == "Mul" ? x : op_of(n) == "Div" ? 1 / x : 1);
    a.shift.push_back(op_of(n) == "Add" ? x : op_of(n) == "Sub" ? -x : 0);
  }
  return a;
}

std::vector<float> floats_of(const Tensor& t) {
  if (t.elem() == ElementType::F32) {
    const auto all = t.data<float>();
    return {all.begin(), all.end()};
  }
  std::vector<float> out(static_cast<size_t>(t.elements()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(t.as_double(static_cast<int64_t>(i)));
  return out;
}

double of_channel(const std::vector<double>& v, size_t c) {
  return v.size() == 1 ? v[0] : v[c];
}

}  // namespace

void Constants::index() {
  for (size_t i = 0; i < g_.value_slots(); ++i) {
    const ir::ValueId id(static_cast<uint32_t>(i));
    if (g_.is_constant(id)) by_name_.emplace(g_.value(id).name, id);
  }
  for (ir::NodeId n : g_.topological_order())
    for (ir::SourceId s : g_.lineage(n).sources) by_source_.emplace(g_.sources()[s.index()].id, n);
}

const Tensor& Constants::of(const std::string& name) {
  if (const auto known = known_.find(name); known != known_.end()) return known->second;
  const auto hint = region_.constants.find(name);
  if (hint == region_.constants.end()) throw NotProved{"it reads '" + name + "', which is no constant"};
  const FoldedConstant& c = hint->second;
  if (c.folded) return known_.emplace(name, folded(c)).first->second;
  const auto value = by_name_.find(name);
  if (value == by_name_.end()) throw NotProved{"constant '" + name + "' is not one of the model"};
  const Tensor& t = g_.value(value->second).constant();
  if (t.elem() != c.value.elem || t.elements() != element_count(c.value.shape))
    throw NotProved{"constant '" + name + "' has another type or shape in the model"};
  return known_.emplace(name, t.reshaped(c.value.shape)).first->second;
}

const Shape& Constants::shape(const std::string& name) const {
  const auto hint = region_.constants.find(name);
  if (hint == region_.constants.end()) throw NotProved{"it reads '" + name + "', which is no constant"};
  return hint->second.value.shape;
}

bool Constants::has(const std::string& name) {
  try {
    of(name);
    return true;
  } catch (const NotProved&) {
    return false;
  }
}

Tensor Constants::folded(const FoldedConstant& c) {
  for (auto derive :
       {&Constants::scaled, &Constants::dequantized, &Constants::lowered_norm, &Constants::reshaped,
        &Constants::integer_weights, &Constants::filled, &Constants::mask})
    if (auto derived = (this->*derive)(c)) return std::move(*derived);
  const TensorType type{c.value.elem, c.value.shape};
  if (!c.bytes || static_cast<int64_t>(c.bytes->size()) != type.bytes())
    throw NotProved{"how constant '" + c.value.name + "' was folded is not known"};
  return Tensor(type, *c.bytes);
}

std::optional<Constants::Chain> Constants::chain(const FoldedConstant& c) const {
  if (c.value.elem != ElementType::F32) return std::nullopt;
  Chain out;
  for (const std::string& s : c.sources) {
    const auto found = by_source_.find(s);
    if (found == by_source_.end()) return std::nullopt;
    out.after.push_back(found->second);
  }
  std::sort(out.after.begin(), out.after.end(),
            [&](ir::NodeId a, ir::NodeId b) { return g_.node(a).position < g_.node(b).position; });
  if (out.after.size() < 2) return std::nullopt;
  const ir::Node& product = g_.node(out.after[0]);
  out.after.erase(out.after.begin());
  const bool gemm = op_of(product) == "Gemm";
  if (op_of(product) != "Conv" && !(gemm && product.int_attr("transB") == 1 &&
                                    product.float_attr("alpha") == 1 && product.float_attr("beta") == 1))
    return std::nullopt;
  out.weights = constant_input(g_, product, 1);
  out.bias = constant_input(g_, product, 2);
  if (out.weights == nullptr ||
      (product.inputs.size() > 2 && product.inputs[2].valid() && out.bias == nullptr))
    return std::nullopt;
  out.channels = static_cast<size_t>(out.weights->shape()[0]);
  if (out.bias != nullptr && static_cast<size_t>(out.bias->elements()) != out.channels) return std::nullopt;
  out.of_weights = c.value.shape == out.weights->shape();
  if (!out.of_weights && c.value.shape != Shape{static_cast<int64_t>(out.channels)}) return std::nullopt;
  out.inner = out.of_weights ? static_cast<size_t>(out.weights->elements()) / out.channels : 1;
  for (ir::NodeId n : out.after) {
    const auto a = affine(g_, g_.node(n));
    if (!a || (a->scale.size() != 1 && a->scale.size() != out.channels)) return std::nullopt;
  }
  return out;
}

// Weights or bias of a product and what follows it: w = fp32(double(w) * s), b = fp32(double(b) * s + t), in
// turn.
std::optional<Tensor> Constants::scaled(const FoldedConstant& c) const {
  const std::optional<Chain> k = chain(c);
  if (!k) return std::nullopt;
  std::vector<float> v(k->channels * k->inner, 0.0f);
  if (k->of_weights || k->bias != nullptr) v = floats_of(k->of_weights ? *k->weights : *k->bias);
  for (ir::NodeId n : k->after) {
    const Affine a = *affine(g_, g_.node(n));
    const bool unit = std::all_of(a.scale.begin(), a.scale.end(), [](double x) { return x == 1; });
    for (size_t i = 0; i < v.size(); ++i) {
      const double s = of_channel(a.scale, i / k->inner), t = of_channel(a.shift, i / k->inner);
      if (k->of_weights && !unit) v[i] = static_cast<float>(static_cast<double>(v[i]) * s);
      if (!k->of_weights) v[i] = static_cast<float>(static_cast<double>(v[i]) * s + t);
    }
  }
  Tensor out(TensorType{ElementType::F32, c.value.shape});
  std::copy(v.begin(), v.end(), out.mutable_data<float>().begin());
  return out;
}

// (q - zero) * scale of constant integers, in fp32.
std::optional<Tensor> Constants::dequantized(const FoldedConstant& c) const {
  if (c.sources.size() != 1 || c.value.elem != ElementType::F32 || !by_source_.contains(c.sources[0]))
    return std::nullopt;
  const ir::Node& n = g_.node(by_source_.at(c.sources[0]));
  if (op_of(n) != "DequantizeLinear") return std::nullopt;
  const Tensor *q = constant_input(g_, n, 0), *s = constant_input(g_, n, 1), *z = constant_input(g_, n, 2);
  if (q == nullptr || s == nullptr || q->shape() != c.value.shape) return std::nullopt;
  const auto rank = static_cast<int64_t>(q->shape().size());
  int64_t axis = n.int_attr("axis"), inner = 1;
  if (axis < 0) axis += rank;
  for (int64_t d = axis + 1; d < rank; ++d) inner *= q->shape()[static_cast<size_t>(d)];
  const bool one = s->elements() == 1;
  if (!one && (axis < 0 || axis >= rank || s->elements() != q->shape()[static_cast<size_t>(axis)]))
    return std::nullopt;
  Tensor out(TensorType{ElementType::F32, c.value.shape});
  const auto to = out.mutable_data<float>();
  for (int64_t i = 0; i < q->elements(); ++i) {
    const int64_t k = one ? 0 : i / inner % s->elements();
    const int64_t zero = z == nullptr ? 0 : z->as_int(z->elements() == 1 ? 0 : k);
    to[static_cast<size_t>(i)] =
        static_cast<float>(q->as_int(i) - zero) * static_cast<float>(s->as_double(k));
  }
  return out;
}

// Weights of a product of integers as those of a convolution: one row an output.
std::optional<Tensor> Constants::integer_weights(const FoldedConstant& c) const {
  for (const std::string& source : c.sources) {
    const auto found = by_source_.find(source);
    if (found == by_source_.end() || c.value.shape.empty()) return std::nullopt;
    const ir::Node& n = g_.node(found->second);
    if ((op_of(n) != "Gemm" && op_of(n) != "MatMul") || g_.value(n.inputs[1]).kind != ir::ValueKind::Result)
      continue;
    const Tensor* q = constant_input(g_, g_.node(g_.value(n.inputs[1]).producer), 0);
    if (q == nullptr || q->elem() != c.value.elem || q->elements() != element_count(c.value.shape)) continue;
    if (op_of(n) == "Gemm" && n.int_attr("transB") != 0) return q->reshaped(c.value.shape);
    if (q->shape().size() != 2 || c.value.shape[0] != q->shape()[1]) continue;
    Tensor out(TensorType{c.value.elem, c.value.shape});
    const int64_t rows = q->shape()[0], columns = q->shape()[1];
    for (int64_t i = 0; i < q->elements(); ++i) out.set_int(i, q->as_int(i % rows * columns + i / rows));
    return out;
  }
  return std::nullopt;
}

// ConstantOfShape.
std::optional<Tensor> Constants::filled(const FoldedConstant& c) const {
  if (c.sources.size() != 1 || !by_source_.contains(c.sources[0])) return std::nullopt;
  const ir::Node& n = g_.node(by_source_.at(c.sources[0]));
  if (op_of(n) != "ConstantOfShape") return std::nullopt;
  double value = 0;
  for (const ir::Attr& a : n.attrs)
    if (const auto* t = std::get_if<Tensor>(&a); t != nullptr && t->elements() == 1) value = t->as_double(0);
  Tensor out(TensorType{c.value.elem, c.value.shape});
  for (int64_t i = 0; i < out.elements() && value != 0; ++i) {
    if (c.value.elem != ElementType::F32) return std::nullopt;
    out.mutable_data<float>()[static_cast<size_t>(i)] = static_cast<float>(value);
  }
  return out;
}

// What is added to scores for a Where of a constant condition: -infinity where this takes its constant of
// -1e9 or less, else 0.
std::optional<Tensor> Constants::mask(const FoldedConstant& c) const {
  for (const std::string& source : c.sources) {
    const auto found = by_source_.find(source);
    if (found == by_source_.end() || op_of(g_.node(found->second)) != "Where") continue;
    const ir::Node& n = g_.node(found->second);
    const Tensor* condition = constant_input(g_, n, 0);
    if (condition == nullptr || condition->shape() != c.value.shape || c.value.elem != ElementType::F32)
      continue;
    for (const size_t fill : {size_t{2}, size_t{1}}) {
      const Tensor* t = constant_input(g_, n, fill);
      if (t == nullptr || t->elements() != 1 || !(t->as_double(0) <= -1e9)) continue;
      Tensor out(TensorType{ElementType::F32, c.value.shape});
      for (int64_t i = 0; i < out.elements(); ++i)
        if ((condition->as_double(i) != 0) == (fill == 1)) out.set_double(i, -static_cast<double>(kInfinity));
      return out;
    }
  }
  return std::nullopt;
}

// Another shape of a constant of the model.
std::optional<Tensor> Constants::reshaped(const FoldedConstant& c) const {
  for (const std::string& source : c.sources) {
    const auto found = by_source_.find(source);
    if (found == by_source_.end()) return std::nullopt;
    const ir::Node& n = g_.node(found->second);
    const Tensor* t = constant_input(g_, n, 0);
    constexpr std::string_view kOps[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
    if (t == nullptr || std::find(std::begin(kOps), std::end(kOps), op_of(n)) == std::end(kOps)) continue;
    if (t->elem() == c.value.elem && t->elements() == element_count(c.value.shape))
      return t->reshaped(c.value.shape);
  }
  return std::nullopt;
}

// Scale or shift of a batch norm that stands alone: which of them, its bytes say.
std::optional<Tensor> Constants::lowered_norm(const FoldedConstant& c) const {
  if (c.sources.size() != 1 || c.value.elem != ElementType::F32 || !c.bytes ||
      !by_source_.contains(c.sources[0]))
    return std::nullopt;
  const ir::Node& n = g_.node(by_source_.at(c.sources[0]));
  const auto a = op_of(n) == "BatchNormalization" ? batch_norm(g_, n) : std::nullopt;
  if (!a || static_cast<int64_t>(a->scale.size()) != element_count(c.value.shape)) return std::nullopt;
  for (const std::vector<double>* v : {&a->scale, &a->shift}) {
    Tensor out(TensorType{ElementType::F32, c.value.shape});
    std::transform(v->begin(), v->end(), out.mutable_data<float>().begin(),
                   [](double x) { return static_cast<float>(x); });
    const auto bytes = out.bytes();
    if (std::equal(bytes.begin(), bytes.end(), std::as_bytes(std::span(*c.bytes)).begin(),
                   std::as_bytes(std::span(*c.bytes)).end()))
      return out;
  }
  return std::nullopt;
}

namespace {

// Scale and shift of a node, in the field.
std::pair<std::vector<Val>, std::vector<Val>> exact_affine(const ir::Graph& g, const ir::Node& n, Values& v) {
  std::vector<Val> scale, shift;
  const auto at = [&](size_t input, int64_t c) {
    return number(static_cast<float>(constant_input(g, n, input)->as_double(c)));
  };
  if (op_of(n) == "BatchNormalization") {
    const Val epsilon = number(n.float_attr("epsilon"));
    for (int64_t c = 0; c < constant_input(g, n, 1)->elements(); ++c) {
      scale.push_back(v.div(at(1, c), v.sqrt(v.add(at(4, c), epsilon))));
      shift.push_back(v.sub(at(2, c), v.mul(at(3, c), scale.back())));
    }
    return {scale, shift};
  }
  const size_t input = constant_input(g, n, 1) != nullptr ? 1 : 0;
  for (int64_t c = 0; c < constant_input(g, n, input)->elements(); ++c) {
    const Val x = at(input, c);
    scale.push_back(op_of(n) == "Mul" ? x : op_of(n) == "Div" ? v.div(number(1), x) : number(1));
    shift.push_back(op_of(n) == "Add" ? x : op_of(n) == "Sub" ? v.neg(x) : number(0));
  }
  return {scale, shift};
}

}  // namespace

std::vector<Val> Constants::exact(const std::string& name, Values& v) {
  std::vector<Val> out;
  const auto hint = region_.constants.find(name);
  const std::optional<Chain> k =
      hint != region_.constants.end() && hint->second.folded ? chain(hint->second) : std::nullopt;
  if (k) {
    out.assign(k->channels * k->inner, number(0));
    if (const Tensor* from = k->of_weights ? k->weights : k->bias)
      std::ranges::transform(floats_of(*from), out.begin(), number);
    for (ir::NodeId n : k->after) {
      const auto [scale, shift] = exact_affine(g_, g_.node(n), v);
      for (size_t i = 0; i < out.size(); ++i) {
        const size_t c = scale.size() == 1 ? 0 : i / k->inner;
        out[i] = v.mul(out[i], scale[c]);
        if (!k->of_weights) out[i] = v.add(out[i], shift[c]);
      }
    }
    return out;
  }
  const bool norm =
      hint != region_.constants.end() && hint->second.folded && lowered_norm(hint->second).has_value();
  if (norm) {
    const ir::Node& n = g_.node(by_source_.at(hint->second.sources[0]));
    const auto [scale, shift] = exact_affine(g_, n, v);
    const Affine rounded = *batch_norm(g_, n);
    const std::vector<float> given = numbers(name);
    const bool is_scale = std::equal(given.begin(), given.end(), rounded.scale.begin(),
                                     [](float a, double b) { return a == static_cast<float>(b); });
    return is_scale ? scale : shift;
  }
  if (hint != region_.constants.end() && hint->second.folded && dequantized(hint->second)) {
    const ir::Node& n = g_.node(by_source_.at(hint->second.sources[0]));
    return exact_dequantized(n, v);
  }
  const Tensor& t = of(name);
  if (!is_integer(t.elem())) {
    const std::vector<float> all = floats_of(t);
    out.resize(all.size());
    std::ranges::transform(all, out.begin(), number);
    return out;
  }
  for (int64_t i = 0; i < t.elements(); ++i) {
    const int64_t whole = t.as_int(i);
    if (whole > -(1 << 24) && whole < (1 << 24)) {
      out.push_back(number(static_cast<float>(t.as_double(i))));
      continue;
    }
    // More bits than fp32 has.
    out.push_back(v.field().add(v.field().of(static_cast<float>(whole / 65536) * 65536.0f),
                                v.field().of(static_cast<float>(whole % 65536))));
  }
  return out;
}

std::vector<Val> Constants::exact_dequantized(const ir::Node& n, Values& v) const {
  const Tensor *q = constant_input(g_, n, 0), *s = constant_input(g_, n, 1), *z = constant_input(g_, n, 2);
  int64_t axis = n.int_attr("axis"), inner = 1;
  const auto rank = static_cast<int64_t>(q->shape().size());
  if (axis < 0) axis += rank;
  for (int64_t d = axis + 1; d < rank; ++d) inner *= q->shape()[static_cast<size_t>(d)];
  std::vector<Val> out;
  for (int64_t i = 0; i < q->elements(); ++i) {
    const int64_t k = s->elements() == 1 ? 0 : i / inner % s->elements();
    const int64_t zero = z == nullptr ? 0 : z->as_int(z->elements() == 1 ? 0 : k);
    out.push_back(
        v.mul(number(static_cast<float>(q->as_int(i) - zero)), number(static_cast<float>(s->as_double(k)))));
  }
  return out;
}

std::vector<float> Constants::numbers(const std::string& name) {
  return floats_of(of(name));
}

float rounded_half(float v) {
  return half_to_float(float_to_half(v));
}

bool fits_half(std::span<const float> numbers) {
  double all = 0, lost = 0;
  for (float v : numbers) {
    if (!std::isfinite(v)) continue;
    const float h = rounded_half(v);
    if (!std::isfinite(h)) return false;
    const auto x = static_cast<double>(v), e = x - static_cast<double>(h);
    all += x * x;
    if (std::fabs(v) < 0x1p-14f) lost += e * e;
  }
  return lost <= 0x1p-16 * all;
}

std::vector<float> as_stored(std::vector<float> numbers) {
  if (fits_half(numbers))
    for (float& v : numbers) v = rounded_half(v);
  return numbers;
}

std::vector<float> carried(std::span<const float> p, std::span<const uint32_t> channel_of,
                           uint32_t channels) {
  std::vector<float> carry(channels, 0.0f), out(p.size());
  for (size_t i = 0; i < p.size(); ++i) {
    float& c = carry[channel_of[i]];
    if (p[i] == 0) continue;
    const float sum = p[i] + c;
    out[i] = rounded_half(sum);
    c = sum - out[i];
    if (!std::isfinite(out[i])) {
      out[i] = rounded_half(p[i]);
      c = 0;
    }
  }
  return out;
}

}  // namespace mrvlc::prove
