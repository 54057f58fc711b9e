// Runs of window operations found, and each made into a cascade of stripes.
#include "plan/stripe.h"

#include <algorithm>
#include <functional>
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

  // Grids whose parts of the run's largest tensor are worth a try.
  std::vector<Grid> grids_for(const Run& r, int64_t tile_bytes, int64_t tiles) const {
    std::vector<Grid> out;
    if (!all_by_rows(r)) return out;
    for (const int64_t n : {2, 3, 4, 6, 8, 12}) out.push_back({n, 1});
    int64_t most = 0, rows = 1, cols = 1;
    for (size_t i = r.first; i <= r.last; ++i)
      for (const RowAccess& a : uses_[i]->accesses) {
        const int64_t bytes = p_.buffers[a.buffer].bytes;
        if (!a.writes || !internal(a.buffer, r) || bytes <= most) continue;
        most = bytes;
        rows = a.rows;
        cols = a.cols;
      }
    // A part shall fit the tiles beside others and be worth their while.
    const auto fits = [&](const Grid& g) {
      const int64_t part = most / (g.rows * g.cols * tiles);
      return part <= tile_bytes * 3 / 4 && part >= tile_bytes / 32;
    };
    const auto add = [&](const Grid& g) {
      if (fits(g)) out.push_back(g);
    };
    // Those first whose parts fit beside what else lives.
    const auto comfortable = [&](const Grid& g) { return 2 * most <= g.rows * g.cols * tiles * tile_bytes; };
    std::ranges::stable_partition(out, comfortable);
    const bool large = most > 4 * tile_bytes * tiles;
    if (large) std::erase_if(out, std::not_fn(fits));
    for (const int64_t n : {16, 24, 32, 48, 64})
      if (large) add({n, 1});
    if ((!large && cols < 2 * rows) || !all_by_columns(r)) return out;
    for (const int64_t n : {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) add({1, n});
    for (const int64_t n : {2, 4, 8})
      for (const int64_t m : {4, 8, 16}) add({n, m});
    return out;
  }

  std::optional<Program> run(const std::vector<Run>& runs, const std::vector<Grid>& grids) const {
    Program out;
    out.buffers = p_.buffers;
    size_t next = 0;
    for (size_t k = 0; k < runs.size(); ++k) {
      if (grids[k].whole()) continue;
      for (; next < runs[k].first; ++next) out.primitives.push_back(p_.primitives[next]);
      if (!cascade(runs[k], grids[k], out)) return std::nullopt;
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

  static constexpr Span kWholeRows = {0, 1};  // the columns of a stripe that does not part them
  // What of the results of each operation of the run one stripe of the grid makes.
  std::vector<Tile> tiles_of(const Run& r, const Grid& grid, int64_t row, int64_t col) const {
    std::vector<Tile> tiles(r.last - r.first + 1);
    std::map<uint32_t, Tile> needed;
    for (size_t i = r.last + 1; i-- > r.first;) {
      Tile& mine = tiles[i - r.first];
      for (const RowAccess& a : uses_[i]->accesses) {
        if (!a.writes) continue;
        if (!internal(a.buffer, r)) {
          const Span cols = grid.cols > 1 ? part_of(a.cols, grid.cols, col, 1) : kWholeRows;
          mine = hull(mine, {part_of(a.rows, grid.rows, row, 1), cols});
        } else if (const auto it = needed.find(a.buffer); it != needed.end()) {
          mine = hull(mine, it->second);
        }
      }
      mine.rows = rows_made(p_.primitives[i], *uses_[i], mine.rows);
      if (mine.empty()) continue;
      for (const RowAccess& a : uses_[i]->accesses) {
        if (a.writes) continue;
        Tile& all = needed[a.buffer];
        Tile read = part_read(p_.primitives[i], *uses_[i], a.buffer, mine);
        if (grid.cols == 1) read.cols = kWholeRows;
        all = hull(all, read);
      }
    }
    return tiles;
  }

  // What leaves the run is read within it by the same rows alone, by what makes a part of it: others would
  // read rows of the next stripe, for their windows or those of their readers.
  bool possible(const Run& r, const Grid& grid) const {
    if (!all_by_rows(r) || (grid.cols > 1 && !all_by_columns(r))) return false;
    for (size_t i = r.first; i <= r.last; ++i) {
      size_t inside = 0, outside = 0;
      bool reads_leaving = false;
      for (const RowAccess& a : uses_[i]->accesses) {
        if (a.writes) ++(internal(a.buffer, r) ? inside : outside);
        reads_leaving = reads_leaving || (!a.writes && leaves(a.buffer, r));
      }
      const bool few =
          uses_[i]->rows < 2 * grid.rows || (grid.cols > 1 && columns_of(*uses_[i]) < 2 * grid.cols);
      if (few || outside > 1 || (inside > 0 && outside > 0)) return false;
      const bool other_rows = uses_[i]->mapped || std::holds_alternative<WindowOp>(p_.primitives[i]);
      if (reads_leaving && (inside > 0 || other_rows)) return false;
      // Of what the run makes a stripe has some rows alone, even if others were made before it.
      for (uint32_t b : uses_[i]->whole)
        if (internal(b, r) || leaves(b, r)) return false;
    }
    return true;
  }
  // What stays in the run is pixel behind pixel: a part of its columns is an image as well.
  bool all_by_columns(const Run& r) const {
    for (size_t i = r.first; i <= r.last; ++i) {
      if (!uses_[i]->by_columns) return false;
      for (const RowAccess& a : uses_[i]->accesses) {
        const Buffer& b = p_.buffers[a.buffer];
        const bool dense = a.col * a.element_bytes == b.pitch && a.cols == b.grain && a.row == a.col * a.cols;
        if (internal(a.buffer, r) && !dense) return false;
      }
    }
    return true;
  }
  // Some of it is made in the run, and what becomes of it there is not all.
  bool leaves(uint32_t b, const Run& r) const {
    return !internal(b, r) &&
           std::ranges::any_of(users_[b].accesses, [](const RowAccess& a) { return a.writes; }) &&
           users_[b].all.front() <= r.last && last_maker(b) >= r.first;
  }

  bool cascade(const Run& r, const Grid& grid, Program& out) const {
    if (!possible(r, grid)) return false;
    for (int64_t row = 0; row < grid.rows; ++row)
      for (int64_t col = 0; col < grid.cols; ++col) add_stripe(r, grid, tiles_of(r, grid, row, col), out);
    return true;
  }

  void add_stripe(const Run& r, const Grid& grid, const std::vector<Tile>& tiles, Program& out) const {
    std::map<uint32_t, Part> parts;
    for (size_t i = r.first; i <= r.last; ++i)
      for (const RowAccess& a : uses_[i]->accesses)
        if (a.writes && internal(a.buffer, r)) {
          Part& part = parts[a.buffer];
          part.tile = hull(part.tile, tiles[i - r.first]);
        }
    for (auto& [buffer, part] : parts)
      if (!part.tile.empty()) part.buffer = stripe_buffer(buffer, part.tile, grid, out);
    for (size_t i = r.first; i <= r.last; ++i)
      if (!tiles[i - r.first].empty())
        out.primitives.push_back(stripe_of(i, tiles[i - r.first], grid, parts, out));
  }

  // Of a buffer what a stripe needs.
  struct Part {
    Tile tile;
    uint32_t buffer = 0;
  };

  Primitive stripe_of(size_t i, const Tile& tile, const Grid& grid, const std::map<uint32_t, Part>& parts,
                      const Program& out) const {
    Primitive primitive = p_.primitives[i];
    RowUse use = *uses_[i];
    if (grid.cols > 1) {
      split_columns(primitive, use);
    } else {
      use.by_columns = false;
      for (RowAccess& a : use.accesses) a.cols = 0;
    }
    for (const RowAccess& a : use.accesses)
      if (const auto part = parts.find(a.buffer); part != parts.end())
        move_image(primitive, a, part->second.buffer, part->second.tile);
    keep_part(primitive, use, tile);
    if (auto* g = std::get_if<PeGroup>(&primitive)) simplify(*g, out.buffers);
    return primitive;
  }

  uint32_t stripe_buffer(uint32_t buffer, const Tile& tile, const Grid& grid, Program& out) const {
    Buffer b = p_.buffers[buffer];
    const int64_t each = grid.cols > 1 ? tile.cols.size() : b.rows / users_[buffer].accesses.front().rows;
    if (grid.cols > 1) {
      // Of a part of the columns no row is whole.
      b.part_of = UINT32_MAX;
      b.grain = each;
    } else {
      // The buffer may itself be some images of another one.
      if (b.part_of == UINT32_MAX) b.part_of = buffer;
      b.first_row += tile.rows.begin * each;
    }
    b.rows = tile.rows.size() * each;
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

std::vector<Grid> grids_for(const Program& program, const Run& run, const target::Machine& machine,
                            uint32_t tiles) {
  return Striper(program).grids_for(run, machine.ocm_bytes, tiles);
}

std::optional<Program> in_stripes(const Program& program, const std::vector<Run>& runs,
                                  const std::vector<Grid>& grids) {
  return Striper(program).run(runs, grids);
}

}  // namespace mrvlc::accel
