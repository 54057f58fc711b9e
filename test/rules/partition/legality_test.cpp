// What the accelerator takes and why not: graphs with one operator in question, asked through layer_legal.
#include "mrvlc/accel/legality.h"

#include <cmath>
#include <set>

#include "build.h"
#include "mrvlc/accel/vector_unit.h"

using namespace mrvlc;

namespace {

ir::Graph parse(const std::string& body) {
  auto g = ir::parse("graph \"g\" {\n" + body + "\n}\n", ops::registry());
  if (!g.ok()) FAIL(g.error().message << "\n" << body);
  return std::move(g).value();
}

// All nodes of the graph as one layer, the first being the anchor.
partition::Legality ask(const std::string& kind, const std::string& body) {
  ir::Graph g = parse(body);
  partition::Layer layer{"test", find_layer_kind(kind).value(), g.topological_order(),
                         g.topological_order().front()};
  return accel::layer_legal(g, layer, test::machine());
}

void accept(const std::string& kind, const std::string& body) {
  CAPTURE(body);
  partition::Legality l = ask(kind, body);
  CAPTURE(l.reason);
  CHECK(l.ok);
}

void refuse(const std::string& kind, const std::string& body, const std::string& actual,
            const std::string& limit) {
  CAPTURE(body);
  partition::Legality l = ask(kind, body);
  CAPTURE(l.reason);
  CHECK_FALSE(l.ok);
  CHECK(l.actual == actual);
  CHECK(l.limit == limit);
  CHECK_FALSE(l.condition.empty());
  REQUIRE_FALSE(l.reason.empty());
  CHECK(l.reason.back() == '.');
}

std::string list(int n, const std::string& v = "1") {
  std::string out = "[" + v;
  for (int i = 1; i < n; ++i) out += ", " + v;
  return out + "]";
}

// Whether halves, which averages of an even number of terms are, remain so in a product with 1 / count.
bool ties_survive(int count) {
  for (int k = 0; k < 256; ++k) {
    const auto sum = static_cast<float>(count * k + count / 2);
    if (std::nearbyint(sum * (1.0f / static_cast<float>(count))) !=
        std::nearbyint(static_cast<float>(k) + 0.5f))
      return false;
  }
  return true;
}

const std::string kImage = "input %x : f32[1,4,8,8]\n const %w : f32[4,4,3,3] = " + list(144) + "\n";

}  // namespace

TEST_CASE("convolutions") {
  accept("conv", kImage + "%c = Conv(%x, %w) {pads = [1,1,1,1]} : f32[1,4,8,8]\n output %c");
  accept("conv",
         kImage + "%c = Conv(%x, %w) {dilations = [2,2], strides = [2,1]} : f32[1,4,2,4]\n output %c");
  accept("conv", "input %x : f16[8,4,9]\n const %w : f16[4,1,3] = x\"" + std::string(48, '0') +
                     "\"\n %c = Conv(%x, %w) {group = 4} : f16[8,4,7]\n output %c");
  refuse("conv",
         "input %x : f32[1,4,8,8]\n input %w : f32[4,4,1,1]\n %c = Conv(%x, %w) : f32[1,4,8,8]\n output %c",
         "an input of the model", "a constant");
  refuse("conv",
         "input %x : f32[256,1,2,2]\n const %w : f32[1,1,1,1] = [1]\n %c = Conv(%x, %w) : f32[256,1,2,2]\n "
         "output %c",
         "256", "255");
  refuse("conv",
         "input %x : f64[1,1,2,2]\n const %w : f64[1,1,1,1] = [1]\n %c = Conv(%x, %w) : f64[1,1,2,2]\n "
         "output %c",
         "f64", "f32 or f16");
  refuse("conv",
         "input %x : f32[0,1,2,2]\n const %w : f32[1,1,1,1] = [1]\n %c = Conv(%x, %w) : f32[0,1,2,2]\n "
         "output %c",
         "0x1x2x2", "at least 1 each");
  refuse("conv",
         "input %x : f32[1,1,2,2,2]\n const %w : f32[1,1,1,1,1] = [1]\n %c = Conv(%x, %w) : f32[1,1,2,2,2]\n "
         "output %c",
         "3", "1 or 2");
  const std::string bias = "%c = Conv(%x, %w, %b) {pads = [1,1,1,1]} : f32[1,4,8,8]\n output %c";
  accept("conv", kImage + "const %b : f32[4] = [1,2,3,4]\n " + bias);
  refuse("conv", kImage + "input %b : f32[4]\n " + bias, "an input of the model", "a constant");
}

