// RotaryEmbedding (ONNX -23): pairs (a, b) of a head's first elements turn by an angle of their position:
//   a' = a cos - b sin,  b' = a sin + b cos.  Pairs are neighbours (interleaved), or element k with k + half.
#include "common/emit_util.h"
#include "common/index_util.h"
#include "common/lanes.h"
#include "mrvlc/support/diag/ops.h"
#include "product/ref_gemm.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct RotaryParams {
  int64_t batch = 0, heads = 0, length = 0, size = 0;  // of a head
  int64_t half = 0;                                    // pairs that turn
  bool packed = false, interleaved = false, has_positions = false;
  int64_t cache_rows = 0;

  // First element of a head's row.
  int64_t row(int64_t b, int64_t h, int64_t i) const {
    return (packed ? (b * length + i) * heads + h : (b * heads + h) * length + i) * size;
  }
};

Status read_input(const InferContext& context, RotaryParams& p) {
  MRVLC_TRY(check_rank(context, 0, 3, 4));
  const Shape& x = context.type(0).shape;
  p.packed = x.size() == 3;
  p.batch = x[0];
  p.length = p.packed ? x[1] : x[2];
  p.heads = p.packed ? context.int_attr("num_heads") : x[1];
  if (p.packed && (p.heads < 1 || x[2] % p.heads != 0))
    return bad_attr("num_heads", fmt::format("of {} does not divide the width {}", p.heads, x[2]));
  p.size = p.packed ? x[2] / p.heads : x[3];
  int64_t turned = context.int_attr("rotary_embedding_dim");
  if (turned == 0) turned = p.size;
  if (turned < 0 || turned > p.size || turned % 2 != 0)
    return bad_attr("rotary_embedding_dim", fmt::format("gives {} of {} elements", turned, p.size));
  p.half = turned / 2;
  p.interleaved = context.int_attr("interleaved") != 0;
  return {};
}

// One row of cosines and sines a position: of the whole cache, or of each batch and place.
Status read_caches(const InferContext& context, RotaryParams& p) {
  p.has_positions = context.has(3);
  if (p.has_positions) {
    MRVLC_TRY(check_elem(context, 3, types_of({E::I64})));
    if (context.type(3).shape != Shape{p.batch, p.length}) {
      return make_diag<DiagCode::MRV0205>(to_string(context.type(0).shape), to_string(context.type(3).shape),
                                          "one position for each row is expected");
    }
  }
  for (size_t i : {size_t{1}, size_t{2}}) {
    MRVLC_TRY(check_same_elem(context, i));
    const Shape& cache = context.type(i).shape;
    bool fits = p.has_positions ? cache.size() == 2 && cache[1] == p.half && cache[0] > 0
                                : cache == Shape{p.batch, p.length, p.half};
    if (fits && cache == context.type(1).shape) continue;
    return make_diag<DiagCode::MRV0205>(to_string(context.type(0).shape), to_string(cache),
                                        fmt::format("input {} does not hold {} angles a row", i, p.half));
  }
  p.cache_rows = context.type(1).shape[0];
  return {};
}

Result<RotaryParams> rotary_params(const InferContext& context) {
  RotaryParams p;
  MRVLC_TRY(read_input(context, p));
  MRVLC_TRY(read_caches(context, p));
  return p;
}

Result<std::vector<TensorType>> infer_rotary(const InferContext& context) {
  MRVLC_ASSIGN(RotaryParams p, rotary_params(context));
  if (p.has_positions) MRVLC_TRY(check_known_indices(context, 3, {p.cache_rows, false}));
  return one_type(context.type(0).elem, context.type(0).shape);
}

Status eval_rotary(const EvalContext& context) {
  MRVLC_ASSIGN(RotaryParams p, rotary_params(context.infer_view()));
  std::vector<int64_t> positions;
  if (p.has_positions) {
    MRVLC_ASSIGN(positions, read_indices(context.in(3), p.cache_rows));
  }
  std::vector<double> x(at(p.size)), cos(at(p.half)), sin(at(p.half));
  for (int64_t place = 0; place < p.batch * p.length; ++place) {
    int64_t angles = (p.has_positions ? positions[at(place)] : place) * p.half;
    load_doubles(context.in(1), angles, p.half, cos.data());
    load_doubles(context.in(2), angles, p.half, sin.data());
    for (int64_t h = 0; h < p.heads; ++h) {
      int64_t row = p.row(place / p.length, h, place % p.length);
      load_doubles(context.in(0), row, p.size, x.data());
      for (int64_t k = 0; k < p.half; ++k) {
        double &a = x[at(p.interleaved ? 2 * k : k)], &b = x[at(p.interleaved ? 2 * k + 1 : k + p.half)];
        double turned = a * cos[at(k)] - b * sin[at(k)];
        b = a * sin[at(k)] + b * cos[at(k)];
        a = turned;
      }
      store_doubles(context.out(), row, p.size, x.data());
    }
  }
  return {};
}

// Sizes as C text: numbers, or names of constants.
struct RotaryTexts {
  std::string batch, length, heads, size, half;
  bool packed = false, interleaved = false;
};

