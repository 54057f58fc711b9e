#include "grow.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace mrvlc::graphs {
namespace {

constexpr int64_t kMostElements = 3000;

// Float results that have the same bits in every implementation when the operands do.
const std::set<std::string_view> kExact = {"Abs",
                                           "CenterCropPad",
                                           "Ceil",
                                           "Clip",
                                           "Concat",
                                           "ConstantOfShape",
                                           "DepthToSpace",
                                           "Expand",
                                           "EyeLike",
                                           "Flatten",
                                           "Floor",
                                           "Gather",
                                           "GatherElements",
                                           "GatherND",
                                           "GlobalMaxPool",
                                           "Hardmax",
                                           "Identity",
                                           "If",
                                           "Max",
                                           "MaxPool",
                                           "Min",
                                           "Neg",
                                           "OneHot",
                                           "Pad",
                                           "ReduceMax",
                                           "ReduceMin",
                                           "Relu",
                                           "Reshape",
                                           "ReverseSequence",
                                           "Round",
                                           "Scan",
                                           "ScatterElements",
                                           "ScatterND",
                                           "Sign",
                                           "Slice",
                                           "SpaceToDepth",
                                           "Split",
                                           "Squeeze",
                                           "TensorScatter",
                                           "Tile",
                                           "TopK",
                                           "Transpose",
                                           "Trilu",
                                           "Unsqueeze",
                                           "Where",
                                           "Compress",
                                           "MaxUnpool",
                                           "Dropout"};

// Small errors become large ones.
const std::set<std::string_view> kSteps = {"Ceil",
                                           "Floor",
                                           "Round",
                                           "Sign",
                                           "Mod",
                                           "Shrink",
                                           "TopK",
                                           "Hardmax",
                                           "ThresholdedRelu",
                                           "Cast",
                                           "CastLike",
                                           "QuantizeLinear",
                                           "DequantizeLinear",
                                           "DynamicQuantizeLinear"};

// Results that are not floats and do not depend on the data.
const std::set<std::string_view> kShapes = {"Shape", "Size", "ConstantOfShape", "EyeLike"};

bool is_wrapped(const Tensor& tensor) {
  return tensor.type().wrapper != Wrapper::None;
}

struct Precision {
  double error, slack, most;  // of one rounding, of a result (of 1 + |v|), its size
};

Precision precision(ElementType elem, bool coarse) {
  if (coarse && elem == ElementType::F32) return {1e-3, 1e-2, 300};
  switch (elem) {
    case ElementType::F16:
      return {1e-3, 1.5e-3, 300};
    case ElementType::BF16:
      return {8e-3, 9e-3, 3};
    case ElementType::F64:
      return {1e-9, 1e-4, 1e4};
    default:
      return {1e-6, 1e-4, 1e4};
  }
}

bool is_calm_float(const Tensor& data, const Tensor& shaken, bool exact, bool coarse) {
  const Precision p = precision(data.elem(), coarse);
  for (int64_t i = 0; i < data.elements(); ++i) {
    const double v = data.as_double(i);
    if (!std::isfinite(v) || std::abs(v) > 1e4 || (!exact && std::abs(v) > p.most)) return false;
    if (!exact && !(std::abs(v - shaken.as_double(i)) <= p.slack * (1 + std::abs(v)))) return false;
  }
  return true;
}

bool is_calm(const Tensor& data, const Tensor& shaken, bool exact, bool coarse) {
  if (data.type() != shaken.type()) return false;
  if (is_wrapped(data)) {
    bool calm = true;
    for (size_t i = 0; i < data.items().size(); ++i)
      calm = calm && is_calm(data.items()[i], shaken.items()[i], exact, coarse);
    return calm;
  }
  if (data.elements() > kMostElements) return false;
  if (is_float(data.elem())) return is_calm_float(data, shaken, exact, coarse);
  if (!is_integer(data.elem()) || byte_size(data.elem()) < 4) return true;
  for (int64_t i = 0; i < data.elements(); ++i) {
    if (std::abs(data.as_double(i)) > 1e6) return false;
  }
  return true;
}

// Wrapped values are of no fixed shape to the compiler.
bool touches_wrapped(const Model& model, const Node& node, const std::vector<Tensor>& results) {
  return std::any_of(results.begin(), results.end(), is_wrapped) ||
         std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](int v) { return v >= 0 && is_wrapped(model.values[static_cast<size_t>(v)].data); });
}

