// Words that no identifier of generated code may be: keywords of C and C++, and what headers define as
// macros.
#pragma once
#include <string_view>

namespace mrvlc {

// A keyword of C99 to C23 or of C++98 to C++23, alternative tokens ("and") included.
bool is_keyword(std::string_view word);
// A keyword, or a word that a header of C, C++ or POSIX may define as a macro: two capitals or more and no
// word that ends in '_' ("INT32_MAX", "PRIx16"), `M_PIf`, `errno`, `unix`, `si_pid`, ... Which headers a
// program includes is not known; appending '_' to such a word makes one that is free.
bool is_taken_word(std::string_view word);

}  // namespace mrvlc
