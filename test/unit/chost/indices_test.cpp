// Values that say where, known at run time: every operator that has some, given good ones and such beyond
// both ends, in one program with sanitizers. The reference says the same of each.
#include <catch2/catch.hpp>

#include "mrvlc/interp/interp.h"
#include "mrvlc/ir/rewriter.h"
#include "mrvlc/partition/partition.h"
#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

using Ints = std::vector<int64_t>;

// A model, and values of its last input with whether they are allowed.
struct Trial {
  GraphBuilder b;
  std::vector<std::pair<Tensor, bool>> values;
};

Tensor of(ElementType elem, const Shape& shape, const Ints& values) {
  return Tensor::of(elem, shape, values);
}

void add_values(Trial& t, ElementType elem, const Shape& shape, const std::vector<Ints>& good,
                const std::vector<Ints>& bad) {
  for (const Ints& v : good) t.values.emplace_back(of(elem, shape, v), true);
  for (const Ints& v : bad) t.values.emplace_back(of(elem, shape, v), false);
}

Trial gather(std::string_view op, ElementType elem, const Shape& shape, const Attrs& attrs,
             const std::vector<Ints>& good, const std::vector<Ints>& bad) {
  Trial t;
  const ir::ValueId x = t.b.input({4, 3}), i = t.b.input(shape, elem);
  t.b.output(t.b.node(op, {x, i}, attrs));
  add_values(t, elem, shape, good, bad);
  return t;
}

Trial scatter(std::string_view op, const Shape& shape, const Shape& updates, const std::vector<Ints>& good,
              const std::vector<Ints>& bad) {
  Trial t;
  const ir::ValueId x = t.b.input({4, 3}), u = t.b.input(updates), i = t.b.input(shape, ElementType::I64);
  t.b.output(t.b.node(op, {x, i, u}));
  add_values(t, ElementType::I64, shape, good, bad);
  return t;
}

Trial sequences(std::string_view op, int64_t gates) {
  Trial t;
  const ir::ValueId x = t.b.input({5, 2, 3}), n = t.b.input({2}, ElementType::I32);
  t.b.output(t.b.node(op, {x, t.b.constant({1, gates * 4, 3}), t.b.constant({1, gates * 4, 4}), {}, n},
                      {{"hidden_size", int64_t{4}}}));
  add_values(t, ElementType::I32, {2}, {{5, 0}}, {{6, 1}, {1, -1}});
  return t;
}

Trial loss(std::string_view op, bool ignores) {
  Trial t;
  const ir::ValueId x = t.b.input({2, 3}), labels = t.b.input({2}, ElementType::I64);
  t.b.output(t.b.node(op, {x, labels}, ignores ? Attrs{{"ignore_index", int64_t{-9}}} : Attrs{}));
  add_values(t, ElementType::I64, {2}, {{2, 0}, {-1, -3}}, {{3, 0}, {0, -4}, {0, INT64_MAX}});
  t.values.emplace_back(of(ElementType::I64, {2}, {-9, 1}), ignores);
  return t;
}

Trial reversal() {
  Trial t;
  const ir::ValueId x = t.b.input({4, 2, 3}), n = t.b.input({2}, ElementType::I64);
  t.b.output(t.b.node("ReverseSequence", {x, n}));
  add_values(t, ElementType::I64, {2}, {{4, 0}}, {{5, 0}, {0, -1}, {INT64_MIN, 1}});
  return t;
}

Trial unpool() {
  Trial t;
  const ir::ValueId x = t.b.input({1, 1, 2, 2}), i = t.b.input({1, 1, 2, 2}, ElementType::I64);
  t.b.output(t.b.node("MaxUnpool", {x, i}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}));
  add_values(t, ElementType::I64, {1, 1, 2, 2}, {{0, 15, 3, 8}}, {{0, 16, 3, 8}, {0, 1, -1, 8}});
  return t;
}

Trial regions() {
  Trial t;
  const ir::ValueId x = t.b.input({2, 1, 4, 4}), rois = t.b.input({2, 4}),
                    batch = t.b.input({2}, ElementType::I64);
  t.b.output(t.b.node("RoiAlign", {x, rois, batch}));
  add_values(t, ElementType::I64, {2}, {{1, 0}}, {{2, 0}, {0, INT64_MAX}});
  return t;
}

