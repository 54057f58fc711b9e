// Layers in turn, and the values between them.
#include "reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "wide.h"

namespace mrvlc::prove {

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> s(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) s[d - 1] = s[d] * shape[d];
  return s;
}

std::vector<size_t> broadcast_offsets(const Shape& shape, const Shape& target) {
  if (shape.size() > target.size()) throw NotProved{"operands that do not broadcast"};
  const size_t first = target.size() - shape.size();
  const std::vector<int64_t> own = strides_of(shape);
  std::vector<size_t> out{0};
  for (size_t d = 0; d < target.size(); ++d) {
    const int64_t size = d < first ? 1 : shape[d - first];
    if (size != 1 && size != target[d]) throw NotProved{"operands that do not broadcast"};
    const size_t step = size == 1 ? 0 : static_cast<size_t>(own[d - first]);
    std::vector<size_t> more;
    more.reserve(out.size() * static_cast<size_t>(target[d]));
    for (size_t base : out)
      for (size_t i = 0; i < static_cast<size_t>(target[d]); ++i) more.push_back(base + i * step);
    out = std::move(more);
  }
  return out;
}

// A window's result of rank 3 and up, and what layers tie to it.
std::set<std::string> channels_last_values(const RegionHints& region) {
  std::map<std::string, std::string> parent;
  std::map<std::string, size_t> rank;
  const std::function<std::string(const std::string&)> root = [&](const std::string& s) {
    auto& p = parent.try_emplace(s, s).first->second;
    return p == s ? s : root(p);
  };
  for (const ProgramPort& p : region.inputs) rank[p.value.name] = p.value.shape.size();
  for (const Layer& l : region.layers)
    for (const Node& n : l.nodes)
      for (const ValueInfo& o : n.outputs) rank[o.name] = o.shape.size();
  std::set<std::string> marked;
  for (const Layer& l : region.layers) {
    for (const Node& n : l.nodes) {
      if (n.outputs.empty() || l.kind == "reshape" || n.is({"Transpose", "MatMul", "Gemm"})) continue;
      const std::string& out = n.outputs[0].name;
      for (const std::string& in : n.inputs)
        if (!in.empty() && !region.constants.contains(in) && rank[in] == rank[out])
          parent[root(in)] = root(out);
      for (const ValueInfo& o : n.outputs)
        if (rank[o.name] == rank[out]) parent[root(o.name)] = root(out);
    }
    const bool window =
        l.kind == "conv" || l.kind == "conv_transpose" || l.kind == "qlinear_conv" ||
        l.kind == "integer_conv" || l.kind == "pool" || l.kind == "resize" ||
        l.nodes[l.anchor].is({"InstanceNormalization", "BatchNormalization", "DepthToSpace", "SpaceToDepth"});
    if (window) marked.insert(l.nodes[l.anchor].outputs.at(0).name);
  }
  std::set<std::string> roots, out;
  for (const std::string& m : marked) roots.insert(root(m));
  for (const auto& [name, r] : rank)
    if (r >= 3 && roots.contains(root(name))) out.insert(name);
  return out;
}

Reference::Reference(Values& values, Constants& constants, const RegionHints& region)
    : v_(values), c_(constants), region_(region), channels_last_(channels_last_values(region)) {
  for (const Layer& l : region.layers)
    for (const Node& n : l.nodes)
      for (const ValueInfo& o : n.outputs) producer_[o.name] = &n;
  for (const Layer& l : region.layers)
    for (const ValueInfo& o : l.nodes.back().outputs) last_.insert(o.name);
  note_asked();
  if (!values.is_real()) wide_ = wide_values(region, constants, [this](const Layer& l) { return folded(l); });
  for (size_t i = 0; i < region.inputs.size(); ++i)
    env_.emplace(region.inputs[i].value.name, fresh_input(region.inputs[i], i));
}

Symbols Reference::fresh_input(const ProgramPort& port, size_t index) const {
  Symbols s{port.value.shape, {}};
  const Val mark = port.stored == ElementType::F16 ? kHalf : 0;
  for (int64_t i = 0; i < element_count(port.value.shape); ++i)
    s.v.push_back(v_.symbol(1, index, static_cast<uint64_t>(i)) | mark);
  return s;
}

std::string Reference::run(size_t layer) {
  try {
    evaluate(region_.layers.at(layer));
    return "";
  } catch (const NotProved& n) {
    return n.reason;
  } catch (const Json::exception&) {
    return "proof.json has an attribute of another type";
  } catch (const std::out_of_range&) {
    return "proof.json leaves out an operand";
  }
}

