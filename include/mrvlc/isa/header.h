// The metadata of a model binary as it stands, of this compiler's binaries and of the vendor's: nothing of
// the code is looked at. Format: CN10K metadata 2.3.0.1 (DPDK, drivers/ml/cnxk), docs/isa.md.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::isa {

struct Header {
  std::string text;                  // every field, a line each, in the order of the file
  std::vector<std::string> refused;  // why the published driver of the device does not load it
  std::vector<std::string> faults;   // what that driver does not look at, and what cannot be right
};

// MRV0701 where there is no such metadata: fewer bytes than it has, or another magic number.
Result<Header> read_header(std::string_view file);

}  // namespace mrvlc::isa
