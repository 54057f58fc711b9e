// A program while it grows: steps of loads, kernels and stores, constants, and which half of a memory holds
// what.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "machine.h"

namespace vta {

// GEMM or ALU with its micro-ops, or a LOAD of the compute unit.
struct Kernel {
  Instruction instruction;
  std::vector<uint32_t> uops;
};

// Loads, then kernels that read them, then stores of what these made.
struct Step {
  std::vector<Instruction> loads, stores;
  std::vector<Kernel> compute;
  int64_t waits_for = -1;    // the last step that reads what the loads overwrite
  size_t reader = 0;         // the first kernel that reads the loads
  bool begins_tile = false;  // the first kernel writes a half of ACC
  bool barrier = false;      // all stores are through behind it
  uint32_t layer = 0;
};

// The two halves of INP or WGT.
class Halves {
 public:
  // The half that holds `key`; sets load and raises waits_for where it has to be loaded.
  uint32_t take(const std::vector<uint64_t>& key, int64_t step, bool& load, int64_t& waits_for);

 private:
  struct Half {
    std::vector<uint64_t> key;
    int64_t reader = -1;
  };
  Half halves_[2];
};

// Addresses of LOAD and STORE count from the begin of the section of their memory until `finish`.
struct Program {
  std::vector<Step> steps;
  Halves inp, wgt;
  std::vector<uint64_t> bias_key;  // what the biases' part of ACC holds
  uint32_t tile = 0;               // numbers of tiles so far: their parity is the half of ACC
  std::vector<int8_t> weights;     // in blocks of 256
  std::vector<int32_t> biases;     // in elements of 16
  std::map<std::vector<int32_t>, uint32_t> weight_at, bias_at;  // what is there already
  std::vector<uint64_t> tensor_at;  // of values of the region: elements from the begin of the activations
};

// In an order in which each token is pushed before it is popped.
struct Stream {
  std::vector<Instruction> instructions;
  std::vector<uint32_t> layer_of;  // of each instruction
  std::vector<uint32_t> uops;
};
Stream finish(Program& program);

}  // namespace vta
