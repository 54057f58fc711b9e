// The C of NAME_run, and of bodies: checks, views, the calls in order, and the table of regions.
#include "run_text.h"

#include <algorithm>

#include "mrvlc/tensor/float16.h"

namespace mrvlc::chost {
namespace {

std::string plus(const std::string& pointer, int64_t offset, bool is_const) {
  if (offset == 0) return fmt::format("({}void*){}", is_const ? "const " : "", pointer);
  return fmt::format("({0}void*)(({0}unsigned char*){1} + {2})", is_const ? "const " : "", pointer, offset);
}

// Bits of fp16 as K_beyond_half orders them.
int ordered_half(double value) {
  const int bits = float_to_half(static_cast<float>(value)), size = bits & 0x7fff;
  return (bits & 0x8000) != 0 ? -size : size;
}

}  // namespace

std::string dims_text(const TensorType& type) {
  std::string text;
  if (type.wrapper != Wrapper::None) return "0";
  for (int64_t d : type.shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", d);
  return text.empty() ? "0" : text;
}

std::string set_dims_text(const TensorType& type, const std::string& view, const std::string& dims) {
  TensorType item = type;
  item.wrapper = Wrapper::None;
  const std::string rest = fmt::format("(const int64_t[]){{{}}}, {}u, INT64_C({}))", dims_text(item),
                                       type.dynamic, type.elements());
  if (!ops::holds_sequence(type))
    return fmt::format("{}({}, {}, {}, {}", name(set_dims_piece(type)), view, type.rank(), dims, rest);
  return fmt::format("{}({}, {}, {}, {:d}, {}, {}", name(set_dims_piece(type)), view, dims, type.length,
                     ops::is_optional(type), type.has_rank() ? type.rank() : -1, rest);
}

std::string RunText::names() const {
  std::string text;
  std::set<ir::ExprId>& told = program_.module.named;
  auto add = [&](ir::NodeId id) {
    const ir::ExprId expr = program_.expr(id);
    if (!told.insert(expr).second) return;
    const ir::Node& node = program_.node(id);
    // A node without a name is known by what it makes.
    const std::string& name =
        node.name.empty() && !node.outputs.empty() ? program_.graph.value(node.outputs[0]).name : node.name;
    text += fmt::format("static const char {}_n{}[] = {};\n", prefix_, expr.index(), c_char_array(name));
  };
  for (const Step& step : program_.steps) {
    add(step.group.nodes.front());
    if (step.group.region < 0) continue;
    for (const auto& range : program_.regions[static_cast<size_t>(step.group.region)].instructions)
      add(range.expr);
  }
  return text;
}

// C expression of type (const) void* for a buffer.
std::string RunText::address(BufferId id) const {
  auto [root, offset] = program_.resolve(id);
  const Buffer& s = program_.buffers[root.index()];
  switch (s.kind) {
    case Buffer::Kind::Input:
      if (interface_ == nullptr) return plus(fmt::format("in[{}]->data", s.index), offset, true);
      return plus(fmt::format("inputs->{}", interface_->inputs[s.index].field), offset, true);
    case Buffer::Kind::Output:
      if (interface_ == nullptr) return plus(fmt::format("out[{}]->data", s.index), offset, false);
      return plus(fmt::format("outputs->{}", interface_->outputs[s.index].field), offset, false);
    case Buffer::Kind::Weights:
      return fmt::format("(const void*)({}_weights + {})", prefix_, s.offset + offset);
    case Buffer::Kind::Strings:
      return fmt::format("(const void*){}_strings{}", prefix_, s.index);
    default:
      return buffer_names_.address(root, offset);
  }
}

// Views hold a pointer that may be written through; of operands nothing is.
std::string RunText::mutable_address(ir::ValueId value) const {
  return "(void*)(uintptr_t)" + address(program_.buffer_of(value));
}

std::string RunText::function(const std::string& symbol) {
  head(symbol);
  check_arguments();
  out_ += buffer_names_.table();
  put("MRVL_GUARD_ARENA({}, {});", arena_.bytes > 0 ? "a" : "NULL", arena_.bytes);
  declare_views();
  take_input_dims();
  check_inputs();
  tell(told_values_.at_begin());
  for (const Step& s : program_.steps) whole_step(s);
  copy_outputs();
  tell_dims();
  if (interface_ == nullptr) {
    put("return 0;");
  } else if (program_.module.regions.empty()) {
    put("return {}_fail(error, 0, 0, 0u, \"\");", prefix_);
  } else {
    put("return {}_end(error, 0, &state);", prefix_);
  }
  return std::move(out_) + "}\n";
}

namespace {

// Of a body.
std::string device_parameters(const Program& program) {
  const std::string& prefix = program.options.name;
  const bool runs = program.module.uses_device(program.graph);
  if (!runs && !program.options.trace_values) return {};
  return fmt::format(", const {}_device* device", prefix) +
         (runs ? fmt::format(",\n    {}_run_state* state", prefix) : std::string());
}

}  // namespace

void RunText::head(const std::string& symbol) {
  if (interface_ == nullptr) {
    out_ = fmt::format(
        "static int {1}(const {0}_view* const* in, {0}_view* const* out, unsigned char* const a, mrvl_hook "
        "hook,\n    void* user, {0}_error* error{2}{3}) {{\n",
        prefix_, symbol, device_parameters(program_),
        takes_weights() ? fmt::format(",\n    const unsigned char* const {}_weights", prefix_)
                        : std::string());
    if (takes_weights()) put("(void){}_weights;", prefix_);
    put("(void)in;\n  (void)out;\n  (void)a;\n  (void)error;");
    if (program_.options.trace_values) put("(void)device;");
  } else {
    out_ = fmt::format(
        "int {0}_run{1}(const {0}_inputs* inputs, {0}_outputs* outputs, void* arena, const {0}_device* "
        "device,\n"
        "    {2}mrvl_hook hook, void* user, {0}_error* error) {{\n",
        prefix_, takes_threads() ? "_parallel" : "",
        takes_threads() ? "const mrvl_parallel* parallel, " : "");
    const bool shares = std::ranges::any_of(program_.steps, [](const Step& step) {
      return std::ranges::any_of(step.before, [](const Call& c) { return !c.task.empty(); });
    });
    if (takes_threads() && !shares) put("(void)parallel;");
    if (arena_.bytes > 0) put("unsigned char* const a = (unsigned char*)arena;");
  }
  if (program_.steps.empty()) put("(void)hook;\n  (void)user;");
}

// NAME_run of a program that takes threads: without any.
std::string RunText::run_alone() const {
  return fmt::format(
      "int {0}_run(const {0}_inputs* inputs, {0}_outputs* outputs, void* arena, const {0}_device* device,\n"
      "    mrvl_hook hook, void* user, {0}_error* error) {{\n"
      "  return {0}_run_parallel(inputs, outputs, arena, device, NULL, hook, user, error);\n}}\n",
      prefix_);
}

void RunText::check_arguments() {
  if (interface_ == nullptr) return;
  std::string missing;
  for (const auto& p : interface_->inputs) {
    if (p.type.elements() > 0) missing += fmt::format(" || !inputs->{}", p.field);
  }
  for (const auto& p : interface_->outputs) {
    if (p.type.elements() > 0) missing += fmt::format(" || !outputs->{}", p.field);
  }
  put("if (!inputs || !outputs{}) return {}_fail(error, {}_ERROR_ARGUMENT, 0, 0u, \"\");", missing, prefix_,
      prefix_);
  if (arena_.bytes > 0) {
    put("if (!arena || (uintptr_t)arena % {0}_ARENA_ALIGN != 0) return {0}_fail(error, {0}_ERROR_ARENA, 0, "
        "0u, \"\");",
        prefix_);
  } else {
    put("(void)arena;");
  }
  take_weights();
  if (program_.module.regions.empty()) return put("(void)device;");
  put("const int models_rc = {}_check_models(device, error);\n  if (models_rc != 0) return models_rc;",
      prefix_);
  put("{}_run_state state;\n  memset(&state, 0, sizeof state);", prefix_);
}

// Those that the caller handed over with NAME_load_weights.
void RunText::take_weights() {
  if (!takes_weights()) return;
  // Bodies take them though there are none.
  if (program_.weights.blob().empty())
    return put("const unsigned char* const {0}_weights = NULL;\n  (void){0}_weights;", prefix_);
  put("if (!device || !device->weights) return {0}_fail(error, {0}_ERROR_WEIGHTS, 0, 0u, \"\");", prefix_);
  put("const unsigned char* const {0}_weights = (const unsigned char*)device->weights;\n  (void){0}_weights;",
      prefix_);
}

// Values whose views are passed to functions, or whose shapes the caller is told.
std::set<ir::ValueId> RunText::viewed_values() const {
  std::set<ir::ValueId> values;
  for (const Step& step : program_.steps) {
    for (const Call& c : step.before) {
      for (const Param& p : c.params) {
        if (p.view.valid()) values.insert(p.view);
      }
    }
  }
  const auto add_dynamic = [&](const std::vector<ir::ValueId>& more) {
    std::ranges::copy_if(more, std::inserter(values, values.end()),
                         [&](ir::ValueId v) { return !program_.graph.value(v).type.is_static(); });
  };
  add_dynamic(program_.graph.inputs());
  add_dynamic(program_.graph.outputs());
  if (!program_.options.trace_values) return values;
  add_dynamic(told_values_.at_begin());
  for (const Step& step : program_.steps) add_dynamic(told_values_.behind(step));
  return values;
}

// Whether there is an `rc`.
bool RunText::declare_views() {
  const auto values = viewed_values();
  for (ir::ValueId v : values) {
    const TensorType& type = program_.graph.value(v).type;
    const structs::View view{.data = mutable_address(v), .dim = dims_text(type)};
    put("{}", structs::declaration(prefix_, view_name(v), view, ""));
  }
  const bool fallible = std::ranges::any_of(
      program_.steps, [](const Step& step) { return std::ranges::any_of(step.before, &Call::fallible); });
  const bool has_code = !values.empty() || fallible;
  if (has_code) put("int rc = 0;");
  return has_code;
}

void RunText::take_input_dims() {
  const auto& inputs = program_.graph.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& type = program_.graph.value(inputs[i]).type;
    if (type.is_static()) continue;
    const std::string view = view_name(inputs[i]);
    if (interface_ == nullptr) {
      put("memcpy({0}.dim, in[{1}]->dim, sizeof {0}.dim);", view, i);
    } else {
      put("if ({0}_{1}) return {0}_fail(error, {0}_ERROR_SHAPE, 0, 0u, \"\");", prefix_,
          set_dims_text(type, "&" + view, "inputs->" + interface_->inputs[i].dims));
    }
  }
  if (!viewed_values().empty()) put("(void)rc;");
}

// Where the accelerator is only known to be accurate for some values of the inputs.
void RunText::check_inputs() {
  const auto& limits = program_.options.input_limits;
  if (interface_ == nullptr || program_.module.regions.empty() || limits.empty()) return;
  for (const InputLimit& limit : limits) {
    const ir::ValueId value = program_.graph.inputs()[limit.input];
    const Interface::Port& port = interface_->inputs[limit.input];
    open("{");
    put("static const char name[] = {};", c_char_array(port.model_name));
    const bool half = port.type.elem == ElementType::F16;
    const auto number = [half](double v) {
      return half ? fmt::format("{}", ordered_half(v)) : fmt::format("{:a}f", v);
    };
    const std::string data = fmt::format("inputs->{}, {} / {}u", port.field, bytes_of(value),
                                         byte_size(port.type.elem)),
                      kind = half ? "_half" : "";
    put("if (!state.input && {}_beyond{}({}, {}, {})) state.input = name;", prefix_, kind, data,
        number(limit.least), number(limit.most));
    if (limit.smallest > 0)
      put("if (!state.input && {}_small{}({}, {}, {})) state.input = name;", prefix_, kind, data,
          number(limit.smallest), limit.zero ? 1 : 0);
    close();
  }
  put("if ({0}_STOP_ON_OVERFLOW && state.input) return {0}_end(error, {0}_ERROR_OVERFLOW, &state);", prefix_);
}

void RunText::open(std::string_view head) {
  put("{}", head);
  ++depth_;
}

void RunText::close() {
  --depth_;
  put("}}");
}

namespace {

bool is_one_call(const Step& s) {
  if (s.group.region >= 0 || s.fallback || s.before.size() != 1 || !s.after.empty()) return false;
  const Call& c = s.before.front();
  return c.task.empty() && !c.fallible && c.checks.empty();
}

}  // namespace

void RunText::step(const Step& s) {
  if (is_one_call(s)) {
    const Call& c = s.before.front();
    return put("{}_LAYER({}, {}({}));", prefix_, expr(s), c.function, arguments(c));
  }
  before_device(s);
  if (s.group.region >= 0) device_call(s);
  after_device(s);
}

void RunText::before_device(const Step& s) {
  put("{}_HOOK({}, 0);", prefix_, expr(s));
  for (const Call& c : s.before) call(s, c);
}

void RunText::after_device(const Step& s) {
  if (!s.fallback)
    for (const Call& c : s.after) call(s, c);
  put("{}_HOOK({}, 1);", prefix_, expr(s));
}

void RunText::whole_step(const Step& s) {
  step(s);
  tell(told_values_.behind(s));
}

void RunText::put_check(const Step& step, const ElementCheck& check) {
  const ops::ElementRange& r = check.range;
  const std::string_view type = ops::c_type(check.elem);
  auto number = [](int64_t v) { return ops::c_literal(v, ElementType::I64); };
  std::string bounds;
  if (is_float(check.elem)) {
    bounds = fmt::format("{}, {}", ops::c_literal(static_cast<double>(r.low), check.elem),
                         ops::c_literal(static_cast<double>(r.high) + 1, check.elem));
  } else {
    bounds = fmt::format("{}, {}, {}", number(r.low), number(r.high), number(r.but.value_or(r.low)));
  }
  put("if ({0}((const {1}*){2}{3}, {4}, {5}, {6})) return {7}_fail(error, {7}_ERROR_VALUE, 0, {8}u, "
      "{7}_n{8});",
      check.function, type, address(check.buffer), r.first == 0 ? "" : fmt::format(" + {}", r.first), r.count,
      r.step, bounds, prefix_, expr(step));
}

// The address of a view, and what it shows is opened: it may have been somebody else's gap.
std::string RunText::view_argument(ir::ValueId value) const {
  const std::string view = "&" + view_name(value);
  const BufferId root = program_.resolve(program_.buffer_of(value)).first;
  const Buffer& s = program_.buffers[root.index()];
  if (s.kind != Buffer::Kind::Arena) return view;
  return fmt::format("MRVL_OPEN({}, {})", view, buffer_names_.place(root));
}

std::string RunText::arguments(const Call& c) const {
  std::string args;
  for (const Param& p : c.params) {
    args += args.empty() ? "" : ", ";
    args += !p.text.empty() ? p.text : p.view.valid() ? view_argument(p.view) : address(p.buffer);
  }
  return args;
}

void RunText::call(const Step& step, const Call& c) {
  const std::string args = arguments(c);
  for (const ElementCheck& check : c.checks) put_check(step, check);
  if (!c.task.empty()) {
    put("{{\n    const void* const p[] = {{{}}};\n    {}_parallel(parallel, {}, p);\n  }}", args, prefix_,
        c.task);
    return;
  }
  if (!c.fallible) return put("{}({});", c.function, args);
  if (c.reports) return put("if ((rc = {}({})) != 0) return rc;", c.function, args);
  put("if ((rc = {0}({1})) != 0) return {2}_fail(error, rc, 0, {3}u, {2}_n{3});", c.function, args, prefix_,
      expr(step));
}

// Bytes that hold data, a C expression: a caller's tensor may be shorter than its bound.
std::string RunText::bytes_of(ir::ValueId value) const {
  const TensorType& type = program_.graph.value(value).type;
  if (type.wrapper != Wrapper::None) return fmt::format("{}", memory_bytes(type));
  if (type.dynamic == 0) return size_text(type);
  std::string text = size_text(TensorType{type.elem, {}});
  for (int64_t d = 0; d < type.rank(); ++d) text += fmt::format(" * (size_t){}.dim[{}]", view_name(value), d);
  return text;
}

// --trace-values: the caller's hook hears of them.
void RunText::tell(const std::vector<ir::ValueId>& values) {
  if (!program_.options.trace_values) return;
  for (ir::ValueId v : values) {
    const TensorType& type = program_.graph.value(v).type;
    const bool is_tensor = type.wrapper == Wrapper::None;
    put("{0}_tell(device, &{0}_values[{1}], {2}, {3});", prefix_, told_values_.row(v),
        is_tensor && !type.is_static() ? view_name(v) + ".dim" : "NULL",
        is_tensor ? address(program_.buffer_of(v)) : "NULL");
  }
}

void RunText::copy_outputs() {
  for (const auto& [from, to] : program_.saved_states)
    put("memcpy({}, {}, {});", address(to), address(from), program_.buffers[to.index()].bytes);
  for (auto [buffer, output] : program_.output_copies) {
    const ir::ValueId value = program_.graph.outputs()[output];
    std::string to = interface_ == nullptr ? fmt::format("out[{}]->data", output)
                                           : "outputs->" + interface_->outputs[output].field;
    if (memory_bytes(program_.graph.value(value).type) == 0) continue;
    const std::string copy = fmt::format("memcpy({}, {}, {});", to, address(buffer), bytes_of(value));
    const bool may_be_there =
        interface_ != nullptr && !interface_->outputs[output].state.empty() &&
        program_.buffers[program_.resolve(buffer).first.index()].kind == Buffer::Kind::Input;
    put("{}{}", may_be_there ? fmt::format("if ((const void*){} != {}) ", to, address(buffer)) : "", copy);
  }
}

void RunText::tell_dims() {
  const auto& outputs = program_.graph.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorType& type = program_.graph.value(outputs[i]).type;
    std::string to = interface_ == nullptr ? fmt::format("out[{}]->dim", i)
                     : type.is_static()    ? std::string()
                                           : "outputs->" + interface_->outputs[i].dims;
    if (to.empty()) continue;
    if (type.wrapper != Wrapper::None) {
      put("memcpy({0}, {1}.dim, sizeof {1}.dim);", to, view_name(outputs[i]));
      continue;
    }
    for (int64_t d = 0; d < type.rank(); ++d) {
      put("{}[{}] = {};", to, d,
          type.is_dynamic(d) ? fmt::format("{}.dim[{}]", view_name(outputs[i]), d)
                             : fmt::format("{}", type.shape[static_cast<size_t>(d)]));
    }
  }
}

}  // namespace mrvlc::chost
