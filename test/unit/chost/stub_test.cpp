// The stub as a C library: strict warnings, several models in a program, errors, hooks, cross compilers.
#include "stub.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "mrvlc/tensor/npy.h"
#include "paths.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

using Ints = std::vector<int64_t>;

// Names that would break a comment, a string or a line if they stood raw.
GraphBuilder nasty_graph() {
  GraphBuilder b;
  ir::ValueId x = b.input({1, 3, 8, 8}, ElementType::F32, "in*/put\n\"0");
  ir::ValueId y =
      b.node("Conv", {x, b.constant({5, 3, 3, 3}), b.constant({5})}, {}, "conv */ ?\?/\n\"\\ \xe2\x80\xae");
  ir::ValueId z = b.node("Sigmoid", {y}, {}, std::string("a\0b", 3));
  b.output(z);
  b.output(b.node("Gemm", {b.node("Flatten", {z}), b.constant({180, 7}), b.constant({7})}, {}, "static"));
  return b;
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("the generated C compiles clean under strict flags") {
  GraphBuilder b = nasty_graph();
  TempDir dir;
  write_files(generate_host(b.graph), dir.path());
  for (std::string compiler : {"gcc -O2", "gcc -O3 -march=native -Wshadow", "clang -O2",
                               "clang -O3 -march=native", "gcc -O2 -m32 -msse2 -mfpmath=sse"}) {
    if (!have_tool(compiler.substr(0, compiler.find(' ')))) continue;
    std::string log;
    if (compiler.find("-m32") != std::string::npos &&
        shell(dir.path(), "echo '#include <math.h>' > m.c && gcc -m32 -c m.c", &log) != 0)
      continue;
    INFO(compiler);
    int status = shell(dir.path(), compiler + " " + kStrict + " -c net.c main.c net_weights.S", &log);
    INFO(log);
    CHECK(status == 0);
  }
}

TEST_CASE("no symbol of the stub is without the prefix, and nothing is writable") {
  GraphBuilder b = nasty_graph();
  TempDir dir;
  write_files(generate_host(b.graph), dir.path());
  std::string log;
  REQUIRE(shell(dir.path(), "gcc -O0 -c net.c net_weights.S && nm net.o net_weights.o", &log) == 0);
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string address, kind, symbol;
    words >> address >> kind >> symbol;
    if (symbol.empty()) continue;
    INFO(line);
    CHECK(symbol.starts_with("net_"));
    CHECK((kind == "T" || kind == "t" || kind == "r" || kind == "R"));
  }
  CHECK(shell(dir.path(), "nm -u net.o | grep -wE 'malloc|free|printf|calloc|realloc'", &log) != 0);
}

TEST_CASE("two models link into one program and run re-entrantly, with hooks and errors") {
  GraphBuilder b1, b2;
  b1.output(b1.node(
      "Relu", {b1.node("Conv", {b1.input({1, 2, 4, 4}, ElementType::F32, "x"), b1.constant({3, 2, 3, 3})}, {},
                       "first")}));
  b2.output(b2.node("Neg", {b2.input({4}, ElementType::F32, "x")}, {}, "second"));
  TempDir dir;
  write_files(generate_host(b1.graph, "one"), dir.path());
  write_files(generate_host(b2.graph, "two"), dir.path());
  write(dir.path() / "both.c", R"(
#include <stdio.h>
#include <string.h>
#include "one.h"
#include "two.h"
static int calls;
static void hook(void* user, uint32_t expr, const char* name, int done) {
  (void)user; (void)expr;
  calls += done ? 1 : 100;
  if (!done) printf("%s\n", name);
}
int main(void) {
  static float x[32], y[12], z[4];
  static unsigned char memory[one_ARENA_BYTES + 2 * one_ARENA_ALIGN];
  unsigned char* arena = memory + (one_ARENA_ALIGN - (uintptr_t)memory % one_ARENA_ALIGN);
  one_inputs i1 = {x};
  one_outputs o1 = {y};
  two_inputs i2 = {x};
  two_outputs o2 = {z};
  one_error error;
  two_error error2;
  x[0] = 2;
  if (one_run(&i1, &o1, arena, NULL, hook, NULL, &error) != 0 || error.code != 0) return 1;
  if (two_run(&i2, &o2, arena, NULL, hook, NULL, &error2) != 0 || z[0] != -2) return 2;
  if (one_run(&i1, &o1, arena + 1, NULL, NULL, NULL, &error) != one_ERROR_ARENA || error.code != one_ERROR_ARENA) return 3;
  i1.x = NULL;
  if (one_run(&i1, &o1, arena, NULL, NULL, NULL, &error) != one_ERROR_ARGUMENT) return 4;
  return calls == 202 ? 0 : 5;
}
)");
  std::string log;
  int status = shell(
      dir.path(), "gcc -std=c99 both.c one.c two.c one_weights.S two_weights.S -lm -o both && ./both", &log);
  INFO(log);
  CHECK(status == 0);
  CHECK(log == "first\nsecond\n");
}

