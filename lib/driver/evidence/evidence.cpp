// `mrvlc evidence`: asks the prover, runs the program, has the C read by others, and writes one folder.
#include "mrvlc/driver/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "evidence/analyses.h"
#include "evidence/matrix.h"
#include "evidence/summary.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/other_files.h"
#include "output/sbom.h"
#include "prove/prove_folder.h"
#include "verify/verdict.h"

namespace mrvlc::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMatrixFile = "matrix.csv";

class Writer {
 public:
  Writer(const EvidenceOptions& options, Diagnostics& diagnostics)
      : options_(options), diagnostics_(diagnostics) {}

  Result<std::string> run() {
    ProveOptions asked;
    asked.out = options_.out;
    asked.model = options_.model;
    asked.target_dirs = options_.target_dirs;
    MRVLC_ASSIGN(FolderWithModel in, open_with_model(asked, diagnostics_));
    MRVLC_TRY(in.out.check_apart(options_.to / kEvidenceFile));
    MRVLC_ASSIGN(const WrittenFiles before, earlier());
    describe(in.out);
    MRVLC_TRY(add_proof(in));
    add_tests(in);
    MRVLC_TRY(not_interrupted());
    MRVLC_TRY(add_analyses(in.out));
    MRVLC_TRY(add_sbom(in.out));
    add_limits();
    for (const std::string& m : e_.missing) diagnostics_.add(make_diag<DiagCode::MRV1107>(m));
    MRVLC_TRY(write(before));
    return summary(e_);
  }

 private:
  // What an earlier evidence wrote there; an error where there are files of others alone.
  Result<WrittenFiles> earlier() const {
    std::error_code ec;
    if (!fs::exists(options_.to, ec) || (fs::is_directory(options_.to, ec) && fs::is_empty(options_.to, ec)))
      return WrittenFiles();
    const auto text = read_file(options_.to / kEvidenceFile);
    const auto old =
        text.ok() ? json::parsed<Evidence>(json::Json::parse(*text, nullptr, false)) : std::nullopt;
    if (!old)
      return make_diag<DiagCode::MRV0002>(
          options_.to.string(),
          fmt::format("it holds files, and no {} of an earlier `mrvlc evidence`", kEvidenceFile));
    WrittenFiles own = {{kEvidenceFile, sha256_hex(*text)}};
    for (const EvidenceFile& f : old->files) own.emplace_back(f.file, f.sha256);
    return own;
  }

  void describe(const OutputFolder& out) {
    e_.version = out.given.version;
    e_.tool = MRVLC_VERSION;
    e_.name = out.name;
    e_.model = out.given.sha256;
    e_.options = out.given.options;
    for (const auto& [file, sha256] : out.files) {
      e_.program.push_back({file, sha256});
      if (const Status s = out.check(file); !s.ok()) e_.missing.push_back(s.error().message);
    }
  }

  Status add_proof(const FolderWithModel& in) {
    MRVLC_ASSIGN(const Proved proved, prove_files(in.of, ""));
    for (Diag& d : refusals(proved.proof)) diagnostics_.add(std::move(d));
    const bool refused = proved.proof.contradiction();
    e_.verdict = refused                                              ? "refused"
                 : proved.proof.proved() == proved.proof.nodes.size() ? "proved"
                                                                      : "partly";
    files_.emplace_back(kCertificate, json_document(proved.certificate));
    MRVLC_ASSIGN(const idmap::Map map, in.out.read<idmap::Map>("idmap.json"));
    MatrixSources from{in.of.model.graph, in.of.model.opset, map, proved.proof, {}};
    for (const std::string& file : c_files(in.out)) {
      MRVLC_ASSIGN(std::string text, in.out.bytes(file));
      from.c.emplace_back(file, std::move(text));
    }
    fill_matrix(from, e_);
    return {};
  }

  // The stub's own: not the example, nor what packages bring.
  static std::vector<std::string> c_files(const OutputFolder& out) {
    const std::string stub = out.name + ".c";
    return out.files.contains(stub) ? std::vector{stub} : std::vector<std::string>();
  }

  VerifyOptions verify_options(const FolderWithModel& in) const {
    VerifyOptions v;
    v.made = options_.out;
    v.compile.model = in.model;
    v.compile.import = prove::import_options(in.of.hints);
    v.compile.targets = in.out.targets.empty() ? std::vector<std::string>{"host"} : in.out.targets;
    v.compile.target_dirs = options_.target_dirs;
    v.compile.jobs = options_.run.jobs;
    if (in.out.given.options.contains("host_weights")) v.compile.host.host_weights = chost::WeightType::F16;
    v.sets = options_.sets;
    v.seeds = options_.seeds;
    v.run = options_.run;
    return v;
  }

