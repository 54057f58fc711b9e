// Whether the accelerator takes an operator, asked as a compile asks: a representative node goes through
// passes, the default rules and legality.
#pragma once
#include "mrvlc/backends/open.h"
#include "mrvlc/ops/op.h"

namespace mrvlc::driver {

struct AcceleratorAnswer {
  std::string kinds;   // of the layers its node becomes, "removed" when passes leave nothing; empty: refused
  std::string reason;  // why it is refused; empty when no representative of floats is valid
};

class AcceleratorQuery {
 public:
  AcceleratorQuery();  // the default target
  AcceleratorAnswer operator()(const ops::OpDef& op) const;

 private:
  backends::Opened backend_;
};

}  // namespace mrvlc::driver
