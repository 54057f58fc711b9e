// Windows of tensors in each tile, and which tensors give way to DDR where memory is short.
#include "plan/residency.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "mrvlc/support/checked.h"
#include "plan/room.h"
#include "primitive/transfer.h"

namespace mrvlc::accel {
namespace {

Streams streams_of(const WindowOp& op, const std::vector<Residence>& residences) {
  Streams s;
  s.x = !residences[op.x.buffer].on_chip;
  s.out = !residences[op.out.buffer].on_chip;
  s.residual = op.has_residual && !residences[op.residual.buffer].on_chip;
  s.w = op.dynamic_weights && !residences[op.w.buffer].on_chip;
  return s;
}

class Chooser {
 public:
  Chooser(const Program& program, const std::vector<Cut>& cuts, const target::Machine& m, uint32_t tiles,
          const std::vector<bool>& spilled)
      : p_(program),
        cuts_(cuts),
        m_(m),
        tiles_(tiles),
        residences_(program.buffers.size()),
        writers_(residences_.size()) {
    for (size_t b = 0; b < residences_.size(); ++b) {
      Residence& h = residences_[b];
      h.pitch = h.local = p_.buffers[b].pitch;
      h.window.resize(tiles);
      h.need.resize(tiles);
      h.first = SIZE_MAX;
      h.on_chip = b != kWeights && !spilled[b];
      h.made.resize(tiles);
      if (p_.buffers[b].copy_of != UINT32_MAX)
        residences_[p_.buffers[b].copy_of].copies.push_back(static_cast<uint32_t>(b));
    }
  }

  std::vector<Residence> run() {
    for (size_t i = 0; i < p_.primitives.size(); ++i) visit(i);
    for (size_t b = 0; b < residences_.size(); ++b) {
      Residence& h = residences_[b];
      bool apart = separate(b);
      h.on_chip = h.on_chip && h.first != SIZE_MAX && (apart || detailed(b));
      h.collected = apart && writers_[b] > 1;
      shape(h);
      h.on_chip = h.on_chip && h.bytes <= m_.ocm_bytes;
    }
    for (size_t b = 0; b < residences_.size(); ++b) unite(b);
    share();
    settle();
    return std::move(residences_);
  }

 private:
  // All windows of a tensor are on chip, or none.
  void unite(size_t b) {
    Residence& h = residences_[b];
    for (uint32_t c : h.copies) h.on_chip = h.on_chip && residences_[c].on_chip;
    for (uint32_t c : h.copies) residences_[c].on_chip = h.on_chip;
  }

  void visit(size_t i) {
    // What tiles make of it lies between each other's rows.
    const auto* op = std::get_if<WindowOp>(&p_.primitives[i]);
    if (op != nullptr && cuts_[i].sparse) residences_[op->out.buffer].on_chip = false;
    for (uint32_t t = 0; t < tiles_; ++t)
      for (const Touch& touch : touches(p_.primitives[i], cuts_[i], t, p_)) {
        Residence& h = residences_[touch.buffer];
        h.first = std::min(h.first, i);
        h.last = i;
        h.window[t] = hull(h.window[t], touch.rect);
        Rect& r = touch.write ? h.made[t] : h.need[t];
        r = hull(r, touch.rect);
        if (!touch.write) continue;
        writes_.push_back({touch.buffer, t, touch.rect});
        if (writers_[touch.buffer] == 0 || h.last_write != i) ++writers_[touch.buffer];
        h.last_write = i;
        for (uint32_t c : h.copies) {
          residences_[c].first = std::min(residences_[c].first, i);
          residences_[c].last = std::max(residences_[c].last, i);
        }
      }
  }

  // Every tile makes a part of its own.
  bool separate(size_t b) const {
    for (uint32_t t = 0; t < tiles_; ++t)
      for (uint32_t u = t + 1; u < tiles_; ++u)
        if (!meet(residences_[b].made[t], residences_[b].made[u]).empty()) return false;
    return true;
  }

