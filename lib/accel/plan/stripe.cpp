// Runs of window operations found, and each made into a cascade of stripes.
#include "plan/stripe.h"

#include <algorithm>
#include <map>

#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

int64_t image_rows(const WindowOp& op) {
  return op.out_h / op.grain;
}

class Striper {
 public:
  explicit Striper(const Program& program) : p_(program), users_(program.buffers.size()) {
    for (size_t i = 0; i < p_.primitives.size(); ++i) note(i);
  }

  // Live ranges of large tensors in DDR, joined where one operation ends one and begins the next.
  std::vector<Run> find(const std::vector<Residence>& residences, int64_t large) const {
    std::vector<Run> out;
    for (size_t i = 0; i < p_.primitives.size(); ++i) {
      const WindowOp* op = candidate(i);
      if (op == nullptr) continue;
      const Buffer& b = p_.buffers[op->out.buffer];
      const Users& u = users_[op->out.buffer];
      bool passed_on = b.kind == Buffer::Kind::Scratch && !residences[op->out.buffer].on_chip &&
                       b.bytes > large && u.plain && u.writers == 1 && u.all.front() == i &&
                       u.all.size() > 1 && one_image(op->out.buffer);
      if (!passed_on || !all_candidates({i, u.all.back()})) continue;
      if (!out.empty() && out.back().last >= i) {
        out.back().last = std::max(out.back().last, u.all.back());
      } else {
        out.push_back({i, u.all.back()});
      }
    }
    return out;
  }

  std::optional<Program> run(const std::vector<Run>& runs, const std::vector<int64_t>& stripes) const {
    Program out;
    out.buffers = p_.buffers;
    size_t next = 0;
    for (size_t k = 0; k < runs.size(); ++k) {
      if (stripes[k] <= 1) continue;
      for (; next < runs[k].first; ++next) out.primitives.push_back(p_.primitives[next]);
      if (!cascade(runs[k], stripes[k], out)) return std::nullopt;
      next = runs[k].last + 1;
    }
    for (; next < p_.primitives.size(); ++next) out.primitives.push_back(p_.primitives[next]);
    return out;
  }

 private:
  struct Users {
    std::vector<size_t> all;  // primitives
    size_t writers = 0;
    bool plain = true;  // only window operations, as image or residual
  };

  void note(size_t i) {
    auto use = [&](uint32_t b, bool plain, bool writes) {
      Users& u = users_[b];
      if (u.all.empty() || u.all.back() != i) u.all.push_back(i);
      u.plain = u.plain && plain;
      u.writers += writes ? 1 : 0;
    };
    if (const auto* g = std::get_if<PeGroup>(&p_.primitives[i])) {
      for (const PeStage& s : g->stages)
        for (const PeOperand* o : {&s.a, &s.b, &s.dst})
          if (o->kind == PeOperand::Kind::External) use(o->view.buffer, false, o == &s.dst);
      return;
    }
    const auto& op = std::get<WindowOp>(p_.primitives[i]);
    use(op.x.buffer, true, false);
    use(op.out.buffer, true, true);
    if (op.has_residual) use(op.residual.buffer, true, false);
    if (op.dynamic_weights) use(op.w.buffer, false, false);
  }

  const WindowOp* candidate(size_t i) const {
    const auto* op = std::get_if<WindowOp>(&p_.primitives[i]);
    bool fits = op != nullptr && !op->dynamic_weights && op->phases.size() == 1 && op->batch() == 1 &&
                op->lattice_h == 1 && op->lattice_w == 1;
    return fits ? op : nullptr;
  }

  bool all_candidates(const Run& r) const {
    for (size_t i = r.first; i <= r.last; ++i)
      if (candidate(i) == nullptr) return false;
    return true;
  }

  // Made by one operation of the run and read by others of it alone.
  bool internal(uint32_t b, const Run& r) const {
    const Users& u = users_[b];
    return p_.buffers[b].kind == Buffer::Kind::Scratch && u.plain && u.writers == 1 &&
           u.all.front() >= r.first && u.all.back() <= r.last && one_image(b);
  }

  // Whether all users see the buffer as the same rows of the same image.
  bool one_image(uint32_t b) const {
    const Users& u = users_[b];
    const auto& made = std::get<WindowOp>(p_.primitives[u.all.front()]);
    auto same = [&](const WindowOp::Image& i, int64_t grain, int64_t rows) {
      return i.buffer != b || (i.offsets == made.out.offsets && rows == image_rows(made) &&
                               i.stride_h * grain == made.out.stride_h * made.grain);
    };
    return made.out.buffer == b &&
           made.out.offsets[0] % (p_.buffers[b].pitch / made.out.element_bytes()) == 0 &&
           std::ranges::all_of(u.all, [&](size_t i) {
             const auto& op = std::get<WindowOp>(p_.primitives[i]);
             return same(op.x, op.grain, op.in_h / op.grain) &&
                    (!op.has_residual || same(op.residual, op.grain, image_rows(op)));
           });
  }

