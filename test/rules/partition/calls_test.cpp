// Libraries: what their rules make of a graph, in which order targets have their turn, and which matches are
// refused because the call could not be right.
#include "build.h"
#include "mrvlc/partition/library.h"
#include "mrvlc/partition/partition.h"

using namespace mrvlc;
using namespace mrvlc::test;
using partition::CallArgument;

namespace {

partition::Library library(const std::string& name, const std::string& rules_text) {
  auto loaded = partition::sound(partition::load_library_rules({{name + ".rules", rules_text}}));
  if (!loaded.ok()) FAIL(loaded.error().message);
  return {name, *loaded};
}

std::string rule(const std::string& match, const std::string& call, const std::string& where = "") {
  return "rule r { layer call priority 1 why \"w\" match { " + match + " } " +
         (where.empty() ? "" : "where " + where) + " call " + call + " }";
}

partition::Partition placed(const ir::Graph& g, const std::vector<partition::Library>& libraries,
                            bool accelerator = false, size_t accelerator_at = 0,
                            partition::Options options = {}) {
  options.libraries = &libraries;
  options.turns = {{{}, accelerator_at}};
  return split(g, options, accelerator ? &test::accelerator() : nullptr);
}

ir::Graph chain() {
  return image_graph(node("%c = Conv(%x, %w)") + node("%r = Relu(%c)") + node("%a = Add(%r, %k)") +
                     node("%t = Tanh(%a)") + " output %t\n");
}

// The reason why the only rule did not take the anchor.
std::string refused(const ir::Graph& g, const std::string& text) {
  const partition::Partition p = placed(g, {library("lib", text)});
  CHECK(p.calls.empty());
  for (const auto& d : p.decisions) {
    for (const auto& t : d.trials) return t->reason;
  }
  FAIL("no rule was tried");
  return {};
}

std::string on_chain(const std::string& match, const std::string& call, const std::string& where = "") {
  return refused(chain(), rule(match, call, where));
}

}  // namespace

TEST_CASE("arguments are what the template says of the match") {
  const ir::Graph g = chain();
  const partition::Partition p = placed(
      g, {library("lib", rule("%c = Conv(%x, %w, %b?) %r = Relu(%c)?",
                              "f(&image{dim(%x, 2), [1, 2.5]}, permuted(%x, [0, 2, 3, 1]), writable(%w), %b, "
                              "%r, FLAG, \"text\", scratch(2 * dim(%w, 0)), attr(%c, \"strides\"), "
                              "macs(%c) / 2.0) returns -3"))});
  REQUIRE(p.calls.size() == 1);
  const partition::Call& c = p.calls[0];
  CHECK(c.target == "lib");
  CHECK(c.rule == "r");
  CHECK(c.function == "f");
  CHECK(c.returns == -3);
  CHECK(c.nodes.size() == 2);
  CHECK(c.anchor == c.nodes[0]);
  CHECK_FALSE(c.seconds);
  REQUIRE(c.arguments.size() == 10);
  const CallArgument& image = c.arguments[0];
  CHECK(image.kind == CallArgument::Kind::Structure);
  CHECK(image.address);
  CHECK(image.text == "image");
  REQUIRE(image.items.size() == 2);
  CHECK(image.items[0].integer == 8);
  CHECK(image.items[1].kind == CallArgument::Kind::Array);
  CHECK(image.items[1].items[1].real == 2.5);
  CHECK(c.arguments[1].value == g.inputs()[0]);
  CHECK(c.arguments[1].perm == std::vector<int64_t>{0, 2, 3, 1});
  CHECK_FALSE(c.arguments[1].written);
  CHECK(c.arguments[2].writable);
  CHECK(c.arguments[3].kind == CallArgument::Kind::Name);  // there is no bias
  CHECK(c.arguments[3].text == "NULL");
  CHECK(c.arguments[4].written);
  CHECK(g.value(c.arguments[4].value).name == "r");
  CHECK(c.arguments[5].text == "FLAG");
  CHECK(c.arguments[6].kind == CallArgument::Kind::Text);
  CHECK(c.arguments[7].kind == CallArgument::Kind::Scratch);
  CHECK(c.arguments[7].integer == 8);
  CHECK(c.arguments[8].items.size() == 2);
  CHECK(c.arguments[8].items[0].integer == 1);
  CHECK(c.arguments[9].real == 512);  // 4 x 4 x 8 x 8 products, halved
}