Trial pooled_regions() {
  Trial t;
  const ir::ValueId x = t.b.input({2, 1, 4, 4}), rois = t.b.input({1, 5});
  t.b.output(t.b.node("MaxRoiPool", {x, rois}, {{"pooled_shape", Ints{2, 2}}}));
  for (const auto& [batch, corner] :
       {std::pair{1.0, 3.0}, {2.0, 3.0}, {-1.0, 3.0}, {double{NAN}, 3.0}, {0.0, double{NAN}}})
    t.values.emplace_back(Tensor::of(ElementType::F32, {1, 5}, std::vector<double>{batch, 0, 0, corner, 3}),
                          batch == 1);
  return t;
}

Trial cache() {
  Trial t;
  const ir::ValueId x = t.b.input({2, 4, 3}), u = t.b.input({2, 2, 3}), n = t.b.input({2}, ElementType::I64);
  t.b.output(t.b.node("TensorScatter", {x, u, n}));
  add_values(t, ElementType::I64, {2}, {{2, 0}}, {{3, 0}, {0, -1}});
  return t;
}

Trial rotation() {
  Trial t;
  const ir::ValueId x = t.b.input({1, 2, 2, 4}), cos = t.b.input({3, 2}), sin = t.b.input({3, 2}),
                    at = t.b.input({1, 2}, ElementType::I64);
  t.b.output(t.b.node("RotaryEmbedding", {x, cos, sin, at}));
  add_values(t, ElementType::I64, {1, 2}, {{2, 0}}, {{3, 0}, {0, -4}});
  return t;
}

Trial attention() {
  Trial t;
  const ir::ValueId q = t.b.input({2, 1, 2, 4}), k = t.b.input({2, 1, 3, 4}), v = t.b.input({2, 1, 3, 4}),
                    n = t.b.input({2}, ElementType::I64);
  t.b.output(t.b.node("Attention", {q, k, v, {}, {}, {}, n}));
  add_values(t, ElementType::I64, {2}, {{3, 1}}, {{4, 1}, {1, -1}});
  return t;
}

std::vector<Trial> trials() {
  const std::vector<Ints> rows{{3, 0}, {-4, -1}}, beyond{{4, 0}, {0, -5}, {INT64_MAX, 0}, {0, INT64_MIN}};
  const Attrs axis{{"axis", int64_t{1}}};
  std::vector<Trial> all;
  all.push_back(gather("Gather", ElementType::I64, {2}, {}, rows, beyond));
  all.push_back(gather("Gather", ElementType::I32, {2}, axis, {{2, -3}}, {{3, 0}, {-4, 0}}));
  all.push_back(gather("GatherElements", ElementType::I64, {1, 2}, {}, rows, beyond));
  all.push_back(gather("GatherND", ElementType::I64, {1, 2}, {}, {{3, -3}}, {{3, 3}, {4, 0}, {0, -4}}));
  all.push_back(gather("GatherND", ElementType::I64, {2, 1}, {}, rows, beyond));
  all.push_back(scatter("ScatterElements", {1, 2}, {1, 2}, rows, beyond));
  all.push_back(scatter("ScatterND", {2, 1}, {2, 3}, rows, beyond));
  for (auto [op, gates] : {std::pair{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}}) all.push_back(sequences(op, gates));
  for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    all.push_back(loss(op, false));
    all.push_back(loss(op, true));
  }
  all.push_back(reversal());
  all.push_back(unpool());
  all.push_back(regions());
  all.push_back(pooled_regions());
  all.push_back(cache());
  all.push_back(rotation());
  all.push_back(attention());
  return all;
}

std::string bytes_text(const Tensor& tensor) {
  std::string text;
  for (std::byte b : tensor.bytes()) text += fmt::format("{},", static_cast<unsigned>(b));
  return text;
}

