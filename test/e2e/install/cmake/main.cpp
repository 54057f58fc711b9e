// One picture through all libraries: prints the largest difference of accelerator and host; how the host has
// its weights makes none, and weights that are not the model's are refused.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "digits.h"
#include "digits_array.h"
#include "digits_blob.h"
#include "digits_host.h"

namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <int kElements>
struct Answer {
  float logits[kElements] = {};
  bool operator==(const Answer& other) const { return std::memcmp(logits, other.logits, sizeof logits) == 0; }
};
using Logits = Answer<digits_OUTPUT0_ELEMENTS>;

// 0, and the answers of the other two are those of the linked weights.
int compare_weights(const float* image, const Logits& expected) {
  alignas(digits_host_ARENA_ALIGN) static unsigned char arena[digits_host_ARENA_BYTES + 1];
  Logits array, blob;
  const digits_array_inputs array_in = {image};
  digits_array_outputs array_out = {array.logits};
  if (digits_array_run(&array_in, &array_out, arena, nullptr, nullptr, nullptr, nullptr) != 0) return 11;

  const std::string file = bytes_of(BLOB_DIR "/digits_blob_weights.bin");
  if (file.size() != digits_blob_WEIGHTS_BYTES) return 12;
  alignas(digits_blob_WEIGHTS_ALIGN) static unsigned char
      weights[digits_blob_WEIGHTS_BYTES + digits_blob_WEIGHTS_ALIGN];
  std::memcpy(weights, file.data(), file.size());
  const digits_blob_inputs blob_in = {image};
  digits_blob_outputs blob_out = {blob.logits};
  digits_blob_device device = {};
  digits_blob_error error = {};
  const auto runs = [&](const digits_blob_device* d) {
    return digits_blob_run(&blob_in, &blob_out, arena, d, nullptr, nullptr, &error);
  };
  const auto refused = [&](const unsigned char* at, size_t bytes, int why) {
    return digits_blob_load_weights(&device, at, bytes, &error) == digits_blob_ERROR_WEIGHTS &&
           error.device_code == why && runs(&device) == digits_blob_ERROR_WEIGHTS;
  };
  if (runs(nullptr) != digits_blob_ERROR_WEIGHTS || runs(&device) != digits_blob_ERROR_WEIGHTS) return 13;
  if (!refused(weights + 1, file.size(), 1) || !refused(weights, file.size() - 1, 2)) return 14;
  for (size_t at : {size_t{0}, file.size() / 2, file.size() - 1}) {
    weights[at] ^= 1;
    if (!refused(weights, file.size(), 3)) return 15;
    weights[at] ^= 1;
  }
  if (digits_blob_load_weights(&device, nullptr, file.size(), &error) != digits_blob_ERROR_ARGUMENT)
    return 16;
  if (digits_blob_load_weights(&device, weights, file.size(), &error) != 0 || runs(&device) != 0) return 17;
  return array == expected && blob == expected ? 0 : 18;
}

}  // namespace

int main() {
  float image[digits_INPUT0_ELEMENTS], ours[digits_OUTPUT0_ELEMENTS];
  Logits expected;
  float* const host = expected.logits;
  for (int i = 0; i < digits_INPUT0_ELEMENTS; ++i) image[i] = static_cast<float>(i % 17);

  mrvl_device* simulator = mrvl_simulator_open("cn10ka");
  digits_device device = {};
  device.device = simulator;
  for (int i = 0; i < digits_REGION_COUNT; ++i) {
    const std::string bytes = bytes_of(MODEL_DIR "/digits.region" + std::to_string(i) + ".mrvl");
    digits_error error;
    if (digits_load(&device, i, bytes.data(), bytes.size(), &error) != 0) return 1;
  }
  alignas(digits_ARENA_ALIGN) static unsigned char arena[digits_ARENA_BYTES + 1];
  alignas(digits_host_ARENA_ALIGN) static unsigned char host_arena[digits_host_ARENA_BYTES + 1];
  const digits_inputs in = {image};
  digits_outputs out = {ours};
  const digits_host_inputs host_in = {image};
  digits_host_outputs host_out = {host};
  if (digits_run(&in, &out, arena, &device, nullptr, nullptr, nullptr) != 0) return 2;
  if (digits_host_run(&host_in, &host_out, host_arena, nullptr, nullptr, nullptr, nullptr) != 0) return 3;
  digits_unload(&device);
  if (const int weights = compare_weights(image, expected); weights != 0) return weights;
  mrvl_simulator_close(simulator);

  float worst = 0;
  for (int i = 0; i < digits_OUTPUT0_ELEMENTS; ++i) {
    if (!std::isfinite(ours[i])) return 4;
    worst = std::fmax(worst, std::fabs(ours[i] - host[i]) / (1 + std::fabs(host[i])));
  }
  std::printf("%d outputs, largest difference %g\n", digits_OUTPUT0_ELEMENTS, static_cast<double>(worst));
  return worst < 1e-2f ? 0 : 5;
}
