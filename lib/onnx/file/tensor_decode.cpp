// Data fields of a TensorProto checked and packed into bytes; raw and external data taken as they are.
#include "file/tensor_decode.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/tensor/narrow.h"

namespace mrvlc::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "raw data is little-endian and is used as it is");

Diag bad_tensor(const pb::TensorProto& tensor, std::string_view why) {
  return make_diag<DiagCode::MRV0120>(printable(tensor.name()), why);
}

// Fields that hold elements. Exactly one may be used, and it must be the one for the element type
// (onnx.proto, TensorProto).
enum class Field { None, Float, Int32, Int64, String, Double, Uint64, Raw, Several };

// `stored`: its raw data is somewhere else.
Field used_field(const pb::TensorProto& t, bool stored) {
  Field used = stored ? Field::Raw : Field::None;
  auto note = [&](bool there, Field field) {
    if (there) used = used == Field::None ? field : Field::Several;
  };
  note(t.float_data_size() > 0, Field::Float);
  note(t.int32_data_size() > 0, Field::Int32);
  note(t.int64_data_size() > 0, Field::Int64);
  note(t.string_data_size() > 0, Field::String);
  note(t.double_data_size() > 0, Field::Double);
  note(t.uint64_data_size() > 0, Field::Uint64);
  note(!stored && t.has_raw_data() && (!t.raw_data().empty() || used == Field::None), Field::Raw);
  return used;
}

Field field_of(ElementType elem) {
  switch (elem) {
    case ElementType::F32:
    case ElementType::C64:
      return Field::Float;
    case ElementType::F64:
    case ElementType::C128:
      return Field::Double;
    case ElementType::I64:
      return Field::Int64;
    case ElementType::U32:
    case ElementType::U64:
      return Field::Uint64;
    case ElementType::String:
      return Field::String;
    default:
      return Field::Int32;
  }
}

// Copies values into elements of type T; nullopt when one of them does not fit.
template <class T, class Values>
std::optional<std::string> pack(const Values& values) {
  std::string bytes(static_cast<size_t>(values.size()) * sizeof(T), '\0');
  char* out = bytes.data();
  for (auto v : values) {
    T t = static_cast<T>(v);
    if constexpr (std::is_integral_v<T>) {
      if (!std::in_range<T>(v)) return std::nullopt;
    }
    std::memcpy(out, &t, sizeof t);
    out += sizeof t;
  }
  return bytes;
}

std::optional<std::string> pack_field(const pb::TensorProto& t, ElementType elem) {
  switch (elem) {
    case ElementType::F32:
    case ElementType::C64:
      return pack<float>(t.float_data());
    case ElementType::F64:
    case ElementType::C128:
      return pack<double>(t.double_data());
    case ElementType::I64:
      return pack<int64_t>(t.int64_data());
    case ElementType::U64:
      return pack<uint64_t>(t.uint64_data());
    case ElementType::U32:
      return pack<uint32_t>(t.uint64_data());
    case ElementType::I32:
      return pack<int32_t>(t.int32_data());
    case ElementType::I16:
      return pack<int16_t>(t.int32_data());
    case ElementType::I8:
      return pack<int8_t>(t.int32_data());
    case ElementType::U16:
    case ElementType::F16:
    case ElementType::BF16:
      return pack<uint16_t>(t.int32_data());  // the bits of floats
    default:
      return pack<uint8_t>(t.int32_data());  // those of float8, too, and bytes of packed elements
  }
}

// The type of the data as it is stored: elements of less than eight bits are packed into bytes.
TensorType stored_type(const TensorType& type) {
  const int bits = bit_size(type.elem);
  if (bits >= 8 || type.elem == ElementType::String) return type;
  const int64_t in_byte = 8 / bits, count = type.elements();
  return {ElementType::U8, {count / in_byte + (count % in_byte != 0 ? 1 : 0)}};
}

// Clear() would keep the memory for reuse.
void free_fields(pb::TensorProto& t) {
  google::protobuf::RepeatedField<float>().Swap(t.mutable_float_data());
  google::protobuf::RepeatedField<double>().Swap(t.mutable_double_data());
  google::protobuf::RepeatedField<int32_t>().Swap(t.mutable_int32_data());
  google::protobuf::RepeatedField<int64_t>().Swap(t.mutable_int64_data());
  google::protobuf::RepeatedField<uint64_t>().Swap(t.mutable_uint64_data());
}

// Any non-zero byte is true; the rest of the compiler relies on 0 and 1.
void normalise_bools(Tensor& tensor) {
  auto bytes = tensor.data<uint8_t>();
  if (std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b <= 1; })) return;
  for (uint8_t& b : tensor.mutable_data<uint8_t>()) b = b != 0;
}

