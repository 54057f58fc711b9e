#include <catch2/catch.hpp>

#include "example.h"

using namespace mrvlc;

TEST_CASE("layers are listed by their cycles, with what bounds them") {
  report::Region region = test::example_region(3);
  region.layers[1].cycles = 500;
  region.layers[1].bound = {0, 0, 0, 400, 100};
  region.layers[2].cycles = 0;
  region.layers[2].bound = {};
  std::string text = report::profile_text({region}, 10);
  size_t first = text.find("conv1 (Conv)"), second = text.find("conv0 (Conv)"),
         third = text.find("conv2 (Conv)");
  CHECK(first < second);
  CHECK(second < third);
  CHECK(third != text.npos);
  CHECK(text.find("DDR 80 %") != text.npos);
  CHECK(text.find("matrix unit 60 %") != text.npos);
  CHECK(text.find("hidden") != text.npos);
  CHECK(text.starts_with(
      "region 0: 300 cycles (init 0, main 300, finish 0), lower bound 150 (x2.00); 3 layers on 2 tiles"));
  region.pessimistic_cycles = 333;
  CHECK(report::profile_text({region}, 10).find("finish 0), conservative 333, lower bound 150") != text.npos);
}

TEST_CASE("shares are of all cycles, those around the layers with them") {
  report::Region region = test::example_region(3);
  region.init_cycles = 60;
  region.finish_cycles = 40;
  std::string text = report::profile_text({region}, 10);
  CHECK(text.starts_with("region 0: 400 cycles (init 60, main 300, finish 40)"));
  CHECK(text.find("bound by: matrix unit 45.0 %") != text.npos);
  CHECK(text.find("       100  25.00  matrix unit 60 %") != text.npos);
}

TEST_CASE("a limit of rows says how many are not shown") {
  std::string text = report::profile_text({test::example_region(10)}, 4);
  CHECK(text.find("         6 more layers\n") != text.npos);
  CHECK(text.find("conv3 (Conv)") != text.npos);
  CHECK(text.find("conv4 (Conv)") == text.npos);
}

TEST_CASE("tables hold no control characters of names") {
  report::Region region = test::example_region(1);
  region.layers[0].operators = "a\nb\x1b[31m\xff";
  CHECK(report::profile_text({region}, 1).find("a\\x0ab\\x1b[31m\\xff") != std::string::npos);
}
