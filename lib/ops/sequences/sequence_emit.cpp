// SequenceConstruct, Insert, Erase, At and Length: slots and the rows of their dimensions copied.
#include "sequences/sequence_emit.h"

namespace mrvlc::ops {

void set_count(EmitContext& context, const std::string& count) {
  context.line(fmt::format("{} = {};", context.out_dim(0, 0), count));
}

std::string element_size(const TensorType& type) {
  // Of texts the target's own size: memory_bytes says the most that they take on any.
  if (type.elem == ElementType::String) return "sizeof(mrvl_string)";
  return fmt::format("{}u", byte_size(type.elem));
}

std::string tensor_size(const Texts& dims, const TensorType& type) {
  std::string text = element_size(type);
  for (const auto& d : dims) text += " * (size_t)" + d;
  return text;
}

std::string slot_offset(const TensorType& sequence, const std::string& index) {
  return fmt::format("{} + {} * {}", sequence.length * 64, index, slot_bytes(sequence));
}

namespace {

// The memory of a sequence as arguments of the pieces: data, slots, bytes of a slot.
std::string block(const std::string& data, const TensorType& type) {
  return fmt::format("{}, {}, {}", data, type.length, slot_bytes(type));
}

}  // namespace

void copy_tensors(EmitContext& context, const std::string& to, const std::string& from,
                  const std::string& count) {
  context.line(fmt::format("{}({}, {}, {}, {}, {});", context.helper("seq_copy"),
                           block(context.out(0), context.out_type(0)), to,
                           block(context.in(0), context.in_type(0)), from, count));
}

void copy_sequence(EmitContext& context) {
  copy_tensors(context, "0", "0", context.in_dim(0, 0));
}

namespace {

// p: the position of input i, from the back when negative.
void declare_position(EmitContext& context, size_t i, const std::string& count, const std::string& otherwise,
                      const std::string& end) {
  if (context.has(i)) {
    context.line(
        fmt::format("const int64_t at = (int64_t)*{}, p = at < 0 ? at + {} : at;", context.in(i), count));
  } else {
    context.line(fmt::format("const int64_t p = {};", otherwise));
  }
  context.fail_if(fmt::format("p < 0 || p >= {}", end));
}

void put(EmitContext& context, const std::string& index, size_t input) {
  const TensorType& type = context.in_type(input);
  context.open("");
  declare_list(context, "dims", in_dims(context, input));
  context.line(fmt::format("{}({}, {}, dims, {}, {}, {});", context.helper("seq_put"),
                           block(context.out(0), context.out_type(0)), index, type.rank(), context.in(input),
                           element_size(type)));
  context.close();
}

// Dimensions of tensor `p` of input 0, for set_dims.
Texts row_dims(EmitContext& context, const std::string& p) {
  context.line(
      fmt::format("const int64_t* const row = (const int64_t*)(const void*){} + {} * 8;", context.in(0), p));
  context.fail_if(fmt::format("row[7] != {}", context.out_type(0).rank()));
  Texts dims;
  for (int64_t d = 0; d < context.out_type(0).rank(); ++d) dims.push_back(fmt::format("row[{}]", d));
  return dims;
}

}  // namespace

Status emit_sequence_construct(EmitContext& context) {
  const size_t n = context.node().inputs.size();
  for (size_t i = 0; i < n; ++i) put(context, std::to_string(i), i);
  set_count(context, std::to_string(n));
  return {};
}

Status emit_sequence_empty(EmitContext& context) {
  set_count(context, "0");
  return {};
}

Status emit_sequence_insert(EmitContext& context) {
  const std::string count = context.in_dim(0, 0);
  declare_position(context, 2, count, count, count + " + 1");
  context.fail_if(fmt::format("{} >= {}", count, context.out_type(0).length));
  if (context.in_type(0).length > 0) {
    copy_tensors(context, "0", "0", "p");
    copy_tensors(context, "p + 1", "p", count + " - p");
  }
  put(context, "p", 1);
  set_count(context, count + " + 1");
  return {};
}

Status emit_sequence_erase(EmitContext& context) {
  const std::string count = context.in_dim(0, 0);
  declare_position(context, 1, count, count + " - 1", count);
  copy_tensors(context, "0", "0", "p");
  copy_tensors(context, "p", "p + 1", count + " - p - 1");
  set_count(context, count + " - 1");
  return {};
}

Status emit_sequence_at(EmitContext& context) {
  const std::string count = context.in_dim(0, 0);
  declare_position(context, 1, count, "0", count);
  const auto dims = row_dims(context, "p");
  context.set_dims(0, dims);
  context.line(fmt::format("memcpy({}, (const unsigned char*){} + {}, {});", context.out(0), context.in(0),
                           slot_offset(context.in_type(0), "p"), tensor_size(dims, context.out_type(0))));
  return {};
}

Status emit_sequence_length(EmitContext& context) {
  context.line(fmt::format("*{} = {};", context.out(0), context.in_dim(0, 0)));
  return {};
}

}  // namespace mrvlc::ops
