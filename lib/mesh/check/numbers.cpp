// Sizes, and numbers of things that there are: what the other parts of the check rely on.
#include <algorithm>
#include <set>

#include "check/checker.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::mesh {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 28;

constexpr uint64_t kMostBytes = uint64_t{1} << 31;

bool positive(int64_t v) {
  return v >= 1 && v <= kMostElements;
}

}  // namespace

std::string Checker::task_name(uint32_t t) const {
  if (t == kHost) return "the host";
  const Task& task = p_.tasks[t];
  const PlannedPe& pe = p_.pes[task.pe];
  return fmt::format("task {} (PE {}.{}, node '{}')", t, pe.chip, pe.core,
                     printable(p_.layers[task.layer].node));
}

bool Checker::is_box(const Box& b, const Tensor3& t) const {
  return b.row >= 0 && b.rows >= 1 && b.channel >= 0 && b.channels >= 1 && b.rows <= t.rows &&
         b.row <= t.rows - b.rows && b.channels <= t.channels && b.channel <= t.channels - b.channels;
}

void Checker::tensors() {
  for (size_t i = 0; i < p_.tensors.size(); ++i) {
    const Tensor3& t = p_.tensors[i];
    if (!positive(t.rows) || !positive(t.width) || !positive(t.channels) ||
        t.rows > kMostElements / t.width || t.rows * t.width > kMostElements / t.channels)
      fault("tensor {} has no sizes", i);
  }
  const auto port = [&](const HostPort& p, const char* what) {
    if (p.tensor >= p_.tensors.size()) fault("{} '{}' is no tensor", what, printable(p.name));
  };
  for (const HostPort& p : p_.inputs) port(p, "input");
  for (const HostPort& p : p_.outputs) port(p, "output");
}

void Checker::layers() {
  // Producers before readers: the order of tasks relies on it.
  std::vector<bool> there(p_.tensors.size(), false);
  for (const HostPort& p : p_.inputs) there[p.tensor] = true;
  for (size_t i = 0; i < p_.layers.size(); ++i) {
    const PlannedLayer& l = p_.layers[i];
    for (const uint32_t x : l.inputs)
      if (x >= there.size() || !there[x])
        return fault("layer {} reads tensor {}, which nothing before it makes", i, x);
    if (l.inputs.empty() || l.output >= there.size() || there[l.output])
      return fault("layer {} has no operands, or its result is made twice", i);
    there[l.output] = true;
    const Window& w = l.window;
    const int64_t in = p_.tensors[l.inputs[0]].channels, out = p_.tensors[l.output].channels;
    if (!positive(w.kernel) || !positive(w.stride) || !positive(w.dilation) || w.pad < 0 ||
        w.pad > kMostElements || !positive(w.group) || w.kernel > kMostElements / w.dilation ||
        p_.tensors[l.output].rows > kMostElements / w.stride ||
        ((l.kind == Kind::Conv || l.kind == Kind::Pool) && (in % w.group != 0 || out % w.group != 0)))
      return fault("the window of layer {} is none", i);
  }
  for (const HostPort& p : p_.outputs)
    if (!there[p.tensor]) fault("nothing makes output '{}'", printable(p.name));
}

void Checker::tasks() {
  for (uint32_t i = 0; i < p_.tasks.size(); ++i) {
    const Task& t = p_.tasks[i];
    if (t.layer >= p_.layers.size() || t.pe >= p_.pes.size()) {
      fault("task {} has no layer or no PE", i);
      continue;
    }
    const PlannedLayer& l = p_.layers[t.layer];
    if (i > 0 && p_.tasks[i - 1].layer > t.layer)
      fault("{} stands behind one of a later layer", task_name(i));
    if (!is_box(t.box, result(t))) fault("{} computes what is no part of its result", task_name(i));
    if (t.inboxes.size() != l.inputs.size()) {
      fault("{} has {} operands, its layer {}", task_name(i), t.inboxes.size(), l.inputs.size());
      continue;
    }
    for (size_t k = 0; k < t.inboxes.size(); ++k)
      if (!is_box(t.inboxes[k].box, p_.tensors[l.inputs[k]]) || t.inboxes[k].slots < 1)
        fault("operand {} of {} is no part of its tensor", k, task_name(i));
  }
}

void Checker::edges() {
  const auto tasks = static_cast<uint32_t>(p_.tasks.size());
  for (size_t i = 0; i < p_.edges.size(); ++i) {
    const Edge& e = p_.edges[i];
    const bool from = e.from == kHost ? e.from_port < p_.inputs.size() : e.from < tasks;
    const bool to =
        e.to == kHost ? e.port < p_.outputs.size() : e.to < tasks && e.port < p_.tasks[e.to].inboxes.size();
    if (!from || !to || (e.from == kHost && e.to == kHost))
      fault("edge {} does not go from a task to an operand", i);
    for (const uint64_t n : {e.count, e.run, e.from_offset, e.from_step, e.to_offset, e.to_step})
      if (n > kMostBytes) return fault("edge {} has a number that no PE can hold", i);
    if (e.count < 1 || e.run < 1 || e.credits < 1) fault("edge {} moves nothing, or has no credits", i);
  }
}

void Checker::numbers() {
  // Chips and cores are those of working parts; two PEs are not one.
  const auto working = working_parts(p_.machine);
  if (!working.ok()) return fault("{}", working.error().message);
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const PlannedPe& pe : p_.pes) {
    const bool there =
        pe.chip < working->cores.size() && std::ranges::binary_search(working->cores[pe.chip], pe.core);
    if (!there) fault("PE {}.{} does not work, or the machine has none", pe.chip, pe.core);
    if (!seen.emplace(pe.chip, pe.core).second) fault("PE {}.{} is there twice", pe.chip, pe.core);
    if (pe.program >= p_.programs.size()) fault("PE {}.{} has no program", pe.chip, pe.core);
  }
  tensors();
  if (!failed()) layers();
  if (!failed()) tasks();
  if (!failed()) edges();
}

Findings Checker::run() {
  numbers();
  if (failed()) return f_;  // nothing below would know what it reads
  memory();
  routes();
  if (failed()) return f_;
  results();
  operands();
  if (!failed()) liveness();
  return f_;
}

Findings check(const Plan& plan, uint64_t blob_bytes, size_t most) {
  return Checker(plan, blob_bytes, most).run();
}

}  // namespace mrvlc::mesh
