// Layers that move elements, and resizing.
#include <algorithm>
#include <cmath>

#include "model.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/accel.h"

namespace mrvlc::accel_random {
namespace {

// result[index] = x[source(index)]; source answers with an empty index where there is none.
template <class F>
Tensor gathered(const Tensor& x, const Shape& out, F source, float otherwise = 0) {
  Tensor r = zeros(out);
  Shape strides = row_major_strides(x.shape());
  std::span<float> to = r.mutable_data<float>();
  each_index(out, [&](const Shape& index, int64_t i) {
    Shape from = source(index);
    bool inside = from.size() == strides.size();
    to[static_cast<size_t>(i)] =
        inside ? x.data<float>()[static_cast<size_t>(position(from, strides))] : otherwise;
  });
  return r;
}

Tensor transposed(const Tensor& x, const ir::Node& node, const Shape& out) {
  std::vector<int64_t> perm = node.ints_attr("perm");
  for (size_t d = out.size(); perm.size() < out.size();) perm.push_back(static_cast<int64_t>(--d));
  return gathered(x, out, [&](const Shape& index) {
    Shape from(index.size());
    for (size_t d = 0; d < index.size(); ++d) from[static_cast<size_t>(perm[d])] = index[d];
    return from;
  });
}

// [n, c, h b, w b] from [n, c b b, h, w]: DCR has the block's position before the channel, CRD after it.
Tensor depth_to_space(const Tensor& x, const ir::Node& node, const Shape& out) {
  int64_t b = node.int_attr("blocksize");
  bool crd = node.string_attr("mode") == "CRD";
  return gathered(x, out, [&](const Shape& i) {
    int64_t at = i[2] % b * b + i[3] % b;
    return Shape{i[0], crd ? i[1] * b * b + at : at * out[1] + i[1], i[2] / b, i[3] / b};
  });
}

Tensor space_to_depth(const Tensor& x, const ir::Node& node, const Shape& out) {
  int64_t b = node.int_attr("blocksize"), channels = x.shape()[1];
  return gathered(x, out, [&](const Shape& i) {
    int64_t at = i[1] / channels;
    return Shape{i[0], i[1] % channels, i[2] * b + at / b, i[3] * b + at % b};
  });
}

// From i step by step into first..last: turning around at an end, staying there, or going on at the other
// one.
int64_t walked(const std::string& mode, int64_t i, int64_t first, int64_t last) {
  while (i < first || i > last) {
    if (mode == "edge") return i < first ? first : last;
    if (mode == "wrap")
      i += i < first ? last - first + 1 : first - last - 1;
    else
      i = first == last ? first : 2 * (i < first ? first : last) - i;
  }
  return i;
}

}  // namespace

Status Model::move(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  const Tensor& x = get(node.inputs[0]);
  const Shape& out = shape(node.outputs[0]);
  ops::InferContext context = ops::infer_context(graph_, node);
  Tensor y;
  if (node.is(Op::Transpose)) {
    y = transposed(x, node, out);
  } else if (node.is(Op::DepthToSpace)) {
    y = depth_to_space(x, node, out);
  } else if (node.is(Op::SpaceToDepth)) {
    y = space_to_depth(x, node, out);
  } else if (node.is(Op::Expand) || node.is(Op::Tile)) {
    y = gathered(x, out, [&](Shape i) {
      i.erase(i.begin(), i.end() - static_cast<std::ptrdiff_t>(x.shape().size()));
      for (size_t d = 0; d < i.size(); ++d) i[d] %= x.shape()[d];
      return i;
    });
  } else if (node.is(Op::Slice)) {
    MRVLC_ASSIGN(ops::SliceParams p, ops::slice_params(context));
    y = gathered(x, out, [&](Shape i) {
      for (size_t d = 0; d < i.size(); ++d) i[d] = p.start[d] + i[d] * p.step[d];
      return i;
    });
  } else if (node.is(Op::Pad)) {
    MRVLC_ASSIGN(ops::PadParams p, ops::pad_params(context));
    auto inside = [&](Shape i) {
      for (size_t d = 0; d < i.size(); ++d) {
        i[d] -= p.begin[d];
        if (p.mode != "constant") {
          i[d] = walked(p.mode, i[d], std::max<int64_t>(0, -p.begin[d]),
                        x.shape()[d] - 1 + std::min<int64_t>(0, p.end[d]));
        }
        if (i[d] < 0 || i[d] >= x.shape()[d]) return Shape{-1, -1, -1, -1, -1, -1, -1, -1, -1};
      }
      return i;
    };
    y = gathered(x, out, inside, static_cast<float>(p.value));
  } else if (node.is(Op::Split)) {
    MRVLC_ASSIGN(int64_t axis, ops::normalize_axis(node.int_attr("axis"), x.type().rank()));
    int64_t at = 0;
    for (ir::ValueId part : node.outputs) {
      if (!part.valid()) continue;
      Tensor t = gathered(x, shape(part), [&](Shape i) {
        i[static_cast<size_t>(axis)] += at;
        return i;
      });
      at += shape(part)[static_cast<size_t>(axis)];
      store(part, t);
    }
    return {};
  } else {
    return make_diag<DiagCode::MRV0502>(std::string(node.op->name));
  }
  store(node.outputs[0], y);
  return {};
}

Status Model::reshape(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  store(node.outputs[0], get(node.inputs[0]).reshaped(shape(node.outputs[0])));
  return {};
}

Status Model::concat(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  const Shape& out = shape(node.outputs[0]);
  MRVLC_ASSIGN(int64_t axis, ops::normalize_axis(node.int_attr("axis"), static_cast<int64_t>(out.size())));
  Tensor y = zeros(out);
  Shape strides = row_major_strides(out);
  std::span<float> to = y.mutable_data<float>();
  int64_t at = 0;
  for (ir::ValueId in : node.inputs) {
    const Tensor& x = get(in);
    int64_t offset = at * strides[static_cast<size_t>(axis)];
    each_index(x.shape(), [&](const Shape& index, int64_t i) {
      to[static_cast<size_t>(offset + position(index, strides))] = x.data<float>()[static_cast<size_t>(i)];
    });
    at += x.shape()[static_cast<size_t>(axis)];
  }
  store(node.outputs[0], y);
  return {};
}

namespace {

int64_t nearest(const ops::ResizeParams& p, double x, size_t d) {
  double low = std::floor(x);
  bool up = p.nearest_mode == "ceil"                ? x > low
            : p.nearest_mode == "floor"             ? false
            : p.nearest_mode == "round_prefer_ceil" ? x - low >= 0.5
                                                    : x - low > 0.5;
  if (p.nearest_mode == "ceil_when_shrinking")
    return static_cast<int64_t>(p.scale[d] < 1 ? std::ceil(x) : std::trunc(x));
  return static_cast<int64_t>(low) + (up ? 1 : 0);
}

Tensor resized(const Tensor& x, const ops::ResizeParams& p, size_t d, bool linear) {
  Shape out = x.shape(), strides = row_major_strides(x.shape());
  int64_t size = out[d];
  out[d] = p.output[d];
  Tensor r = zeros(out);
  std::span<float> to = r.mutable_data<float>();
  std::span<const float> from = x.data<float>();
  auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i, 0, size - 1); };
  each_index(out, [&](const Shape& index, int64_t i) {
    double at = p.source(d, index[d], size), down = std::floor(at);
    int64_t base = position(index, strides) - index[d] * strides[d];
    auto value = [&](int64_t k) { return from[static_cast<size_t>(base + k * strides[d])]; };
    int64_t low = clamp(static_cast<int64_t>(down)), high = clamp(static_cast<int64_t>(down) + 1);
    auto weight = static_cast<float>(at - down);
    float& v = to[static_cast<size_t>(i)];
    if (!linear) {
      v = value(clamp(nearest(p, at, d)));
    } else if (weight == 0 || low == high) {
      v = value(low);
    } else {
      v = std::fma(1 - weight, value(low), weight * value(high));
    }
  });
  return r;
}

}  // namespace

Status Model::resize(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  MRVLC_ASSIGN(ops::ResizeParams p, ops::resize_params(ops::infer_context(graph_, node)));
  Tensor x = get(node.inputs[0]);
  for (size_t d = 2; d < 4; ++d) x = resized(x, p, d, p.mode == "linear");
  store(node.outputs[0], x);
  return {};
}

}  // namespace mrvlc::accel_random
