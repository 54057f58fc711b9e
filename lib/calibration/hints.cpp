// From each input along the nodes that read it: constants that are taken off and divided by, weights that are
// small where inputs are large, scales of integers, tables that are looked up, constants that are compared
// with.
#include "mrvlc/calibration/hints.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"

namespace mrvlc::calibration {
namespace {

using ir::Graph;
using Range = std::pair<double, double>;

constexpr int64_t kPictureSide = 16, kSoundLength = 256;
// Nodes that are followed from an input.
constexpr int kFarthest = 12;
// Layers are trained to take and give numbers of about this size.
constexpr double kUsual = 1.5, kLargest = 2;
// What is taken off brings the middle to 0: how much that counts beside the size.
constexpr double kOffCentre = 3;
// Weights of the first layer whose sums of squares are less than this want inputs that are larger than 1.
constexpr double kSmallWeights = 0.15, kSmallOfFeatures = 0.3;
constexpr std::array<Range, 3> kPictures = {{{0, 1}, {-1, 1}, {0, 255}}};

InputHint::Form form_of(const TensorType& type) {
  const Shape& s = type.shape;
  const auto channels = [](int64_t d) { return d == 1 || d == 3 || d == 4; };
  if (s.size() == 4 && channels(s[1]) && s[2] >= kPictureSide && s[3] >= kPictureSide)
    return InputHint::Form::Picture;
  if (s.size() == 4 && channels(s[3]) && s[1] >= kPictureSide && s[2] >= kPictureSide)
    return InputHint::Form::Picture;
  const bool long_last = !s.empty() && s.size() <= 3 && s.back() >= kSoundLength;
  return long_last && element_count(s) <= 2 * s.back() ? InputHint::Form::Sound : InputHint::Form::Plain;
}

// Bands of spectrograms and coefficients of cepstra, as front ends make them.
constexpr std::array<int64_t, 13> kBands = {10, 12, 13, 20, 26, 32, 39, 40, 64, 80, 96, 120, 128};
// Levels as networks get them: logarithms, decibels, cepstra of decibels.
constexpr std::array<Range, 3> kSpectra = {{{-10, 15}, {-100, 20}, {-300, 300}}};

// One channel of moments by bands, in this order.
bool is_spectrum(const TensorType& type) {
  std::vector<int64_t> sides;
  for (const int64_t d : type.shape)
    if (d != 1) sides.push_back(d);
  return sides.size() == 2 && sides[0] != sides[1] && sides[0] >= kBands[0] &&
         std::ranges::find(kBands, sides[1]) != kBands.end();
}

double mean(const Tensor& t) {
  double sum = 0;
  for (int64_t i = 0; i < t.elements(); ++i) sum += t.as_double(i);
  return t.elements() == 0 ? 0 : sum / static_cast<double>(t.elements());
}

// The root of the mean sum of squares that one result has.
double gain_of(const ir::Node& node, const Tensor& weights) {
  const Shape& s = weights.shape();
  if (s.size() < 2 || weights.elements() == 0) return 0;
  const bool rows = node.is(Op::Conv) || ops::attr::trans_b(node);
  double squares = 0;
  for (int64_t i = 0; i < weights.elements(); ++i) squares += weights.as_double(i) * weights.as_double(i);
  return std::sqrt(squares / static_cast<double>(rows ? s.front() : s.back()));
}

// Weights of a network of integers that is written in floats: it takes the integers of pixels.
bool are_integers(const Tensor& weights) {
  double most = 0;
  for (int64_t i = 0; i < weights.elements(); ++i) {
    const double v = weights.as_double(i);
    if (v != std::round(v)) return false;
    most = std::max(most, std::abs(v));
  }
  return most > 1;
}

// Whether angles are made of it by arithmetic alone.
bool is_position(const Graph& graph, ir::ValueId input) {
  std::vector<bool> seen(graph.value_slots(), false);
  std::vector<ir::ValueId> reached = {input};
  for (int far = 0; far < kFarthest && !reached.empty(); ++far) {
    std::vector<ir::ValueId> next;
    for (ir::ValueId at : reached) {
      for (ir::NodeId id : graph.value(at).users) {
        const ir::Node& reader = graph.node(id);
        if (ops::traits(reader).periodic && is_float(graph.value(at).type.elem)) return true;
        if (ops::sums_many_products(graph, reader)) continue;
        for (ir::ValueId v : reader.outputs) {
          if (!v.valid() || seen[v.index()]) continue;
          seen[v.index()] = true;
          next.push_back(v);
        }
      }
    }
    reached = std::move(next);
  }
  return false;
}

// What is known of an input after the nodes so far: y = a * x + b.
class Walk {
 public:
  Walk(const Graph& graph, ir::ValueId input, InputHint& hint) : graph_(graph), hint_(hint), at_(input) {
    integers_ = is_integer(graph.value(input).type.elem);
  }

