// Programs that take threads: the same bits for any number of them, and no races; and the functions of floats
// against libm.
#include <catch2/catch.hpp>
#include <limits>

#include "mrvlc/partition/partition.h"
#include "paths.h"
#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

constexpr int kMost = 7;

GraphBuilder graph_of_loops() {
  GraphBuilder b;
  const ir::ValueId image = b.input({1, 24, 41, 39});
  b.output(b.node("Sigmoid", {b.node("Mul", {image, b.constant({1, 24, 1, 1})})}));
  b.output(b.node("Tanh", {image}));  // one loop, whose last run is short
  b.output(b.node("MaxPool", {image}, {{"kernel_shape", std::vector<int64_t>{3, 3}}}));
  b.output(b.node("AveragePool", {image}, {{"kernel_shape", std::vector<int64_t>{5, 5}}}));
  b.output(b.node("Softmax", {image}));
  b.output(b.node("LayerNormalization", {image, b.constant({39}), b.constant({39})}));
  b.output(b.node("InstanceNormalization", {image, b.constant({24}), b.constant({24})}));
  auto conv = [&](Shape w, int64_t group, int64_t pad) {
    return b.node("Conv", {image, b.constant(w, 0.1), b.constant({w[0]})},
                  {{"group", group}, {"pads", std::vector<int64_t>(4, pad)}});
  };
  b.output(b.node("Tanh", {conv({37, 24, 3, 3}, 1, 1)}));  // a function behind it
  b.output(b.node("Relu", {conv({40, 24, 1, 1}, 1, 0)}));
  b.output(conv({30, 8, 3, 3}, 3, 1));
  b.output(
      b.node("Conv", {b.input({1, 200, 5, 5}), b.constant({66, 200, 1, 1}, 0.1)}));  // 9 pixels at the end
  b.output(b.node("Sigmoid", {conv({48, 1, 3, 3}, 24, 1)}));
  b.output(b.node("Gelu", {b.node("MatMul", {b.input({1, 300}), b.constant({300, 1001}, 0.1)})}));
  b.output(b.node("Tanh", {b.node("MatMul", {b.input({77, 60}), b.constant({60, 75}, 0.1)})}));
  b.output(b.node("MatMul", {b.input({5, 40, 60}), b.input({5, 60, 33})}));
  const ir::ValueId wide = b.input({4, 64, 40, 40});
  b.output(b.node("GlobalAveragePool", {wide}));
  b.output(b.node("LSTM",
                  {b.input({50, 1, 20}), b.constant({2, 72, 20}, 0.2), b.constant({2, 72, 18}, 0.2),
                   b.constant({2, 144})},
                  {{"direction", std::string("bidirectional")}, {"hidden_size", int64_t{18}}}));
  return b;
}

HostCode generate_parallel(const ir::Graph& graph, int threads, WinogradUse use = WinogradUse::Chosen) {
  Options options{.name = "net", .file_stem = "net"};
  options.threads = threads;
  options.winograd = use;
  auto code = generate(graph, partition::host_partition(graph), {}, options);
  REQUIRE(code.ok());
  return std::move(code).value();
}

// The outputs' files for each number of workers are those of one.
void same_for_all(GraphBuilder& b, const std::string& compiler, WinogradUse use = WinogradUse::Chosen) {
  const ir::Graph& graph = b.graph;
  const HostCode code = generate_parallel(graph, kMost, use);
  TempDir dir;
  write_files(code, dir.path());
  std::string log, run;
  const std::string build =
      fmt::format("{} {} -o example main.c net.c net_weights.S -lm -pthread", compiler, kStrict);
  if (shell(dir.path(), build, &log) != 0) FAIL(build << "\n" << log);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    inputs.push_back(b.random(graph.value(graph.inputs()[i]).type));
    dir.write(fmt::format("input{}.npy", i), to_npy(inputs.back()));
    run += fmt::format(" --input {}=input{}.npy", graph.value(graph.inputs()[i]).name, i);
  }
  for (int workers : {1, 2, 3, kMost}) {
    const std::string command =
        fmt::format("mkdir out{0} && ./example --threads {0} --output-dir out{0}{1} && diff -r out1 out{0}",
                    workers, run);
    if (shell(dir.path(), command, &log) != 0) FAIL(command << "\n" << log);
  }
  const std::vector<Tensor> expected = reference(graph, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    auto actual = read_npy(dir.path() / "out3" / (file_name(graph.value(graph.outputs()[i]).name) + ".npy"));
    REQUIRE(actual.ok());
    CHECK(distance(*actual, expected[i]) <= 1e-5);
  }
}

