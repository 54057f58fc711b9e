// Cycles of work and of sending for each cut; the best for a tree of primitives, then improved.
#include "plan/search.h"

#include <algorithm>

#include "mrvlc/support/checked.h"
#include "plan/collision.h"
#include "plan/pe_plan.h"
#include "plan/room.h"

namespace mrvlc::accel {
namespace {

// Sending overlaps with work except for its end.
constexpr double kExposed = 0.3;

double pe_cycles(const PeGroup& g, const Cut& cut, const target::Machine& m) {
  Dims box = largest_box(g, cut);
  double cycles = 0;
  for (const PeStage& s : g.stages) {
    double n = 1;
    for (size_t d = 0; d < g.dims.size(); ++d)
      if (s.reduce || spans(g, s.dst, d)) n *= static_cast<double>(box[d]);
    bool slow =
        !s.reduce && (s.op == isa::EwOp::Div || s.op == isa::EwOp::Sqrt || s.op == isa::EwOp::Reciprocal);
    cycles += std::ceil(n / m.pe_lanes) * (slow ? m.pe_slow_factor : 1) + m.instruction_overhead;
    cycles += static_cast<double>(s.epilogue.table_bytes()) / m.ocm_read_bytes;
  }
  return cycles;
}

// What one way of cutting a primitive touches: rectangles by operand and tile.
struct Option {
  Cut cut;
  double cycles = 0;
  TouchedByTile touched;
  std::vector<uint32_t> collides;  // buffers of which two of its tiles make the same bytes
};

// A primitive reads what another one makes; or both make parts of one buffer.
struct Edge {
  size_t from = 0, to = 0;
  uint32_t buffer = 0;
  bool both_write = false;
};

class CutSearch {
 public:
  CutSearch(const Program& p, const target::Machine& m, uint32_t tiles, const Prices& price)
      : p_(p), m_(m), tiles_(tiles), price_(price) {
    for (const Primitive& primitive : p.primitives) options_.push_back(options_of(primitive));
    connect();
  }

  std::vector<Cut> run() {
    tree();
    for (int sweep = 0; sweep < 3; ++sweep) {
      const bool one = improve(), together = improve_writers();
      if (!one && !together) break;
    }
    std::vector<Cut> cuts;
    for (size_t i = 0; i < options_.size(); ++i) cuts.push_back(options_[i][chosen_[i]].cut);
    return cuts;
  }

 private:
  // Weights that lie in a tile's memory ahead of their use: those of layers for which DDR is the bottleneck.
  double held_weights(const Primitive& primitive, const Cut& cut) const {
    const auto* op = std::get_if<WindowOp>(&primitive);
    if (op == nullptr || op->kind != WindowOp::Kind::Conv || op->dynamic_weights) return 0;
    WindowGeometry g(*op);
    auto all = static_cast<double>(g.units * g.unit_blocks * g.taps * g.all_channels * op->lane_bytes());
    double bound = all / m_.ddr_rate() / std::max(1.0, work_cycles(primitive, {1, 1, true}, m_) / tiles_);
    return std::clamp(bound - 0.5, 0.0, 1.0) * all / static_cast<double>(cut.channels);
  }

  std::vector<Option> options_of(const Primitive& primitive) const {
    std::vector<Option> out;
    for (Cut cut : possible_cuts(primitive, tiles_)) {
      if (cut.sparse && !price_.streaming) continue;
      cut.parted = price_.streaming;
      Option o{cut, work_cycles(primitive, cut, m_), {}, {}};
      for (uint32_t t = 0; t < tiles_; ++t) o.touched.push_back(touches(primitive, cut, t, p_));
      if (const auto* op = std::get_if<WindowOp>(&primitive); op != nullptr && price_.streaming)
        o.cycles = std::max(o.cycles, streaming_cycles(*op, cut, o.touched)) + start_cycles(*op, cut);
      for (const Touch& t : o.touched[0])
        if (!t.write) o.cycles += price_.tensors * static_cast<double>(t.rect.bytes());
      o.cycles += price_.weights * held_weights(primitive, cut);
      o.collides = colliding(o.touched);
      out.push_back(std::move(o));
    }
    return out;
  }

