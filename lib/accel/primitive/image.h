// Windows over images whose height and width were joined.
#pragma once
#include "primitive/program.h"

namespace mrvlc::accel {

// Height and width apart again; does nothing where they are.
inline void unflatten(WindowOp& op) {
  if (op.grain == 1) return;
  for (WindowOp::Image* i : {&op.x, &op.out, &op.residual}) {
    i->stride_w = i->stride_h;
    i->stride_h *= op.grain;
  }
  op.in_w = op.out_w = op.grain;
  op.in_h = op.out_h = op.out_h / op.grain;
  op.grain = 1;
}

}  // namespace mrvlc::accel
