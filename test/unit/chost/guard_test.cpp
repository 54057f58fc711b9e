// What keeps a program within its memory: gaps in the arena, checks at its border, sizes beyond the machine.
#include <algorithm>
#include <catch2/catch.hpp>

#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/partition/partition.h"
#include "stub.h"

namespace mrvlc::chost::test {
namespace {

HostCode host_code(const ir::Graph& graph) {
  Options options{.name = "m", .file_stem = "m"};
  options.weights = WeightsAs::Source;
  auto code = generate(graph, partition::host_partition(graph), {}, options);
  if (!code.ok()) FAIL(code.error().message);
  return *std::move(code);
}

// Exit code of a program with this main(), and what it printed.
int run_main(const HostCode& code, const std::string& main, const std::string& flags, std::string& log) {
  TempDir dir;
  std::string sources = "try.c";
  write_files(code, dir.path());
  dir.write("try.c", "#include \"m.h\"\n#include <stdlib.h>\n#include <string.h>\n" + main);
  for (const char* file : {"m.c", "m_weights.c"})
    if (std::filesystem::exists(dir.path() / file)) sources += std::string(" ") + file;
  const std::string build = "gcc -std=c11 -O1 -w " + flags + " -o try " + sources + " -lm";
  if (shell(dir.path(), build, &log) != 0) FAIL(log);
  return shell(dir.path(), "./try", &log);
}

// Two values in the arena, one behind the other.
ir::Graph two_softmaxes() {
  GraphBuilder b;
  const ir::ValueId x = b.input({16, 16});
  const ir::ValueId once = b.node("Softmax", {x}, {{"axis", int64_t{1}}});
  const ir::ValueId turned = b.node("Transpose", {once}, {{"perm", std::vector<int64_t>{1, 0}}});
  b.output(b.node("Softmax", {turned}, {{"axis", int64_t{1}}}));
  return b.graph;
}

constexpr const char* kRunOnce =
    "int main(void) {\n  static float x[256], y[256];\n  void* arena = aligned_alloc(64, m_ARENA_BYTES + "
    "64);\n"
    "  m_inputs in = {x};\n  m_outputs out = {y};\n  m_error e;\n"
    "  const int rc = m_run(&in, &out, arena, 0, 0, 0, &e);\n  free(arena);\n"
    "  return rc != 0 || y[0] < 0.06f || y[0] > 0.07f;\n}\n";

// Every buffer of the arena is said to be a float shorter than it is.
HostCode shortened(HostCode code) {
  for (auto& [name, text] : code.files) {
    if (name != "m.c") continue;
    const std::string buffer = "K_BUFFER(";  // name, offset, bytes
    for (size_t at = text.find(buffer); at != std::string::npos; at = text.find(buffer, at + 1)) {
      const size_t from = text.find(", ", text.find(", ", at) + 2) + 2, past = text.find(')', from);
      const std::string bytes = text.substr(from, past - from);
      if (bytes.find_first_not_of("0123456789") != std::string::npos) continue;  // the macro
      text.replace(from, past - from, std::to_string(std::stoll(bytes) - 4));
    }
  }
  return code;
}

TEST_CASE("writes between the buffers of the arena are found") {
  if (!mrvlc::test::have_tool("gcc")) return;
  const HostCode right = host_code(two_softmaxes()), wrong = shortened(right);
  REQUIRE(right.arena_bytes > 0);
  std::string log;
  for (const std::string flags :
       {"-fsanitize=address -fno-sanitize-recover=all -DMRVL_GUARD", "-DMRVL_GUARD", ""}) {
    CAPTURE(flags, log);
    CHECK(run_main(right, kRunOnce, flags, log) == 0);
    CHECK((run_main(wrong, kRunOnce, flags, log) != 0) == !flags.empty());
  }
}

TEST_CASE("an optional input is checked like a tensor, and no more than it holds is read") {
  if (!mrvlc::test::have_tool("gcc")) return;
  GraphBuilder b;
  TensorType type{ElementType::F32, {4, 3}, 1u};
  type.wrapper = Wrapper::Optional;
  b.output(b.node("Identity", {b.graph.add_input("x", type)}));
  const HostCode code = host_code(b.graph);
  std::string log;
  const int rc = run_main(
      code,
      "static int run(int64_t rows, int64_t columns, int64_t there) {\n"
      "  const size_t bytes = rows == 1 ? 12 : 48;\n  float *x = calloc(1, bytes), y[12];\n"
      "  void* arena = aligned_alloc(64, m_ARENA_BYTES + 64);\n"
      "  m_inputs in = {x, {rows, columns, 0, 0, 0, 0, 0, there}};\n  m_outputs out = {y};\n  m_error e;\n"
      "  const int rc = m_run(&in, &out, arena, 0, 0, 0, &e);\n  free(x);\n  free(arena);\n"
      "  return rc == 0 && (out.OUT_dim[7] != 0) != (there != 0) ? 99 : rc;\n}\n"
      "int main(void) {\n"
      "  if (run(1, 3, 1) != 0) return 1;\n  if (run(4, 3, 1) != 0) return 2;\n"
      "  if (run(0, 3, 1) != 0) return 3;\n  if (run(-5, INT64_MAX, 0) != 0) return 4;\n"
      "  if (run(5, 3, 1) != m_ERROR_SHAPE) return 5;\n  if (run(-5, 3, 1) != m_ERROR_SHAPE) return 6;\n"
      "  return run(1, INT64_MAX, 1) != m_ERROR_SHAPE;\n}\n",
      "-fsanitize=address,undefined -fno-sanitize-recover=all -DOUT_dim=" +
          std::string(b.graph.value(b.graph.outputs()[0]).name) + "_dim",
      log);
  CAPTURE(log);
  CHECK(rc == 0);
}

TEST_CASE("the tensors of a sequence are checked") {
  if (!mrvlc::test::have_tool("gcc")) return;
  GraphBuilder b;
  TensorType type{ElementType::F32, {2, 3}, 1u};
  type.wrapper = Wrapper::Sequence;
  type.length = 2;
  b.output(b.node("SequenceLength", {b.graph.add_input("s", type)}));
  std::string log;
  const int rc =
      run_main(host_code(b.graph),
               "static int run(int64_t count, int64_t rows, int64_t columns, int64_t rank) {\n"
               "  static int64_t s[(2 * 64 + 2 * m_INPUT0_SLOT_BYTES) / 8];\n  int64_t n;\n"
               "  void* arena = aligned_alloc(64, m_ARENA_BYTES + 64);\n"
               "  s[0] = rows, s[1] = columns, s[7] = rank, s[8] = 1, s[9] = 3, s[15] = 2;\n"
               "  m_inputs in = {(const void*)s, {count}};\n  m_outputs out = {&n};\n  m_error e;\n"
               "  const int rc = m_run(&in, &out, arena, 0, 0, 0, &e);\n  free(arena);\n"
               "  return rc == 0 && n != count ? 99 : rc;\n}\n"
               "int main(void) {\n"
               "  if (run(2, 2, 3, 2) != 0 || run(0, 9, 9, 9) != 0) return 1;\n"
               "  if (run(3, 2, 3, 2) != m_ERROR_SHAPE || run(-1, 2, 3, 2) != m_ERROR_SHAPE) return 2;\n"
               "  if (run(1, 3, 3, 2) != m_ERROR_SHAPE || run(1, -2, 3, 2) != m_ERROR_SHAPE) return 3;\n"
               "  return run(1, 2, 2, 2) != m_ERROR_SHAPE || run(1, 2, 3, 1) != m_ERROR_SHAPE;\n}\n",
               "-fsanitize=address,undefined -fno-sanitize-recover=all", log);
  CAPTURE(log);
  CHECK(rc == 0);
}

TEST_CASE("machines that cannot address what a program takes do not compile it") {
  auto header = [](int64_t rows) {
    GraphBuilder b;
    b.output(b.node("Relu", {b.input({rows, 65536})}));
    return file_of(host_code(b.graph), "m.h");
  };
  CHECK(header(4).find("#error") == std::string::npos);
  const std::string large = header(65536);
  CHECK(large.find("#if PTRDIFF_MAX < 17179869184\n#error \"input in0 takes 17179869184 bytes") !=
        std::string::npos);
  CHECK(large.find("#error \"output ") != std::string::npos);
}

}  // namespace
}  // namespace mrvlc::chost::test
