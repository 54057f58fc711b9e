// What is held back, and what is used.
#include "held_out.h"

namespace mrvlc::quantize {

Samples divided(const std::vector<Sample>& samples, const std::vector<Sample>& validation) {
  constexpr size_t kFewest = 8, kEvery = 4;
  Samples out;
  out.held = validation;
  if (!validation.empty() || samples.size() < kFewest) {
    out.used = samples;
    for (size_t i = 0; i < out.judged().size(); ++i) out.numbers.push_back(i);
    return out;
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    const bool held = i % kEvery == kEvery - 1;
    (held ? out.held : out.used).push_back(samples[i]);
    if (held) out.numbers.push_back(i);
  }
  return out;
}

}  // namespace mrvlc::quantize
