// C text as it is written: with the lines of every function, counted on the way.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/chost/chost.h"
#include "naming/public_names.h"

namespace mrvlc::chost {

// One generated function, from its first line to its last.
struct FunctionText {
  std::string symbol, text;
  ir::ExprId expr;  // invalid: of no expression in particular
  std::vector<ir::ExprId> fused;
  uint32_t above = 0;  // lines of the text that are none of the function's: a comment
};

class CSource {
 public:
  CSource() = default;
  // What is added has the names that others see.
  explicit CSource(const PublicNames* names) : names_(names) {}
  void reserve(size_t bytes) { text_.reserve(bytes); }
  // Text without functions.
  void add(std::string_view text);
  // The text is moved out: of a large model it must not be in memory twice.
  void add(FunctionText&& function);
  // Text with functions that are known, their lines counted from its first.
  void add(std::string_view text, const std::vector<HostFunction>& functions);
  void add(const CSource& part) { add(part.text_, part.functions_); }

  const std::string& text() const { return text_; }
  const std::vector<HostFunction>& functions() const { return functions_; }
  std::string take_text() { return std::move(text_); }
  std::vector<HostFunction> take_functions() { return std::move(functions_); }

 private:
  const PublicNames* names_ = nullptr;
  std::string text_;
  uint32_t lines_ = 0;                   // ended ones
  std::vector<HostFunction> functions_;  // in order of lines; without their file
};

}  // namespace mrvlc::chost
