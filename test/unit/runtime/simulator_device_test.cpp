// The simulator behind the C interface, as a program of another language would see it: through the shared
// library alone.
#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "mrvl/device.h"

TEST_CASE("a built-in target opens without error and closes") {
  mrvl_device* device = mrvl_simulator_open("cn10ka");
  REQUIRE(device != nullptr);
  CHECK(std::string(mrvl_simulator_error(device)).empty());
  CHECK(device->load != nullptr);
  CHECK(device->run != nullptr);
  CHECK(device->cycles != nullptr);
  mrvl_simulator_close(device);
}

TEST_CASE("an unknown target, or file, is told by its error and refuses models") {
  for (const char* target : {"no_such_target", "/no/such/target.json"}) {
    mrvl_device* device = mrvl_simulator_open(target);
    REQUIRE(device != nullptr);
    CHECK(std::string(mrvl_simulator_error(device)).find(target) != std::string::npos);
    void* model = &device;
    CHECK(device->load(device->context, "x", 1, &model) != 0);
    CHECK(model == nullptr);
    mrvl_simulator_close(device);
  }
}

TEST_CASE("bytes that are no model binary are refused with a text") {
  mrvl_device* device = mrvl_simulator_open(nullptr);
  REQUIRE(device != nullptr);
  std::string garbage(20000, 'x');
  void* model = nullptr;
  CHECK(device->load(device->context, garbage.data(), garbage.size(), &model) != 0);
  CHECK(model == nullptr);
  CHECK(std::strlen(mrvl_simulator_error(device)) > 0);
  CHECK(device->load(device->context, nullptr, 0, &model) != 0);
  mrvl_simulator_close(device);
}

TEST_CASE("null devices are harmless") {
  mrvl_simulator_close(nullptr);
  CHECK(std::string(mrvl_simulator_error(nullptr)).empty());
}
