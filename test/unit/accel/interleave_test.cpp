// Random drafts in another order: what orders their instructions holds, and what is said of them is true of
// it.
#include "code/interleave.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "mrvlc/cost/queues.h"

namespace mrvlc::accel {
namespace {

using isa::Queue;

target::Machine machine() {
  auto m = target::load_machine("cn10ka", {});
  REQUIRE(m.ok());
  return *m;
}

class DraftMaker {
 public:
  explicit DraftMaker(uint32_t seed) : random_(seed) {}

  Draft run() {
    const uint32_t instructions = pick(1, 300);
    for (uint32_t i = 0; i < instructions; ++i) {
      if (pick(0, 2) == 0) open();
      if (pick(0, 4) == 0 && !live_.empty()) live_.erase(live_.begin() + pick(0, last_of(live_)));
      add();
    }
    return std::move(out_);
  }

  // Any times, also such that contradict the waits.
  std::vector<uint64_t> starts(size_t count) {
    std::vector<uint64_t> out(count);
    for (uint64_t& t : out) t = pick(0, 50);
    return out;
  }

 private:
  uint32_t pick(uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(random_);
  }
  template <class T>
  static uint32_t last_of(const std::vector<T>& list) {
    return static_cast<uint32_t>(list.size()) - 1;
  }

  // An item beside those that live.
  void open() {
    Item item;
    item.address = 128 * int64_t{pick(0, 60)};
    item.bytes = 128 * int64_t{pick(1, 8)};
    for (uint32_t k : live_) {
      const Item& other = out_.items[k];
      if (item.address < other.address + other.bytes && other.address < item.address + item.bytes) return;
    }
    live_.push_back(static_cast<uint32_t>(out_.items.size()));
    out_.items.push_back(item);
  }

  void add() {
    isa::Instruction i;
    i.tile = static_cast<uint8_t>(pick(0, 2));
    i.queue = static_cast<Queue>(pick(0, 3));
    for (auto& [queue, count] : counts_)
      if (pick(0, 3) == 0 && i.waits.size() < isa::kMaxWaits)
        i.waits.push_back({static_cast<uint8_t>(queue / isa::kQueues),
                           static_cast<Queue>(queue % isa::kQueues), pick(1, count)});
    ++counts_[cost::queue_of(i)];
    const auto now = static_cast<uint32_t>(out_.instructions.size());
    for (uint32_t k : live_)
      if (pick(0, 1) == 0) out_.uses.emplace_back(now, k);
    out_.instructions.push_back(std::move(i));
    out_.owners.push_back({pick(0, 3), {}});
    out_.primitives.push_back(pick(0, 4));
  }

  std::mt19937 random_;
  Draft out_;
  std::vector<uint32_t> live_;
  std::map<size_t, uint32_t> counts_;
};

// Queues as in the draft, and waits that name what stands before.
void check_order(const std::vector<isa::Instruction>& before, const std::vector<uint32_t>& order) {
  REQUIRE(order.size() == before.size());
  std::map<size_t, std::vector<uint32_t>> queues, done;
  for (uint32_t i = 0; i < before.size(); ++i) queues[cost::queue_of(before[i])].push_back(i);
  for (uint32_t i : order) {
    auto& own = done[cost::queue_of(before[i])];
    REQUIRE(queues[cost::queue_of(before[i])].at(own.size()) == i);
    for (const isa::Wait& w : before[i].waits)
      REQUIRE(done[cost::queue_index(w.tile, w.queue)].size() >= w.count);
    own.push_back(i);
  }
}

// No range of memory is held by two at once.
void check_uses(const std::vector<Use>& uses) {
  for (const Use& a : uses)
    for (const Use& b : uses) {
      if (&a == &b || a.use.end <= b.use.begin || b.use.end <= a.use.begin) continue;
      REQUIRE((a.use.last < b.use.first || b.use.last < a.use.first));
    }
}

TEST_CASE("in another order queues, waits and memory are what they were") {
  const target::Machine m = machine();
  size_t moved = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    DraftMaker make(seed);
    Draft draft = make.run();
    const std::vector<uint32_t> order = interleaved(draft, make.starts(draft.instructions.size()), m);
    check_order(draft.instructions, order);
    moved += std::ranges::is_sorted(order) ? 0 : 1;
    const std::vector<isa::Instruction> before = draft.instructions;
    const std::vector<Owner> owners = draft.owners;
    const Emitted emitted = emit(std::move(draft), order);
    check_uses(emitted.uses);
    size_t at = 0;
    for (const backend::CodeRange& r : emitted.ranges) {
      REQUIRE(r.begin == at);
      for (; at < r.end; ++at) {
        REQUIRE(owners[order[at]].layer == r.layer);
        REQUIRE(emitted.instructions[at].tile == before[order[at]].tile);
        REQUIRE(emitted.instructions[at].queue == before[order[at]].queue);
      }
    }
    REQUIRE(at == order.size());
  }
  CHECK(moved > 350);
}

TEST_CASE("a primitive is where its instructions are") {
  DraftMaker make(7);
  Draft draft = make.run();
  const std::vector<uint32_t> order = interleaved(draft, make.starts(draft.instructions.size()), machine());
  const std::vector<uint32_t> primitives = in_order(std::vector(draft.primitives), order);
  const Emitted emitted = emit(std::move(draft), order);
  for (uint32_t i = 0; i < order.size(); ++i) {
    const PrimitiveCode& p = emitted.primitives.at(primitives[i]);
    const Stretch& own = p.by_tile[emitted.instructions[i].tile];
    CHECK((p.all.begin <= i && i < p.all.end));
    CHECK((own.begin <= i && i < own.end));
  }
}

isa::Instruction work(uint8_t tile, uint32_t elements) {
  isa::Instruction i;
  i.tile = tile;
  i.queue = Queue::Pe;
  isa::Elementwise e;
  e.dims[4] = elements;
  e.a.strides[4] = e.dst.strides[4] = 2;
  i.body = e;
  return i;
}

Draft two_tiles() {
  Draft draft;
  for (uint8_t tile : {uint8_t{0}, uint8_t{1}})
    for (int k = 0; k < 8; ++k) draft.instructions.push_back(work(tile, 32 * 1000));
  draft.owners.resize(16);
  draft.primitives.resize(16, 0);
  return draft;
}

TEST_CASE("a full queue holds up no other tile where the order can be another one") {
  target::Machine m = machine();
  m.fetch_buffer = 0;
  m.queue_depth = 2;
  const auto shallow = best_order(two_tiles(), {m});
  m.queue_depth = 0;
  const auto deep = best_order(two_tiles(), {m});
  REQUIRE((shallow.ok() && deep.ok()));
  CHECK(deep->order.empty());  // nothing is faster than as it is
  CHECK_FALSE(shallow->order.empty());
  CHECK(shallow->cycles == deep->cycles);
  target::Machine slow = m;
  slow.pe_lanes = 8;
  const auto both = best_order(two_tiles(), {m, slow});
  REQUIRE(both.ok());
  CHECK(both->cycles > deep->cycles);
  CHECK(both->cycles < 4 * deep->cycles);
}

}  // namespace
}  // namespace mrvlc::accel
