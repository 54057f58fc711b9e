// One picture through both libraries; prints the largest difference of the two answers.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "digits.h"
#include "digits_host.h"

int main() {
  float image[digits_INPUT0_ELEMENTS], ours[digits_OUTPUT0_ELEMENTS], host[digits_OUTPUT0_ELEMENTS];
  for (int i = 0; i < digits_INPUT0_ELEMENTS; ++i) image[i] = static_cast<float>(i % 17);

  mrvl_device* simulator = mrvl_simulator_open("cn10ka");
  digits_device device = {};
  device.device = simulator;
  for (int i = 0; i < digits_REGION_COUNT; ++i) {
    std::ifstream file(MODEL_DIR "/digits.region" + std::to_string(i) + ".mrvl", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
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
  mrvl_simulator_close(simulator);

  float worst = 0;
  for (int i = 0; i < digits_OUTPUT0_ELEMENTS; ++i) {
    if (!std::isfinite(ours[i])) return 4;
    worst = std::fmax(worst, std::fabs(ours[i] - host[i]) / (1 + std::fabs(host[i])));
  }
  std::printf("%d outputs, largest difference %g\n", digits_OUTPUT0_ELEMENTS, static_cast<double>(worst));
  return worst < 1e-2f ? 0 : 5;
}