Result<Tensor> decode_strings(pb::TensorProto& tensor, const TensorType& type) {
  if (tensor.string_data_size() != type.elements())
    return bad_tensor(tensor, "string data does not match the shape");
  auto& data = *tensor.mutable_string_data();
  return Tensor::strings(type.shape,
                         {std::make_move_iterator(data.begin()), std::make_move_iterator(data.end())});
}

}  // namespace

std::optional<std::string> bad_shape(const Shape& shape) {
  if (static_cast<int64_t>(shape.size()) > kMaxRank) {
    return fmt::format("rank {} is over the limit of {}", shape.size(), kMaxRank);
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) return fmt::format("dimension {} is {}", i, shape[i]);
  }
  auto count = checked_product(shape);
  if (!count || *count > kMaxElements) {
    return fmt::format("shape {} has more than {} elements", to_string(shape), kMaxElements);
  }
  return std::nullopt;
}

std::string element_type_text(int32_t data_type) {
  if (auto elem = element_type_from_onnx(data_type)) return std::string(name(*elem));
  // Types that are not supported (ONNX 1.23).
  constexpr std::string_view kOthers[] = {"float6e2m3", "float6e3m2"};
  if (data_type == 27 || data_type == 28) return std::string(kOthers[data_type - 27]);
  return data_type == 0 ? "undefined" : fmt::format("number {}", data_type);
}

Result<Tensor> TensorDecoder::decode_stored(pb::TensorProto& tensor, const TensorType& type) {
  const TensorType stored = stored_type(type);
  auto mapped = stored_.find(&tensor);
  Field field = used_field(tensor, mapped != stored_.end());
  if (field == Field::Several) return bad_tensor(tensor, "more than one data field is set");
  if (field == Field::Raw) {
    if (type.elem == ElementType::String) return bad_tensor(tensor, "strings cannot be raw data");
    size_t size = mapped != stored_.end() ? mapped->second.bytes.size() : tensor.raw_data().size();
    if (static_cast<int64_t>(size) != stored.bytes()) {
      return bad_tensor(
          tensor, fmt::format("raw data has {} bytes, {} needs {}", size, to_string(type), stored.bytes()));
    }
    if (mapped != stored_.end()) return Tensor::view(stored, mapped->second.bytes, mapped->second.owner);
    return Tensor(stored, std::move(*tensor.mutable_raw_data()));
  }
  if (field != Field::None && field != field_of(type.elem)) {
    return bad_tensor(tensor, "the data field is not the one for " + std::string(name(type.elem)));
  }
  if (type.elem == ElementType::String) return decode_strings(tensor, type);
  std::optional<std::string> bytes = pack_field(tensor, type.elem);
  free_fields(tensor);
  if (!bytes) return bad_tensor(tensor, "a value does not fit " + std::string(name(type.elem)));
  if (static_cast<int64_t>(bytes->size()) != stored.bytes()) {
    return bad_tensor(tensor, fmt::format("has data for {} bytes, {} needs {}", bytes->size(),
                                          to_string(type), stored.bytes()));
  }
  return Tensor(stored, std::move(*bytes));
}

Result<Tensor> TensorDecoder::decode(pb::TensorProto& tensor) {
  auto elem = element_type_from_onnx(tensor.data_type());
  if (!elem)
    return make_diag<DiagCode::MRV0121>(printable(tensor.name()), element_type_text(tensor.data_type()));
  TensorType type{*elem, Shape(tensor.dims().begin(), tensor.dims().end())};
  if (auto why = bad_shape(type.shape)) return bad_tensor(tensor, *why);
  if (tensor.has_segment()) return bad_tensor(tensor, "segmented tensors are not supported");
  Result<Tensor> result = Tensor();
  if (tensor.data_location() == pb::TensorProto::EXTERNAL) {
    if (used_field(tensor, stored_.contains(&tensor)) != Field::None)
      return bad_tensor(tensor, "has both external data and data in the model");
    if (type.elem == ElementType::String) return bad_tensor(tensor, "strings cannot be external data");
    result = external_.load(tensor, stored_type(type));
  } else {
    result = decode_stored(tensor, type);
  }
  if (!result.ok()) return result;
  if (type.elem == ElementType::Bool) normalise_bools(*result);
  if (result->elem() == type.elem) return result;
  auto packed = result->bytes();
  auto bytes = unpack_narrow({reinterpret_cast<const char*>(packed.data()), packed.size()}, type.elements(),
                             type.elem);
  if (!bytes) return bad_tensor(tensor, "the data does not match the shape");
  return Tensor(type, std::move(*bytes));
}

}  // namespace mrvlc::onnx
