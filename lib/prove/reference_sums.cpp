// Pools, reductions, softmax, normalisations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference.h"
#include "shapes.h"

namespace mrvlc::prove {
namespace {

std::vector<int64_t> normalised(std::vector<int64_t> axes, size_t rank) {
  for (int64_t& a : axes)
    if (a < 0) a += static_cast<int64_t>(rank);
  std::sort(axes.begin(), axes.end());
  for (int64_t a : axes)
    if (a < 0 || a >= static_cast<int64_t>(rank)) throw NotProved{"an axis that is not there"};
  return axes;
}

}  // namespace

// Row by row over all planes.
Symbols Reference::pooled(const Node& n, const Symbols& x, const Window& w, bool by_size) {
  const bool is_max = n.is({"MaxPool", "GlobalMaxPool"});
  const float share = 1.0f / static_cast<float>(w.kernel_h * w.kernel_w);
  Symbols s{n.outputs.at(0).shape, {}};
  const int64_t planes = x.shape[0] * x.shape[1];
  for (int64_t c = 0; c < planes; ++c)
    for (int64_t p = 0; p < w.out_h * w.out_w; ++p) {
      Val v = number(is_max ? -kInfinity : 0.0f);
      std::vector<Val> members;
      int64_t taps = 0;
      for (int64_t r = 0; r < w.kernel_h; ++r)
        for (int64_t q = 0; q < w.kernel_w; ++q) {
          const int64_t iy = w.row(p / w.out_w, r), ix = w.column(p % w.out_w, q);
          if (!w.inside(iy, ix)) continue;
          const Val tap = x.v[static_cast<size_t>((c * w.in_h + iy) * w.in_w + ix)];
          if (is_max)
            members.push_back(tap);
          else
            v = taps++ == 0 ? tap : v_.add(v, tap);
        }
      if (!members.empty()) v = v_.extreme_of(members, true);
      if (by_size && v_.is_real())
        v = v_.div(v, number(static_cast<float>(w.kernel_h * w.kernel_w)));
      else if (by_size)
        v = v_.mul(v, number(share));
      else if (!is_max && taps > 0)
        v = v_.div(v, number(static_cast<float>(taps)));
      s.v.push_back(v);
    }
  return s;
}

namespace {

Window pool_window(const Node& n, const Shape& x, const std::vector<int64_t>& kernel) {
  const size_t rank = x.size();
  const auto strides = n.integers("strides"), dilations = n.integers("dilations");
  const Shape& y = n.outputs.at(0).shape;
  if (kernel.size() != rank - 2 || y.size() != rank) throw NotProved{"a window of another rank"};
  const auto pads = pads_at_begin(n, x, kernel);
  const auto at = [&](const std::vector<int64_t>& v, size_t i) { return i < v.size() ? v[i] : int64_t{1}; };
  Window w;
  const size_t d = rank - 3;
  w.in_w = x[rank - 1];
  w.out_w = y[rank - 1];
  w.kernel_w = kernel[d];
  w.stride_w = at(strides, d);
  w.dilation_w = at(dilations, d);
  w.x0 = -pads[d];
  if (rank == 4) {
    w.in_h = x[2];
    w.out_h = y[2];
    w.kernel_h = kernel[0];
    w.stride_h = at(strides, 0);
    w.dilation_h = at(dilations, 0);
    w.y0 = -pads[0];
  }
  return w;
}

}  // namespace

void Reference::pool(const Layer& l) {
  const Node& n = l.nodes.at(l.anchor);
  if (l.anchor != 0) throw NotProved{"a pool that is not the first of its layer"};
  const Symbols& x = get(n.inputs.at(0));
  const size_t rank = x.shape.size();
  const bool global = n.is({"GlobalAveragePool", "GlobalMaxPool"});
  // Of integers they are pools with one window.
  const bool one_window = global && l.nodes.back().op == "QuantizeLinear";
  if (global && !one_window) {
    std::vector<int64_t> axes;
    int64_t count = 1;
    for (size_t d = 2; d < rank; ++d) {
      axes.push_back(static_cast<int64_t>(d));
      count *= x.shape[d];
    }
    const bool mean = n.op == "GlobalAveragePool";
    return finish(l, n, reduced(x, axes, mean ? "Sum" : "Max", mean ? count : 1, 0, true));
  }
  if (!(one_window || n.is({"MaxPool", "AveragePool"})) || rank < 3 || rank > 4)
    throw NotProved{n.op + " of this rank has no reference yet"};
  const bool fixed = n.op == "AveragePool" && n.integer("count_include_pad", 0) != 0;
  const auto kernel =
      one_window ? std::vector<int64_t>(x.shape.begin() + 2, x.shape.end()) : n.integers("kernel_shape");
  const Window w = pool_window(n, x.shape, kernel);
  std::vector<int64_t> pads = n.integers("pads");
  pads.insert(pads.end(), {w.x0, w.y0});
  // What SAME adds at the end alone does not matter: the window's size does.
  const bool same = n.text("auto_pad", "NOTSET").starts_with("SAME");
  if (fixed && same) throw NotProved{"an average over pads that are not written out"};
  const bool padded = std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; });
  if (fixed && n.integer("ceil_mode", 0) != 0 && padded)
    throw NotProved{"an average in ceil mode with padding has no reference yet"};
  Symbols read = x;
  // Integers that stand for themselves are read and stored as the numbers that they are.
  const ElementType y_type = n.outputs[0].elem;
  const bool whole =
      !v_.is_real() && l.nodes.size() == 1 && (y_type == ElementType::I8 || y_type == ElementType::U8);
  if (whole)
    for (Val& v : read.v) v = v_.read(v, {0, 1.0f});
  if (is_asked(n.inputs[0]) && !(n.op == "MaxPool" && is_asked(n.outputs[0].name)))
    for (Val& v : read.v) v = v_.half(v);
  Symbols made = pooled(n, read, w, fixed && padded);
  if (whole)
    for (Val& v : made.v) v = v_.store(v, {0, 1.0f}, y_type == ElementType::I8 ? Type::I8 : Type::U8);
  finish(l, n, std::move(made));
}

