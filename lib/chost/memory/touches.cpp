// The memory that a run reads and writes, in the order of its work.
#include "program.h"

namespace mrvlc::chost {
namespace {

class Visitor {
 public:
  Visitor(const Program& program, const std::function<void(const Touch&)>& f) : program_(program), f_(f) {}

  void run() {
    for (const Step& s : program_.steps) {
      step(s);
      now_ += kMomentsOfStep;
    }
    for (const auto& [from, to] : program_.saved_states) {
      touch(from, now_, false);
      touch(to, now_, true);
    }
    for (const auto& [buffer, output] : program_.output_copies) touch(buffer, now_, false);
  }

 private:
  void touch(BufferId buffer, int64_t moment, bool written) {
    if (buffer.valid()) f_({buffer, moment, written});
  }

  void calls(const std::vector<Call>& all, int64_t moment) {
    for (const Call& c : all) {
      for (const Param& p : c.params) touch(p.buffer, moment, p.written);
      for (const ElementCheck& check : c.checks) touch(check.buffer, moment, false);
    }
  }

  void step(const Step& s) {
    calls(s.before, now_);
    for (BufferId b : s.device_inputs) touch(b, now_, false), touch(b, now_ + 1, false);
    for (BufferId b : s.device_outputs) touch(b, now_ + 1, true);
    calls(s.after, now_ + 2);
    if (s.fallback) fallback(*s.fallback, now_ + 1);
  }

  // In the place of the device, with all that it reads and writes.
  void fallback(const Fallback& f, int64_t moment) {
    calls(f.before, moment);
    calls(f.after, moment);
    for (ir::ValueId v : f.inputs) touch(program_.buffer_of(v), moment, false);
    for (ir::ValueId v : f.outputs) touch(program_.buffer_of(v), moment, true);
    touch(f.arena, moment, true);
  }

  const Program& program_;
  const std::function<void(const Touch&)>& f_;
  int64_t now_ = 0;
};

}  // namespace

int64_t end_of_steps(const Program& program) {
  return static_cast<int64_t>(program.steps.size()) * kMomentsOfStep;
}

void for_each_touch(const Program& program, const std::function<void(const Touch&)>& f) {
  Visitor(program, f).run();
}

}  // namespace mrvlc::chost
