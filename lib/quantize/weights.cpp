// Scales of least loss, rounding whose errors later weights make good (GPTQ), biases for moved means.
#include "weights.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "mrvlc/ops/quantized.h"

namespace mrvlc::quantize {
namespace {

using Vector = Eigen::VectorXd;

// Of the mean of the squares of inputs; what Frantar et al. take.
constexpr double kDamping = 0.01;

double limit_of(ElementType type) {
  return static_cast<double>(ops::range_of(type).high);  // symmetric: the least integer is left out
}

double to_integer(double w, double scale, double limit) {
  return std::clamp(std::nearbyint(w / scale), -limit, limit);
}

// The scale with which the weights of a channel lose least, each weighed by the square of what it multiplies.
float scale_of(const Eigen::Ref<const Eigen::RowVectorXd>& row, const Vector* weight, double limit) {
  // Down to half of the scale at which no weight is clamped.
  constexpr int kShrinks = 40;
  constexpr double kStep = 0.0125;
  const double whole = row.cwiseAbs().maxCoeff() / limit;
  constexpr double kLeastScale = 1e-18;
  if (!(whole > kLeastScale)) return 1;
  double best = whole, least = HUGE_VAL;
  for (int i = 0; i <= kShrinks; ++i) {
    const double scale = static_cast<float>(whole * (1 - kStep * i));
    double lost = 0;
    for (Eigen::Index k = 0; k < row.size(); ++k) {
      const double e = row[k] - scale * to_integer(row[k], scale, limit);
      lost += (weight == nullptr ? 1 : (*weight)[k]) * e * e;
    }
    if (lost < least) {
      least = lost;
      best = scale;
    }
  }
  return static_cast<float>(best);
}

// Weights of one group, rounded one input after the other; what a rounding changes is made good by those
// that are still to come.
class Rounder {
 public:
  Rounder(const GroupMoments& m, int64_t patches) : order_(static_cast<size_t>(m.xx.rows())) {
    const double n = static_cast<double>(std::max<int64_t>(patches, 1));
    Matrix h = m.xx / n;
    const double damping = kDamping * std::max(h.diagonal().mean(), 1e-12);
    h.diagonal().array() += damping;
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, [&](int a, int b) { return h(a, a) > h(b, b); });
    correction_ = h.ldlt().solve(Matrix((m.yx - m.xx).transpose() / n)).transpose();
    Matrix sorted(h.rows(), h.cols());
    for (Eigen::Index i = 0; i < h.rows(); ++i)
      for (Eigen::Index j = 0; j < h.cols(); ++j) sorted(i, j) = h(at(i), at(j));
    const Matrix inverse = sorted.llt().solve(Matrix::Identity(h.rows(), h.cols()));
    upper_ = Eigen::LLT<Matrix>(inverse).matrixU();
    usable_ = upper_.allFinite() && upper_.diagonal().minCoeff() > 0 && correction_.allFinite();
  }

  bool usable() const { return usable_; }
  // What real weights would do best, with the inputs that the network of integers has.
  Matrix fitted(const Matrix& w) const { return w + w * correction_; }

  Matrix round(Matrix w, const std::vector<double>& scales, double limit) const {
    Matrix q(w.rows(), w.cols()), sorted(w.rows(), w.cols());
    for (Eigen::Index j = 0; j < w.cols(); ++j) sorted.col(j) = w.col(at(j));
    for (Eigen::Index j = 0; j < w.cols(); ++j) {
      Vector lost(w.rows());
      for (Eigen::Index r = 0; r < w.rows(); ++r) {
        const double scale = scales[static_cast<size_t>(r)];
        q(r, at(j)) = to_integer(sorted(r, j), scale, limit);
        lost[r] = (sorted(r, j) - scale * q(r, at(j))) / upper_(j, j);
      }
      const Eigen::Index rest = w.cols() - j - 1;
      sorted.rightCols(rest).noalias() -= lost * upper_.row(j).tail(rest);
    }
    return q;
  }

 private:
  Eigen::Index at(Eigen::Index i) const { return order_[static_cast<size_t>(i)]; }

