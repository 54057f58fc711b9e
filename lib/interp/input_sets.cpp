// Elements of each kind of made input: uniform, normal, large, tiny, masks, integers at their ends, texts.
#include "mrvlc/interp/input_sets.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mrvlc/interp/interp.h"
#include "mrvlc/interp/random.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/ops/dynamic_shapes.h"

namespace mrvlc::interp {
namespace {

constexpr std::string_view kNames[] = {"uniform",   "normal",     "large",    "tiny",
                                       "zeros",     "negative",   "constant", "mask-open",
                                       "mask-shut", "mask-mixed", "lowest",   "highest"};
static_assert(std::size(kNames) == kInputKinds);

bool is_mask_kind(InputKind kind) {
  return kind == InputKind::MaskOpen || kind == InputKind::MaskShut || kind == InputKind::MaskMixed;
}

bool is_end(InputKind kind) {
  return kind == InputKind::Lowest || kind == InputKind::Highest;
}

bool is_mask(const ir::Value& value) {
  std::string text = value.name;
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return value.type.elem == ElementType::Bool || text.find("mask") != std::string::npos;
}

// Mean 0, deviation 1: the sum of twelve, so that every machine has the same bits.
double normal(Mulberry32& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

double float_of(InputKind kind, Mulberry32& random) {
  switch (kind) {
    case InputKind::Normal:
      return normal(random);
    case InputKind::Large:
      return 1e4 * normal(random);
    case InputKind::Tiny:
      return 1e-6 * normal(random);
    case InputKind::Zeros:
      return 0;
    case InputKind::Negative:
      return -random.uniform();
    case InputKind::Constant:
      return 1;
    default:
      return random.uniform();
  }
}

int64_t end_of(ElementType elem, InputKind kind, int64_t most) {
  const auto bits = static_cast<unsigned>(8 * byte_size(elem));
  const bool is_signed = is_signed_integer(elem);
  if (kind == InputKind::Lowest) {
    const int64_t least = !is_signed ? 0 : bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
    return most == INT64_MAX ? least : std::max(least, -most);
  }
  if (elem == ElementType::U64 && most == INT64_MAX) return -1;  // all bits
  const unsigned width = is_signed ? bits - 1 : bits;
  return std::min(width >= 63 ? INT64_MAX : (int64_t{1} << width) - 1, most);
}

int64_t integer_of(InputKind kind, Mulberry32& random, ElementType elem, int64_t most) {
  const auto drawn = static_cast<int64_t>(random.next() >> 30);  // 0 to 3
  if (is_end(kind)) return end_of(elem, kind, most);
  if (kind == InputKind::Zeros) return 0;
  if (kind == InputKind::Constant) return 1;
  return kind == InputKind::Negative && is_signed_integer(elem) ? -drawn : drawn;
}

// Of a mask: what lets through, or not.
void set_mask(Tensor& tensor, int64_t i, InputKind kind, Mulberry32& random) {
  const bool lot = random.next() >> 31 != 0;
  const bool open = kind == InputKind::MaskMixed ? lot : kind == InputKind::MaskOpen;
  if (!is_float(tensor.elem())) return tensor.set_int(i, open ? 1 : 0);
  const double least = kind == InputKind::MaskMixed ? -1e9 : -1e4;
  tensor.set_double(i, open ? 0 : tensor.elem() == ElementType::F16 ? std::max(least, -65504.0) : least);
}

std::string text_of(InputKind kind, Mulberry32& random) {
  constexpr const char* kTexts[] = {"", "a", "Monday", "1.5", "-7", "\xc3\x84rger", "two words", "nan"};
  const auto drawn = random.next() >> 29;
  return kind == InputKind::Zeros ? "" : kind == InputKind::Constant ? "a" : kTexts[drawn];
}

struct Maker {
  InputKind kind;
  bool mask;
  int64_t most;
  Mulberry32& random;

  void set(Tensor& tensor, int64_t i) {
    const ElementType elem = tensor.elem();
    if (elem == ElementType::String) {
      tensor.mutable_strings()[static_cast<size_t>(i)] = text_of(kind, random);
    } else if (mask && is_mask_kind(kind)) {
      set_mask(tensor, i, kind, random);
    } else if (elem == ElementType::Bool) {
      const auto lot = static_cast<int64_t>(random.next() >> 31);
      tensor.set_int(i, kind == InputKind::Zeros ? 0 : kind == InputKind::Constant ? 1 : lot);
    } else if (is_integer(elem)) {
      tensor.set_int(i, integer_of(kind, random, elem, most));
    } else {
      tensor.set_double(i, float_of(kind, random));
    }
  }

  Tensor tensor(const TensorType& type) {
    Tensor out(TensorType{type.elem, type.shape});  // open dimensions at their bounds
    for (int64_t i = 0; i < out.elements(); ++i) set(out, i);
    return out;
  }

  Tensor make(const TensorType& type) {
    if (type.wrapper == Wrapper::None) return tensor(type);
    std::vector<Tensor> items;
    for (int64_t i = 0; i < (ops::holds_sequence(type) ? std::min<int64_t>(type.length, 3) : 1); ++i)
      items.push_back(tensor(type));
    TensorType empty{type.elem, {}};
    if (ops::holds_sequence(type)) {
      empty.wrapper = Wrapper::Sequence;
      Tensor sequence =
          items.empty() ? Tensor::wrapped(empty, {}) : ops::wrap(Wrapper::Sequence, std::move(items));
      if (type.wrapper == Wrapper::Sequence) return sequence;
      items = {std::move(sequence)};
    }
    return ops::wrap(type.wrapper, std::move(items));
  }
};

}  // namespace

std::string_view name(InputKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

bool concerns(InputKind kind, const ir::Graph& graph) {
  const auto& inputs = graph.inputs();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](ir::ValueId id) {
                       const ir::Value& value = graph.value(id);
                       if (is_mask_kind(kind)) return is_mask(value);
                       if (is_end(kind)) return is_integer(value.type.elem);
                       if (kind == InputKind::Large || kind == InputKind::Tiny || kind == InputKind::Normal)
                         return !is_integer(value.type.elem) && value.type.elem != ElementType::Bool &&
                                value.type.elem != ElementType::String;
                       return true;
                     }) ||
         kind == InputKind::Uniform;
}

std::vector<Tensor> make_inputs(const ir::Graph& graph, InputKind kind, uint32_t seed, int64_t most) {
  const auto& ids = graph.inputs();
  const bool plain = std::all_of(ids.begin(), ids.end(), [&](ir::ValueId id) {
    const TensorType& type = graph.value(id).type;
    return type.wrapper == Wrapper::None && type.elem != ElementType::String;
  });
  if (kind == InputKind::Uniform && plain) return seeded_inputs(graph, seed);
  Mulberry32 random(seed);
  std::vector<Tensor> inputs;
  for (ir::ValueId id : ids) {
    Maker maker{kind, is_mask(graph.value(id)), most, random};
    inputs.push_back(maker.make(graph.value(id).type));
  }
  return inputs;
}

}  // namespace mrvlc::interp
