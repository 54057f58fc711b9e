// The matrix of `mrvlc evidence`: of a compile it has no hole, and without any one of its links it has.
#include "mrvlc/driver/evidence.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "evidence/c_functions.h"
#include "evidence/matrix.h"
#include "mrvlc/support/diag/tools.h"
#include "paths.h"
#include "prove/prove_folder.h"
#include "support/folders.h"

using namespace mrvlc;
using namespace mrvlc::driver;
using idmap::Map;

namespace {

void compile_to(const std::string& model, const std::filesystem::path& out,
                const std::string& target = "cn10ka") {
  CompileOptions options;
  options.targets = {target};
  options.model = std::string(MRVLC_SOURCE_DIR) + "/models/" + model;
  options.out = out;
  Diagnostics said;
  REQUIRE(compile(options, said, [](const std::string&) {}));
}

// A compile with all that its matrix is made of.
struct Compiled {
  test::TempDir dir;
  FolderWithModel in;
  prove::Proof proof;
  Map map;
  std::string c;

  explicit Compiled(const std::string& model, const std::string& target = "cn10ka") {
    compile_to(model, dir.path() / "out", target);
    ProveOptions asked;
    asked.out = dir.path() / "out";
    asked.model = std::string(MRVLC_SOURCE_DIR) + "/models/" + model;
    Diagnostics said;
    auto opened = open_with_model(asked, said);
    REQUIRE(opened.ok());
    in = std::move(*opened);
    auto proved = prove_files(in.of, "");
    REQUIRE(proved.ok());
    proof = std::move(proved->proof);
    auto read = in.out.read<Map>("idmap.json");
    REQUIRE(read.ok());
    map = std::move(*read);
    c = *in.out.bytes(in.out.name + ".c");
  }
  Evidence matrix(const Map& of) const {
    Evidence e;
    e.name = in.out.name;
    fill_matrix({in.of.model.graph, in.of.model.opset, of, proof, {{in.out.name + ".c", c}}}, e);
    return e;
  }
  // How many of the map's entries can be taken away, each by itself, without a word.
  template <class Entry>
  std::vector<std::string> unseen(std::vector<Entry> Map::*table, const std::string& what) const {
    std::vector<std::string> out;
    for (size_t i = 0; i < (map.*table).size(); ++i) {
      Map less = map;
      (less.*table).erase((less.*table).begin() + static_cast<ptrdiff_t>(i));
      if (matrix(less).missing.empty()) out.push_back(what + " " + std::to_string(i));
    }
    return out;
  }
};

template <class Entry>
std::vector<Entry> Map::*table(std::vector<Entry> idmap::Tables::*of) {
  return static_cast<std::vector<Entry> Map::*>(of);
}

}  // namespace

TEST_CASE("the matrix of a compile has no hole, and one without any of its links has") {
  const Compiled c("digits/digits.onnx", GENERATE(as<std::string>{}, "cn10ka", "host"));
  const Evidence whole = c.matrix(c.map);
  CHECK(whole.missing == std::vector<std::string>());
  CHECK(whole.nodes.size() == c.in.of.model.graph.sources().size());
  const std::vector<std::string> none;
  CHECK(c.unseen(table(&Map::sources), "source") == none);
  CHECK(c.unseen(table(&Map::instructions), "instructions") == none);
  CHECK(c.unseen(table(&Map::host_functions), "function") == none);
  CHECK(c.unseen(table(&Map::expressions), "expression") == none);
  CHECK(c.unseen(table(&Map::layers), "layer") == none);
}

TEST_CASE("links of the matrix that lead elsewhere are seen") {
  const Compiled c("digits/digits.onnx");
  Map map = c.map;
  SECTION("a range of instructions ends early") {
    --map.instructions.back().end;
  }
  SECTION("a function is in other lines") {
    map.host_functions.front().first_line += 1;
    map.host_functions.front().last_line += 1;
  }
  SECTION("a function has another name") {
    map.host_functions.front().symbol += "x";
  }
  SECTION("a node is another operator") {
    map.sources.front().op_type = "Relu";
  }
  SECTION("a node of no model") {
    map.sources.push_back(map.sources.front());
    map.sources.back().id = "main/9999";
  }
  SECTION("an expression of no node") {
    for (idmap::Expression& e : map.expressions)
      if (!e.erased) e.sources.clear();
  }
  CHECK_FALSE(c.matrix(map).missing.empty());
}

