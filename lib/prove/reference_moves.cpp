// What moves elements.
#include <algorithm>

#include "mrvlc/tensor/float16.h"
#include "reference.h"

namespace mrvlc::prove {
namespace {

// Calls f(to, from index by dimension) for all elements of `shape`.
template <class F>
void each_index(const Shape& shape, F f) {
  std::vector<int64_t> at(shape.size(), 0);
  const int64_t count = element_count(shape);
  for (int64_t i = 0; i < count; ++i) {
    f(static_cast<size_t>(i), at);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

int64_t axis_of(const Node& n, const char* name, int64_t otherwise, size_t rank) {
  const int64_t a = n.integer(name, otherwise), r = static_cast<int64_t>(rank);
  if (a < -r || a >= r) throw NotProved{"an axis that is not there"};
  return a < 0 ? a + r : a;
}

}  // namespace

// Elements of y from those of x: `from` gives the index, or less than 0 for what a Pad fills in.
template <class From>
Symbols Reference::gathered(const Symbols& x, const Shape& y, From from) const {
  Symbols s{y, std::vector<Val>(static_cast<size_t>(element_count(y)))};
  each_index(y, [&](size_t i, const std::vector<int64_t>& at) {
    const int64_t k = from(at);
    if (k >= static_cast<int64_t>(x.v.size())) throw NotProved{"a move beyond its operand"};
    s.v[i] = k < 0 ? pad_ : x.v[static_cast<size_t>(k)];
  });
  return s;
}

Symbols Reference::sliced(const Node& n, const Symbols& x) {
  const size_t rank = x.shape.size();
  const std::vector<int64_t> strides = strides_of(x.shape), starts = c_.of(n.inputs.at(1)).to_ints();
  std::vector<int64_t> axes(starts.size()), steps(starts.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  if (n.inputs.size() > 3 && !n.inputs[3].empty()) axes = c_.of(n.inputs[3]).to_ints();
  if (n.inputs.size() > 4 && !n.inputs[4].empty()) steps = c_.of(n.inputs[4]).to_ints();
  std::vector<int64_t> first(rank, 0), step(rank, 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<size_t>(axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i]);
    const int64_t s = starts.at(i) < 0 ? starts[i] + x.shape.at(d) : starts[i];
    first.at(d) =
        std::clamp<int64_t>(s, 0, std::max<int64_t>(0, steps.at(i) < 0 ? x.shape.at(d) - 1 : x.shape.at(d)));
    step[d] = steps[i];
  }
  return gathered(x, n.outputs.at(0).shape, [&](const std::vector<int64_t>& at) {
    int64_t k = 0;
    for (size_t d = 0; d < rank; ++d) k += (first[d] + at.at(d) * step[d]) * strides[d];
    return k;
  });
}

// Gather with constant indices.
Symbols Reference::picked(const Node& n, const Symbols& x) {
  const auto axis = static_cast<size_t>(axis_of(n, "axis", 0, x.shape.size()));
  const Tensor& indices = c_.of(n.inputs.at(1));
  const size_t width = indices.shape().size();
  const std::vector<int64_t> strides = strides_of(x.shape), own = strides_of(indices.shape());
  return gathered(x, n.outputs.at(0).shape, [&](const std::vector<int64_t>& at) {
    int64_t k = 0, index = 0;
    for (size_t d = 0; d < width; ++d) index += at.at(axis + d) * own[d];
    int64_t i = indices.as_int(index);
    if (i < 0) i += x.shape[axis];
    if (i < 0 || i >= x.shape[axis]) throw NotProved{"an index that is not there"};
    for (size_t d = 0; d < x.shape.size(); ++d)
      k += (d == axis ? i : at.at(d < axis ? d : d + width - 1)) * strides[d];
    return k;
  });
}

Symbols Reference::padded(const Node& n, const Symbols& x) {
  const size_t rank = x.shape.size();
  const std::vector<int64_t> strides = strides_of(x.shape), pads = c_.of(n.inputs.at(1)).to_ints();
  std::vector<int64_t> begin(rank, 0), axes;
  if (n.inputs.size() > 3 && !n.inputs[3].empty())
    axes = c_.of(n.inputs[3]).to_ints();
  else
    for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  for (size_t i = 0; i < axes.size(); ++i)
    begin.at(static_cast<size_t>(axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i])) = pads.at(i);
  pad_ = number(0);
  if (n.inputs.size() > 2 && !n.inputs[2].empty())
    pad_ = number(static_cast<float>(c_.of(n.inputs[2]).as_double(0)));
  return gathered(x, n.outputs.at(0).shape, [&](const std::vector<int64_t>& at) {
    int64_t k = 0;
    for (size_t d = 0; d < rank; ++d) {
      const int64_t i = at.at(d) - begin[d];
      if (i < 0 || i >= x.shape[d]) return int64_t{-1};
      k += i * strides[d];
    }
    return k;
  });
}

Symbols Reference::blocks_moved(const Node& n, const Symbols& x) const {
  const Shape& y = n.outputs.at(0).shape;
  const std::vector<int64_t> strides = strides_of(x.shape);
  const int64_t b = n.integer("blocksize", 1);
  const bool out = n.op == "DepthToSpace", crd = n.text("mode", "DCR") == "CRD";
  if (b < 1 || y.size() != 4 || x.shape.size() != 4) throw NotProved{"blocks of no size"};
  const int64_t c = std::max<int64_t>(1, out ? y[1] : x.shape[1]);
  return gathered(x, y, [&](const std::vector<int64_t>& at) {
    if (!out) {
      const int64_t by = at[1] / c / b, bx = at[1] / c % b;
      return at[0] * strides[0] + at[1] % c * strides[1] + (at[2] * b + by) * strides[2] + at[3] * b + bx;
    }
    const int64_t by = at[2] % b, bx = at[3] % b;
    const int64_t depth = crd ? (at[1] * b + by) * b + bx : (by * b + bx) * c + at[1];
    return at[0] * strides[0] + depth * strides[1] + at[2] / b * strides[2] + at[3] / b;
  });
}

Symbols Reference::moved(const Node& n) {
  const Symbols x = c_.is_constant(n.inputs.at(0)) ? constant(n.inputs[0]) : get(n.inputs.at(0));
  const Shape& y = n.outputs.at(0).shape;
  const size_t rank = x.shape.size();
  const std::vector<int64_t> strides = strides_of(x.shape);
  if (n.is({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"})) return {y, x.v};
  if (n.op == "Transpose") {
    std::vector<int64_t> perm = n.integers("perm");
    if (perm.empty())
      for (size_t d = rank; d-- > 0;) perm.push_back(static_cast<int64_t>(d));
    if (perm.size() != rank || y.size() != rank) throw NotProved{"a transposition of another rank"};
    return gathered(x, y, [&](const std::vector<int64_t>& at) {
      int64_t k = 0;
      for (size_t d = 0; d < rank; ++d) k += at[d] * strides.at(static_cast<size_t>(perm[d]));
      return k;
    });
  }
  if (n.op == "Expand") {
    Symbols s{y, {}};
    for (size_t k : broadcast_offsets(x.shape, y)) s.v.push_back(x.v[k]);
    return s;
  }
  if (n.op == "Tile" && !x.v.empty())
    return gathered(x, y, [&](const std::vector<int64_t>& at) {
      int64_t k = 0;
      for (size_t d = 0; d < rank; ++d) k += at.at(d) % x.shape[d] * strides[d];
      return k;
    });
  if (n.op == "Slice") return sliced(n, x);
  if (n.op == "Gather") return picked(n, x);
  if (n.op == "Pad" && n.text("mode", "constant") == "constant") return padded(n, x);
  if (n.is({"DepthToSpace", "SpaceToDepth"})) return blocks_moved(n, x);
  throw NotProved{n.op + " has no reference yet"};
}

// Views of integers are integers.
void Reference::keep_codes(const Node& n) {
  const auto from = n.inputs.empty() ? codes_.end() : codes_.find(n.inputs[0]);
  if (from == codes_.end() || !n.is({"Transpose", "Slice", "Split", "Expand", "Reshape", "Flatten", "Squeeze",
                                     "Unsqueeze", "Identity"}))
    return;
  for (const ValueInfo& o : n.outputs) {
    const auto leaves = [&](const ProgramPort& p) { return p.value.name == o.name; };
    if (std::none_of(region_.outputs.begin(), region_.outputs.end(), leaves)) codes_[o.name] = from->second;
  }
}

void Reference::move(const Layer& l) {
  const Node& n = l.nodes.at(0);
  if (n.op == "ConstantOfShape") {
    const Shape& y = n.outputs.at(0).shape;
    return put(n.outputs[0],
               {y, std::vector<Val>(static_cast<size_t>(element_count(y)), number(n.real("value", 0)))});
  }
  if (l.nodes.size() > 1) throw NotProved{"a move with operators behind it"};
  keep_codes(n);
  if (n.op == "Concat") {
    const Shape& y = n.outputs.at(0).shape;
    const auto axis = static_cast<size_t>(axis_of(n, "axis", 0, y.size()));
    Symbols s{y, std::vector<Val>(static_cast<size_t>(element_count(y)))};
    const std::vector<int64_t> strides = strides_of(y);
    int64_t at = 0;
    for (const std::string& name : n.inputs) {
      const Symbols x = c_.is_constant(name) ? constant(name) : get(name);
      each_index(x.shape, [&](size_t i, const std::vector<int64_t>& index) {
        int64_t to = at * strides[axis];
        for (size_t d = 0; d < index.size(); ++d) to += index[d] * strides[d];
        s.v.at(static_cast<size_t>(to)) = x.v[i];
      });
      at += x.shape.at(axis);
    }
    return put(n.outputs[0], std::move(s));
  }
  if (n.op == "Split") {
    const Symbols x = get(n.inputs.at(0));
    const auto axis = static_cast<size_t>(axis_of(n, "axis", 0, x.shape.size()));
    const std::vector<int64_t> strides = strides_of(x.shape);
    int64_t at = 0;
    for (const ValueInfo& o : n.outputs) {
      Symbols s{o.shape, std::vector<Val>(static_cast<size_t>(element_count(o.shape)))};
      each_index(o.shape, [&](size_t i, const std::vector<int64_t>& index) {
        int64_t from = at * strides[axis];
        for (size_t d = 0; d < index.size(); ++d) from += index[d] * strides.at(d);
        s.v[i] = x.v.at(static_cast<size_t>(from));
      });
      at += o.shape.at(axis);
      if (!o.name.empty()) put(o, std::move(s));
    }
    return;
  }
  put(n.outputs.at(0), moved(n));
}

}  // namespace mrvlc::prove
