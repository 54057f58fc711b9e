// Small models that ask for much: each is done with, or refused, in little time and memory.
#include <stdlib.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "cases.h"
#include "maker.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/passes/pass.h"

namespace mrvlc::fuzz {
namespace {

constexpr int64_t kHuge = int64_t{1} << 62;

// Of code that checks itself.
#if defined(__SANITIZE_ADDRESS__)
constexpr double kSlowdown = 10;
#else
constexpr double kSlowdown = 1;
#endif

double processor_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec) + static_cast<double>(u.ru_utime.tv_usec) * 1e-6;
}

// 0: accepted; else the exit code.
int import_and_fold(const Maker& m, const onnx::ImportOptions& options = {}) {
  const double before = processor_seconds();
  Diagnostics diagnostics;
  auto model = onnx::import_bytes(m.bytes(), "/nonexistent", options, diagnostics);
  std::string said;
  for (const Diag& d : diagnostics.list()) said += format_diag("model", d) + "\n";
  if (model) {
    Status status = passes::run_passes(model->graph, passes::host_pipeline());
    CHECK(status.ok());
  }
  CHECK(processor_seconds() - before < 10 * kSlowdown);
  UNSCOPED_INFO(said);
  return model ? 0 : diagnostics.exit_code();
}

Outcome compile_for(const std::string& target, const Maker& m, std::string* said = nullptr) {
  std::string folder = (std::filesystem::temp_directory_path() / "mrvlc-bombs-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  std::string what;
  const Outcome outcome = compile_all({"bomb", m.bytes(), {}}, 0, folder, {target, ""}, what);
  std::filesystem::remove_all(folder);
  UNSCOPED_INFO(what);
  if (said != nullptr) *said = what;
  return outcome;
}

Outcome compile_for_host(const Maker& m) {
  return compile_for("host", m);
}

void add_loop(GraphMaker& outer, const std::string& trips, const std::string& state,
              const std::string& result, int levels) {
  auto& node = outer.node("Loop", {trips, "", state}, {result});
  GraphMaker b(body(node, "body"));
  const std::string s = "s" + std::to_string(levels), t = "t" + std::to_string(levels);
  b.in("i" + s, kI64, {}).in("c" + s, kBool, {}).in(s, kF32, {-1}).out("c" + s, kBool, {}).out(t, kF32, {-1});
  if (levels > 0) {
    add_loop(b, trips, s, "u" + s, levels - 1);
    set(b.node("Concat", {s, "u" + s}, {t}), "axis", 0);
  } else {
    set(b.node("Concat", {s, s}, {t}), "axis", 0);
  }
}

}  // namespace

TEST_CASE("a loop of 2^62 rounds is not run", "[bombs]") {
  Maker m;
  m.ints("n", {}, {kHuge}).floats("x", {2}, 1);
  auto& node = m.node("Loop", {"n", "", "x"}, {"y"});
  GraphMaker b(body(node, "body"));
  b.in("i", kI64, {}).in("c", kBool, {}).in("s", kF32, {2}).out("c", kBool, {}).out("t", kF32, {2});
  b.node("Neg", {"s"}, {"t"});
  m.out("y", kF32, {2});
  CHECK(import_and_fold(m) == 0);
}

namespace {

void add_stacking_loop(Maker& m, int64_t rounds) {
  m.ints("n", {}, {rounds}).in("x", kF32, {1024, 1024});
  auto& node = m.node("Loop", {"n", ""}, {"y"});
  GraphMaker b(body(node, "body"));
  b.in("i", kI64, {}).in("c", kBool, {}).out("c", kBool, {}).out("t");
  b.node("NonZero", {"x"}, {"t"});
  m.out("y");
}

}  // namespace

TEST_CASE("a loop that stacks 2^30 tensors is too large", "[bombs]") {
  Maker m;
  add_stacking_loop(m, int64_t{1} << 30);
  CHECK(import_and_fold(m) == 4);
}

TEST_CASE("a loop of 2^62 rounds counts as one that data end: what it stacks is provided for by a limit",
          "[bombs]") {
  Maker m;
  add_stacking_loop(m, kHuge);
  CHECK(import_and_fold(m) == 0);
}

