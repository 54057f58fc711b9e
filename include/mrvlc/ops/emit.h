// What an operator's C emission sees of the host code generator (implemented by lib/chost). The emission
// writes the body of
//   static void f(const T0* x0, const T1* x1, ..., U0* y0, ...)     -- `restrict` pointers, row-major data
// in C99: no malloc, no stdio, no globals. Absent optional inputs and inputs that are compile-time constants
// of shape kind (see constant()) are still counted in the numbering but may be unused.
//
// Nodes with a dynamic or wrapped operand or result, and nodes whose shape operands are no constants, have a
// function with run-time shapes (OpDef::emit_dynamic):
//   static int f(const NAME_view* v0, ..., NAME_view* w0, ...)
// in() and out() still name row-major data; dimensions are read with in_dim(), and those of every output are
// set once, with set_dims(), before its data is written. The function returns 0 at its end by itself; fail_if
// returns an error before.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "mrvlc/ir/graph.h"

namespace mrvlc::ops {

// Elements of an input that say where: indices, labels, lengths. Those at first, first + step, ..., `count`
// of them, lie in [low, high], or are `but`; numbers of floating point in [low, high + 1).
struct ElementRange {
  size_t input = 0;
  int64_t count = 0, low = 0, high = 0;
  int64_t first = 0, step = 1;
  std::optional<int64_t> but = {};
};

class EmitContext {
 public:
  virtual ~EmitContext() = default;
  virtual const ir::Node& node() const = 0;
  virtual bool has(size_t i) const = 0;
  virtual const TensorType& in_type(size_t i) const = 0;
  virtual const TensorType& out_type(size_t i) const = 0;
  virtual const Tensor* constant(size_t i) const = 0;  // input known at compile time, else nullptr
  virtual std::string in(size_t i) const = 0;          // "x0": C name of the pointer
  virtual std::string out(size_t i) const = 0;         // "y0"

  // Run-time shapes. C expressions: a literal for a dimension that is not dynamic, else e.g. "v0->dim[1]".
  virtual std::string in_dim(size_t i, int64_t d) const = 0;
  virtual std::string out_dim(size_t i, int64_t d) const = 0;  // valid after set_dims
  // Sets the dimensions of output i (C expressions of type int64_t, evaluated once, one for each dimension of
  // its type) and returns an error from the function when they are negative, exceed the bounds or capacity of
  // the type, or differ from a dimension that is not dynamic.
  virtual void set_dims(size_t i, const std::vector<std::string>& dims) = 0;
  // Returns NAME_ERROR_VALUE from the function when the C condition holds: a value of an operand is not
  // allowed.
  virtual void fail_if(std::string_view condition) = 0;

  // In a function of static shapes: has what calls it end with NAME_ERROR_VALUE before, unless the elements
  // lie in their range. False where nobody checks (--unchecked-indices): then the emission sees to it that no
  // value leads beyond the operands. Functions with run-time shapes have fail_if.
  virtual bool check_elements([[maybe_unused]] const ElementRange& range) { return false; }

  // One line of the body, indented by the open blocks.
  virtual void line(std::string_view text) = 0;
  virtual void open(std::string_view head) = 0;  // "for (size_t i = 0; i < 10; ++i)" then "{"
  virtual void close() = 0;
  // for (ptrdiff_t VAR = 0; VAR < N; ++VAR) {
  void loop(std::string_view var, int64_t n) {
    open(fmt::format("for (ptrdiff_t {0} = 0; {0} < {1}; ++{0})", var, n));
  }
  // The same where that is all the work of the body, and its iterations do not know of each other: threads
  // may share it. n: a C expression. operations: of the whole loop, about as many multiply-adds.
  virtual void shared_loop(std::string_view var, const std::string& n, [[maybe_unused]] int64_t operations) {
    open(fmt::format("for (ptrdiff_t {0} = 0; {0} < {1}; ++{0})", var, n));
  }

  // Makes sure a shared helper is emitted once for the program, and returns the name to call it by: a piece
  // of lib/chost/kernels/*.c; the build ends when there is none of that name. A text and no enumerator, as
  // the pieces belong to the C emitter, which this component does not see. Math functions of <math.h> (expf,
  // logf, sqrtf, tanhf, erff, powf, fabsf, floorf, ...) may be called directly.
  virtual std::string helper(std::string_view name) = 0;
  // Little text is wanted more than speed: plain loops, and functions of the C library, where there is the
  // choice.
  virtual bool wants_little_text() const { return false; }
  // The result may be given the memory of the first operand, of an operator that `updates` (traits.h): what
  // is there already is not copied.
  virtual bool may_share() const { return false; }
  // Scratch memory of the function, from the arena, 64-byte aligned; returns the C name of a void pointer.
  virtual std::string scratch(int64_t bytes) = 0;
  // A constant table placed in the weights blob (aligned to 64); returns a C expression of type const T*.
  virtual std::string table(const Tensor& tensor) = 0;
  // Whether input `i`, constant weights of floats, is to be stored as numbers of 16 bits, which all of them
  // are: by halves(), which returns a C expression of type const uint16_t*, for pieces that unpack them.
  virtual bool stores_halves([[maybe_unused]] size_t i) const { return false; }
  virtual std::string halves([[maybe_unused]] const std::vector<float>& values) { return {}; }
};

// "float", "int64_t", "uint8_t" (bool), "uint16_t" (f16 bits) ...
std::string_view c_type(ElementType elem);
// A C literal that reads back to the same value: "0x1.8p+1f", "INT64_C(3)", handles NaN and infinities.
std::string c_literal(double value, ElementType elem);
std::string c_literal(int64_t value, ElementType elem);

}  // namespace mrvlc::ops