  // Of the largest part of a buffer that a tile touches.
  static int64_t most_bytes(const std::vector<std::vector<Touch>>& touched, uint32_t buffer, bool write) {
    int64_t most = 0;
    for (const std::vector<Touch>& tile : touched) {
      Rect all;
      for (const Touch& t : tile)
        if (t.buffer == buffer && t.write == write) all = hull(all, t.rect);
      most = std::max(most, all.bytes());
    }
    return most;
  }

  // Cycles with what does not fit a tile's memory beside the rest going through DDR; 0 where all of it fits.
  double streaming_cycles(const WindowOp& op, const Cut& cut,
                          const std::vector<std::vector<Touch>>& touched) const {
    // Neighbours want some room as well.
    const int64_t all = m_.ocm_bytes, ocm = all - all / 8,
                  weights = room_beside(op, cut, {false, false, false, false}, m_);
    const int64_t x = most_bytes(touched, op.x.buffer, false), out = most_bytes(touched, op.out.buffer, true);
    Streams s{x + weights > ocm, false, cut.sparse || out + weights > ocm, false};
    if (!s.x && !s.out && x + out + weights > ocm) (x > out ? s.x : s.out) = true;
    if (!s.any()) return 0;
    s.residual = op.has_residual && s.out;
    const int64_t lying = (s.x ? 0 : x) + (s.out ? 0 : out);
    std::optional<WindowPlan> plan = plan_window(op, cut, s, all - lying, m_);
    if (!plan) plan = plan_window(op, cut, {true, op.has_residual, true, op.dynamic_weights}, all, m_);
    return plan ? plan->cycles : 0;
  }

  // Where the region begins nothing hides the first weights: each part of the channels waits for its own.
  double start_cycles(const WindowOp& op, const Cut& cut) const {
    const bool begins = p_.buffers[op.x.buffer].kind == Buffer::Kind::Input;
    if (!begins || op.kind != WindowOp::Kind::Conv || op.dynamic_weights) return 0;
    const WindowGeometry g(op);
    const int64_t unit = g.unit_blocks * g.taps * g.all_channels * op.lane_bytes();
    const int64_t part = ceil_div(g.units, cut.channels) * unit;
    const int64_t first = std::min(part, std::max(unit, weight_chunk_bytes(m_)));
    return static_cast<double>(first * cut.channels) / m_.ddr_rate();
  }

  void connect() {
    std::vector<std::vector<size_t>> writers(p_.buffers.size());
    of_.resize(p_.primitives.size());
    parent_.assign(p_.primitives.size(), SIZE_MAX);
    constexpr size_t kMostWriters = 8;
    for (size_t i = 0; i < p_.primitives.size(); ++i) {
      std::vector<uint32_t> read, written;
      for (const Touch& t : options_[i][0].touched[0]) {
        auto& list = t.write ? written : read;
        if (std::ranges::find(list, t.buffer) == list.end()) list.push_back(t.buffer);
      }
      for (uint32_t b : read) {
        const auto& w = writers[b];
        for (size_t k = w.size() > kMostWriters ? w.size() - kMostWriters : 0; k < w.size(); ++k) {
          of_[i].push_back(edges_.size());
          of_[w[k]].push_back(edges_.size());
          edges_.push_back({w[k], i, b});
        }
        if (parent_[i] == SIZE_MAX && !w.empty()) {
          parent_[i] = edges_.size() - 1;
        }
      }
      for (uint32_t b : written) join_writers(i, b, writers[b]);
    }
    for (size_t b = 0; b < writers.size(); ++b) {
      // One primitive that is cut otherwise collides with all others.
      const double others =
          static_cast<double>(std::clamp<size_t>(writers[b].size(), 2, kMostJoined + 1) - 1);
      through_ddr_.push_back(2 * static_cast<double>(p_.buffers[b].bytes) / m_.ddr_rate() / others);
      if (may_stay(p_.buffers[b])) writers_.push_back(std::move(writers[b]));
    }
  }

  bool may_stay(const Buffer& b) const {
    return b.kind == Buffer::Kind::Scratch && b.bytes <= int64_t{m_.ocm_bytes} * tiles_;
  }