TEST_CASE("epilogues") {
  const std::string conv = kImage + "const %k : f32[4,1,1] = [1,2,3,4]\n const %row : f32[8] = " + list(8) +
                           "\n input %y : f32[1,4,8,8]\n input %z : f32[1,4,1,1]\n %c = Conv(%x, %w) {pads = "
                           "[1,1,1,1]} : f32[1,4,8,8]\n ";
  const std::string shape = " : f32[1,4,8,8]\n ";
  accept("conv", conv + "%a = Add(%k, %c)" + shape + "%b = HardSwish(%a)" + shape + "%d = Add(%b, %y)" +
                     shape + "%e = Sigmoid(%d)" + shape + "output %e");
  refuse("conv", conv + "%a = Add(%c, %row)" + shape + "output %a", "8",
         "one value, or one for each channel");
  refuse("conv", conv + "%a = Mul(%c, %z)" + shape + "output %a", "1x4x1x1", "1x4x8x8");
  refuse("conv", conv + "%a = Add(%c, %y)" + shape + "%b = Add(%a, %y)" + shape + "output %b", "2", "1");
  refuse("conv", conv + "%a = Max(%c, %y)" + shape + "output %a", "Max", "Add, Sub or Mul");
  refuse("conv", conv + "%a = Mul(%c, %c)" + shape + "output %a", "the same value twice", "two values");
  refuse("conv", conv + "%a = Sin(%c)" + shape + "output %a", "Sin", "a function of the vector unit");
  // Whatever made the layer: it must be a chain, read inside alone.
  refuse("conv", conv + "%a = Relu(%c)" + shape + "%b = Sigmoid(%c)" + shape + "output %a\n output %b",
         "a fork", "a chain");
  refuse("conv", conv + "%a = Relu(%c)" + shape + "output %a\n output %c", "a fork", "a chain");
  refuse(
      "conv",
      conv + "%a = Relu(%c)" + shape + "%b = Sub(%y, %k)" + shape + "%d = Add(%a, %b)" + shape + "output %d",
      "a fork", "a chain");
  refuse("softmax", "input %x : f32[2,4]\n input %y : f32[2,4]\n %a = Add(%x, %y) : f32[2,4]\n output %a",
         "Add", "an operator of kind softmax");
  refuse("concat", "input %x : f32[2,4]\n %a = Softmax(%x) : f32[2,4]\n output %a", "Softmax",
         "an operator of kind concat");
  refuse("elementwise", "input %x : f32[2,4]\n input %l : f32[]\n %a = Clip(%x, %l) : f32[2,4]\n output %a",
         "an input of the model", "a constant");
  refuse("pool",
         "input %x : f32[1,4,8,8]\n %p = GlobalMaxPool(%x) : f32[1,4,1,1]\n %r = Relu(%p) : f32[1,4,1,1]\n "
         "output %r",
         "Relu", "QuantizeLinear");
}

