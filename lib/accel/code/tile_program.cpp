// Steps as they are written: items and how long they live, estimated cycles, multicasts.
#include "code/tile_program.h"

#include <algorithm>
#include <bit>

#include "mrvlc/cost/cost.h"
#include "primitive/cost_limits.h"

namespace mrvlc::accel {
namespace {

template <class F>
void each_address(isa::Instruction& i, F f) {
  auto epilogue = [&](isa::Epilogue& e, size_t k) {
    if (isa::table_bytes(e.activation) > 0) f(e.table, k);
  };
  if (auto* c = std::get_if<isa::Conv>(&i.body)) {
    f(c->x, 0);
    f(c->w, 1);
    if (c->bias != isa::kNoAddress) f(c->bias, 2);
    if (c->of_integers() && c->last) f(c->scales, 2);
    if (c->residual != isa::kNoAddress) f(c->residual, 3);
    f(c->out, 4);
    epilogue(c->epilogue, 5);
  } else if (auto* p = std::get_if<isa::Pool>(&i.body)) {
    f(p->x, 0);
    f(p->out, 4);
    epilogue(p->epilogue, 5);
  } else if (auto* e = std::get_if<isa::Elementwise>(&i.body)) {
    f(e->dst.address, 4);
    if (e->a.address != isa::kNoAddress) f(e->a.address, 0);
    if (e->b.address != isa::kNoAddress) f(e->b.address, 1);
    epilogue(e->epilogue, 5);
  } else if (auto* r = std::get_if<isa::Reduce>(&i.body)) {
    f(r->dst.address, 4);
    f(r->a.address, 0);
    epilogue(r->epilogue, 5);
  } else if (auto* d = std::get_if<isa::Dma>(&i.body)) {
    if (d->src_space == isa::Space::Ocm) f(d->src, 0);
    if (d->dst_space == isa::Space::Ocm) f(d->dst, 4);
  }
}

}  // namespace

void resolve(isa::Instruction& instruction, const ItemRefs& refs, const std::vector<Item>& items) {
  each_address(instruction, [&](auto& address, size_t k) {
    if (refs[k] == kNoItem) return;
    address = static_cast<std::remove_reference_t<decltype(address)>>(
        address + static_cast<uint64_t>(items[refs[k]].address));
  });
}

void StepWriter::begin_step() {
  TileStep step;
  step.first_code = out_.code.size();
  step.primitive = primitive_;
  out_.steps.push_back(step);
  busy_.fill(0);
  loads_ = stores_ = 0;
  sends_ = false;
}

void StepWriter::end_step() {
  TileStep& step = out_.steps.back();
  step.cycles = *std::ranges::max_element(busy_);
  // What tiles send each other is on its way when the last of it has been made.
  if (sends_) step.cycles += 2.0 * machine_.instruction_overhead;
  step.load_cycles = loads_;
  step.store_cycles = stores_;
}

void StepWriter::take_turns(int64_t first) {
  const auto begin = out_.code.begin() + first;
  std::array<int64_t, isa::kMaxTiles> count{};
  std::vector<std::pair<int64_t, int64_t>> order;  // turn, place
  const int64_t turn = std::max<int64_t>(1, machine_.queue_depth / 4);
  for (int64_t k = first; k < size(); ++k)
    order.emplace_back(count[out_.code[static_cast<size_t>(k)].instruction.tile]++ / turn, k);
  if (machine_.queue_depth == 0 || *std::ranges::max_element(count) <= int64_t{machine_.queue_depth}) return;
  std::ranges::sort(order);
  std::vector<Code> sorted;
  for (const auto& [_, k] : order) sorted.push_back(std::move(out_.code[static_cast<size_t>(k)]));
  std::ranges::move(sorted, begin);
}

uint32_t StepWriter::add_item(Item item) {
  item.owner = owner_;
  auto index = static_cast<uint32_t>(out_.items.size());
  if (item.prefetch) out_.fetches.push_back(index);
  out_.items.push_back(std::move(item));
  return index;
}

void StepWriter::use(uint32_t item) {
  if (item == kNoItem) return;
  Item& i = out_.items[item];
  i.first = std::min(i.first, step());
  i.last = std::max(i.last, step());
}

void StepWriter::append(isa::Instruction instruction, const ItemRefs& refs) {
  if (static_cast<int64_t>(out_.code.size()) > kMostInstructions) return;  // the scheduler refuses it
  for (uint32_t r : refs) use(r);
  cost::Cost cost = cost::cost_of(instruction, machine_);
  auto cycles = static_cast<double>(cost.engine_cycles);
  double ports = std::max(static_cast<double>(cost.read_bytes) / machine_.ocm_read_bytes,
                          static_cast<double>(cost.write_bytes) / machine_.ocm_write_bytes);
  const auto* copy = std::get_if<isa::Dma>(&instruction.body);
  sends_ = sends_ || (copy != nullptr && copy->src_space == copy->dst_space);
  if (cost.ddr_read_bytes > 0) {
    loads_ += cycles;
  } else if (cost.ddr_write_bytes > 0) {
    stores_ += cycles;
  } else {
    busy_[instruction.tile * isa::kQueues + static_cast<size_t>(instruction.queue)] +=
        std::max(cycles, ports) + machine_.instruction_overhead;
  }
  out_.code.push_back({std::move(instruction), refs, owner_});
}

void StepWriter::load(uint8_t tiles, const Transfer& transfer, uint32_t item, int64_t offset) {
  uint32_t tile = issuer(tiles, rotate_++);
  ItemRefs refs = kNoItems;
  refs[4] = item;
  for (const isa::Dma& d : load_dmas(transfer, static_cast<uint32_t>(offset), tiles))
    emit(tile, isa::Queue::DmaIn, d, refs);
}

void StepWriter::store(uint32_t tile, const Transfer& transfer, uint32_t item, int64_t offset) {
  ItemRefs refs = kNoItems;
  refs[0] = item;
  for (const isa::Dma& d : store_dmas(transfer, static_cast<uint32_t>(offset)))
    emit(tile, isa::Queue::DmaOut, d, refs);
}

uint32_t issuer(uint8_t tiles, uint32_t turn) {
  auto n = static_cast<uint32_t>(std::popcount(tiles));
  uint32_t skip = turn % n;
  for (uint32_t tile = 0;; ++tile) {
    if ((tiles >> tile & 1) == 0) continue;
    if (skip-- == 0) return tile;
  }
}

std::vector<Load> multicast(const std::vector<std::vector<Transfer>>& wanted) {
  std::vector<Load> out;
  std::vector<bool> served(wanted.size(), false);
  for (size_t t = 0; t < wanted.size(); ++t) {
    if (served[t] || wanted[t].empty()) continue;
    uint8_t mask = 0;
    for (size_t u = t; u < wanted.size(); ++u) {
      if (served[u] || wanted[u] != wanted[t]) continue;
      served[u] = true;
      mask = static_cast<uint8_t>(mask | 1u << u);
    }
    for (const Transfer& x : wanted[t]) out.push_back({mask, x});
  }
  return out;
}

bool covers(const std::vector<std::vector<Transfer>>& held,
            const std::vector<std::vector<Transfer>>& wanted) {
  if (held.size() != wanted.size()) return false;
  for (size_t t = 0; t < wanted.size(); ++t)
    if (!wanted[t].empty() && wanted[t] != held[t]) return false;
  return true;
}

int64_t InputSlot::fetch(StepWriter& writer, std::vector<std::vector<Transfer>> wanted) {
  const auto offset = [&](size_t buffer) { return base_ + bytes_ * static_cast<int64_t>(buffer); };
  for (size_t k = 0; k < held_.size(); ++k)
    if (covers(held_[k], wanted)) {
      next_ = (k + 1) % held_.size();  // what was used last stays longest
      return offset(k);
    }
  const size_t now = next_;
  next_ = (next_ + 1) % held_.size();
  for (const Load& l : multicast(wanted)) writer.load(l.tiles, l.transfer, item_, offset(now));
  held_[now] = std::move(wanted);
  return offset(now);
}

isa::Epilogue epilogue_of(const EpilogueSpec& spec) {
  isa::Epilogue e;
  e.activation = spec.activation;
  e.alpha = spec.alpha;
  e.beta = spec.beta;
  if (spec.table_bytes() > 0) e.table = 0;
  return e;
}

Transfer table_transfer(const EpilogueSpec& of) {
  Transfer t;
  t.ddr = of.table;
  t.run = of.table_bytes();
  return t;
}

}  // namespace mrvlc::accel
