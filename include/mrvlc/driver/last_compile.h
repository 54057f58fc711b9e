// compile() for a program that has nothing to do after it.
#pragma once
#include "mrvlc/driver/driver.h"

namespace mrvlc::driver {

// As compile() (driver.h), once a process: what a compile that went well has in memory is left to the end of
// the process. Taking the model apart is a tenth of the time where nodes are many and cheap.
bool compile_last(const CompileOptions& options, Diagnostics& diagnostics,
                  const std::function<void(std::string)>& dump, std::vector<std::string>* summary);

}  // namespace mrvlc::driver