double float_sample(Dice& dice, int style) {
  switch (style) {
    case 0:
      return 0.25 * static_cast<double>(dice.pick(-12, 12));
    case 1:
      return dice.real(0.1, 2);
    case 2:
      return dice.real(-20, 20);
    default:
      return dice.real(-2, 2);
  }
}

std::vector<ir::Attr> slots(const ops::OpDef& op, const Attrs& attrs) {
  std::vector<ir::Attr> out;
  for (const ir::AttrSpec& spec : op.attrs) out.push_back(spec.default_value);
  for (const auto& [name, value] : attrs.list) {
    if (int at = op.attr_index(name); at >= 0) out[static_cast<size_t>(at)] = value;
  }
  return out;
}

// Of what a compiler knows: the constants alone.
bool is_valid(const Model& model, const Node& node, bool& fixed) {
  ops::InferContext context;
  context.op = node.op;
  context.attrs = &node.attrs;
  context.num_outputs = node.outputs.size();
  std::vector<TensorType> types;
  for (int v : node.inputs)
    types.push_back(v < 0 ? TensorType() : model.values[static_cast<size_t>(v)].data.type());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int v = node.inputs[i];
    context.types.push_back(v < 0 ? nullptr : &types[i]);
    const bool known = v >= 0 && model.values[static_cast<size_t>(v)].kind == Kind::Constant;
    context.constants.push_back(known ? &model.values[static_cast<size_t>(v)].data : nullptr);
  }
  auto inferred = ops::infer_types(*node.op, context);
  if (!inferred.ok()) return false;
  fixed = std::all_of(inferred->begin(), inferred->end(), [](const TensorType& t) { return t.is_static(); });
  for (int v : node.inputs) fixed = fixed && (v < 0 || !model.values[static_cast<size_t>(v)].dynamic);
  return true;
}

}  // namespace

Tensor shake(Dice& dice, Tensor tensor, bool coarse) {
  if (is_wrapped(tensor)) {
    std::vector<Tensor> items;
    for (const Tensor& item : tensor.items()) items.push_back(shake(dice, item, coarse));
    return Tensor::wrapped(tensor.type(), std::move(items));
  }
  const double error = precision(tensor.elem(), coarse).error;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double v = tensor.as_double(i);
    tensor.set_double(i, v + error * (0.1 + std::abs(v)) * (dice.chance(50) ? 1 : -1));
  }
  return tensor;
}

Result<std::vector<Tensor>> compute(const Model& model, const Node& node, bool shaken) {
  auto held = [&](int v) -> const Tensor& {
    const Value& value = model.values[static_cast<size_t>(v)];
    return shaken ? value.shaken : value.data;
  };
  std::vector<const Tensor*> inputs;
  for (int v : node.inputs) inputs.push_back(v < 0 ? nullptr : &held(v));
  if (node.bodies.empty()) return evaluate_op(*node.op, node.attrs, inputs, node.outputs.size());
  std::vector<Tensor> around;
  for (size_t v = 0; v < model.values.size(); ++v) around.push_back(held(static_cast<int>(v)));
  return evaluate_control(node, inputs, around);
}

bool has_file(const Value& value) {
  const ElementType e = value.data.elem();
  const bool whole_bytes =
      byte_size(e) > 1 || e == ElementType::Bool || e == ElementType::I8 || e == ElementType::U8;
  return whole_bytes && !is_wrapped(value.data);
}

bool keeps_bits(const ops::OpDef& op) {
  return kExact.contains(op.name);
}

bool depends_on_shape_alone(const ops::OpDef& op) {
  return kShapes.contains(op.name);
}

// A cast from one float type to another rounds.
bool is_step(const Node& node) {
  return kSteps.contains(node.op->name) && !node.op->name.starts_with("Cast");
}

