// Structure of generated programs: fusion, memory sharing, the list of functions.
#include <catch2/catch.hpp>
#include <set>

#include "mrvlc/partition/partition.h"
#include "mrvlc/support/diag/chost.h"
#include "names.h"
#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

using Ints = std::vector<int64_t>;

// In the model's graph a node's number is that of its expression.
const HostFunction* function_of(const HostCode& code, ir::NodeId node) {
  const ir::ExprId expr(node.index());
  for (const auto& f : code.functions) {
    bool fused = std::find(f.fused.begin(), f.fused.end(), expr) != f.fused.end();
    const bool support = f.symbol.find("_fail") != std::string::npos;
    if (!support && f.symbol.find("_f") != std::string::npos && (f.expr == expr || fused)) return &f;
  }
  return nullptr;
}

std::string line_of(const std::string& text, uint32_t number) {
  size_t at = 0;
  for (uint32_t i = 1; i < number; ++i) at = text.find('\n', at) + 1;
  return text.substr(at, text.find('\n', at) - at);
}

}  // namespace

TEST_CASE("every function is listed with its lines and an expression") {
  GraphBuilder b;
  ir::ValueId x = b.input({1, 3, 8, 8});
  ir::ValueId y = b.node("Relu", {b.node("Conv", {x, b.constant({4, 3, 3, 3})})});
  b.output(b.node("Sigmoid",
                  {b.node("Reshape", {y, b.constant(Tensor::of<int64_t>(ElementType::I64, {2}, {1, -1}))})}));
  HostCode code = generate_host(b.graph);
  const std::string& source = file_of(code, "net.c");
  std::set<std::string> symbols;
  for (const auto& f : code.functions) {
    CHECK(f.file == "net.c");
    CHECK(f.expr.valid());
    CHECK(symbols.insert(f.symbol).second);
    uint32_t head = f.first_line;  // comments stand above it
    while (line_of(source, head).starts_with("/* ")) ++head;
    CHECK(line_of(source, head).find(f.symbol + "(") != std::string::npos);
    CHECK(line_of(source, f.last_line) == "}");
  }
  CHECK(symbols.contains("net_run"));
  // As many as a plain search for bodies finds.
  size_t bodies = 0;
  for (size_t at = 0; (at = source.find("\n}\n", at)) != std::string::npos; ++at) ++bodies;
  CHECK(bodies == code.functions.size());
}

TEST_CASE("an epilogue is part of its producer's function; a second use stops fusion") {
  GraphBuilder b;
  ir::ValueId x = b.input({1, 3, 8, 8});
  ir::ValueId c1 = b.node("Conv", {x, b.constant({4, 3, 3, 3})}), r1 = b.node("Relu", {c1});
  ir::ValueId c2 = b.node("Conv", {x, b.constant({4, 3, 3, 3})}), r2 = b.node("Relu", {c2});
  b.output(r1);
  b.output(b.node("Add", {c2, r2}));
  HostCode code = generate_host(b.graph);
  auto producer = [&](ir::ValueId v) { return b.graph.value(v).producer; };
  REQUIRE(function_of(code, producer(c1)) != nullptr);
  CHECK(function_of(code, producer(c1)) == function_of(code, producer(r1)));
  CHECK(function_of(code, producer(c2)) != function_of(code, producer(r2)));
}

TEST_CASE("reshapes and concatenations along the leading dimension copy nothing") {
  GraphBuilder b;
  ir::ValueId x = b.input({1, 3, 8, 8});
  ir::ValueId p = b.node("Conv", {x, b.constant({4, 3, 1, 1})}),
              q = b.node("Conv", {x, b.constant({6, 3, 1, 1})});
  ir::ValueId c = b.node("Concat", {p, q}, {{"axis", int64_t{1}}});
  ir::ValueId flat = b.node("Reshape", {c, b.constant(Tensor::of<int64_t>(ElementType::I64, {2}, {10, 64}))});
  b.output(b.node("Softmax", {flat}));
  b.output(b.node("Sigmoid", {p}));
  HostCode code = generate_host(b.graph);
  CHECK(function_of(code, b.graph.value(c).producer) == nullptr);
  CHECK(function_of(code, b.graph.value(flat).producer) == nullptr);
  const auto run = std::ranges::find(code.functions, "net_run", &HostFunction::symbol);
  REQUIRE(run != code.functions.end());
  CHECK(run->fused.size() == 2);
  check_graph(b);
}

TEST_CASE("parts of an output are computed in their place in it") {
  GraphBuilder b;
  ir::ValueId x = b.input({2, 3, 5, 5});
  ir::ValueId p = b.node("Conv", {x, b.constant({4, 3, 1, 1})}),
              q = b.node("Conv", {x, b.constant({4, 3, 2, 2})});
  ir::ValueId all =
      b.node("Concat", {b.node("Flatten", {p}), b.node("Flatten", {q})}, {{"axis", int64_t{1}}});
  b.output(b.node("Concat", {b.node("Sigmoid", {x}), b.node("Neg", {x})}, {{"axis", int64_t{0}}}));
  b.output(all);
  check_graph(b);
}

