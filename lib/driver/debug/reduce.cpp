// `mrvlc reduce`: the search, with a command of the user as the judge.
#include "accuracy/model_and_samples.h"
#include "mrvlc/driver/debug.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/onnx/exporter.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/shell.h"
#include "mrvlc/support/temporary_dir.h"
#include "run/process.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr size_t kShown = 2000;

std::string with_model(const std::string& check, const std::string& model) {
  std::string out = check;
  size_t at = out.find("{}");
  if (at == out.npos) return out + " " + model;
  for (; at != out.npos; at = out.find("{}", at + model.size())) out.replace(at, 2, model);
  return out;
}

class Judge {
 public:
  Judge(const ReduceOptions& options, fs::path folder) : o_(options), folder_(std::move(folder)) {}

  Result<ProcessResult> ask(const std::string& model_file) const {
    return run_process({"timeout", "-k", "1", fmt::format("{}", o_.timeout), "sh", "-c",
                        with_model(o_.check, shell_quoted(model_file))});
  }

  // What counts as the same failure.
  Status expect(const ProcessResult& whole) {
    if (whole.exit_code == 0) return make_diag<DiagCode::MRV1011>("it ends with exit code 0");
    if (!matches(whole))
      return make_diag<DiagCode::MRV1011>("what it prints does not hold '" + printable(o_.match) +
                                          "': " + printable(whole.output, kShown));
    code_ = whole.exit_code;
    return {};
  }

  bool fails(const ir::Graph& graph) {
    if (interrupted() != 0 || !problem_.ok()) return false;
    auto bytes = onnx::to_onnx(graph, MRVLC_VERSION);
    if (!bytes.ok()) return false;
    const fs::path file = folder_ / "model.onnx";
    problem_ = write_file_atomic(file, *bytes);
    auto ran = ask(file.string());
    if (!ran.ok()) problem_ = ran.error();
    return problem_.ok() && ran->exit_code == code_ && matches(*ran);
  }

  int code() const { return code_; }
  const Status& problem() const { return problem_; }

 private:
  bool matches(const ProcessResult& r) const {
    return o_.match.empty() || r.output.find(o_.match) != std::string::npos;
  }

  const ReduceOptions& o_;
  fs::path folder_;
  int code_ = 0;
  Status problem_;
};

std::string summary(const ir::Graph& before, const Reduction& r, int code, const fs::path& out) {
  std::string text =
      fmt::format("{}: {} of {} nodes, {} checks; still exit code {}\n", printable(out.string(), 4096),
                  r.graph.topological_order().size(), before.topological_order().size(), r.checks, code);
  for (ir::NodeId id : r.graph.topological_order()) {
    const ir::Node& n = r.graph.node(id);
    text += fmt::format("  {} '{}'", n.op->name, printable(n.name));
    for (ir::ValueId v : n.inputs)
      if (v.valid()) text += fmt::format(" {}", to_string(r.graph.value(v).type));
    text += "\n";
  }
  return text;
}

Result<std::string> reduced(const ReduceOptions& o, Diagnostics& diagnostics) {
  MRVLC_TRY(check_apart(o.out, o.compile.model, {}));
  auto model = onnx::import_file(o.compile.model, o.compile.import, diagnostics);
  if (!model) return std::string();
  MRVLC_ASSIGN(const TemporaryDir temporary, TemporaryDir::create());
  const InterruptGuard guard;
  Judge judge(o, temporary.path());
  MRVLC_ASSIGN(const ProcessResult whole, judge.ask(fs::absolute(o.compile.model).string()));
  MRVLC_TRY(judge.expect(whole));
  const auto fails = [&](const ir::Graph& g) { return judge.fails(g); };
  if (!fails(model->graph)) {
    MRVLC_TRY(judge.problem());
    return make_diag<DiagCode::MRV1012>();
  }
  const Reduction found = reduce_graph(model->graph, fails, o.most_checks, o.progress);
  MRVLC_TRY(judge.problem());
  if (interrupted() != 0) return make_diag<DiagCode::MRV0002>(o.out.string(), "interrupted");
  MRVLC_ASSIGN(const std::string bytes, onnx::to_onnx(found.graph, MRVLC_VERSION));
  MRVLC_TRY(write_whole(o.out, bytes));
  return summary(model->graph, found, judge.code(), o.out);
}

}  // namespace

std::optional<std::string> reduce(const ReduceOptions& options, Diagnostics& diagnostics) {
  auto text = reduced(options, diagnostics);
  if (!text.ok()) diagnostics.add(text.error());
  return text.ok() && !diagnostics.has_errors() ? std::optional(*std::move(text)) : std::nullopt;
}

}  // namespace mrvlc::driver
