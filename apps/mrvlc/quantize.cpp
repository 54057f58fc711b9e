// `mrvlc quantize` on the command line.
#include <fmt/format.h>

#include "commands.h"
#include "compile_options.h"
#include "mrvlc/driver/metric.h"

namespace mrvlc::app {
namespace {

struct Words {
  std::string activations = "int8", weights = "int8", ranges = "best", rounding = "learned";
  bool no_equalise = false, no_bias_correction = false;
};

ElementType type_of(const std::string& word) {
  if (word == "uint8") return ElementType::U8;
  if (word == "int16") return ElementType::I16;
  return word == "int4" ? ElementType::I4 : ElementType::I8;
}

quantize::RangeMethod method_of(const std::string& word) {
  using quantize::RangeMethod;
  for (RangeMethod m : {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Mse, RangeMethod::Entropy})
    if (quantize::name(m) == word) return m;
  return RangeMethod::Best;
}

void add_methods(CLI::App& cmd, Words& w, driver::QuantizeOptions& o) {
  const auto one_of = [&](const std::string& option, std::string& word, const std::string& help,
                          const std::vector<std::string>& words) {
    cmd.add_option(option, word, help)->type_name("WHAT")->check(CLI::IsMember(words));
  };
  one_of("--activations", w.activations, "integers between layers: int8, uint8 or int16 (int8)",
         {"int8", "uint8", "int16"});
  one_of("--weights", w.weights, "integers of weights: int8 or int4 (int8)", {"int8", "int4"});
  one_of("--ranges", w.ranges, "range of a tensor: minmax, percentile, mse, entropy, or best of them (best)",
         {"best", "minmax", "percentile", "mse", "entropy"});
  one_of("--rounding", w.rounding, "of weights: learned from the data, or nearest (learned)",
         {"learned", "nearest"});
  cmd.add_flag("--no-equalise", w.no_equalise, "do not scale channels between layers");
  cmd.add_flag("--no-bias-correction", w.no_bias_correction, "leave what rounding moves means by");
  cmd.add_option("--float", o.keep_float,
                 "nodes that stay in floats: names (* and ? allowed), operators' types (repeatable)")
      ->type_name("NODE")
      ->allow_extra_args(false);
  cmd.add_option("--accuracy", o.options.accuracy,
                 "largest |a-b|/(1+|b|) of the outputs on the data: the most sensitive layers stay in floats "
                 "until it is met")
      ->type_name("E")
      ->check(tolerance_check());
}

// Of --metric.
struct Judging {
  std::string metric, labels, max_drop;
};

void add_metric(CLI::App& cmd, Judging& j) {
  CLI::Option* metric =
      cmd.add_option(
             "--metric", j.metric,
             "what the network is judged by: top1, iou, or a command for sh that gets a folder of outputs "
             "and prints a number, more is better (docs/quantization.md)")
          ->type_name("top1|iou|COMMAND")
          ->check(not_empty());
  cmd.add_option("--labels", j.labels,
                 "what is right for top1 and iou, by sample, as integers; by default what float32 says")
      ->type_name("FILE.npy")
      ->check(not_empty())
      ->needs(metric);
  cmd.add_option(
         "--max-drop", j.max_drop,
         "the most that the metric may lose against float32, 0.005 or 0.5%: layers stay in floats until "
         "it does not")
      ->type_name("D")
      ->needs(metric)
      ->excludes("--accuracy");
}

Status read_metric(const Judging& j, quantize::Options& o) {
  if (j.metric.empty()) return {};
  MRVLC_ASSIGN(o.metric, driver::make_metric(j.metric, j.labels, j.max_drop));
  return {};
}

void read_methods(const Words& w, quantize::Options& o) {
  o.activations = type_of(w.activations);
  o.weights = type_of(w.weights);
  o.ranges = method_of(w.ranges);
  o.learn_rounding = w.rounding == "learned";
  o.equalise = !w.no_equalise;
  o.correct_bias = !w.no_bias_correction;
}

}  // namespace

void show_progress(std::string_view step, size_t done, size_t of) {
  std::fprintf(stderr, "\r%-12.*s %zu of %zu%s", static_cast<int>(step.size()), step.data(), done, of,
               done == of ? "\n" : "   ");
}

void add_quantize(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  auto o = std::make_shared<driver::QuantizeOptions>();
  auto w = std::make_shared<Words>();
  auto judging = std::make_shared<Judging>();
  CLI::App* cmd = app.add_subcommand(
      "quantize", "makes a model of integers from one of floats and samples of its inputs");
  add_model_and_options(*cmd, driver::command::kOthers, *a);
  add_samples_options(*cmd, o->data, o->out, "ONNX file to write");
  cmd->add_option("--validate", o->validation,
                  "folder of samples as --data's that it is judged by; every fourth of --data by default")
      ->type_name("DIR")
      ->check(not_empty());
  cmd->add_option("--report", o->report, "JSON file of every decision (docs/quantization.md)")
      ->type_name("FILE")
      ->check(not_empty());
  add_methods(*cmd, *w, *o);
  add_metric(*cmd, *judging);
  cmd->callback([=, &context] {
    auto options = checked(*cmd, *a, context.messages);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    o->compile = *options;
    read_methods(*w, o->options);
    if (Status read = read_metric(*judging, o->options); !read.ok())
      return context.fail(judging->labels, read.error());
    o->options.jobs = o->compile.jobs;
    if (context.shows_progress()) o->options.progress = show_progress;
    Diagnostics diagnostics;
    const auto summary = driver::quantize(*o, diagnostics);
    print_diagnostics(a->model, diagnostics, context.messages);
    context.exit_code = summary ? 0 : diagnostics.exit_code();
    if (summary) context.finish(a->model, *summary);
  });
}

}  // namespace mrvlc::app