TEST_CASE("an element that is missing stands for what it would have read") {
  const ir::Graph g = image_graph(node("%c = Conv(%x, %w)") + " output %c\n");
  const partition::Partition p =
      placed(g, {library("lib", rule("%c = Conv(%x, %w) %r = Relu(%c)?", "f(%x, %w, %r, count(%r))"))});
  REQUIRE(p.calls.size() == 1);
  CHECK(p.calls[0].arguments[2].written);
  CHECK(g.value(p.calls[0].arguments[2].value).name == "c");
  CHECK(p.calls[0].arguments[3].integer == 0);
}

TEST_CASE("a call is one step, where its last node stood") {
  const ir::Graph g = chain();
  const partition::Partition p =
      placed(g, {library("lib", rule("%c = Conv(%x, %w) %r = Relu(%c)", "f(%x, %w, %r)"))});
  REQUIRE(p.steps.size() == 3);
  CHECK(p.steps[0].kind == partition::Step::Kind::Call);
  CHECK(nodes_of(p.steps[0], p) == p.calls[0].nodes);
  CHECK(p.steps[1].kind == partition::Step::Kind::Cpu);
  CHECK(decision(g, p, "c").on_target());
  CHECK_FALSE(decision(g, p, "c").accelerator);
  CHECK_FALSE(decision(g, p, "a").on_target());
  CHECK(decision(g, p, "a").reason == "No rule takes operator Add.");
}

TEST_CASE("what an accelerator gives back goes to the libraries behind it, else to the host") {
  // No product: the accelerator's rules take all three, and it gives them back.
  const ir::Graph g =
      image_graph(node("%r = Relu(%x)") + node("%a = Add(%r, %k)") + node("%t = Tanh(%a)") + " output %t\n");
  const std::vector<partition::Library> two = {library("adds", rule("%z = Add(%x, %y)", "f(%x, %y, %z)")),
                                               library("halves", rule("%r = Tanh(%x)", "g(%x, %r)"))};
  const partition::Partition behind = placed(g, two, true, 0);
  CHECK(behind.regions.empty());
  REQUIRE(behind.calls.size() == 2);
  CHECK(behind.calls[0].target == "adds");
  CHECK(decision(g, behind, "r").why == partition::Why::NoProduct);
  const partition::Partition between = placed(g, two, true, 1);
  REQUIRE(between.calls.size() == 2);
  CHECK(between.calls[1].target == "halves");
}

TEST_CASE("targets have their turn in the order in which they are named") {
  const std::string relu = rule("%r = Relu(%x)", "relu(%x, %r)"),
                    conv = rule("%c = Conv(%x, %w)", "f(%x, %w, %c)");
  const ir::Graph g = chain();
  const std::vector<partition::Library> both = {library("one", relu), library("two", conv)};
  const partition::Partition before = placed(g, both, true, 2);
  CHECK(before.calls.size() == 2);
  CHECK(before.calls[0].target == "one");
  CHECK(before.calls[1].target == "two");
  CHECK(before.regions.empty());  // what is left holds no product
  const partition::Partition behind = placed(g, both, true, 0);
  CHECK(behind.calls.empty());
  CHECK(behind.regions.size() == 1);
  // Relu goes to the library, what is around it to the accelerator: two regions with a call in between.
  const partition::Partition between = placed(g, both, true, 1);
  CHECK(between.calls.size() == 1);
  REQUIRE(between.steps.size() >= 2);
  CHECK(between.steps[0].kind == partition::Step::Kind::Region);
  CHECK(between.steps[1].kind == partition::Step::Kind::Call);
}

TEST_CASE("what a user keeps on the CPU or gives to the accelerator is no library's") {
  const ir::Graph g = chain();
  const std::vector<partition::Library> libraries = {
      library("lib", rule("%c = Conv(%x, %w)", "f(%x, %w, %c)"))};
  partition::Options options;
  options.cpu = {"Conv"};
  CHECK(placed(g, libraries, true, 1, options).calls.empty());
  options.cpu = {};
  options.accel = {"Conv"};
  const partition::Partition p = placed(g, libraries, true, 1, options);
  CHECK(p.calls.empty());
  CHECK(p.regions.size() == 1);
}