  // What two tiles both make lives in DDR.
  void join_writers(size_t i, uint32_t b, std::vector<size_t>& writers) {
    const size_t from = writers.size() - std::min(writers.size(), kMostJoined);
    for (size_t k = from; may_stay(p_.buffers[b]) && k < writers.size(); ++k) {
      of_[i].push_back(edges_.size());
      of_[writers[k]].push_back(edges_.size());
      edges_.push_back({writers[k], i, b, true});
    }
    writers.push_back(i);
  }

  // Two ways through DDR where tiles write each other's parts, or a tile's parts lie too far apart for one
  // window.
  double collision_cycles(const Edge& e, size_t from, size_t to) const {
    const Option &a = options_[e.from][from], &b = options_[e.to][to];
    // By itself it sends the buffer to DDR: the others change nothing.
    if (std::ranges::count(a.collides, e.buffer) + std::ranges::count(b.collides, e.buffer) > 0) return 0;
    // Parts cut alike lie apart because the parts do; another cut may bring them together, at a price.
    const bool alike = a.cut.rows == b.cut.rows && a.cut.channels == b.cut.channels;
    const bool far =
        (price_.compact || !alike) && far_apart(a.touched, b.touched, e.buffer, m_.ocm_bytes / 2);
    return far || collide(a.touched, b.touched, e.buffer) ? through_ddr_[e.buffer] : 0;
  }

  double edge_cycles(const Edge& e, size_t from, size_t to) const {
    return e.both_write ? collision_cycles(e, from, to) : send_cycles(e, from, to);
  }

  double send_cycles(const Edge& e, size_t from, size_t to) const {
    const Option &a = options_[e.from][from], &b = options_[e.to][to];
    double most_in = 0;
    std::array<double, isa::kMaxTiles> out{};
    for (uint32_t q = 0; q < tiles_; ++q) {
      Rect need;
      for (const Touch& t : b.touched[q])
        if (t.buffer == e.buffer && !t.write) need = hull(need, t.rect);
      if (need.empty()) continue;
      double in = 0;
      for (uint32_t p = 0; p < tiles_; ++p) {
        if (p == q) continue;
        for (const Touch& t : a.touched[p]) {
          if (t.buffer != e.buffer || !t.write) continue;
          auto bytes = static_cast<double>(meet(t.rect, need).bytes());
          in += bytes;
          out[p] = std::max(out[p], bytes);
        }
      }
      most_in = std::max(most_in, in);
    }
    double most = std::max(most_in, *std::ranges::max_element(out));
    return most > 0 ? price_.send + kExposed * most / m_.tile_link_bytes : 0;
  }

  // Exact where every primitive has one producer: the cheapest way for what follows, from the end on.
  void tree() {
    size_t n = options_.size();
    std::vector<std::vector<double>> cost(n);
    std::vector<std::vector<std::vector<size_t>>> follow(n);  // by primitive, parent's option: own option
    for (size_t i = 0; i < n; ++i)
      for (const Option& o : options_[i]) cost[i].push_back(o.cycles);
    std::vector<std::vector<size_t>> best(n);
    for (size_t i = n; i-- > 0;) {
      if (parent_[i] == SIZE_MAX) continue;
      const Edge& e = edges_[parent_[i]];
      for (size_t up = 0; up < options_[e.from].size(); ++up) {
        size_t at = 0;
        double least = 0;
        for (size_t o = 0; o < options_[i].size(); ++o) {
          double c = cost[i][o] + send_cycles(e, up, o);
          if (o == 0 || c < least) {
            least = c;
            at = o;
          }
        }
        best[i].push_back(at);
        cost[e.from][up] += least;
      }
    }
    chosen_.assign(n, 0);
    for (size_t i = 0; i < n; ++i) {
      if (parent_[i] == SIZE_MAX) {
        chosen_[i] = static_cast<size_t>(std::ranges::min_element(cost[i]) - cost[i].begin());
      } else {
        chosen_[i] = best[i][chosen_[edges_[parent_[i]].from]];
      }
    }
  }