  void run() {
    const ir::ValueId input = at_;
    for (int k = 0; k < kFarthest; ++k)
      if (!step()) break;
    if (!hint_.ranges.empty()) return;
    // A picture or a sound is no position, whatever reads it.
    if (hint_.form == InputHint::Form::Plain && is_position(graph_, input)) return add_positions();
    if (integers_) return;
    if (hint_.spectrum && !scaled_) return spectrum();
    if (hint_.form == InputHint::Form::Picture) return picture();
    if (scaled_ && a_ != 0) {
      const double x = (-kLargest - b_) / a_, y = (kLargest - b_) / a_;
      hint_.ranges.emplace_back(std::min(x, y), std::max(x, y));
    } else if (gain_ > 0 && gain_ < kSmallOfFeatures) {
      hint_.ranges.emplace_back(-kLargest / gain_, kLargest / gain_);
    } else if (hint_.form == InputHint::Form::Sound) {
      hint_.ranges = {{-1, 1}, {-0.1, 0.1}, {-1e-3, 1e-3}};
    }
  }

 private:
  // Also what a node Constant makes: no pass has run.
  const Tensor* constant(ir::ValueId value) const {
    if (const Tensor* t = value.valid() ? graph_.constant(value) : nullptr) return t;
    const ir::NodeId producer = value.valid() ? graph_.value(value).producer : ir::NodeId();
    if (!producer.valid()) return nullptr;
    const ir::Node& node = graph_.node(producer);
    return node.is(Op::Constant) ? ops::attr::value(node) : nullptr;
  }

  // The other operand, if it is a constant.
  const Tensor* other(const ir::Node& node) const {
    if (node.inputs.size() < 2) return nullptr;
    return constant(node.inputs[0] == at_ ? node.inputs[1] : node.inputs[0]);
  }

  bool step() {
    const ir::Value& value = graph_.value(at_);
    for (ir::NodeId id : value.users) compare(graph_.node(id));
    for (ir::NodeId id : value.users)
      if (take(graph_.node(id))) return true;
    return false;
  }

  void compare(const ir::Node& node) {
    if (!integers_ || !node.is(Op::Equal, Op::Less, Op::LessOrEqual, Op::Greater, Op::GreaterOrEqual)) return;
    const Tensor* with = other(node);
    if (with == nullptr || with->elements() != 1) return;
    const double value = with->as_double(0);
    if (std::abs(value) > 0x1p53 || value != std::round(value)) return;
    add_choice(static_cast<int64_t>(value));
  }

  void add_choice(int64_t value) {
    std::erase_if(hint_.choices, [&](int64_t c) { return c == value; });
    hint_.choices.insert(hint_.choices.begin() + static_cast<long>(compared_++), value);
    const auto taken = [&](int64_t v) { return std::ranges::find(hint_.choices, v) != hint_.choices.end(); };
    if (hint_.choices.size() > compared_) return;
    int64_t none = value + 1;
    while (taken(none)) ++none;
    hint_.choices.push_back(none);
  }

  bool go_on(const ir::Node& node) {
    at_ = node.outputs[0];
    return true;
  }

  // True: the walk goes on behind it.
  bool take(const ir::Node& node) {
    if (node.is(Op::Cast, Op::Identity, Op::Transpose, Op::Reshape, Op::Squeeze, Op::Unsqueeze, Op::Flatten,
                Op::Pad, Op::Slice, Op::MaxPool))
      return node.inputs[0] == at_ && go_on(node);
    if (integers_) return look_up(node), mask(node), false;
    if (node.is(Op::Add, Op::Sub, Op::Mul, Op::Div)) return affine(node) && go_on(node);
    if (node.is(Op::QuantizeLinear)) return steps(node), false;
    if (node.is(Op::BatchNormalization)) return normalise(node), false;
    if (node.is(Op::Conv, Op::Gemm, Op::MatMul) && node.inputs[0] == at_)
      if (const Tensor* weights = constant(node.inputs[1])) {
        gain_ = std::abs(a_) * gain_of(node, *weights);
        of_integers_ = are_integers(*weights);
      }
    return false;
  }

