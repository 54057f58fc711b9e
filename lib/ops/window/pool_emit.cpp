// C of the pools. A window slides tap by tap: for one output row and one tap, the outputs whose tap falls
// inside the input form a range known beforehand, so the innermost loop over the width has no conditions and
// vectorises.
#include <algorithm>
#include <cmath>

#include "common/dynamic_util.h"
#include "common/lanes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/plane.h"
#include "window/pool_code.h"

namespace mrvlc::ops {
namespace {

std::string_view suffix(const EmitContext& context) {
  return context.in_type(0).elem == ElementType::F64 ? "" : "f";
}

}  // namespace

std::string pool_power(const EmitContext& context, int64_t p, const std::string& v) {
  if (p == 1) return fmt::format("fabs{}({})", suffix(context), v);
  if (p == 2) return fmt::format("{0} * {0}", v);
  return fmt::format("pow{0}(fabs{0}({1}), {2})", suffix(context), v, p);
}
std::string pool_root(const EmitContext& context, int64_t p, const std::string& v) {
  if (p == 1) return v;
  if (p == 2) return fmt::format("sqrt{}({})", suffix(context), v);
  return fmt::format("pow{}({}, {})", suffix(context), v,
                     c_literal(1 / static_cast<double>(p), context.in_type(0).elem));
}

std::string pool_lowest(ElementType elem) {
  if (is_float(elem)) return c_literal(-INFINITY, elem);
  return c_literal(elem == ElementType::I8 ? int64_t{-128} : int64_t{0}, elem);
}

namespace {

void accumulate(PoolCode& code, const std::string& offset) {
  std::string read = fmt::format("src[ox * {} + {}]", code.p.strides[code.last], offset);
  if (code.p.is_max) {
    code.context.line(fmt::format("const {} v = {};", code.type, read));
    code.context.line(larger_text(code.context.in_type(0).elem, "row[ox]", "v"));
  } else {
    code.context.line(
        fmt::format("row[ox] += {};", code.norm == 0 ? read : pool_power(code.context, code.norm, read)));
  }
}

// One tap of the innermost dimension with its range of outputs worked out here.
void fixed_tap(PoolCode& code, int64_t k) {
  size_t d = code.last;
  const PoolParams& p = code.p;
  int64_t base = k * p.dilations[d] - p.pads_begin[d], s = p.strides[d];
  int64_t low = base >= 0 ? 0 : ceil_div(-base, s);
  int64_t high = base >= p.input[d] ? 0 : std::min(p.output[d], ceil_div(p.input[d] - base, s));
  if (low >= high) return;
  code.context.open(fmt::format("for (ptrdiff_t ox = {}; ox < {}; ++ox)", low, high));
  accumulate(code, signed_text(base));
  code.context.close();
}

// Wide kernels: the range is worked out in the generated code.
void looped_taps(PoolCode& code) {
  size_t d = code.last;
  const PoolParams& p = code.p;
  code.context.loop("kx", p.kernel[d]);
  code.context.line(fmt::format("const ptrdiff_t base = kx * {} - {};", p.dilations[d], p.pads_begin[d]));
  code.context.line(
      fmt::format("const ptrdiff_t low = base >= 0 ? 0 : ({} - base) / {};", p.strides[d] - 1, p.strides[d]));
  code.context.line(fmt::format("const ptrdiff_t past = base >= {0} ? 0 : ({1} - base) / {2};", p.input[d],
                                p.input[d] + p.strides[d] - 1, p.strides[d]));
  code.context.line(fmt::format("const ptrdiff_t high = past < {0} ? past : {0};", p.output[d]));
  code.context.open("for (ptrdiff_t ox = low; ox < high; ++ox)");
  accumulate(code, "base");
  code.context.close();
  code.context.close();
}

// Where all taps of all windows count, which the first and the last window tell, or where few outputs are
// alike: their count.
std::optional<int64_t> uniform_count(const PoolParams& p, size_t d, const std::vector<int64_t>& few) {
  if (!few.empty())
    return std::all_of(few.begin(), few.end(), [&](int64_t c) { return c == few[0]; }) ? std::optional(few[0])
                                                                                       : std::nullopt;
  const auto [low, high] = pool_span(p, d);
  const int64_t last = (p.output[d] - 1) * p.strides[d] - p.pads_begin[d];
  const bool inside = -p.pads_begin[d] >= low && last + (p.kernel[d] - 1) * p.dilations[d] < high;
  return inside ? std::optional(p.kernel[d]) : std::nullopt;
}

// The divisor of dimension d at output `var`: a number when it is the same everywhere, else an element of a
// table, or computed: a table of a long dimension would be most of the program.
std::string divisor(PoolCode& code, size_t d, std::string_view var, ElementType elem) {
  constexpr int64_t kLongest = 4096;
  const PoolParams& p = code.p;
  std::vector<int64_t> counts;
  for (int64_t o = 0; p.output[d] <= kLongest && o < p.output[d]; ++o) counts.push_back(pool_count(p, d, o));
  if (auto count = uniform_count(p, d, counts)) return c_literal(*count, elem);
  if (!counts.empty()) {
    auto table = Tensor::of(elem, {static_cast<int64_t>(counts.size())}, counts);
    return fmt::format("{}[{}]", code.context.table(table), var);
  }
  const auto [low, high] = pool_span(p, d);
  return fmt::format("({}){}((int64_t){} * {} - {}, {}, {}, {}, {})", c_type(elem),
                     code.context.helper("average_count"), var, p.strides[d], p.pads_begin[d], p.kernel[d],
                     p.dilations[d], low, high);
}

void divide(PoolCode& code, ElementType elem) {
  std::string outer = divisor(code, code.last, "ox", elem);
  for (size_t d = 0; d < code.last; ++d) outer += " * " + divisor(code, d, fmt::format("o{}", d), elem);
  code.context.loop("ox", code.p.output[code.last]);
  code.context.line(fmt::format("row[ox] /= {};", outer));
  code.context.close();
}

void slide_taps(PoolCode& code) {
  const PoolParams& p = code.p;
  open_outer_taps(code);
  code.context.line(fmt::format("const {}* src = plane_in + ({}) * {};", code.type,
                                nested_index("i", p.input, code.last), p.input[code.last]));
  constexpr int64_t kUnrolled = 8;
  if (p.kernel[code.last] <= kUnrolled) {
    for (int64_t k = 0; k < p.kernel[code.last]; ++k) fixed_tap(code, k);
  } else {
    looped_taps(code);
  }
  close_blocks(code.context, code.last);
}

void pool_row(PoolCode& code) {
  const PoolParams& p = code.p;
  EmitContext& context = code.context;
  ElementType elem = context.in_type(0).elem;
  context.line(fmt::format("{}* row = plane_out + ({}) * {};", code.type,
                           nested_index("o", p.output, code.last), p.output[code.last]));
  std::string init = p.is_max ? pool_lowest(elem) : c_literal(0.0, elem);
  context.line(fmt::format("for (ptrdiff_t ox = 0; ox < {}; ++ox) row[ox] = {};", p.output[code.last], init));
  suits_rows(code) ? reduce_rows(code, init) : slide_taps(code);
  if (code.norm > 1) {
    context.line(fmt::format("for (ptrdiff_t ox = 0; ox < {}; ++ox) row[ox] = {};", p.output[code.last],
                             pool_root(context, code.norm, "row[ox]")));
  } else if (!p.is_max && code.norm == 0) {
    divide(code, elem);
  }
}

// With the optional output Indices: one output at a time, conditions at every tap.
void pool_with_indices(PoolCode& code, bool column_major) {
  const PoolParams& p = code.p;
  EmitContext& context = code.context;
  size_t rank = code.last + 1;
  context.loop(fmt::format("o{}", code.last), p.output[code.last]);
  context.line(fmt::format("{} best = {};", code.type, pool_lowest(context.in_type(0).elem)));
  context.line("ptrdiff_t where = -1;");
  PoolCode all = code;
  all.last = rank;
  open_outer_taps(all);
  std::string index = nested_index("i", p.input, rank), stored = index;
  if (column_major) {
    stored = fmt::format("i{}", rank - 1);
    for (size_t d = rank - 1; d-- > 0;) stored = fmt::format("({}) * {} + i{}", stored, p.input[d], d);
  }
  context.line(fmt::format("const {} v = plane_in[{}];", code.type, index));
  const bool has_nan = is_float(context.in_type(0).elem);
  context.open(fmt::format("if (where < 0 || v > best{})", has_nan ? " || (isnan(v) && !isnan(best))" : ""));
  context.line("best = v;");
  context.line(fmt::format("where = {};", stored));
  context.close();
  close_blocks(context, rank);
  std::string at_output = nested_index("o", p.output, rank);
  context.line(fmt::format("plane_out[{}] = best;", at_output));
  context.line(fmt::format("{}[p * {} + {}] = where < 0 ? -1 : (int64_t)(p * {} + where);", context.out(1),
                           element_count(p.output), at_output, element_count(p.input)));
  context.close();
}

void open_plane(EmitContext& context, const PoolParams& p, std::string_view type) {
  const int64_t results = p.batch * p.channels * element_count(p.output);
  context.shared_loop("p", fmt::format("{}", p.batch * p.channels), results * element_count(p.kernel));
  context.line(fmt::format("const {}* plane_in = {} + p * {};", type, context.in(0), element_count(p.input)));
  context.line(fmt::format("{}* plane_out = {} + p * {};", type, context.out(0), element_count(p.output)));
}

// Windows in two dimensions over floats, which vectors take from a padded copy of the channel, as long as
// that stays in the first-level cache; large windows have nothing to share there, and a pool of one or two
// microseconds is not worth the kernel's text.
bool suits_plane(const PoolCode& code, bool with_indices) {
  constexpr int64_t kTaps = 64, kLeast = 2048;
  const PoolParams& p = code.p;
  if (code.context.wants_little_text() ||
      p.batch * p.channels * element_count(p.output) * element_count(p.kernel) < kLeast)
    return false;
  return code.type == "float" && code.norm == 0 && !with_indices && p.kernel.size() == 2 && p.output[0] > 1 &&
         p.kernel[0] * p.kernel[1] <= kTaps && window_plane(p, "1", p.channels, 1, "tap").small;
}

void pool_planes(PoolCode& code) {
  const PoolParams& p = code.p;
  EmitContext& context = code.context;
  const WindowPlane plane = window_plane(p, fmt::format("{}", p.batch), p.channels, 1, "tap");
  const std::string pool = context.helper("pool_planes"), shape = context.helper("plane_shape");
  if (p.strides.back() > 1) context.helper("copy_step");
  context.line(fmt::format("static const int tap[] = {{{}}};", plane.taps));
  context.line(fmt::format("const {} shape = {};", shape, plane.shape));
  context.line(fmt::format("{}(&shape, {}, {}, {}, (float*){});", pool, p.is_max ? 1 : 0, context.in(0),
                           context.out(0), context.scratch(plane.bytes)));
  if (p.is_max) return;
  context.loop("p", p.batch * p.channels);
  context.loop("o0", p.output[0]);
  context.line(
      fmt::format("float* row = {} + (p * {} + o0) * {};", context.out(0), p.output[0], p.output[1]));
  divide(code, ElementType::F32);
  close_blocks(context, 2);
}

}  // namespace

Status emit_pool(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  InferContext view = emit_view(context);
  MRVLC_ASSIGN(PoolParams p, pool_params(view));
  if (context.out_type(0).elements() == 0) return {};
  PoolCode code{context, p, std::string(c_type(context.in_type(0).elem)), p.kernel.size() - 1,
                pool_norm(view)};
  if (suits_plane(code, view.num_outputs > 1)) {
    pool_planes(code);
    return {};
  }
  open_plane(context, p, code.type);
  for (size_t d = 0; d < code.last; ++d) context.loop(fmt::format("o{}", d), p.output[d]);
  if (view.num_outputs > 1) {
    pool_with_indices(code, view.int_attr("storage_order") != 0);
  } else {
    pool_row(code);
  }
  close_blocks(context, code.last + 1);
  return {};
}

// Sixteen running results keep vector units busy without reordering a sum the C standard fixes.
Status emit_global_pool(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  Texts dims = in_dims(context, 0);
  for (size_t d = 2; d < dims.size(); ++d) {
    if (context.in_type(0).is_dynamic(static_cast<int64_t>(d))) context.fail_if(dims[d] + " == 0");
    dims[d] = "1";
  }
  context.set_dims(0, dims);
  if (context.out_type(0).elements() == 0) return {};
  const int64_t norm = pool_norm(emit_view(context));
  const bool is_max = context.node().is(Op::GlobalMaxPool);
  const AxisText planes(context, 0, 2, true);
  const std::string &count = planes.n, blocked = times(quotient(count, 16), "16");
  ElementType elem = context.in_type(0).elem;
  std::string type(c_type(elem)), init = is_max ? pool_lowest(elem) : c_literal(0.0, elem);
  auto step = [&](std::string_view into, const std::string& given, bool element = true) {
    const std::string value = norm != 0 && element ? pool_power(context, norm, given) : given;
    if (!is_max) return fmt::format("{} += {};", into, value);
    // Whether there is a NaN, beside the maximum: C compilers make vectors of both.
    return fmt::format("{{ const {0} v = {2}; {3}{1} = v > {1} ? v : {1}; }}", type, into, value,
                       element ? "bad |= v != v; " : "");
  };
  context.shared_loop("p", planes.outer, context.in_type(0).elements());
  context.line(fmt::format("const {}* plane = {} + p * {};", type, context.in(0), count));
  context.line(fmt::format("{} total = {};", type, init));
  if (is_max) context.line("int bad = 0;");
  if (blocked != "0") {
    context.line(fmt::format("{} lane[16];", type));
    context.line(fmt::format("for (ptrdiff_t j = 0; j < 16; ++j) lane[j] = {};", init));
    context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; i += 16)", blocked));
    context.line("for (ptrdiff_t j = 0; j < 16; ++j) " + step("lane[j]", "plane[i + j]"));
    context.close();
    context.line("for (ptrdiff_t j = 0; j < 16; ++j) " + step("total", "lane[j]", false));
  }
  if (blocked != count) {
    context.line(fmt::format("for (ptrdiff_t i = {}; i < {}; ++i) ", blocked, count) +
                 step("total", "plane[i]"));
  }
  const std::string number =
      is_number(count) ? c_literal(int64_t{std::stoll(count)}, elem) : fmt::format("({}){}", type, count);
  std::string result = norm != 0 ? pool_root(context, norm, "total")
                       : is_max  ? "bad ? NAN : total"
                                 : "total / " + number;
  context.line(fmt::format("{}[p] = {};", context.out(0), result));
  context.close();
  return {};
}

}  // namespace mrvlc::ops
