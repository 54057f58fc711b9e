// Whether outputs were drawn; what holds of any draw: types, Bernoulli's 0 and 1, mask and scale of Dropout.
#include "mrvlc/driver/drawn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/random.h"

namespace mrvlc::driver {
namespace {

bool draws(const ir::Graph& graph) {
  const auto& sources = graph.sources();
  return std::any_of(sources.begin(), sources.end(), [](const ir::Source& source) {
    const ops::OpDef* op = ops::find_op("", source.op_type);
    return op != nullptr && op->traits.random;
  });
}

// Dropout that is in training mode, or may be.
bool trains(const ir::Graph& graph) {
  const auto order = graph.topological_order();
  return std::any_of(order.begin(), order.end(), [&](ir::NodeId id) {
    return graph.node(id).is(Op::Dropout) && ops::is_random(graph.node(id));
  });
}

bool same_elements(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  return !inputs.empty() && !outputs.empty() && inputs[0].type() == outputs[0].type() &&
         inputs[0].type().wrapper == Wrapper::None && is_float(inputs[0].elem());
}

// Of the elements that were kept; 1 when none was.
double scale_of(const Tensor& input, const Tensor& output) {
  for (int64_t i = 0; i < output.elements(); ++i) {
    if (output.as_double(i) != 0) return output.as_double(i) / input.as_double(i);
  }
  return 1;
}

bool is_scaled(double value, double input, double scale) {
  return std::abs(value - input * scale) <= 1e-3 * (1 + std::abs(value));
}

// Some of the data was dropped, the rest scaled.
bool drops(const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected) {
  if (!same_elements(inputs, expected)) return false;
  const double scale = scale_of(inputs[0], expected[0]);
  bool dropped = false;
  for (int64_t i = 0; i < expected[0].elements(); ++i) {
    const double value = expected[0].as_double(i), input = inputs[0].as_double(i);
    dropped = dropped || (value == 0 && input != 0);
    if (value != 0 && !is_scaled(value, input, scale)) return false;
  }
  return dropped;
}

bool is_binary(const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (tensor.as_double(i) != 0 && tensor.as_double(i) != 1) return false;
  }
  return true;
}

std::string bernoulli_difference(const Tensor& p, const Tensor& actual) {
  if (!is_binary(actual)) return "a value is neither 0 nor 1";
  for (int64_t i = 0; i < actual.elements() && p.shape() == actual.shape(); ++i) {
    const double chance = p.as_double(i);
    if ((chance == 0 || chance == 1) && actual.as_double(i) != chance)
      return fmt::format("element {} is {} with probability {}", i, actual.as_double(i), chance);
  }
  return {};
}

std::string dropout_difference(const std::vector<Tensor>& inputs, const std::vector<Tensor>& actual,
                               double scale) {
  for (int64_t i = 0; i < actual[0].elements(); ++i) {
    const double a = actual[0].as_double(i), kept = inputs[0].as_double(i) * scale;
    if (a != 0 && !is_scaled(a, inputs[0].as_double(i), scale))
      return fmt::format("element {} is {}, neither 0 nor {}", i, a, kept);
    if (actual.size() > 1 && kept != 0 && (actual[1].as_int(i) != 0) != (a != 0))
      return fmt::format("element {} of the mask is {} where the output is {}", i, actual[1].as_int(i), a);
  }
  return {};
}

std::string value_difference(const std::vector<Tensor>& inputs, const Tensor& actual,
                             const Tensor& expected) {
  if (is_binary(expected) && !inputs.empty()) return bernoulli_difference(inputs[0], actual);
  for (int64_t i = 0; i < actual.elements(); ++i) {
    if (!std::isfinite(actual.as_double(i))) return fmt::format("element {} is {}", i, actual.as_double(i));
  }
  return {};
}

}  // namespace

bool is_drawn(const ir::Graph& graph, const std::vector<Tensor>& inputs,
              const std::vector<Tensor>& expected) {
  return draws(graph) || (trains(graph) && drops(inputs, expected));
}

std::string drawn_difference(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                             const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!(actual[i].type() == expected[i].type()))
      return fmt::format("output {}: it is {}, not {}", i, to_string(actual[i].type()),
                         to_string(expected[i].type()));
  }
  if (!draws(graph)) return dropout_difference(inputs, actual, scale_of(inputs[0], expected[0]));
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::string text = value_difference(inputs, actual[i], expected[i]); !text.empty())
      return fmt::format("output {}: {}", i, text);
  }
  return {};
}

}  // namespace mrvlc::driver
