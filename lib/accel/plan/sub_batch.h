// Batches in parts: where the tensors of all images do not fit the chip, a stretch of primitives works on a
// few images at a time, so that what the primitives pass on to each other stays there. Images share nothing,
// so nothing is computed twice; a stretch reads its weights once for each part of the batch.
#pragma once
#include <vector>

#include "primitive/program.h"

namespace mrvlc::accel {

// How many images each primitive works on at a time: a power of two, or Program::images. Primitives that do
// not treat images apart work on all.
using ImagesAtOnce = std::vector<int64_t>;

// The most images for each primitive whose tensors take at most `bytes`, on all tiles together; fewer where
// only a few primitives in a row could take more.
ImagesAtOnce images_within(const Program& program, int64_t bytes);
// At most `most` images everywhere.
ImagesAtOnce images_at_most(const Program& program, int64_t most);
// The program (its weights may have been moved out) in that order.
Program in_sub_batches(const Program& program, const ImagesAtOnce& at_once);

}  // namespace mrvlc::accel