Val Reference::combine(const std::string& step, Val v, Val e) {
  if (step == "Sum") return v_.add(v, e);
  if (step == "SumSquare") return v_.fma(e, e, v);
  return v_.mul(v, e);
}

Symbols Reference::combined(const Symbols& s, const std::vector<int64_t>& over, int64_t part,
                            const std::string& step) {
  Shape kept = s.shape;
  int64_t count = 1;
  for (int64_t a : over) {
    count *= s.shape[static_cast<size_t>(a)];
    kept[static_cast<size_t>(a)] = 1;
  }
  if (count < 1 || s.v.size() != static_cast<size_t>(element_count(s.shape)))
    throw NotProved{"a reduction of nothing"};
  const std::vector<int64_t> strides = strides_of(s.shape);
  std::vector<size_t> inner{0};
  for (int64_t a : over) {
    std::vector<size_t> more;
    for (size_t base : inner)
      for (int64_t i = 0; i < s.shape[static_cast<size_t>(a)]; ++i)
        more.push_back(base + static_cast<size_t>(i * strides[static_cast<size_t>(a)]));
    inner = std::move(more);
  }
  const int64_t pieces = (count + part - 1) / part;
  if (pieces > 1) kept[static_cast<size_t>(over.back())] = pieces;
  Symbols out{kept, {}};
  const std::vector<int64_t> own = strides_of(kept);
  std::vector<int64_t> at(kept.size(), 0);
  for (int64_t i = 0; i < element_count(kept); ++i) {
    size_t base = 0;
    int64_t piece = 0;
    for (size_t d = 0; d < kept.size(); ++d) {
      const int64_t k = i / own[d] % kept[d];
      if (pieces > 1 && static_cast<int64_t>(d) == over.back())
        piece = k;
      else
        base += static_cast<size_t>(k * strides[d]);
    }
    const auto first = static_cast<size_t>(piece * part),
               end = std::min(first + static_cast<size_t>(part), inner.size());
    if (step == "Max" || step == "Min") {
      std::vector<Val> all;
      for (size_t k = first; k < end; ++k) all.push_back(s.v[base + inner[k]]);
      out.v.push_back(v_.extreme_of(all, step == "Max"));
      continue;
    }
    const Val e = s.v[base + inner[first]];
    Val v = step == "SumSquare" ? v_.mul(e, e) : e;
    for (size_t k = first + 1; k < end; ++k) v = combine(step, v, s.v[base + inner[k]]);
    out.v.push_back(v);
  }
  return out;
}

