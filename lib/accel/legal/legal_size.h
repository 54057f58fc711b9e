// What a layer costs to compile and to run, against its limits.
#pragma once
#include "legal/legal.h"

namespace mrvlc::accel {

Legality legal_size(const LegalContext& c);

}  // namespace mrvlc::accel
