// Pixels that nobody reads are not computed.
#pragma once
#include "primitive/program.h"

namespace mrvlc::accel {

// Where all readers of an image are 1x1 windows with the same stride, and one convolution makes it, that
// convolution takes the stride over and makes the smaller image. (The first layers of a stage of ResNet v1
// are such readers.)
void prune_unread_pixels(Program& program);

}  // namespace mrvlc::accel
