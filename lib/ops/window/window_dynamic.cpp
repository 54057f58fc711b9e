// The struct of a window at run time from attributes and sizes, its output sizes and loops over taps.
#include "window/window_dynamic.h"

#include "mrvlc/ops/kernel_structs.h"

namespace mrvlc::ops {
namespace {

size_t spatial_rank(const EmitContext& c) {
  return c.in_type(0).shape.size() - 2;
}

// One entry a spatial dimension from position `first` of the attribute, `fallback` when it is absent.
Texts entries(const EmitContext& c, std::string_view attr, size_t first, int64_t fallback) {
  InferContext view = emit_view(c);
  const std::vector<int64_t>& given = view.ints_attr(attr);
  Texts list;
  for (size_t d = 0; d < spatial_rank(c); ++d)
    list.push_back(fmt::format("{}", given.empty() ? fallback : given[first + d]));
  return list;
}

std::string elements_text(const Texts& items) {
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string mode_text(EmitContext& c) {
  const std::string& mode = emit_view(c).string_attr("auto_pad");
  std::string_view name = mode == "SAME_UPPER"   ? "same_upper"
                          : mode == "SAME_LOWER" ? "same_lower"
                          : mode == "VALID"      ? "valid"
                                                 : "explicit";
  return fmt::format("{}_{}", c.helper("dynamic_window"), name);
}

}  // namespace

void declare_window(EmitContext& c, const Texts& kernel, bool transposed) {
  Texts data = in_dims(c, 0), sizes(data.begin() + 2, data.end());
  const structs::DynamicWindow window{.rank = spatial_rank(c),
                                      .in = transposed ? "0" : elements_text(sizes),
                                      .out = transposed ? elements_text(sizes) : "0",
                                      .kernel = elements_text(kernel),
                                      .stride = elements_text(entries(c, "strides", 0, 1)),
                                      .dilation = elements_text(entries(c, "dilations", 0, 1)),
                                      .pad = elements_text(entries(c, "pads", 0, 0)),
                                      .pad_end = elements_text(entries(c, "pads", spatial_rank(c), 0))};
  c.line(fmt::format("{} w = {};", c.helper("dynamic_window"), structs::initialiser(window)));
}

void size_window(EmitContext& c, bool ceil_mode) {
  c.fail_if(fmt::format("{}(&w, {}, {})", c.helper("dynamic_window_size"), mode_text(c), ceil_mode ? 1 : 0));
}

void size_transposed_window(EmitContext& c) {
  declare_list(c, "extra", entries(c, "output_padding", 0, 0));
  bool wanted = !emit_view(c).ints_attr("output_shape").empty();
  if (wanted) declare_list(c, "wanted", entries(c, "output_shape", 0, 0));
  c.fail_if(fmt::format("{}(&w, {}, extra, {})", c.helper("dynamic_transposed"), mode_text(c),
                        wanted ? "wanted" : "NULL"));
}

Texts window_dims(const EmitContext& c, const std::string& channels, std::string_view sizes) {
  Texts dims{c.in_dim(0, 0), channels};
  for (size_t d = 0; d < spatial_rank(c); ++d) dims.push_back(fmt::format("w.{}[{}]", sizes, d));
  return dims;
}

void open_taps(EmitContext& c) {
  c.open("for (int64_t t = 0; t < taps; ++t)");
  c.line("int64_t from, low, high;");
  c.line(fmt::format("if (!{}_tap(&w, r, t, &from, &low, &high)) continue;", c.helper("dynamic_window")));
}

void declare_window_sizes(EmitContext& c) {
  std::string window = c.helper("dynamic_window");
  size_t rank = spatial_rank(c);
  c.line(fmt::format("const int64_t rows = {}_product(w.out, {}), width = w.out[{}];", window, rank - 1,
                     rank - 1));
  c.line(fmt::format("const int64_t plane = {0}_product(w.in, {1}), taps = {0}_product(w.kernel, {1});",
                     window, rank));
}

}  // namespace mrvlc::ops
