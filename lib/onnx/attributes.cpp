// Which field of an AttributeProto is set, whether it is of the declared type; slots filled by the schema.
#include "attributes.h"

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {
namespace {

using Type = pb::AttributeProto;

Diag bad_attribute(std::string_view attribute, std::string_view why) {
  return make_diag<DiagCode::MRV0140>(printable(attribute), why);
}

struct Used {
  int fields = 0;
  Type::AttributeType type = Type::UNDEFINED;  // of the last field set
};

Used used_fields(const pb::AttributeProto& a) {
  Used used;
  auto note = [&](bool there, Type::AttributeType type) {
    if (!there) return;
    ++used.fields;
    used.type = type;
  };
  note(a.has_f(), Type::FLOAT);
  note(a.has_i(), Type::INT);
  note(a.has_s(), Type::STRING);
  note(a.has_t(), Type::TENSOR);
  note(a.has_g(), Type::GRAPH);
  note(a.has_sparse_tensor(), Type::SPARSE_TENSOR);
  note(a.has_tp(), Type::TYPE_PROTO);
  note(a.floats_size() > 0, Type::FLOATS);
  note(a.ints_size() > 0, Type::INTS);
  note(a.strings_size() > 0, Type::STRINGS);
  note(a.tensors_size() > 0, Type::TENSORS);
  note(a.graphs_size() > 0, Type::GRAPHS);
  note(a.sparse_tensors_size() > 0, Type::SPARSE_TENSORS);
  note(a.type_protos_size() > 0, Type::TYPE_PROTOS);
  return used;
}

bool is_list(Type::AttributeType type) {
  return type == Type::FLOATS || type == Type::INTS || type == Type::STRINGS || type == Type::TENSORS ||
         type == Type::GRAPHS || type == Type::SPARSE_TENSORS || type == Type::TYPE_PROTOS;
}

constexpr std::string_view kKindNames[] = {
    "an int",          "a float",  "a string", "a list of ints", "a list of floats", "a list of strings",
    "an element type", "a tensor", "a graph",  "a type"};

std::string_view kind_name(ir::AttrKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

// The value for a slot of `kind`; what ONNX writes differently from the IR is converted.
Result<ir::Attr> convert(ir::Attr value, ir::AttrKind kind, std::string_view attribute) {
  ir::AttrKind have = ir::kind_of(value);
  if (have == kind) return value;
  if (kind == ir::AttrKind::Type && have == ir::AttrKind::Int) {
    int64_t number = std::get<int64_t>(value);
    auto elem = number >= 0 && number <= INT32_MAX ? element_type_from_onnx(static_cast<int32_t>(number))
                                                   : std::nullopt;
    if (!elem)
      return bad_attribute(attribute, fmt::format("is {}, which is no supported element type", number));
    return ir::Attr(*elem);
  }
  return bad_attribute(attribute, fmt::format("is {}; expected {}", kind_name(have), kind_name(kind)));
}

}  // namespace

Result<pb::AttributeProto::AttributeType> checked_type(const pb::AttributeProto& attribute) {
  Used used = used_fields(attribute);
  if (used.fields > 1) return bad_attribute(attribute.name(), "has more than one value");
  if (attribute.type() == Type::UNDEFINED) {
    if (used.fields == 0) return bad_attribute(attribute.name(), "has neither type nor value");
    return used.type;
  }
  if (used.fields == 0 && !is_list(attribute.type())) return bad_attribute(attribute.name(), "has no value");
  if (used.fields == 1 && used.type != attribute.type()) {
    return bad_attribute(attribute.name(), "has a value that is not of its declared type");
  }
  return attribute.type();
}

namespace {

// Of an optional that holds nothing: its elements and whether it is a sequence are all that matters.
Result<ir::Attr> decode_type(const pb::AttributeProto& a) {
  const pb::TypeProto* inner = &a.tp();
  TensorType type;
  if (inner->has_sequence_type()) {
    inner = &inner->sequence_type().elem_type();
    type.wrapper = Wrapper::Sequence;
  }
  if (inner->has_tensor_type())
    type.elem = element_type_from_onnx(inner->tensor_type().elem_type()).value_or(ElementType::Undefined);
  if (type.elem == ElementType::Undefined)
    return bad_attribute(a.name(), "is no tensor or sequence of tensors");
  for (const auto& dim : inner->tensor_type().shape().dim()) {
    if (type.rank() == kMaxRank || dim.dim_value() < 0)
      return bad_attribute(a.name(), "has an impossible shape");
    type.shape.push_back(type.wrapper == Wrapper::None ? dim.dim_value() : 0);
  }
  if (type.wrapper == Wrapper::Sequence) type.shape.clear();
  return ir::Attr(std::move(type));
}

}  // namespace

Result<ir::Attr> decode_attribute(pb::AttributeProto& a, TensorDecoder& tensors) {
  MRVLC_ASSIGN(Type::AttributeType type, checked_type(a));
  switch (type) {
    case Type::INT:
      return ir::Attr(a.i());
    case Type::FLOAT:
      return ir::Attr(a.f());
    case Type::STRING:
      return ir::Attr(a.s());
    case Type::INTS:
      return ir::Attr(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
    case Type::FLOATS:
      return ir::Attr(std::vector<float>(a.floats().begin(), a.floats().end()));
    case Type::STRINGS:
      return ir::Attr(std::vector<std::string>(a.strings().begin(), a.strings().end()));
    case Type::TENSOR: {
      MRVLC_ASSIGN(Tensor t, tensors.take(*a.mutable_t()));
      return ir::Attr(std::move(t));
    }
    case Type::SPARSE_TENSOR: {
      MRVLC_ASSIGN(Tensor t, tensors.take(*a.mutable_sparse_tensor()));
      return ir::Attr(std::move(t));
    }
    case Type::TYPE_PROTO:
      return decode_type(a);
    default:
      return bad_attribute(a.name(), "has a type that is not supported");
  }
}

Result<std::vector<ir::Attr>> fill_slots(const ir::OpSchema& op,
                                         std::vector<std::pair<std::string, ir::Attr>> attributes) {
  std::vector<ir::Attr> slots = ir::default_attrs(op);
  for (auto& [name, value] : attributes) {
    int index = op.attr_index(name);
    if (index < 0) return bad_attribute(name, "is not one of this operator's");
    if (!ir::is_set(value)) continue;
    const ir::AttrSpec& spec = op.attrs[static_cast<size_t>(index)];
    MRVLC_ASSIGN(slots[static_cast<size_t>(index)], convert(std::move(value), spec.kind, name));
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    if (op.attrs[i].required && !ir::is_set(slots[i])) return bad_attribute(op.attrs[i].name, "is required");
  }
  return slots;
}

}  // namespace mrvlc::onnx
