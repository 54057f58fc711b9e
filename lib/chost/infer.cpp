// NAME_infer: a call whose parameters are arrays of the tensors' shapes, so that compilers see a wrong order.
#include "infer.h"

#include "function.h"

namespace mrvlc::chost {
namespace {

// C99 promises 127 parameters (5.2.4.1); arena and device take two.
constexpr size_t kMostPorts = 120;

// A compiler before C23 takes no float[2][3] for const float (*)[3]; `const` is therefore a macro there.
bool is_array_of_arrays(const TensorType& type) {
  return type.rank() > 1 && type.elements() > 0;
}

// Of parameters: inputs in their order, then outputs.
std::vector<std::string> parameter_names(const Program& program, const Interface& interface) {
  UniqueNames names;
  // What the function is made of: a parameter of such a name would hide it.
  for (const std::string_view used : {"arena", "device", "in", "out"}) names.make(used);
  if (!program.options.states.empty()) names.make("state");
  std::vector<std::string> out;
  for (const auto* ports : {&interface.inputs, &interface.outputs}) {
    for (const Interface::Port& p : *ports) {
      const bool own = p.field.starts_with(program.options.name + "_");  // as macros and types of NAME.h
      out.push_back(names.make(own ? "v" + p.field : p.field));
    }
  }
  return out;
}

std::string parameter(const Interface::Port& port, const std::string& name, std::string_view qualifier) {
  const std::string_view type = ops::c_type(port.type.elem);
  if (port.type.rank() == 0 || port.type.elements() == 0)
    return fmt::format("{}{}* {}", qualifier, type, name);
  return fmt::format("{}{} {}{}", qualifier, type, name, array_dims(port.type));
}

std::string parameters(const Program& program, const Interface& interface) {
  const auto names = parameter_names(program, interface);
  std::string text;
  auto add = [&](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  size_t i = 0;
  for (const Interface::Port& p : interface.inputs) {
    const std::string& name = names[i++];
    if (p.state.empty())
      add(parameter(p, name, is_array_of_arrays(p.type) ? program.options.name + "_CONST " : "const "));
  }
  for (const Interface::Port& p : interface.outputs) {
    const std::string& name = names[i++];
    if (p.state.empty()) add(parameter(p, name, ""));
  }
  if (!program.options.states.empty()) add(fmt::format("{}_state* state", program.options.name));
  add("void* arena");
  if (infer_takes_device(program)) add(fmt::format("const {}_device* device", program.options.name));
  return text;
}

constexpr std::string_view kConst =
    R"(/* `const` where the language converts float (*)[3] to const float (*)[3]: C++ and C23. Before C23 an array of
 * constants with two dimensions or more is passed with a cast, or with -D K_CONST=const. */
#ifndef K_CONST
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#define K_CONST const
#else
#define K_CONST
#endif
#endif
)";

}  // namespace

std::string array_dims(const TensorType& type) {
  if (type.rank() == 0 || type.elements() == 0) return "[1]";
  std::string text;
  for (const int64_t d : type.shape) text += fmt::format("[{}]", d);
  return text;
}

bool infer_takes_device(const Program& program) {
  return !program.module.regions.empty() || program.options.weights == WeightsAs::Blob;
}

std::string infer_obstacle(const Interface& interface) {
  if (interface.inputs.size() + interface.outputs.size() > kMostPorts)
    return fmt::format("there are {} inputs and outputs, and C99 promises 127 parameters",
                       interface.inputs.size() + interface.outputs.size());
  for (const auto* ports : {&interface.inputs, &interface.outputs}) {
    const std::string_view kind = ports == &interface.inputs ? "input" : "output";
    for (const Interface::Port& p : *ports) {
      if (p.type.wrapper != Wrapper::None)
        return fmt::format("{} {} is a sequence or an optional", kind, p.field);
      if (p.type.elem == ElementType::String) return fmt::format("{} {} consists of texts", kind, p.field);
      if (!p.type.is_static())
        return fmt::format("the shape of {} {} is known at run time only", kind, p.field);
    }
  }
  return {};
}

std::string infer_call(const Program& program, const Interface& interface) {
  std::string text = program.options.name + "_infer(";
  const auto names = parameter_names(program, interface);
  size_t i = 0;
  for (const auto* ports : {&interface.inputs, &interface.outputs})
    for (const Interface::Port& p : *ports) {
      const std::string& name = names[i++];
      if (p.state.empty()) text += name + ", ";
    }
  if (!program.options.states.empty()) text += "state, ";
  return text + (infer_takes_device(program) ? "arena, device)" : "arena)");
}

std::string infer_declaration(const Program& program, const Interface& interface) {
  if (const std::string why = infer_obstacle(interface); !why.empty())
    return fmt::format("\n/* No {}_infer: {}. */\n", program.options.name, why);
  const bool arrays =
      std::ranges::any_of(interface.inputs, [](const auto& p) { return is_array_of_arrays(p.type); });
  return "\n" + with_prefix(arrays ? kConst : "", program.options.name) +
         fmt::format(
             "/* {0}_run of typed arrays: 0, or {0}_ERROR_*; which operator failed, {0}_run tells. Compilers "
             "warn of\n"
             " * arguments in the wrong order where types, or dimensions behind the first, differ. */\n"
             "int {0}_infer({1});\n",
             program.options.name, parameters(program, interface));
}

FunctionText infer_function(const Program& program, const Interface& interface) {
  const auto names = parameter_names(program, interface);
  const std::string& prefix = program.options.name;
  std::string text = fmt::format("int {0}_infer({1}) {{\n  {0}_inputs in;\n  {0}_outputs out;\n", prefix,
                                 parameters(program, interface));
  size_t i = 0;
  if (interface.inputs.empty()) text += "  in.none = NULL;\n";
  for (const Interface::Port& p : interface.inputs) {
    const std::string& name = names[i++];
    if (p.state.empty())
      text += fmt::format("  in.{} = (const {}*){};\n", p.field, ops::c_type(p.type.elem), name);
  }
  if (interface.outputs.empty()) text += "  out.none = NULL;\n";
  for (const Interface::Port& p : interface.outputs) {
    const std::string& name = names[i++];
    if (p.state.empty())
      text += fmt::format("  out.{} = ({}*){};\n", p.field, ops::c_type(p.type.elem), name);
  }
  if (!program.options.states.empty()) text += fmt::format("  {}_state_bind(state, &in, &out);\n", prefix);
  text += fmt::format("  return {}_run(&in, &out, arena, {}, NULL, NULL, NULL);\n}}\n", prefix,
                      infer_takes_device(program) ? "device" : "NULL");
  return {prefix + "_infer", std::move(text), {}, {}};
}

}  // namespace mrvlc::chost