int Grower::make(Tensor tensor, bool is_constant) {
  Value value;
  value.name = fresh_name();
  value.kind = is_constant ? Kind::Constant : Kind::Input;
  value.exact = !coarse || tensor.elem() != ElementType::F32;
  value.shaken = value.exact ? tensor : shake(dice, tensor, coarse);
  value.data = std::move(tensor);
  model.values.push_back(std::move(value));
  const int v = static_cast<int>(model.values.size()) - 1;
  if (!is_constant) model.inputs.push_back(v);
  return v;
}

// Bodies take what they need from around them: what is made in one is a constant.
int Grower::make(ElementType elem, const Shape& shape) {
  return make(random_tensor(elem, shape), prefix_ != "v" || dice.chance(dynamic ? 15 : coarse ? 75 : 50));
}

int Grower::ints(const std::vector<int64_t>& values) {
  return make(Tensor::of<int64_t>(ElementType::I64, {static_cast<int64_t>(values.size())}, values),
              prefix_ != "v" || !dynamic || !dice.chance(40));
}

int Grower::scalar(ElementType elem, double value) {
  return constant(Tensor::of<double>(elem, {}, {value}));
}

Shape Grower::random_shape(int64_t min_rank, int64_t max_rank) {
  Shape shape(
      static_cast<size_t>(std::clamp<int64_t>(dice.pick(0, 4) + dice.pick(0, 1), min_rank, max_rank)));
  for (int64_t& d : shape)
    d = dice.chance(2) ? 0 : dice.chance(25) ? 1 : dice.chance(90) ? dice.pick(2, 5) : dice.pick(6, 17);
  while (element_count(shape) > kMostElements) *std::max_element(shape.begin(), shape.end()) = 2;
  return shape;
}

Tensor Grower::random_tensor(ElementType elem, const Shape& shape) {
  if (elem == ElementType::String) {
    std::vector<std::string> texts;
    for (int64_t i = 0; i < element_count(shape); ++i)
      texts.push_back(dice.of<const char*>({"", "a", "bc", "A b"}));
    return Tensor::strings(shape, std::move(texts));
  }
  Tensor tensor(TensorType{elem, shape});
  const int style = static_cast<int>(dice.pick(0, 9));
  const bool is_signed = is_signed_integer(elem) || elem == ElementType::I4 || elem == ElementType::I2;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (elem == ElementType::Bool) {
      tensor.set_int(i, dice.pick(0, 1));
    } else if (is_integer(elem)) {
      tensor.set_int(i, is_signed ? dice.pick(-5, 5) : dice.pick(0, 6));
    } else {
      tensor.set_double(i, float_sample(dice, style < 4 ? 0 : style == 4 ? 1 : style == 5 ? 2 : 3));
    }
  }
  return tensor;
}

ElementType Grower::random_type(ops::TypeSet types) {
  using E = ElementType;
  if (types.has(E::F32) && dice.chance(coarse ? 95 : 55)) return E::F32;
  for (int attempt = 0; attempt < 20; ++attempt) {
    E e = dice.of({E::F64, E::F16, E::BF16, E::I8, E::U8, E::I16, E::U16, E::I32, E::U32, E::I64, E::U64,
                   E::Bool, E::I32, E::I64, E::F16, E::F64});
    if (types.has(e)) return e;
  }
  return types.has(E::F32) ? E::F32 : types.has(E::I64) ? E::I64 : E::Bool;
}

int Grower::pick(ops::TypeSet types, int64_t min_rank, int64_t max_rank) {
  std::vector<int> found;
  for (size_t v = 0; v < model.values.size(); ++v) {
    const Value& value = model.values[v];
    const int64_t r = value.data.type().rank();
    if (!value.leaf && types.has(value.data.elem()) && r >= min_rank && r <= max_rank)
      found.push_back(static_cast<int>(v));
  }
  if (!found.empty() && dice.chance(80)) return dice.chance(50) ? found.back() : dice.of(found);
  return make(random_type(types), random_shape(min_rank, max_rank));
}

int Grower::pick(ElementType elem, int64_t min_rank, int64_t max_rank) {
  return pick(ops::types_of({elem}), min_rank, max_rank);
}

