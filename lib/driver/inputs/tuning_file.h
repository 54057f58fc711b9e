// The file of `mrvlc tune`: which variant computes each layer of the host, and what was measured
// (docs/tuning.md, docs/schemas/tuning.schema.json).
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/chost/choice.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

inline constexpr size_t kMaxTuningBytes = 16u << 20;

// What was measured with: other times are not comparable with these.
struct TuningMachine {
  std::string mrvlc;  // its version
  std::string compiler,
      flags;  // the C compiler's version, empty where it is not known; words without folders
  std::vector<std::string> features;  // what it compiles for: architecture and extensions
  friend bool operator==(const TuningMachine&, const TuningMachine&) = default;
};

struct TunedLayer {
  std::string layer;                              // chost::LayerChoice::layer
  int64_t count = 1;                              // of them in the network
  std::string expected, choice;                   // variants as texts: another version may know more
  std::map<std::string, double, std::less<>> ns;  // by variant: of one layer, the least
};

struct TuningFile {
  std::string model;  // SHA-256
  TuningMachine machine;
  std::array<int64_t, 2> rounds{};  // measured, of kernels and of sizes of blocks
  // Of an inference, once what was chosen has been measured as a whole; before that every choice is what is
  // expected.
  struct Network {
    double untuned_ns = 0, tuned_ns = 0;
  };
  std::optional<Network> network;
  std::vector<TunedLayer> layers;  // in order of their texts

  const TunedLayer* find(std::string_view layer) const;
};

// Every field is checked: MRV0606. `shown`: the file's name in messages.
Result<TuningFile> parse_tuning(std::string_view json, std::string_view shown);
std::string tuning_text(const TuningFile& file);
// The choices that this version knows.
chost::Tuning tuning_of(const TuningFile& file);

}  // namespace mrvlc::driver
