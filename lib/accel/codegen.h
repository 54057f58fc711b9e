// Primitive operations to instructions. Each call returns how the work was cut over tiles, for the report.
#pragma once
#include "emitter.h"

namespace mrvlc::accel {

std::string generate(const PeGroup& group, const Program& program, Emitter& emitter);
Result<std::string> generate(const WindowOp& op, const Program& program, Emitter& emitter);

}  // namespace mrvlc::accel