TEST_CASE("bodies whose types widen at every level are built so many times at most", "[bombs]") {
  Maker m;
  m.in("n", kI64, {}).in("x", kF32, {1});
  add_loop(m, "n", "x", "y", 12);
  m.out("y");
  const int code = import_and_fold(m);
  CHECK((code == 0 || code == 1 || code == 4));
}

TEST_CASE("functions that double at every level", "[bombs]") {
  Maker m;
  m.model().add_opset_import()->set_domain("f");
  m.model().mutable_opset_import(1)->set_version(1);
  for (int level = 0; level < 21; ++level) {
    auto* f = m.model().add_functions();
    f->set_name("f" + std::to_string(level));
    f->set_domain("f");
    f->add_input("a");
    f->add_output("c");
    for (const char* domain : {"", "f"}) {
      auto* set = f->add_opset_import();
      set->set_domain(domain);
      set->set_version(domain[0] == 'f' ? 1 : 19);
    }
    for (int k = 0; k < 2; ++k) {
      auto* node = f->add_node();
      node->add_input(k == 0 ? "a" : "b");
      node->add_output(k == 0 ? "b" : "c");
      node->set_op_type(level == 0 ? "Relu" : "f" + std::to_string(level - 1));
      node->set_domain(level == 0 ? "" : "f");
    }
  }
  m.in("x", kF32, {2}).out("y", kF32, {2});
  m.node("f20", {"x"}, {"y"}).set_domain("f");
  CHECK(import_and_fold(m) == 4);
}

TEST_CASE("constants that swell stay computed at run time", "[bombs]") {
  Maker m;
  m.floats("one", {1}, 1);
  std::string last = "one";
  for (int i = 0; i < 60; ++i) {
    const std::string shape = "shape" + std::to_string(i), next = "v" + std::to_string(i);
    m.ints(shape, {1}, {int64_t{1} << std::min(i, 26)});
    m.node("Expand", {i < 27 ? last : "v26", shape}, {next});
    m.node("Neg", {next}, {"n" + std::to_string(i)});
    m.out("n" + std::to_string(i));
  }
  (void)last;
  CHECK(import_and_fold(m) == 0);
}

TEST_CASE("results larger than can be calculated with", "[bombs]") {
  const std::string op = GENERATE(as<std::string>{}, "ConstantOfShape", "Expand", "Tile", "Range", "Pad");
  Maker m;
  m.floats("x", {1}, 1).ints("shape", {1}, {int64_t{1} << 50}).ints("zero", {}, {0}).ints("n", {}, {kHuge});
  m.ints("one", {}, {1}).ints("pads", {2}, {0, kHuge});
  if (op == "ConstantOfShape") m.node(op, {"shape"}, {"y"});
  if (op == "Expand" || op == "Tile") m.node(op, {"x", "shape"}, {"y"});
  if (op == "Range") m.node(op, {"zero", "n", "one"}, {"y"});
  if (op == "Pad") m.node(op, {"x", "pads"}, {"y"});
  m.out("y");
  const int code = import_and_fold(m);
  CHECK((code == 1 || code == 4));
}

TEST_CASE("products of constants that take long are left for run time", "[bombs]") {
  Maker m;
  m.floats("x", {1, 16, 128, 128}, 1).floats("w", {16, 16, 31, 31}, 1);
  m.node("Conv", {"x", "w"}, {"y"});
  m.floats("a", {200, 200}, 1);
  set(m.node("Einsum", {"a", "a"}, {"e"}), "equation", std::string("ij,kl->"));
  m.out("y").out("e");
  CHECK(import_and_fold(m) == 0);
}

TEST_CASE("the largest kernel of a pool over nothing but padding", "[bombs]") {
  Maker m;
  m.floats("x", {1, 1, 1, 1}, 1);
  auto& node = m.node("AveragePool", {"x"}, {"y"});
  constexpr int64_t k = 40000;
  set(node, "kernel_shape", std::vector<int64_t>{k, k});
  set(node, "pads", std::vector<int64_t>{k - 1, k - 1, k - 1, k - 1});
  m.out("y");
  const int code = import_and_fold(m);
  CHECK((code == 0 || code == 1 || code == 4));
}

