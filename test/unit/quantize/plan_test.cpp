// What becomes integers.
#include "plan.h"

#include <set>

#include "build.h"

namespace mrvlc::quantize {
namespace {

using quantize_test::Net;
using Names = std::set<std::string>;

std::set<Names> groups(const Net& net, const std::vector<bool>& is_float = {}) {
  std::vector<bool> none = is_float;
  none.resize(net.graph.node_slots(), false);
  std::set<Names> out;
  for (const auto& group : make_plan(net.graph, none).groups) {
    Names names;
    for (ir::ValueId v : group) names.insert(net.graph.value(v).name);
    out.insert(names);
  }
  return out;
}

}  // namespace

TEST_CASE("what layers read is stored, not what goes into an activation nor what comes last", "[quantize]") {
  Net net(1);
  const auto x = net.input("x", {1, 3, 8, 8});
  const auto a = net.node("Relu", {net.conv(x, 4, "a")}, "r");
  net.graph.add_output(net.node("Sigmoid", {net.conv(a, 2, "b")}, "s"));
  CHECK(groups(net) == std::set<Names>{{"x"}, {"r"}});
}

TEST_CASE("what changes no number shares its scale", "[quantize]") {
  Net net(2);
  const auto x = net.input("x", {1, 3, 8, 8});
  const auto a = net.conv(x, 4, "a");
  const auto p =
      net.node("MaxPool", {a}, "p",
               {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}});
  const auto t = net.node("Transpose", {p}, "t", {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  net.graph.add_output(net.conv(t, 2, "b"));
  CHECK(groups(net) == std::set<Names>{{"x"}, {"a", "p", "t"}});
}

TEST_CASE("both operands of an addition in between are stored", "[quantize]") {
  Net net(3);
  const auto x = net.input("x", {1, 4, 8, 8});
  const auto a = net.node("Relu", {net.conv(x, 4, "a")}, "r");
  const auto sum = net.node("Relu", {net.node("Add", {net.conv(a, 4, "b"), a}, "sum")}, "t");
  net.graph.add_output(net.conv(sum, 2, "c"));
  CHECK(groups(net) == std::set<Names>{{"x"}, {"r"}, {"b"}, {"t"}});
}

TEST_CASE("layers that stay in floats read floats", "[quantize]") {
  Net net(4);
  const auto x = net.input("x", {1, 3, 8, 8});
  const auto a = net.conv(x, 4, "a");
  const auto b = net.conv(a, 4, "b");
  net.graph.add_output(net.conv(b, 2, "c"));
  std::vector<bool> is_float(net.graph.node_slots(), false);
  is_float[net.graph.value(b).producer.index()] = true;
  CHECK(groups(net, is_float) == std::set<Names>{{"x"}, {"b"}});
}

TEST_CASE("products of two activations and of weights that are no numbers stay", "[quantize]") {
  Net net(5);
  const auto x = net.input("x", {4, 4});
  const auto a = net.node("MatMul", {x, net.constant({4, 4})}, "a");
  const auto b = net.node("MatMul", {a, a}, "b");
  Tensor infinite = net.numbers.floats({4, 4});
  infinite.set_double(3, INFINITY);
  net.graph.add_output(net.node("MatMul", {b, net.graph.add_constant("inf", infinite)}, "c"));
  CHECK(groups(net) == std::set<Names>{{"x"}});
}

}  // namespace mrvlc::quantize