  struct Write {
    uint32_t buffer, tile;
    Rect rect;
  };
  // The same, write by write, for buffers with few of them: parts of a concatenation may be cut differently.
  bool detailed(size_t b) {
    constexpr int kMostCompared = 200'000;
    if (!sorted_)
      std::ranges::stable_sort(writes_, {}, [](const Write& w) { return std::pair(w.buffer, w.rect.row0); });
    sorted_ = true;
    // equal_range returns a view, which clang 14 cannot compile.
    auto from = std::ranges::lower_bound(writes_, static_cast<uint32_t>(b), {}, &Write::buffer);
    auto to = std::ranges::upper_bound(writes_, static_cast<uint32_t>(b), {}, &Write::buffer);
    int compared = 0;
    for (auto x = from; x != to; ++x)
      for (auto y = x + 1; y != to && y->rect.row0 < x->rect.row1; ++y)
        if (++compared > kMostCompared || (x->tile != y->tile && !meet(x->rect, y->rect).empty()))
          return false;
    return true;
  }

  // Windows begin at multiples of the alignment of DDR bursts only by accident; rows keep their bytes
  // together. A window narrower than the rows is stored that narrow.
  void shape(Residence& h) const {
    constexpr int64_t kGranule = isa::kHazardGranule;
    int64_t width = 0;
    for (Rect& w : h.window) {
      if (w.empty()) continue;
      w.byte0 = w.byte0 / kGranule * kGranule;
      w.byte1 = std::min(h.pitch, round_up(w.byte1, kGranule));
      width = std::max(width, w.width());
    }
    bool narrow = h.pitch % kGranule == 0 && width < h.pitch;
    h.local = narrow ? width : h.pitch;
    h.bytes = 0;
    for (Rect& w : h.window) {
      if (w.empty()) continue;
      if (!narrow) w.byte0 = 0, w.byte1 = h.pitch;
      // Addresses in different tiles agree modulo a granule, so that what one sends to another does not touch
      // more granules there.
      if (h.local % kGranule != 0) w.row0 = w.row0 / kGranule * kGranule;
      h.bytes = std::max(h.bytes, aligned(w.rows() * h.local, m_));
    }
  }

  // A sum over a residual goes where the residual stood.
  void share() {
    for (size_t i = 0; i < p_.primitives.size(); ++i) {
      const auto* op = std::get_if<WindowOp>(&p_.primitives[i]);
      if (op == nullptr || !op->has_residual || op->out.buffer == op->residual.buffer) continue;
      Residence &out = residences_[op->out.buffer], &residual = residences_[op->residual.buffer];
      bool ends = residual.last == i && out.first == i && op->x.buffer != op->residual.buffer;
      bool same_place = op->out.type == op->residual.type && op->out.offsets == op->residual.offsets &&
                        op->out.stride_h == op->residual.stride_h &&
                        op->out.stride_w == op->residual.stride_w;
      if (!ends || !same_place || !out.on_chip || !residual.on_chip || out.pitch != residual.pitch) continue;
      if (!residual_single_window(residual, out)) continue;
      out.shares = op->residual.buffer;
      residual.heir = op->out.buffer;
    }
  }

  // Gives both the same windows if that costs little.
  bool residual_single_window(Residence& residual, Residence& out) {
    Residence both = residual;
    for (uint32_t t = 0; t < tiles_; ++t) both.window[t] = hull(residual.window[t], out.window[t]);
    shape(both);
    if (residual.shares != UINT32_MAX && both.window != residual.window) return false;
    if (both.bytes > std::max(residual.bytes, out.bytes) * 5 / 4) return false;
    for (Residence* h : {&residual, &out}) {
      h->window = both.window;
      h->local = both.local;
      h->bytes = both.bytes;
    }
    return true;
  }