TEST_CASE("sequences of large tensors are counted", "[bombs]") {
  Maker m;
  m.in("x", kF32, {1 << 20, 1 << 19}).ints("one", {}, {1});
  m.node("SplitToSequence", {"x", "one"}, {"s"});
  m.node("ConcatFromSequence", {"s"}, {"y"}).add_attribute()->set_name("axis");
  m.graph().mutable_node(1)->mutable_attribute(0)->set_type(pb::AttributeProto::INT);
  m.out("y");
  onnx::ImportOptions options;
  const int code = import_and_fold(m, options);
  CHECK((code == 0 || code == 1 || code == 4));
}

TEST_CASE("tables as large as a result are not made", "[bombs]") {
  Maker m;
  const bool eye = GENERATE(true, false);
  if (eye) {
    m.in("x", kF32, {1 << 19, 1 << 19}).node("EyeLike", {"x"}, {"y"});
  } else {
    m.in("x", kF32, {2}).ints("p", {2}, {1 << 30, 1 << 30});
    set(m.node("Pad", {"x", "p"}, {"y"}), "mode", std::string("reflect"));
  }
  m.out("y");
  CHECK(compile_for_host(m) == (eye ? Outcome::Accepted : Outcome::Limit));
}

TEST_CASE("large strides and kernels make no large programs", "[bombs]") {
  Maker m;
  constexpr int64_t kStride = 8192;
  m.in("x", kF32, {1, 1, 4, 4}).floats("w", {1, 1, 1, 1}, 1);
  auto& node = m.node("ConvTranspose", {"x", "w"}, {"y"});
  set(node, "strides", std::vector<int64_t>{kStride, kStride});
  m.out("y", kF32, {1, 1, 3 * kStride + 1, 3 * kStride + 1});
  const double before = processor_seconds();
  CHECK(compile_for_host(m) == Outcome::Accepted);
  CHECK(processor_seconds() - before < 5 * kSlowdown);
}

TEST_CASE("a node of many operands or results takes time in proportion", "[bombs]") {
  constexpr int64_t kMany = 30000;
  Maker m;
  const std::string op = GENERATE(as<std::string>{}, "Concat", "SequenceConstruct", "Split");
  m.in("x", kF32, {kMany});
  Names many(static_cast<size_t>(kMany), "x"), one = {"y"};
  if (op == "Split") {
    for (size_t i = 0; i < many.size(); ++i) many[i] = "y" + std::to_string(i);
    one = {"x"};
    many[0] = "y";
  }
  auto& node = op == "Split" ? m.node(op, one, many) : m.node(op, many, one);
  if (op == "Concat") set(node, "axis", 0);
  if (op == "Split") set(node, "num_outputs", kMany);
  if (op == "SequenceConstruct") m.node("SequenceLength", {"y"}, {"n"});
  m.out(op == "SequenceConstruct" ? "n" : "y");
  const double before = processor_seconds();
  CHECK(compile_for_host(m) == Outcome::Accepted);
  CHECK(processor_seconds() - before < 5 * kSlowdown);
}

TEST_CASE("a hole of zeros is not taken apart field by field", "[bombs]") {
  Maker m;
  m.in("x", kF32, {2}).node("Neg", {"x"}, {"y"});
  m.out("y");
  const bool alone = GENERATE(true, false);
  const std::string bytes = (alone ? "" : m.bytes()) + std::string(size_t{128} << 20, '\0');
  const double before = processor_seconds();
  Diagnostics diagnostics;
  CHECK_FALSE(onnx::import_bytes(bytes, "/nonexistent", {}, diagnostics));
  CHECK(diagnostics.exit_code() == 1);
  CHECK(processor_seconds() - before < 0.5 * kSlowdown);
}

// What the accelerator is asked to do with one large layer: refused at once, or the layer stays on the CPU.
namespace {

// Whether anything runs on the accelerator.
bool accelerates(const Maker& m) {
  const double before = processor_seconds();
  std::string said;
  CHECK(compile_for("cn10ka", m, &said) == Outcome::Accepted);
  CHECK(processor_seconds() - before < 5 * kSlowdown);
  return said.find("accelerator") != std::string::npos;
}

Maker convolved(const Dims& input, const Dims& weights) {
  Maker m;
  m.in("x", kF32, input).floats("w", weights, 0.1f).out("y");
  return m;
}

}  // namespace

