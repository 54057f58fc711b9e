// The plan as C that the coordinator is linked with.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "code/emit.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::mesh {
namespace {

class Tables {
 public:
  explicit Tables(const Plan& plan) : p_(plan) {}

  std::string run() {
    text_ =
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        "/* Which element computes what, and what is sent to whom; written by mrvlc. */\n#include "
        "\"coordinator.h\"\n\n";
    for (size_t i = 0; i < p_.programs.size(); ++i)
      line("extern const struct mrvl_program mrvl_program_{};", i);
    pes();
    tasks();
    edges();
    ports("inputs", p_.inputs);
    ports("outputs", p_.outputs);
    line("const struct mesh_counts mesh_counts = {{{}u, {}u, {}u, {}u, {}u}};", p_.pes.size(),
         p_.tasks.size(), p_.edges.size(), p_.inputs.size(), p_.outputs.size());
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  void pes() {
    line("\nconst struct mesh_pe mesh_pes[] = {{");
    for (const PlannedPe& pe : p_.pes)
      line("    {{&mrvl_program_{}, {}u, {}u, {}u, {}u}},", pe.program, pe.chip, pe.core, pe.blob_offset,
           pe.blob_bytes);
    line("}};\n");
  }
  void tasks() {
    line("const struct mesh_task mesh_tasks[] = {{");
    for (const Task& t : p_.tasks) {
      const PlannedLayer& l = p_.layers[t.layer];
      line("    {{{}u, {}}},", t.pe, c_string(printable(l.node) + " (" + l.op + ")"));
    }
    line("}};\n");
  }
  static std::string task(uint32_t t, const char* host) { return t == kHost ? host : fmt::format("{}u", t); }
  // What one image takes in the receiver.
  uint64_t slot_bytes(const Edge& e) const {
    return e.to == kHost ? port_bytes(p_.outputs[e.port]) : p_.tasks[e.to].inboxes[e.port].bytes;
  }
  uint64_t port_bytes(const HostPort& port) const {
    const Tensor3& t = p_.tensors[port.tensor];
    return static_cast<uint64_t>(t.rows * t.width * t.channels * size_of(t.elem));
  }
  void edges() {
    line("const struct mesh_edge mesh_edges[] = {{");
    for (const Edge& e : p_.edges)
      line("    {{{}, {}, {}u, {}u, {}u, {}u, {}u, {}u, {}u, {}u, {}u, {}u}},", task(e.from, "MESH_FEED"),
           task(e.to, "MESH_COLLECT"), e.from_port, e.port, e.count, e.run, e.from_offset, e.from_step,
           e.to_offset, e.to_step, slot_bytes(e), e.credits);
    line("}};\n");
  }
  void ports(const char* name, const std::vector<HostPort>& ports) {
    constexpr const char* kTypes[] = {"|i1", "|u1", "<i4", "<f4"};
    for (size_t i = 0; i < ports.size(); ++i)
      line("static const uint32_t {}_shape_{}[] = {{{}}};", name, i,
           ports[i].shape.empty() ? "0" : fmt::format("{}", fmt::join(ports[i].shape, ", ")));
    line("const struct mesh_port mesh_{}[] = {{", name);
    for (size_t i = 0; i < ports.size(); ++i) {
      const Tensor3& t = p_.tensors[ports[i].tensor];
      line("    {{{}, \"{}\", {}u, {}u, {}_shape_{}, {{{}u, {}u, {}u}}, {{{}u, {}u, {}u}}}},",
           c_string(ports[i].file), kTypes[static_cast<size_t>(t.elem)], size_of(t.elem),
           ports[i].shape.size(), name, i, t.rows, t.width, t.channels, ports[i].strides[0],
           ports[i].strides[1], ports[i].strides[2]);
    }
    line("}};\n");
  }
  // A literal in which nothing ends it, or begins a trigraph.
  static std::string c_string(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\' || c == '?') out += '\\';
      out += c;
    }
    return out + "\"";
  }

  const Plan& p_;
  std::string text_;
};

}  // namespace

std::string tables_text(const Plan& plan) {
  return Tables(plan).run();
}

}  // namespace mrvlc::mesh
