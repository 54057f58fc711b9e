// Rates of a host model from times that are made up.
#include <catch2/catch.hpp>
#include <cmath>

#include "host_calibration/fit.h"

using namespace mrvlc;
using driver::HostFunction;
using driver::HostNetwork;

namespace {

partition::HostModel base() {
  partition::HostModel m;
  m.call_ns = 20;
  m.constant_byte_ns = 0.01;
  m.to_device_ns = 1;
  m.rates = {
      {"default", {0.1, 0.2}}, {"Conv", {0.03, 0.2}}, {"Conv/depthwise", {0.05, 0.1}}, {"Relu", {0, 0.1}}};
  return m;
}

HostFunction::Term term(const std::string& key, double products, double steps) {
  partition::HostEffort e;
  e.products = products;
  e.steps = steps;
  e.constant_bytes = 1000;
  return {key, e};
}

// What the functions take by `truth`.
HostNetwork timed(const partition::HostModel& truth, HostNetwork network) {
  for (HostFunction& f : network) f.seconds = driver::expected_seconds(truth, {f});
  return network;
}

HostNetwork functions() {
  HostNetwork out;
  for (double n : {1e4, 1e5, 1e6, 1e7}) {
    out.push_back({0, {term("Conv/winograd", n, n / 3)}});
    out.push_back({0, {term("Conv/depthwise-strided", n / 7, n)}});
    out.push_back({0, {term("Relu", 0, n)}});
    out.push_back({0, {term("Conv/winograd", 3 * n, n / 20), term("Relu", 0, n / 2)}});
  }
  return out;
}

}  // namespace

TEST_CASE(
    "a machine that is slower in everything: one factor for all rates, those that no function shows too") {
  partition::HostModel truth = base();
  truth.call_ns *= 3, truth.constant_byte_ns *= 3;
  for (auto& [key, rate] : truth.rates) rate.mac_ns *= 3, rate.step_ns *= 3;
  const partition::HostModel m = driver::fit_host_model(base(), {timed(truth, functions())});
  CHECK(m.call_ns == Approx(60).epsilon(0.01));
  CHECK(m.to_device_ns == Approx(3).epsilon(0.01));
  CHECK(m.rates.at("default").step_ns == Approx(0.6).epsilon(0.01));
  CHECK(m.rates.at("Conv/winograd").mac_ns == Approx(0.09).epsilon(0.01));
  CHECK(m.rates.at("Conv").mac_ns == Approx(0.09).epsilon(0.01));
}

TEST_CASE("an operator that is slower than others gets a rate of its own, by its form") {
  partition::HostModel truth = base();
  truth.rates["Conv/winograd"] = {0.3, 0.2};
  truth.rates["Relu"] = {0, 0.4};
  const HostNetwork network = timed(truth, functions());
  const partition::HostModel m = driver::fit_host_model(base(), {network});
  CHECK(m.rates.at("Conv/winograd").mac_ns == Approx(0.3).epsilon(0.05));
  CHECK(m.rates.at("Relu").step_ns == Approx(0.4).epsilon(0.05));
  for (const HostFunction& f : network)
    CHECK(driver::expected_seconds(m, {f}) == Approx(f.seconds).epsilon(0.2));
}

TEST_CASE("no rate is negative, and what is written is read as the same") {
  HostNetwork network = timed(base(), functions());
  for (size_t i = 0; i < network.size(); ++i) network[i].seconds *= i % 2 == 0 ? 0.05 : 4;  // contradictory
  partition::HostModel m = driver::fit_host_model(base(), {network});
  m.name = "a \"name\"";
  const auto read = partition::parse_host_model(partition::host_model_text(m), "text");
  REQUIRE(read.ok());
  CHECK(read->name == m.name);
  CHECK(read->to_device_ns == Approx(m.to_device_ns).epsilon(0.01));
  REQUIRE(read->rates.size() == m.rates.size());
  for (const auto& [key, rate] : m.rates) {
    CHECK(rate.mac_ns >= 0);
    CHECK(rate.step_ns >= 0);
    CHECK(read->rates.at(key).step_ns == Approx(rate.step_ns).epsilon(0.01));
  }
  CHECK(partition::host_model_text(*read) == partition::host_model_text(m));
}