  // Sends tensors to DDR until the rest fits at every primitive.
  void settle() {
    size_t n = p_.primitives.size();
    std::vector<int64_t> load(n, 0);
    std::vector<std::vector<uint32_t>> starts(n);
    for (uint32_t b = 0; b < residences_.size(); ++b)
      if (residences_[b].on_chip) starts[residences_[b].first].push_back(b);
    std::vector<uint32_t> live;
    for (size_t i = 0; i < n; ++i) {
      std::erase_if(live, [&](uint32_t b) { return residences_[b].last < i || !residences_[b].on_chip; });
      live.insert(live.end(), starts[i].begin(), starts[i].end());
      while (total(live, i) > m_.ocm_bytes) {
        size_t victim = choose(live, i);
        if (victim == live.size()) break;
        spill(live[victim]);
        std::erase_if(live, [&](uint32_t b) { return !residences_[b].on_chip; });
      }
    }
  }

  bool streamed(size_t i) const {
    for (const PeStage& s : std::get<PeGroup>(p_.primitives[i]).stages)
      for (const PeOperand* o : {&s.a, &s.b, &s.dst})
        if (o->kind == PeOperand::Kind::External && !residences_[o->view.buffer].on_chip) return true;
    return false;
  }

  // Bytes a tile needs beside the tensors on chip while it works on a primitive.
  int64_t floor_at(size_t i) {
    const auto* op = std::get_if<WindowOp>(&p_.primitives[i]);
    if (op == nullptr) return room_beside(std::get<PeGroup>(p_.primitives[i]), cuts_[i], streamed(i), m_);
    Streams s = streams_of(*op, residences_);
    if (!s.any()) return room_beside(*op, cuts_[i], s, m_);
    auto key = std::tuple(i, s.x, s.out, s.residual);
    auto [it, fresh] = floors_.try_emplace(key, 0);
    if (fresh) it->second = room_beside(*op, cuts_[i], s, m_);
    return it->second;
  }

  int64_t total(const std::vector<uint32_t>& live, size_t i) {
    int64_t sum = floor_at(i);
    for (uint32_t b : live) {
      const Residence& h = residences_[b];
      bool counted = h.shares != UINT32_MAX && h.first == i && residences_[h.shares].on_chip;
      if (!counted) sum += h.bytes;
    }
    return sum;
  }

  // The tensor whose way through DDR costs least for the room and time it frees.
  size_t choose(const std::vector<uint32_t>& live, size_t i) const {
    size_t best = live.size();
    double least = 0;
    for (size_t k = 0; k < live.size(); ++k) {
      const Residence& h = residences_[live[k]];
      auto traffic = static_cast<double>(p_.buffers[live[k]].bytes);
      if (p_.buffers[live[k]].kind != Buffer::Kind::Scratch) traffic /= 2;  // one way it goes anyhow
      auto freed = static_cast<double>(h.bytes) * static_cast<double>(h.last - h.first + 1);
      bool busy = h.first == i || h.last == i;
      double cost = traffic / freed * (busy ? 4 : 1);
      if (best == live.size() || cost < least) {
        best = k;
        least = cost;
      }
    }
    return best;
  }

  void spill(uint32_t b) {
    const uint32_t base = p_.buffers[b].copy_of != UINT32_MAX ? p_.buffers[b].copy_of : b;
    leave_chip(base);
    for (uint32_t c : residences_[base].copies) leave_chip(c);
  }

  void leave_chip(uint32_t b) {
    residences_[b].on_chip = false;
    Residence& h = residences_[b];
    if (h.shares != UINT32_MAX) residences_[h.shares].heir = UINT32_MAX;
    if (h.heir != UINT32_MAX) residences_[h.heir].shares = UINT32_MAX;
    h.shares = h.heir = UINT32_MAX;
  }

  const Program& p_;
  const std::vector<Cut>& cuts_;
  const target::Machine& m_;
  uint32_t tiles_;
  std::vector<Residence> residences_;
  std::vector<size_t> writers_;  // by buffer: how many primitives
  std::vector<Write> writes_;
  bool sorted_ = false;
  std::map<std::tuple<size_t, bool, bool, bool>, int64_t> floors_;  // primitive and what it streams
};

}  // namespace

std::vector<Residence> choose_residency(const Program& program, const std::vector<Cut>& cuts,
                                        const target::Machine& machine, uint32_t tiles,
                                        const std::vector<bool>& spilled) {
  return Chooser(program, cuts, machine, tiles, spilled).run();
}

}  // namespace mrvlc::accel
