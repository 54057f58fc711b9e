// Convolutions that threads share: a part is a convolution of fewer groups or channels.
#include "conv/parts.h"

#include <algorithm>

#include "function.h"

namespace mrvlc::chost {
namespace {

void put_share(Function& f, int64_t items) {
  const std::string share = f.prefixed("K_share");
  f.put("const ptrdiff_t first = {0}({1}, part, parts), past = {0}({1}, part + 1, parts);", share, items);
  f.put("if (first == past) return;");
}

}  // namespace

void put_part_epilogue(Function& f, bool fn, std::string_view row, std::string_view col,
                       std::string_view at) {
  if (!fn) return f.put("const {} own = e;", f.prefixed("K_epilogue"));
  const std::string function = f.need(Piece::part_epilogue);
  f.put_struct("behind", structs::PartOf{.e = "&e", .row = row, .col = col, .at = at});
  f.put("const void* const own_args[] = {{&behind}};");
  f.put_struct("own", structs::Epilogue{.lo = "e.lo", .hi = "e.hi", .fn = function, .args = "own_args"});
}

PartOffsets put_conv_part(Function& f, const ConvPlan& plan, std::string_view type, bool halves) {
  const Panels panels = choose_panels(plan.m);
  const int64_t depth = plan.channels * static_cast<int64_t>(plan.taps.size());
  const int64_t image = plan.in[0] * plan.in[1], pixels = plan.out[0] * plan.out[1];
  // Panels are of pairs of rows, so halves, whose pointer counts floats, begin at a whole one.
  const int64_t pair = halves ? depth : 2 * depth;
  f.put("{} q = p;", type);
  if (plan.groups > 1) {
    put_share(f, plan.groups);
    f.put("q.groups = past - first;");
    f.put("const ptrdiff_t row = first * {};", plan.m);
    return {fmt::format("first * {}", plan.channels * image),
            fmt::format("first * {}", panels.rows() / 2 * pair), "row", fmt::format("row * {}", pixels)};
  }
  put_share(f, panels.six + panels.four);
  f.put("const ptrdiff_t six = first < {0} ? first : {0}, row = 4 * first + 2 * six;", panels.six);
  f.put("q.panels6 = (past < {0} ? past : {0}) - six;", panels.six);
  f.put("q.panels4 = past - first - q.panels6;");
  f.put("q.m = 6 * q.panels6 + 4 * q.panels4;");
  f.put("if (q.m > {0} - row) q.m = {0} - row;", plan.m);
  return {"0", fmt::format("row / 2 * {}", pair), "row", fmt::format("row * {}", pixels)};
}

// Of the part that has most, which begins with the panels of six.
bool shares_places(const Function& f, const PlacedWork& work) {
  constexpr double kWeight = 6.4;  // reading one, in multiply-adds
  const int64_t parts = f.program().options.threads;
  const int64_t panels = ceil_div(work.panels.six + work.panels.four, parts);
  const int64_t six = std::min(panels, work.panels.six);
  const auto rows = static_cast<double>(6 * six + 4 * (panels - six)),
             all = static_cast<double>(work.panels.rows());
  const auto depth = static_cast<double>(work.depth), places = static_cast<double>(work.places);
  const int64_t units = ceil_div(ceil_div(work.places, work.unit), parts);
  const auto share = static_cast<double>(std::min(units * work.unit, work.places));
  const double by_panels = places * (rows * depth + work.column) + kWeight * rows * depth;
  return share * (all * depth + work.column) + kWeight * all * depth < by_panels;
}

std::string put_places_part(Function& f, const PlacedWork& work, std::string_view type) {
  f.put("{} q = p;", type);
  put_share(f, ceil_div(work.places, work.unit));
  f.put("q.begin = first * {0}, q.end = past * {0};", work.unit);
  if (work.places % work.unit != 0) f.put("if (q.end > {0}) q.end = {0};", work.places);
  return "q";
}

PartOffsets put_depthwise_part(Function& f, const ops::ConvParams& p, const Window2& w,
                               std::string_view type) {
  const int64_t multiplier = p.out_channels / p.in_channels, pixels = w.out[0] * w.out[1];
  f.put("{} q = p;", type);
  put_share(f, p.in_channels);
  f.put("q.channels = past - first;");
  f.put("const ptrdiff_t row = first * {};", multiplier);
  return {fmt::format("first * {}", w.in[0] * w.in[1]), fmt::format("row * {}", w.kernel[0] * w.kernel[1]),
          "row", fmt::format("row * {}", pixels)};
}

}  // namespace mrvlc::chost
