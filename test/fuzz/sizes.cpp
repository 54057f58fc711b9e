// Sizes that a model may well have, only too large: what stays valid reaches the code generators, and must be
// done with, or refused, before anything is made that grows with them.
#include <algorithm>
#include <cstring>
#include <limits>

#include "mutate.h"

namespace mrvlc::fuzz {
namespace {

int64_t times(int64_t a, int64_t b) {
  int64_t r = 0;
  return __builtin_mul_overflow(a, b, &r) ? std::numeric_limits<int64_t>::max() : r;
}

// Near a power of two, a limit of the accelerator or a round number; more often small.
int64_t size(Random& random) {
  if (random.one_in(3)) return static_cast<int64_t>(random.below(40)) + 1;
  const int64_t power = int64_t{1} << random.pick(random.one_in(4) ? 41 : 22);
  const int64_t round = random.of<int64_t>({100, 1000, 3000, 5000, 60000, 65535, 65536, 1'000'000, 16777216});
  return std::max<int64_t>(1, random.one_in(3) ? round : power + random.pick(3) - 1);
}

int64_t grown(int64_t value, Random& random) {
  if (random.one_in(3)) return size(random);
  return times(std::max<int64_t>(value, 1), random.of<int64_t>({2, 3, 7, 16, 33, 100, 1000, 4096, 65536}));
}

// One dimension such that all together are just below, at or just above a limit.
void fill_up(std::vector<int64_t>& dims, size_t at, Random& random) {
  const int64_t bytes = int64_t{1} << random.of({26, 28, 29, 30, 31, 32, 40});
  int64_t others = 1;
  for (size_t d = 0; d < dims.size(); ++d)
    if (d != at) others = times(others, std::max<int64_t>(dims[d], 1));
  dims[at] = std::max<int64_t>(1, bytes / 2 / others + random.pick(3) - 1);
}

bool change_input(pb::ModelProto& model, Random& random) {
  auto& inputs = *model.mutable_graph()->mutable_input();
  if (inputs.empty()) return false;
  auto& shape = *inputs[random.pick(inputs.size())].mutable_type()->mutable_tensor_type()->mutable_shape();
  if (shape.dim_size() == 0) return false;
  std::vector<int64_t> dims;
  for (const auto& dim : shape.dim()) dims.push_back(dim.has_dim_value() ? dim.dim_value() : 1);
  // Mostly the last two: the others are channels, which weights fix, and the batch, which has a limit.
  const size_t last = std::min<size_t>(dims.size(), random.one_in(4) ? 4 : 2);
  const size_t at = dims.size() - 1 - random.below(last);
  if (random.one_in(8)) {
    for (size_t d = 2; d < dims.size(); ++d) dims[d] = 1;
  }
  if (random.one_in(3)) {
    fill_up(dims, at, random);
  } else {
    dims[at] = grown(dims[at], random);
  }
  for (size_t d = 0; d < dims.size(); ++d) shape.mutable_dim(static_cast<int>(d))->set_dim_value(dims[d]);
  return true;
}

bool change_window(Parts& parts, Random& random) {
  static constexpr std::string_view kNames[] = {"strides",   "dilations",  "kernel_shape",   "pads", "group",
                                                "blocksize", "block_size", "output_padding", "axis", "axes"};
  std::vector<pb::AttributeProto*> found;
  for (auto* a : parts.attributes)
    if (std::find(std::begin(kNames), std::end(kNames), a->name()) != std::end(kNames)) found.push_back(a);
  if (found.empty()) return false;
  pb::AttributeProto& a = *found[random.below(found.size())];
  if (a.has_i()) a.set_i(grown(a.i(), random));
  if (a.ints_size() > 0) {
    const int at = random.pick(a.ints_size());
    a.set_ints(at, grown(a.ints(at), random));
  }
  return true;
}

// Sizes and repeats, pads, shapes, starts and steps are constants; so are scales.
bool change_parameter(Parts& parts, Random& random) {
  constexpr int kMost = 16;
  std::vector<pb::TensorProto*> found;
  for (auto* t : parts.tensors)
    if (t->int64_data_size() > 0 || (t->float_data_size() > 0 && t->float_data_size() <= kMost))
      found.push_back(t);
  if (found.empty()) return false;
  pb::TensorProto& t = *found[random.below(found.size())];
  if (t.int64_data_size() > 0) {
    const int at = random.pick(t.int64_data_size());
    t.set_int64_data(at, grown(t.int64_data(at), random));
  } else {
    const int at = random.pick(t.float_data_size());
    t.set_float_data(at, t.float_data(at) * random.of({0.01f, 1.37f, 2.0f, 3.9f, 17.0f, 500.0f, 1e5f}));
  }
  return true;
}

// Weights with more channels, or of a larger window.
bool change_weights(Parts& parts, Random& random) {
  constexpr int64_t kMost = 1 << 20;
  std::vector<pb::TensorProto*> found;
  for (auto* t : parts.tensors)
    if (t->data_type() == pb::TensorProto::FLOAT && t->dims_size() > 1 && t->float_data_size() > 0)
      found.push_back(t);
  if (found.empty()) return false;
  pb::TensorProto& t = *found[random.below(found.size())];
  const int at = random.pick(t.dims_size());
  const int64_t before = t.dims(at), now = std::min<int64_t>(4096, grown(before, random));
  int64_t all = now;
  for (int d = 0; d < t.dims_size(); ++d)
    if (d != at) all = times(all, t.dims(d));
  if (all > kMost || all <= 0) return false;
  t.set_dims(at, now);
  const float value = t.float_data(0);
  t.mutable_float_data()->Resize(static_cast<int>(all), value);
  return true;
}

}  // namespace

bool change_sizes(pb::ModelProto& model, Random& random) {
  Parts parts(model);
  // What was said of results no longer holds.
  for (auto& output : *model.mutable_graph()->mutable_output()) {
    if (output.type().has_tensor_type()) output.mutable_type()->mutable_tensor_type()->clear_shape();
  }
  model.mutable_graph()->clear_value_info();
  switch (random.pick(6)) {
    case 0:
    case 1:
      return change_input(model, random);
    case 2:
    case 3:
      return change_window(parts, random) || change_input(model, random);
    case 4:
      return change_parameter(parts, random) || change_input(model, random);
    default:
      return change_weights(parts, random);
  }
}

}  // namespace mrvlc::fuzz
