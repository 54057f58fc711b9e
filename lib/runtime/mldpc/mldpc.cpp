// libmldpc over the simulator: programs written for the card run where there is none.
#include "mrvl/mldpc.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "mrvlc/isa/container.h"
#include "mrvlc/tensor/float16.h"

#define MRVL_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using mrvlc::isa::Port;

constexpr int kError = -1;
constexpr size_t kAlignment = 128;

uint64_t model_bytes(const Port& port) {
  return uint64_t{port.elements()} * mrvlc::isa::port_type_bytes(port.outer_type);
}

struct Model {
  mrvlc::isa::Binary binary;
  void* handle = nullptr;

  const std::vector<Port>& ports(int kind) const {
    return kind < MRVL_ML_OUTPUT_QUANTISED ? binary.inputs : binary.outputs;
  }
  uint64_t bytes(int kind) const {
    const bool quantised = kind == MRVL_ML_INPUT_QUANTISED || kind == MRVL_ML_OUTPUT_QUANTISED;
    uint64_t sum = 0;
    for (const Port& p : ports(kind)) sum += quantised ? p.bytes() : model_bytes(p);
    return sum;
  }
};

// The interface has no handle for it: one a process, as a card is.
struct Library {
  mrvl_device* device = nullptr;
  std::map<int, Model> models;
  int next = 0;

  ~Library() { close(); }
  void close() {
    for (auto& [id, model] : models) device->unload(device->context, model.handle);
    models.clear();
    mrvl_simulator_close(device);
    device = nullptr;
  }
  Model* find(int id) {
    const auto it = models.find(id);
    return it == models.end() ? nullptr : &it->second;
  }
};

Library& library() {
  static Library opened;
  return opened;
}

float read_real(uint8_t type, const char* at) {
  if (type == mrvlc::isa::kPortF32) {
    float value = 0;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  uint16_t half = 0;
  std::memcpy(&half, at, sizeof half);
  return mrvlc::half_to_float(half);
}

void write_real(uint8_t type, float value, char* at) {
  const uint16_t half = mrvlc::float_to_half(value);
  type == mrvlc::isa::kPortF32 ? std::memcpy(at, &value, 4) : std::memcpy(at, &half, 2);
}

// All ports of a direction, from one of their types to the other; equal types are copied.
void convert(const std::vector<Port>& ports, bool to_device, const char* from, char* to) {
  for (const Port& p : ports) {
    const uint8_t read = to_device ? p.outer_type : p.inner_type,
                  write = to_device ? p.inner_type : p.outer_type;
    const size_t step = mrvlc::isa::port_type_bytes(read), stride = mrvlc::isa::port_type_bytes(write);
    for (uint32_t i = 0; i < p.elements(); ++i, from += step, to += stride)
      read == write ? void(std::memcpy(to, from, step)) : write_real(write, read_real(read, from), to);
  }
}

// Reals to reals; anything, integers too, to itself.
bool can_convert(const std::vector<Port>& ports) {
  const auto is_real = [](uint8_t type) {
    return type == mrvlc::isa::kPortF16 || type == mrvlc::isa::kPortF32;
  };
  return std::ranges::all_of(ports, [&](const Port& p) {
    return p.inner_type == p.outer_type || (is_real(p.inner_type) && is_real(p.outer_type));
  });
}

// No exception leaves a C function.
template <class F>
int guarded(F body) {
  try {
    return body();
  } catch (...) {
    return kError;
  }
}

}  // namespace

MRVL_EXPORT int mrvl_ml_init(int, char**) {
  return guarded([] {
    if (library().device != nullptr) return kError;
    const char* target = std::getenv("MRVL_MLDPC_TARGET");
    library().device = mrvl_simulator_open(target == nullptr ? "cn10ka" : target);
    if (library().device == nullptr) return kError;
    if (*mrvl_simulator_error(library().device) == 0) return 0;
    library().close();
    return kError;
  });
}

MRVL_EXPORT int mrvl_ml_finish(void) {
  if (library().device == nullptr) return kError;
  library().close();
  return 0;
}

MRVL_EXPORT int mrvl_ml_model_load(const void* buffer, uint64_t size) {
  return guarded([&] {
    Library& l = library();
    if (l.device == nullptr || buffer == nullptr) return kError;
    auto binary = mrvlc::isa::read_container({static_cast<const char*>(buffer), size});
    if (!binary.ok() || !can_convert(binary->inputs) || !can_convert(binary->outputs)) return kError;
    Model model{std::move(binary).value()};
    if (l.device->load(l.device->context, buffer, size, &model.handle) != 0) return kError;
    l.models.emplace(l.next, std::move(model));
    return l.next++;
  });
}

MRVL_EXPORT int mrvl_ml_model_unload(int id) {
  return guarded([&] {
    Model* model = library().find(id);
    if (model == nullptr) return kError;
    library().device->unload(library().device->context, model->handle);
    library().models.erase(id);
    return 0;
  });
}

MRVL_EXPORT void* mrvl_ml_io_alloc(int id, int kind, uint64_t* size) {
  const Model* model = library().find(id);
  if (model == nullptr || kind < MRVL_ML_INPUT_QUANTISED || kind > MRVL_ML_OUTPUT_DEQUANTISED) return nullptr;
  const uint64_t bytes = model->bytes(kind);
  if (size != nullptr) *size = bytes;
  return std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment);
}

MRVL_EXPORT void mrvl_ml_io_free(int, int, void* memory) {
  std::free(memory);
}

MRVL_EXPORT int mrvl_ml_model_quantize(int id, const void* dequantised, void* quantised) {
  const Model* model = library().find(id);
  if (model == nullptr || dequantised == nullptr || quantised == nullptr) return kError;
  convert(model->binary.inputs, true, static_cast<const char*>(dequantised), static_cast<char*>(quantised));
  return 0;
}

MRVL_EXPORT int mrvl_ml_model_dequantize(int id, const void* quantised, void* dequantised) {
  const Model* model = library().find(id);
  if (model == nullptr || dequantised == nullptr || quantised == nullptr) return kError;
  convert(model->binary.outputs, false, static_cast<const char*>(quantised), static_cast<char*>(dequantised));
  return 0;
}

MRVL_EXPORT int mrvl_ml_model_run(int id, const void* inputs, void* outputs, int batches) {
  return guarded([&] {
    const Model* model = library().find(id);
    if (model == nullptr || inputs == nullptr || outputs == nullptr || batches < 1) return kError;
    const mrvl_device& device = *library().device;
    auto from = static_cast<const char*>(inputs);
    auto to = static_cast<char*>(outputs);
    for (int b = 0; b < batches; ++b) {
      std::vector<mrvl_input> in;
      std::vector<mrvl_output> out;
      for (const Port& p : model->binary.inputs) in.push_back({from, p.bytes()}), from += p.bytes();
      for (const Port& p : model->binary.outputs) out.push_back({to, p.bytes()}), to += p.bytes();
      if (device.run(device.context, model->handle, in.data(), in.size(), out.data(), out.size()) != 0)
        return kError;
    }
    return 0;
  });
}