const Symbols* Reference::find(const std::string& name) const {
  const auto found = env_.find(name);
  return found == env_.end() ? nullptr : &found->second;
}

const Symbols& Reference::get(const std::string& name) {
  if (const Symbols* s = find(name)) return *s;
  if (v_.is_real() && c_.is_constant(name)) return constant(name);
  throw NotProved{"it reads '" + name + "', which has no reference"};
}

ElementType Reference::stored_type(const ValueInfo& v) const {
  if (!is_float(v.elem)) return v.elem;
  return is_wide(v.name) ? ElementType::F32 : ElementType::F16;
}

const Symbols& Reference::constant(const std::string& name) {
  const auto known = constant_symbols_.find(name);
  if (known != constant_symbols_.end()) return known->second;
  Symbols s{c_.of(name).shape(), {}};
  if (v_.is_real())
    s.v = c_.exact(name, v_);
  else
    for (float f : c_.numbers(name)) s.v.push_back(number(f));
  return constant_symbols_.emplace(name, std::move(s)).first->second;
}

Symbols Reference::weights(const std::string& name) {
  if (!c_.is_constant(name) || constant_symbols_.contains(name)) return get(name);
  return {c_.shape(name), c_.exact(name, v_)};
}

// Read as the integers that they are, unless the numbers leave the region.
void Reference::dequantize(const Layer& l) {
  const Node& n = l.nodes.at(0);
  const ValueInfo& y = n.outputs.at(0);
  env_.insert_or_assign(y.name, dequantized(n));
  const auto leaves = [&](const ProgramPort& p) { return p.value.name == y.name; };
  if (std::any_of(region_.outputs.begin(), region_.outputs.end(), leaves)) return;
  if (c_.of(n.inputs.at(1)).elements() != 1) return;
  const auto made = producer_.find(n.inputs[0]);
  ElementType type = ElementType::Undefined;
  if (made != producer_.end())
    for (const ValueInfo& o : made->second->outputs)
      if (o.name == n.inputs[0]) type = o.elem;
  for (const ProgramPort& p : region_.inputs)
    if (p.value.name == n.inputs[0]) type = p.value.elem;
  if (type == ElementType::I8 || type == ElementType::U8)
    codes_[y.name] = {type == ElementType::I8 ? Type::I8 : Type::U8, quantum(n, 1, 2)};
}

void Reference::put(const ValueInfo& info, Symbols s) {
  if (element_count(info.shape) != static_cast<int64_t>(s.v.size()))
    throw NotProved{"its result has another shape than proof.json says"};
  s.shape = info.shape;
  if (last_.contains(info.name) && stored_type(info) == ElementType::F16)
    for (Val& v : s.v) v = v_.half(v);
  env_.insert_or_assign(info.name, std::move(s));
}

void Reference::finish(const Layer& l, const Node& n, Symbols s) {
  put(n.outputs.at(0), std::move(s));
  if (l.nodes.size() > 1) elementwise(l, 1);
}

Quantum Reference::quantum(const Node& n, size_t scale, size_t zero) {
  const Tensor& s = c_.of(n.inputs.at(scale));
  if (s.elements() != 1) throw NotProved{"a scale for each channel"};
  Quantum q;
  q.scale = static_cast<float>(s.as_double(0));
  if (zero < n.inputs.size() && !n.inputs[zero].empty())
    q.zero = static_cast<int16_t>(c_.of(n.inputs[zero]).as_int(0));
  return q;
}

void Reference::evaluate(const Layer& l) {
  if (l.kind == "conv" || l.kind == "conv_transpose") return conv(l);
  if (l.kind == "fc" || l.kind == "matmul") return product(l);
  if (l.kind == "qlinear_conv" || l.kind == "integer_conv") return integer_conv(l);
  if (l.kind == "pool") return pool(l);
  if (l.kind == "reduce") return reduce(l);
  if (l.kind == "softmax") return softmax(l);
  if (l.kind == "resize") return resize(l);
  if (l.kind == "norm") return norm(l);
  if (l.kind == "elementwise") return code_table(l) ? void() : elementwise(l, 0);
  if (l.kind == "dequantize") return dequantize(l);
  if (l.kind == "move" || l.kind == "reshape" || l.kind == "concat") return move(l);
  throw NotProved{"layers of kind " + l.kind + " have no reference yet"};
}

}  // namespace mrvlc::prove
