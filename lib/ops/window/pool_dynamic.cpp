// Pools over sizes known at run time only. The code for static sizes is unrolled over the taps of a window
// and the ends of rows, so this is another text; a dynamic batch alone is a loop around the former for one
// image.
#include <cmath>

#include "common/sample_loop.h"
#include "mrvlc/ops/op_kind.h"
#include "window/pool.h"
#include "window/window_dynamic.h"

namespace mrvlc::ops {
namespace {

bool is_max(const EmitContext& c) {
  return c.node().is(Op::MaxPool);
}

std::string start_text(const EmitContext& c) {
  ElementType elem = c.in_type(0).elem;
  if (!is_max(c)) return c_literal(0.0, elem);
  return pool_lowest(elem);
}

// `into` with one more element of the window.
std::string step_text(const EmitContext& c, const std::string& into, const std::string& value) {
  if (is_max(c)) return larger_text(c.in_type(0).elem, into, value);
  int64_t norm = pool_norm(emit_view(c));
  return fmt::format("{} += {};", into, norm == 0 ? value : pool_power(c, norm, value));
}

void emit_row(EmitContext& c) {
  c.line(fmt::format("for (int64_t o = 0; o < width; ++o) row[o] = {};", start_text(c)));
  open_taps(c);
  c.line("const int64_t base = p * plane + from;");
  c.open("for (int64_t o = low; o < high; ++o)");
  c.line(fmt::format("const {} v = {}[base + o * step];", c_type(c.in_type(0).elem), c.in(0)));
  c.line(step_text(c, "row[o]", "v"));
  c.close();
  c.close();
  int64_t norm = pool_norm(emit_view(c));
  if (norm > 1)
    c.line(fmt::format("for (int64_t o = 0; o < width; ++o) row[o] = {};", pool_root(c, norm, "row[o]")));
}

void emit_average(EmitContext& c) {
  int padding = c.node().int_attr("count_include_pad") != 0 ? 1 : 0;
  std::string count = c.helper("dynamic_count");
  size_t last = c.in_type(0).shape.size() - 3;
  c.line(fmt::format("const int64_t count = {}_row(&w, r, {});", count, padding));
  c.line(fmt::format("for (int64_t o = 0; o < width; ++o) row[o] /= ({})(count * {}(&w, {}, o, {}));",
                     c_type(c.in_type(0).elem), count, last, padding));
}

// Of MaxPool with the optional output Indices.
void emit_row_with_indices(EmitContext& c) {
  c.line(fmt::format("int64_t* const where = {} + (p * rows + r) * width;", c.out(1)));
  c.open("for (int64_t o = 0; o < width; ++o)");
  c.line(fmt::format("row[o] = {};", start_text(c)));
  c.line("where[o] = -1;");
  c.close();
  open_taps(c);
  c.open("for (int64_t o = low; o < high; ++o)");
  c.line(fmt::format("const {} v = {}[p * plane + from + o * step];", c_type(c.in_type(0).elem), c.in(0)));
  const bool has_nan = is_float(c.in_type(0).elem);
  c.open(fmt::format("if (where[o] < 0 || v > row[o]{})", has_nan ? " || (isnan(v) && !isnan(row[o]))" : ""));
  c.line("row[o] = v;");
  c.line("where[o] = from + o * step;");
  for (int i = 0; i < 3; ++i) c.close();
  std::string index = "where[o]";
  if (c.node().int_attr("storage_order") != 0)
    index = fmt::format("{}(&w, where[o])", c.helper("dynamic_column_major"));
  c.line(fmt::format("for (int64_t o = 0; o < width; ++o) where[o] = where[o] < 0 ? -1 : p * plane + {};",
                     index));
}

void emit_planes(EmitContext& c) {
  declare_window_sizes(c);
  c.line(fmt::format("const int64_t step = w.stride[{}];", c.in_type(0).shape.size() - 3));
  c.open(fmt::format("for (int64_t p = 0; p < {}; ++p)", product_text(in_dims(c, 0), 0, 2)));
  c.open("for (int64_t r = 0; r < rows; ++r)");
  c.line(fmt::format("{}* const row = {} + (p * rows + r) * width;", c_type(c.in_type(0).elem), c.out(0)));
  if (c.node().outputs.size() > 1) {
    emit_row_with_indices(c);
  } else {
    emit_row(c);
    if (c.node().is(Op::AveragePool)) emit_average(c);
  }
  c.close();
  c.close();
}

Texts kernel_of(const EmitContext& c) {
  InferContext view = emit_view(c);
  Texts kernel;
  for (int64_t k : view.ints_attr("kernel_shape")) kernel.push_back(fmt::format("{}", k));
  return kernel;
}

}  // namespace

Status emit_dynamic_pool(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  if (has_dynamic_samples(c) && c.node().outputs.size() == 1) return emit_by_sample(c, emit_pool);
  declare_window(c, kernel_of(c));
  size_window(c, c.node().int_attr("ceil_mode") != 0);
  for (size_t i = 0; i < c.node().outputs.size(); ++i) c.set_dims(i, window_dims(c, c.in_dim(0, 1), "out"));
  emit_planes(c);
  return {};
}

}  // namespace mrvlc::ops
