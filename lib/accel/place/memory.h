// Where buffers lie in the model's DDR address space: weights at 0, inputs at the next multiple of 128,
// outputs after them, scratch at the next multiple of 1024. Scratch buffers share bytes when they are not
// needed at the same time.
#pragma once
#include "mrvlc/target/machine.h"
#include "primitive/program.h"

namespace mrvlc::accel {

struct MemoryMap {
  int64_t input_begin = 0, input_end = 0, output_begin = 0, output_end = 0, scratch_begin = 0, end = 0;
};
MemoryMap plan_memory(Program& program, const target::Machine& machine);

}  // namespace mrvlc::accel
