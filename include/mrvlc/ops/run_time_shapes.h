// What an emission that serves static and dynamic shapes asks the host code generator besides EmitContext.
//
// It takes sizes from in_dim() and out_dim(), which are literals in a function of static shapes. Such a
// function has no error to return: set_dims() and fail_if() write nothing there.
#pragma once

namespace mrvlc::ops {

class RunTimeShapes {
 public:
  virtual ~RunTimeShapes() = default;
  // Is it a function of shapes known at run time only, which can fail?
  virtual bool is_dynamic() const = 0;
};

}  // namespace mrvlc::ops