  // Output rows of each operation of the run in one stripe.
  std::vector<Span> rows_of(const Run& r, int64_t stripe, int64_t stripes) const {
    std::vector<Span> rows(r.last - r.first + 1);
    std::map<uint32_t, Span> needed;
    for (size_t i = r.last + 1; i-- > r.first;) {
      const auto& op = std::get<WindowOp>(p_.primitives[i]);
      Span& mine = rows[i - r.first];
      if (internal(op.out.buffer, r)) {
        auto it = needed.find(op.out.buffer);
        mine = it == needed.end() ? Span{} : it->second;
      } else {
        mine = part_of(image_rows(op), stripes, stripe, 1);
      }
      if (mine.empty()) continue;
      Span own{mine.begin * op.grain, mine.end * op.grain}, read = input_range(op, own, true);
      widen(needed, op.x.buffer, {read.begin / op.grain, ceil_div(read.end, op.grain)});
      if (op.has_residual) widen(needed, op.residual.buffer, mine);
    }
    return rows;
  }

  static void widen(std::map<uint32_t, Span>& needed, uint32_t b, Span rows) {
    auto [it, fresh] = needed.try_emplace(b, rows);
    if (fresh) return;
    it->second = {std::min(it->second.begin, rows.begin), std::max(it->second.end, rows.end)};
  }

  // What leaves the run while it is also read within it has rows that two stripes would make.
  bool possible(const Run& r, int64_t stripes) const {
    for (size_t i = r.first; i <= r.last; ++i) {
      const auto& op = std::get<WindowOp>(p_.primitives[i]);
      const Users& u = users_[op.out.buffer];
      bool read_within = u.all.size() > 1 && u.all[1] <= r.last;
      if (image_rows(op) < 2 * stripes || u.writers != 1 || (!internal(op.out.buffer, r) && read_within))
        return false;
    }
    return true;
  }

  bool cascade(const Run& r, int64_t stripes, Program& out) const {
    if (!possible(r, stripes)) return false;
    for (int64_t s = 0; s < stripes; ++s) {
      std::vector<Span> rows = rows_of(r, s, stripes);
      std::map<uint32_t, std::pair<uint32_t, int64_t>>
          moved;  // buffer: that of the stripe, elements left out before it
      for (size_t i = r.first; i <= r.last; ++i) {
        Span mine = rows[i - r.first];
        if (mine.empty()) continue;
        WindowOp op = std::get<WindowOp>(p_.primitives[i]);
        if (internal(op.out.buffer, r)) moved[op.out.buffer] = stripe_buffer(op, mine, out);
        restrict(op, mine);
        for (WindowOp::Image* image : {&op.x, &op.out, &op.residual}) {
          auto it = moved.find(image->buffer);
          if (it == moved.end() || (image == &op.residual && !op.has_residual)) continue;
          image->buffer = it->second.first;
          for (int64_t& offset : image->offsets) offset -= it->second.second;
        }
        out.primitives.emplace_back(std::move(op));
      }
    }
    return true;
  }

  std::pair<uint32_t, int64_t> stripe_buffer(const WindowOp& op, Span rows, Program& out) const {
    Buffer b = p_.buffers[op.out.buffer];
    int64_t row_elements = op.out.stride_h * op.grain, per_row = b.rows / image_rows(op);
    b.rows = rows.size() * per_row;
    b.bytes = b.rows * b.pitch;
    out.buffers.push_back(b);
    return {static_cast<uint32_t>(out.buffers.size() - 1), rows.begin * row_elements};
  }

  static void restrict(WindowOp& op, Span rows) {
    int64_t first = rows.begin * op.grain;
    op.out_h = rows.size() * op.grain;
    op.phases[0].y0 += first * op.stride_h;
    op.out.offsets[0] += first * op.out.stride_h;
    if (op.has_residual) op.residual.offsets[0] += first * op.residual.stride_h;
  }

  const Program& p_;
  std::vector<Users> users_;
};

}  // namespace

std::vector<Run> find_runs(const Program& program, const std::vector<Residence>& residences,
                           const target::Machine& machine, uint32_t tiles) {
  return Striper(program).find(residences, int64_t{machine.ocm_bytes} * tiles / 4);
}

std::optional<Program> in_stripes(const Program& program, const std::vector<Run>& runs,
                                  const std::vector<int64_t>& stripes) {
  return Striper(program).run(runs, stripes);
}

}  // namespace mrvlc::accel
