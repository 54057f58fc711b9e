// The answer to whether a target compiles a layer: yes, or the first check that failed.
#pragma once
#include <string>

namespace mrvlc::partition {

struct Legality {
  bool ok = true;
  std::string condition, actual, limit;  // of the first check that failed
  std::string reason;                    // a sentence
};

}  // namespace mrvlc::partition
