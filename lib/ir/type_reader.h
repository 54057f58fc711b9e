// Types and constants of textual IR (docs/ir.md).
#pragma once
#include "lexer.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::ir {

class TypeReader {
 public:
  explicit TypeReader(Lexer& lex) : lex_(lex) {}

  Result<ElementType> element_type();
  // f32[1,<=8;4], sequence(f32[2],16), optional(f32[2]), optional(sequence(f32[*;9],16))
  Result<TensorType> type();
  // A list of numbers or texts, or bytes in hexadecimal; the count is checked before anything is allocated.
  Result<Tensor> tensor(TensorType type);
  Result<std::vector<std::string>> string_list() {
    return list<std::string>([&] { return lex_.quoted(); });
  }
  // "[a, b]"; `item` reads one.
  template <class T, class F>
  Result<std::vector<T>> list(F item) {
    std::vector<T> out;
    MRVLC_TRY(lex_.expect("["));
    if (lex_.accept("]")) return out;
    do {
      MRVLC_ASSIGN(out.emplace_back(), item());
    } while (lex_.accept(","));
    MRVLC_TRY(lex_.expect("]"));
    return out;
  }

 private:
  Result<TensorType> optional();
  Result<TensorType> sequence();
  Result<TensorType> tensor_type();
  Status dimensions(TensorType& type);
  Status check_size(const TensorType& type) const;
  Result<Tensor> numbers(const TensorType& type);
  Lexer& lex_;
};

}  // namespace mrvlc::ir
