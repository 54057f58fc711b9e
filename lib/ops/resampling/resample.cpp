// Taps and weights of linear, cubic and antialiased resizing for each output, and the tables of nearest.
#include "resampling/resample.h"

#include <algorithm>
#include <cmath>

#include "common/convert.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::ops {

void cubic_weights(double s, double a, double* w) {
  auto outer = [a](double t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
  auto inner = [a](double t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  w[0] = outer(s + 1), w[1] = inner(s), w[2] = inner(1 - s), w[3] = outer(2 - s);
}

void emit_truncated(EmitContext& context, const std::string& from, const std::string& to,
                    const std::string& count, ElementType elem) {
  auto number = [](double v) { return c_literal(v, ElementType::F64); };
  context.open(fmt::format("for (int64_t i = 0; i < {}; ++i)", count));
  context.line(fmt::format("const double v = {0}[i] + ({0}[i] < 0 ? {1} : {2});", from,
                           number(-kTruncationSlack), number(kTruncationSlack)));
  context.line(fmt::format("{}[i] = {};", to, saturated_text("v", ElementType::F64, elem)));
  context.close();
}

namespace {

int64_t clamp_index(double i, int64_t size) {
  return static_cast<int64_t>(std::clamp(i, 0.0, static_cast<double>(size - 1)));
}

void cubic_output(const ResizeParams& p, double x, int64_t size, bool exclude_outside, int64_t* index,
                  double* weight) {
  double low = std::floor(x), sum = 0;
  cubic_weights(x - low, p.cubic_a, weight);
  for (int k = 0; k < 4; ++k) {
    double i = low - 1 + k;
    index[k] = clamp_index(i, size);
    if (exclude_outside && (i < 0 || i > static_cast<double>(size - 1))) weight[k] = 0;
    sum += weight[k];
  }
  for (int k = 0; exclude_outside && sum != 0 && k < 4; ++k) weight[k] /= sum;
}

void linear_output(double x, int64_t size, int64_t* index, double* weight) {
  x = std::clamp(x, 0.0, static_cast<double>(size - 1));
  double low = std::floor(x);
  index[0] = clamp_index(low, size);
  index[1] = clamp_index(low + 1, size);
  weight[1] = x - low;
  weight[0] = 1 - weight[1];
}

double kernel(const ResizeParams& p, double t) {
  t = std::fabs(t);
  if (p.mode != "cubic") return std::max(0.0, 1 - t);
  if (t >= 2) return 0;
  double w[4];
  cubic_weights(t < 1 ? t : t - 1, p.cubic_a, w);
  return w[t < 1 ? 1 : 0];
}

double reach_of(const ResizeParams& p, size_t d) {
  return (p.mode == "cubic" ? 2 : 1) / p.scale[d];
}
int64_t wide_tap_count(const ResizeParams& p, size_t d) {
  constexpr double kMost = 0x1p40;
  return static_cast<int64_t>(std::floor(std::min(2 * reach_of(p, d), kMost))) + 1;
}

// Every element in reach of the stretched filter.
AxisTaps wide_taps(const ResizeParams& p, size_t d, int64_t size, bool exclude_outside) {
  AxisTaps taps;
  double scale = p.scale[d], reach = reach_of(p, d);
  taps.taps = wide_tap_count(p, d);
  for (int64_t o = 0; o < p.output[d]; ++o) {
    double x = p.source(d, o, size), first = std::ceil(x - reach), sum = 0;
    auto begin = taps.weight.size();
    for (int64_t t = 0; t < taps.taps; ++t) {
      double i = first + static_cast<double>(t);
      bool skip = exclude_outside && (i < 0 || i > static_cast<double>(size - 1));
      taps.index.push_back(clamp_index(i, size));
      taps.weight.push_back(skip ? 0 : kernel(p, (i - x) * scale));
      sum += taps.weight.back();
    }
    for (size_t i = begin; sum != 0 && i < taps.weight.size(); ++i) taps.weight[i] /= sum;
  }
  return taps;
}

}  // namespace

Filter resize_filter(const InferContext& context) {
  if (context.op->kind != Op::Resize) return {};
  return {context.int_attr("exclude_outside") != 0, context.int_attr("antialias") != 0};
}

int64_t tap_count(const ResizeParams& params, size_t d, const Filter& filter) {
  if (params.mode == "nearest") return 1;
  if (filter.antialias && params.scale[d] < 1) return wide_tap_count(params, d);
  return params.mode == "cubic" ? 4 : 2;
}

AxisTaps axis_taps(const ResizeParams& params, size_t d, int64_t input_size, const Filter& filter) {
  if (filter.antialias && params.scale[d] < 1)
    return wide_taps(params, d, input_size, filter.exclude_outside);
  AxisTaps taps;
  bool cubic = params.mode == "cubic";
  taps.taps = tap_count(params, d, filter);
  taps.index.resize(at(params.output[d] * taps.taps));
  taps.weight.resize(taps.index.size());
  for (int64_t o = 0; o < params.output[d]; ++o) {
    double x = params.source(d, o, input_size);
    int64_t* index = taps.index.data() + o * taps.taps;
    double* weight = taps.weight.data() + o * taps.taps;
    if (cubic) {
      cubic_output(params, x, input_size, filter.exclude_outside, index, weight);
    } else {
      linear_output(x, input_size, index, weight);
    }
  }
  return taps;
}

std::vector<int64_t> nearest_table(const ResizeParams& params, size_t d, int64_t input_size) {
  std::vector<int64_t> table;
  for (int64_t o = 0; o < params.output[d]; ++o) {
    table.push_back(params.nearest(d, o, input_size));
  }
  return table;
}

std::vector<int64_t> outside_outputs(const ResizeParams& params, size_t d, int64_t input_size) {
  std::vector<int64_t> out;
  if (params.coordinate_mode != "tf_crop_and_resize") return out;
  for (int64_t o = 0; o < params.output[d]; ++o) {
    double x = params.source(d, o, input_size);
    if (x < 0 || x > static_cast<double>(input_size - 1)) out.push_back(o);
  }
  return out;
}

bool keeps_dimension(const ResizeParams& params, size_t d, int64_t input_size) {
  if (params.output[d] != input_size) return false;
  if (params.is_identity(d, input_size)) return true;
  for (int64_t o = 0; o < input_size; ++o) {
    if (params.source(d, o, input_size) != static_cast<double>(o)) return false;
  }
  return true;
}

}  // namespace mrvlc::ops