TEST_CASE("matrix products") {
  const std::string w = "const %w : f32[3,2] = " + list(6) + "\n";
  accept(
      "fc",
      w + "input %x : f32[5,3]\n const %b : f32[2] = [1, 2]\n %c = Gemm(%x, %w, %b) : f32[5,2]\n output %c");
  accept("fc", w + "input %x : f32[2,5,3]\n %c = MatMul(%x, %w) : f32[2,5,2]\n output %c");
  refuse("fc", "input %x : f32[5,3]\n input %w : f32[3,2]\n %c = Gemm(%x, %w) : f32[5,2]\n output %c",
         "an input of the model", "a constant");
  accept(
      "matmul",
      "input %x : f32[2,7,5,3]\n input %y : f32[2,7,3,4]\n %c = MatMul(%x, %y) : f32[2,7,5,4]\n output %c");
  refuse("matmul",
         "input %x : f32[2,7,5,3]\n input %y : f32[7,3,4]\n %c = MatMul(%x, %y) : f32[2,7,5,4]\n output %c",
         "7", "1 or 14");
  refuse("matmul", "input %x : f32[3]\n input %y : f32[3,4]\n %c = MatMul(%x, %y) : f32[4]\n output %c", "1",
         "at least 2");
}

TEST_CASE("pools") {
  const std::string x = "input %x : f32[1,4,8,8]\n ";
  accept("pool", x + "%p = MaxPool(%x) {kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]} : "
                     "f32[1,4,4,4]\n output %p");
  accept("pool", x + "%p = AveragePool(%x) {kernel_shape = [3,3], strides = [2,2], ceil_mode = 1} : "
                     "f32[1,4,4,4]\n output %p");
  refuse(
      "pool",
      x + "%p, %i = MaxPool(%x) {kernel_shape = [2,2]} : f32[1,4,7,7], i64[1,4,7,7]\n output %p\n output %i",
      "i64", "f32 or f16");
  // The two rows a window reads are ten apart, the input has three.
  refuse("pool",
         "input %x : f32[1,4,3,3]\n %p = MaxPool(%x) {kernel_shape = [2,1], dilations = [10,1], pads = "
         "[5,0,5,0]} : "
         "f32[1,4,3,3]\n output %p",
         "output 0 of dimension 0 reads padding only", "at least one element");
}

TEST_CASE("element-wise operators and reductions") {
  accept("elementwise",
         "input %x : f32[2,3,4]\n input %y : f32[3,1]\n %a = Div(%x, %y) : f32[2,3,4]\n output %a");
  accept("elementwise", "input %x : f32[]\n %a = Exp(%x) : f32[]\n output %a");
  refuse("elementwise",
         "input %x : f32[2,1,2,1,2,1]\n input %y : f32[1,2,1,2,1,2]\n %a = Add(%x, %y) : f32[2,2,2,2,2,2]\n "
         "output %a",
         "6", "5");
  refuse("elementwise", "input %x : i32[2]\n input %y : i32[2]\n %a = Add(%x, %y) : i32[2]\n output %a",
         "i32", "f32 or f16");
  refuse("elementwise",
         "input %x : f32[2]\n const %e : f32[] = [2.5]\n %a = Pow(%x, %e) : f32[2]\n output %a", "2.5",
         "0.5, 2 or 3");
  refuse("elementwise", "input %x : f32[2]\n %a = Round(%x) : f32[2]\n output %a", "Round",
         "an operator of kind elementwise");
  accept(
      "reduce",
      "input %x : f32[2,3,4]\n const %a : i64[1] = [1]\n %r = ReduceMean(%x, %a) : f32[2,1,4]\n output %r");
  refuse("reduce",
         "input %x : f32[2,3,4]\n input %a : i64[1]\n %r = ReduceMean(%x, %a) : f32[2,1,4]\n output %r",
         "i64", "f32 or f16");
  refuse("reduce",
         "input %x : f32[2,2,2,2,2,2]\n const %a : i64[3] = [0,2,4]\n %r = ReduceSum(%x, %a) : "
         "f32[1,2,1,2,1,2]\n output %r",
         "6", "5");
  accept("softmax", "input %x : f32[2,1000]\n %s = Softmax(%x) : f32[2,1000]\n output %s");
  refuse("softmax", "input %x : f32[2,100000]\n %s = Softmax(%x) : f32[2,100000]\n output %s", "100000",
         "65536");
}

