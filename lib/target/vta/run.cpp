// The machine: three units that take turns, with their tokens, over the memory of a region.
#include "run.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace vta {
namespace {

[[noreturn]] void wrong(uint32_t at, const char* what) {
  throw std::runtime_error("instruction " + std::to_string(at) + ": " + what);
}

class Machine {
 public:
  explicit Machine(const Image& image)
      : image_(image),
        memory_(static_cast<int8_t*>(std::calloc(image.memory_bytes + 1, 1)), &std::free),
        uop_(kUopDepth),
        inp_(kInpDepth * 16),
        wgt_(kWgtDepth * 256),
        acc_(kAccDepth * 16) {
    if (!memory_) throw std::bad_alloc();
    copy(kMicroOps, image.uops.data(), image.uops.size() * 4);
    copy(kWeights, image.weights.data(), image.weights.size());
    copy(kBiases, image.biases.data(), image.biases.size() * 4);
    for (uint32_t i = 0; i < image.instructions.size(); ++i)
      queue_[image.instructions[i].unit()].push_back(i);
  }

  int8_t* section(uint32_t number) { return memory_.get() + image_.sections[number].offset; }

  void run() {
    size_t next[3] = {0, 0, 0};
    for (bool moved = true; moved;) {
      moved = false;
      for (const Unit unit : {kLoadUnit, kComputeUnit, kStoreUnit})
        while (next[unit] < queue_[unit].size() && step(queue_[unit][next[unit]], unit))
          moved = true, ++next[unit];
    }
    for (const Unit unit : {kLoadUnit, kComputeUnit, kStoreUnit})
      if (next[unit] < queue_[unit].size()) wrong(queue_[unit][next[unit]], "waits for a token for ever");
  }

 private:
  void copy(SectionKind kind, const void* from, size_t bytes) {
    if (bytes) std::memcpy(memory_.get() + image_.sections[kind].offset, from, bytes);
  }

  // Tokens from unit to unit: [from][to].
  bool step(uint32_t at, Unit unit) {
    const Instruction& i = image_.instructions[at];
    const int prev = static_cast<int>(unit) - 1, next = static_cast<int>(unit) + 1;
    if ((prev < 0 && (i.pop_prev || i.push_prev)) || (next > 2 && (i.pop_next || i.push_next)))
      wrong(at, "has no such queue");
    if ((i.pop_prev && !tokens_[prev][unit]) || (i.pop_next && !tokens_[next][unit])) return false;
    if (i.pop_prev) --tokens_[prev][unit];
    if (i.pop_next) --tokens_[next][unit];
    at_ = at;
    execute(i);
    if (i.push_prev) ++tokens_[unit][prev];
    if (i.push_next) ++tokens_[unit][next];
    return true;
  }

  void execute(const Instruction& i) {
    if (i.moves()) return transfer(i);
    if (i.opcode == kGemm) return loop(i, [this, &i](const Uop& u) { multiply(i, u); });
    if (i.opcode == kAlu) return loop(i, [this, &i](const Uop& u) { combine(i, u); });
    if (i.opcode != kFinish) wrong(at_, "is none");
  }

  void transfer(const Instruction& i) {
    if (i.x == 0 || i.y == 0) return;
    if (i.memory > kOut || (i.opcode == kStore) != (i.memory == kOut)) wrong(at_, "moves no such memory");
    if (i.pad_top || i.pad_bottom || i.pad_left || i.pad_right) wrong(at_, "pads");
    const uint64_t each = kElementBytes[i.memory];
    if (i.sram + uint64_t{i.x} * i.y > kDepth[i.memory]) wrong(at_, "leaves the memory on chip");
    for (uint32_t r = 0; r < i.y; ++r) {
      const uint64_t from = (i.dram + uint64_t{r} * i.stride) * each, bytes = i.x * each;
      if (from + bytes > image_.memory_bytes) wrong(at_, "leaves the memory of the region");
      row(i, i.sram + r * i.x, memory_.get() + from, bytes);
    }
  }

  void row(const Instruction& i, uint32_t sram, int8_t* memory, uint64_t bytes) {
    if (i.memory == kUop) std::memcpy(&uop_[sram], memory, bytes);
    if (i.memory == kInp) std::memcpy(&inp_[sram * 16], memory, bytes);
    if (i.memory == kWgt) std::memcpy(&wgt_[sram * 256], memory, bytes);
    if (i.memory == kAcc) std::memcpy(&acc_[sram * 16], memory, bytes);
    // OUT has the low bits of ACC.
    for (uint64_t k = 0; i.memory == kOut && k < bytes; ++k)
      memory[k] = static_cast<int8_t>(acc_[sram * 16 + k]);
  }

