#include "mutate.h"

namespace mrvlc::fuzz {
namespace {

using A = pb::AttributeProto;

void change_value(A& a, Random& random) {
  if (a.has_i()) a.set_i(random.integer());
  if (a.has_f()) a.set_f(static_cast<float>(random.real()));
  if (a.has_s()) {
    static const char* const texts[] = {"SAME_UPPER",   "VALID",         "reflect", "edge",      "linear",
                                        "cubic",        "i,j->",         "...",     "ij,jk->ik", "->",
                                        "iiii,iiii->i", "BIDIRECTIONAL", "NOTSET",  "sum",       "DCR"};
    a.set_s(random.one_in(3) ? random.hostile_name() : texts[random.below(std::size(texts))]);
  }
  for (int i = 0; i < a.floats_size(); ++i) {
    if (random.one_in(2)) a.set_floats(i, static_cast<float>(random.real()));
  }
  for (int i = 0; i < a.ints_size(); ++i) {
    if (random.one_in(2)) a.set_ints(i, random.integer());
  }
  for (int i = 0; i < a.strings_size(); ++i) {
    if (random.one_in(2)) a.set_strings(i, random.hostile_name());
  }
}

void change_length(A& a, Random& random) {
  const int n = random.of({1, 1, 1, 2, 9, 1000});
  auto shrink = [&](auto* list) {
    for (int i = 0; i < n && !list->empty(); ++i) list->RemoveLast();
  };
  if (random.one_in(2)) {
    shrink(a.mutable_ints());
    shrink(a.mutable_floats());
    shrink(a.mutable_strings());
    return;
  }
  for (int i = 0; i < n; ++i) {
    if (a.type() == A::INTS) a.add_ints(random.integer());
    if (a.type() == A::FLOATS) a.add_floats(static_cast<float>(random.real()));
    if (a.type() == A::STRINGS) a.add_strings("s");
  }
}

}  // namespace

void random_attribute(A& a, Random& random) {
  static const char* const names[] = {"axis",      "axes",         "keepdims",  "pads",       "strides",
                                      "dilations", "kernel_shape", "group",     "auto_pad",   "to",
                                      "alpha",     "beta",         "mode",      "perm",       "value",
                                      "sizes",     "shape",        "blocksize", "ceil_mode",  "hidden_size",
                                      "direction", "body",         "dtype",     "block_size", "num_outputs",
                                      "start",     "end",          "equation",  "allowzero"};
  a.set_name(names[random.below(std::size(names))]);
  switch (random.pick(5)) {
    case 0:
      a.set_type(A::INT);
      a.set_i(random.integer());
      break;
    case 1:
      a.set_type(A::FLOAT);
      a.set_f(static_cast<float>(random.real()));
      break;
    case 2:
      a.set_type(A::STRING);
      a.set_s("linear");
      break;
    case 3:
      a.set_type(A::TENSOR);
      *a.mutable_t() = random_tensor("", random.pick(17), {random.dimension()}, random);
      break;
    default:
      a.set_type(A::INTS);
      for (int i = random.pick(5); i >= 0; --i) a.add_ints(random.integer());
  }
}

bool change_attribute(Parts& parts, Random& random) {
  if (parts.nodes.empty()) return false;
  if (parts.attributes.empty() || random.one_in(6)) {
    random_attribute(*parts.nodes[random.below(parts.nodes.size())]->add_attribute(), random);
    return true;
  }
  A& a = *parts.attributes[random.below(parts.attributes.size())];
  switch (random.pick(9)) {
    case 0:
      a.set_type(random.of({A::UNDEFINED, A::FLOAT, A::INT, A::STRING, A::TENSOR, A::GRAPH, A::FLOATS,
                            A::INTS, A::STRINGS, A::TENSORS, A::GRAPHS, A::TYPE_PROTO, A::SPARSE_TENSOR}));
      break;
    case 1:
      change_length(a, random);
      break;
    case 2:
      a.set_name(random.hostile_name());
      break;
    case 3:
      a.set_ref_attr_name(random.one_in(2) ? a.name() : "alpha");
      break;
    case 4: {
      A other = *parts.attributes[random.below(parts.attributes.size())];
      other.set_name(a.name());
      a = std::move(other);
      break;
    }
    default:
      change_value(a, random);
  }
  return true;
}

}  // namespace mrvlc::fuzz
