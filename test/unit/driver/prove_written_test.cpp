// --prove: a binary that does not compute the model keeps OUT away.
#include "stages/prove_written.h"

#include <catch2/catch.hpp>

#include "mrvlc/driver/driver.h"
#include "mrvlc/support/diag/tools.h"
#include "paths.h"
#include "support/folders.h"

using namespace mrvlc;
using namespace mrvlc::driver;

namespace {

// A compile of digits as it stands before its manifest is written, with a bit of the binary turned.
struct Written {
  test::TempDir dir;
  CompiledModel m;
  OutputDir out;

  explicit Written(bool damaged)
      : out([&] {
          CompileOptions options;
          options.model = std::string(MRVLC_SOURCE_DIR) + "/models/digits/digits.onnx";
          options.out = dir.path() / "plain";
          Diagnostics said;
          REQUIRE(compile(options, said, [](const std::string&) {}));
          auto staged = OutputDir::create(dir.path() / "out");
          REQUIRE(staged.ok());
          m.options = options;
          m.options.gates.proved = true;
          m.name = "digits";
          m.regions.resize(1);
          auto opened = backends::open_default({});
          REQUIRE(opened.ok());
          m.backend = std::move(*opened);
          return std::move(*staged);
        }()) {
    std::string binary = test::slurp(dir.path() / "plain/digits.region0.mrvl");
    // The last byte is a weight.
    if (damaged) binary.back() = static_cast<char>(binary.back() ^ 1);
    REQUIRE(out.write("digits.region0.mrvl", binary).ok());
    REQUIRE(out.write("proof.json", test::slurp(dir.path() / "plain/proof.json")).ok());
  }
};

}  // namespace

TEST_CASE("--prove writes a certificate of what is right") {
  Written w(false);
  Diagnostics said;
  REQUIRE(prove_written(w.m, w.out, said).ok());
  CHECK(said.list().empty());
  CHECK(test::slurp(w.out.staged("certificate.json")).find("\"proved\"") != std::string::npos);
}

TEST_CASE("--prove refuses what is wrong") {
  Written w(true);
  Diagnostics said;
  const Status refused = prove_written(w.m, w.out, said);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == DiagCode::MRV1103);
  CHECK_FALSE(std::filesystem::exists(w.out.staged("certificate.json")));
}

TEST_CASE("without --prove nothing is proved") {
  Written w(true);
  w.m.options.gates.proved = false;
  Diagnostics said;
  CHECK(prove_written(w.m, w.out, said).ok());
  CHECK(w.out.files().size() == 2);
}