int Grower::of_type(ElementType elem, const Shape& wanted) {
  std::vector<int> found;
  for (size_t v = 0; v < model.values.size(); ++v) {
    const Value& value = model.values[v];
    if (!value.leaf && value.data.elem() == elem && value.data.shape() == wanted)
      found.push_back(static_cast<int>(v));
  }
  return !found.empty() && dice.chance(70) ? dice.of(found) : make(elem, wanted);
}

int Grower::operand(int like, ElementType e) {
  Shape s = shape(like);
  if (!dice.chance(50)) {
    const auto drop = static_cast<ptrdiff_t>(dice.pick(0, rank(like)));
    if (dice.chance(50)) s.erase(s.begin(), s.begin() + drop);
    for (int64_t& d : s) d = dice.chance(30) ? 1 : d;
    if (dice.chance(10) && s.size() < 5) s.insert(s.begin(), dice.pick(1, 3));
  }
  return of_type(e, s);
}

int Grower::add(std::string_view name, const std::vector<int>& inputs, const Attrs& attrs, size_t outputs) {
  for (std::string_view domain : {"", "ai.onnx.ml"}) {
    const ops::OpDef* op = ops::find_op(domain, name);
    if (op == nullptr) continue;
    Node node{op, inputs, std::vector<int>(outputs, -1), slots(*op, attrs), {}};
    bool fixed = false;
    if (op->eval == nullptr || !is_valid(model, node, fixed)) return -1;
    auto data = compute(model, node, false), shaken = compute(model, node, true);
    if (!data.ok() || !shaken.ok() || !admit(node, *data, *shaken)) return -1;
    if (!fixed && !dynamic && !touches_wrapped(model, node, *data)) return -1;
    const int first = commit(std::move(node), std::move(*data), std::move(*shaken));
    for (size_t i = 0; i < outputs; ++i) model.values[static_cast<size_t>(first) + i].dynamic = !fixed;
    return first;
  }
  return -1;
}

int Grower::add_control(std::string_view name, const std::vector<int>& inputs, const Attrs& attrs,
                        std::vector<std::pair<std::string, std::shared_ptr<Model>>> bodies, size_t outputs) {
  const ops::OpDef* op = ops::find_op("", name);
  Node node{op, inputs, std::vector<int>(outputs, -1), slots(*op, attrs), std::move(bodies)};
  auto data = compute(model, node, false), shaken = compute(model, node, true);
  if (!data.ok() || !shaken.ok() || !admit(node, *data, *shaken)) return -1;
  return commit(std::move(node), std::move(*data), std::move(*shaken));
}

// Bodies are gone through as if they were arithmetic.
bool Grower::admit(const Node& node, const std::vector<Tensor>& data, const std::vector<Tensor>& shaken) {
  bool exact_inputs = node.bodies.empty();
  for (int v : node.inputs) exact_inputs = exact_inputs && (v < 0 || exact(v));
  const bool keeps = exact_inputs && (kExact.contains(node.op->name));
  for (size_t i = 0; i < data.size(); ++i) {
    if (!is_calm(data[i], shaken[i], keeps, coarse)) return false;
    if (exact_inputs || kShapes.contains(node.op->name)) continue;
    if (!is_float(data[i].elem()) && !(data[i] == shaken[i] && !node.bodies.empty())) return false;
    if (kSteps.contains(node.op->name) || data[i].elem() == ElementType::BF16) return false;
  }
  return true;
}

int Grower::commit(Node node, std::vector<Tensor> data, std::vector<Tensor> shaken) {
  bool exact_inputs = node.bodies.empty();
  for (int v : node.inputs) exact_inputs = exact_inputs && (v < 0 || exact(v));
  const int first = static_cast<int>(model.values.size());
  for (size_t i = 0; i < data.size(); ++i) {
    Value value;
    value.name = fresh_name();
    value.exact = !is_float(data[i].elem()) || (exact_inputs && kExact.contains(node.op->name));
    value.shaken = value.exact ? data[i] : shake(dice, std::move(shaken[i]), coarse);
    value.data = std::move(data[i]);
    value.leaf = is_wrapped(value.data);  // read by the recipe that made it alone
    node.outputs[i] = static_cast<int>(model.values.size());
    model.values.push_back(std::move(value));
  }
  model.nodes.push_back(std::move(node));
  return first;
}

