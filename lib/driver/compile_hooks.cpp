// What all trial compiles have in common.
#include "compile_hooks.h"

namespace mrvlc::driver {

CompileOptions for_trial(const CompileOptions& options) {
  CompileOptions out = options;
  out.timing.clear();
  out.depfile.clear();
  out.dump_ir.clear();
  out.dump_stages.clear();
  out.log = Log();
  return out;
}

}  // namespace mrvlc::driver