  // One by one, all edges counted.
  bool improve() {
    bool changed = false;
    for (size_t i = 0; i < options_.size(); ++i) {
      size_t at = chosen_[i];
      double least = 0;
      for (size_t k = 0; k <= options_[i].size(); ++k) {
        size_t o = k == 0 ? chosen_[i] : k - 1;  // the present one first: it stays at equal cost
        double c = options_[i][o].cycles;
        for (size_t e : of_[i])
          c += edge_cycles(edges_[e], edges_[e].from == i ? o : chosen_[edges_[e].from],
                           edges_[e].to == i ? o : chosen_[edges_[e].to]);
        if (k == 0 || c < least) {
          least = c;
          at = o;
        }
      }
      changed = changed || at != chosen_[i];
      chosen_[i] = at;
    }
    return changed;
  }

  // What makes parts of one buffer, cut alike: one by one they would collide with the others at first.
  bool improve_writers() {
    constexpr size_t kFew = 3;
    bool changed = false;
    for (const std::vector<size_t>& writers : writers_) {
      if (writers.size() < kFew) continue;
      const std::vector<size_t> before = chosen_;
      std::vector<size_t> best = chosen_;
      double least = cycles_of(writers);
      for (const Option& model : options_[writers[0]]) {
        chosen_ = before;
        for (size_t i : writers) choose_like(i, model.cut);
        const double c = cycles_of(writers);
        if (c >= least) continue;
        least = c;
        best = chosen_;
      }
      changed = changed || best != before;
      chosen_ = std::move(best);
    }
    return changed;
  }

  // As many rows and channels, where the primitive can be cut so.
  void choose_like(size_t i, const Cut& cut) {
    for (size_t o = options_[i].size(); o-- > 0;) {
      const Cut& c = options_[i][o].cut;
      if (c.rows == cut.rows && c.channels == cut.channels && c.sparse == cut.sparse) chosen_[i] = o;
    }
  }

  // Of these primitives and of what they exchange with all others.
  double cycles_of(const std::vector<size_t>& primitives) const {
    double cycles = 0;
    std::vector<size_t> edges;
    for (size_t i : primitives) {
      cycles += options_[i][chosen_[i]].cycles;
      edges.insert(edges.end(), of_[i].begin(), of_[i].end());
    }
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    for (size_t e : edges) cycles += edge_cycles(edges_[e], chosen_[edges_[e].from], chosen_[edges_[e].to]);
    return cycles;
  }

  const Program& p_;
  const target::Machine& m_;
  uint32_t tiles_;
  Prices price_;
  std::vector<std::vector<Option>> options_;
  std::vector<Edge> edges_;
  std::vector<std::vector<size_t>> of_;  // edges of each primitive
  std::vector<size_t> parent_;           // edge to the maker of its first operand
  static constexpr size_t kMostJoined =
      32;  // writers of a buffer before another one that are compared with it
  std::vector<std::vector<size_t>> writers_;  // of each buffer that should stay on chip
  std::vector<double> through_ddr_;           // by buffer: cycles of two ways through DDR, a colliding pair
  std::vector<size_t> chosen_;
};

}  // namespace

double work_cycles(const Primitive& primitive, const Cut& cut, const target::Machine& m) {
  if (const auto* g = std::get_if<PeGroup>(&primitive)) return pe_cycles(*g, cut, m);
  const auto& op = std::get<WindowOp>(primitive);
  WindowGeometry g(op);
  double cycles = window_cycles(op, g, tile_rows(op, cut, 0).size(), op.out_w, tile_units(g, cut, 0).size(),
                                g.all_channels, m);
  return cycles + static_cast<double>(op.epilogue.table_bytes()) / m.ocm_read_bytes;
}

std::vector<Cut> choose_cuts(const Program& program, const target::Machine& machine, uint32_t tiles,
                             const Prices& price) {
  return CutSearch(program, machine, tiles, price).run();
}

double room_matters(const Program& program, const target::Machine& m, uint32_t tiles) {
  double work = 0;
  for (const Primitive& p : program.primitives) work += work_cycles(p, possible_cuts(p, tiles)[0], m);
  double weights = static_cast<double>(program.buffers[kWeights].bytes),
         room = static_cast<double>(m.ocm_bytes) * tiles;
  double short_of = std::clamp((weights - room / 4) / room, 0.0, 1.0);
  return short_of * std::clamp(weights / m.ddr_rate() / std::max(work, 1.0), 0.0, 1.0);
}

}  // namespace mrvlc::accel
