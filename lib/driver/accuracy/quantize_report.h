// What `mrvlc quantize` decided, for people and for programs (docs/quantization.md).
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "mrvlc/quantize/quantize.h"

namespace mrvlc::driver {

// All of it: a document of its own.
std::string quantize_json(const quantize::Report& report, const std::string& model_sha256);
std::string quantize_text(const quantize::Report& report);
// report.json's `quantization`, and that in a line.
nlohmann::ordered_json quantization_json(const quantize::Report& report);
std::string quantization_line(const nlohmann::ordered_json& quantization);

}  // namespace mrvlc::driver
