#include <algorithm>
#include <numeric>

#include "builder.h"

namespace mrvlc::accel_random {

ir::ValueId concat(Builder& b, ir::ValueId x) {
  Shape s = b.shape(x);
  auto axis = static_cast<size_t>(b.dice.chance(70) && b.rank(x) > 1 ? 1 : b.dice.pick(0, b.rank(x) - 1));
  std::vector<ir::ValueId> parts = {x};
  for (int64_t n = b.dice.pick(1, 3); n > 0; --n) {
    s[axis] = b.dice.size(1, 40);
    if (element_count(s) > 60000) break;
    int64_t kind = b.dice.pick(0, 9);
    parts.push_back(kind == 0 ? b.constant(s, -1, 1) : kind == 1 ? x : b.net.input(s));
  }
  std::rotate(parts.begin(), parts.begin() + b.dice.pick(0, static_cast<int64_t>(parts.size()) - 1),
              parts.end());
  return b.add("Concat", parts, {{"axis", static_cast<int64_t>(axis)}});
}

ir::ValueId slice(Builder& b, ir::ValueId x) {
  Ints starts, ends, axes, steps;
  for (int64_t d = 0; d < b.rank(x); ++d) {
    int64_t size = b.dim(x, static_cast<size_t>(d));
    if (b.dice.chance(50)) continue;
    int64_t begin = b.dice.pick(0, size - 1), end = b.dice.pick(begin + 1, size),
            step = b.dice.chance(70) ? 1 : b.dice.pick(2, 3);
    bool backwards = b.dice.chance(10);
    axes.push_back(d);
    starts.push_back(backwards ? end - 1 : begin);
    ends.push_back(backwards ? begin - 1 - size : end);
    steps.push_back(backwards ? -step : step);
  }
  if (axes.empty()) return {};
  return b.add("Slice", {x, b.ints(starts), b.ints(ends), b.ints(axes), b.ints(steps)});
}

ir::ValueId split(Builder& b, ir::ValueId x) {
  auto axis = static_cast<size_t>(b.dice.chance(60) && b.rank(x) > 1 ? 1 : b.dice.pick(0, b.rank(x) - 1));
  int64_t size = b.dim(x, axis);
  if (size < 2) return {};
  Ints sizes = {b.dice.pick(1, size - 1)};
  sizes.push_back(size - sizes[0]);
  if (sizes[1] > 1 && b.dice.chance(40)) {
    int64_t part = b.dice.pick(1, sizes[1] - 1);
    sizes[1] -= part;
    sizes.push_back(part);
  }
  size_t n = sizes.size();
  return b.add("Split", {x, b.ints(sizes)}, {{"axis", static_cast<int64_t>(axis)}}, n);
}

ir::ValueId pad(Builder& b, ir::ValueId x) {
  auto n = static_cast<size_t>(b.rank(x));
  Ints pads(2 * n, 0);
  Shape out = b.shape(x);
  const std::string mode = b.dice.of<std::string>({"constant", "constant", "reflect", "edge", "wrap"});
  for (size_t d = 0; d < n; ++d) {
    if (b.dice.chance(50)) continue;
    const bool crop = b.dice.chance(mode == "constant" ? 10 : 30) && out[d] > 1;
    const int64_t kept = out[d] - (crop ? 1 : 0), turn = mode == "reflect" ? kept - 1
                                                         : mode == "wrap"  ? kept
                                                                           : 3;
    pads[d] = crop ? -1 : b.dice.pick(0, std::min<int64_t>(turn, 3));
    pads[d + n] = b.dice.pick(0, std::min<int64_t>(turn, 3));
    if (crop && b.dice.chance(50)) std::swap(pads[d], pads[d + n]);
    out[d] += pads[d] + pads[d + n];
  }
  if (!b.spend(element_count(out))) return {};
  if (mode != "constant") return b.add("Pad", {x, b.ints(pads)}, {{"mode", mode}});
  return b.add("Pad", {x, b.ints(pads), b.scalar(b.dice.of({0.0, 0.0, b.dice.real(-2, 2)}))});
}

ir::ValueId transpose(Builder& b, ir::ValueId x) {
  Ints perm(static_cast<size_t>(b.rank(x)));
  std::iota(perm.begin(), perm.end(), int64_t{0});
  for (size_t i = perm.size(); i > 1; --i)
    std::swap(perm[i - 1], perm[static_cast<size_t>(b.dice.pick(0, static_cast<int64_t>(i) - 1))]);
  return b.add("Transpose", {x}, {{"perm", perm}});
}

// Tile, or Expand of dimensions of one element.
ir::ValueId repeat(Builder& b, ir::ValueId x) {
  Shape s = b.shape(x), times(s.size(), 1);
  bool expand = b.dice.chance(40);
  for (size_t d = 0; d < s.size(); ++d)
    if ((!expand || s[d] == 1) && b.dice.chance(50)) times[d] = b.dice.pick(1, expand ? 20 : 3);
  for (size_t d = 0; d < s.size(); ++d) s[d] *= times[d];
  if (element_count(s) > 100000 || !b.spend(element_count(s))) return {};
  return expand ? b.add("Expand", {x, b.ints(s)}) : b.add("Tile", {x, b.ints(times)});
}

ir::ValueId change_shape(Builder& b, ir::ValueId x) {
  const Shape s = b.shape(x);
  int64_t kind = b.dice.pick(0, 4);
  if (kind == 0)
    return b.add("Flatten", {x}, {{"axis", b.dice.chance(80) ? int64_t{1} : b.dice.pick(0, b.rank(x))}});
  if (kind == 1 && b.rank(x) < 5) return b.add("Unsqueeze", {x, b.ints({b.dice.pick(0, b.rank(x))})});
  for (size_t d = 0; kind == 2 && d < s.size(); ++d)
    if (s[d] == 1 && s.size() > 1) return b.add("Squeeze", {x, b.ints({static_cast<int64_t>(d)})});
  Shape to = s;  // two neighbours joined, one dimension split
  if (to.size() > 1 && b.dice.chance(60)) {
    auto d = static_cast<size_t>(b.dice.pick(0, static_cast<int64_t>(to.size()) - 2));
    to[d] *= to[d + 1];
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(d) + 1);
  }
  auto d = static_cast<size_t>(b.dice.pick(0, static_cast<int64_t>(to.size()) - 1));
  for (int64_t part : {int64_t{2}, int64_t{3}, int64_t{4}})
    if (to.size() < 5 && to[d] % part == 0 && b.dice.chance(60)) {
      to[d] /= part;
      to.insert(to.begin() + static_cast<std::ptrdiff_t>(d) + b.dice.pick(0, 1), part);
      break;
    }
  return b.add("Reshape", {x, b.ints(to)});
}

