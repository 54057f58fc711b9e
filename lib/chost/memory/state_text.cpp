// The C of --state: the type NAME_state, which holds the states of one stream, and what sets it to its
// beginning and hands it to NAME_run.
#include "function.h"
#include "infer.h"

namespace mrvlc::chost {
namespace {

std::string member(const Program& program, const Interface& interface, size_t i) {
  const StatePair& pair = program.options.states[i];
  const Interface::Port& in = interface.inputs[pair.input];
  const StateUse& use = program.states[i];
  return fmt::format("  {} {}{}; /* input '{}', output '{}': {} bytes, {} */\n", ops::c_type(in.type.elem),
                     in.state, array_dims(in.type), comment_text(use.input), comment_text(use.output),
                     use.bytes, use.obstacle.empty() ? "in place" : "copied at the end of a run");
}

}  // namespace

std::string state_declarations(const Program& program, const Interface& interface) {
  const std::string& name = program.options.name;
  if (program.options.states.empty()) return {};
  std::string members;
  for (size_t i = 0; i < program.options.states.size(); ++i) members += member(program, interface, i);
  return fmt::format(
      "\n/* What a run leaves to the next one; one for each stream. After a run that returns an error it may "
      "be "
      "half new. */\n"
      "typedef struct {0}_state {{\n{1}}} {0}_state;\n\n"
      "/* The beginning of a stream: zeros. Other values: write them to the members. */\n"
      "void {0}_state_reset({0}_state* state);\n"
      "/* Has the members of inputs and outputs that are states point to it, for {0}_run. */\n"
      "void {0}_state_bind({0}_state* state, {0}_inputs* inputs, {0}_outputs* outputs);\n",
      name, members);
}

std::string state_definitions(const Program& program, const Interface& interface) {
  const std::string& name = program.options.name;
  if (program.options.states.empty()) return {};
  std::string text = fmt::format(
      "void {0}_state_reset({0}_state* state) {{\n  memset(state, 0, sizeof *state);\n}}\n\n"
      "void {0}_state_bind({0}_state* state, {0}_inputs* inputs, {0}_outputs* outputs) {{\n",
      name);
  for (const StatePair& pair : program.options.states) {
    const Interface::Port &in = interface.inputs[pair.input], &out = interface.outputs[pair.output];
    text += fmt::format("  inputs->{} = (const {}*)(const void*)state->{};\n", in.field,
                        ops::c_type(in.type.elem), in.state);
    text += fmt::format("  outputs->{} = ({}*)(void*)state->{};\n", out.field, ops::c_type(in.type.elem),
                        in.state);
  }
  return text + "}\n";
}

}  // namespace mrvlc::chost
