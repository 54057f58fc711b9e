// Runs in flight on the simulator, through the C interface: order, outcomes, threads, and its pace.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "../sim/program.h"
#include "mrvl/device.h"
#include "mrvlc/isa/container.h"

using namespace mrvlc;
using namespace mrvlc::sim;

namespace {

constexpr size_t kBytes = 2048;

// From the input to the output; its numbers doubled on the way, so that some leave fp16.
isa::Binary doubling() {
  return binary({load_ocm(kInputAt, 0, kBytes),
                 {0, Queue::Pe, {{0, Queue::DmaIn, 1}}, ew(isa::EwOp::Add, 1, 4096, 0, 2)},
                 store_ddr(4096, kOutputAt, kBytes, {{0, Queue::Pe, 1}})});
}

class Handle {
 public:
  explicit Handle(mrvl_device* device) : device_(device) {
    const std::string file = isa::write_container(doubling());
    REQUIRE(device_->load(device_->context, file.data(), file.size(), &model_) == 0);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { device_->unload(device_->context, model_); }

  int submit(const std::string& in, std::string& out, void** ticket) {
    const mrvl_input i{in.data(), in.size()};
    const mrvl_output o{out.data(), out.size()};
    return device_->submit(device_->context, model_, &i, 1, &o, 1, ticket);
  }
  int run(const std::string& in, std::string& out) {
    const mrvl_input i{in.data(), in.size()};
    const mrvl_output o{out.data(), out.size()};
    return device_->run(device_->context, model_, &i, 1, &o, 1);
  }
  int wait(void* ticket) { return device_->wait(device_->context, model_, ticket); }
  uint32_t flags() const { return device_->flags(device_->context, model_); }
  uint32_t failed_at() const { return device_->failed_at(device_->context, model_); }
  uint64_t cycles() const { return device_->cycles(device_->context, model_); }
  size_t written() const { return device_->written(device_->context, model_, 0); }
  int limit_time(uint64_t us) { return device_->limit_time(device_->context, model_, us); }

 private:
  mrvl_device* device_;
  void* model_ = nullptr;
};

struct Opened {
  mrvl_device* device = mrvl_simulator_open(nullptr);
  Opened() { REQUIRE(device != nullptr); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { mrvl_simulator_close(device); }
  std::string error() const { return mrvl_simulator_error(device); }
};

std::string image(float value) {
  std::string bytes;
  while (bytes.size() < kBytes) bytes += halves({value, value});
  return bytes;
}

}  // namespace

TEST_CASE("runs in flight end with the bits of run, in whatever order they are waited for") {
  Opened s;
  Handle handle(s.device);
  std::vector<std::string> in, expected, out(6, std::string(kBytes, 'o'));
  std::vector<void*> tickets(6);
  for (int i = 0; i < 6; ++i) {
    in.push_back(image(static_cast<float>(i)));
    expected.emplace_back(kBytes, 'e');
    REQUIRE(handle.run(in.back(), expected.back()) == 0);
  }
  for (size_t i = 0; i < 6; ++i) REQUIRE(handle.submit(in[i], out[i], &tickets[i]) == 0);
  std::string behind(kBytes, 'b');
  CHECK(handle.run(in[3], behind) == 0);  // behind all of them
  CHECK(behind == expected[3]);
  for (size_t i : {5u, 0u, 2u, 1u, 4u, 3u}) {
    CHECK(handle.wait(tickets[i]) == 0);
    CHECK(out[i] == expected[i]);
  }
  CHECK(handle.wait(tickets[0]) != 0);  // once
  CHECK(s.error() == "there is no such run, or it was waited for");
  CHECK(handle.wait(nullptr) != 0);
}

TEST_CASE("what is told is of the run waited for last") {
  Opened s;
  Handle handle(s.device);
  const std::string quiet = image(1), loud = image(65504);
  std::string a(kBytes, 'a'), b(kBytes, 'b');
  void *first = nullptr, *second = nullptr;
  REQUIRE(handle.submit(loud, a, &first) == 0);
  REQUIRE(handle.submit(quiet, b, &second) == 0);
  CHECK(handle.flags() == 0);  // none was waited for
  CHECK(handle.wait(second) == 0);
  CHECK(handle.flags() == 0);
  CHECK(handle.cycles() > 0);
  CHECK(handle.written() == kBytes);
  CHECK(handle.wait(first) == 0);
  CHECK(handle.flags() == MRVL_FLAG_OVERFLOW);
}

TEST_CASE("an error belongs to its run, whatever is in flight beside it") {
  Opened s;
  Handle handle(s.device);
  const mrvl_fault fault = {MRVL_FAULT_ERROR, 1, 2, 1, 0};
  std::vector<std::string> out(4, std::string(kBytes, 'o'));
  const std::string in = image(3), untouched = out[2];
  void* tickets[4];
  mrvl_simulator_fault(s.device, &fault);
  for (size_t i = 0; i < 4; ++i) REQUIRE(handle.submit(in, out[i], &tickets[i]) == 0);
  for (size_t i : {3u, 2u, 1u, 0u}) {
    CHECK((handle.wait(tickets[i]) != 0) == (i == 2));
    CHECK(handle.failed_at() == (i == 2 ? 1 : MRVL_NO_INSTRUCTION));
    CHECK((out[i] == untouched) == (i == 2));
  }
}

TEST_CASE("a time limit is of the runs submitted under it, counted from their begin") {
  Opened s;
  Handle handle(s.device);
  const mrvl_fault slow = {MRVL_FAULT_INTERRUPT, 0, 0, 1, 0};
  const std::string in = image(1);
  std::string a(kBytes, 'a'), b(kBytes, 'b');
  void *first = nullptr, *second = nullptr;
  mrvl_simulator_fault(s.device, &slow);
  REQUIRE(handle.limit_time(20000) == 0);
  REQUIRE(handle.submit(in, a, &first) == 0);
  REQUIRE(handle.limit_time(10000) == 0);
  REQUIRE(handle.submit(in, b, &second) == 0);
  REQUIRE(handle.limit_time(0) == 0);
  CHECK(handle.wait(first) == MRVL_DEVICE_TIMEOUT);
  CHECK(s.error().find("gave up after 20000 us") != std::string::npos);
  CHECK(handle.wait(second) == 0);
}

TEST_CASE("ports that are not the binary's are refused, and nothing is in flight") {
  Opened s;
  Handle handle(s.device);
  std::string out(kBytes - 1, 'o');
  const std::string untouched = out;
  void* ticket = &ticket;
  CHECK(handle.submit(image(1), out, &ticket) != 0);
  CHECK(ticket == nullptr);
  CHECK(s.error().find("output 0 has") == 0);
  CHECK(out == untouched);
}

TEST_CASE("a handle may go, and its device with it, while runs are in flight") {
  std::vector<std::string> out(8, std::string(kBytes, 'o'));
  const std::string in = image(5);
  {
    Opened s;
    Handle handle(s.device);
    void* ticket = nullptr;
    for (std::string& o : out) REQUIRE(handle.submit(in, o, &ticket) == 0);
  }
  const auto then = out;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(out == then);
}

TEST_CASE("handles of several threads have runs in flight") {
  Opened s;
  Handle a(s.device), b(s.device), c(s.device);
  Handle* const handles[] = {&a, &b, &c};
  const auto fly = [&](Handle& handle, float value, bool& right) {
    const std::string in = image(value);
    std::vector<std::string> out(4, std::string(kBytes, 'o'));
    std::string expected(kBytes, 'e');
    right = handle.run(in, expected) == 0;
    for (int round = 0; round < 20; ++round) {
      void* tickets[4];
      for (size_t i = 0; i < 4; ++i) right = handle.submit(in, out[i], &tickets[i]) == 0 && right;
      for (size_t i = 0; i < 4; ++i) right = handle.wait(tickets[i]) == 0 && out[i] == expected && right;
    }
  };
  bool right[3] = {};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] { fly(*handles[t], static_cast<float>(t), right[t]); });
  for (std::thread& t : threads) t.join();
  CHECK((right[0] && right[1] && right[2]));
}

TEST_CASE("a paced device takes the time of its cycles, one job after the other") {
  setenv("MRVL_SIMULATOR_PACE", "1", 1);
  Opened s;
  unsetenv("MRVL_SIMULATOR_PACE");
  Handle one(s.device), two(s.device);
  std::string a(kBytes, 'a'), b(kBytes, 'b'), expected(kBytes, 'e');
  const std::string in = image(7);
  REQUIRE(one.run(in, expected) == 0);
  REQUIRE(two.run(in, expected) == 0);
  constexpr int kRuns = 2000;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (int i = 0; i < kRuns; i += 2) {
    void *first = nullptr, *second = nullptr;
    REQUIRE(one.submit(in, a, &first) == 0);
    REQUIRE(two.submit(in, b, &second) == 0);
    REQUIRE(one.wait(first) == 0);
    REQUIRE(two.wait(second) == 0);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  CHECK(a == expected);
  CHECK(b == expected);
  CHECK(seconds >= kRuns * static_cast<double>(one.cycles()) / 1e9);  // at 1 GHz
  std::string other(kBytes, 'o');
  REQUIRE(one.run(image(8), other) == 0);  // other inputs are computed
  CHECK(other != expected);
}
