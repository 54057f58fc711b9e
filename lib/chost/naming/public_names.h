// Names of NAME.c. All begin with K_ while C is emitted, as in the kernels. Functions, data and types, and
// what others see, get the program's prefix when the text is put together: symbols of two models differ in a
// debugger, too. Macros and enumerators that only NAME.c has stay short.
#pragma once
#include <set>
#include <string>
#include <string_view>

namespace mrvlc::chost {

// The prefix of macros and enumerators that only NAME.c has.
inline constexpr std::string_view kLocalName = "K";

class PublicNames {
 public:
  // `header`: of NAME.h, which declares them; `prefix`: NAME.
  PublicNames(std::string_view prefix, std::string_view header);

  // K_run becomes NAME_run, K_DATA stays. Comments, literals and #include lines stay as they are: texts of
  // the model are in them.
  std::string published(std::string_view text) const;

 private:
  std::string prefix_;
  std::set<std::string, std::less<>> names_;  // without the prefix
};

}  // namespace mrvlc::chost
