// `compile --precision int8` and `auto` with --data: the model is made one of integers before it is compiled.
#pragma once
#include "accuracy/quantized_model.h"

namespace mrvlc::driver {

// options.quantized, where --precision int8 or auto have --data; `half`: there is an accelerator. False:
// `diagnostics` say why not.
bool quantize_for(CompileOptions& options, bool half, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
