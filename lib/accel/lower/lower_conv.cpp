// Conv and ConvTranspose. A transposed convolution is one ordinary convolution for each residue of the output
// position modulo the stride: output o reads input (o + pad - k * dilation) / stride for the taps k where
// that is whole.
#include <cstring>
#include <numeric>

#include "lower/conv_lowering.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/support/checked.h"
#include "plan/window_plan.h"

namespace mrvlc::accel {
namespace {

// Taps of one phase along one axis, in order of increasing input position.
struct Axis {
  int64_t input = 1, output = 1, stride = 1, dilation = 1, lattice = 1;  // as WindowOp has them
  struct Phase {
    int64_t first = 0, origin = 0;
    std::vector<int64_t> taps;  // index into the kernel; empty: nothing contributes to these outputs
  };
  std::vector<Phase> phases;
};

// Whether some output reads an element of the input through the tap.
bool meets(const ops::WindowParams& p, size_t d, int64_t tap) {
  const int64_t at = tap * p.dilations[d] - p.pads_begin[d];  // of output 0
  const int64_t first = at >= 0 ? 0 : ceil_div(-at, p.strides[d]);
  return first < p.output[d] && at + first * p.strides[d] < p.input[d];
}

// Taps at the ends of the kernel that lie in the padding for all outputs are left out.
Axis forward_axis(const ops::WindowParams& p, size_t d) {
  Axis a{p.input[d], p.output[d], p.strides[d], p.dilations[d], 1, {}};
  int64_t begin = 0, end = p.kernel[d];
  while (begin + 1 < end && !meets(p, d, begin)) ++begin;
  while (begin + 1 < end && !meets(p, d, end - 1)) --end;
  Axis::Phase phase{0, begin * p.dilations[d] - p.pads_begin[d],
                    std::vector<int64_t>(static_cast<size_t>(end - begin))};
  std::iota(phase.taps.begin(), phase.taps.end(), begin);
  a.phases.push_back(std::move(phase));
  return a;
}

Axis transposed_axis(const ops::WindowParams& p, size_t d) {
  int64_t s = p.strides[d], dilation = p.dilations[d], common = std::gcd(s, dilation);
  Axis a{p.input[d], p.output[d], 1, dilation / common, s, {}};
  for (int64_t first = 0; first < std::min(s, p.output[d]); ++first) {
    Axis::Phase phase{first, 0, {}};
    for (int64_t k = p.kernel[d] - 1; k >= 0; --k)
      if ((first + p.pads_begin[d] - k * dilation) % s == 0) phase.taps.push_back(k);
    if (!phase.taps.empty()) phase.origin = (first + p.pads_begin[d] - phase.taps[0] * dilation) / s;
    a.phases.push_back(std::move(phase));
  }
  if (a.phases.size() == 1) a.lattice = 1;  // a single output, next to those of other images
  return a;
}

class ConvLowering {
 public:
  ConvLowering(Lowering& l, const ir::Node& node, ops::ConvParams params, bool transposed)
      : l_(l),
        n_(node),
        p_(std::move(params)),
        transposed_(transposed),
        oc_group_(p_.out_channels / p_.group),
        ic_group_(p_.in_channels / p_.group) {}

  Status run() {
    bool plain_depthwise = ic_group_ == 1 && p_.group > 1;
    const int32_t shift = l_.precision(n_.inputs[0]).shift;
    f_ = fold_epilogue(l_, !plain_depthwise || oc_group_ == 1, shift);
    w_ = l_.rounded_weights(n_, f_.of_weights);
    terms_ = terms(plain_depthwise);
    for (size_t d = 0; d < p_.input.size(); ++d)
      axes_.push_back(transposed_ ? transposed_axis(p_, d) : forward_axis(p_, d));
    if (axes_.size() == 1) axes_.insert(axes_.begin(), Axis{1, 1, 1, 1, 1, {{0, 0, {0}}}});
    stand_up(plain_depthwise);
    const bool sums = f_.after != 0;
    View out = sums ? sums_of(l_, f_.value, 1) : writable(l_, f_.value, 1);
    merge_columns(out);
    geometry(plain_depthwise);
    images(shift);
    op_.out = image(out);
    widen_columns();
    if (!sums) op_.bias = pack_bias(l_, stored(bias()));
    op_.epilogue = f_.activation;
    pack_phases();
    flatten_pixels(op_);
    emit();
    if (sums) MRVLC_TRY(settle_sums(l_, f_, out, bias(), 1, n_.id));
    if (!sums) settle(l_, f_.value, out, n_.id);
    if (f_.taken < l_.layer().nodes.size()) return lower_chain(l_, f_.value, f_.taken);
    return {};
  }

