// Graphs of formulas written out with random parameters, and what passes make of them.
#pragma once
#include <algorithm>
#include <cmath>

#include "../property/dice.h"
#include "helpers.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/passes/pass.h"

namespace mrvlc::test {

// A graph in text, node by node; values are numbered. Types are of `elem`.
class Written {
 public:
  explicit Written(std::string elem = "f32") : elem_(std::move(elem)) {}

  std::string input(const Shape& shape) { return line("input", "", shape); }
  std::string constant(const Shape& shape, const std::vector<double>& values) {
    return line("const", fmt::format(" = [{}]", fmt::join(values, ", ")), shape);
  }
  std::string number(double value) { return constant({}, {value}); }
  std::string ints(const std::vector<int64_t>& values) {
    std::string v = next();
    text_ += fmt::format("const {} : i64[{}] = [{}]\n", v, values.size(), fmt::join(values, ", "));
    return v;
  }
  std::string op(std::string_view op, const std::vector<std::string>& inputs, const Shape& shape,
                 const std::string& attrs = {}) {
    std::string v = next();
    text_ += fmt::format("{} = {}({}) {} : {}\n", v, op, fmt::join(inputs, ", "), attrs, type(shape));
    return v;
  }
  void output(const std::string& v) { outputs_ += "output " + v + "\n"; }
  std::string text() const { return "graph \"g\" {\n" + text_ + outputs_ + "}\n"; }

 private:
  std::string next() { return fmt::format("%v{}", count_++); }
  std::string type(const Shape& shape) const { return fmt::format("{}[{}]", elem_, fmt::join(shape, ", ")); }
  std::string line(std::string_view what, const std::string& end, const Shape& shape) {
    std::string v = next();
    text_ += fmt::format("{} {} : {}{}\n", what, v, type(shape), end);
    return v;
  }

  std::string elem_, text_, outputs_;
  int count_ = 0;
};

inline Shape kept(Shape shape, const std::vector<int64_t>& axes) {
  for (int64_t a : axes) shape[static_cast<size_t>(a)] = 1;
  return shape;
}

inline int64_t count_along(const Shape& shape, const std::vector<int64_t>& axes) {
  int64_t n = 1;
  for (int64_t a : axes) n *= shape[static_cast<size_t>(a)];
  return n;
}

// op over the axes with dimensions of 1 in their place, by keepdims or by a change of shape.
inline std::string reduced(Written& w, random::Dice& dice, std::string_view op, const std::string& x,
                           const Shape& shape, const std::vector<int64_t>& axes) {
  Shape out = kept(shape, axes), dropped;
  if (dice.chance(60)) return w.op(op, {x, w.ints(axes)}, out);
  for (size_t d = 0; d < shape.size(); ++d)
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) == axes.end())
      dropped.push_back(shape[d]);
  std::string small = w.op(op, {x, w.ints(axes)}, dropped, "{keepdims = 0}");
  return dice.chance(50) ? w.op("Unsqueeze", {small, w.ints(axes)}, out)
                         : w.op("Reshape", {small, w.ints(out)}, out);
}

// The graph after the passes; it verifies, and computes what it did, to `tolerance` of the larger of 1 and
// the value, for inputs in [-8, 8).
inline ir::Graph rewritten(const std::string& text, std::initializer_list<std::string_view> passes,
                           double tolerance, const passes::PassContext& context = {}) {
  ir::Graph before = parse_ok(text), after = before;
  Status types = ops::verify_types(before);
  if (!types.ok()) FAIL(format_diag("input", types.error()));
  passes::RunOptions options;
  options.context = context;
  Status s = passes::run_passes(after, std::span(passes.begin(), passes.size()), options);
  if (!s.ok()) FAIL(format_diag("result", s.error()));
  REQUIRE(ir::verify(after).ok());
  REQUIRE(ops::verify_types(after).ok());
  std::vector<Tensor> inputs = interp::seeded_inputs(before, 1);
  for (Tensor& t : inputs)
    for (int64_t i = 0; i < t.elements(); ++i) t.set_double(i, t.as_double(i) * 16 - 8);
  auto want = interp::run(before, inputs), got = interp::run(after, inputs);
  REQUIRE((want.ok() && got.ok()));
  for (size_t k = 0; k < want->size(); ++k) {
    for (int64_t i = 0; i < (*want)[k].elements(); ++i) {
      double w = (*want)[k].as_double(i), g = (*got)[k].as_double(i);
      bool same =
          (std::isnan(w) && std::isnan(g)) || std::abs(w - g) <= tolerance * std::max(1.0, std::abs(w));
      if (!same) FAIL("output " << k << " element " << i << ": " << w << " before, " << g << " after");
    }
  }
  return after;
}

inline int count_of(const ir::Graph& g, std::initializer_list<Op> ops) {
  int n = 0;
  for (ir::NodeId id : g.topological_order())
    for (Op op : ops) n += g.node(id).is(op) ? 1 : 0;
  return n;
}

}  // namespace mrvlc::test