TEST_CASE("the cost of a call takes the place of the host model's") {
  const ir::Graph g = chain();
  const partition::Partition p = placed(
      g, {library("lib", rule("%c = Conv(%x, %w) %r = Relu(%c)", "f(%x, %w, %r) cost 0.5 + macs(%c)"))});
  REQUIRE(p.calls.size() == 1);
  CHECK(p.calls[0].seconds == 1024.5);
  std::vector<double> nodes(g.node_slots(), 1);
  time_calls(p.calls, nodes);
  CHECK(nodes[p.calls[0].nodes[0].index()] == 1024.5);
  CHECK(nodes[p.calls[0].nodes[1].index()] == 0);
}

TEST_CASE("a call that could not be right is not made") {
  CHECK(on_chain("%c = Conv(%x, ...)", "f(%x, %c)").find("mentions input 1 of Conv ('w')") !=
        std::string::npos);
  CHECK(on_chain("%a = Add(%r, _)", "f(%r, %a)").find("mentions input 1 of Add ('k')") != std::string::npos);
  CHECK(on_chain("%c = Conv(%x, %w) %r = Relu(%c)", "f(%x, %w, %c)").find("in the middle of what") !=
        std::string::npos);
  CHECK(on_chain("%c = Conv(%x, %w)", "f(%x, %w)") == "its arguments do not say where the result 'c' goes.");
  CHECK(on_chain("%c = Conv(%x, %w, %b?)", "f(%x, %w, dim(%b, 0), %c)").find("has no value here") !=
        std::string::npos);
  CHECK(on_chain("%c = Conv(%x, %w)", "f(%x, %w, dim(%x, 7), %c)").find("has no value here") !=
        std::string::npos);
  CHECK(
      on_chain("%c = Conv(%x, %w)", "f(permuted(%x, [1, 0]), %w, %c)").find("does not have the dimensions") !=
      std::string::npos);
  CHECK(on_chain("%c = Conv(%x, %w)", "f(%x, %w, %c, scratch(0 - 1))").find("no size that can be given") !=
        std::string::npos);
  CHECK(on_chain("%c = Conv(%x, %w)", "f(%x, %w, %c) cost 0 - 1").find("no number of seconds") !=
        std::string::npos);
  const ir::Graph lists = image_graph(" %c = Concat(%x, %x) {axis = 1} : f32[1,8,8,8]\n output %c\n");
  CHECK(refused(lists, rule("%c = Concat(%v...)", "f(%v, %c)")).find("stands for several tensors") !=
        std::string::npos);
}

TEST_CASE("attributes of windows that are not given are what ONNX says") {
  const std::string match = "%c = Conv(%x, %w)", call = "f(%x, %w, %c)";
  CHECK(on_chain(match, call, "attr(%c, \"strides\") == 2") ==
        "attr(%c, \"strides\") is [1, 1]; the rule takes 2.");
  CHECK(on_chain(match, call, "attr(%c, \"pads\") > 0").find("[0, 0, 0, 0]") != std::string::npos);
  const std::string all =
      "attr(%c, \"dilations\") == 1, attr(%c, \"kernel_shape\") == [1, 1], attr(%c, \"pads\") == 0";
  CHECK(placed(chain(), {library("lib", rule(match, call, all))}).calls.size() == 1);
}

