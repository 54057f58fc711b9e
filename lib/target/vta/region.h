// A layer of a region by the names of its rule.
#pragma once
#include <string_view>

#include "layer.h"

namespace vta {

class Captures {
 public:
  Captures(const mrvl_plugin_region& region, uint32_t layer) : region_(region), layer_(layer) {}

  // Null: the name is not there.
  const mrvl_plugin_node* node(std::string_view name) const;
  const mrvl_plugin_value* value(std::string_view name) const;
  uint32_t value_index(std::string_view name) const;
  double scale(std::string_view name) const;  // of one element of float32, a power of two
  Tensor tensor(std::string_view name) const;
  const int8_t* weights(std::string_view name) const;
  // No zero point, or one that is 0.
  void check_zero(std::string_view name) const;

 private:
  const mrvl_plugin_capture* find(std::string_view name) const;
  const mrvl_plugin_region& region_;
  uint32_t layer_;
};

std::vector<int64_t> integers(const mrvl_plugin_node& node, std::string_view name,
                              std::vector<int64_t> otherwise);
int64_t integer(const mrvl_plugin_node& node, std::string_view name, int64_t otherwise);
double number(const mrvl_plugin_node& node, std::string_view name, double otherwise);
void require(bool holds, const char* condition, const std::string& actual, const char* limit,
             const std::string& reason);
std::string shown(double value);

}  // namespace vta
