// A placed tile program, step by step: what is due from DDR, then the instructions, each with its waits; and
// what the sections say of it in any order of the instructions.
#include "code/emit.h"

#include <algorithm>

#include "code/tracker.h"

namespace mrvlc::accel {
namespace {

class Drafting {
 public:
  Drafting(TileProgram&& program, uint64_t ddr_end)
      : p_(std::move(program)), tracker_(static_cast<uint64_t>(p_.constant_end), ddr_end) {}

  Draft run() {
    pin();
    std::vector<Due> due = loads();
    size_t next = 0;
    for (size_t s = 0; s < p_.steps.size(); ++s) {
      for (; next < due.size() && due[next].step <= static_cast<int64_t>(s); ++next)
        fetch(due[next].item, due[next].load);
      for (size_t c = p_.steps[s].first_code; c < p_.code_end(s); ++c) {
        Code& code = p_.code[c];
        resolve(code.instruction, code.items, p_.items);
        append(std::move(code.instruction), code.owner, p_.steps[s].primitive);
        for (uint32_t item : code.items) note(item);
      }
    }
    out_.items = std::move(p_.items);
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
          tracker.append(i, out_.init);
          out_.init_owners.resize(out_.init.size(), p_.items[k].owner);
        }
      }
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
      append(i, item.owner, kNoPrimitive);
      note(index);
    }
  }

  void reach(const isa::Instruction& instruction) {
    for (const isa::Access& a : isa::accesses(instruction))
      if (a.space == isa::Space::Ocm) out_.ocm_peak = std::max(out_.ocm_peak, static_cast<int64_t>(a.end));
  }

  void append(isa::Instruction instruction, const Owner& owner, uint32_t primitive) {
    reach(instruction);
    tracker_.append(std::move(instruction), out_.instructions);
    out_.owners.resize(out_.instructions.size(), owner);
    out_.primitives.resize(out_.instructions.size(), primitive);
  }

  void note(uint32_t index) {
    if (index == kNoItem) return;
    out_.uses.emplace_back(static_cast<uint32_t>(out_.instructions.size() - 1), index);
  }

  TileProgram p_;
  Tracker tracker_;
  uint32_t rotate_ = 0;
  Draft out_;
};

std::vector<backend::CodeRange> ranges_of(backend::Section section, const std::vector<Owner>& owners) {
  std::vector<backend::CodeRange> out;
  for (uint32_t i = 0; i < owners.size(); ++i) {
    const Owner& owner = owners[i];
    const bool same = !out.empty() && out.back().layer == owner.layer && out.back().expr == owner.expr;
    if (same) {
      out.back().end = i + 1;
    } else {
      out.push_back({section, i, i + 1, owner.layer, owner.expr});
    }
  }
  return out;
}

// `place`: of each instruction of the draft.
std::vector<Use> uses_of(const Draft& draft, const std::vector<uint32_t>& place) {
  std::vector<size_t> of_item(draft.items.size(), SIZE_MAX);
  std::vector<Use> out;
  for (const auto& [instruction, index] : draft.uses) {
    const Item& item = draft.items[index];
    const uint32_t now = place[instruction];
    if (of_item[index] != SIZE_MAX) {
      backend::MemoryUse& use = out[of_item[index]].use;
      use.first = std::min(use.first, now);
      use.last = std::max(use.last, now);
      continue;
    }
    of_item[index] = out.size();
    backend::MemoryUse u;
    u.kind = item.kind;
    u.tiles = 0xff;
    u.begin = static_cast<uint32_t>(item.address);
    u.end = static_cast<uint32_t>(item.address + item.bytes);
    u.first = u.last = now;
    u.layer = item.owner.layer;
    out.push_back({std::move(u), item.buffer});
  }
  // What stays is there from before the first instruction to after the last.
  for (size_t k = 0; k < of_item.size(); ++k)
    if (draft.items[k].pinned && of_item[k] != SIZE_MAX) {
      out[of_item[k]].use.first = 0;
      out[of_item[k]].use.last = static_cast<uint32_t>(place.size() - 1);
    }
  std::ranges::stable_sort(out, {}, [](const Use& u) { return std::pair(u.use.first, u.use.begin); });
  return out;
}

void extend(Stretch& s, uint32_t place) {
  s.begin = std::min(s.begin, place);
  s.end = std::max(s.end, place + 1);
}

// Whether an instruction works on what its primitive makes in a tile. What other tiles send there is not of
// that.
bool works_in(const isa::Instruction& i, uint32_t tile) {
  if (i.tile == tile) return true;
  const auto* copy = std::get_if<isa::Dma>(&i.body);
  return copy != nullptr && i.queue == isa::Queue::DmaIn && (copy->dst_tiles >> tile & 1) != 0;
}

std::vector<PrimitiveCode> primitives_of(const Draft& draft, const std::vector<uint32_t>& place) {
  std::vector<PrimitiveCode> out;
  for (uint32_t i = 0; i < place.size(); ++i) {
    const uint32_t primitive = draft.primitives[i];
    if (primitive == kNoPrimitive) continue;
    if (primitive >= out.size()) out.resize(primitive + 1);
    extend(out[primitive].all, place[i]);
    for (uint32_t t = 0; t < isa::kMaxTiles; ++t)
      if (works_in(draft.instructions[i], t)) extend(out[primitive].by_tile[t], place[i]);
  }
  return out;
}

}  // namespace

Draft draft(TileProgram&& program, uint64_t ddr_end) {
  return Drafting(std::move(program), ddr_end).run();
}

Emitted emit(Draft&& draft, const std::vector<uint32_t>& order) {
  std::vector<uint32_t> place(draft.instructions.size());
  for (uint32_t i = 0; i < place.size(); ++i) place[order.empty() ? i : order[i]] = i;
  Emitted out;
  out.ocm_peak = draft.ocm_peak;
  out.uses = uses_of(draft, place);
  out.primitives = primitives_of(draft, place);
  out.init_ranges = ranges_of(backend::Section::Init, draft.init_owners);
  out.init = std::move(draft.init);
  if (!order.empty()) {
    draft.instructions = in_order(std::move(draft.instructions), order);
    draft.owners = in_order(std::move(draft.owners), order);
  }
  out.ranges = ranges_of(backend::Section::Main, draft.owners);
  out.instructions = std::move(draft.instructions);
  return out;
}

}  // namespace mrvlc::accel
