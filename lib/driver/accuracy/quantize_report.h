// What `mrvlc quantize` decided, for people and for programs (docs/quantization.md).
#pragma once
#include <string>

#include "mrvlc/quantize/quantize.h"

namespace mrvlc::driver {

// All of it: a document of its own.
std::string quantize_json(const quantize::Report& report, const std::string& model_sha256);
std::string quantize_text(const quantize::Report& report);

}  // namespace mrvlc::driver
