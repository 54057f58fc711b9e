// A placed tile program, step by step: what is due from DDR, then the instructions, each with its waits.
#include "code/emit.h"

#include <algorithm>

#include "code/tracker.h"

namespace mrvlc::accel {
namespace {

class Emission {
 public:
  Emission(TileProgram&& program, uint64_t ddr_end)
      : p_(std::move(program)),
        tracker_(static_cast<uint64_t>(p_.constant_end), ddr_end),
        use_of_(p_.items.size(), SIZE_MAX) {}

  Emitted run() {
    pin();
    std::vector<Due> due = loads();
    size_t next = 0;
    for (size_t s = 0; s < p_.steps.size(); ++s) {
      for (; next < due.size() && due[next].step <= static_cast<int64_t>(s); ++next)
        fetch(due[next].item, due[next].load);
      const auto begin = static_cast<uint32_t>(out_.instructions.size());
      for (size_t c = p_.steps[s].first_code; c < p_.code_end(s); ++c) {
        Code& code = p_.code[c];
        resolve(code.instruction, code.items, p_.items);
        append(std::move(code.instruction), code.owner);
        for (uint32_t item : code.items) note(item);
      }
      span(p_.steps[s].primitive, begin);
    }
    keep_pinned();
    std::ranges::stable_sort(out_.uses, {}, [](const Use& u) { return std::pair(u.use.first, u.use.begin); });
    return std::move(out_);
  }

 private:
  // Weights that stay are loaded by a section of their own, whose instructions nothing in main has to wait
  // for.
  void pin() {
    Tracker tracker(UINT64_MAX);
    for (uint32_t k = 0; k < p_.items.size(); ++k) {
      if (!p_.items[k].pinned) continue;
      for (const Load& l : p_.items[k].loads) {
        isa::Instruction i;
        i.tile = static_cast<uint8_t>(issuer(l.tiles, rotate_++));
        i.queue = isa::Queue::DmaIn;
        for (const isa::Dma& d : load_dmas(l.transfer, static_cast<uint32_t>(p_.items[k].address), l.tiles)) {
          i.body = d;
          reach(i);
          auto before = static_cast<uint32_t>(out_.init.size());
          tracker.append(i, out_.init);
          cover(out_.init_ranges, backend::Section::Init, before, out_.init.size(), p_.items[k].owner);
        }
      }
    }
  }

  static void cover(std::vector<backend::CodeRange>& ranges, backend::Section section, uint32_t before,
                    size_t end, const Owner& owner) {
    auto after = static_cast<uint32_t>(end);
    if (!ranges.empty() && ranges.back().layer == owner.layer && ranges.back().expr == owner.expr) {
      ranges.back().end = after;
    } else {
      ranges.push_back({section, before, after, owner.layer, owner.expr});
    }
  }

  struct Due {
    int64_t step = 0, use = 0;
    uint32_t item = 0, load = 0;
  };
  // All loads by the step before which they are issued; what is used first goes first.
  std::vector<Due> loads() const {
    std::vector<Due> list;
    for (uint32_t k : p_.fetches) {
      const Item& item = p_.items[k];
      if (item.last < 0) continue;
      for (uint32_t l = 0; l < item.loads.size(); ++l)
        list.push_back({item.load_steps.empty() ? item.start : item.load_steps[l], item.first, k, l});
    }
    std::ranges::stable_sort(list, {}, [](const Due& d) { return std::pair(d.step, d.use); });
    return list;
  }

  void fetch(uint32_t index, uint32_t load) {
    const Item& item = p_.items[index];
    const Load& l = item.loads[load];
    isa::Instruction i;
    i.tile = static_cast<uint8_t>(issuer(l.tiles, rotate_++));
    i.queue = isa::Queue::DmaIn;
    for (const isa::Dma& d : load_dmas(l.transfer, static_cast<uint32_t>(item.address), l.tiles)) {
      i.body = d;
      append(i, item.owner);
      note(index);
    }
  }

  void reach(const isa::Instruction& instruction) {
    for (const isa::Access& a : isa::accesses(instruction))
      if (a.space == isa::Space::Ocm) out_.ocm_peak = std::max(out_.ocm_peak, static_cast<int64_t>(a.end));
  }

  void append(isa::Instruction instruction, const Owner& owner) {
    auto before = static_cast<uint32_t>(out_.instructions.size());
    reach(instruction);
    tracker_.append(std::move(instruction), out_.instructions);
    cover(out_.ranges, backend::Section::Main, before, out_.instructions.size(), owner);
  }

  void note(uint32_t index) {
    if (index == kNoItem) return;
    auto now = static_cast<uint32_t>(out_.instructions.size() - 1);
    if (use_of_[index] != SIZE_MAX) {
      out_.uses[use_of_[index]].use.last = now;
      return;
    }
    const Item& item = p_.items[index];
    use_of_[index] = out_.uses.size();
    backend::MemoryUse u;
    u.kind = item.kind;
    u.tiles = 0xff;
    u.begin = static_cast<uint32_t>(item.address);
    u.end = static_cast<uint32_t>(item.address + item.bytes);
    u.first = u.last = now;
    u.layer = item.owner.layer;
    out_.uses.push_back({std::move(u), item.buffer});
  }

  // The steps of a primitive follow one another.
  void span(uint32_t primitive, uint32_t begin) {
    const auto end = static_cast<uint32_t>(out_.instructions.size());
    if (primitive >= out_.primitives.size()) out_.primitives.resize(primitive + 1, {UINT32_MAX, 0});
    auto& [first, last] = out_.primitives[primitive];
    first = std::min(first, begin);
    last = end;
  }

  // What stays is there from before the first instruction to after the last.
  void keep_pinned() {
    for (uint32_t k = 0; k < p_.items.size(); ++k) {
      if (!p_.items[k].pinned || use_of_[k] == SIZE_MAX) continue;
      backend::MemoryUse& use = out_.uses[use_of_[k]].use;
      use.first = 0;
      use.last = static_cast<uint32_t>(out_.instructions.size() - 1);
    }
  }

  TileProgram p_;
  Tracker tracker_;
  std::vector<size_t> use_of_;  // by item
  uint32_t rotate_ = 0;
  Emitted out_;
};

}  // namespace

Emitted emit(TileProgram&& program, uint64_t ddr_end) {
  return Emission(std::move(program), ddr_end).run();
}

}  // namespace mrvlc::accel