size_t count(const std::string& text, std::string_view what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("threads change nothing but the time") {
  GraphBuilder b = graph_of_loops();
  const std::string text = file_of(generate_parallel(b.graph, kMost), "net.c");
  CHECK(count(text, "net_parallel(parallel, net_f") == 15);
  same_for_all(b, "gcc -O2");
  same_for_all(b, "gcc -O1 -fopenmp");
  same_for_all(b, "gcc -O1 -fsanitize=address,undefined");
}

TEST_CASE("threads share convolutions by Winograd's algorithm") {
  for (WinogradUse use : {WinogradUse::Tile2, WinogradUse::Tile4}) {
    GraphBuilder b;
    Tensor more = b.random({ElementType::F32, {1, 24, 41, 39}});
    more.set_double(5 * 41 * 39 + 20 * 39 + 20, std::numeric_limits<double>::infinity());  // sums are needed
    const ir::ValueId x = b.node("Add", {b.input({1, 24, 41, 39}), b.constant(more)});
    for (int64_t m : {37, 64})
      b.output(b.node("Tanh", {b.node("Conv", {x, b.constant({m, 24, 3, 3}, 0.1), b.constant({m})})}));
    CHECK(count(file_of(generate_parallel(b.graph, kMost, use), "net.c"), "net_winograd(&q") == 2);
    same_for_all(b, "gcc -O2 -march=native", use);
    same_for_all(b, "gcc -O1 -fsanitize=address,undefined", use);
  }
}

// Few channels leave threads unequal parts, and each makes all columns; many weights are read by one part
// only.
TEST_CASE("convolutions of few channels are shared by places") {
  GraphBuilder b;
  const ir::ValueId image = b.input({1, 10, 45, 37});
  auto conv = [&](Shape w, int64_t stride, int64_t pad) {
    return b.node(
        "Tanh",
        {b.node("Conv", {image, b.constant(w, 0.1), b.constant({w[0]})},
                {{"strides", std::vector<int64_t>(2, stride)}, {"pads", std::vector<int64_t>(4, pad)}})});
  };
  b.output(conv({16, 10, 1, 1}, 1, 0));
  b.output(conv({16, 10, 5, 5}, 2, 2));
  b.output(conv({10, 10, 3, 3}, 1, 1));
  const WinogradUse never = WinogradUse::Never, tile4 = WinogradUse::Tile4;
  for (WinogradUse use : {never, tile4}) {
    const std::string text = file_of(generate_parallel(b.graph, kMost, use), "net.c");
    CHECK(count(text, "q.begin = ") == 3);
    CHECK(count(text, "net_conv(&q") == 1);
    CHECK(count(text, "net_conv_rows(&q") == (use == never ? 2 : 1));
    CHECK(count(text, "net_winograd(&q") == (use == never ? 0 : 1));
    for (const char* compiler : {"gcc -O2 -march=native", "gcc -O1 -fsanitize=address,undefined"})
      same_for_all(b, compiler, use);
  }
  GraphBuilder many;
  many.output(many.node("Conv", {many.input({1, 256, 7, 7}), many.constant({512, 256, 1, 1}, 0.1)}));
  CHECK(count(file_of(generate_parallel(many.graph, 2), "net.c"), "q.panels6 = ") == 1);
}

TEST_CASE("parts do not race") {
  std::string log;
  TempDir dir;
  dir.write("a.c", "int main(void) { return 0; }\n");
  if (shell(dir.path(), "gcc -fsanitize=thread -o a a.c && ./a", &log) != 0) return;  // it does not run here
  GraphBuilder b = graph_of_loops();
  same_for_all(b, "gcc -O1 -fsanitize=thread");
}

TEST_CASE("small loops, and programs without threads, are called as ever") {
  GraphBuilder b;
  b.output(b.node("Tanh", {b.input({1, 100})}));
  const HostCode with = generate_parallel(b.graph, 4), without = generate_parallel(b.graph, 1);
  CHECK(count(file_of(with, "net.c"), "net_parallel(") == 0);
  CHECK(count(file_of(with, "net.h"), "#define net_MAX_WORKERS 4") == 1);
  CHECK(count(file_of(without, "net.h"), "parallel") == 0);
  CHECK(count(file_of(without, "net.c"), "parallel") == 0);
  CHECK(count(file_of(without, "main.c"), "threads") == 0);
}

TEST_CASE("scratch memory is there for every part") {
  GraphBuilder b;
  b.output(b.node("LSTM", {b.input({200, 1, 64}), b.constant({2, 256, 64}), b.constant({2, 256, 64})},
                  {{"direction", std::string("bidirectional")}, {"hidden_size", int64_t{64}}}));
  const int64_t one = generate_parallel(b.graph, 1).arena_bytes,
                four = generate_parallel(b.graph, 4).arena_bytes;
  CHECK(four >= 4 * one);
}

TEST_CASE("functions of floats are as exact as they say") {
  for (const char* flags :
       {"-O2", "-O2 -march=native", "-O1 -march=native -fsanitize=undefined -fno-sanitize-recover"}) {
    TempDir dir;
    std::string log;
    const std::string command = fmt::format(
        "gcc -std=c99 {} -Wno-unused-function -I{}/lib/chost/kernels -o ranges "
        "{}/test/unit/chost/math_ranges.c "
        "-lm && ./ranges",
        flags, MRVLC_SOURCE_DIR, MRVLC_SOURCE_DIR);
    INFO(flags << "\n" << log);
    CHECK(shell(dir.path(), command, &log) == 0);
    CHECK(log.empty());
  }
}
