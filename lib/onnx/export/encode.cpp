// TypeProto, TensorProto (elements below a byte packed) and AttributeProto from what the IR holds.
#include "export/encode.h"

#include "file/wire.h"
#include "mrvlc/ir/metadata.h"
#include "mrvlc/tensor/narrow.h"

namespace mrvlc::onnx {
namespace {

using Type = pb::AttributeProto;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

void encode_tensor_type(const TensorType& type, pb::TypeProto::Tensor& out) {
  out.set_elem_type(static_cast<int32_t>(type.elem));
  if (!type.has_rank()) return;
  auto& shape = *out.mutable_shape();
  for (int64_t d = 0; d < type.rank(); ++d) {
    auto& dim = *shape.add_dim();
    if (!type.is_dynamic(d)) dim.set_dim_value(type.shape[static_cast<size_t>(d)]);
  }
}

std::string packed(std::span<const std::byte> bytes, int bits) {
  const size_t per_byte = static_cast<size_t>(8 / bits);
  std::string out((bytes.size() + per_byte - 1) / per_byte, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const unsigned low = std::to_integer<unsigned>(bytes[i]) & ((1u << bits) - 1);
    const unsigned shift = static_cast<unsigned>(i % per_byte) * static_cast<unsigned>(bits);
    out[i / per_byte] = static_cast<char>(static_cast<unsigned char>(out[i / per_byte]) | low << shift);
  }
  return out;
}

}  // namespace

pb::TypeProto encode_type(const TensorType& type) {
  pb::TypeProto out, *inner = &out;
  if (type.wrapper == Wrapper::Optional || type.wrapper == Wrapper::OptionalSequence)
    inner = inner->mutable_optional_type()->mutable_elem_type();
  if (type.wrapper == Wrapper::Sequence || type.wrapper == Wrapper::OptionalSequence)
    inner = inner->mutable_sequence_type()->mutable_elem_type();
  encode_tensor_type(type, *inner->mutable_tensor_type());
  return out;
}

void encode_tensor(const Tensor& tensor, const std::string& name, pb::TensorProto& out) {
  out.set_name(name);
  out.set_data_type(static_cast<int32_t>(tensor.elem()));
  out.mutable_dims()->Add(tensor.shape().begin(), tensor.shape().end());
  if (tensor.elem() == ElementType::String) {
    for (const std::string& s : tensor.string_data()) out.add_string_data(s);
    return;
  }
  const auto bytes = tensor.bytes();
  const int bits = bit_size(tensor.elem());
  if (bits < 8) return out.set_raw_data(packed(bytes, bits));
  out.set_raw_data(bytes.data(), bytes.size());
}

void encode_attribute(const ir::Attr& attr, const std::string& name, pb::AttributeProto& out) {
  out.set_name(name);
  const auto type = [&](Type::AttributeType t) -> pb::AttributeProto& {
    out.set_type(t);
    return out;
  };
  std::visit(
      Overloaded{
          [](std::monostate) {},
          [&](int64_t v) { type(Type::INT).set_i(v); },
          [&](float v) { type(Type::FLOAT).set_f(v); },
          [&](const std::string& v) { type(Type::STRING).set_s(v); },
          [&](const std::vector<int64_t>& v) { type(Type::INTS).mutable_ints()->Add(v.begin(), v.end()); },
          [&](const std::vector<float>& v) { type(Type::FLOATS).mutable_floats()->Add(v.begin(), v.end()); },
          [&](const std::vector<std::string>& v) {
            type(Type::STRINGS).mutable_strings()->Assign(v.begin(), v.end());
          },
          [&](ElementType v) { type(Type::INT).set_i(static_cast<int64_t>(v)); },
          [&](const Tensor& v) { encode_tensor(v, "", *type(Type::TENSOR).mutable_t()); },
          [](const std::shared_ptr<ir::Graph>&) {},
          [&](const TensorType& v) { *type(Type::TYPE_PROTO).mutable_tp() = encode_type(v); },
      },
      attr);
}

void encode_metadata(const ir::Graph& graph, const ir::Node& node, pb::NodeProto& out) {
  const auto found = ir::metadata_of(graph, node.id);
  if (found == nullptr) return;
  for (const auto& [key, value] : found->properties)
    add_property(*out.mutable_unknown_fields(), kNodeMetadata, key.str(), value.str());
}

void encode_metadata(const ir::Graph& graph, pb::ModelProto& out) {
  if (graph.metadata == nullptr) return;
  for (const ir::Described& part : graph.metadata->parts) {
    for (const auto& [key, value] : part.properties) {
      if (part.of == "graph")
        add_property(*out.mutable_graph()->mutable_unknown_fields(), kGraphMetadata, key.str(), value.str());
      if (part.of != "model") continue;
      auto& entry = *out.add_metadata_props();
      entry.set_key(key.str());
      entry.set_value(value.str());
    }
  }
}

}  // namespace mrvlc::onnx
