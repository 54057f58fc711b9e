// Places in stored tensors and epilogues, as the primitives' text has them.
#pragma once
#include <optional>

#include "primitive/program.h"

namespace mrvlc::accel {

// "%x+0{128,16}:f32": elements at offsets of a buffer, the strides of what walks through it; f16 is not said.
struct PlaceText {
  std::string buffer;
  Dims offsets, strides;
  isa::DataType type = isa::DataType::F16;
  isa::Quantization quantization = {};  // "i8(-3,0.5)": zero point and scale of integers
};
std::string to_text(const PlaceText& place);
std::optional<PlaceText> read_place(std::string_view text);

// "relu", "clip(0,6)", "table@512".
std::string to_text(const EpilogueSpec& epilogue);
std::optional<EpilogueSpec> read_epilogue(std::string_view text);

}  // namespace mrvlc::accel