TEST_CASE("moves and shapes") {
  accept("move",
         "input %x : f32[2,3,4,5]\n %t = Transpose(%x) {perm = [0,2,3,1]} : f32[2,4,5,3]\n output %t");
  refuse("move",
         "input %x : f32[2,2,2,2,2,2]\n %t = Transpose(%x) {perm = [5,4,3,2,1,0]} : f32[2,2,2,2,2,2]\n "
         "output %t",
         "6", "5");
  accept("move",
         "input %x : f32[4,6]\n const %s : i64[1] = [5]\n const %e : i64[1] = [-7]\n const %a : i64[1] = "
         "[1]\n const %d : i64[1] = [-2]\n"
         " %t = Slice(%x, %s, %e, %a, %d) : f32[4,3]\n output %t");
  const std::string pad = "input %x : f32[2,3]\n const %p : i64[4] = [0,1,0,1]\n ";
  accept("move", pad + "%t = Pad(%x, %p) : f32[2,5]\n output %t");
  for (const char* mode : {"reflect", "edge", "wrap"})
    accept("move", pad + "%t = Pad(%x, %p) {mode = \"" + mode + "\"} : f32[2,5]\n output %t");
  const std::string far = "input %x : f32[2,3]\n const %p : i64[4] = [0,0,0,3]\n ";
  accept("move", far + "%t = Pad(%x, %p) {mode = \"wrap\"} : f32[2,6]\n output %t");
  refuse("move", far + "%t = Pad(%x, %p) {mode = \"reflect\"} : f32[2,6]\n output %t", "3", "2");
  accept("concat",
         "input %x : f32[2,3]\n input %y : f32[2,1]\n %t = Concat(%x, %y) {axis = 1} : f32[2,4]\n output %t");
  accept("reshape",
         "input %x : f32[2,3]\n const %s : i64[1] = [6]\n %t = Reshape(%x, %s) : f32[6]\n output %t");
  accept("resize",
         "input %x : f32[1,2,4,4]\n const %s : f32[4] = [1,1,2,2]\n %t = Resize(%x, _, %s) {mode = "
         "\"linear\"} : f32[1,2,8,8]\n output %t");
  refuse("resize",
         "input %x : f32[1,2,4,4]\n const %s : f32[4] = [1,1,2,2]\n %t = Resize(%x, _, %s) {mode = "
         "\"cubic\"} : f32[1,2,8,8]\n output %t",
         "cubic", "nearest or linear");
  std::string inputs, names;
  for (int i = 0; i < 33; ++i) {
    inputs += "input %x" + std::to_string(i) + " : f32[2]\n";
    names += (i == 0 ? "%x" : ", %x") + std::to_string(i);
  }
  refuse("concat", inputs + "%t = Concat(" + names + ") {axis = 0} : f32[66]\n output %t", "33", "32");
}

TEST_CASE("normalisations") {
  const std::string c = "input %x : f32[1,2,3]\n const %s : f32[3] = [1,1,1]\n input %b : f32[3]\n ";
  accept("norm", c + "%t = LayerNormalization(%x, %s) : f32[1,2,3]\n output %t");
  refuse("norm", c + "%t = LayerNormalization(%x, %s, %b) : f32[1,2,3]\n output %t", "an input of the model",
         "a constant");
  // All elements are of one channel then.
  refuse(
      "norm",
      "input %x : f32[3]\n const %s : f32[1] = [2]\n %t = BatchNormalization(%x, %s, %s, %s, %s) : f32[3]\n "
      "output %t",
      "1", "at least 2");
  // Statistics of the batch are not given ones, whether or not the new averages are read.
  const std::string batch = "input %x : f32[2,3,4]\n const %s : f32[3] = [1,1,1]\n ";
  accept("norm", batch + "%t = BatchNormalization(%x, %s, %s, %s, %s) : f32[2,3,4]\n output %t");
  refuse("norm",
         batch + "%t = BatchNormalization(%x, %s, %s, %s, %s) {training_mode = 1} : f32[2,3,4]\n output %t",
         "1", "0");
  const std::string averages =
      batch +
      "%t, %m, %v = BatchNormalization(%x, %s, %s, %s, %s) {training_mode = 1} : f32[2,3,4], f32[3], "
      "f32[3]\n output %t\n ";
  refuse("norm", averages, "1", "0");
  refuse("norm", averages + "output %m", "output 1 is read", "not read");
}

