// The functions of conditions (attr, dim, constant, fp16_safe ...), each with its sentence for the docs.
#include "mrvlc/rules/predicates.h"

#include <algorithm>

#include "mrvlc/ops/params.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/glob.h"

namespace mrvlc::rules {

std::string_view kind_name(Kind kind) {
  static constexpr std::string_view kNames[] = {"verdict",      "integer",  "float",  "string",
                                                "element type", "integers", "value",  "node",
                                                "attribute",    "numbers",  "capture"};
  return kNames[static_cast<size_t>(kind)];
}

const Binding* Match::find(std::string_view capture) const {
  // The latest wins: a repeated element binds its name once an iteration.
  for (auto it = bindings.rbegin(); it != bindings.rend(); ++it) {
    if (it->capture == capture) return it->unbound ? nullptr : &*it;
  }
  return nullptr;
}

namespace {

using Arguments = std::span<const Argument>;

const ir::Value& value_of(const Context& c, const Argument& a) {
  return c.graph.value(a.binding->value);
}
std::string shown(const Argument& a) {
  return "%" + a.binding->capture;
}

Verdict yes() {
  return {};
}
Verdict no(std::string actual, std::string limit, std::string reason) {
  return {false, {}, std::move(actual), std::move(limit), std::move(reason)};
}

Verdict activation(const Context& c, Arguments a) {
  if (!c.graph.is_constant(a[0].binding->value)) return yes();
  return no("a constant", "an activation",
            fmt::format("{} is a constant; the rule needs a value computed at run time.", shown(a[0])));
}

Datum attr(const Context& c, Arguments a) {
  const ir::Node& node = c.graph.node(a[0].binding->node);
  int index = node.op->attr_index(a[1].text);
  if (index < 0) return {};
  const ir::Attr& value = node.attrs[static_cast<size_t>(index)];
  if (auto* i = std::get_if<int64_t>(&value)) return *i;
  if (auto* f = std::get_if<float>(&value)) return static_cast<double>(*f);
  if (auto* s = std::get_if<std::string>(&value)) return *s;
  if (auto* v = std::get_if<std::vector<int64_t>>(&value)) return *v;
  if (auto* t = std::get_if<ElementType>(&value)) return std::string(name(*t));
  if (auto w = ops::window_default(c.graph, node, a[1].text)) return *std::move(w);
  return {};
}

Verdict constant(const Context& c, Arguments a) {
  const ir::Value& v = value_of(c, a[0]);
  if (v.kind == ir::ValueKind::Constant) return yes();
  std::string actual = v.kind == ir::ValueKind::Input ? "an input of the model" : "computed at run time";
  return no(
      actual, "a constant",
      fmt::format("{} ('{}') is {}; the rule needs a constant.", shown(a[0]), printable(v.name, 80), actual));
}

Datum dim(const Context& c, Arguments a) {
  const Shape& shape = value_of(c, a[0]).type.shape;
  auto rank = static_cast<int64_t>(shape.size());
  int64_t i = a[1].integer < 0 ? a[1].integer + rank : a[1].integer;
  if (i < 0 || i >= rank) return {};
  return shape[static_cast<size_t>(i)];
}

Datum elem(const Context& c, Arguments a) {
  return std::string(name(value_of(c, a[0]).type.elem));
}
Datum elements(const Context& c, Arguments a) {
  return value_of(c, a[0]).type.elements();
}

range::Known known_of(const Context& c, const Argument& a) {
  return c.known == nullptr ? range::Known{} : c.known->of(c.graph, a.binding->value);
}

Verdict fp16_safe(const Context& c, Arguments a) {
  const range::Known known = known_of(c, a[0]);
  if (known.fits_fp16()) return yes();
  const std::string name = fmt::format("{} ('{}')", shown(a[0]), printable(value_of(c, a[0]).name, 80));
  const std::string limit = fmt::format("{:.6g}", range::kFp16Most);
  if (known.how == range::How::Unknown)
    return no(
        "unknown", limit,
        fmt::format("nothing is known of how large {} gets; the rule needs it within {}.", name, limit));
  const std::string_view reach = known.how == range::How::Proved ? "may reach" : "reached";
  const std::string most = fmt::format("{:.6g}", known.max_abs());
  return no(most, limit, fmt::format("{} {} {} ({}), beyond {}.", name, reach, most, word(known.how), limit));
}

Datum max_abs(const Context& c, Arguments a) {
  const range::Known known = known_of(c, a[0]);
  return known.how == range::How::Unknown ? Datum() : Datum(known.max_abs());
}

Datum inputs(const Context& c, Arguments a) {
  const auto& in = c.graph.node(a[0].binding->node).inputs;
  return static_cast<int64_t>(std::count_if(in.begin(), in.end(), [](ir::ValueId v) { return v.valid(); }));
}

Datum macs(const Context& c, Arguments a) {
  return ops::macs(c.graph, c.graph.node(a[0].binding->node));
}

Verdict output_unused(const Context& c, Arguments a) {
  const auto& outputs = c.graph.node(a[0].binding->node).outputs;
  if (a[1].integer < 0 || a[1].integer >= static_cast<int64_t>(outputs.size())) return yes();
  size_t uses = c.graph.use_count(outputs[static_cast<size_t>(a[1].integer)]);
  if (uses == 0) return yes();
  return no(fmt::format("{} uses", uses), "0 uses",
            fmt::format("output {} of {} is used; the rule takes it only when nobody reads that output.",
                        a[1].integer, shown(a[0])));
}

Datum outputs(const Context& c, Arguments a) {
  return static_cast<int64_t>(c.graph.node(a[0].binding->node).outputs.size());
}
Datum rank(const Context& c, Arguments a) {
  return value_of(c, a[0]).type.rank();
}

Verdict same_shape(const Context& c, Arguments a) {
  const Shape &x = value_of(c, a[0]).type.shape, &y = value_of(c, a[1]).type.shape;
  if (x == y) return yes();
  return no(to_string(x), to_string(y),
            fmt::format("{} has shape {} and {} has shape {}; the rule needs equal shapes.", shown(a[0]),
                        to_string(x), shown(a[1]), to_string(y)));
}

Verdict scalar(const Context& c, Arguments a) {
  const TensorType& type = value_of(c, a[0]).type;
  if (type.elements() == 1) return yes();
  return no(
      fmt::format("{} elements", type.elements()), "1 element",
      fmt::format("{} has shape {}; the rule needs a single element.", shown(a[0]), to_string(type.shape)));
}

Datum count(const Context&, Arguments a) {
  const Binding& b = *a[0].binding;
  if (b.list) return static_cast<int64_t>(b.values.size());
  return int64_t{b.absent ? 0 : 1};
}

Verdict present(const Context&, Arguments a) {
  if (!a[0].binding->absent) return yes();
  return no("absent", "present", "an operand or an operator that the rule needs is not there.");
}

Datum machine(const Context& c, Arguments a) {
  if (c.machine == nullptr) return {};
  for (const auto& [name, number] : *c.machine) {
    if (name == a[0].text) return number;
  }
  return {};
}

Datum node_name(const Context& c, Arguments a) {
  return c.graph.node(a[0].binding->node).name;
}
Datum tensor(const Context& c, Arguments a) {
  return value_of(c, a[0]).name;
}
Datum shape(const Context& c, Arguments a) {
  const Shape& s = value_of(c, a[0]).type.shape;
  return std::vector<int64_t>(s.begin(), s.end());
}

Verdict made_of(const Context& c, Arguments a) {
  std::string types;
  for (ir::SourceId s : c.graph.lineage(a[0].binding->node).sources) {
    const std::string& type = c.graph.sources()[s.index()].op_type;
    if (glob_match(a[1].text, type)) return yes();
    if (types.size() < 80) types += (types.empty() ? "" : ", ") + printable(type, 80);
  }
  return no(
      types, std::string(a[1].text),
      fmt::format("{} was made of {}; the rule takes what was made of {}.", shown(a[0]), types, a[1].text));
}

// Large constants are weights, whose values decide nothing.
constexpr int64_t kMostValues = 4096;

Datum value(const Context& c, Arguments a) {
  const Tensor* t = c.graph.constant(a[0].binding->value);
  if (t == nullptr || t->elements() > kMostValues || t->elem() == ElementType::String) return {};
  std::vector<double> out;
  for (int64_t i = 0; i < t->elements(); ++i) out.push_back(t->as_double(i));
  if (!is_integer(t->elem()) && t->elem() != ElementType::Bool) return out;
  std::vector<int64_t> whole;
  for (int64_t i = 0; i < t->elements(); ++i) whole.push_back(t->as_int(i));
  return whole;
}

Datum sums(const Context& c, Arguments a) {
  const Tensor* t = c.graph.constant(a[0].binding->value);
  if (t == nullptr || !is_integer(t->elem())) return {};
  const Shape& shape = t->shape();
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t d = a[1].integer < 0 ? a[1].integer + rank : a[1].integer;
  if (d < 0 || d >= rank || shape[static_cast<size_t>(d)] > kMostValues) return {};
  const int64_t count = shape[static_cast<size_t>(d)];
  const int64_t step = row_major_strides(shape)[static_cast<size_t>(d)];
  std::vector<int64_t> out(static_cast<size_t>(count));
  for (int64_t i = 0; i < t->elements(); ++i) {
    int64_t& sum = out[static_cast<size_t>(i / step % count)];
    if (__builtin_add_overflow(sum, t->as_int(i), &sum)) return {};
  }
  return out;
}

Datum number(const Context& c, Arguments a) {
  const Tensor* t = c.graph.constant(a[0].binding->value);
  if (t == nullptr || t->elements() != 1 || t->elem() == ElementType::String) return {};
  if (is_integer(t->elem()) || t->elem() == ElementType::Bool) return t->as_int(0);
  return t->as_double(0);
}

Datum uses(const Context& c, Arguments a) {
  return static_cast<int64_t>(c.graph.use_count(a[0].binding->value));
}

std::vector<Function> predicates() {
  return {
      {"activation", {Kind::Value}, Kind::Verdict, "The value is not a constant.", activation, nullptr},
      {"constant", {Kind::Value}, Kind::Verdict, "The value is known at compile time.", constant, nullptr},
      {"fp16_safe",
       {Kind::Value},
       Kind::Verdict,
       "The value is known to stay within 65504: proved, or observed in calibration data.",
       fp16_safe,
       nullptr},
      {"made_of",
       {Kind::Node, Kind::String},
       Kind::Verdict,
       "One of the ONNX nodes that the operator was made of is of that type; with * and ?.",
       made_of,
       nullptr},
      {"output_unused",
       {Kind::Node, Kind::Integer},
       Kind::Verdict,
       "Nobody reads that output of the operator.",
       output_unused,
       nullptr},
      {"present",
       {Kind::Capture},
       Kind::Verdict,
       "The operand is given, the element matched.",
       present,
       nullptr,
       false,
       true},
      {"same_shape",
       {Kind::Value, Kind::Value},
       Kind::Verdict,
       "The two values have the same shape.",
       same_shape,
       nullptr},
      {"scalar", {Kind::Value}, Kind::Verdict, "The value has exactly one element.", scalar, nullptr}};
}

std::vector<Function> measures() {
  return {
      {"attr",
       {Kind::Node, Kind::String},
       Kind::Attribute,
       "The value of the operator's attribute of that name.",
       nullptr,
       attr},
      {"count",
       {Kind::Capture},
       Kind::Integer,
       "How many values the capture stands for: of a list any number, else 1, or 0 when absent.",
       nullptr,
       count,
       false,
       true},
      {"dim",
       {Kind::Value, Kind::Integer},
       Kind::Integer,
       "The size of that dimension; negative numbers count from the last.",
       nullptr,
       dim},
      {"elem", {Kind::Value}, Kind::ElementType, "The element type of the value.", nullptr, elem},
      {"elements", {Kind::Value}, Kind::Integer, "The number of elements of the value.", nullptr, elements},
      {"inputs",
       {Kind::Node},
       Kind::Integer,
       "The number of inputs the operator is given.",
       nullptr,
       inputs,
       true},
      {"macs", {Kind::Node}, Kind::Integer, "The products that the operator adds up.", nullptr, macs},
      {"machine",
       {Kind::String},
       Kind::Integer,
       "That number of the machine compiled for.",
       nullptr,
       machine},
      {"max_abs", {Kind::Value}, Kind::Float, "The largest magnitude known of the value.", nullptr, max_abs},
      {"name", {Kind::Node}, Kind::String, "The name of the ONNX node.", nullptr, node_name}};
}

std::vector<Function> further_measures() {
  return {
      {"number", {Kind::Value}, Kind::Float, "The value of a constant of one element.", nullptr, number},
      {"outputs",
       {Kind::Node},
       Kind::Integer,
       "The number of outputs of the operator.",
       nullptr,
       outputs,
       true},
      {"rank", {Kind::Value}, Kind::Integer, "The number of dimensions of the value.", nullptr, rank},
      {"shape", {Kind::Value}, Kind::Integers, "All dimensions of the value.", nullptr, shape},
      {"sums",
       {Kind::Value, Kind::Integer},
       Kind::Integers,
       "Of a constant of whole numbers: the sum of the elements for each index of that dimension.",
       nullptr,
       sums},
      {"tensor", {Kind::Value}, Kind::String, "The name of the value in the model.", nullptr, tensor},
      {"uses",
       {Kind::Value},
       Kind::Integer,
       "Operators and outputs of the model that read the value.",
       nullptr,
       uses},
      {"value", {Kind::Value}, Kind::Numbers, "The elements of a constant, at most 4096.", nullptr, value}};
}

}  // namespace

const std::vector<Function>& functions() {
  static const std::vector<Function> kFunctions = [] {
    std::vector<Function> all = predicates();
    for (const Function& f : measures()) all.push_back(f);
    for (const Function& f : further_measures()) all.push_back(f);
    std::ranges::sort(all, {}, &Function::name);
    return all;
  }();
  return kFunctions;
}

const Function* find_function(std::string_view name) {
  for (const Function& f : functions()) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

}  // namespace mrvlc::rules