 private:
  // An image of one row is taken as one of one column: tiles share rows. Taps keep their order; a kernel row
  // of several taps is one run of products, which must not come out shorter.
  void stand_up(bool depthwise) {
    constexpr int64_t kRun = 16;
    const Axis &h = axes_[0], &w = axes_[1];
    const bool one = h.input == 1 && h.output == 1 && h.phases[0].taps.size() == 1 && h.phases[0].origin == 0;
    const bool runs = ic_group_ % kRun == 0 || w.phases[0].taps.size() == 1 || w.dilation > 1;
    upright_ = !transposed_ && !depthwise && one && runs;
    if (upright_) std::swap(axes_[0], axes_[1]);
  }

  void geometry(bool depthwise) {
    const Axis &h = axes_[0], &w = axes_[1];
    op_.kind = depthwise ? WindowOp::Kind::Depthwise : WindowOp::Kind::Conv;
    op_.owner = l_.owner(n_.id);
    op_.in_h = h.input;
    op_.in_w = w.input;
    op_.out_h = h.output;
    op_.out_w = w.output;
    op_.stride_h = h.stride;
    op_.stride_w = w.stride;
    op_.dilation_h = h.dilation;
    op_.dilation_w = w.dilation;
    op_.lattice_h = h.lattice;
    op_.lattice_w = w.lattice;
    op_.groups = p_.group;
    op_.group_in = ic_group_;
    op_.group_out = oc_group_;
  }

  // A transposed convolution whose windows do not overlap, with few output channels: the phases of a row have
  // the same input, so they can be channels of one.
  void merge_columns(const View& out) {
    Axis& w = axes_[1];
    auto phases = static_cast<int64_t>(w.phases.size());
    constexpr int64_t kChannels = 16;  // that one block of weights has
    bool same = transposed_ && p_.group == 1 && phases == w.lattice && phases > 1 &&
                phases * oc_group_ <= kChannels && w.output % w.lattice == 0 && !f_.residual.valid() &&
                out.dims.size() == 4 && out.strides[3] == oc_group_ &&
                (out.strides[1] == 1 || oc_group_ == 1);
    for (const Axis::Phase& ph : w.phases)
      same = same && ph.taps.size() == w.phases[0].taps.size() && !ph.taps.empty() &&
             ph.origin == w.phases[0].origin;
    if (!same) return;
    merged_ = w.phases;
    w.phases.resize(1);
    w.output /= w.lattice;
    w.lattice = 1;
  }

  void widen_columns() {
    if (merged_.empty()) return;
    op_.group_out *= static_cast<int64_t>(merged_.size());
    op_.out.stride_w *= static_cast<int64_t>(merged_.size());
  }

  WindowOp::Image image(const View& v) const {
    bool plane = v.dims.size() == 4;
    const int high = plane ? 2 : -1, wide = plane ? 3 : 2;
    return upright_ ? image_of(v, {0}, wide, high) : image_of(v, {0}, high, wide);
  }

  // Halves of a depthwise convolution's operand are columns of the image: dilated ones cannot be told apart.
  std::vector<ProductTerm> terms(bool depthwise) const {
    bool dilated = depthwise && p_.dilations.back() > 1 && p_.kernel.back() > 1;
    if (dilated) return product_terms({}, {});
    return product_terms(l_.precision(n_.inputs[0]), l_.precision(n_.inputs[1]));
  }

