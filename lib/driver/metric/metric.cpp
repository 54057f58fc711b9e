// Metrics by name, with labels or against the network in floats, and commands of the user's.
#include "mrvlc/driver/metric.h"

#include <fmt/format.h>

#include <memory>

#include "metric/classes.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/support/file_writer.h"
#include "mrvlc/support/printable.h"
#include "mrvlc/support/temporary_dir.h"
#include "mrvlc/tensor/npy.h"
#include "options/readers.h"
#include "run/process.h"

namespace mrvlc::driver {
namespace {

namespace fs = std::filesystem;
using Outputs = std::vector<std::vector<Tensor>>;
using Numbers = std::vector<size_t>;

// Of a metric of classes.
struct Kind {
  Result<Classes> (*of)(const Tensor& output);
  double (*compare)(const std::vector<Classes>& actual, const std::vector<Classes>& right);
};

Diag refused(const std::string& name, const std::string& why) {
  return make_diag<DiagCode::MRV0952>(printable(name), why);
}

// Compares classes with those of labels, or with those of the network that is measured first, which is the
// one in floats.
class ClassMetric {
 public:
  ClassMetric(std::string name, Kind kind, std::optional<Tensor> labels)
      : name_(std::move(name)), kind_(kind), labels_(std::move(labels)) {}

  Result<double> measure(const Outputs& outputs, const Numbers& numbers) {
    std::vector<Classes> actual;
    for (const std::vector<Tensor>& of_sample : outputs) {
      if (of_sample.empty()) return refused(name_, "the model has no output");
      MRVLC_ASSIGN(Classes found, kind_.of(of_sample[0]));
      actual.push_back(std::move(found));
    }
    if (right_.empty()) MRVLC_TRY(take_right(actual, numbers));
    for (size_t i = 0; i < actual.size(); ++i)
      if (actual[i].size() != right_[i].size())
        return refused(name_, fmt::format("sample {} has {} answers of the network, and {} that are right",
                                          numbers[i], actual[i].size(), right_[i].size()));
    return kind_.compare(actual, right_);
  }

 private:
  Status take_right(const std::vector<Classes>& actual, const Numbers& numbers) {
    if (!labels_) {
      right_ = actual;
      return {};
    }
    const int64_t samples = labels_->shape().empty() ? 0 : labels_->shape()[0];
    for (const size_t n : numbers) {
      if (static_cast<int64_t>(n) >= samples)
        return refused(name_, fmt::format("--labels has {} samples; sample {} is judged", samples, n));
      const int64_t each = labels_->elements() / samples, from = static_cast<int64_t>(n) * each;
      Classes& of_sample = right_.emplace_back();
      for (int64_t i = 0; i < each; ++i)
        of_sample.push_back(static_cast<int64_t>(labels_->as_double(from + i)));
    }
    return {};
  }

  std::string name_;
  Kind kind_;
  std::optional<Tensor> labels_;
  std::vector<Classes> right_;
};

Status write_outputs(const fs::path& folder, const Outputs& outputs, const Numbers& numbers) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const fs::path of_sample = folder / fmt::format("{:06}", numbers[i]);
    fs::create_directory(of_sample);
    for (size_t k = 0; k < outputs[i].size(); ++k) {
      MRVLC_ASSIGN(FileWriter file, FileWriter::create(of_sample / fmt::format("output_{}.npy", k)));
      MRVLC_TRY(file.append(to_npy(outputs[i][k])));
      MRVLC_TRY(file.commit());
    }
  }
  return {};
}

// The last line that is not empty.
std::string last_line(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  const size_t at = text.rfind('\n');
  return at == std::string::npos ? text : text.substr(at + 1);
}

Result<double> run_command(const std::string& command, const Outputs& outputs, const Numbers& numbers) {
  MRVLC_ASSIGN(const TemporaryDir folder, TemporaryDir::create());
  MRVLC_TRY(write_outputs(folder.path(), outputs, numbers));
  MRVLC_ASSIGN(const ProcessResult ran,
               run_process_apart({"sh", "-c", command + " \"$1\"", "sh", folder.path().string()}));
  if (ran.exit_code != 0)
    return refused(command,
                   fmt::format("ended with {}: {}", ran.exit_code, printable(last_line(ran.errors))));
  const auto value = parse_number(last_line(ran.output));
  if (!value)
    return refused(command,
                   fmt::format("printed no number at its end: '{}'", printable(last_line(ran.output))));
  return *value;
}

Result<std::optional<Tensor>> read_labels(const std::string& name, const fs::path& file) {
  if (file.empty()) return std::optional<Tensor>();
  MRVLC_ASSIGN(Tensor labels, read_npy(file));
  if (!is_integer(labels.elem()) || labels.elements() == 0)
    return refused(name, fmt::format("{} holds no integers", printable(file.string())));
  return std::optional(std::move(labels));
}

// A share of classes; of a command's numbers one in their unit.
Result<std::optional<double>> read_drop(const std::string& text, bool share) {
  if (text.empty()) return std::optional<double>();
  if (share) {
    auto read = parse_share(text);
    if (!read.ok()) return option_error("--max-drop", read.error().message);
    return std::optional(*read);
  }
  const auto read = parse_number(text);
  if (!read || *read < 0)
    return option_error("--max-drop", fmt::format("'{}' is no number from 0 on", printable(text)));
  return read;
}

}  // namespace

Result<quantize::Metric> make_metric(const std::string& name, const fs::path& labels,
                                     const std::string& drop) {
  const Kind kinds[] = {{rows_of, top1}, {areas_of, mean_iou}};
  const bool is_top1 = name == "top1", is_command = !is_top1 && name != "iou";
  MRVLC_ASSIGN(const std::optional<double> max_drop, read_drop(drop, !is_command));
  if (is_command) {
    if (!labels.empty()) return refused(name, "a command reads its labels itself: without --labels");
    return quantize::Metric{name, [=](const Outputs& o, const Numbers& n) { return run_command(name, o, n); },
                            max_drop};
  }
  MRVLC_ASSIGN(auto right, read_labels(name, labels));
  auto metric = std::make_shared<ClassMetric>(name, kinds[is_top1 ? 0 : 1], std::move(right));
  return quantize::Metric{
      name, [metric](const Outputs& o, const Numbers& n) { return metric->measure(o, n); }, max_drop};
}

}  // namespace mrvlc::driver
