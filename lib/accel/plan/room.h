// Bytes of a tile's memory that a primitive wants beside the tensors that lie there.
#pragma once
#include "plan/window_plan.h"

namespace mrvlc::accel {

// The least room with which it is about as fast as with all memory.
int64_t room_beside(const WindowOp& op, const Cut& cut, const Streams& streams,
                    const target::Machine& machine);
// `streams`: some operand goes through DDR.
int64_t room_beside(const PeGroup& group, const Cut& cut, bool streams, const target::Machine& machine);

}  // namespace mrvlc::accel