  template <class Body>
  void loop(const Instruction& i, Body body) {
    if (i.uop_end > kUopDepth || i.uop_begin >= i.uop_end) wrong(at_, "leaves the micro-ops");
    // mrvlc takes each once, and no program may run for ever.
    if (uint64_t{i.iter_out} * i.iter_in * (i.uop_end - i.uop_begin) > kAccDepth)
      wrong(at_, "takes an accumulator twice");
    for (uint32_t y = 0; y < i.iter_out; ++y)
      for (uint32_t x = 0; x < i.iter_in; ++x)
        for (uint32_t k = i.uop_begin; k < i.uop_end; ++k) {
          const Uop u = decode(uop_[k]);
          const Uop at{u.dst + y * i.dst_out + x * i.dst_in, u.src + y * i.src_out + x * i.src_in,
                       u.wgt + y * i.wgt_out + x * i.wgt_in};
          if (at.dst >= kAccDepth || at.src >= kInpDepth || at.wgt >= kWgtDepth)
            wrong(at_, "leaves a memory");
          body(at);
        }
  }

  void multiply(const Instruction& i, const Uop& u) {
    int32_t* sums = &acc_[u.dst * 16];
    if (i.reset) return std::memset(sums, 0, 64), void();
    const int8_t* x = &inp_[u.src * 16];
    const int8_t* w = &wgt_[u.wgt * 256];
    for (uint32_t o = 0; o < 16; ++o) {
      int32_t sum = 0;  // of 16 products: far from 2^31
      for (uint32_t k = 0; k < 16; ++k) sum += x[k] * w[o * 16 + k];
      sums[o] = static_cast<int32_t>(static_cast<uint32_t>(sums[o]) + static_cast<uint32_t>(sum));
    }
  }

  void combine(const Instruction& i, const Uop& u) {
    for (uint32_t k = 0; k < 16; ++k) {
      const int32_t a = acc_[u.dst * 16 + k], b = i.use_imm ? i.immediate() : acc_[u.src * 16 + k];
      acc_[u.dst * 16 + k] = result(i.alu, a, b);
    }
  }

  int32_t result(uint32_t op, int32_t a, int32_t b) const {
    if (op == kMin) return a < b ? a : b;
    if (op == kMax) return a > b ? a : b;
    if (op == kAdd) return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    if (op != kShr || b < -16 || b > 15) wrong(at_, "is in not every implementation");
    return b >= 0 ? a >> b : static_cast<int32_t>(static_cast<uint32_t>(a) << -b);
  }

  const Image& image_;
  std::unique_ptr<int8_t, decltype(&std::free)> memory_;  // pages that nobody touches cost nothing
  std::vector<uint32_t> uop_;
  std::vector<int8_t> inp_, wgt_;
  std::vector<int32_t> acc_;
  std::vector<uint32_t> queue_[3];
  uint32_t tokens_[3][3] = {};
  uint32_t at_ = 0;
};

// Calls f(element of the port, byte of the section) for all.
template <class F>
void each_element(const Port& p, F f) {
  const uint64_t plane = uint64_t{p.h} * p.w, blocks = (p.c + 15) / 16;
  for (uint64_t n = 0; n < p.n; ++n)
    for (uint64_t c = 0; c < p.c; ++c)
      for (uint64_t i = 0; i < plane; ++i)
        f(p.last ? (n * plane + i) * p.c + c : (n * p.c + c) * plane + i,
          ((n * blocks + c / 16) * plane + i) * 16 + c % 16);
}

}  // namespace

void run_image(const Image& image, const mrvl_input* inputs, size_t input_count, const mrvl_output* outputs,
               size_t output_count) {
  if (input_count != image.inputs.size() || output_count != image.outputs.size())
    throw std::runtime_error("other ports");
  Machine machine(image);
  for (size_t k = 0; k < input_count; ++k) {
    const Port& p = image.inputs[k];
    if (inputs[k].bytes != p.bytes()) throw std::runtime_error("an input has another size");
    int8_t* to = machine.section(p.section);
    const auto* from = static_cast<const int8_t*>(inputs[k].data);
    each_element(p, [&](uint64_t element, uint64_t at) { to[at] = from[element]; });
  }
  machine.run();
  for (size_t k = 0; k < output_count; ++k) {
    const Port& p = image.outputs[k];
    if (outputs[k].bytes != p.bytes()) throw std::runtime_error("an output has another size");
    const int8_t* from = machine.section(p.section);
    auto* to = static_cast<int8_t*>(outputs[k].data);
    each_element(p, [&](uint64_t element, uint64_t at) { to[element] = from[at]; });
  }
}

}  // namespace vta