// A C function that runs the model on each of the values and prints the code, a line for all.
std::string caller(const Trial& t, const std::vector<Tensor>& given, const std::string& name) {
  const ir::Graph& g = t.b.graph;
  std::string text = fmt::format(
      "#include \"{0}.h\"\nextern int printf(const char*, ...);\nvoid try_{0}(void) {{\n"
      "static _Alignas(64) unsigned char arena[{0}_ARENA_BYTES + 1];\n",
      name);
  std::string in, out;
  for (size_t i = 0; i + 1 < given.size(); ++i) {
    text +=
        fmt::format("static const _Alignas(64) unsigned char in{}[] = {{{}}};\n", i, bytes_text(given[i]));
    in += fmt::format("(const void*)in{}, ", i);
  }
  for (size_t i = 0; i < g.outputs().size(); ++i) {
    text += fmt::format("static _Alignas(64) unsigned char out{}[{}];\n", i,
                        g.value(g.outputs()[i]).type.bytes());
    out += fmt::format("(void*)out{}, ", i);
  }
  for (const auto& [value, ok] : t.values)
    text += fmt::format(
        "{{\nstatic const _Alignas(64) unsigned char last[] = {{{0}}};\nconst {1}_inputs i = {{{2}(const "
        "void*)last}};\n{1}_outputs o = {{{3}}};\n{1}_error e;\nconst int rc = {1}_run(&i, &o, arena, 0, 0, "
        "0, &e);\n"
        "printf(\"%d%s\", rc, rc != 0 && e.node[0] == 0 ? \"?\" : \" \");\n}}\n",
        bytes_text(value), name, in, out);
  return text + "printf(\"\\n\");\n}\n";
}

std::string codes_of_all(bool check_indices) {
  TempDir dir;
  std::string callers, files, log;
  std::vector<Trial> all = trials();
  for (size_t k = 0; k < all.size(); ++k) {
    const std::string name = fmt::format("m{}", k);
    Options options{.name = name, .file_stem = name};
    options.weights = WeightsAs::Source;
    options.check_indices = check_indices;
    auto code = generate(all[k].b.graph, partition::host_partition(all[k].b.graph), {}, options);
    if (!code.ok()) FAIL(code.error().message);
    write_files(*code, dir.path());
    std::vector<Tensor> given;
    for (ir::ValueId v : all[k].b.graph.inputs())
      given.push_back(all[k].b.random(all[k].b.graph.value(v).type));
    dir.write("try_" + name + ".c", caller(all[k], given, name));
    for (const std::string& file : {name + ".c", name + "_weights.c", "try_" + name + ".c"})
      if (std::filesystem::exists(dir.path() / file)) files += " " + file;
    callers += fmt::format("extern void try_{0}(void); try_{0}();\n", name);
  }
  dir.write("all.c", "int main(void) {\n" + callers + "return 0;\n}\n");
  const std::string build =
      "gcc -std=c11 -O1 -w -fsanitize=address,undefined -fno-sanitize-recover=all -o all all.c" + files +
      " -lm";
  if (shell(dir.path(), build, &log) != 0) FAIL(build << "\n" << log);
  if (shell(dir.path(), "ASAN_OPTIONS=detect_leaks=0 ./all", &log) != 0) FAIL(log);
  return log;
}

}  // namespace

TEST_CASE("indices: one out of range ends the run with an error, in the reference as well") {
  std::string expected;
  for (Trial& t : trials()) {
    std::vector<Tensor> given;
    for (ir::ValueId v : t.b.graph.inputs()) given.push_back(t.b.random(t.b.graph.value(v).type));
    for (const auto& [value, ok] : t.values) {
      given.back() = value;
      const auto result = interp::run(t.b.graph, given);
      INFO(t.b.graph.node(t.b.graph.topological_order().front()).op->name);
      CHECK(result.ok() == ok);
      expected += ok ? "0 " : "5 ";
    }
    expected += "\n";
  }
  CHECK(codes_of_all(true) == expected);
}

TEST_CASE("indices: without checks nothing is read or written beyond the operands") {
  CHECK(codes_of_all(false).find('5') == std::string::npos);
}

TEST_CASE("indices: constant ones out of range are refused, those in range cost nothing") {
  GraphBuilder b;
  b.output(b.node("Gather", {b.input({4, 3}), b.constant(of(ElementType::I64, {2}, {-4, 3}))}));
  const std::string text = file_of(generate_host(b.graph), "net.c");
  CHECK(text.find("outside") == std::string::npos);
  CHECK(text.find("at < 4") == std::string::npos);

  // As a pass may leave it: the constant came after the model was read.
  GraphBuilder late;
  const ir::ValueId x = late.input({4, 3}), i = late.constant(of(ElementType::I64, {1}, {3}));
  late.output(late.node("Gather", {x, i}));
  ir::Rewriter(late.graph, "test").replace_all_uses(i, late.constant(of(ElementType::I64, {1}, {7})));
  const auto code =
      generate(late.graph, partition::host_partition(late.graph), {}, {.name = "net", .file_stem = "net"});
  REQUIRE_FALSE(code.ok());
  CHECK(code.error().message.find("index 7 is out of range for a dimension of 4") != std::string::npos);
}