int Grower::outer(const Grower& around, int v) {
  for (size_t i = 0; i < model.values.size(); ++i) {
    if (model.values[i].kind == Kind::Outer && model.values[i].outer == v) return static_cast<int>(i);
  }
  Value value = around.model.values[static_cast<size_t>(v)];
  value.kind = Kind::Outer;
  value.outer = v;
  model.values.push_back(std::move(value));
  return static_cast<int>(model.values.size()) - 1;
}

// The outputs: what nothing reads, and some of the rest.
void Grower::finish() {
  std::set<int> read;
  for (const Node& node : model.nodes) {
    read.insert(node.inputs.begin(), node.inputs.end());
    for (const auto& [name, body] : node.bodies) {
      for (const Value& value : body->values)
        if (value.kind == Kind::Outer) read.insert(value.outer);
    }
  }
  for (size_t v = 0; v < model.values.size(); ++v) {
    const Value& value = model.values[v];
    if (has_file(value) && value.kind == Kind::Result &&
        (!read.contains(static_cast<int>(v)) || dice.chance(10)))
      model.outputs.push_back(static_cast<int>(v));
  }
  prune(model);
}

namespace {

ir::Attr random_attr(Grower& g, const ir::AttrSpec& spec) {
  if (const float* v = std::get_if<float>(&spec.default_value); v != nullptr && g.dice.chance(50))
    return static_cast<float>(*v * g.dice.real(0.5, 1.5));
  return spec.default_value;
}

int elementwise(Grower& g, const ops::OpDef& op) {
  const int64_t most = op.max_inputs < 0 ? 4 : op.max_inputs;
  const int64_t arity = g.dice.pick(op.min_inputs, most);
  const int first = g.pick(op.types);
  std::vector<int> inputs = {first};
  while (static_cast<int64_t>(inputs.size()) < arity) inputs.push_back(g.operand(first, g.elem(first)));
  if (arity > 1 && g.dice.chance(40)) std::swap(inputs[0], inputs[1]);
  Attrs attrs;
  for (const ir::AttrSpec& spec : op.attrs) attrs.list.emplace_back(spec.name, random_attr(g, spec));
  return g.add(op.name, inputs, attrs);
}

std::vector<const ops::OpDef*> layers_of(std::vector<const ops::OpDef*> all) {
  std::erase_if(all, [](const ops::OpDef* op) { return op->accel.empty(); });
  return all;
}

std::map<std::string_view, Recipe> make_recipes() {
  std::map<std::string_view, Recipe> table;
  add_move_recipes(table);
  add_math_recipes(table);
  add_layer_recipes(table);
  add_control_recipes(table);
  add_kinds_recipes(table);
  return table;
}

}  // namespace

const std::map<std::string_view, Recipe>& recipes() {
  static const auto table = make_recipes();
  return table;
}

std::vector<const ops::OpDef*> growable() {
  std::vector<const ops::OpDef*> out;
  for (const ops::OpDef* op : ops::all_ops()) {
    if (recipes().contains(op->name) || (op->scalar != nullptr && op->eval != nullptr)) out.push_back(op);
  }
  return out;
}

int propose(Grower& g, const ops::OpDef& op) {
  auto recipe = recipes().find(op.name);
  return recipe != recipes().end() ? recipe->second(g) : elementwise(g, op);
}

Model random_model(uint64_t seed, int64_t nodes) {
  static const auto table = growable(), layers = layers_of(table);
  Grower g(seed);
  const int64_t wanted = g.dice.pick(1, nodes);
  g.coarse = g.dice.chance(30);
  g.dynamic = !g.coarse && g.dice.chance(35);
  for (int attempt = 0; attempt < 8 * wanted && static_cast<int64_t>(g.model.nodes.size()) < wanted;
       ++attempt)
    propose(g, *g.dice.of(g.coarse && g.dice.chance(85) ? layers : table));
  if (g.model.nodes.empty()) g.add("Identity", {g.make(ElementType::F32, {2, 3})});
  g.finish();
  if (g.dynamic) g.vary_sizes();
  return std::move(g.model);
}

}  // namespace mrvlc::graphs
