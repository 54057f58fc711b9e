// Runs of window operations found, and each made into a cascade of stripes.
#include "plan/stripe.h"

#include <algorithm>
#include <map>

#include "plan/pe_plan.h"
#include "plan/row_use.h"

namespace mrvlc::accel {
namespace {

class Striper {
 public:
  explicit Striper(const Program& program) : p_(program), users_(program.buffers.size()) {
    for (size_t i = 0; i < p_.primitives.size(); ++i) note(i);
  }

  // Live ranges of large tensors in DDR, joined where one operation ends one and begins the next.
  std::vector<Run> find(const std::vector<Residence>& residences, int64_t large) const {
    std::vector<Run> out;
    for (size_t i = 0; i < p_.primitives.size(); ++i) {
      if (!uses_[i]) continue;
      for (const RowAccess& a : uses_[i]->accesses) {
        const Buffer& b = p_.buffers[a.buffer];
        const Users& u = users_[a.buffer];
        const bool passed_on = a.writes && b.kind == Buffer::Kind::Scratch && !residences[a.buffer].on_chip &&
                               b.bytes > large && u.all.front() == i && u.all.size() > 1 &&
                               one_image(a.buffer);
        if (!passed_on || !all_by_rows({i, u.all.back()})) continue;
        if (!out.empty() && out.back().last >= i) {
          out.back().last = std::max(out.back().last, u.all.back());
        } else {
          out.push_back({i, u.all.back()});
        }
        take_other_makers(out.back());
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
    std::vector<size_t> all;          // primitives
    std::vector<RowAccess> accesses;  // theirs
    bool plain = true;                // as rows of an image alone
    bool read_first = false;
  };

  void note(size_t i) {
    const auto use = [&](uint32_t b) -> Users& {
      Users& u = users_[b];
      if (u.all.empty() || u.all.back() != i) u.all.push_back(i);
      return u;
    };
    uses_.push_back(row_use(p_.primitives[i], p_.buffers));
    if (!uses_.back()) return note_otherwise(p_.primitives[i], use);
    for (const RowAccess& a : uses_.back()->accesses) {
      Users& u = use(a.buffer);
      u.read_first = u.read_first || (u.accesses.empty() && !a.writes);
      u.accesses.push_back(a);
    }
    for (uint32_t b : uses_.back()->whole) use(b).plain = false;
  }

  static void note_otherwise(const Primitive& primitive, const auto& use) {
    if (const auto* g = std::get_if<PeGroup>(&primitive)) {
      for (const PeStage& s : g->stages)
        for (const PeOperand* o : {&s.a, &s.b, &s.dst})
          if (o->kind == PeOperand::Kind::External) use(o->view.buffer).plain = false;
      return;
    }
    const auto& op = std::get<WindowOp>(primitive);
    for (const WindowOp::Image* image : {&op.x, &op.out, &op.residual, &op.w})
      if (image->buffer != kWeights) use(image->buffer).plain = false;
  }

  // What one operation of the run makes a part of, the halves of a pair for one, further ones complete.
  void take_other_makers(Run& r) const {
    for (size_t i = r.first; i <= r.last; ++i) {
      for (const RowAccess& a : uses_[i]->accesses) {
        if (!a.writes) continue;
        const size_t last = last_maker(a.buffer);
        if (last > r.last && all_by_rows({r.last, last})) r.last = last;
      }
    }
  }
  size_t last_maker(uint32_t b) const {
    size_t last = 0;
    for (size_t i : users_[b].all) {
      if (!uses_[i]) continue;
      for (const RowAccess& a : uses_[i]->accesses)
        if (a.buffer == b && a.writes) last = i;
    }
    return last;
  }

  bool all_by_rows(const Run& r) const {
    for (size_t i = r.first; i <= r.last; ++i)
      if (!uses_[i]) return false;
    return true;
  }

  // Made by operations of the run and read by others of it alone.
  bool internal(uint32_t b, const Run& r) const {
    const Users& u = users_[b];
    return p_.buffers[b].kind == Buffer::Kind::Scratch && u.all.front() >= r.first &&
           u.all.back() <= r.last && one_image(b);
  }

  // Whether all users see the buffer as the same rows of the same image, all of it, and the first one makes
  // some.
  bool one_image(uint32_t b) const {
    const Users& u = users_[b];
    if (!u.plain || u.accesses.empty() || u.read_first) return false;
    const RowAccess& first = u.accesses.front();
    const bool all =
        first.row * first.element_bytes * first.rows == p_.buffers[b].rows * p_.buffers[b].pitch &&
        p_.buffers[b].rows % first.rows == 0;
    return all && std::ranges::all_of(u.accesses, [&](const RowAccess& a) { return a.same_image(first); });
  }

  // Rows of the results of each operation of the run in one stripe.
  std::vector<Span> rows_of(const Run& r, int64_t stripe, int64_t stripes) const {
    std::vector<Span> rows(r.last - r.first + 1);
    std::map<uint32_t, Span> needed;
    for (size_t i = r.last + 1; i-- > r.first;) {
      Span& mine = rows[i - r.first];
      for (const RowAccess& a : uses_[i]->accesses) {
        if (!a.writes) continue;
        if (!internal(a.buffer, r)) {
          mine = hull(mine, part_of(a.rows, stripes, stripe, 1));
        } else if (const auto it = needed.find(a.buffer); it != needed.end()) {
          mine = hull(mine, it->second);
        }
      }
      if (mine.empty()) continue;
      for (const RowAccess& a : uses_[i]->accesses) {
        if (a.writes) continue;
        Span& all = needed[a.buffer];
        all = hull(all, rows_read(p_.primitives[i], *uses_[i], a.buffer, mine));
      }
    }
    return rows;
  }

  static Span hull(Span a, Span b) {
    if (a.empty()) return b;
    return b.empty() ? a : Span{std::min(a.begin, b.begin), std::max(a.end, b.end)};
  }

  // What leaves the run is read within it by the same rows alone, by what makes a part of it: others would
  // read rows of the next stripe, for their windows or those of their readers.
  bool possible(const Run& r, int64_t stripes) const {
    if (!all_by_rows(r)) return false;
    for (size_t i = r.first; i <= r.last; ++i) {
      size_t inside = 0, outside = 0;
      bool reads_leaving = false;
      for (const RowAccess& a : uses_[i]->accesses) {
        if (a.writes) ++(internal(a.buffer, r) ? inside : outside);
        reads_leaving = reads_leaving || (!a.writes && leaves(a.buffer, r));
      }
      if (uses_[i]->rows < 2 * stripes || outside > 1 || (inside > 0 && outside > 0)) return false;
      if (reads_leaving && (inside > 0 || std::holds_alternative<WindowOp>(p_.primitives[i]))) return false;
      for (uint32_t b : uses_[i]->whole)
        if (users_[b].all.front() >= r.first && users_[b].all.front() <= r.last) return false;
    }
    return true;
  }
  // Some of it is made in the run, and what becomes of it there is not all.
  bool leaves(uint32_t b, const Run& r) const {
    return !internal(b, r) &&
           std::ranges::any_of(users_[b].accesses, [](const RowAccess& a) { return a.writes; }) &&
           users_[b].all.front() <= r.last && last_maker(b) >= r.first;
  }

  bool cascade(const Run& r, int64_t stripes, Program& out) const {
    if (!possible(r, stripes)) return false;
    for (int64_t s = 0; s < stripes; ++s) {
      const std::vector<Span> rows = rows_of(r, s, stripes);
      std::map<uint32_t, Part> parts;
      for (size_t i = r.first; i <= r.last; ++i)
        for (const RowAccess& a : uses_[i]->accesses)
          if (a.writes && internal(a.buffer, r)) {
            Part& part = parts[a.buffer];
            part.rows = hull(part.rows, rows[i - r.first]);
          }
      for (auto& [buffer, part] : parts)
        if (!part.rows.empty()) part.buffer = stripe_buffer(buffer, part.rows, out);
      for (size_t i = r.first; i <= r.last; ++i)
        if (!rows[i - r.first].empty()) out.primitives.push_back(stripe_of(i, rows[i - r.first], parts, out));
    }
    return true;
  }

  // Of a buffer what a stripe needs.
  struct Part {
    Span rows;
    uint32_t buffer = 0;
  };

  Primitive stripe_of(size_t i, Span rows, const std::map<uint32_t, Part>& parts, const Program& out) const {
    Primitive primitive = p_.primitives[i];
    keep_rows(primitive, *uses_[i], rows);
    for (const RowAccess& a : uses_[i]->accesses)
      if (const auto part = parts.find(a.buffer); part != parts.end())
        move_rows(primitive, a, part->second.buffer, part->second.rows.begin);
    if (auto* g = std::get_if<PeGroup>(&primitive)) simplify(*g, out.buffers);
    return primitive;
  }

  uint32_t stripe_buffer(uint32_t buffer, Span rows, Program& out) const {
    Buffer b = p_.buffers[buffer];
    const int64_t each = b.rows / users_[buffer].accesses.front().rows;
    b.part_of = buffer;
    b.first_row = rows.begin * each;
    b.rows = rows.size() * each;
    b.bytes = b.rows * b.pitch;
    out.buffers.push_back(b);
    return static_cast<uint32_t>(out.buffers.size() - 1);
  }

  const Program& p_;
  std::vector<std::optional<RowUse>> uses_;  // by primitive
  std::vector<Users> users_;                 // by buffer
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
