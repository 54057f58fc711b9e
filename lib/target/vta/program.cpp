// Puts tokens on steps, loads micro-ops before the kernels that need them, and orders the stream.
#include "program.h"

#include <algorithm>

namespace vta {

uint32_t Halves::take(const std::vector<uint64_t>& key, int64_t step, bool& load, int64_t& waits_for) {
  for (uint32_t i = 0; i < 2; ++i)
    if (halves_[i].key == key) {
      halves_[i].reader = step;
      return i;
    }
  const uint32_t older = halves_[0].reader <= halves_[1].reader ? 0 : 1;
  load = true;
  waits_for = std::max(waits_for, halves_[older].reader);
  halves_[older] = {key, step};
  return older;
}

namespace {

// Micro-ops on chip: a ring of lists. The compute unit executes in order, so what no later kernel of a batch
// needs may be overwritten at once.
class UopRing {
 public:
  explicit UopRing(Stream& stream) : stream_(stream) {}

  // Loads what is missing of the lists of kernels [from, to), which have at most kBatch micro-ops, and sets
  // their addresses.
  void place(std::vector<Kernel>& kernels, size_t from, size_t to, std::vector<Instruction>& out) {
    if (!try_place(kernels, from, to, out)) {
      at_.clear();
      head_ = 0;
      try_place(kernels, from, to, out);
    }
  }

  static constexpr size_t kBatch = kUopDepth / 2;

 private:
  bool try_place(std::vector<Kernel>& kernels, size_t from, size_t to, std::vector<Instruction>& out) {
    std::vector<uint32_t> missing;
    std::map<std::vector<uint32_t>, uint32_t> fresh;
    for (size_t k = from; k < to; ++k) {
      const auto& list = kernels[k].uops;
      if (list.empty() || at_.contains(list) || !fresh.emplace(list, missing.size()).second) continue;
      missing.insert(missing.end(), list.begin(), list.end());
    }
    const auto count = static_cast<uint32_t>(missing.size());
    if (count) {
      if (head_ + count > kUopDepth) head_ = 0;
      std::erase_if(at_, [&](const auto& kept) {
        return kept.second < head_ + count && kept.second + kept.first.size() > head_;
      });
      for (size_t k = from; k < to; ++k)
        if (!kernels[k].uops.empty() && !at_.contains(kernels[k].uops) && !fresh.contains(kernels[k].uops))
          return false;
      out.push_back(load(missing));
      for (auto& [list, offset] : fresh) at_.emplace(list, head_ + offset);
      head_ += count;
    }
    for (size_t k = from; k < to; ++k) {
      if (kernels[k].uops.empty()) continue;
      Instruction& i = kernels[k].instruction;
      i.uop_begin = at_.at(kernels[k].uops);
      i.uop_end = i.uop_begin + static_cast<uint32_t>(kernels[k].uops.size());
    }
    return true;
  }

  Instruction load(const std::vector<uint32_t>& list) {
    const auto [known, made] = in_memory_.emplace(list, static_cast<uint32_t>(stream_.uops.size()));
    if (made) stream_.uops.insert(stream_.uops.end(), list.begin(), list.end());
    Instruction i;
    i.memory = kUop;
    i.sram = head_;
    i.dram = known->second;
    i.y = 1;
    i.x = i.stride = static_cast<uint32_t>(list.size());
    return i;
  }

  Stream& stream_;
  std::map<std::vector<uint32_t>, uint32_t> at_, in_memory_;
  uint32_t head_ = 0;
};

// LOAD of no micro-op: only its tokens count.
Instruction token_only() {
  Instruction i;
  i.memory = kUop;
  return i;
}

class Scheduler {
 public:
  explicit Scheduler(Program& program) : steps_(program.steps), ring_(stream_) {}

  Stream run() {
    set_tokens();
    if (!steps_.empty()) loads(0);
    for (size_t k = 0; k < steps_.size(); ++k) {
      // What the next loads wait for has to stand in front of them.
      const bool ahead = k + 1 < steps_.size() && needs_[k + 1] < static_cast<int64_t>(k);
      if (ahead) loads(k + 1);
      compute(k);
      stores(k);
      if (!ahead && k + 1 < steps_.size()) loads(k + 1);
    }
    Instruction end;
    end.opcode = kFinish;
    const uint32_t last = steps_.empty() ? 0 : steps_.back().layer;
    drain(last, false);
    put(end, last);
    return std::move(stream_);
  }

 private:
  void set_tokens() {
    needs_.assign(steps_.size(), -1);
    frees_.assign(steps_.size(), false);
    int64_t before = -1, barrier = -1;
    for (size_t k = 0; k < steps_.size(); ++k) {
      if (!steps_[k].loads.empty()) {
        needs_[k] = std::max({before, steps_[k].waits_for, barrier});
        if (needs_[k] > before) {
          frees_[static_cast<size_t>(needs_[k])] = true;
          steps_[k].loads.front().pop_next = 1;
        }
        before = needs_[k];
        steps_[k].loads.back().push_next = 1;
        steps_[k].compute.at(steps_[k].reader).instruction.pop_prev = 1;
      }
      if (steps_[k].barrier) barrier = static_cast<int64_t>(k);
    }
  }

  void put(const Instruction& i, uint32_t layer) {
    stream_.instructions.push_back(i);
    stream_.layer_of.push_back(layer);
  }

  void loads(size_t k) {
    for (const Instruction& i : steps_[k].loads) put(i, steps_[k].layer);
  }

  // Pops what the store unit has pushed; the last of it tells the load unit.
  void drain(uint32_t layer, bool tell) {
    for (; stored_ || tell; stored_ -= stored_ ? 1 : 0) {
      Instruction i = token_only();
      i.pop_next = stored_ ? 1 : 0;
      i.push_prev = tell && stored_ <= 1 ? 1 : 0;
      if (stored_ <= 1) tell = false;
      put(i, layer);
    }
  }

  void compute(size_t k) {
    Step& step = steps_[k];
    if (step.barrier) return drain(step.layer, frees_[k]);
    if (step.begins_tile && stored_ == 2) {
      step.compute.front().instruction.pop_next = 1;
      --stored_;
    }
    Instruction& last = step.compute.back().instruction;
    last.push_prev = frees_[k] ? 1 : 0;
    last.push_next = step.stores.empty() ? 0 : 1;
    for (size_t from = 0; from < step.compute.size();) {
      size_t to = from, count = 0;
      while (to < step.compute.size() &&
             (to == from || count + step.compute[to].uops.size() <= UopRing::kBatch))
        count += step.compute[to++].uops.size();
      std::vector<Instruction> out;
      ring_.place(step.compute, from, to, out);
      for (const Instruction& i : out) put(i, step.layer);
      for (; from < to; ++from) put(step.compute[from].instruction, step.layer);
    }
  }

  void stores(size_t k) {
    Step& step = steps_[k];
    if (step.stores.empty()) return;
    step.stores.front().pop_prev = 1;
    step.stores.back().push_prev = 1;
    for (const Instruction& i : step.stores) put(i, step.layer);
    ++stored_;
  }

  std::vector<Step>& steps_;
  Stream stream_;
  UopRing ring_;
  std::vector<int64_t> needs_;  // of steps with loads: the step whose token they pop, or a step before it
  std::vector<bool> frees_;     // the step pushes a token to the load unit
  uint32_t stored_ = 0;         // tokens of the store unit that nobody has popped: at most two
};

}  // namespace

Stream finish(Program& program) {
  return Scheduler(program).run();
}

}  // namespace vta
