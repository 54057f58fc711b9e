// What the parts of the check have in common.
#pragma once
#include <fmt/format.h>

#include "mrvlc/mesh/check.h"

namespace mrvlc::mesh {

class Checker {
 public:
  Checker(const Plan& plan, uint64_t blob_bytes, size_t most)
      : p_(plan), blob_bytes_(blob_bytes), most_(most) {}
  Findings run();

 private:
  template <class... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    if (f_.faults.size() < most_) f_.faults.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  bool failed() const { return !f_.faults.empty(); }

  // numbers.cpp: what later parts rely on
  void numbers();
  void tensors();
  void layers();
  void tasks();
  void edges();
  bool is_box(const Box& box, const Tensor3& tensor) const;
  // memory.cpp: nothing lies over something else, and all of it in the PE
  void memory();
  // flow.cpp: every operand is written whole, by who computes it, and all of a result is computed once
  void results();
  void operands();
  void ends();
  // liveness.cpp
  void liveness();
  // routes.cpp
  void routes();

  std::string task_name(uint32_t t) const;
  const Tensor3& result(const Task& t) const { return p_.tensors[p_.layers[t.layer].output]; }

  const Plan& p_;
  const uint64_t blob_bytes_;
  const size_t most_;
  Findings f_;
};

}  // namespace mrvlc::mesh