TEST_CASE("a product of 2^31 rows stays on the CPU", "[bombs]") {
  Maker m = convolved({int64_t{1} << 31, 32}, {32, 80});
  m.node("MatMul", {"x", "w"}, {"y"});
  CHECK_FALSE(accelerates(m));
}

TEST_CASE("a resizing 500 times as large stays on the CPU, the convolution before it does not", "[bombs]") {
  Maker m = convolved({1, 4, 80, 80}, {8, 4, 3, 3});
  m.node("Conv", {"x", "w"}, {"c"});
  auto& scales = *m.floats("s", {4}, 1).graph().mutable_initializer(1);
  scales.set_float_data(2, 500);
  scales.set_float_data(3, 500);
  set(m.node("Resize", {"c", "", "s"}, {"y"}), "mode", std::string("linear"));
  CHECK(accelerates(m));
}

TEST_CASE("a transposed convolution with a stride of 60000 stays on the CPU", "[bombs]") {
  const int64_t size = GENERATE(80, 2);  // too many bytes; too many phases
  Maker m = convolved({1, 4, size, size}, {4, 8, 3, 3});
  set(m.node("ConvTranspose", {"x", "w"}, {"y"}), "strides", std::vector<int64_t>{60000, 1});
  CHECK_FALSE(accelerates(m));
}

TEST_CASE("a convolution over 2^30 positions stays on the CPU", "[bombs]") {
  Maker m = convolved({1, 4, int64_t{1} << 30}, {8, 4, 3});
  m.node("Conv", {"x", "w"}, {"y"});
  CHECK_FALSE(accelerates(m));
}

TEST_CASE("a sum that repeats a small product 2^24 times stays on the CPU", "[bombs]") {
  Maker m = convolved({8, 32}, {32, 80});
  m.in("z", kF32, {int64_t{1} << 24, 8, 80});
  m.node("MatMul", {"x", "w"}, {"p"});
  m.node("Add", {"p", "z"}, {"y"});
  CHECK(accelerates(m));
}

TEST_CASE("a pool that reads 90000 positions for a result stays on the CPU", "[bombs]") {
  Maker m = convolved({1, 4, 4000, 40}, {8, 4, 3, 3});
  m.node("Conv", {"x", "w"}, {"c"});
  set(m.node("MaxPool", {"c"}, {"y"}), "kernel_shape", std::vector<int64_t>{3000, 30});
  CHECK(accelerates(m));
}

TEST_CASE("strides whose product leaves its field are not joined", "[bombs]") {
  Maker m = convolved({1, 4, 15001, 15}, {8, 4, 1, 1});
  m.floats("v", {8, 8, 1, 1}, 0.1f);
  set(m.node("Conv", {"x", "w"}, {"c"}), "strides", std::vector<int64_t>{5000, 5000});
  set(m.node("Conv", {"c", "v"}, {"y"}), "strides", std::vector<int64_t>{5000, 5000});
  CHECK(accelerates(m));
}

TEST_CASE("tensors that fit one by one but not together are refused", "[bombs]") {
  Maker m;
  constexpr int64_t kSide = 5600;  // of 4 channels: 251 MB
  m.in("x", kF32, {1, 4, kSide, kSide});
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    m.floats("w" + n, {4, 4, 1, 1}, 0.1f * static_cast<float>(i)).node("Conv", {"x", "w" + n}, {"y" + n});
    m.out("y" + n);
  }
  const double before = processor_seconds();
  CHECK(compile_for("cn10ka", m) == Outcome::Limit);
  CHECK(processor_seconds() - before < 2 * kSlowdown);
}

TEST_CASE("sizes beyond what is calculated with", "[bombs]") {
  TensorType type{ElementType::F32, {4, 5}};
  CHECK(ops::check_size(type).ok());
  type.shape = {kMaxElements, 2};
  CHECK_FALSE(ops::check_size(type).ok());
  type.shape = {0, kHuge};
  CHECK_FALSE(ops::check_size(type).ok());
  type.shape = {kMaxElements};
  type.wrapper = Wrapper::Sequence;
  type.length = 1000;
  CHECK_FALSE(ops::check_size(type).ok());
  type.shape = {8};
  CHECK(ops::check_size(type).ok());
  type.shape = {kNoBound};
  type.dynamic = 1;
  CHECK(ops::check_size(type).ok());
}

}  // namespace mrvlc::fuzz
