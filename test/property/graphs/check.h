// Random models through the reference interpreter, generated C, generated C with the simulated accelerator
// and, where there is one, ONNX Runtime; what disagrees is cut down.
#pragma once
#include <string>

#include "model.h"
#include "mrvlc/conformance/conformance.h"

namespace mrvlc::graphs {

// Who disagreed; Ideal: the simulator is worse than ideal.h allows.
enum class Judge : uint8_t { Interpreter, C, Simulator, Ideal, OnnxRuntime };

// A folder of cases, one for each model: FOLDER/random/NUMBER. Removed at the end.
class Cases {
 public:
  Cases();
  Cases(const Cases&) = delete;
  Cases& operator=(const Cases&) = delete;
  ~Cases();
  void write(const std::vector<Model>& models);
  const std::filesystem::path& folder() const { return folder_; }
  // The outcomes by model; both engines' behind each other in a text when something is wrong.
  std::vector<conformance::CaseResult> run() const;
  // By the interpreter (0) or generated C (1) alone.
  std::vector<conformance::Outcome> run_engine(size_t engine) const;
  // What becomes of them on the accelerator, by model: passed with a message that says how much of it ran
  // there
  // ("7 layers in 2 regions"), or that nothing does.
  // Compared within what fp16 makes of it (coarse.h), or with the ideal.
  std::vector<conformance::Outcome> simulate(const std::vector<Model>& models,
                                             Judge judge = Judge::Simulator) const;
  // What ONNX Runtime ($ORT_DIR holds node_modules) makes of them, by model; Refused: it does not take it.
  std::vector<conformance::Outcome> run_onnx_runtime() const;
  static bool has_onnx_runtime();

 private:
  conformance::Options options() const;

  std::filesystem::path folder_;
  size_t count_ = 0;
};

// The smallest model found by cutting nodes off, front and back, that the judge still disagrees about.
Model reduce(Model model, Judge judge);

// $NAME as a number.
int64_t setting(const char* name, int64_t otherwise);

}  // namespace mrvlc::graphs
