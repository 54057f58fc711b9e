#include "seeds.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "maker.h"
#include "paths.h"

namespace mrvlc::fuzz {
namespace fs = std::filesystem;

namespace {

Maker convolution() {
  Maker m;
  m.in("x", kF32, {1, 3, 8, 8}).floats("w", {4, 3, 3, 3}, 0.1f).floats("b", {4}, 1).floats("s", {4}, 2);
  auto& conv = m.node("Conv", {"x", "w", "b"}, {"c"});
  set(conv, "kernel_shape", std::vector<int64_t>{3, 3});
  set(conv, "pads", std::vector<int64_t>{1, 1, 1, 1});
  set(conv, "strides", std::vector<int64_t>{2, 2});
  m.node("BatchNormalization", {"c", "s", "s", "b", "b"}, {"n"});
  m.node("Relu", {"n"}, {"r"});
  auto& pool = m.node("MaxPool", {"r"}, {"p"});
  set(pool, "kernel_shape", std::vector<int64_t>{2, 2});
  m.node("GlobalAveragePool", {"p"}, {"a"});
  m.node("Flatten", {"a"}, {"f"});
  m.floats("g", {4, 5}, 0.5f).node("Gemm", {"f", "g"}, {"y"});
  m.out("y", kF32, {1, 5});
  return m;
}

Maker transposed() {
  Maker m;
  m.in("x", kF32, {1, 2, 4, 4}).floats("w", {2, 2, 2, 2}, 0.1f).ints("to", {4}, {1, 2, 8, 8});
  set(m.node("ConvTranspose", {"x", "w"}, {"t"}), "strides", std::vector<int64_t>{2, 2});
  m.node("Resize", {"t", "", "", "to"}, {"r"});
  set(m.node("DepthToSpace", {"r"}, {"y"}), "blocksize", 1);
  m.out("y");
  return m;
}

Maker shapes() {
  Maker m;
  m.in("x", kF32, {2, 3, 4}).ints("two", {1}, {2}).ints("all", {1}, {-1}).ints("p", {6}, {0, 1, 0, 0, 1, 0});
  m.node("Shape", {"x"}, {"s"});
  m.node("Gather", {"s", "two"}, {"d"});
  set(m.node("Concat", {"d", "all"}, {"t"}), "axis", 0);
  m.node("Reshape", {"x", "t"}, {"r"});
  m.node("ConstantOfShape", {"s"}, {"z"});
  m.node("Expand", {"z", "s"}, {"e"});
  m.node("Pad", {"e", "p"}, {"q"});
  m.ints("k", {3}, {1, 2, 1}).node("Tile", {"q", "k"}, {"l"});
  m.ints("b", {2}, {0, 1}).ints("e1", {2}, {2, 3}).node("Slice", {"l", "b", "e1"}, {"y"});
  m.ints("lo", {}, {0}).ints("hi", {}, {9}).ints("step", {}, {2}).node("Range", {"lo", "hi", "step"}, {"g"});
  m.out("r").out("y").out("g");
  return m;
}

Maker open_shapes() {
  Maker m;
  m.in("x", kF32, {-1, 3}).in("t", kI64, {2}).ints("k", {1}, {2});
  m.node("NonZero", {"x"}, {"n"});
  m.node("Reshape", {"x", "t"}, {"r"});
  m.node("Unique", {"x"}, {"u"});
  set(m.node("TopK", {"x", "k"}, {"v", "i"}), "axis", 1);
  m.node("Transpose", {"n"}, {"g"});
  set(m.node("Concat", {"u", "u"}, {"c"}), "axis", 0);
  m.out("g").out("r", kF32, {6, 4}).out("c").out("v");
  return m;
}

Maker branches() {
  Maker m;
  m.in("c", kBool, {}).in("x", kF32, {2, 3});
  auto& node = m.node("If", {"c"}, {"y"});
  GraphMaker(body(node, "then_branch")).out("a", kF32, {2, 3}).node("Relu", {"x"}, {"a"});
  GraphMaker other(body(node, "else_branch"));
  other.out("b", kF32, {4, 3});
  set(other.node("Concat", {"x", "x"}, {"b"}), "axis", 0);
  m.out("y", kF32, {4, 3});
  return m;
}

Maker loop(int64_t trips) {
  Maker m;
  m.in("x", kF32, {2}).ints("n", {}, {trips});
  m.bytes("go", kBool, {}, 1);
  auto& node = m.node("Loop", {"n", "go", "x"}, {"y", "all"});
  GraphMaker b(body(node, "body"));
  b.in("i", kI64, {})
      .in("c", kBool, {})
      .in("s", kF32, {2})
      .out("c1", kBool, {})
      .out("t", kF32, {2})
      .out("u", kF32, {2});
  b.node("Identity", {"c"}, {"c1"});
  b.node("Add", {"s", "x"}, {"t"});
  b.node("Exp", {"t"}, {"u"});
  m.out("y", kF32, {2}).out("all", kF32, {trips, 2});
  return m;
}

Maker growing_loop() {
  Maker m;
  m.in("x", kF32, {1}).in("n", kI64, {});
  auto& node = m.node("Loop", {"n", "", "x"}, {"y"});
  GraphMaker b(body(node, "body"));
  b.in("i", kI64, {}).in("c", kBool, {}).in("s", kF32, {-1}).out("c", kBool, {}).out("t", kF32, {-1});
  set(b.node("Concat", {"s", "s"}, {"t"}), "axis", 0);
  m.out("y", kF32, {-1});
  return m;
}

Maker scan() {
  Maker m;
  m.in("x", kF32, {3, 2}).in("h", kF32, {2});
  auto& node = m.node("Scan", {"h", "x"}, {"y", "all"});
  set(node, "num_scan_inputs", 1);
  GraphMaker b(body(node, "body"));
  b.in("s", kF32, {2}).in("e", kF32, {2}).out("t", kF32, {2}).out("u", kF32, {2});
  b.node("Mul", {"s", "e"}, {"t"});
  b.node("Identity", {"t"}, {"u"});
  m.out("y", kF32, {2}).out("all", kF32, {3, 2});
  return m;
}

Maker sequences() {
  Maker m;
  m.in("x", kF32, {4, 2}).in("k", kI64, {}).ints("one", {}, {1});
  set(m.node("SplitToSequence", {"x", "one"}, {"s"}), "axis", 0);
  m.node("SequenceInsert", {"s", "x", "k"}, {"i"});
  m.node("SequenceErase", {"i", "k"}, {"e"});
  m.node("SequenceAt", {"e", "k"}, {"a"});
  m.node("SequenceLength", {"e"}, {"l"});
  auto& map = m.node("SequenceMap", {"s"}, {"p"});
  GraphMaker b(body(map, "body"));
  b.in("t", kF32, {1, 2}).out("u", kF32, {1, 2}).node("Neg", {"t"}, {"u"});
  set(m.node("ConcatFromSequence", {"p"}, {"c"}), "axis", 0);
  m.node("Optional", {"x"}, {"o"});
  m.node("OptionalGetElement", {"o"}, {"g"});
  m.out("a").out("l").out("c").out("g");
  return m;
}

Maker growing_sequence() {
  Maker m;
  m.in("n", kI64, {}).in("x", kF32, {3, 4});
  m.node("SequenceEmpty", {}, {"e"});
  auto& node = m.node("Loop", {"n", "", "e"}, {"q"});
  GraphMaker b(body(node, "body"));
  b.in("i", kI64, {}).in("c", kBool, {}).out("c", kBool, {});
  auto* state = b.graph().add_input();
  state->set_name("s");
  set_type(*state->mutable_type()->mutable_sequence_type()->mutable_elem_type(), kF32, {3, 4});
  auto* result = b.graph().add_output();
  *result = *state;
  result->set_name("t");
  b.node("SequenceInsert", {"s", "x"}, {"t"});
  set(m.node("ConcatFromSequence", {"q"}, {"y"}), "axis", 0);
  m.out("y");
  return m;
}

Maker quantised() {
  Maker m;
  m.in("x", kF32, {1, 3, 6, 6}).floats("s", {}, 0.05f).floats("sc", {4}, 0.1f);
  m.bytes("z", kU8, {}, 128).bytes("zc", kI8, {4}, 0).bytes("w", kI8, {4, 3, 3, 3}, 3);
  m.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  m.node("DequantizeLinear", {"q", "s", "z"}, {"d"});
  set(m.node("DequantizeLinear", {"w", "sc", "zc"}, {"wd"}), "axis", 0);
  m.node("Conv", {"d", "wd"}, {"c"});
  m.node("QuantizeLinear", {"c", "s", "z"}, {"cq"});
  m.node("DequantizeLinear", {"cq", "s", "z"}, {"y"});
  m.node("QLinearConv", {"q", "s", "z", "w", "sc", "zc", "s", "z"}, {"v"});
  m.node("DynamicQuantizeLinear", {"x"}, {"dq", "ds", "dz"});
  m.out("y").out("v").out("dq");
  return m;
}

// float8 (17) and int4 (22): opset 21.
Maker narrow_types() {
  Maker m(21);
  m.in("x", kF32, {2, 4}).floats("s", {}, 0.5f);
  m.bytes("z8", 17, {}, 0);
  m.node("QuantizeLinear", {"x", "s", "z8"}, {"q"});
  m.node("DequantizeLinear", {"q", "s", "z8"}, {"d"});
  set(m.node("Cast", {"x"}, {"i4"}), "to", 22);
  set(m.node("Cast", {"i4"}, {"f"}), "to", 1);
  set(m.node("Cast", {"x"}, {"h"}), "to", 10);
  m.out("d").out("f").out("h");
  return m;
}

Maker strings() {
  Maker m(20);
  m.in("x", kString, {2, 2});
  auto* t = m.graph().add_initializer();
  t->set_name("c");
  t->set_data_type(kString);
  t->add_dims(2);
  t->add_string_data(std::string("a\0*/\"", 5));
  t->add_string_data("\xe2\x80\xae");
  m.node("StringConcat", {"x", "c"}, {"j"});
  m.node("StringNormalizer", {"c"}, {"n"});
  m.node("Equal", {"j", "x"}, {"e"});
  m.out("j").out("n").out("e");
  return m;
}

Maker functions() {
  Maker m;
  m.model().add_opset_import()->set_domain("f");
  m.model().mutable_opset_import(1)->set_version(1);
  for (const char* name : {"inner", "outer"}) {
    auto* f = m.model().add_functions();
    f->set_name(name);
    f->set_domain("f");
    f->add_input("a");
    f->add_output("b");
    for (const char* domain : {"", "f"}) {
      auto* set = f->add_opset_import();
      set->set_domain(domain);
      set->set_version(domain[0] == 'f' ? 1 : 19);
    }
    auto* node = f->add_node();
    node->add_input("a");
    node->add_output("b");
    node->set_op_type(name[0] == 'i' ? "Relu" : "inner");
    node->set_domain(name[0] == 'i' ? "" : "f");
  }
  m.in("x", kF32, {2}).out("y", kF32, {2});
  m.node("outer", {"x"}, {"y"}).set_domain("f");
  return m;
}

Maker recurrent() {
  Maker m;
  m.in("x", kF32, {3, 1, 2}).floats("w", {1, 8, 2}, 0.1f).floats("r", {1, 8, 2}, 0.1f);
  set(m.node("LSTM", {"x", "w", "r"}, {"y", "h", "c"}), "hidden_size", 2);
  m.floats("wg", {1, 6, 2}, 0.1f).floats("rg", {1, 6, 2}, 0.1f);
  set(m.node("GRU", {"x", "wg", "rg"}, {"g"}), "hidden_size", 2);
  m.node("Softmax", {"g"}, {"s"});
  set(m.node("Einsum", {"x", "x"}, {"e"}), "equation", std::string("abc,abd->acd"));
  m.out("y").out("s").out("e");
  return m;
}

Maker detection() {
  Maker m;
  m.in("b", kF32, {1, 6, 4}).in("s", kF32, {1, 1, 6}).ints("n", {1}, {3}).floats("t", {1}, 0.5f);
  m.node("NonMaxSuppression", {"b", "s", "n", "t", "t"}, {"i"});
  m.in("x", kF32, {1, 2, 5, 5}).in("g", kF32, {1, 3, 3, 2});
  m.node("GridSample", {"x", "g"}, {"r"});
  m.ints("at", {2, 1}, {0, 1}).floats("u", {2, 2, 5, 5}, 1).node("ScatterND", {"x", "at", "u"}, {"d"});
  m.node("CumSum", {"x", "n"}, {"c"});
  m.out("i").out("r").out("d").out("c");
  return m;
}

// Operators that the importer takes apart.
Maker fused() {
  Maker m;
  auto& import = *m.model().add_opset_import();
  import.set_domain("com.microsoft");
  import.set_version(1);
  auto ort = [&](const std::string& op, const Names& in, const Names& out) -> pb::NodeProto& {
    auto& node = m.node(op, in, out);
    node.set_domain("com.microsoft");
    return node;
  };
  m.in("x", kF32, {2, 2, 16}).floats("v", {16}, 1).floats("s", {}, 0.5f).bytes("z", kU8, {}, 3);
  ort("SkipLayerNormalization", {"x", "x", "v", "v"}, {"n"});
  set(ort("FusedMatMul", {"n", "x"}, {"m"}), "transB", 1);
  ort("BiasGelu", {"n", "v"}, {"g"});
  auto& bits = ort("MatMulNBits", {"g", "b", "v"}, {"q"});
  m.bytes("b", kU8, {16, 1, 8}, 33);
  for (const auto& [name, value] : {std::pair{"K", 16}, {"N", 16}, {"bits", 4}, {"block_size", 16}})
    set(bits, name, value);
  m.node("QuantizeLinear", {"q", "s", "z"}, {"i"});
  ort("QLinearAdd", {"i", "s", "z", "i", "s", "z", "s", "z"}, {"a"});
  set(ort("QLinearConcat", {"s", "z", "i", "s", "z", "a", "s", "z"}, {"c"}), "axis", 1);
  m.bytes("w", kI8, {16, 4}, 5);
  ort("DynamicQuantizeMatMul", {"x", "w", "s"}, {"d"});
  m.out("m").out("c").out("d");
  return m;
}

}  // namespace

std::vector<Seed> made_seeds() {
  std::vector<Seed> seeds;
  auto add = [&](const char* name, const Maker& m) {
    seeds.push_back({std::string("made/") + name, m.bytes()});
  };
  add("convolution", convolution());
  add("transposed", transposed());
  add("shapes", shapes());
  add("open_shapes", open_shapes());
  add("branches", branches());
  add("loop", loop(3));
  add("long_loop", loop(int64_t{1} << 62));
  add("growing_loop", growing_loop());
  add("scan", scan());
  add("sequences", sequences());
  add("growing_sequence", growing_sequence());
  add("quantised", quantised());
  add("narrow_types", narrow_types());
  add("strings", strings());
  add("functions", functions());
  add("recurrent", recurrent());
  add("detection", detection());
  add("fused", fused());
  for (Seed& s : accelerator_seeds()) seeds.push_back(std::move(s));
  return seeds;
}

std::vector<Seed> stored_seeds(const fs::path& folder, size_t max_bytes) {
  std::vector<Seed> seeds;
  std::error_code ec;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ec)) {
    if (entry.path().extension() != ".onnx" || !entry.is_regular_file(ec) || entry.file_size(ec) > max_bytes)
      continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!bytes.empty()) seeds.push_back({entry.path().lexically_relative(folder).string(), std::move(bytes)});
  }
  std::sort(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) { return a.name < b.name; });
  return seeds;
}

std::vector<Seed> all_seeds() {
  std::vector<Seed> seeds = made_seeds();
  auto add = [&](const fs::path& folder, size_t max_bytes) {
    for (Seed& s : stored_seeds(folder, max_bytes)) seeds.push_back(std::move(s));
  };
  // What is made here covers every class; a tenth of the mutants start there.
  const size_t made = seeds.size();
  add(fs::path(MRVLC_SOURCE_DIR) / "models", 1u << 20);
  add("/usr/share/libonnx-testdata/data", 100u << 10);
  if (const char* folder = std::getenv("MRVLC_ONNX_TESTDATA")) add(folder, 100u << 10);
  const size_t copies = seeds.size() / 10 / made;
  for (size_t c = 0; c < copies; ++c) {
    for (size_t i = 0; i < made; ++i) seeds.push_back(seeds[i]);
  }
  return seeds;
}

}  // namespace mrvlc::fuzz
