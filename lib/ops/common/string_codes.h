// Strings as numbers, so that what only compares or moves strings can be evaluated as on integers.
#pragma once
#include "mrvlc/ops/op.h"

namespace mrvlc::ops {

class StringCodes {
 public:
  // A tensor of I64 with a number for each string; equal strings have equal numbers.
  Tensor encode(const Tensor& texts);
  Tensor decode(const Tensor& codes) const;

 private:
  std::vector<std::string> texts_;
};

// Evaluates an operator by `eval` on the numbers of its strings.
template <Status (*Eval)(const EvalContext&)>
Status eval_on_codes(const EvalContext& context) {
  bool any = false;
  for (const Tensor* t : context.inputs) any = any || (t != nullptr && t->elem() == ElementType::String);
  if (!any) return Eval(context);
  StringCodes codes;
  std::vector<Tensor> inputs, outputs;
  EvalContext inner = context;
  for (const Tensor* t : context.inputs) inputs.push_back(t == nullptr ? Tensor() : codes.encode(*t));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (context.inputs[i] != nullptr) inner.inputs[i] = &inputs[i];
  }
  for (const Tensor& t : *context.outputs)
    outputs.emplace_back(t.type().with_elem(t.elem() == ElementType::String ? ElementType::I64 : t.elem()));
  inner.outputs = &outputs;
  MRVLC_TRY(Eval(inner));
  for (size_t i = 0; i < outputs.size(); ++i) {
    bool text = context.outputs->at(i).elem() == ElementType::String;
    context.outputs->at(i) = text ? codes.decode(outputs[i]) : outputs[i];
  }
  return {};
}

}  // namespace mrvlc::ops
