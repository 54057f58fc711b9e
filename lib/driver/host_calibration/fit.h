// Rates of a host model from measured times.
#pragma once
#include <vector>

#include "mrvlc/partition/host_model.h"

namespace mrvlc::driver {

// A function of generated C, and what the operators count that it computes.
struct HostFunction {
  struct Term {
    std::string key;  // "Conv/winograd": its entry in the host model, if there is one
    partition::HostEffort effort;
  };
  double seconds = 0;
  std::vector<Term> terms;
};
using HostNetwork = std::vector<HostFunction>;

// The base's rates times factors: one for all that the functions do not show, and one for each rate that they
// do, by least squares of the relative errors, drawn to the common factor as far as the functions leave it
// open. A function counts by its share of the network. None of the seconds is 0.
partition::HostModel fit_host_model(const partition::HostModel& base,
                                    const std::vector<HostNetwork>& networks);

// Of all functions of a network, by the model.
double expected_seconds(const partition::HostModel& model, const HostNetwork& network);
double measured_seconds(const HostNetwork& network);

}  // namespace mrvlc::driver
