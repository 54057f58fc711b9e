// Shell patterns, as options take them for names of nodes.
#pragma once
#include <string_view>

namespace mrvlc {

// `*` any characters, `?` any one; the rest literally. Linear in the text for each `*`.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace mrvlc
