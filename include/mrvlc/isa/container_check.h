// Whether a binary can be written down.
#pragma once
#include "mrvlc/isa/container.h"

namespace mrvlc::isa {

// Every size fits its field and is one that read_container() takes; else MRV0510 names the first that does
// not. write_container() is for binaries that have passed: accel::compile_region() gives no others away.
Status check_container(const Binary& binary);

}  // namespace mrvlc::isa