// Sums of several dimensions one after the other, the last first; long ones in parts.
Symbols Reference::reduced(const Symbols& x, std::vector<int64_t> axes, const std::string& op,
                           int64_t divisor, float beta, bool parts) {
  constexpr int64_t kPart = 1024;
  const bool in_order = op != "Max" && op != "Min";
  std::erase_if(axes, [&](int64_t a) { return x.shape[static_cast<size_t>(a)] == 1; });
  Symbols s = x;
  std::string step = op;
  const auto along = [&](const std::vector<int64_t>& over, int64_t part) {
    s = combined(s, over, part, step);
    if (step == "SumSquare") step = "Sum";
  };
  if (!in_order || axes.empty()) {
    if (axes.empty() && step == "SumSquare")
      for (Val& v : s.v) v = v_.mul(v, v);
    if (!axes.empty()) along(axes, std::numeric_limits<int32_t>::max());
  } else {
    for (size_t i = axes.size(); i-- > 0;) {
      const int64_t size = s.shape[static_cast<size_t>(axes[i])];
      if (parts && size > kPart) along({axes[i]}, kPart);
      along({axes[i]}, std::numeric_limits<int32_t>::max());
    }
  }
  const auto n = static_cast<float>(divisor);
  const Val alpha = v_.is_real() ? v_.div(number(1), number(n)) : number(1.0f / n);
  for (Val& v : s.v) v = v_.fma(alpha, v, number(beta));
  return s;
}

// Empty: nothing is reduced.
std::vector<int64_t> Reference::axes_of(const Node& n, size_t rank) {
  std::vector<int64_t> axes = n.integers("axes");
  if (n.inputs.size() > 1 && !n.inputs[1].empty()) axes = c_.of(n.inputs[1]).to_ints();
  if (axes.empty() && n.integer("noop_with_empty_axes", 0) == 0)
    for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  return normalised(axes, rank);
}