TEST_CASE("cross compilers take the stub") {
  GraphBuilder b = nasty_graph();
  TempDir dir;
  write_files(generate_host(b.graph), dir.path());
  std::string log;
  for (std::string compiler :
       {"aarch64-linux-gnu-gcc -O2", "arm-none-eabi-gcc -O2 -mcpu=cortex-m3 -mthumb"}) {
    if (!have_tool(compiler.substr(0, compiler.find(' ')))) continue;
    INFO(compiler);
    int status = shell(dir.path(), compiler + " " + kStrict + " -c net.c net_weights.S", &log);
    INFO(log);
    CHECK(status == 0);
  }
  if (!have_tool("arm-none-eabi-gcc")) return;
  write(dir.path() / "bare.c", R"(
#include "net.h"
static float x[192], y[180], z[7];
static unsigned char arena[net_ARENA_BYTES] __attribute__((aligned(net_ARENA_ALIGN)));
int main(void) {
  net_inputs in;
  net_outputs out;
  in.in__put__0 = x;
  out.v1 = y;
  (void)z;
  return net_run(&in, &out, arena, NULL, NULL, NULL, NULL);
}
)");
  std::string fields = "sed -n 's/.*float\\* \\([a-z_0-9]*\\);.*/\\1/p' net.h";
  REQUIRE(shell(dir.path(), fields, &log) == 0);
  std::istringstream names(log);
  std::string in, out0, out1;
  names >> in >> out0 >> out1;
  std::string rename =
      "sed -i 's/in__put__0/" + in + "/; s/out.v1 = y;/out." + out0 + " = y; out." + out1 + " = z;/' bare.c";
  std::string link =
      "arm-none-eabi-gcc -O2 -mcpu=cortex-m3 -mthumb --specs=nosys.specs bare.c net.c net_weights.S -lm -o "
      "bare.elf";
  int status = shell(dir.path(), rename + " && " + link, &log);
  INFO(log);
  CHECK(status == 0);
}

TEST_CASE("the example asks for large pages where the arena has as much") {
  for (const bool large : {false, true}) {
    GraphBuilder b;
    const int64_t side = large ? 900 : 300;
    b.output(b.node("Softmax", {b.node("Softmax", {b.input({side, side})}, {{"axis", int64_t{0}}})}));
    const HostCode code = generate_host(b.graph);
    CHECK((code.arena_bytes >= 2 << 20) == large);
    const std::string& example = file_of(code, "main.c");
    CHECK((example.find("allocate_arena(net_ARENA_BYTES)") != std::string::npos) == large);
    CHECK((example.find("madvise(") != std::string::npos) == large);
    check_graph(b, fmt::format("gcc -O1 {}", kStrict));
  }
}

TEST_CASE("the Makefile builds the example, which stacks repeats and measures") {
  GraphBuilder b;
  b.output(b.node("Neg", {b.input({2, 3}, ElementType::F32, "x")}));
  TempDir dir;
  write_files(generate_host(b.graph), dir.path());
  std::string log;
  int status = shell(dir.path(), "make CC=gcc", &log);
  INFO(log);
  REQUIRE(status == 0);
  write(dir.path() / "x.npy", to_npy(b.random({ElementType::F32, {6, 3}})));
  CHECK(shell(dir.path(), "./net_example --input x=x.npy", &log) != 0);
  REQUIRE(shell(dir.path(), "./net_example --input x=x.npy --repeat-axis0 --bench 5 --cycles --output-dir .",
                &log) == 0);
  CHECK(log.find("median_ms ") != std::string::npos);
  CHECK(log.find("cycles 0") != std::string::npos);
  auto y = read_npy(dir.path() / (b.graph.value(b.graph.outputs()[0]).name + ".npy"));
  REQUIRE(y.ok());
  CHECK(y->shape() == Shape{6, 3});
  auto x = read_npy(dir.path() / "x.npy");
  CHECK(y->as_double(17) == -x->as_double(17));
}
