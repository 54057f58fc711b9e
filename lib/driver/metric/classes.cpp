// Classes read off outputs, and how many of them are right.
#include "metric/classes.h"

#include <algorithm>
#include <map>

#include "mrvlc/support/diag/accuracy.h"

namespace mrvlc::driver {
namespace {

// The largest along the middle of outer x classes x inner; of equal ones the first.
Classes largest(const Tensor& t, int64_t outer, int64_t classes, int64_t inner) {
  Classes out;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const auto at = [&](int64_t c) { return t.as_double((o * classes + c) * inner + i); };
      int64_t best = 0;
      for (int64_t c = 1; c < classes; ++c)
        if (at(c) > at(best)) best = c;
      out.push_back(best);
    }
  return out;
}

Classes above_middle(const Tensor& t) {
  const std::vector<double> x = t.to_doubles();
  const bool shares = std::ranges::all_of(x, [](double v) { return v >= 0 && v <= 1; });
  Classes out;
  for (const double v : x) out.push_back(v > (shares ? 0.5 : 0) ? 1 : 0);
  return out;
}

}  // namespace

Result<Classes> rows_of(const Tensor& output) {
  const Shape& s = output.shape();
  if (s.empty() || s.back() < 2)
    return make_diag<DiagCode::MRV0952>("top1", "the first output has no row of two scores or more");
  return largest(output, output.elements() / s.back(), s.back(), 1);
}

Result<Classes> areas_of(const Tensor& output) {
  const Shape& s = output.shape();
  if (s.size() < 3)
    return make_diag<DiagCode::MRV0952>("iou",
                                        "the first output is no picture: N x classes x rows x columns");
  if (s[1] == 1) return above_middle(output);
  const int64_t outer = std::max<int64_t>(1, s[0]),
                inner = output.elements() / (outer * std::max<int64_t>(1, s[1]));
  return largest(output, s[0], s[1], inner);
}

double top1(const std::vector<Classes>& actual, const std::vector<Classes>& right) {
  int64_t same = 0, all = 0;
  for (size_t s = 0; s < right.size(); ++s)
    for (size_t i = 0; i < right[s].size(); ++i) ++all, same += actual[s][i] == right[s][i] ? 1 : 0;
  return all == 0 ? 1 : static_cast<double>(same) / static_cast<double>(all);
}

double mean_iou(const std::vector<Classes>& actual, const std::vector<Classes>& right) {
  struct Areas {
    int64_t both = 0, either = 0;
  };
  std::map<int64_t, Areas> classes;
  for (size_t s = 0; s < right.size(); ++s)
    for (size_t i = 0; i < right[s].size(); ++i) {
      const int64_t a = actual[s][i], b = right[s][i];
      ++classes[a].either;
      if (a == b) ++classes[a].both;
      if (a != b) ++classes[b].either;
    }
  double sum = 0;
  for (const auto& [number, areas] : classes)
    sum += static_cast<double>(areas.both) / static_cast<double>(areas.either);
  return classes.empty() ? 1 : sum / static_cast<double>(classes.size());
}

}  // namespace mrvlc::driver