TEST_CASE("a function of the C that nobody names is seen") {
  Compiled c("digits/digits.onnx");
  c.c += "\nstatic void digits_f99_Conv(float* y) {\n  *y = 0;\n}\n";
  const Evidence e = c.matrix(c.map);
  REQUIRE(e.missing.size() == 1);
  CHECK(e.missing[0].find("digits_f99_Conv") != std::string::npos);
}

TEST_CASE("functions of C are found by its text") {
  const auto found = c_functions(
      "#define A(x) (x)\n"
      "static const char n1[] = \"f(x) {\";\n"
      "typedef struct { int a; } t;\n"
      "extern int g(int);\n"
      "int h(int a);\n"
      "static int f(int a,\n    int b) {\n  if (a) {\n    return b;\n  }\n  return a;\n}\n"
      "static __attribute__((noinline)) void k(void) {\n}\n"
      "int one(void) { return 1; }\n"
      "static const t rows[] = {\n  {1},\n};\n");
  REQUIRE(found.size() == 3);
  CHECK(found[0].symbol == "f");
  CHECK(found[0].line == 6);
  CHECK(found[0].last_line == 12);
  CHECK(found[1].symbol == "k");
  CHECK(found[2].symbol == "one");
}

TEST_CASE("nodes of bodies are tested as far as data take them there, nodes of functions in every run") {
  for (const char* id : {"main/2.then_branch/35", "main/4:My.Function/2", "main/7"}) {
    ir::Graph graph;
    graph.add_source({id, "", "Relu", "", {}});
    Map map;
    map.sources.push_back({id, "", "Relu", "", {}, "cpu", ""});
    Evidence one;
    fill_matrix({graph, 13, map, {}, {}}, one);
    REQUIRE(one.nodes.size() == 1);
    CHECK(one.nodes[0].tested ==
          (std::string(id).find("then") != std::string::npos ? "by-data" : "every-run"));
  }
}

TEST_CASE("cells of the matrix are no formulas") {
  Evidence e;
  e.nodes.push_back({"main/0", "=cmd()", "Conv", ""});
  e.nodes.back().reason = "a \"b\"";
  const std::string text = matrix_csv(e);
  CHECK(text.find("\"'=cmd()\"") != std::string::npos);
  CHECK(text.find("\"a \"\"b\"\"\"") != std::string::npos);
}

TEST_CASE("evidence is written whole, replaces its own, and nothing else") {
  test::TempDir dir;
  compile_to("digits/digits.onnx", dir.path() / "out");
  EvidenceOptions o;
  o.out = dir.path() / "out";
  o.model = std::string(MRVLC_SOURCE_DIR) + "/models/digits/digits.onnx";
  o.to = dir.path() / "evidence";
  o.sets = {"zeros"};
  o.analyse = false;
  Diagnostics said;
  REQUIRE(evidence(o, said).ok());
  CHECK(said.list().empty());
  for (const char* file : {"evidence.json", "matrix.csv", "certificate.json", "sbom.spdx.json"})
    CHECK(std::filesystem::exists(o.to / file));
  const std::string first = test::slurp(o.to / "evidence.json");
  REQUIRE(evidence(o, said).ok());
  CHECK(test::slurp(o.to / "evidence.json") == first);
  o.to = dir.path() / "out";  // the compile's own folder
  CHECK_FALSE(evidence(o, said).ok());
  o.to = dir.path() / "theirs";
  std::filesystem::create_directory(o.to);
  std::ofstream(o.to / "letter.txt") << "dear";
  CHECK_FALSE(evidence(o, said).ok());
  CHECK(test::slurp(o.to / "letter.txt") == "dear");
}