  void images(int32_t shift) {
    bool depthwise = op_.kind == WindowOp::Kind::Depthwise;
    op_.x = image(left_operand(l_, l_.read(n_.inputs[0]), 1, depthwise ? 1 : p_.group, terms_, shift, n_.id));
    auto n = static_cast<int64_t>(terms_.size());
    if (depthwise) {
      op_.in_w *= n;
      op_.stride_w *= n;
      if (n > 1) op_.dilation_w = 1;  // between the halves; columns are dilated only where there is but one
      op_.x.stride_w /= n;
    } else {
      op_.group_in *= n;
    }
    if (!f_.residual.valid()) return;
    op_.residual = image(l_.with_inner(l_.read(f_.residual), 1, n_.id));
    op_.has_residual = true;
  }

  std::vector<float> bias() const {
    std::vector<float> b(static_cast<size_t>(p_.out_channels), 0.0f);
    const Tensor* t =
        n_.inputs.size() > 2 && n_.inputs[2].valid() ? l_.graph().constant(n_.inputs[2]) : nullptr;
    for (size_t i = 0; i < b.size(); ++i) {
      if (t != nullptr) b[i] = static_cast<float>(t->as_double(static_cast<int64_t>(i)));
      if (!f_.scale.empty()) b[i] = b[i] * f_.scale[i] + f_.shift[i];
    }
    return b;
  }

  // In the order of the operation's channels.
  std::vector<float> stored(std::vector<float> b) const {
    std::vector<float> once = b;
    for (size_t i = 1; i < merged_.size(); ++i) b.insert(b.end(), once.begin(), once.end());
    if (op_.kind != WindowOp::Kind::Depthwise) return b;
    std::vector<float> by_multiplier(b.size());
    for (int64_t g = 0; g < p_.group; ++g)
      for (int64_t j = 0; j < oc_group_; ++j)
        by_multiplier[static_cast<size_t>(j * p_.group + g)] = b[static_cast<size_t>(g * oc_group_ + j)];
    return by_multiplier;
  }

  // Element offset in the weight tensor of (output channel o of group g, input channel 0, tap).
  int64_t weight_base(int64_t g, int64_t o, int64_t kh, int64_t kw) const {
    int64_t height = p_.kernel.size() == 2 ? p_.kernel[0] : 1, width = p_.kernel.back();
    if (upright_) std::swap(kh, kw);
    int64_t row = transposed_ ? g * ic_group_ * oc_group_ + o : (g * oc_group_ + o) * ic_group_;
    return (row * height + kh) * width + kw;
  }
  int64_t weight_channel_stride() const {
    int64_t taps = p_.kernel.back() * (p_.kernel.size() == 2 ? p_.kernel[0] : 1);
    return transposed_ ? oc_group_ * taps : taps;
  }

  void put(int64_t at, int64_t index, bool low) {
    std::memcpy(l_.weights_at(at), &(low ? w_.low : w_.high)[static_cast<size_t>(index)], 2);
  }

  void pack_phases() {
    for (const Axis::Phase& h : axes_[0].phases)
      for (const Axis::Phase& w : axes_[1].phases) {
        WindowPhase ph;
        ph.first_h = h.first;
        ph.first_w = w.first;
        bool nothing = h.taps.empty() || w.taps.empty();
        // No tap reaches these outputs: one zero tap far outside the input leaves just the bias.
        ph.y0 = nothing ? -(int64_t{1} << 24) : h.origin;
        ph.x0 = nothing ? -(int64_t{1} << 24) : w.origin;
        ph.kernel_h = nothing ? 1 : static_cast<int64_t>(h.taps.size());
        ph.kernel_w = nothing ? 1 : static_cast<int64_t>(w.taps.size());
        ph.weights = nothing ? pack({}, {}) : pack(h.taps, w.taps);
        if (op_.kind == WindowOp::Kind::Depthwise && !nothing) {
          ph.x0 *= static_cast<int64_t>(terms_.size());
          ph.kernel_w *= static_cast<int64_t>(terms_.size());
        }
        op_.phases.push_back(ph);
      }
  }

  int64_t pack(const std::vector<int64_t>& kh, const std::vector<int64_t>& kw) {
    auto taps = std::max<int64_t>(1, static_cast<int64_t>(kh.size() * kw.size()));
    return op_.kind == WindowOp::Kind::Depthwise ? pack_depthwise(kh, kw, taps) : pack_blocks(kh, kw, taps);
  }

