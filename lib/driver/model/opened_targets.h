// The targets of --target, opened.
#pragma once
#include "inputs/libraries.h"
#include "mrvlc/backends/open.h"

namespace mrvlc::driver {

struct OpenedAccelerator {
  target::TargetText text;
  std::shared_ptr<const backend::Backend> backend;
  backends::Settings settings;  // with what --target-opt says of it
  size_t behind = 0;            // libraries named before it
};

struct Targets {
  std::vector<OpenedAccelerator> accelerators;
  Libraries libraries;
  target::Searched searched;  // where they were looked for
};

}  // namespace mrvlc::driver