const std::vector<Grower>& growers() {
  static const std::vector<Grower> list = {
      {"conv", conv, 30, {3, 4}},
      {"depthwise", depthwise, 12, {3, 4}},
      {"conv_transpose", conv_transpose, 8, {3, 4}},
      {"pool", pool, 12, {3, 4}},
      {"global_pool", global_pool, 5, {3, 4}},
      {"resize", resize, 8, {4, 4}},
      {"depth_space", depth_space, 4, {4, 4}},
      {"fully_connected", fully_connected, 14, {1, 4}},
      {"matrix_product", matrix_product, 8, {2, 4}},
      {"unary", unary, 8, {1, 5}},
      {"binary", binary, 16, {1, 5}},
      {"reduce", reduce, 8, {1, 5}},
      {"softmax", softmax, 6, {1, 4}},
      {"norm", norm, 8, {2, 4}},
      {"concat", concat, 10, {1, 4}},
      {"slice", slice, 6, {1, 5}},
      {"split", split, 5, {1, 4}},
      {"pad", pad, 5, {1, 4}},
      {"transpose", transpose, 6, {2, 4}},
      {"repeat", repeat, 4, {1, 4}},
      {"change_shape", change_shape, 6, {1, 5}},
  };
  return list;
}

}  // namespace mrvlc::accel_random
