// Tensors, strings, sequences and optionals to and from the memory that a stub reads and writes.
#include "packed.h"

#include <fmt/format.h>

#include <cstring>

#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::conformance {
namespace {

struct StringWords {
  const char* data = nullptr;
  size_t size = 0;
};

bool is_optional(const TensorType& type) {
  return type.wrapper == Wrapper::Optional || type.wrapper == Wrapper::OptionalSequence;
}

void pack_tensor(const Tensor& tensor, std::byte* to, std::deque<std::string>& texts) {
  if (tensor.elem() != ElementType::String) {
    if (tensor.type().bytes() > 0) std::memcpy(to, tensor.bytes().data(), tensor.bytes().size());
    return;
  }
  for (const std::string& text : tensor.string_data()) {
    const std::string& kept = texts.emplace_back(text);
    StringWords words{kept.data(), kept.size()};
    std::memcpy(to, &words, sizeof words);
    to += sizeof words;
  }
}

Diag bad(std::string what) {
  return make_diag<DiagCode::MRV0007>(std::move(what));
}

Result<Tensor> unpack_tensor(const std::byte* from, const TensorType& type, const int64_t* dims,
                             int64_t rank) {
  TensorType actual{type.elem, Shape(dims, dims + rank)};
  const auto elements = checked_product(actual.shape);
  if (!elements || *elements < 0 || *elements > type.elements())
    return bad(fmt::format("the shape is {}", to_string(actual.shape)));
  if (type.elem != ElementType::String)
    return Tensor(actual,
                  std::string(reinterpret_cast<const char*>(from), static_cast<size_t>(actual.bytes())));
  std::vector<std::string> texts;
  for (int64_t i = 0; i < *elements; ++i) {
    StringWords words;
    std::memcpy(&words, from + static_cast<size_t>(i) * sizeof words, sizeof words);
    texts.emplace_back(words.size == 0 ? "" : words.data, words.size);
  }
  return Tensor::strings(actual.shape, std::move(texts));
}

void pack_sequence(const std::vector<Tensor>& items, const TensorType& type, Packed& packed) {
  auto* rows = reinterpret_cast<int64_t*>(packed.bytes.data());
  const auto slot = static_cast<size_t>(ops::slot_bytes(type));
  std::byte* slots = packed.bytes.data() + static_cast<size_t>(type.length) * kMaxRank * sizeof(int64_t);
  for (size_t i = 0; i < items.size(); ++i) {
    std::copy(items[i].shape().begin(), items[i].shape().end(), rows + i * kMaxRank);
    // The last word of a row is the rank.
    rows[i * kMaxRank + kMaxRank - 1] = items[i].type().rank();
    pack_tensor(items[i], slots + i * slot, packed.texts);
  }
  packed.port.dims[0] = static_cast<int64_t>(items.size());
}

Result<Tensor> unpack_sequence(const Port& port, TensorType type) {
  const int64_t count = port.dims[0];
  if (count < 0 || count > type.length) return bad(fmt::format("the sequence holds {} tensors", count));
  const auto* rows = static_cast<const int64_t*>(port.data);
  const auto* slots = static_cast<const std::byte*>(port.data) + type.length * kMaxRank * 8;
  std::vector<Tensor> items;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t* row = rows + i * kMaxRank;
    if (row[kMaxRank - 1] < 0 || row[kMaxRank - 1] >= kMaxRank) return bad("a tensor's rank is impossible");
    MRVLC_ASSIGN(items.emplace_back(), unpack_tensor(slots + i * ops::slot_bytes(type), ops::item_type(type),
                                                     row, row[kMaxRank - 1]));
  }
  type.wrapper = Wrapper::Sequence;
  return Tensor::wrapped(type, std::move(items));
}

}  // namespace

Packed pack(const Tensor& value, const TensorType& type) {
  Packed packed;
  packed.bytes.resize(static_cast<size_t>(std::max<int64_t>(ops::memory_bytes(type), 1)));
  const Tensor* inner = &value;
  if (is_optional(type)) {
    packed.port.dims[kMaxRank - 1] = value.items().empty() ? 0 : 1;
    inner = value.items().empty() ? nullptr : &value.items().front();
  }
  if (inner != nullptr && inner->type().wrapper == Wrapper::Sequence) {
    pack_sequence(inner->items(), type, packed);
  } else if (inner != nullptr) {
    std::copy(inner->shape().begin(), inner->shape().end(), packed.port.dims);
    // 16: the address and size of a text, the largest element.
    packed.bytes.resize(std::max(packed.bytes.size(), static_cast<size_t>(inner->elements()) * 16));
    pack_tensor(*inner, packed.bytes.data(), packed.texts);
  }
  packed.port.data = packed.bytes.data();
  return packed;
}

Result<Tensor> unpack(const Port& port, const TensorType& type) {
  if (type.wrapper == Wrapper::None)
    return unpack_tensor(static_cast<const std::byte*>(port.data), type, port.dims, type.rank());
  if (type.wrapper == Wrapper::Sequence) return unpack_sequence(port, type);
  std::vector<Tensor> items;
  if (port.dims[kMaxRank - 1] != 0) {
    if (type.wrapper == Wrapper::OptionalSequence) {
      MRVLC_ASSIGN(items.emplace_back(), unpack_sequence(port, type));
    } else {
      MRVLC_ASSIGN(items.emplace_back(),
                   unpack_tensor(static_cast<const std::byte*>(port.data), type, port.dims, type.rank()));
    }
  }
  return Tensor::wrapped(type, std::move(items));
}

}  // namespace mrvlc::conformance
