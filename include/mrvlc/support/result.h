// Result<T>: a value, or the diagnostic that says why there is none. Status is a Result without a value.
#pragma once
#include <optional>
#include <utility>
#include <variant>

#include "mrvlc/support/diag.h"

namespace mrvlc {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}     // NOLINT: implicit by design
  Result(Diag error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Diag& error() const& { return std::get<1>(state_); }
  Diag&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Diag> state_;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Diag error) : error_(std::move(error)) {}  // NOLINT: implicit by design
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Diag& error() const& { return *error_; }
  Diag&& error() && { return *std::move(error_); }

 private:
  std::optional<Diag> error_;
};

#define MRVLC_CONCAT_(a, b) a##b
#define MRVLC_CONCAT(a, b) MRVLC_CONCAT_(a, b)

// Status s = f(); returns its error from the enclosing function.
#define MRVLC_TRY(expr)                                               \
  do {                                                                \
    auto mrvlc_status_ = (expr);                                      \
    if (!mrvlc_status_.ok()) return std::move(mrvlc_status_).error(); \
  } while (false)

// MRVLC_ASSIGN(auto x, f()): x = value of the Result, or returns its error.
#define MRVLC_ASSIGN(lhs, expr) MRVLC_ASSIGN_(MRVLC_CONCAT(mrvlc_result_, __LINE__), lhs, expr)
#define MRVLC_ASSIGN_(tmp, lhs, expr)           \
  auto tmp = (expr);                            \
  if (!tmp.ok()) return std::move(tmp).error(); \
  lhs = std::move(tmp).value()

}  // namespace mrvlc