TEST_CASE("scales of integers are passed in fixed point") {
  const std::string shape = " : f32[1,4,8,8]\n";
  const ir::Graph g = image_graph(
      " const %sx : f32[] = [0.5]\n const %sw : f32[4] = [0.75, 1, 0.0000000001, 3]\n const %z : i8[] = "
      "[-7]\n"
      " const %zw : i8[4] = [0, 0, 0, 0]\n const %i : i8[4,4,1,1] = [1,2,3,4, 1,2,3,4, 1,2,3,4, 1,2,3,4]\n"
      " %q = QuantizeLinear(%x, %sx, %z) : i8[1,4,8,8]\n %d = DequantizeLinear(%q, %sx, %z)" +
      shape + " %f = DequantizeLinear(%i, %sw, %zw) {axis = 0} : f32[4,4,1,1]\n %c = Conv(%d, %f)" + shape +
      " %y = QuantizeLinear(%c, %sx, %z) : i8[1,4,8,8]\n output %y\n");
  const std::string match =
      "%c = Conv(%d, %f) %d = DequantizeLinear(%x, %sx, %zx) %f = DequantizeLinear(%w, %sw, %zw) "
      "%y = QuantizeLinear(%c, %sy, %zy)";
  auto with = [&](const std::string& arguments) {
    return rule(match, "f(%x, %w, %y, " + arguments + ")",
                "value(%zw) == 0, value(%sy) > 0, number(%zy) < 0");
  };
  const std::string scale = "value(%sx) * value(%sw) / value(%sy)";
  const partition::Partition p =
      placed(g, {library("lib", with("0 - number(%zx), q31(" + scale + ", 4), q31_shift(" + scale +
                                     ", dim(%w, 0)), q31(number(%sx), 3), value(%zx)"))});
  REQUIRE(p.calls.size() == 1);
  const auto& a = p.calls[0].arguments;
  CHECK(a[3].integer == 7);
  auto integers = [](const CallArgument& array) {
    std::vector<int64_t> out;
    for (const CallArgument& i : array.items) out.push_back(i.integer);
    return out;
  };
  // 0.75 = 0.75 * 2^0, 1 = 0.5 * 2^1, 3 = 0.75 * 2^2; a product of 32 bits with 1e-10 is less than a half.
  CHECK(integers(a[4]) == std::vector<int64_t>{3LL << 29, 1LL << 30, 0, 3LL << 29});
  CHECK(integers(a[5]) == std::vector<int64_t>{0, 1, 0, 2});
  CHECK(integers(a[6]) == std::vector<int64_t>{1LL << 30, 1LL << 30, 1LL << 30});
  CHECK(integers(a[7]) == std::vector<int64_t>{-7});  // a constant is a list, whatever its length
  const std::string one = "number(%sx) * value(%sw)[3]";
  const partition::Partition numbers = placed(
      g,
      {library("lib",
               with("q31(" + one + "), q31_shift(" + one + "), writable(q31(" + scale +
                    ", 4)), writable(value(%zx) * 2), writable(sums(%w, 0) - value(%zw)), sums(%w, -3)"))});
  REQUIRE(numbers.calls.size() == 1);
  const auto& b = numbers.calls[0].arguments;
  CHECK(b[3].integer == 3LL << 29);  // 1.5 = 0.75 * 2^1
  CHECK(b[4].integer == 1);
  CHECK(integers(b[5]) == integers(a[4]));
  CHECK(b[5].writable);
  CHECK(integers(b[6]) == std::vector<int64_t>{-14});  // an array, though of one number
  CHECK(integers(b[7]) == std::vector<int64_t>{10, 10, 10, 10});
  CHECK(integers(b[8]) == std::vector<int64_t>{4, 8, 12, 16});
  CHECK(refused(g, with("sums(%w, 4)")).find("has no value here") != std::string::npos);
  CHECK(refused(g, with("sums(%x, 0)")).find("has no value here") != std::string::npos);
  CHECK(refused(g, with("value(%sw)[4]")).find("'value(%sw)[4]' has no value here") != std::string::npos);
  CHECK(refused(g, with("q31(0 - number(%sx))")).find("has no value here") != std::string::npos);
  CHECK(refused(g, with("dim(%w, 0) / (dim(%w, 0) - 4)")).find("has no value here") != std::string::npos);
  CHECK(refused(g, with("scratch(64 - 32 * dim(%w, 0))")).find("no size that can be given") !=
        std::string::npos);
  CHECK(refused(g, with("q31(value(%sw), 3)")).find("not as many numbers") != std::string::npos);
  CHECK(refused(g, with("q31(0 - value(%sw), 4)")).find("no form in fixed point") != std::string::npos);
  CHECK(refused(g, with("q31(2e9 * value(%sw), 4)")).find("no form in fixed point") != std::string::npos);
}

TEST_CASE("operands are mentioned by conditions, too") {
  const ir::Graph g = chain();
  CHECK(
      placed(g, {library("lib", rule("%a = Add(%r, %k)", "f(%r, %a)", "elements(%k) == 4"))}).calls.size() ==
      1);
}
