// Operators with bodies. A body is grown like a model; what it reads of the model around it, it reads by
// name.
#include "grow.h"

namespace mrvlc::graphs {
namespace {

using E = ElementType;

constexpr ops::TypeSet kCarried = ops::types_of({E::F32, E::F64, E::I32, E::I64});

std::shared_ptr<Model> done(Grower& body, std::vector<int> outputs) {
  body.model.outputs = std::move(outputs);
  prune(body.model);
  return std::make_shared<Model>(std::move(body.model));
}

// A parameter of the body; the tensor is what it holds the first time, which is what the grower reckons with.
int parameter(Grower& body, Tensor tensor, bool exact) {
  const int v = body.make(std::move(tensor), false);
  body.model.values[static_cast<size_t>(v)].exact = exact;
  return v;
}

// Arithmetic that keeps the type: x op something of the body or of around it.
int step(Grower& body, Grower& around, int x) {
  for (int64_t n = body.dice.pick(1, 2); n > 0; --n) {
    const std::string_view op = body.dice.of<std::string_view>({"Add", "Sub", "Mul", "Max", "Min"});
    const int from = around.of_type(body.elem(x), body.shape(x));
    const int other =
        body.dice.chance(50) ? body.outer(around, from) : body.make(body.elem(x), body.shape(x));
    const int y = body.add(op, {x, other});
    if (y >= 0 && body.shape(y) == body.shape(x)) x = y;
  }
  if (!is_float(body.elem(x)) || body.dice.chance(50)) return x;
  const int y = body.add(body.dice.of<std::string_view>({"Tanh", "Sigmoid", "Relu", "Neg"}), {x});
  return y < 0 ? x : y;
}

// What a body gives must be computed in it.
int result(Grower& body, int x) {
  return body.model.values[static_cast<size_t>(x)].kind == Kind::Result ? x : body.add("Identity", {x});
}

std::string prefix(Grower& g, const char* kind) {
  return std::string(kind) + std::to_string(g.model.values.size()) + "_";
}

int if_else(Grower& g) {
  const int condition = g.make(Tensor::of<int64_t>(E::Bool, {}, {g.dice.pick(0, 1)}), g.dice.chance(20));
  const int x = g.pick(kCarried, 0, 3);
  std::vector<std::pair<std::string, std::shared_ptr<Model>>> bodies;
  for (const char* branch : {"then_branch", "else_branch"}) {
    Grower body(g.dice.next(), prefix(g, branch));
    const int start = body.outer(g, x);
    const int y = result(body, body.dice.chance(80) ? step(body, g, start) : start);
    if (y < 0) return -1;
    bodies.emplace_back(branch, done(body, {y}));
  }
  return g.add_control("If", {condition}, {}, std::move(bodies), 1);
}

int loop(Grower& g) {
  const int x = g.pick(kCarried, 0, 3);
  const int trips = g.make(Tensor::of<int64_t>(E::I64, {}, {g.dice.pick(1, 4)}), g.dice.chance(60));
  Grower body(g.dice.next(), prefix(g, "loop"));
  parameter(body, Tensor::of<int64_t>(E::I64, {}, {0}), true);
  const int go_on = parameter(body, Tensor::of<int64_t>(E::Bool, {}, {1}), true);
  const int carried = parameter(body, g.data(x), false);
  const int y = result(body, step(body, g, carried)), still = body.add("Identity", {go_on});
  // What is collected in each iteration needs a constant number of them.
  const bool scans = g.model.values[static_cast<size_t>(trips)].kind == Kind::Constant && g.dice.chance(60);
  const int scanned = scans ? result(body, step(body, g, carried)) : -1;
  if (y < 0 || still < 0 || (scans && scanned < 0)) return -1;
  std::vector<int> outputs = {still, y};
  if (scans) outputs.push_back(scanned);
  const std::vector<int> parameters = body.model.inputs;
  auto model = done(body, outputs);
  model->inputs = parameters;
  return g.add_control("Loop", {trips, -1, x}, {}, {{"body", model}}, scans ? 2 : 1);
}

int scan(Grower& g) {
  const int x = g.pick(kCarried, 1, 3);
  if (element_count(g.shape(x)) == 0) return -1;
  const Shape row(g.shape(x).begin() + 1, g.shape(x).end());
  const int state = g.of_type(g.elem(x), row);
  Grower body(g.dice.next(), prefix(g, "scan"));
  const int s = parameter(body, g.data(state), false),
            r = parameter(body, g.random_tensor(g.elem(x), row), false);
  const int next = body.add("Add", {s, r});
  int y = next < 0 ? -1 : result(body, step(body, g, next));
  // ONNX Runtime 1.30 gives a wrong state where one value is both the state and what is collected.
  if (y == next && y >= 0) y = body.add("Identity", {next});
  if (y < 0) return -1;
  const std::vector<int> parameters = body.model.inputs;
  auto model = done(body, {next, y});
  model->inputs = parameters;
  return g.add_control("Scan", {state, x}, {{"num_scan_inputs", int64_t{1}}}, {{"body", model}}, 2);
}

}  // namespace

void add_control_recipes(std::map<std::string_view, Recipe>& table) {
  table.insert({{"If", if_else}, {"Loop", loop}, {"Scan", scan}});
}

}  // namespace mrvlc::graphs
