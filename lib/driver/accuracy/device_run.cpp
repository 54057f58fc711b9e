// Tensors to and from the forms of ports; the steps of a partition in order, bodies of control flow too.
#include "accuracy/device_run.h"

#include <cstring>

#include "mrvlc/interp/interp.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::driver {
namespace {

// Elements between neighbours along each dimension of the value, as the port stores them.
Shape stored_strides(const backend::Port& port, const Shape& shape) {
  Shape strides(shape.size());
  int64_t dense = 1;
  for (size_t i = port.perm.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(port.perm[i]);
    strides[d] = dense;
    dense *= shape[d];
  }
  return strides;
}

// f(logical index, stored index) for every element, in logical order.
template <class F>
void each_element(const backend::Port& port, const Shape& shape, F f) {
  const Shape strides = stored_strides(port, shape);
  Shape index(shape.size(), 0);
  int64_t at = 0;
  for (int64_t i = 0, n = element_count(shape); i < n; ++i) {
    f(i, at);
    for (size_t d = shape.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < shape[d]) break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

// What the stub hands to the device: elements and order of dimensions as the port asks for.
std::string to_device(const backend::Port& port, const Tensor& value) {
  const auto size = static_cast<size_t>(byte_size(port.type));
  std::string bytes(static_cast<size_t>(value.elements()) * size, '\0');
  if (port.type == value.elem() && port.type != ElementType::F32) {  // its own bytes, in another order
    const std::span<const std::byte> own = value.bytes();
    each_element(port, value.shape(), [&](int64_t i, int64_t at) {
      std::memcpy(bytes.data() + size * static_cast<size_t>(at), own.data() + size * static_cast<size_t>(i),
                  size);
    });
    return bytes;
  }
  const bool floats = value.elem() == ElementType::F32;
  const std::span<const float> data = floats ? value.data<float>() : std::span<const float>();
  each_element(port, value.shape(), [&](int64_t i, int64_t at) {
    const float whole = floats ? data[static_cast<size_t>(i)] : static_cast<float>(value.as_double(i));
    const uint16_t half = float_to_half(whole);
    char* to = bytes.data() + size * static_cast<size_t>(at);
    size == 2 ? std::memcpy(to, &half, 2) : std::memcpy(to, &whole, 4);
  });
  return bytes;
}

Tensor from_device(const backend::Port& port, const std::string& bytes, const TensorType& type) {
  if (port.type == type.elem && port.type != ElementType::F32) {
    const auto size = static_cast<size_t>(byte_size(port.type));
    std::string own(bytes.size(), '\0');
    each_element(port, type.shape, [&](int64_t i, int64_t at) {
      std::memcpy(own.data() + size * static_cast<size_t>(i), bytes.data() + size * static_cast<size_t>(at),
                  size);
    });
    return Tensor(type, std::move(own));
  }
  Tensor value(type);
  const bool floats = type.elem == ElementType::F32;
  const std::span<float> data = floats ? value.mutable_data<float>() : std::span<float>();
  each_element(port, type.shape, [&](int64_t i, int64_t at) {
    float whole = 0;
    uint16_t half = 0;
    if (port.type == ElementType::F32) {
      std::memcpy(&whole, bytes.data() + 4 * at, 4);
    } else {
      std::memcpy(&half, bytes.data() + 2 * at, 2);
      whole = half_to_float(half);
    }
    floats ? void(data[static_cast<size_t>(i)] = whole) : value.set_double(i, static_cast<double>(whole));
  });
  return value;
}

}  // namespace

// Tensors of one run of a graph; they die after their last use.
class RunValues {
 public:
  RunValues(const ir::Graph& graph, const partition::Partition& partition)
      : graph_(graph), tensors_(graph.value_slots()), uses_(graph.value_slots(), 0) {
    for (ir::ValueId id : graph.outputs()) ++uses_[id.index()];
    for (const partition::Step& step : partition.steps)
      for (ir::ValueId id : read_by(step, partition)) ++uses_[id.index()];
  }

  std::vector<ir::ValueId> read_by(const partition::Step& step, const partition::Partition& partition) const {
    if (step.kind == partition::Step::Kind::Region) return partition.regions[step.region].inputs;
    std::vector<ir::ValueId> read;
    for (ir::NodeId n : nodes_of(step, partition))
      std::ranges::copy_if(graph_.node(n).inputs, std::back_inserter(read), &ir::ValueId::valid);
    return read;
  }
  const Tensor* get(ir::ValueId id) const {
    if (!id.valid()) return nullptr;
    const Tensor* constant = graph_.constant(id);
    return constant != nullptr ? constant : &tensors_[id.index()];
  }
  void set(ir::ValueId id, Tensor tensor) {
    if (uses_[id.index()] != 0) tensors_[id.index()] = std::move(tensor);
  }
  void used(ir::ValueId id) {
    if (id.valid() && --uses_[id.index()] == 0) tensors_[id.index()] = Tensor();
  }

 private:
  const ir::Graph& graph_;
  std::vector<Tensor> tensors_;
  std::vector<uint32_t> uses_;
};

namespace {

Result<std::vector<Tensor>> run_region(const ir::Graph& graph, const backend::RegionCode& region,
                                       backend::Executor& executor, const RunValues& values) {
  std::vector<std::string> in;
  for (const backend::Port& port : region.inputs) in.push_back(to_device(port, *values.get(port.value)));
  MRVLC_ASSIGN(const std::vector<std::string> out, executor.run(in));
  std::vector<Tensor> results;
  for (size_t i = 0; i < out.size(); ++i) {
    const backend::Port& port = region.outputs[i];
    results.push_back(from_device(port, out[i], graph.value(port.value).type));
  }
  return results;
}

Diag in_region(const ir::Graph& graph, const partition::Region& region, Diag d) {
  const ir::Node& first = graph.node(region.layers.front().anchor);
  return d.node.empty() ? at_node(std::move(d), first.name, first.op->name) : d;
}

}  // namespace

Result<DeviceRun> DeviceRun::create(const CodedModel& m, const ir::Graph& graph) {
  DeviceRun out(m, graph);
  for (const backend::RegionCode& region : m.regions) {
    MRVLC_ASSIGN(std::unique_ptr<backend::Executor> executor, m.backend_of(region).executor(region.bytes));
    out.executors_.push_back(std::move(executor));
  }
  return out;
}

Result<DeviceRun::Results> DeviceRun::run(const std::vector<Tensor>& inputs) {
  Results out;
  out.of_regions.resize(m_->regions.size());
  MRVLC_ASSIGN(out.outputs, run(*graph_, m_->partition, inputs, &out.of_regions));
  return out;
}

Result<std::vector<Tensor>> DeviceRun::run(const ir::Graph& graph, const partition::Partition& partition,
                                           const std::vector<Tensor>& inputs,
                                           std::vector<std::vector<Tensor>>* of_regions) {
  RunValues values(graph, partition);
  for (size_t i = 0; i < inputs.size(); ++i) values.set(graph.inputs()[i], inputs[i]);
  for (const partition::Step& step : partition.steps) {
    for (ir::NodeId n : nodes_of(step, partition)) MRVLC_TRY(run_node(graph, n, values));
    if (step.kind == partition::Step::Kind::Region) {
      const uint32_t id = partition.regions[step.region].id;
      const backend::RegionCode& region = m_->regions[id];
      auto ran = run_region(graph, region, *executors_[id], values);
      if (!ran.ok()) return in_region(graph, partition.regions[step.region], ran.error());
      std::vector<Tensor> results = *std::move(ran);
      for (size_t i = 0; i < results.size(); ++i) values.set(region.outputs[i].value, results[i]);
      if (of_regions != nullptr) (*of_regions)[id] = std::move(results);
    }
    for (ir::ValueId id : values.read_by(step, partition)) values.used(id);
  }
  std::vector<Tensor> outputs;
  for (ir::ValueId id : graph.outputs()) outputs.push_back(*values.get(id));
  return outputs;
}

Result<std::vector<Tensor>> DeviceRun::run_body(const ir::Graph& body, const std::vector<Tensor>& inputs) {
  const partition::Partition* placed = partition_of(m_->partition, body);
  // What is inside of it may have been placed.
  if (placed == nullptr) return run(body, partition::host_partition(body), inputs, nullptr);
  return run(body, *placed, inputs, nullptr);
}

Status DeviceRun::run_node(const ir::Graph& graph, ir::NodeId id, RunValues& values) {
  const ir::Node& node = graph.node(id);
  std::vector<const Tensor*> inputs;
  for (ir::ValueId in : node.inputs) inputs.push_back(values.get(in));
  const auto on_device = [this](const ir::Graph& body, const std::vector<Tensor>& given) {
    return run_body(body, given);
  };
  MRVLC_ASSIGN(std::vector<Tensor> results, interp::evaluate(graph, node, inputs, on_device));
  for (size_t i = 0; i < node.outputs.size(); ++i) values.set(node.outputs[i], std::move(results[i]));
  return {};
}

}  // namespace mrvlc::driver
