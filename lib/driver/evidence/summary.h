// What `mrvlc evidence` prints.
#pragma once
#include "evidence/document.h"

namespace mrvlc::driver {

std::string summary(const Evidence& evidence);

}  // namespace mrvlc::driver