  // The program of OUT on made inputs, against the reference interpreter, and on those of --data.
  void add_tests(const FolderWithModel& in) {
    if (in.of.model.graph.inputs().size() != in.out.inputs.size()) {
      e_.tests.not_run = "inputs of the model are constants of the program (--bind)";
    } else {
      VerifyOptions v = verify_options(in);
      add_runs(v);
      v.data = options_.data;
      if (!v.data.empty()) add_runs(v);
    }
    if (e_.tests.not_run) diagnostics_.add(make_diag<DiagCode::MRV1108>(*e_.tests.not_run));
  }

  void add_runs(const VerifyOptions& v) {
    Diagnostics said;
    for (const Comparison& c : verify(v, said))
      e_.tests.runs.push_back({c.set, c.output, json_error(c.error), json_error(c.tolerance), state_of(c)});
    for (const Diag& d : said.list()) {
      // What keeps a test from running is no mistake of the program.
      const bool keeps = d.severity() == Severity::Error && d.exit_class() != ExitClass::Gate;
      if (keeps && !e_.tests.not_run) e_.tests.not_run = d.message;
      if (!keeps) diagnostics_.add(d);
    }
  }

  Status add_analyses(const OutputFolder& out) {
    if (!options_.analyse) return {};
    MRVLC_ASSIGN(Analysis cppcheck, run_cppcheck(out.path, c_files(out)));
    if (cppcheck.of.file) files_.emplace_back(*cppcheck.of.file, std::move(cppcheck.said));
    e_.analyses.push_back(std::move(cppcheck.of));
    return {};
  }

  Status add_sbom(const OutputFolder& out) {
    SbomOf of{out.name, out.given.sha256, out.path, {out.files.begin(), out.files.end()}};
    of.of_packages = out.sources;
    of.libraries = out.libraries;
    MRVLC_ASSIGN(std::string text, sbom(of));
    files_.emplace_back(kSbomFile, std::move(text));
    return {};
  }

  // Nodes without a proof by reason, in the order of the model; and what is true of every compile.
  void add_limits() {
    std::map<std::string, size_t> known;
    for (const EvidenceNode& n : e_.nodes) {
      const std::string why =
          n.proof.exact ? n.proof.reason_declared.value_or("") : n.proof.reason.value_or("");
      if (n.proof.exact && n.proof.declared) continue;
      const auto [at, is_new] = known.emplace(why, e_.limits.size());
      if (is_new) e_.limits.push_back({"not proved: " + why, {}});
      e_.limits[at->second].nodes.push_back(n.id);
    }
    if (e_.tests.not_run) e_.limits.push_back({"not run: " + *e_.tests.not_run, {}});
    e_.limits.push_back({"no proof is about NaN, the sign of zero, time, silicon or the C compiler", {}});
    e_.limits.push_back({"tests compare outputs: a node is tested as far as outputs depend on it", {}});
  }

  // A run that a signal ended is no test that could not run.
  Status not_interrupted() const {
    if (interrupted() == 0) return {};
    return make_diag<DiagCode::MRV0002>(options_.to.string(), "interrupted");
  }

  // Only now: what takes long leaves no staging folder behind when it is interrupted.
  Status write(const WrittenFiles& before) {
    InterruptGuard guard;
    MRVLC_ASSIGN(OutputDir to, OutputDir::create(options_.to, kEvidenceFile));
    files_.emplace_back(kMatrixFile, matrix_csv(e_));
    for (const auto& [file, bytes] : files_) MRVLC_TRY(to.write(file, bytes));
    for (const auto& [file, sha256] : to.files()) e_.files.push_back({file, sha256});
    MRVLC_TRY(to.write(kEvidenceFile, json::document(e_)));
    MRVLC_TRY(keep_other_files(options_.to, before, to));
    MRVLC_TRY(not_interrupted());
    return to.commit();
  }

  const EvidenceOptions& options_;
  Diagnostics& diagnostics_;
  Evidence e_;
  std::vector<std::pair<std::string, std::string>> files_;  // to be written, with their bytes
};

}  // namespace

Result<std::string> evidence(const EvidenceOptions& options, Diagnostics& diagnostics) {
  return Writer(options, diagnostics).run();
}

}  // namespace mrvlc::driver
