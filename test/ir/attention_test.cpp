// Attention as one operator becomes products, and products whose scores are large are cut; with random
// shapes, and with one thing wrong.
#include "mrvlc/ops/op_kind.h"
#include "written.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

// Attention with a mask that is a constant.
struct Operator {
  random::Dice dice;
  int64_t batch, keys_of, shared, queries, keys, past, size, width;
  bool packed, masks_row = false;
  Written w;

  explicit Operator(uint64_t seed) : dice(seed) {
    batch = dice.pick(1, 2), keys_of = dice.pick(1, 3), shared = dice.pick(1, 2), queries = dice.pick(1, 5);
    keys = dice.pick(1, 5), past = dice.chance(30) ? dice.pick(1, 3) : 0, size = dice.pick(1, 4);
    width = dice.pick(1, 4), packed = dice.chance(50);
  }

  int64_t heads() const { return keys_of * shared; }
  int64_t total() const { return past + keys; }
  Shape operand(int64_t of, int64_t length, int64_t each) const {
    return packed ? Shape{batch, length, of * each} : Shape{batch, of, length, each};
  }

  std::string mask() {
    Shape shape{dice.chance(50) ? batch : 1, dice.chance(50) ? heads() : 1, dice.chance(50) ? queries : 1,
                total()};
    std::vector<double> values(static_cast<size_t>(element_count(shape)), 0.0);
    for (size_t i = 0; i < values.size(); ++i) {
      const bool row_begins = i % static_cast<size_t>(total()) == 0;
      if (!row_begins && dice.chance(30)) values[i] = -INFINITY;
    }
    if (masks_row) std::fill_n(values.begin(), total(), -INFINITY);
    return w.constant(shape, values);
  }

  void write() {
    std::vector<std::string> in{w.input(operand(heads(), queries, size)),
                                w.input(operand(keys_of, keys, size)),
                                w.input(operand(keys_of, keys, width))};
    if (masks_row || dice.chance(50) || past > 0) in.push_back(mask());
    if (past > 0) {
      in.push_back(w.input({batch, keys_of, past, size}));
      in.push_back(w.input({batch, keys_of, past, width}));
    }
    std::string attrs = dice.chance(40) ? "{is_causal = 1" : "{is_causal = 0";
    if (packed) attrs += fmt::format(", q_num_heads = {}, kv_num_heads = {}", heads(), keys_of);
    if (dice.chance(30)) attrs += ", scale = 0.25";
    if (dice.chance(30)) attrs += ", softcap = 2.5";
    w.output(w.op("Attention", in, operand(heads(), queries, width), attrs + "}"));
  }
};

// Products with a Softmax in between.
struct Products {
  random::Dice dice;
  Written w;
  Shape scores;
  int64_t axis = -1, beside = 0;
  bool reader = false, masked = false;

  explicit Products(uint64_t seed) : dice(seed) {
    for (int64_t d = dice.pick(0, 2); d > 0; --d) scores.push_back(dice.pick(1, 3));
    scores.insert(scores.end(), {dice.pick(2, 9), dice.pick(2, 9)});
  }

  // Of fp16: scores and what Softmax makes of them, a mask; keys and values, unless tiles share matrices in
  // each of them.
  int64_t bytes(int64_t matrices, int64_t rows, int64_t tiles) const {
    return 2 * matrices *
           ((masked ? 3 : 2) * rows * scores.back() + (matrices % tiles == 0 ? 1 : tiles) * beside);
  }
  int64_t all_bytes(int64_t tiles) const {
    const int64_t rows = scores[scores.size() - 2];
    return bytes(element_count(scores) / rows / scores.back(), rows, tiles);
  }

  Shape of_batch(int64_t rows, int64_t columns) {
    Shape shape = scores;
    for (size_t d = 0; d + 2 < shape.size(); ++d)
      if (dice.chance(20)) shape[d] = 1;
    shape[shape.size() - 2] = rows, shape.back() = columns;
    return shape;
  }