// The checks of read_input and read_caches, made at run time.
void check_caches(EmitContext& context, const RotaryTexts& p) {
  const Texts cache = in_dims(context, 1), other = in_dims(context, 2);
  Texts expected{p.batch, p.length, p.half};
  if (context.has(3)) {
    expected = {cache[0], p.half};
    context.fail_if(fmt::format("{} < 1", cache[0]));
    require_equal(context, context.in_dim(3, 0), p.batch);
    require_equal(context, context.in_dim(3, 1), p.length);
  }
  for (size_t d = 0; d < expected.size(); ++d) {
    require_equal(context, cache[d], expected[d]);
    require_equal(context, other[d], cache[d]);
  }
}

RotaryTexts declare_sizes(EmitContext& context) {
  const Texts x = in_dims(context, 0);
  const int64_t turned = context.node().int_attr("rotary_embedding_dim");
  const std::string given = fmt::format("{}", context.node().int_attr("num_heads"));
  RotaryTexts p;
  p.packed = x.size() == 3;
  p.interleaved = context.node().int_attr("interleaved") != 0;
  if (p.packed) context.fail_if(fmt::format("{} % {} != 0", x[2], given));
  p.batch = named_size(context, "batch", x[0]);
  p.length = named_size(context, "length", x[p.packed ? 1 : 2]);
  p.heads = p.packed ? given : named_size(context, "heads", x[1]);
  p.size =
      named_size(context, "size", p.packed ? quotient(x[2], context.node().int_attr("num_heads")) : x[3]);
  const std::string part = turned == 0 ? p.size : fmt::format("{}", turned);
  context.fail_if(fmt::format("{0} > {1} || {0} % 2 != 0", part, p.size));
  p.half = named_size(context, "half", quotient(part, 2));
  check_caches(context, p);
  return p;
}

Status check_ranks(const EmitContext& context) {
  const InferContext view = emit_view(context);
  const int64_t rank = context.has(3) ? 2 : 3;
  MRVLC_TRY(check_rank(view, 0, 3, 4));
  if (context.has(3)) MRVLC_TRY(check_rank(view, 3, 2, 2));
  MRVLC_TRY(check_rank(view, 1, rank, rank));
  return check_rank(view, 2, rank, rank);
}

Status emit_rotary(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_TRY(check_ranks(context));
  const RotaryTexts p = declare_sizes(context);
  set_same_dims(context);
  RangeCheck check = RangeCheck::None;
  if (context.has(3)) {
    MRVLC_ASSIGN(check, require_indices(context, 3, context.in_dim(1, 0)));
  }
  if (context.out_type(0).elements() == 0) return {};
  const std::string_view t = c_type(context.in_type(0).elem);
  open_loop(context, "b", p.batch);
  open_loop(context, "i", p.length);
  const std::string place = fmt::format("b * {} + i", p.length);
  if (context.has(3)) {
    emit_index(context, "angles", fmt::format("{}[{}]", context.in(3), place), context.in_dim(1, 0), check);
  } else {
    context.line(fmt::format("const ptrdiff_t angles = {};", place));
  }
  context.line(fmt::format("const {}* cosines = {} + angles * {};", t, context.in(1), p.half));
  context.line(fmt::format("const {}* sines = {} + angles * {};", t, context.in(2), p.half));
  open_loop(context, "h", p.heads);
  context.line(fmt::format("const ptrdiff_t row = ({}) * {};",
                           p.packed ? fmt::format("(b * {} + i) * {} + h", p.length, p.heads)
                                    : fmt::format("(b * {} + h) * {} + i", p.heads, p.length),
                           p.size));
  context.line(fmt::format("const {}* x = {} + row;", t, context.in(0)));
  context.line(fmt::format("{}* y = {} + row;", t, context.out(0)));
  open_loop(context, "k", p.half);
  std::string a = p.interleaved ? "2 * k" : "k",
              b = p.interleaved ? "2 * k + 1" : fmt::format("k + {}", p.half);
  context.line(fmt::format("y[{0}] = x[{0}] * cosines[k] - x[{1}] * sines[k];", a, b));
  context.line(fmt::format("y[{1}] = x[{0}] * sines[k] + x[{1}] * cosines[k];", a, b));
  context.close();
  context.line(fmt::format("for (ptrdiff_t k = 2 * {}; k < {}; ++k) y[k] = x[k];", p.half, p.size));
  for (int i = 0; i < 3; ++i) context.close();
  return {};
}

}  // namespace

const OpDef& def_RotaryEmbedding() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "RotaryEmbedding";
    d.since_min = 23;
    d.attrs = {with_int("interleaved", 0), with_int("num_heads", 0), with_int("rotary_embedding_dim", 0)};
    d.min_inputs = 3;
    d.max_inputs = 4;
    d.types = kFloats;
    d.infer = infer_rotary;
    d.eval = eval_rotary;
    d.emit = d.emit_dynamic = emit_rotary;
    d.declined = "accelerator: no layer turns pairs of channels";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