void Reference::reduce(const Layer& l) {
  const Node& n = l.nodes.at(0);
  if (l.anchor != 0) throw NotProved{"a reduction that is not the first of its layer"};
  const Symbols& x = get(n.inputs.at(0));
  const std::vector<int64_t> axes = axes_of(n, x.shape.size());
  if (axes.empty() && n.op != "ReduceSumSquare") return finish(l, n, x);
  if (!n.is({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare"}))
    throw NotProved{n.op + " has no reference yet"};
  std::string op = n.op.substr(6);
  int64_t over = 1;
  if (op == "Mean") {
    for (int64_t a : axes) over *= x.shape[static_cast<size_t>(a)];
    op = "Sum";
  }
  finish(l, n, reduced(x, axes, op, over, 0, true));
}

// max + log of the sum of exp(x - max), where the maximum is finite.
void Reference::log_sum_exp(const Layer& l) {
  const Node& n = l.nodes.at(0);
  const Symbols x = get(n.inputs.at(0));
  const std::vector<int64_t> axes = axes_of(n, x.shape.size());
  const uint32_t exp = v_.register_table("Exp", table_of([](double v) { return std::exp(v); })),
                 log = v_.register_table("Log", table_of([](double v) { return std::log(v); }));
  Symbols max = reduced(x, axes, "Max", 1, 0, false), e = x;
  constexpr float kMost = std::numeric_limits<float>::max();
  for (Val& m : max.v) m = v_.clip(m, -kMost, kMost);
  const std::vector<size_t> row = broadcast_offsets(max.shape, x.shape);
  for (size_t i = 0; i < x.v.size(); ++i) e.v[i] = v_.look_up(exp, v_.sub(x.v[i], max.v[row[i]]));
  Symbols y = reduced(e, axes, "Sum", 1, 0, false);
  for (size_t i = 0; i < y.v.size(); ++i) y.v[i] = v_.add(v_.look_up(log, y.v[i]), max.v[i]);
  finish(l, n, std::move(y));
}

void Reference::softmax(const Layer& l) {
  const Node& n = l.nodes.at(0);
  if (n.op == "ReduceLogSumExp") return log_sum_exp(l);
  if (!n.is({"Softmax", "LogSoftmax"})) throw NotProved{n.op + " has no reference yet"};
  const Symbols x = get(n.inputs.at(0));
  const std::vector<int64_t> axis = normalised({n.integer("axis", -1)}, x.shape.size());
  const Symbols max = reduced(x, axis, "Max", 1, 0, false);
  const std::vector<size_t> row = broadcast_offsets(max.shape, x.shape);
  const auto exp = [](double v) { return std::exp(v); };
  const uint32_t table_id = v_.register_table("Exp", table_of(exp));
  Symbols centred = x, e = x;
  for (size_t i = 0; i < x.v.size(); ++i) {
    centred.v[i] = v_.sub(x.v[i], max.v[row[i]]);
    e.v[i] = v_.look_up(table_id, centred.v[i]);
  }
  Symbols sum = reduced(e, axis, "Sum", 1, 0, false);
  if (n.op == "LogSoftmax") {
    const uint32_t log = v_.register_table("Log", table_of([](double v) { return std::log(v); }));
    for (Val& v : sum.v) v = v_.look_up(log, v);
    for (size_t i = 0; i < x.v.size(); ++i) e.v[i] = v_.sub(centred.v[i], sum.v[row[i]]);
  } else {
    for (Val& v : sum.v) v = v_.div(number(1), v);
    for (size_t i = 0; i < x.v.size(); ++i) e.v[i] = v_.mul(e.v[i], sum.v[row[i]]);
  }
  finish(l, n, std::move(e));
}

// Scale and shift of each channel.
std::vector<std::pair<Val, Val>> Reference::batch_norm(const Node& n) {
  std::vector<double> t[4];
  for (size_t i = 0; i < 4; ++i) t[i] = c_.of(n.inputs.at(i + 1)).to_doubles();
  const float epsilon = n.real("epsilon", 1e-5f);
  std::vector<std::pair<Val, Val>> out;
  for (size_t c = 0; c < t[0].size(); ++c) {
    if (v_.is_real()) {
      const auto at = [&](size_t k) { return number(static_cast<float>(t[k].at(c))); };
      const Val scale = v_.div(at(0), v_.sqrt(v_.add(at(3), number(epsilon))));
      out.emplace_back(scale, v_.sub(at(1), v_.mul(at(2), scale)));
      continue;
    }
    const double s = t[0][c] / std::sqrt(t[3].at(c) + static_cast<double>(epsilon));
    out.emplace_back(number(static_cast<float>(s)), number(static_cast<float>(t[1].at(c) - t[2].at(c) * s)));
  }
  return out;
}

void Reference::norm(const Layer& l) {
  const Node& n = l.nodes.at(0);
  const Symbols& x = get(n.inputs.at(0));
  const size_t rank = x.shape.size();
  Symbols y = x;
  if (n.op == "BatchNormalization") {
    const auto channels = batch_norm(n);
    size_t inner = 1;
    for (size_t d = 2; d < rank; ++d) inner *= static_cast<size_t>(x.shape[d]);
    if (channels.empty()) throw NotProved{"a normalisation without channels"};
    for (size_t i = 0; i < y.v.size(); ++i) {
      const auto& [scale, shift] = channels[i / inner % channels.size()];
      y.v[i] = v_.add(v_.mul(x.v[i], scale), shift);
    }
    return finish(l, n, std::move(y));
  }
  const bool instance = n.op == "InstanceNormalization";
  if (!instance && !n.is({"LayerNormalization", "RMSNormalization"}))
    throw NotProved{n.op + " has no reference yet"};
  std::vector<int64_t> axes;
  const int64_t first = instance ? 2 : normalised({n.integer("axis", -1)}, rank)[0];
  int64_t count = 1;
  for (int64_t d = first; d < static_cast<int64_t>(rank); ++d) {
    axes.push_back(d);
    count *= x.shape[static_cast<size_t>(d)];
  }
  std::vector<size_t> row;
  if (n.op != "RMSNormalization") {
    const Symbols mean = reduced(x, axes, "Sum", count, 0, instance);
    row = broadcast_offsets(mean.shape, x.shape);
    for (size_t i = 0; i < y.v.size(); ++i) y.v[i] = v_.sub(x.v[i], mean.v[row[i]]);
  }
  Symbols variance = reduced(y, axes, "SumSquare", count, n.real("epsilon", 1e-5f), instance);
  row = broadcast_offsets(variance.shape, x.shape);
  for (Val& v : variance.v) v = v_.div(number(1), v_.sqrt(v));
  for (size_t i = 0; i < y.v.size(); ++i) y.v[i] = v_.mul(y.v[i], variance.v[row[i]]);
  for (size_t k = 1; k < 3 && k < n.inputs.size(); ++k) {
    if (n.inputs[k].empty()) continue;
    Symbols p = constant(n.inputs[k]);
    if (instance) {
      p.shape.insert(p.shape.begin(), 1);
      while (p.shape.size() < rank) p.shape.push_back(1);
    }
    const std::vector<size_t> from = broadcast_offsets(p.shape, x.shape);
    for (size_t i = 0; i < y.v.size(); ++i)
      y.v[i] = k == 1 ? v_.mul(y.v[i], p.v[from[i]]) : v_.add(y.v[i], p.v[from[i]]);
  }
  finish(l, n, std::move(y));
}

}  // namespace mrvlc::prove
