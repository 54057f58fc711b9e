// GridSample (ONNX GridSample-22): samples the data at the positions of a grid, in any number of spatial
// dimensions.
#include <algorithm>
#include <cmath>

#include "common/dims.h"
#include "common/index_util.h"
#include "resampling/resample.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Before opset 20 the modes had the names of two dimensions.
Status upgrade_grid_sample(RawNode& node) {
  if (node.opset >= 20) return {};
  ir::Attr mode = node.take("mode");
  const auto* given = std::get_if<std::string>(&mode);
  std::string text = given == nullptr ? "bilinear" : *given;
  if (text == "bilinear") text = "linear";
  if (text == "bicubic") text = "cubic";
  node.attrs.emplace_back("mode", ir::Attr(text));
  return {};
}

constexpr double kCubicA = -0.75;

struct GridParams {
  size_t rank = 0;  // spatial dimensions
  int64_t taps = 1;
  bool align = false, zeros = false, reflect = false;
};

Result<GridParams> grid_params(const InferContext& context) {
  GridParams p;
  MRVLC_TRY(check_rank(context, 0, 3));
  MRVLC_TRY(check_rank(context, 1, context.type(0).rank(), context.type(0).rank()));
  MRVLC_TRY(check_elem(context, 1, kFloats));
  p.rank = at(context.type(0).rank() - 2);
  const std::string &mode = context.string_attr("mode"), &padding = context.string_attr("padding_mode");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    return bad_attr("mode", fmt::format("has the unknown value '{}'", printable(mode)));
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return bad_attr("padding_mode", fmt::format("has the unknown value '{}'", printable(padding)));
  p.taps = mode == "nearest" ? 1 : mode == "linear" ? 2 : 4;
  if (p.taps > 1) MRVLC_TRY(check_elem(context, 0, kFloats));
  if (p.taps == 4 && p.rank > 3) return bad_attr("mode", "is cubic in more than 3 dimensions");
  p.align = context.int_attr("align_corners") != 0;
  p.zeros = padding == "zeros";
  p.reflect = padding == "reflection";
  return p;
}

