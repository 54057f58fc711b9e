// C of the operators on sequences and optionals. How a sequence lies in memory: mrvlc/ops/dynamic_shapes.h.
// In views, dim[0] is the number of tensors, and of optionals dim[7] says whether there is a value.
#pragma once
#include "common/dynamic_util.h"
#include "sequences/sequence.h"

namespace mrvlc::ops {

Status emit_sequence_construct(EmitContext& context);
Status emit_sequence_empty(EmitContext& context);
Status emit_sequence_insert(EmitContext& context);
Status emit_sequence_erase(EmitContext& context);
Status emit_sequence_at(EmitContext& context);
Status emit_sequence_length(EmitContext& context);

// -- pieces

void set_count(EmitContext& context, const std::string& count);
// Bytes of an element, as size_t or unsigned.
std::string element_size(const TensorType& type);
// Bytes of a tensor of these dimensions, as size_t.
std::string tensor_size(const Texts& dims, const TensorType& type);
// Where the elements of tensor `index` begin, in bytes.
std::string slot_offset(const TensorType& sequence, const std::string& index);
// `count` tensors of input 0, from place `from` on, become those of output 0 from `to` on.
void copy_tensors(EmitContext& context, const std::string& to, const std::string& from,
                  const std::string& count);
// The whole of input 0 becomes output 0: a sequence.
void copy_sequence(EmitContext& context);

}  // namespace mrvlc::ops