TEST_CASE("layer kinds have words") {
  for (LayerKind kind : kLayerKinds) CHECK(find_layer_kind(name(kind)) == kind);
  CHECK_FALSE(find_layer_kind("cpu"));
  CHECK_FALSE(find_layer_kind(""));
}

TEST_CASE("what layers begin with is what the tables of the vector unit and of moves hold") {
  std::set<Op> moves;
#define MRVLC_MOVE(op, function) moves.insert(Op::op);
#include "mrvlc/accel/moves.def"
#undef MRVLC_MOVE
  for (const ops::OpDef* op : ops::all_ops()) {
    CAPTURE(op->name);
    const bool computed = accel::vector_form(op->kind) != accel::VectorForm::None;
    CHECK(op->accel.has(LayerKind::Elementwise) == computed);
    CHECK(op->accel.has(LayerKind::Move) == moves.contains(op->kind));
  }
}

TEST_CASE("averages of integers over a fixed number of positions") {
  // The layer is the pool and what rounds; the DequantizeLinear is read.
  const auto ask_of = [](const std::string& scale, const std::string& step, const std::string& kernel) {
    ir::Graph g =
        parse("input %x : u8[1,4,12,12]\n const %s : f32[] = [" + scale + "]\n const %t : f32[] = [" + step +
              "]\n const %z : u8[] = [3]\n %d = DequantizeLinear(%x, %s, %z) : f32[1,4,12,12]\n" +
              "%p = AveragePool(%d) {kernel_shape = " + kernel +
              ", strides = [12,12], pads = [1,1,0,0], count_include_pad = 1} : f32[1,4,1,1]\n"
              "%q = QuantizeLinear(%p, %t, %z) : u8[1,4,1,1]\n output %q");
    const std::vector<ir::NodeId> nodes = g.topological_order();
    return accel::layer_legal(g, {"test", find_layer_kind("pool").value(), {nodes[1], nodes[2]}, nodes[1]},
                              test::machine());
  };
  CHECK(ask_of("0.3", "0.3", "[2,4]").ok);  // a power of two
  CHECK(ask_of("1", "1", "[3,3]").ok);      // an odd number has no ties
  CHECK(ask_of("1", "3.7", "[3,2]").ok);
  CHECK(ask_of("1", "1", "[2,3]").ok == ties_survive(6));
  CHECK(ask_of("1", "1", "[2,7]").ok == ties_survive(14));
  CHECK_FALSE(ties_survive(14));
  const partition::Legality scaled = ask_of("0.3", "0.3", "[3,3]");  // sums are no whole numbers
  CHECK_FALSE(scaled.ok);
  CHECK(scaled.actual == "9");
  CHECK(scaled.limit == "a power of two");
}

