// Options whose value has a form of its own: shapes, bindings, precisions, ranges of inputs, what to do about
// a device that fails.
#pragma once
#include <span>
#include <string_view>

#include "mrvlc/driver/options.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver::forms {

using Words = std::span<const std::string>;
Status input_shapes(std::string_view option, Words words, CompileOptions& options);  // NAME=1x3x224x224
Status input_dims(std::string_view option, Words words, CompileOptions& options);    // SYMBOL=N, SYMBOL=1..N
Status bounds(std::string_view option, Words words, CompileOptions& options);        // NAME=64x4
Status bindings(std::string_view option, Words words, CompileOptions& options);      // NAME=VALUE|FILE.npy
Status targets(std::string_view option, Words words, CompileOptions& options);       // T[,T2...]
Status precisions(std::string_view option, Words words, CompileOptions& options);    // KIND or NAME=HOW
Status input_ranges(std::string_view option, Words words, CompileOptions& options);  // NAME=LO:HI
Status device_error(std::string_view option, Words words, CompileOptions& options);  // retry:3,cpu

}  // namespace mrvlc::driver::forms