  std::vector<int> order_;  // inputs with the largest squares first
  Matrix correction_, upper_;
  bool usable_ = false;
};

// Sum of the squares of what results of a row change by, where y is what floats give:
// |w y - q x|^2 = w yy wT - 2 w yx qT + q xx qT, of which the first term is the same for all q.
double change(const Eigen::RowVectorXd& w, const Eigen::RowVectorXd& q, const GroupMoments& m) {
  return q.dot((m.xx * q.transpose()).transpose() - 2 * (m.yx.transpose() * w.transpose()).transpose());
}

// Of what is left of inputs without their means.
GroupMoments centred(const GroupMoments& m, int64_t patches) {
  const double n = static_cast<double>(patches);
  return {m.xx - m.x * m.x.transpose() / n, m.yx - m.y * m.x.transpose() / n, m.x, m.y};
}

class LayerRounder {
 public:
  LayerRounder(const Matrix& w, const ProductShape& shape, const Moments* moments, const Rounding& rounding)
      : w_(w), shape_(shape), limit_(limit_of(rounding.type)), moments_(moments), rounding_(rounding) {
    out_.integers.resize(w.rows(), w.cols());
    out_.scales.resize(static_cast<size_t>(w.rows()));
    out_.bias = Vector::Zero(w.rows());
  }

  IntegerWeights run() {
    for (int64_t g = 0; g < shape_.groups; ++g) {
      const bool has_products = moments_ != nullptr && moments_->has_products;
      std::optional<GroupMoments> m;
      if (has_products) m = rounding_.has_bias ? centred(of(g), moments_->patches) : of(g);
      nearest(g, m ? &*m : nullptr);
      if (m && rounding_.learn) learned(g, *m);
      if (moments_ != nullptr && rounding_.has_bias) correct_bias(g);
    }
    return std::move(out_);
  }

 private:
  const GroupMoments& of(int64_t g) const { return moments_->groups[static_cast<size_t>(g)]; }
  Matrix rows(int64_t g) const { return w_.middleRows(g * shape_.rows, shape_.rows); }

  void nearest(int64_t g, const GroupMoments* known) {
    std::optional<Vector> squares;
    if (known != nullptr) squares = known->xx.diagonal().cwiseMax(0);
    for (int64_t m = g * shape_.rows; m < (g + 1) * shape_.rows; ++m) {
      float scale = scale_of(w_.row(m), squares && squares->sum() > 0 ? &*squares : nullptr, limit_);
      if (!rounding_.least_scales.empty())
        scale = std::max(scale, static_cast<float>(rounding_.least_scales[static_cast<size_t>(m)]));
      out_.scales[static_cast<size_t>(m)] = scale;
      for (int64_t k = 0; k < shape_.depth; ++k)
        out_.integers(m, k) = to_integer(w_(m, k), static_cast<double>(scale), limit_);
    }
  }

  // Rows for which it is no better stay as they are.
  void learned(int64_t g, const GroupMoments& moments) {
    const Rounder rounder(moments, moments_->patches);
    if (!rounder.usable()) return;
    const Matrix w = rows(g), fitted = rounder.fitted(w);
    std::vector<double> scales;
    for (int64_t m = g * shape_.rows; m < (g + 1) * shape_.rows; ++m)
      scales.push_back(static_cast<double>(out_.scales[static_cast<size_t>(m)]));
    const Matrix q = rounder.round(fitted, scales, limit_);
    for (int64_t r = 0; r < shape_.rows; ++r) {
      const int64_t m = g * shape_.rows + r;
      const double scale = scales[static_cast<size_t>(r)];
      const Eigen::RowVectorXd before = scale * out_.integers.row(m), now = scale * q.row(r);
      if (change(w.row(r), now, moments) < change(w.row(r), before, moments)) out_.integers.row(m) = q.row(r);
    }
  }

  void correct_bias(int64_t g) {
    if (moments_->patches == 0) return;
    const GroupMoments& m = of(g);
    for (int64_t r = g * shape_.rows; r < (g + 1) * shape_.rows; ++r) {
      const double scale = static_cast<double>(out_.scales[static_cast<size_t>(r)]);
      const double moved = w_.row(r).dot(m.y) - scale * out_.integers.row(r).dot(m.x);
      if (std::isfinite(moved)) out_.bias[r] = moved / static_cast<double>(moments_->patches);
    }
  }

  const Matrix& w_;
  const ProductShape& shape_;
  const double limit_;
  const Moments* moments_;
  const Rounding rounding_;
  IntegerWeights out_;
};

}  // namespace

Matrix real_weights(const IntegerWeights& w) {
  Matrix out = w.integers;
  for (Eigen::Index m = 0; m < out.rows(); ++m)
    out.row(m) *= static_cast<double>(w.scales[static_cast<size_t>(m)]);
  return out;
}

IntegerWeights round_weights(const Matrix& weights, const ProductShape& shape, const Moments* moments,
                             const Rounding& rounding) {
  return LayerRounder(weights, shape, moments, rounding).run();
}

}  // namespace mrvlc::quantize