TEST_CASE("integers of 8 bits") {
  const std::string conv = "input %x : i8[1,4,8,8]\n const %w : i8[4,4,1,1] = " + list(16) +
                           "\n const %s : f32[] = [0.5]\n const %sw : f32[4] = " + list(4, "0.25") +
                           "\n const %z : i8[] = [3]\n const %zw : i8[4] = " + list(4, "0") + "\n";
  const std::string all = "%q = QLinearConv(%x, %s, %z, %w, %sw, %zw, %s, %z) : i8[1,4,8,8]\n output %q";
  accept("qlinear_conv", conv + all);
  accept("qlinear_conv", "const %t : f32[] = [1e-6]\n" + conv +
                             "%q = QLinearConv(%x, %t, %z, %w, %sw, %zw, %s, %z) : i8[1,4,8,8]\n output %q");
  accept("qlinear_conv",
         conv +
             "const %b : i32[4] = [1, 2, 3, 4]\n %q = QLinearConv(%x, %s, %z, %w, %sw, %zw, %s, %z, %b) : "
             "i8[1,4,8,8]\n %r = Clip(%q, %z) : i8[1,4,8,8]\n output %r");
  refuse(
      "qlinear_conv",
      conv +
          "%q = QLinearConv(%x, %s, %z, %w, %sw, %zw, %s, %z) : i8[1,4,8,8]\n %r = Abs(%q) : i8[1,4,8,8]\n "
          "output %r",
      "Abs", "Clip");
  refuse("qlinear_conv",
         "input %s : f32[]\n" + conv.substr(0, conv.find("const %s ")) + conv.substr(conv.find("const %sw")) +
             all,
         "an input of the model", "a constant");
  refuse("qlinear_conv", conv.substr(0, conv.find("const %zw")) + "const %zw : i8[4] = [0, 0, 1, 0]\n" + all,
         "several", "one value");
  const std::string scales =
      "const %s : f32[] = [0.5]\n const %sc : f32[2] = [0.5, 1]\n const %none : f32[] = [0]\n";
  accept("dequantize",
         "input %x : u8[1,2]\n" + scales + "%d = DequantizeLinear(%x, %s) : f32[1,2]\n output %d");
  refuse("dequantize",
         "input %x : u8[1,2]\n" + scales + "%d = DequantizeLinear(%x, %sc) : f32[1,2]\n output %d", "2",
         "one value");
  refuse("dequantize",
         "input %x : i16[1,2]\n" + scales + "%d = DequantizeLinear(%x, %s) : f32[1,2]\n output %d", "i16",
         "f32 or f16");
  const std::string relu = "input %x : f32[1,2]\n" + scales + "%r = Relu(%x) : f32[1,2]\n ";
  accept("elementwise", relu + "%q = QuantizeLinear(%r, %s) : u8[1,2]\n output %q");
  refuse("elementwise", relu + "%q = QuantizeLinear(%r, %none) : u8[1,2]\n output %q", "0",
         "finite and above 0");
  accept("elementwise",
         "input %x : f32[1,2]\n" + scales + "%q = QuantizeLinear(%x, %s) : u8[1,2]\n output %q");
  const std::string sums =
      "input %x : u8[1,4,8,8]\n const %w : u8[4,4,1,1] = " + list(16) +
      "\n const %k : f32[] = [0.5]\n %c = ConvInteger(%x, %w) : i32[1,4,8,8]\n %f = Cast(%c) {to = f32} : "
      "f32[1,4,8,8]\n ";
  accept("integer_conv", sums + "%m = Mul(%f, %k) : f32[1,4,8,8]\n output %m");
  accept("integer_conv", sums + "%m = Mul(%k, %f) : f32[1,4,8,8]\n %r = Relu(%m) : f32[1,4,8,8]\n output %r");
  refuse("integer_conv", sums + "output %f", "2", "at least 3");
  refuse("integer_conv", sums + "%m = Add(%f, %k) : f32[1,4,8,8]\n output %m", "Add",
         "Cast to f32, then Mul");
  refuse("integer_conv",
         "input %y : f32[1,4,8,8]\n " + sums +
             "%m = Mul(%f, %k) : f32[1,4,8,8]\n %a = Add(%m, %y) : f32[1,4,8,8]\n output %a",
         "an input of the model", "a constant");
}
