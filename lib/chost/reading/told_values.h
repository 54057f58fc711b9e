// --trace-values: what a function that runs a program tells the caller's hook (mrvl_value of mrvl/device.h).
#pragma once
#include <optional>
#include <string>

#include "text.h"

namespace mrvlc::chost {

class ToldValues {
 public:
  explicit ToldValues(const Program& program, const ArenaResult& arena) : program_(program), arena_(arena) {}

  // Values that lie in memory, as the model has them, before the first step and behind a step.
  std::vector<ir::ValueId> at_begin() const;
  std::vector<ir::ValueId> behind(const Step& step) const;
  // Adds the value to the module's table; returns its row.
  size_t row(ir::ValueId value) const;

 private:
  bool has_memory(ir::ValueId value) const;
  bool is_written(const Step& step, ir::ValueId value) const;

  const Program& program_;
  const ArenaResult& arena_;
};

// Of NAME.c: the table, and the function that calls the hook; empty unless values are told.
std::string told_values_text(const Module& module, std::string_view prefix);

}  // namespace mrvlc::chost
