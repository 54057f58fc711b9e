// The file of `mrvlc tune`, and what is chosen from the times in it.
#include <algorithm>
#include <catch2/catch.hpp>

#include "inputs/tuning_file.h"
#include "tuning/select.h"

using namespace mrvlc;
using namespace mrvlc::driver;
using chost::Blocks, chost::Kernel, chost::LayerChoice, chost::Variant;

namespace {

TuningFile example() {
  TuningFile f;
  f.model = std::string(64, 'a');
  f.machine = {"1.0", "12.2.0", "-O3", {"x86-64", "avx2"}};
  f.rounds = {5, 2};
  f.network = TuningFile::Network{2000, 1500};
  f.layers = {
      {"Conv a", 2, "rows", "winograd4-half", {{"rows", 100}, {"winograd4", 90}, {"winograd4-half", 80}}},
      {"Conv b", 1, "columns", "columns", {}}};
  return f;
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = tuning_text(example());
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TunedLayer layer(std::map<std::string, double, std::less<>> ns) {
  return {"Conv a", 1, "rows", "rows", std::move(ns)};
}

}  // namespace

TEST_CASE("tuning files are read as they are written") {
  const std::string text = tuning_text(example());
  const auto file = parse_tuning(text, "t.json");
  REQUIRE(file.ok());
  CHECK(tuning_text(*file) == text);
  CHECK(file->machine == example().machine);
  CHECK(file->layers[0].ns == example().layers[0].ns);
  CHECK(file->network->tuned_ns == 1500);
  CHECK(file->find("Conv b") == &file->layers[1]);
  CHECK(file->find("Conv") == nullptr);
  CHECK(file->find("Conv c") == nullptr);
  TuningFile unfinished = example();
  unfinished.network.reset();
  const auto again = parse_tuning(tuning_text(unfinished), "t.json");
  REQUIRE(again.ok());
  CHECK(!again->network);
}

TEST_CASE("tuning files: what is wrong is told") {
  const auto fault = [](const std::string& text) {
    const auto file = parse_tuning(text, "t.json");
    return file.ok() ? std::string("none") : file.error().message;
  };
  CHECK(fault(tuning_text(example())) == "none");
  CHECK(fault("") == "tuning file 't.json': it is no JSON object, or has a key twice");
  CHECK(fault("[]") == fault(""));
  CHECK(fault("{") == fault(""));
  CHECK(fault(changed("\"mrvlc\"", "\"model\"")) == fault(""));
  CHECK(fault(changed("tuning-1", "tuning-2")).ends_with("its schema is not mrvlc-tuning-1"));
  CHECK(fault(changed("\"mrvlc\": \"1.0\"", "\"mrvlc\": 1")).ends_with("'mrvlc' is not a text"));
  CHECK(fault(changed("\"mrvlc\"", "\"version\"")).ends_with("'version' is unknown"));
  CHECK(fault(changed("\"choice\": \"columns\",", "")).ends_with("'choice' is missing"));
  CHECK(fault(changed("\"count\": 2", "\"count\": -2")).ends_with("'count' is not a number from 0 to 2^30"));
  CHECK(fault(changed("\"count\": 2", "\"count\": 2.5")).ends_with("'count' is not a number from 0 to 2^30"));
  CHECK(fault(changed("\"rows\": 100", "\"rows\": -1")).ends_with("a time is not a number from 0 to 1e15"));
  CHECK(
      fault(changed("\"rows\": 100", "\"rows\": \"x\"")).ends_with("a time is not a number from 0 to 1e15"));
  CHECK(fault(changed("Conv b", "Conv a")).ends_with("layer 'Conv a' is there twice, or out of order"));
  CHECK(fault(changed("\"rounds\": [\n  5,", "\"rounds\": [")).ends_with("'rounds' are not two numbers"));
  CHECK(fault(changed("\"untuned_ns\"", "\"ns\"")).ends_with("'ns' is unknown"));
  CHECK(fault(R"({"schema": "mrvlc-tuning-1", "layers": {}})").ends_with("is missing"));
  // Any part of a file is no file, and none is a crash.
  const std::string whole = tuning_text(example());
  for (size_t n = 0; n + 2 < whole.size(); ++n) CHECK(fault(whole.substr(0, n)) == fault(""));
}

TEST_CASE("tuning files: variants of another version are passed over") {
  TuningFile f = example();
  f.layers[1].choice = "rows-threefold";
  const chost::Tuning tuning = tuning_of(f);
  CHECK(tuning.variants.size() == 1);
  CHECK(tuning.variants.at("Conv a") == Variant{Kernel::Winograd4, Blocks::Half});
  CHECK(!tuning.measuring);
}

TEST_CASE("tuning: layers of one text are measured by what all of them can be") {
  LayerChoice a, b;
  a.layer = b.layer = "Conv a";
  a.expected = {Kernel::Rows};
  a.legal = {{Kernel::Columns}, {Kernel::Rows}, {Kernel::Rows, Blocks::Half}, {Kernel::Winograd4}};
  b.expected = {Kernel::Rows};
  b.legal = {{Kernel::Columns}, {Kernel::Rows}, {Kernel::Rows, Blocks::Half}};
  const LayerKinds kinds = kinds_of({a, b});
  REQUIRE(kinds.size() == 1);
  const LayerKind& kind = kinds.begin()->second;
  CHECK(kind.count == 2);
  CHECK(kernels_to_measure(kind) == std::vector<Variant>{{Kernel::Rows}, {Kernel::Columns}});
  CHECK(blocks_to_measure(kind, layer({{"rows", 10}, {"columns", 12}})) ==
        std::vector<Variant>{{Kernel::Rows}, {Kernel::Rows, Blocks::Half}});
  CHECK(blocks_to_measure(kind, layer({{"rows", 12}, {"columns", 10}})) ==
        std::vector<Variant>{{Kernel::Columns}});
  CHECK(blocks_to_measure(kind, layer({{"rows", 12}, {"rows-half", 10}})) ==
        std::vector<Variant>{{Kernel::Rows}, {Kernel::Rows, Blocks::Half}});
}

TEST_CASE("tuning: a gain must be more than chance") {
  CHECK(fastest(layer({{"rows", 100}, {"columns", 96}})) == "columns");
  CHECK(fastest(layer({{"rows", 100}, {"columns", 98}})) == "rows");
  CHECK(fastest(layer({{"rows", 100}, {"columns", 98}}), 0) == "columns");
  CHECK(fastest(layer({{"rows", 100}, {"columns", 96}}), 0.15) == "rows");
  CHECK(fastest(layer({{"columns", 1}})) == "rows");  // what is expected was not measured
  CHECK(fastest(layer({})) == "rows");
}

TEST_CASE("tuning: of times of a variant the least is kept") {
  TunedLayer l = layer({});
  for (const double ns : {30.0, 20.0, 25.0}) note_time(l, {Kernel::Rows, Blocks::Half}, ns);
  CHECK(l.ns.at("rows-half") == 20);
}
