// frontier.html: the table of `compile --frontier`, and its rows as points, time against error.
#pragma once
#include "model/frontier.h"

namespace mrvlc::driver {

std::string frontier_page(const Frontier& frontier, const std::string& model);

}  // namespace mrvlc::driver