Result<std::vector<TensorType>> infer_grid_sample(const InferContext& context) {
  MRVLC_ASSIGN(GridParams p, grid_params(context));
  const Shape &x = context.type(0).shape, &grid = context.type(1).shape;
  if (x[0] != grid[0] || grid.back() != static_cast<int64_t>(p.rank))
    return bad_operands(fmt::format("a grid of {} for data of {}", to_string(grid), to_string(x)));
  Shape shape = {x[0], x[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  if (element_count(x) == 0 && element_count(shape) != 0)
    return bad_operands("nothing can be sampled from an empty dimension");
  return one_type(context.type(0).elem, shape);
}

// The elements one point reads, with their weights. Elements outside are left out where the padding is zero.
// R: coordinates are computed in the grid's own precision, because rounding decides which element `nearest`
// takes.
template <class R>
class Sampler {
 public:
  Sampler(const GridParams& p, const Shape& x) : p_(p), x_(x) {}

  struct Tap {
    int64_t at;
    double weight;
  };
  const std::vector<Tap>& taps(const double* grid) {
    taps_.assign(1, {0, 1.0});
    for (size_t d = 0; d < p_.rank; ++d) add_dimension(static_cast<R>(grid[p_.rank - 1 - d]), x_[d + 2]);
    return taps_;
  }

 private:
  void add_dimension(R g, int64_t size) {
    auto n = static_cast<R>(size);
    R pos = p_.align ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
    if (p_.reflect) pos = reflect(pos, n);
    // Farther outside nothing changes; NaN is outside.
    pos = !(pos > -3) ? -3 : pos < n + 2 ? pos : n + 2;
    R low = p_.taps == 1 ? std::nearbyint(pos) : std::floor(pos);
    double weights[4] = {1, 0, 0, 0}, s = static_cast<double>(pos - low);
    if (p_.taps == 2) weights[0] = 1 - s, weights[1] = s;
    if (p_.taps == 4) cubic_weights(s, kCubicA, weights);
    int64_t first = static_cast<int64_t>(low) - (p_.taps == 4 ? 1 : 0);
    std::vector<Tap> next;
    for (const Tap& tap : taps_) {
      for (int64_t t = 0; t < p_.taps; ++t) {
        int64_t i = first + t;
        if (p_.zeros && (i < 0 || i >= size)) continue;
        next.push_back({tap.at * size + inside(i, size), tap.weight * weights[t]});
      }
    }
    taps_ = std::move(next);
  }
  // Triangle wave between the middles of the outermost elements, or their outer edges.
  R reflect(R pos, R n) const {
    R low = p_.align ? R(0) : R(-0.5), range = p_.align ? n - 1 : n;
    if (!(range > 0)) return 0;
    R r = std::fmod(std::fabs(pos - low), 2 * range);
    return low + (r > range ? 2 * range - r : r);
  }
  int64_t inside(int64_t i, int64_t size) const {
    if (p_.reflect && p_.align && size > 1) {
      i = std::abs(i) % (2 * size - 2);
      return i < size ? i : 2 * size - 2 - i;
    }
    if (p_.reflect && !p_.align) {
      i = (i < 0 ? -1 - i : i) % (2 * size);
      return i < size ? i : 2 * size - 1 - i;
    }
    return std::clamp<int64_t>(i, 0, size - 1);
  }

  const GridParams& p_;
  const Shape& x_;
  std::vector<Tap> taps_;
};

template <class R>
void sample(const EvalContext& context, const GridParams& p) {
  const Tensor &x = context.in(0), &grid = context.in(1);
  Tensor& y = context.out();
  int64_t batch = x.shape()[0], channels = x.shape()[1], plane = 1;
  for (size_t d = 2; d < x.shape().size(); ++d) plane *= x.shape()[d];
  if (y.elements() == 0) return;
  int64_t points = y.elements() / (batch * channels), rank = static_cast<int64_t>(p.rank);
  ElementBytes bytes(x, y);
  Sampler<R> sampler(p, x.shape());
  for (int64_t n = 0; n < batch * points; ++n) {
    double position[kMaxRank] = {};
    for (int64_t d = 0; d < rank; ++d) position[d] = grid.as_double(n * rank + d);
    const auto& taps = sampler.taps(position);
    for (int64_t c = 0; c < channels; ++c) {
      int64_t from = (n / points * channels + c) * plane,
              to = (n / points * channels + c) * points + n % points;
      if (p.taps == 1) {
        if (!taps.empty()) bytes.copy(from + taps[0].at, to, 1);
        continue;
      }
      double sum = 0;
      for (const auto& tap : taps) sum += tap.weight * x.as_double(from + tap.at);
      y.set_double(to, sum);
    }
  }
}

Status eval_grid_sample(const EvalContext& context) {
  MRVLC_ASSIGN(GridParams p, grid_params(context.infer_view()));
  context.in(1).elem() == E::F64 ? sample<double>(context, p) : sample<float>(context, p);
  return {};
}

// -- C

void emit_position(EmitContext& context, const GridParams& p, ElementType elem) {
  std::string_view f = elem == E::F32 ? "f" : "";
  context.line(fmt::format("const {} n = ({})size[d];", c_type(elem), c_type(elem)));
  std::string g = fmt::format("(g[{} - d] + 1)", p.rank - 1);
  std::string pos = p.align ? fmt::format("{} / 2 * (n - 1)", g) : fmt::format("({} * n - 1) / 2", g);
  context.line(fmt::format("{} pos = {};", c_type(elem), pos));
  if (p.reflect) {
    std::string low = p.align ? "0" : fmt::format("0.5{}", f), range = p.align ? "(n - 1)" : "n";
    if (p.align) context.line("if (size[d] < 2) pos = 0;");
    context.line(fmt::format("pos = fmod{0}(fabs{0}(pos + {1}), 2 * {2});", f, low,
                             p.align ? "(size[d] > 1 ? n - 1 : 1)" : range));
    context.line(fmt::format("if (pos > {0}) pos = 2 * {0} - pos;", range));
    if (!p.align) context.line(fmt::format("pos -= {};", low));
  }
  context.line("pos = !(pos > -3) ? -3 : pos < n + 2 ? pos : n + 2;");
}

// Leaves ptrdiff_t first, and w[] of the type the data are computed in.
void emit_weights(EmitContext& context, const GridParams& p, ElementType grid, ElementType elem) {
  std::string_view f = grid == E::F32 ? "f" : "", type = c_type(elem);
  std::string low = fmt::format("floor{}(pos)", f);
  if (p.taps == 1) {
    // Ties to even whatever the rounding mode of the caller.
    context.line(fmt::format("ptrdiff_t first = (ptrdiff_t){};", low));
    context.line(fmt::format("const {} s = pos - ({})first;", c_type(grid), c_type(grid)));
    context.line(fmt::format("if (s > 0.5{0} || (!(s < 0.5{0}) && first % 2 != 0)) ++first;", f));
    return;
  }
  context.line(fmt::format("const ptrdiff_t first = (ptrdiff_t){}{};", low, p.taps == 4 ? " - 1" : ""));
  context.line(fmt::format("const {0} s = ({0})(pos - {1});", type, low));
  if (p.taps == 2) {
    context.line(fmt::format("const {} v[2] = {{1 - s, s}};", type));
    return;
  }
  auto number = [&](double v) { return c_literal(v, elem); };
  std::string outer = fmt::format("(({0} * ({{0}}) - {1}) * ({{0}}) + {2}) * ({{0}}) - {3}", number(kCubicA),
                                  number(5 * kCubicA), number(8 * kCubicA), number(4 * kCubicA));
  std::string inner =
      fmt::format("({0} * ({{0}}) - {1}) * ({{0}}) * ({{0}}) + 1", number(kCubicA + 2), number(kCubicA + 3));
  context.line(fmt::format("const {} v[4] = {{{}, {},", type, fmt::format(fmt::runtime(outer), "s + 1"),
                           fmt::format(fmt::runtime(inner), "s")));
  context.line(fmt::format("  {}, {}}};", fmt::format(fmt::runtime(inner), "1 - s"),
                           fmt::format(fmt::runtime(outer), "2 - s")));
}

void emit_inside(EmitContext& context, const GridParams& p) {
  context.line("ptrdiff_t i = first + t;");
  if (p.zeros) {
    context.line("if (i < 0 || i >= size[d]) continue;");
    return;
  }
  if (p.reflect && p.align) {
    context.line("const ptrdiff_t period = size[d] > 1 ? 2 * size[d] - 2 : 1;");
    context.line("i = (i < 0 ? -i : i) % period;");
    context.line("if (i >= size[d]) i = period - i;");
  } else if (p.reflect) {
    context.line("i = (i < 0 ? -1 - i : i) % (2 * size[d]);");
    context.line("if (i >= size[d]) i = 2 * size[d] - 1 - i;");
  } else {
    context.line("i = i < 0 ? 0 : i < size[d] ? i : size[d] - 1;");
  }
}

// The lists at[] and w[] grow by one dimension after the other, from their end so that this works in place.
void emit_taps(EmitContext& context, const GridParams& p, ElementType grid, ElementType elem) {
  context.line("ptrdiff_t count = 1;");
  context.line("at[0] = 0;");
  if (p.taps > 1) context.line("w[0] = 1;");
  context.loop("d", static_cast<int64_t>(p.rank));
  emit_position(context, p, grid);
  emit_weights(context, p, grid, elem);
  context.line("ptrdiff_t m = 0;");
  if (p.taps > 1) context.line(fmt::format("{} u[{}];", c_type(elem), p.taps));
  context.line(fmt::format("ptrdiff_t in[{}];", p.taps));
  context.loop("t", p.taps);
  emit_inside(context, p);
  if (p.taps > 1) context.line("u[m] = v[t];");
  context.line("in[m++] = i;");
  context.close();
  context.open("for (ptrdiff_t k = count - 1; k >= 0; --k)");
  context.line("const ptrdiff_t a = at[k] * size[d];");
  if (p.taps > 1) context.line(fmt::format("const {} b = w[k];", c_type(elem)));
  context.open("for (ptrdiff_t t = 0; t < m; ++t)");
  context.line("at[k * m + t] = a + in[t];");
  if (p.taps > 1) context.line("w[k * m + t] = b * u[t];");
  context.close();
  context.close();
  context.line("count *= m;");
  context.close();
}

Status emit_grid_sample(EmitContext& context) {
  MRVLC_ASSIGN(GridParams p, grid_params(emit_view(context)));
  MRVLC_TRY(require_widened(context, 1));
  if (p.taps > 1) MRVLC_TRY(require_widened(context));
  ElementType elem = context.in_type(0).elem, grid = context.in_type(1).elem;
  Texts x = in_sizes(context, 0), g = in_sizes(context, 1), dims = {x[0], x[1]};
  dims.insert(dims.end(), g.begin() + 1, g.end() - 1);
  require_equal(context, x[0], g[0]);
  require_equal(context, g.back(), fmt::format("{}", p.rank));
  context.fail_if(fmt::format("{} == 0", size_product(x, 2, x.size())));
  context.set_dims(0, dims);
  if (context.out_type(0).elements() == 0) return {};
  int64_t room = 1;
  for (size_t d = 0; d < p.rank; ++d) room *= p.taps;
  context.line(
      fmt::format("const ptrdiff_t size[{}] = {};", p.rank, list_text(Texts(x.begin() + 2, x.end()))));
  context.line(fmt::format("const ptrdiff_t channels = {}, plane = {}, points = {};", x[1],
                           size_product(x, 2, x.size()), size_product(g, 1, g.size() - 1)));
  context.open(fmt::format("for (ptrdiff_t p = 0; p < {} * points; ++p)", g[0]));
  context.line(fmt::format("const {}* g = {} + p * {};", c_type(grid), context.in(1), p.rank));
  context.line(fmt::format("const {}* x = {} + p / points * channels * plane;", c_type(elem), context.in(0)));
  context.line(
      fmt::format("{}* y = {} + p / points * channels * points + p % points;", c_type(elem), context.out(0)));
  context.line(fmt::format("ptrdiff_t at[{}];", room));
  if (p.taps > 1) context.line(fmt::format("{} w[{}];", c_type(elem), room));
  emit_taps(context, p, grid, elem);
  context.open("for (ptrdiff_t c = 0; c < channels; ++c)");
  if (p.taps == 1) {
    context.line(fmt::format("y[c * points] = ({})(count > 0 ? x[c * plane + at[0]] : 0);", c_type(elem)));
  } else {
    context.line(fmt::format("{} sum = 0;", c_type(elem)));
    context.line("for (ptrdiff_t k = 0; k < count; ++k) sum += w[k] * x[c * plane + at[k]];");
    context.line("y[c * points] = sum;");
  }
  context.close();
  context.close();
  return {};
}

}  // namespace

const OpDef& def_GridSample() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "GridSample";
    d.traits = {.work = Work::Resampled};
    d.since_min = 16;
    d.attrs = {with_int("align_corners", 0), with_string("mode", "linear"),
               with_string("padding_mode", "zeros")};
    d.min_inputs = d.max_inputs = 2;
    d.types = kOrdinary;
    d.upgrade = upgrade_grid_sample;
    d.infer = infer_grid_sample;
    d.eval = eval_grid_sample;
    d.emit = d.emit_dynamic = emit_grid_sample;
    d.declined = "the accelerator has no reads at computed addresses";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