  bool affine(const ir::Node& node) {
    const Tensor* with = other(node);
    if (with == nullptr || !is_float(with->elem())) return false;
    const double c = mean(*with);
    const bool first = node.inputs[0] == at_;
    if (node.is(Op::Add)) b_ += c;
    if (node.is(Op::Sub) && first) b_ -= c;
    if (node.is(Op::Sub) && !first) a_ = -a_, b_ = c - b_;
    if (node.is(Op::Mul)) a_ *= c, b_ *= c;
    if (node.is(Op::Div)) {
      if (!first || c == 0) return false;
      a_ /= c, b_ /= c;
    }
    return scaled_ = true;
  }

  void normalise(const ir::Node& node) {
    const Tensor *m = constant(node.inputs[3]), *v = constant(node.inputs[4]);
    if (m == nullptr || v == nullptr) return;
    const double deviation = std::sqrt(std::max(mean(*v), 0.0));
    if (deviation == 0) return;
    a_ /= deviation, b_ = (b_ - mean(*m)) / deviation;
    scaled_ = true;
  }

  // What its integers stand for.
  void steps(const ir::Node& node) {
    const Tensor* scale = node.inputs[0] == at_ ? constant(node.inputs[1]) : nullptr;
    if (scale == nullptr || scale->elements() != 1 || a_ == 0) return;
    const Tensor* zero = node.inputs.size() > 2 ? constant(node.inputs[2]) : nullptr;
    const ElementType elem = graph_.value(node.outputs[0]).type.elem;
    if (elem != ElementType::I8 && elem != ElementType::U8) return;
    const double least = elem == ElementType::I8 ? -128 : 0, z = zero != nullptr ? zero->as_double(0) : 0;
    const double x = ((least - z) * scale->as_double(0) - b_) / a_;
    const double y = ((least + 255 - z) * scale->as_double(0) - b_) / a_;
    hint_.ranges.emplace_back(std::min(x, y), std::max(x, y));
  }

  // 1 - x, which a large number is multiplied with next: what is to be masked.
  void mask(const ir::Node& node) {
    const Tensor* with = node.is(Op::Sub) ? other(node) : nullptr;
    if (with != nullptr && with->elements() == 1 && with->as_double(0) == 1) hint_.ranges = {{0, 1}};
  }

  void look_up(const ir::Node& node) {
    const ElementType elem = graph_.value(at_).type.elem;
    const bool bytes = elem == ElementType::I8 || elem == ElementType::U8;
    if (node.is(Op::DequantizeLinear) && bytes)
      hint_.ranges.emplace_back(elem == ElementType::I8 ? -128 : 0, elem == ElementType::I8 ? 127 : 255);
    if (!node.is(Op::Gather) || node.inputs[1] != at_) return;
    const TensorType& table = graph_.value(node.inputs[0]).type;
    if (table.shape.empty()) return;
    const int64_t axis = ops::attr::axis(node), rank = static_cast<int64_t>(table.shape.size());
    const int64_t rows = table.shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
    if (rows > 1) hint_.ranges.emplace_back(0, rows - 1);
  }

  // Whole numbers are places in a text, others moments.
  void add_positions() {
    if (integers_) {
      hint_.ranges = {{0, 2047}, {0, 31}, {0, 32767}};
    } else {
      hint_.ranges = {{0, 1}, {0, 999}};
    }
  }

  // What the weights of the first layer want, and what front ends make; between these what a picture has.
  void spectrum() {
    const bool small = gain_ > 0 && gain_ < kSmallOfFeatures;
    if (hint_.form == InputHint::Form::Picture) picture();
    std::vector<Range> levels(kSpectra.begin(), kSpectra.end());
    if (small) levels.insert(levels.begin(), {-kLargest / gain_, kLargest / gain_});
    std::vector<Range> all;
    for (size_t i = 0; i < std::max(levels.size(), hint_.ranges.size()); ++i) {
      if (i < hint_.ranges.size()) all.push_back(hint_.ranges[i]);
      if (i < levels.size()) all.push_back(levels[i]);
    }
    hint_.ranges = std::move(all);
  }