  void write() {
    const int64_t keys = scores.back(), depth = dice.pick(1, 4);
    Shape q = scores, y = scores;
    q.back() = depth, y.back() = dice.pick(1, 4);
    beside = keys * (depth + y.back());
    std::string s = w.op("MatMul", {w.input(q), w.input(of_batch(depth, keys))}, scores);
    const std::string first = s;
    for (int64_t n = dice.pick(0, 2); n > 0; --n) {
      Shape other = scores;
      for (int64_t& d : other) d = dice.chance(50) ? 1 : d;
      other.erase(other.begin(), other.begin() + dice.pick(0, static_cast<int64_t>(other.size())));
      masked = masked || (other.size() >= 2 && other.back() > 1 && other[other.size() - 2] > 1);
      std::vector<std::string> in{s, w.input(other)};
      if (dice.chance(50)) std::swap(in[0], in[1]);
      s = w.op(dice.chance(50) ? "Add" : "Mul", in, scores);
    }
    s = w.op("Softmax", {s}, scores, fmt::format("{{axis = {}}}", axis));
    w.output(w.op("MatMul", {s, w.input(of_batch(keys, y.back()))}, y));
    if (reader) w.output(first);
  }
};

}  // namespace

TEST_CASE("Attention becomes products where a constant keeps a key of every row", "[passes]") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Operator o(seed);
    o.masks_row = seed % 5 == 4;
    o.write();
    const std::string text = o.w.text();
    CAPTURE(seed, text);
    const ir::Graph after = rewritten(text, {"attention-to-products"}, 1e-4);
    CHECK(count_of(after, {Op::Attention}) == (o.masks_row ? 1 : 0));
    CHECK(count_of(after, {Op::Softmax}) == (o.masks_row ? 0 : 1));
  }
}

TEST_CASE("attention is cut into parts whose scores are small enough", "[passes]") {
  int cut = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Products p(seed);
    p.reader = seed % 10 == 8;
    if (seed % 10 == 9) p.axis = -2;
    p.write();
    const std::string text = p.w.text();
    passes::PassContext context;
    context.tiles = p.dice.pick(1, 3);
    const int64_t least = p.bytes(1, 1, context.tiles) / context.tiles + 1;
    context.tile_bytes = p.dice.pick(least, std::max(least, p.all_bytes(context.tiles) / context.tiles + 20));
    const int64_t bytes = context.tiles * context.tile_bytes;
    CAPTURE(seed, text, bytes);
    const ir::Graph after = rewritten(text, {"attention-in-parts"}, 1e-4, context);
    const bool fits = p.all_bytes(context.tiles) <= bytes;
    const int parts = count_of(after, {Op::Softmax});
    if (fits || p.reader || p.axis != -1) {
      CHECK(parts == 1);
      continue;
    }
    CHECK(parts > 1);
    ++cut;
    for (ir::NodeId id : after.topological_order())
      if (after.node(id).is(Op::Softmax)) {
        const Shape& part = after.value(after.node(id).outputs[0]).type.shape;
        const int64_t rows = part[part.size() - 2];
        CHECK(p.bytes(element_count(part) / part.back() / rows, rows, context.tiles) <= bytes);
      }
  }
  CHECK(cut > 100);
}

TEST_CASE("rows of scores that do not stay on the chip, or that Softmax does not take, are not cut",
          "[passes]") {
  Products p(1);
  p.write();
  passes::PassContext context;
  context.tiles = 1;
  context.tile_bytes = p.bytes(1, 1, 1) - 1;
  CHECK(count_of(rewritten(p.w.text(), {"attention-in-parts"}, 1e-4, context), {Op::Softmax}) == 1);
  context.tile_bytes = p.bytes(1, 1, 1);
  CHECK(count_of(rewritten(p.w.text(), {"attention-in-parts"}, 1e-4, context), {Op::Softmax}) > 1);
  context.longest_row = p.scores.back() - 1;
  CHECK(count_of(rewritten(p.w.text(), {"attention-in-parts"}, 1e-4, context), {Op::Softmax}) == 1);
}
