// Least squares of relative errors, factors not negative, each pulled towards what all have in common.
#include "host_calibration/fit.h"

#include <algorithm>
#include <cmath>

namespace mrvlc::driver {
namespace {

using partition::HostModel;

constexpr double kLeastShare = 2e-3;  // of a network, as which what takes less counts
constexpr double kPull = 3e-5;        // to the common factor
constexpr int kRounds = 2000;         // of coordinate descent

// Its own entry, or the one that it falls back to.
const HostModel::Rate& rate_of(const HostModel& model, const std::string& key) {
  const auto entry = model.rates.find(partition::host_rate_of(model, key));
  return entry->second;
}

// Unknown factors by name: "call", "byte", "mac KEY", "step KEY".
class Equations {
 public:
  Equations(const HostModel& base, const std::vector<HostNetwork>& networks) : base_(base) {
    for (const HostNetwork& network : networks) {
      const double all = measured_seconds(network);
      // Squares of relative errors, each weighed by the share of the network that the function takes.
      for (const HostFunction& f : network) add(f, std::sqrt(std::max(f.seconds / all, kLeastShare)));
    }
  }

  double common_factor() const {
    std::vector<std::pair<double, double>> ratios;  // with weights
    double all = 0;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (!(sums_[i] > 0)) continue;
      ratios.emplace_back(wanted_[i] / sums_[i], wanted_[i] * wanted_[i]);
      all += ratios.back().second;
    }
    // The median by weight: functions whose times are off do not move it.
    std::ranges::sort(ratios);
    double before = 0;
    for (const auto& [ratio, weight] : ratios)
      if ((before += weight) >= all / 2) return ratio;
    return 1;
  }

  std::map<std::string, double> solve(double common) const {
    std::vector<double> residual = wanted_;
    for (size_t i = 0; i < residual.size(); ++i) residual[i] -= common * sums_[i];
    std::map<std::string, double> factors;
    for (const auto& [name, column] : columns_) factors[name] = common;
    // The best value of one factor, with all others as they are and none below zero, again and again.
    for (int round = 0; round < kRounds; ++round) {
      for (const auto& [name, column] : columns_) {
        double& factor = factors[name];
        double square = kPull, product = kPull * common;
        for (const auto& [i, a] : column) {
          square += a * a;
          product += a * (residual[i] + a * factor);
        }
        const double now = std::max(0.0, product / square);
        for (const auto& [i, a] : column) residual[i] -= a * (now - factor);
        factor = now;
      }
    }
    return factors;
  }

 private:
  void add(const HostFunction& f, double weight) {
    const size_t i = wanted_.size();
    wanted_.push_back(weight);
    sums_.push_back(0);
    const auto term = [&](const std::string& name, double nanoseconds) {
      if (nanoseconds == 0) return;
      const double a = weight * 1e-9 * nanoseconds / f.seconds;
      columns_[name][i] += a;
      sums_[i] += a;
    };
    for (const HostFunction::Term& t : f.terms) {
      const HostModel::Rate& rate = rate_of(base_, t.key);
      term("call", base_.call_ns * t.effort.calls);
      term("byte", base_.constant_byte_ns * t.effort.constant_bytes);
      term("mac " + t.key, rate.mac_ns * t.effort.products);
      term("step " + t.key, rate.step_ns * t.effort.steps);
    }
  }

  const HostModel& base_;
  std::map<std::string, std::map<size_t, double>> columns_;  // by function: what a factor of one gives
  std::vector<double> wanted_, sums_;                        // by function
};

HostModel scaled(HostModel model, double factor) {
  for (double* ns : {&model.call_ns, &model.constant_byte_ns, &model.to_device_ns, &model.from_device_ns,
                     &model.cast_to_device_ns, &model.cast_from_device_ns, &model.permute_ns})
    *ns *= factor;
  for (auto& [key, rate] : model.rates) rate.mac_ns *= factor, rate.step_ns *= factor;
  return model;
}

}  // namespace

HostModel fit_host_model(const HostModel& base, const std::vector<HostNetwork>& networks) {
  const Equations equations(base, networks);
  const double common = equations.common_factor();
  HostModel out = scaled(base, common);
  const std::map<std::string, double> factors = equations.solve(common);
  for (const auto& [name, factor] : factors) {
    if (name == "call") {
      out.call_ns = base.call_ns * factor;
    } else if (name == "byte") {
      out.constant_byte_ns = base.constant_byte_ns * factor;
    } else {
      const bool mac = name.starts_with("mac ");
      const std::string key = name.substr(mac ? 4 : 5);
      const HostModel::Rate& from = rate_of(base, key);
      HostModel::Rate& rate =
          out.rates.try_emplace(key, HostModel::Rate{from.mac_ns * common, from.step_ns * common})
              .first->second;
      (mac ? rate.mac_ns : rate.step_ns) = (mac ? from.mac_ns : from.step_ns) * factor;
    }
  }
  return out;
}

double expected_seconds(const HostModel& model, const HostNetwork& network) {
  double ns = 0;
  for (const HostFunction& f : network) {
    for (const HostFunction::Term& t : f.terms) {
      const HostModel::Rate& rate = rate_of(model, t.key);
      ns += model.call_ns * t.effort.calls + model.constant_byte_ns * t.effort.constant_bytes +
            rate.mac_ns * t.effort.products + rate.step_ns * t.effort.steps;
    }
  }
  return 1e-9 * ns;
}

double measured_seconds(const HostNetwork& network) {
  double sum = 0;
  for (const HostFunction& f : network) sum += f.seconds;
  return sum;
}

}  // namespace mrvlc::driver
