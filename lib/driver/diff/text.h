// What `mrvlc diff` found, for people.
#pragma once
#include <string>

#include "model/compiled_model.h"

namespace mrvlc::driver {

std::string diff_text(const Json& diff);
std::string number_text(const Json& value);  // null: not known
std::string where_text(const Json& where);   // null: there is no such node

}  // namespace mrvlc::driver
