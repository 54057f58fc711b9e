// What an emission that serves static and dynamic shapes asks the host code generator besides EmitContext.
//
// It takes sizes from in_dim() and out_dim(), which are literals in a function of static shapes. What they
// say of shapes is right there: set_dims() and fail_if() write nothing. An error that it can have is that of
// a value, see fail_on_value().
#pragma once

#include <string_view>

namespace mrvlc::ops {

class RunTimeShapes {
 public:
  virtual ~RunTimeShapes() = default;
  // Is it a function of shapes known at run time only, which can fail?
  virtual bool is_dynamic() const = 0;
  // In a function of static shapes: it returns NAME_ERROR_VALUE when the C condition holds, and is not cut
  // for threads. False where nobody checks, see EmitContext::check_elements: nothing is written.
  virtual bool fail_on_value([[maybe_unused]] std::string_view condition) { return false; }
};

}  // namespace mrvlc::ops
