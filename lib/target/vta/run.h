// One inference by the bytes of a region, as the machine would.
#pragma once
#include "image.h"
#include "mrvl/device.h"

namespace vta {

// Throws std::runtime_error: a deadlock, an index beyond a memory, other ports.
void run_image(const Image& image, const mrvl_input* inputs, size_t input_count, const mrvl_output* outputs,
               size_t output_count);

}  // namespace vta
