// What a layer costs to compile and to run, against its limits.
#pragma once
#include "legal.h"

namespace mrvlc::partition {

Legality legal_size(const LegalContext& c);

}  // namespace mrvlc::partition