TEST_CASE("what follows a convolution: constants of other dimensions, limits one after the other") {
  auto conv = [](GraphBuilder& b) {
    return b.node("Conv", {b.input({1, 3, 8, 8}), b.constant({8, 3, 3, 3}), b.constant({8}, 10)},
                  {{"pads", Ints{1, 1, 1, 1}}});
  };
  for (const Shape& shape : {Shape{8}, Shape{8, 1}, Shape{8, 1, 1}, Shape{1, 8, 8, 8}}) {
    GraphBuilder b;
    b.output(b.node("Relu", {b.node("Add", {conv(b), b.constant(shape)})}));
    check_graph(b);
  }
  auto limit = [](GraphBuilder& b, ir::ValueId v, float low, float high) {
    auto number = [&](float f) { return b.constant(Tensor::of<float>(ElementType::F32, {}, {f})); };
    return b.node("Clip", {v, number(low), number(high)});
  };
  for (auto [low, high] : {std::pair(0.f, 6.f), std::pair(12.f, 15.f), std::pair(3.f, 30.f)}) {
    GraphBuilder b;
    b.output(limit(b, limit(b, conv(b), 10, 20), low, high));
    check_graph(b);
    GraphBuilder c;  // a constant behind a limit
    c.output(c.node("Add", {limit(c, conv(c), low, high), c.constant({8, 1, 1}, 5)}));
    check_graph(c);
  }
}

TEST_CASE("constants that are texts") {
  GraphBuilder b;
  auto texts = [&](std::vector<std::string> v) { return b.constant(Tensor::strings({4}, std::move(v))); };
  b.output(b.node("Equal", {texts({"a", "bcd", "", "ef"}), texts({"a", "bce", "", "ef"})}));
  CHECK(reference(b.graph, {})[0].to_ints() == std::vector<int64_t>{1, 0, 1, 1});
  check_graph(b);
}

TEST_CASE("outputs that are inputs, constants, or asked for twice") {
  GraphBuilder b;
  ir::ValueId x = b.input({2, 6}), k = b.constant({3});
  ir::ValueId flat = b.node("Reshape", {x, b.constant(Tensor::of<int64_t>(ElementType::I64, {1}, {12}))});
  ir::ValueId y = b.node("Neg", {flat});
  ir::ValueId back = b.node("Reshape", {y, b.constant(Tensor::of<int64_t>(ElementType::I64, {2}, {3, 4}))});
  for (ir::ValueId v : {flat, k, y, back}) b.output(v);
  // The same part twice, and an input as a part.
  b.output(b.node("Concat", {y, y, flat}, {{"axis", int64_t{0}}}));
  check_graph(b);
}

TEST_CASE("the arena of a chain with branches is near its lower bound") {
  GraphBuilder b;
  ir::ValueId x = b.input({1, 4, 16, 16});
  for (int i = 0; i < 6; ++i) {
    ir::ValueId l =
        b.node("Relu", {b.node("Conv", {x, b.constant({4, 4, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}})});
    ir::ValueId r = b.node("Conv", {x, b.constant({4, 4, 1, 1})});
    x = b.node("Add", {l, r});
  }
  b.output(x);
  HostCode code = generate_host(b.graph);
  CHECK(code.arena_lower_bound_bytes > 0);
  CHECK(code.arena_bytes <= code.arena_lower_bound_bytes * 11 / 10);
  check_graph(b);
}

TEST_CASE("the same graph gives the same bytes") {
  auto make = [] {
    GraphBuilder b;
    ir::ValueId x = b.input({1, 3, 8, 8});
    b.output(b.node("Relu", {b.node("Conv", {x, b.constant({4, 3, 3, 3})})}));
    return generate_host(b.graph).files;
  };
  CHECK(make() == make());
}

TEST_CASE("weights that cannot be linked are a file, or refused as an array") {
  GraphBuilder b;
  b.output(b.node("MatMul", {b.input({1, 8}), b.constant({8, 8})}));
  const auto made = [&](WeightsAs weights, int64_t limit) {
    Options options = {"net", "net"};
    options.weights = weights, options.link_limit = limit;
    return generate(b.graph, partition::host_partition(b.graph), {}, options);
  };
  const HostCode blob = made(WeightsAs::Blob, kLinkLimit).value();
  const HostCode beyond = made(WeightsAs::Linked, blob.weights_bytes - 1).value();
  CHECK(beyond.weights == WeightsAs::Blob);
  CHECK(beyond.files == blob.files);
  CHECK(made(WeightsAs::Linked, blob.weights_bytes).value().weights == WeightsAs::Linked);
  CHECK(made(WeightsAs::Source, blob.weights_bytes - 1).error().code == DiagCode::MRV0644);
}

TEST_CASE("a name that is no identifier is refused") {
  GraphBuilder b;
  b.output(b.node("Neg", {b.input({2})}));
  auto code = generate(b.graph, partition::host_partition(b.graph), {}, {"a-b", "a-b"});
  REQUIRE(!code.ok());
  CHECK(code.error().code == DiagCode::MRV0603);
}