  int64_t pack_depthwise(const std::vector<int64_t>& kh, const std::vector<int64_t>& kw, int64_t taps) {
    auto n = static_cast<int64_t>(terms_.size());
    int64_t at = l_.reserve_weights(oc_group_ * taps * n * p_.group * 2), to = at;
    for (int64_t j = 0; j < oc_group_; ++j)
      for (size_t t = 0; t < kh.size() * kw.size(); ++t)
        for (const ProductTerm& term : terms_)
          for (int64_t g = 0; g < p_.group; ++g, to += 2)
            put(to, weight_base(g, j, kh[t / kw.size()], kw[t % kw.size()]), term.w_low);
    return at;
  }

  int64_t pack_blocks(const std::vector<int64_t>& kh, const std::vector<int64_t>& kw, int64_t taps) {
    int64_t columns = std::max<int64_t>(1, static_cast<int64_t>(merged_.size()));
    int64_t blocks = ceil_div(oc_group_ * columns, 16), stride = weight_channel_stride();
    int64_t depth = ic_group_ * static_cast<int64_t>(terms_.size());
    int64_t at = l_.reserve_weights(p_.group * blocks * taps * depth * 32);
    for (int64_t g = 0; g < p_.group; ++g)
      for (int64_t n = 0; n < oc_group_ * columns; ++n)
        for (size_t t = 0; t < kh.size() * kw.size(); ++t) {
          int64_t o = n % oc_group_;
          const auto& own = merged_.empty() ? kw : merged_[static_cast<size_t>(n / oc_group_)].taps;
          int64_t from = weight_base(g, o, kh[t / kw.size()], own[t % kw.size()]);
          int64_t block = (g * blocks + n / 16) * taps * depth;
          int64_t to = at + (block + static_cast<int64_t>(t) * depth) * 32 + n % 16 * 2;
          for (const ProductTerm& term : terms_)
            for (int64_t c = 0; c < ic_group_; ++c, to += 32) put(to, from + c * stride, term.w_low);
        }
    return at;
  }

  // A transposed convolution whose weights of all phases do not fit together is done phase by phase.
  void emit() {
    if (op_.phases.size() == 1 || window_fits(op_, l_.machine())) return l_.add(op_);
    for (const WindowPhase& ph : op_.phases) {
      WindowOp one = op_;
      auto count = [](int64_t size, int64_t first, int64_t lattice) {
        return ceil_div(size - first, lattice);
      };
      one.out_h = count(op_.out_h, ph.first_h, op_.lattice_h);
      one.out_w = count(op_.out_w, ph.first_w, op_.lattice_w);
      one.lattice_h = one.lattice_w = 1;
      for (WindowOp::Image* i : {&one.out, &one.residual}) {
        for (int64_t& offset : i->offsets) offset += ph.first_h * i->stride_h + ph.first_w * i->stride_w;
        i->stride_h *= op_.lattice_h;
        i->stride_w *= op_.lattice_w;
      }
      one.phases = {ph};
      one.phases[0].first_h = one.phases[0].first_w = 0;
      l_.add(one);
    }
  }

  Lowering& l_;
  const ir::Node& n_;
  ops::ConvParams p_;
  bool transposed_, upright_ = false;  // upright: height and width have changed places
  int64_t oc_group_, ic_group_;
  FoldedEpilogue f_;
  RoundedWeights w_;  // in the order of the weight tensor
  std::vector<ProductTerm> terms_;
  std::vector<Axis> axes_;
  std::vector<Axis::Phase> merged_;  // columns of the output that are channels of the operation
  WindowOp op_;
};

}  // namespace

Status lower_conv(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  bool transposed = node.is(Op::ConvTranspose);
  ops::InferContext context = ops::infer_context(l.graph(), node);
  MRVLC_ASSIGN(ops::ConvParams params,
               transposed ? ops::conv_transpose_params(context) : ops::conv_params(context));
  if (params.input.empty() || params.input.size() > 2)
    return make_diag<DiagCode::MRV0502>("convolutions over " + std::to_string(params.input.size()) +
                                        " dimensions");
  return ConvLowering(l, node, std::move(params), transposed).run();
}

}  // namespace mrvlc::accel
