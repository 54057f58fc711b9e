#include "mutate.h"

#include <algorithm>

namespace mrvlc::fuzz {
namespace {

constexpr size_t kMaxMutant = 8u << 20;

// Ranges for dimensions that the model leaves open, and for a few that it does not.
onnx::ImportOptions random_options(pb::ModelProto& model, Random& random) {
  onnx::ImportOptions options;
  if (random.one_in(8)) options.batch = std::max<int64_t>(random.one_in(8) ? -1 : 1, random.dimension());
  if (random.one_in(8)) options.max_sequence = std::max<int64_t>(1, random.integer());
  if (!random.one_in(3)) return options;
  for (auto& input : *model.mutable_graph()->mutable_input()) {
    if (!input.type().has_tensor_type()) continue;
    auto* shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
    onnx::GivenShape given;
    for (int d = 0; d < std::min(shape->dim_size(), 32); ++d) {
      auto* dim = shape->mutable_dim(d);
      int64_t size = dim->has_dim_value() ? dim->dim_value() : random.dimension();
      if (random.one_in(2)) {
        dim->clear_dim_value();
        given.dynamic |= 1u << d;
        if (random.one_in(4)) size = random.dimension();
      }
      given.shape.push_back(size);
    }
    if (random.one_in(4)) given.length = std::max<int64_t>(0, random.integer());
    options.input_shapes[input.name()] = std::move(given);
  }
  return options;
}

bool change_one(pb::ModelProto& model, pb::ModelProto& donor, Random& random) {
  Parts parts(model);
  switch (random.pick(13)) {
    case 0:
    case 1:
      return change_tensor(parts, random);
    case 2:
      return change_type(parts, random);
    case 3:
    case 4:
      return change_attribute(parts, random);
    case 5:
    case 6:
      return change_node(parts, random);
    case 7:
      return change_list(parts, Parts(donor), random);
    case 8:
      return change_graph(parts, Parts(donor), random);
    case 9:
      return change_frame(model, parts, random);
    case 10:
      return change_sizes(model, random);
    default:
      return change_operands(parts, random);
  }
}

}  // namespace

std::string change_bytes(std::string bytes, const std::string& donor, Random& random) {
  if (bytes.empty()) return bytes;
  const size_t at = random.below(bytes.size());
  switch (random.pick(6)) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      for (int i = random.pick(8); i >= 0; --i)
        bytes[random.below(bytes.size())] ^= static_cast<char>(1u << random.below(8));
      break;
    case 2:
      bytes = bytes.substr(0, at) + donor.substr(donor.empty() ? 0 : random.below(donor.size()));
      break;
    case 3:  // a length prefix of nearly 2^32, or 2^63
      bytes.replace(at, std::min<size_t>(random.one_in(2) ? 5 : 0, bytes.size() - at),
                    random.one_in(2) ? "\xff\xff\xff\xff\x0f" : "\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
      break;
    case 4:
      bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(200)));
      break;
    default:
      bytes[at] = static_cast<char>(random.next());
  }
  return bytes;
}

Mutant make_mutant(const std::vector<Seed>& seeds, uint64_t set, uint64_t n) {
  Random random(set * 0x2545f4914f6cdd1du + n);
  const Seed& seed = seeds[random.below(seeds.size())];
  const Seed& other = seeds[random.below(seeds.size())];
  Mutant mutant{seed.name, seed.bytes, {}};
  pb::ModelProto model, donor;
  // Text may parse by chance.
  const bool structured = !random.one_in(10) && model.ParseFromString(seed.bytes) && model.has_graph();
  donor.ParseFromString(other.bytes);
  if (structured) {
    const int changes = random.of({1, 1, 1, 2, 3, 6});
    for (int i = 0; i < changes && model.ByteSizeLong() < kMaxMutant; ++i) change_one(model, donor, random);
    mutant.options = random_options(model, random);
    mutant.bytes = model.SerializePartialAsString();
  }
  if (structured && !random.one_in(50)) return mutant;
  for (int i = random.of({1, 1, 2, 8}); i > 0; --i)
    mutant.bytes = change_bytes(std::move(mutant.bytes), other.bytes, random);
  return mutant;
}

Mutant make_sized(const std::vector<Seed>& seeds, uint64_t set, uint64_t n) {
  Random random(set * 0x2545f4914f6cdd1du + n);
  const Seed& seed = seeds[random.below(seeds.size())];
  Mutant mutant{seed.name, seed.bytes, {}};
  pb::ModelProto model;
  if (!model.ParseFromString(seed.bytes)) return mutant;
  for (int i = random.of({1, 1, 1, 2, 2, 3}); i > 0; --i) change_sizes(model, random);
  if (random.one_in(16)) change_one(model, model, random);
  mutant.bytes = model.SerializePartialAsString();
  return mutant;
}

}  // namespace mrvlc::fuzz
