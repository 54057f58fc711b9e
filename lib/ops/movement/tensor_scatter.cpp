// TensorScatter (ONNX TensorScatter-24): writes an update into a cache along one axis, at a place of its own
// for every example. Places out of range: an error in the reference, skipped in generated code.
#include "common/dims.h"
#include "common/index_util.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct CacheParams {
  size_t axis = 0;
  bool circular = false;
};

Result<CacheParams> cache_params(const InferContext& context) {
  CacheParams p;
  MRVLC_TRY(check_rank(context, 0, 2));
  MRVLC_TRY(check_rank(context, 1, context.type(0).rank(), context.type(0).rank()));
  MRVLC_TRY(check_same_elem(context, 1));
  if (context.has(2)) {
    MRVLC_TRY(check_rank(context, 2, 1, 1));
    MRVLC_TRY(check_elem(context, 2, types_of({E::I64})));
  }
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  if (axis == 0) return bad_attr("axis", "is the batch");
  const std::string& mode = context.string_attr("mode");
  if (mode != "linear" && mode != "circular")
    return bad_attr("mode", fmt::format("has the unknown value '{}'", printable(mode)));
  p.axis = at(axis);
  p.circular = mode == "circular";
  return p;
}

// Where the update begins in each of the batch, caches of `size`.
ElementRange place_range(const InferContext& context, const CacheParams& p, int64_t size, int64_t steps) {
  return {2, context.type(2).elements(), 0, p.circular ? size : size - steps};
}

Result<std::vector<TensorType>> infer_tensor_scatter(const InferContext& context) {
  MRVLC_ASSIGN(CacheParams p, cache_params(context));
  Shape expected = context.type(0).shape;
  const Shape& update = context.type(1).shape;
  if (update[p.axis] <= expected[p.axis]) expected[p.axis] = update[p.axis];
  if (update != expected)
    return bad_operands(fmt::format("an update of {} for a cache of {}", to_string(update),
                                    to_string(context.type(0).shape)));
  if (context.has(2) && context.type(2).shape[0] != expected[0])
    return bad_operands(fmt::format("{} places for a batch of {}", context.type(2).shape[0], expected[0]));
  if (context.has(2))
    MRVLC_TRY(check_known(context, place_range(context, p, context.type(0).shape[p.axis], update[p.axis])));
  return std::vector<TensorType>{context.type(0)};
}

Status eval_tensor_scatter(const EvalContext& context) {
  MRVLC_ASSIGN(CacheParams p, cache_params(context.infer_view()));
  const Shape &x = context.in(0).shape(), &u = context.in(1).shape();
  auto middle = x.begin() + static_cast<ptrdiff_t>(p.axis);
  int64_t outer = element_count(Shape(x.begin() + 1, middle)),
          inner = element_count(Shape(middle + 1, x.end()));
  context.out() = context.in(0);
  if (context.in(1).elements() == 0) return {};
  ElementBytes bytes(context.in(1), context.out());
  for (int64_t row = 0; row < x[0] * outer * u[p.axis]; ++row) {
    int64_t s = row % u[p.axis], o = row / u[p.axis],
            n = context.has(2) ? context.in(2).as_int(o / outer) : 0;
    if (n < 0 || n > x[p.axis] || (!p.circular && n + u[p.axis] > x[p.axis]))
      return bad_operands(fmt::format("place {} of {} in the cache", n, x[p.axis]));
    bytes.copy(row * inner, (o * x[p.axis] + (n + s) % x[p.axis]) * inner, inner);
  }
  return {};
}

// The checks of infer_tensor_scatter and eval_tensor_scatter, made at run time, and the result's dimensions.
void check_cache(EmitContext& context, const CacheParams& p) {
  const Texts dims = in_dims(context, 0), update = in_dims(context, 1);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d == p.axis) {
      context.fail_if(fmt::format("{} > {}", update[d], dims[d]));
    } else {
      require_equal(context, update[d], dims[d]);
    }
  }
  if (context.has(2)) {
    require_equal(context, context.in_dim(2, 0), dims[0]);
    const std::string size = dims[p.axis], last = fmt::format("{} - {}", size, update[p.axis]);
    fail_if_any(context, 2, fmt::format("v < 0 || v > {}", p.circular ? size : last));
  }
  context.set_dims(0, dims);
}

Status emit_tensor_scatter(EmitContext& context) {
  MRVLC_ASSIGN(CacheParams p, cache_params(emit_view(context)));
  check_cache(context, p);
  const std::string size = context.in_dim(0, static_cast<int64_t>(p.axis)),
                    steps = context.in_dim(1, static_cast<int64_t>(p.axis));
  if (context.has(2) && is_number(size) && is_number(steps)) {
    const ElementRange places = place_range(emit_view(context), p, std::stoll(size), std::stoll(steps));
    MRVLC_TRY(require_range(context, places));
  }
  if (context.out_type(0).elements() == 0) return {};
  Texts x = in_sizes(context, 0), u = in_sizes(context, 1);
  std::string y = context.out(0);
  emit_operand_to_update(context);
  context.line(fmt::format("const ptrdiff_t outer = {}, size = {}, steps = {}, inner = {};",
                           size_product(x, 1, p.axis), x[p.axis], u[p.axis],
                           size_product(x, p.axis + 1, x.size())));
  context.open(fmt::format("for (ptrdiff_t o = 0; o < {} * outer; ++o)", x[0]));
  std::string place = context.has(2) ? fmt::format("{}[o / outer]", context.in(2)) : "0";
  context.line(fmt::format("const int64_t place = {};", place));
  context.line(p.circular ? "const ptrdiff_t n = size > 0 && place >= 0 ? (ptrdiff_t)(place % size) : -1;"
                          : "const ptrdiff_t n = place >= 0 && place <= size ? (ptrdiff_t)place : -1;");
  context.open("for (ptrdiff_t s = 0; s < steps && n >= 0; ++s)");
  if (p.circular) {
    context.line("const ptrdiff_t to = n + s < size ? n + s : n + s - size;");
  } else {
    context.line("const ptrdiff_t to = n + s;");
    context.line("if (to >= size) break;");
  }
  context.line(fmt::format(
      "memcpy({0} + (o * size + to) * inner, {1} + (o * steps + s) * inner, (size_t)inner * sizeof *{0});", y,
      context.in(1)));
  context.close();
  context.close();
  return {};
}

}  // namespace

const OpDef& def_TensorScatter() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "TensorScatter";
    d.traits = {.moves = Moves::Copied, .work = Work::Linear, .updates = true};
    d.since_min = 24;
    d.attrs = {with_int("axis", -2), with_string("mode", "linear")};
    d.min_inputs = 2;
    d.max_inputs = 3;
    d.types = kFixedSize;
    d.infer = infer_tensor_scatter;
    d.eval = eval_tensor_scatter;
    d.emit = d.emit_dynamic = emit_tensor_scatter;
    d.declined = "the accelerator has no writes at computed addresses";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
