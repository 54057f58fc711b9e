// Tensors of texts: their size, and constants of them.
#include <algorithm>

#include "function.h"
#include "text.h"

namespace mrvlc::chost {
namespace {

std::string byte_array(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("0x{:02x}, ", static_cast<unsigned char>(c));
  return "{" + text + "0}";
}

}  // namespace

bool uses_strings(const ir::Graph& graph) {
  for (size_t i = 0; i < graph.value_slots(); ++i) {
    if (graph.value(ir::ValueId(i)).type.elem == ElementType::String) return true;
  }
  for (ir::NodeId id : graph.topological_order()) {
    for (const ir::Graph* body : ir::bodies_of(graph.node(id))) {
      if (uses_strings(*body)) return true;
    }
  }
  return false;
}

// The characters lie in the weights; in the C where these have no address before the program runs.
void define_strings(Program& program, const Tensor& tensor, uint32_t index) {
  std::string characters, elements;
  for (const std::string& s : tensor.string_data()) characters += s;
  const auto count = static_cast<int64_t>(characters.size());
  std::string base = program.options.name + "_weights";
  int64_t first = 0;
  if (program.options.weights == WeightsAs::Blob) {
    base = fmt::format("{}_texts{}", program.options.name, index);
    program.module.strings +=
        fmt::format("\nstatic const unsigned char {}[] = {};\n", base, byte_array(characters));
  } else {
    first = program.weights.add(Tensor({ElementType::U8, {count}}, std::move(characters)));
  }
  for (const std::string& s : tensor.string_data()) {
    elements += fmt::format("  {{(const char*)({} + {}), {}u}},\n", base, first, s.size());
    first += static_cast<int64_t>(s.size());
  }
  if (elements.empty()) elements = "  {NULL, 0u},\n";
  program.module.strings += fmt::format("\nstatic const mrvl_string {}_strings{}[] = {{\n{}}};\n",
                                        program.options.name, index, elements);
}

std::string size_text(const TensorType& type) {
  if (type.elem != ElementType::String) return fmt::format("{}", type.bytes());
  return fmt::format("{} * sizeof(mrvl_string)", type.elements());
}

}  // namespace mrvlc::chost
