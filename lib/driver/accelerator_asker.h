// Whether the accelerator takes an operator, asked as a compile asks: a representative node goes through
// passes, the default rules and legality.
#pragma once
#include "mrvlc/ops/op.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::driver {

struct AcceleratorAnswer {
  std::string kinds;   // of the layers its node becomes, "removed" when passes leave nothing; empty: refused
  std::string reason;  // why it is refused; empty when no representative of floats is valid
};

class AcceleratorAsker {
 public:
  AcceleratorAsker();  // the built-in target cn10ka
  AcceleratorAnswer operator()(const ops::OpDef& op) const;

 private:
  target::Machine machine_;
};

}  // namespace mrvlc::driver
