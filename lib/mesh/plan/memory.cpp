// Fields of tasks, and where they lie in the memory of their PE.
#include "plan/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mrvlc::mesh {

const char* c_type(Elem elem) {
  constexpr const char* kTypes[] = {"int8_t", "uint8_t", "int32_t", "float"};
  return kTypes[static_cast<size_t>(elem)];
}

std::string result_name(const std::string& index) {
  return "out_" + index;
}

std::string inbox_name(size_t operand, const std::string& index) {
  return fmt::format("in{}_{}", operand, index);
}

namespace {

template <class T>
std::string bytes_of(const std::vector<T>& values, int64_t begin, int64_t count) {
  std::string bytes(static_cast<size_t>(count) * sizeof(T), '\0');
  if (count > 0) std::memcpy(bytes.data(), values.data() + begin, bytes.size());
  return bytes;
}

template <class T>
Field constant(std::string name, const char* type, const std::vector<T>& values, int64_t begin, int64_t count,
               bool with_bytes) {
  Field f{std::move(name), type, count, static_cast<int64_t>(sizeof(T)), {}, true};
  if (with_bytes) f.bytes = bytes_of(values, begin, count);
  return f;
}

void add_constants(const Layer& layer, const Box& box, const std::string& index, bool with_bytes,
                   std::vector<Field>& fields) {
  const ConvData& c = layer.conv;
  if (layer.planned.kind == Kind::Conv) {
    const auto each = static_cast<int64_t>(c.weights.size() / c.bias.size());
    fields.push_back(constant("bias_" + index, "int32_t", c.bias, box.channel, box.channels, with_bytes));
    if (!c.factors.empty())
      fields.push_back(
          constant("factor_" + index, "float", c.factors, box.channel, box.channels, with_bytes));
    fields.push_back(constant("weights_" + index, "int8_t", c.weights, box.channel * each,
                              box.channels * each, with_bytes));
  }
  if (!layer.table.empty())
    fields.push_back(constant("table_" + index, "uint8_t", layer.table, 0, 256, with_bytes));
  for (size_t s = 0; s < layer.steps.size(); ++s)
    if (layer.steps[s].numbers.size() > 1)
      fields.push_back(constant(fmt::format("numbers{}_{}", s, index), "float", layer.steps[s].numbers,
                                box.channel, box.channels, with_bytes));
}

}  // namespace

std::vector<Field> fields_of(const NetworkOf& network, const Task& task, const std::string& index,
                             bool with_bytes) {
  const Layer& layer = network.layers[task.layer];
  std::vector<Field> fields;
  add_constants(layer, task.box, index, with_bytes, fields);
  for (size_t k = 0; k < task.inboxes.size(); ++k) {
    const Tensor3& t = network.tensors[layer.planned.inputs[k]];
    const int64_t count = volume(t, task.inboxes[k].box) * task.inboxes[k].slots;
    fields.push_back({inbox_name(k, index), c_type(t.elem), count, size_of(t.elem), {}, false});
  }
  const Tensor3& result = network.tensors[layer.planned.output];
  fields.push_back(
      {result_name(index), c_type(result.elem), volume(result, task.box), size_of(result.elem), {}, false});
  return fields;
}

PeMemory memory_of(const NetworkOf& network, const std::vector<const Task*>& tasks, bool with_bytes) {
  std::vector<Field> all;
  for (size_t i = 0; i < tasks.size(); ++i) {
    std::vector<Field> own = fields_of(network, *tasks[i], std::to_string(i), with_bytes);
    std::ranges::move(own, std::back_inserter(all));
  }
  const bool has_words = std::ranges::any_of(all, [](const Field& f) { return f.element_bytes == 4; });
  PeMemory m;
  const auto add = [&](bool is_constant, int64_t element_bytes) {
    for (Field& f : all) {
      if (f.is_constant != is_constant || f.element_bytes != element_bytes) continue;
      const auto size = static_cast<uint64_t>(f.size());
      m.fields.push_back({std::move(f), m.bytes});
      m.bytes += size;
      f.element_bytes = 0;  // it has its place
    }
  };
  // As C lays out a structure: what needs no padding between.
  add(true, 4), add(true, 1);
  m.blob_bytes = m.bytes;
  // Placed fields have no element bytes any more: these are buffers.
  const auto is_word = [](const Field& f) { return f.element_bytes == 4; };
  if (std::ranges::any_of(all, is_word)) m.bytes = (m.bytes + 3) / 4 * 4;
  add(false, 4), add(false, 1);
  if (has_words) m.bytes = (m.bytes + 3) / 4 * 4;
  return m;
}

void set_offsets(const PeMemory& memory, const std::vector<Task*>& tasks) {
  const auto offset_of = [&](const std::string& name) -> const PlacedField& {
    return *std::ranges::find_if(memory.fields, [&](const PlacedField& f) { return f.field.name == name; });
  };
  for (size_t i = 0; i < tasks.size(); ++i) {
    const PlacedField& result = offset_of(result_name(std::to_string(i)));
    tasks[i]->offset = result.offset;
    tasks[i]->bytes = static_cast<uint64_t>(result.field.size());
    for (size_t k = 0; k < tasks[i]->inboxes.size(); ++k) {
      Inbox& in = tasks[i]->inboxes[k];
      const PlacedField& f = offset_of(inbox_name(k, std::to_string(i)));
      in.offset = f.offset;
      in.bytes = static_cast<uint64_t>(f.field.size()) / in.slots;
    }
  }
}

}  // namespace mrvlc::mesh
