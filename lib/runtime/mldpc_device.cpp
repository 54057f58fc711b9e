// A device over libmldpc, whichever there is: the card's, or that of lib/runtime/mldpc.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "mrvl/mldpc.h"

namespace {

enum MldpcError : int { kNoLibrary = 1, kBadBinary = 2, kBadPorts = 3, kRunFailed = 4, kNoMemory = 5 };

struct Functions {
  decltype(&mrvl_ml_init) init = nullptr;
  decltype(&mrvl_ml_finish) finish = nullptr;
  decltype(&mrvl_ml_model_load) load = nullptr;
  decltype(&mrvl_ml_model_unload) unload = nullptr;
  decltype(&mrvl_ml_io_alloc) alloc = nullptr;
  decltype(&mrvl_ml_io_free) free = nullptr;
  decltype(&mrvl_ml_model_quantize) quantize = nullptr;
  decltype(&mrvl_ml_model_dequantize) dequantize = nullptr;
  decltype(&mrvl_ml_model_run) run = nullptr;
};

struct MldpcDevice {
  mrvl_device interface = {};
  void* library = nullptr;
  bool ready = false;
  Functions call;
  std::string error;

  ~MldpcDevice() {
    if (ready) call.finish();
    if (library != nullptr) dlclose(library);
  }
  int fail(int code, std::string text) {
    error = std::move(text);
    return code;
  }

  template <class F>
  bool find(const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    if (function == nullptr) error = std::string("libmldpc has no function ") + name;
    return function != nullptr;
  }

  void open(const char* path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* why = dlerror();
      error = std::string("cannot load libmldpc: ") + (why == nullptr ? path : why);
      return;
    }
    const bool whole = find("mrvl_ml_init", call.init) && find("mrvl_ml_finish", call.finish) &&
                       find("mrvl_ml_model_load", call.load) && find("mrvl_ml_model_unload", call.unload) &&
                       find("mrvl_ml_io_alloc", call.alloc) && find("mrvl_ml_io_free", call.free) &&
                       find("mrvl_ml_model_quantize", call.quantize) &&
                       find("mrvl_ml_model_dequantize", call.dequantize) &&
                       find("mrvl_ml_model_run", call.run);
    if (!whole) return;
    char name[] = "mrvlc";
    char* arguments[] = {name, nullptr};
    ready = call.init(1, arguments) == 0;
    if (!ready) error = "libmldpc does not begin: mrvl_ml_init failed";
  }
};

// Memory of libmldpc for all ports of a kind.
class Block {
 public:
  Block(const MldpcDevice& device, int model, int kind) : device_(device), model_(model), kind_(kind) {
    memory_ = static_cast<char*>(device.call.alloc(model, kind, &size_));
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    if (memory_ != nullptr) device_.call.free(model_, kind_, memory_);
  }
  char* memory() const { return memory_; }
  uint64_t size() const { return size_; }

 private:
  const MldpcDevice& device_;
  int model_, kind_;
  uint64_t size_ = 0;
  char* memory_ = nullptr;
};

struct LoadedModel {
  int id = -1;
  unsigned char identity[MRVL_IDENTITY_BYTES] = {};
};

MldpcDevice& device_of(void* context) {
  return *static_cast<MldpcDevice*>(context);
}

int load(void* context, const void* binary, size_t bytes, void** model) {
  MldpcDevice& device = device_of(context);
  *model = nullptr;
  if (!device.ready) return kNoLibrary;
  if (bytes < MRVL_IDENTITY_OFFSET + MRVL_IDENTITY_BYTES) return device.fail(kBadBinary, "no model binary");
  const int id = device.call.load(binary, bytes);
  if (id < 0) return device.fail(kBadBinary, "mrvl_ml_model_load failed");
  auto* loaded = new (std::nothrow) LoadedModel;
  if (loaded == nullptr) return device.call.unload(id), kNoMemory;
  loaded->id = id;
  std::memcpy(loaded->identity, static_cast<const char*>(binary) + MRVL_IDENTITY_OFFSET, MRVL_IDENTITY_BYTES);
  *model = loaded;
  return 0;
}

void unload(void* context, void* model) {
  auto* loaded = static_cast<LoadedModel*>(model);
  if (loaded != nullptr) device_of(context).call.unload(loaded->id);
  delete loaded;
}

template <class Port>
uint64_t sum(const Port* ports, size_t count) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i) bytes += ports[i].bytes;
  return bytes;
}

int run(void* context, void* handle, const mrvl_input* inputs, size_t input_count, const mrvl_output* outputs,
        size_t output_count) {
  MldpcDevice& device = device_of(context);
  const int id = static_cast<LoadedModel*>(handle)->id;
  const Block in(device, id, MRVL_ML_INPUT_QUANTISED), in_model(device, id, MRVL_ML_INPUT_DEQUANTISED);
  const Block out(device, id, MRVL_ML_OUTPUT_QUANTISED), out_model(device, id, MRVL_ML_OUTPUT_DEQUANTISED);
  for (const Block* b : {&in, &in_model, &out, &out_model})
    if (b->memory() == nullptr) return device.fail(kNoMemory, "mrvl_ml_io_alloc failed");
  const uint64_t given = sum(inputs, input_count), asked = sum(outputs, output_count);
  const bool as_device = given == in.size() && asked == out.size();
  if (!as_device && (given != in_model.size() || asked != out_model.size()))
    return device.fail(kBadPorts, "the ports' bytes are neither the device's nor the model's");
  char* to = as_device ? in.memory() : in_model.memory();
  for (size_t i = 0; i < input_count; ++i) {
    std::memcpy(to, inputs[i].data, inputs[i].bytes);
    to += inputs[i].bytes;
  }
  if (!as_device && device.call.quantize(id, in_model.memory(), in.memory()) != 0)
    return device.fail(kRunFailed, "mrvl_ml_model_quantize failed");
  if (device.call.run(id, in.memory(), out.memory(), 1) != 0)
    return device.fail(kRunFailed, "mrvl_ml_model_run failed");
  if (!as_device && device.call.dequantize(id, out.memory(), out_model.memory()) != 0)
    return device.fail(kRunFailed, "mrvl_ml_model_dequantize failed");
  const char* from = as_device ? out.memory() : out_model.memory();
  for (size_t i = 0; i < output_count; ++i) {
    std::memcpy(outputs[i].data, from, outputs[i].bytes);
    from += outputs[i].bytes;
  }
  return 0;
}

const unsigned char* identity(void*, void* model) {
  return static_cast<LoadedModel*>(model)->identity;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) mrvl_device* mrvl_mldpc_open(const char* library) try {
  auto device = std::make_unique<MldpcDevice>();
  device->interface = MRVL_DEVICE_INIT;
  device->interface.context = device.get();
  device->interface.load = load;
  device->interface.unload = unload;
  device->interface.run = run;
  device->interface.identity = identity;
  const char* named = std::getenv("MRVL_LIBMLDPC_PATH");
  device->open(library != nullptr ? library : named != nullptr ? named : "/usr/lib/libmldpc.so");
  return &device.release()->interface;
} catch (...) {
  return nullptr;
}

__attribute__((visibility("default"))) void mrvl_mldpc_close(mrvl_device* device) {
  if (device != nullptr) delete &device_of(device->context);
}

__attribute__((visibility("default"))) const char* mrvl_mldpc_error(const mrvl_device* device) {
  return device == nullptr ? "" : device_of(device->context).error.c_str();
}

}  // extern "C"
