// Maps of indices cut into runs, each a strided copy, a fill or an interpolation.
#include "lower/axis_map.h"

#include <algorithm>

#include "primitive/cost_limits.h"

namespace mrvlc::accel {
namespace {

constexpr int64_t kLargestPeriod = 16;

// Runs among the outputs of each residue class modulo `period`.
std::vector<AxisRun> runs_with_period(const std::vector<Source>& map, int64_t period) {
  std::vector<AxisRun> runs;
  auto size = static_cast<int64_t>(map.size());
  for (int64_t residue = 0; residue < std::min(period, size); ++residue) {
    for (int64_t o = residue; o < size; o += period) {
      const Source& s = map[static_cast<size_t>(o)];
      if (o != residue) {
        AxisRun& r = runs.back();
        const Source& before = map[static_cast<size_t>(o - period)];
        int64_t low = s.low - before.low, high = s.high - before.high;
        bool fill = s.low == kFill;
        bool even = r.count == 1 || (low == r.low_step && high == r.high_step);
        if (s.weight == before.weight && even && fill == (before.low == kFill)) {
          r.low_step = low;
          r.high_step = high;
          ++r.count;
          continue;
        }
      }
      runs.push_back({o, period, 1, s, 0, 0});
    }
  }
  return runs;
}

// Each input repeated `factor` times; 0 when it is not that.
int64_t repeat_factor(const std::vector<Source>& map, int64_t inputs) {
  auto size = static_cast<int64_t>(map.size());
  if (inputs == 0 || size % inputs != 0 || size == inputs) return 0;
  int64_t factor = size / inputs;
  for (int64_t o = 0; o < size; ++o)
    if (map[static_cast<size_t>(o)].low != o / factor) return 0;
  return factor;
}

View along(const View& v, size_t dim, int64_t start, int64_t step, int64_t count) {
  View r = slice(v, dim, start, step, count);
  return r;
}

struct Piece {
  View from, to;
  bool fill = false;
};

}  // namespace

std::vector<Source> identity_map(int64_t size) {
  std::vector<Source> map;
  for (int64_t i = 0; i < size; ++i) map.push_back({i, i, 0});
  return map;
}

std::vector<AxisRun> runs_of(const std::vector<Source>& map) {
  std::vector<AxisRun> best = runs_with_period(map, 1);
  for (int64_t p = 2; p <= kLargestPeriod; ++p) {
    if (best.size() <= static_cast<size_t>(p)) break;
    std::vector<AxisRun> runs = runs_with_period(map, p);
    if (runs.size() < best.size()) best = std::move(runs);
  }
  return best;
}

void copy_mapped(Lowering& l, const View& from, const View& to, const std::vector<std::vector<Source>>& maps,
                 float fill_value, ir::NodeId expr) {
  std::vector<Piece> pieces = {{from, to, false}};
  size_t extra = 0;  // dimensions split into (input, repetition) add one each
  for (size_t d = 0; d < maps.size(); ++d) {
    size_t at = d + extra;
    std::vector<Piece> next;
    int64_t factor = repeat_factor(maps[d], from.dims[d]);
    std::vector<AxisRun> runs = factor > 0 ? std::vector<AxisRun>{} : runs_of(maps[d]);
    if (static_cast<int64_t>(pieces.size() * std::max<size_t>(runs.size(), 1)) > kMostPrimitives)
      return l.keep(too_many_primitives());
    for (const Piece& p : pieces) {
      if (factor > 0) {
        Piece q = p;
        q.from = unsqueezed(p.from, at + 1);
        q.from.dims[at + 1] = factor;
        q.to = unsqueezed(p.to, at + 1);
        q.to.dims[at] = p.to.dims[at] / factor;
        q.to.dims[at + 1] = factor;
        q.to.strides[at + 1] = p.to.strides[at];
        q.to.strides[at] = p.to.strides[at] * factor;
        next.push_back(std::move(q));
        continue;
      }
      for (const AxisRun& r : runs) {
        Piece q = p;
        q.to = along(p.to, at, r.start, r.step, r.count);
        q.fill = p.fill || r.first.low == kFill;
        q.from = along(p.from, at, q.fill ? 0 : r.first.low, q.fill ? 0 : r.low_step, r.count);
        next.push_back(std::move(q));
      }
    }
    if (factor > 0) ++extra;
    pieces = std::move(next);
  }
  for (const Piece& p : pieces) {
    if (p.fill) {
      l.fill(p.to, fill_value, expr);
    } else {
      PeBuilder b(l, p.to.dims, expr);
      l.keep(b.finish({PeOperand::Kind::External, p.from, 0}, p.to));
    }
  }
}

Status interpolate(Lowering& l, const View& from, const View& to, size_t dim, const std::vector<Source>& map,
                   ir::NodeId expr) {
  for (const AxisRun& r : runs_of(map)) {
    View dst = along(to, dim, r.start, r.step, r.count);
    PeOperand low{PeOperand::Kind::External, along(from, dim, r.first.low, r.low_step, r.count), 0};
    PeOperand high{PeOperand::Kind::External, along(from, dim, r.first.high, r.high_step, r.count), 0};
    PeBuilder b(l, dst.dims, expr);
    if (r.first.weight == 0) {
      MRVLC_TRY(b.finish(low, dst));
      continue;
    }
    PeOperand t = b.temp();
    b.apply(isa::EwOp::AxpBy, t, low, high, 1 - r.first.weight, r.first.weight);
    MRVLC_TRY(b.finish(t, dst));
  }
  return {};
}

}  // namespace mrvlc::accel
