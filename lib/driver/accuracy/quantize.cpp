// `mrvlc quantize`: a model in floats and the user's data to a model in integers, in ONNX's QDQ form.
#include "mrvlc/quantize/quantize.h"

#include <algorithm>
#include <cmath>

#include "accuracy/quantize_graph.h"
#include "accuracy/quantize_report.h"
#include "accuracy/run_cost.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/onnx/exporter.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/support/glob.h"

namespace mrvlc::driver {
namespace {

class ModelQuantizer {
 public:
  ModelQuantizer(const QuantizeOptions& options, Diagnostics& diagnostics)
      : o_(options), diagnostics_(diagnostics), patterns_used_(options.keep_float.size(), false) {}

  Result<std::optional<QuantizedGraph>> run(const std::function<void(const onnx::Model&)>& was_read) {
    MRVLC_ASSIGN(auto read, read_model_and_samples(o_.compile, o_.data, diagnostics_, o_.validation));
    if (!read) return std::optional<QuantizedGraph>();
    if (was_read) was_read(read->model);
    QuantizedGraph out{std::move(read->model), {}, std::move(read->import), {}, {}};
    ir::Graph& graph = out.model.graph;
    MRVLC_TRY(check_floats(graph));
    MRVLC_TRY(interp::check_memory(graph));
    MRVLC_TRY(passes::run_passes(graph, passes::host_pipeline()));
    for (DataSet& set : read->sets) {
      MRVLC_TRY(check_finite(graph, set));
      out.samples.push_back(std::move(set.inputs));
    }
    out.floats = graph;
    quantize::Options options = o_.options;
    for (DataSet& set : read->more) {
      MRVLC_TRY(check_finite(graph, set));
      options.validation.push_back(std::move(set.inputs));
    }
    options.cost = [](const ir::Graph& g, const ir::Node& n) { return node_cost(g, n, true); };
    options.keep_float = [&](const ir::Node& n) { return keeps_float(n); };
    MRVLC_ASSIGN(out.report, quantize::quantize(graph, out.samples, options));
    if (out.report.validation == 0) diagnostics_.add(make_diag<DiagCode::MRV0950>(out.report.samples));
    warn_unused();
    warn_zeros(out.report);
    return std::optional(std::move(out));
  }

 private:
  static Status check_finite(const ir::Graph& graph, const DataSet& set) {
    for (size_t i = 0; i < set.inputs.size() && i < graph.inputs().size(); ++i) {
      const Tensor& t = set.inputs[i];
      if (t.type().wrapper != Wrapper::None || !is_float(t.elem())) continue;
      for (int64_t k = 0; k < t.elements(); ++k)
        if (!std::isfinite(t.as_double(k)))
          return make_diag<DiagCode::MRV0916>(printable(set.name),
                                              printable(graph.value(graph.inputs()[i]).name));
    }
    return {};
  }

  void warn_zeros(const quantize::Report& report) {
    const auto is_zero = [](const quantize::TensorReport& t) { return t.seen_min == 0 && t.seen_max == 0; };
    const auto first = std::ranges::find_if(report.tensors, is_zero);
    if (first != report.tensors.end())
      diagnostics_.add(make_diag<DiagCode::MRV0917>(std::ranges::count_if(report.tensors, is_zero),
                                                    printable(first->name)));
  }

  static Status check_floats(const ir::Graph& graph) {
    for (ir::NodeId id : graph.topological_order()) {
      const ir::Node& n = graph.node(id);
      if (n.is(Op::QuantizeLinear, Op::DynamicQuantizeLinear, Op::QLinearConv, Op::QLinearMatMul,
               Op::ConvInteger, Op::MatMulInteger))
        return make_diag<DiagCode::MRV0914>(printable(n.name), n.op->name);
    }
    return {};
  }

  bool keeps_float(const ir::Node& n) {
    bool kept = false;
    for (size_t i = 0; i < o_.keep_float.size(); ++i) {
      if (!glob_match(o_.keep_float[i], n.name) && o_.keep_float[i] != n.op->name) continue;
      patterns_used_[i] = true;
      kept = true;
    }
    return kept;
  }

  void warn_unused() {
    for (size_t i = 0; i < o_.keep_float.size(); ++i)
      if (!patterns_used_[i]) diagnostics_.add(make_diag<DiagCode::MRV0915>(printable(o_.keep_float[i])));
  }

  const QuantizeOptions& o_;
  Diagnostics& diagnostics_;
  std::vector<bool> patterns_used_;
};

// The summary; empty where diagnostics say why there is none.
Result<std::string> quantized(const QuantizeOptions& o, Diagnostics& diagnostics) {
  MRVLC_TRY(check_apart(o.out, o.compile.model, o.data));
  if (!o.validation.empty()) MRVLC_TRY(check_apart(o.out, o.compile.model, o.validation));
  MRVLC_ASSIGN(const auto made, quantize_graph(o, diagnostics));
  if (!made) return std::string();
  MRVLC_ASSIGN(const std::string bytes, onnx::to_onnx(made->model.graph, MRVLC_VERSION));
  MRVLC_TRY(write_whole(o.out, bytes));
  if (!o.report.empty()) MRVLC_TRY(write_whole(o.report, quantize_json(made->report, made->model.sha256)));
  return quantize_text(made->report);
}

}  // namespace

Result<std::optional<QuantizedGraph>> quantize_graph(
    const QuantizeOptions& options, Diagnostics& diagnostics,
    const std::function<void(const onnx::Model&)>& was_read) {
  return ModelQuantizer(options, diagnostics).run(was_read);
}

std::optional<std::string> quantize(const QuantizeOptions& options, Diagnostics& diagnostics) {
  auto text = quantized(options, diagnostics);
  if (!text.ok()) diagnostics.add(text.error());
  return text.ok() && !diagnostics.has_errors() ? std::optional(*std::move(text)) : std::nullopt;
}

}  // namespace mrvlc::driver
