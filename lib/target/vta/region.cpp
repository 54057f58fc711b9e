// Reads captures, constants and attributes of a layer, and refuses what cannot be.
#include "region.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace vta {

std::string shown(double value) {
  char line[40];
  std::snprintf(line, sizeof line, "%.6g", value);
  return line;
}

void require(bool holds, const char* condition, const std::string& actual, const char* limit,
             const std::string& reason) {
  if (!holds) throw Refusal{condition, actual, limit, reason};
}

const mrvl_plugin_capture* Captures::find(std::string_view name) const {
  for (uint32_t i = 0; i < region_.capture_count; ++i) {
    const mrvl_plugin_capture& c = region_.captures[i];
    if (c.layer == layer_ && name == c.name) return &c;
  }
  return nullptr;
}

const mrvl_plugin_node* Captures::node(std::string_view name) const {
  const mrvl_plugin_capture* c = find(name);
  return c && c->node < region_.node_count ? &region_.nodes[c->node] : nullptr;
}

uint32_t Captures::value_index(std::string_view name) const {
  const mrvl_plugin_capture* c = find(name);
  return c && c->value < region_.value_count ? c->value : MRVL_PLUGIN_NONE;
}

const mrvl_plugin_value* Captures::value(std::string_view name) const {
  const uint32_t index = value_index(name);
  return index == MRVL_PLUGIN_NONE ? nullptr : &region_.values[index];
}

void Captures::check_zero(std::string_view name) const {
  const mrvl_plugin_value* v = value(name);
  if (!v) return;
  const char* bytes = static_cast<const char*>(v->data);
  bool zero = bytes != nullptr;
  for (uint64_t i = 0; zero && i < v->bytes; ++i) zero = bytes[i] == 0;
  require(zero, "zero point is 0", "another", "0", "the array has no zero points");
}

double Captures::scale(std::string_view name) const {
  const mrvl_plugin_value* v = value(name);
  require(v && v->data && v->elem == 1, "scale is a constant of float32", "another", "float32",
          "scales are constants of float32");
  float read = 0;
  require(v->bytes == sizeof read, "one scale a tensor", std::to_string(v->bytes / sizeof read), "1",
          "the array has one shift for all channels of a tensor");
  std::memcpy(&read, v->data, sizeof read);
  require(std::isfinite(read) && read > 0, "scale > 0", shown(read), "0", "a scale is above 0");
  return read;
}

Tensor Captures::tensor(std::string_view name) const {
  const mrvl_plugin_value* v = value(name);
  require(v && v->elem == 3, "int8", v ? std::to_string(v->elem) : "nothing", "3", "activations are of int8");
  require(v->data == nullptr, "activations are computed", "a constant", "an input or a result",
          "constants are weights and biases only");
  require(v->rank == 2 || v->rank == 3 || v->rank == 4, "rank", std::to_string(v->rank), "2 to 4",
          "the array takes rows and images");
  uint64_t all = 1;
  for (uint32_t i = 0; i < v->rank; ++i) {
    const int64_t dim = v->dims[i];
    require(dim > 0 && dim < (1 << 24), "dimension", std::to_string(dim), "1 to 2^24",
            "a dimension is known, and neither empty nor huge");
    all *= static_cast<uint64_t>(dim);
    require(all <= (uint64_t{1} << 26), "elements", std::to_string(all), "2^26", "a tensor is too large");
  }
  const auto at = [v](uint32_t i) { return static_cast<uint32_t>(v->dims[i]); };
  Tensor t;
  t.value = value_index(name);
  if (v->rank == 4) {
    t.n = at(0), t.c = at(1), t.h = at(2), t.w = at(3);
  } else {
    t.last = true;
    t.c = at(v->rank - 1);
    t.w = at(0) * (v->rank == 3 ? at(1) : 1);
  }
  require(t.elements() <= (1u << 23), "elements of 16 channels", std::to_string(t.elements()), "2^23",
          "a tensor in blocks of 16 channels is too large");
  return t;
}

const int8_t* Captures::weights(std::string_view name) const {
  const mrvl_plugin_value* v = value(name);
  require(v && v->data && v->elem == 3, "weights are constants of int8", "another", "int8",
          "weights are constants of int8");
  return static_cast<const int8_t*>(v->data);
}

std::vector<int64_t> integers(const mrvl_plugin_node& node, std::string_view name,
                              std::vector<int64_t> otherwise) {
  for (uint32_t i = 0; i < node.attribute_count; ++i) {
    const mrvl_plugin_attribute& a = node.attributes[i];
    if (name == a.name && a.ints) return {a.ints, a.ints + a.count};
  }
  return otherwise;
}

int64_t integer(const mrvl_plugin_node& node, std::string_view name, int64_t otherwise) {
  const std::vector<int64_t> all = integers(node, name, {otherwise});
  return all.empty() ? otherwise : all[0];
}

double number(const mrvl_plugin_node& node, std::string_view name, double otherwise) {
  for (uint32_t i = 0; i < node.attribute_count; ++i) {
    const mrvl_plugin_attribute& a = node.attributes[i];
    if (name == a.name && a.floats && a.count) return static_cast<double>(a.floats[0]);
  }
  return otherwise;
}

}  // namespace vta
