// What `mrvlc diff` found, as a page.
#pragma once
#include <string>

#include "model/compiled_model.h"

namespace mrvlc::driver {

// `a` and `b`: what the two are called.
std::string diff_html(const Json& diff, const std::string& a, const std::string& b);

}  // namespace mrvlc::driver
