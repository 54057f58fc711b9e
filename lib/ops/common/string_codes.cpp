// Each different string gets the next number; what is made with numbers is turned back by a table.
#include "common/string_codes.h"

#include <map>

namespace mrvlc::ops {

Tensor StringCodes::encode(const Tensor& tensor) {
  if (tensor.elem() != ElementType::String) return tensor;
  texts_.reserve(texts_.size() + tensor.string_data().size());  // the keys of `known` are views
  std::map<std::string_view, int64_t> known;
  for (size_t i = 0; i < texts_.size(); ++i) known.emplace(texts_[i], static_cast<int64_t>(i));
  Tensor codes(tensor.type().with_elem(ElementType::I64));
  for (size_t i = 0; i < tensor.string_data().size(); ++i) {
    const std::string& text = tensor.string_data()[i];
    auto [it, is_new] = known.try_emplace(text, static_cast<int64_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    codes.set_int(static_cast<int64_t>(i), it->second);
  }
  return codes;
}

Tensor StringCodes::decode(const Tensor& codes) const {
  std::vector<std::string> texts;
  for (int64_t code : codes.to_ints()) texts.push_back(texts_[static_cast<size_t>(code)]);
  return Tensor::strings(codes.shape(), std::move(texts));
}

}  // namespace mrvlc::ops