  void picture() {
    if (scaled_) {
      const auto far = [&](const Range& r) {
        const double x = a_ * r.first + b_, y = a_ * r.second + b_;
        const double most = std::max({std::abs(x), std::abs(y), 1e-9});
        return std::abs(std::log2(most / kUsual)) + kOffCentre * std::abs(x + y) / most;
      };
      hint_.ranges.push_back(*std::ranges::min_element(kPictures, {}, far));
    } else if ((gain_ > 0 && gain_ < kSmallWeights) || of_integers_) {
      hint_.ranges.push_back(kPictures[2]);
    } else {
      hint_.ranges = {kPictures[0], kPictures[1]};
    }
  }

  const Graph& graph_;
  InputHint& hint_;
  ir::ValueId at_;
  bool integers_ = false, scaled_ = false, of_integers_ = false;
  double a_ = 1, b_ = 0, gain_ = 0;
  size_t compared_ = 0;
};

// An input whose type one output has, and no other input, is a state if it is not the first input, or is
// called alike.
std::optional<size_t> next_of(const Graph& graph, size_t input) {
  const ir::Value& value = graph.value(graph.inputs()[input]);
  if (!is_float(value.type.elem) || value.type.wrapper != Wrapper::None) return std::nullopt;
  const auto same = [&](ir::ValueId v) { return graph.value(v).type == value.type; };
  if (std::ranges::count_if(graph.inputs(), same) != 1 || std::ranges::count_if(graph.outputs(), same) != 1)
    return std::nullopt;
  const auto at = std::ranges::find_if(graph.outputs(), same);
  const bool alike = graph.value(*at).name.find(value.name) != std::string::npos;
  if (input == 0 && !alike) return std::nullopt;
  return static_cast<size_t>(at - graph.outputs().begin());
}

}  // namespace

std::vector<InputHint> input_hints(const ir::Graph& graph) {
  std::vector<InputHint> out(graph.inputs().size());
  for (size_t i = 0; i < out.size(); ++i) {
    const TensorType& type = graph.value(graph.inputs()[i]).type;
    if (type.wrapper != Wrapper::None || !(is_float(type.elem) || is_integer(type.elem))) continue;
    if (is_float(type.elem)) out[i].form = form_of(type), out[i].spectrum = is_spectrum(type);
    Walk(graph, graph.inputs()[i], out[i]).run();
    out[i].next = next_of(graph, i);
  }
  return out;
}

void add_likely(const std::vector<InputHint>& hints, size_t k, Distributions& known) {
  for (size_t i = 0; i < hints.size(); ++i) {
    if (known.contains(i)) continue;
    const InputHint& hint = hints[i];
    if (!hint.choices.empty()) {
      const auto value = static_cast<double>(hint.choices[k % hint.choices.size()]);
      known[i] = uniform(value, value);
    } else if (!hint.ranges.empty()) {
      const auto& [least, most] = hint.ranges[(k + 1) / 2 % hint.ranges.size()];
      known[i] = uniform(least, most);
    }
  }
}

std::vector<Texture> textures(const std::vector<InputHint>& hints, size_t k) {
  std::vector<Texture> out;
  for (const InputHint& hint : hints) {
    const bool likely = k % 4 == 1;
    Texture t = k % 2 == 0 ? Texture::Noise : Texture::Smooth;
    if (likely && hint.form == InputHint::Form::Picture) t = Texture::Picture;
    if (k % 2 == 1 && hint.form == InputHint::Form::Sound) t = Texture::Sound;
    if (hint.spectrum && (k % 4 == 3 || (likely && hint.form != InputHint::Form::Picture)))
      t = Texture::Spectrum;
    out.push_back(t);
  }
  return out;
}

size_t samples_of_choices(const std::vector<InputHint>& hints) {
  size_t most = 1;
  for (const InputHint& hint : hints) most = std::max(most, hint.choices.size());
  return most;
}

}  // namespace mrvlc::calibration
