// evidence.json (docs/evidence.md): for each ONNX node what it requires, the code that computes it, and what
// shows that it does.
#pragma once
#include "mrvlc/support/json_fields.h"

namespace mrvlc::driver {

inline constexpr const char* kEvidenceFile = "evidence.json";

// Lines of a C function that is of one node, or of several.
struct EvidenceLines {
  std::string symbol = {}, file = {};
  uint32_t first_line = 0, last_line = 0;
  static void fields(auto& f, auto& c) {
    f("symbol", c.symbol)("file", c.file)("first_line", c.first_line)("last_line", c.last_line);
  }
};

// Instructions [begin, end) of a section of a region.
struct EvidenceInstructions {
  uint32_t region = 0;
  std::string section = {};
  uint32_t begin = 0, end = 0;
  static void fields(auto& f, auto& i) {
    f("region", i.region)("section", i.section)("begin", i.begin)("end", i.end);
  }
};

// What `mrvlc prove` says of a node.
struct EvidenceProof {
  bool exact = false, declared = false;
  std::optional<std::string> reason = {}, reason_declared = {};
  static void fields(auto& f, auto& p) {
    f("exact", p.exact)("declared", p.declared)("reason", p.reason)("reason_declared", p.reason_declared);
  }
};

struct EvidenceNode {
  std::string id = {}, name = {}, op_type = {}, domain = {};
  std::vector<std::string> outputs = {};
  std::string requirement = {};  // the operator's definition that it has to fulfil
  std::string fate = {}, reason = {};
  std::string code = {};  // "own", "same-bytes", "none"
  std::vector<EvidenceLines> functions = {};
  std::vector<EvidenceInstructions> instructions = {};
  EvidenceProof proof = {};
  std::string tested = {};  // "every-run", "by-data", "compiled-away"
  static void fields(auto& f, auto& n) {
    f("id", n.id)("name", n.name)("op_type", n.op_type)("domain", n.domain)("outputs", n.outputs)(
        "requirement", n.requirement)("fate", n.fate)("reason", n.reason)("code", n.code)(
        "functions", n.functions)("instructions", n.instructions)("proof", n.proof)("tested", n.tested);
  }
};

// A run of the program: one output of one set of inputs.
struct EvidenceRun {
  std::string set = {}, output = {};
  double error = 0, limit = 0;  // |a-b|/(1+|b|)
  std::string state = {};       // as of `mrvlc verify --json`
  static void fields(auto& f, auto& r) {
    f("set", r.set)("output", r.output)("error", r.error)("limit", r.limit)("state", r.state);
  }
};

struct EvidenceTests {
  std::vector<EvidenceRun> runs = {};
  std::optional<std::string> not_run = {};  // why
  static void fields(auto& f, auto& t) { f("runs", t.runs)("not_run", t.not_run); }
};

// A tool of others that reads the C.
struct EvidenceAnalysis {
  std::string tool = {}, asked = {};         // "cppcheck"; what it is asked for
  std::optional<std::string> version = {};   // none: it is not installed
  std::optional<std::string> file = {};      // what it said, as it came
  std::optional<std::string> not_run = {};   // why
  json::Dictionary<uint32_t> findings = {};  // by rule or kind
  static void fields(auto& f, auto& a) {
    f("tool", a.tool)("asked", a.asked)("version", a.version)("file", a.file)("not_run", a.not_run)(
        "findings", a.findings);
  }
};

struct EvidenceFile {
  std::string file = {}, sha256 = {};
  static void fields(auto& f, auto& e) { f("file", e.file)("sha256", e.sha256); }
};

// What is known not to be shown, and of which nodes.
struct EvidenceLimit {
  std::string what = {};
  std::vector<std::string> nodes = {};  // ids; empty: of the whole
  static void fields(auto& f, auto& l) { f("what", l.what)("nodes", l.nodes); }
};

struct Evidence {
  std::string version = {};           // of the mrvlc that compiled
  std::string tool = {};              // of this one
  std::string name = {}, model = {};  // SHA-256
  json::Json options = json::Json::object();
  std::vector<EvidenceNode> nodes = {};
  std::string verdict = {};  // of the proof: "proved", "partly", "refused"
  EvidenceTests tests = {};
  std::vector<EvidenceAnalysis> analyses = {};
  std::vector<EvidenceLimit> limits = {};
  std::vector<std::string> missing = {};               // links; empty: the matrix is whole
  std::vector<EvidenceFile> program = {}, files = {};  // of OUT; of the evidence but this file
  static void fields(auto& f, auto& e) {
    f.schema("mrvlc-evidence-1");
    f("compiled_by", e.version)("tool", e.tool)("name", e.name)("model", e.model)("options", e.options)(
        "nodes", e.nodes)("proof", e.verdict)("tests", e.tests)("analyses", e.analyses)("limits", e.limits)(
        "missing", e.missing)("program", e.program)("files", e.files);
  }
};

}  // namespace mrvlc::driver
