// NAME_submit and NAME_wait: NAME_run in two halves, cut at a region's device. A half has the same text as
// NAME_run has there; what passes from one to the other lies in NAME_flight.
#include <algorithm>

#include "mrvlc/partition/partition.h"
#include "run_text.h"

namespace mrvlc::chost {
namespace {

// Words of 64 bits that hold NAME_run_state on any machine; NAME.c looks.
constexpr size_t kStateWords = 16;

bool has_region_step(const Program& program) {
  return std::ranges::any_of(program.steps, [](const Step& s) { return s.group.region >= 0; });
}

std::string_view parallel_parameter(bool threads) {
  return threads ? "const mrvl_parallel* parallel, " : "";
}

}  // namespace

std::string flight_obstacle(const Program& program) {
  if (!program.options.states.empty()) return "a run begins with the states that the run before leaves";
  if (!has_region_step(program)) return "the regions are in bodies of control flow";
  return {};
}

std::string flight_declarations(const Program& program, size_t views) {
  if (program.module.regions.empty()) return {};
  const std::string& name = program.options.name;
  if (const std::string why = flight_obstacle(program); !why.empty())
    return fmt::format("\n/* No {}_submit: {}. */\n", name, why);
  const bool threads = program.options.threads > 1;
  return fmt::format(
      "\n/* A run between {0}_submit and {0}_wait: memory of the caller's that stays where it is; its "
      "members "
      "are the stub's. */\n"
      "typedef struct {0}_flight {{\n  const {0}_inputs* inputs;\n  {0}_outputs* outputs;\n  void* arena;\n"
      "  const {0}_device* device;\n{1}  mrvl_hook hook;\n  void* user;\n  uint64_t state[{2}];\n{3}"
      "  int in_flight;\n}} {0}_flight;\n\n"
      "/* {0}_run in two halves, for two images at once: {0}_submit computes what comes before a region, "
      "hands "
      "that to the\n"
      " * device and returns; {0}_wait ends the run. While the device computes image n, the CPU converts the "
      "outputs of n - 1 and\n"
      " * the inputs of n + 1:\n *\n"
      " *   {0}_submit(&in[0], &out[0], arenas[0], device, {4}NULL, NULL, &flights[0], &error);\n"
      " *   for (i = 1; i <= images; ++i) {{\n"
      " *     if (i < images) {0}_submit(&in[i], &out[i], arenas[i % 2], device, {4}NULL, NULL, &flights[i % "
      "2], &error);\n"
      " *     {0}_wait(&flights[(i - 1) % 2], &error);\n"
      " *   }}\n *\n"
      " * Each run in flight has an arena of {0}_ARENA_BYTES, a {0}_flight, inputs and outputs of its own; "
      "these "
      "and the structs that\n"
      " * point at them stay, and are not touched, until {0}_wait has returned. Results are the bits of "
      "{0}_run, "
      "and so are errors,\n"
      " * from whichever half meets them. {0}_submit not 0: nothing is in flight, {0}_wait is not called. Of "
      "one "
      "`device` one thread at\n"
      " * a time calls; runs are waited for in any order. At most MRVL_DEVICE_IN_FLIGHT runs, or as many as "
      "the "
      "driver says; regions\n"
      " * are loaded and unloaded while there are none. A driver without `submit` (mrvl/device.h) runs "
      "within "
      "{0}_wait. */\n"
      "int {0}_submit(const {0}_inputs* inputs, {0}_outputs* outputs, void* arena, const {0}_device* "
      "device,\n"
      "    {5}mrvl_hook hook, void* user, {0}_flight* flight, {0}_error* error);\n"
      "int {0}_wait({0}_flight* flight, {0}_error* error);\n",
      name, threads ? "  const mrvl_parallel* parallel;\n" : "", kStateWords,
      views == 0 ? std::string() : fmt::format("  int64_t dims[{}][8];\n", views),
      threads ? "parallel, " : "", parallel_parameter(threads));
}

// The region that is handed over: the one that the options name, else the last. While the device computes it,
// the CPU ends the run before and begins the one behind.
size_t RunText::cut_step() const {
  const auto& choose = program_.options.submitted_region;
  const bool several =
      std::ranges::count_if(program_.steps, [](const Step& s) { return s.group.region >= 0; }) > 1;
  std::optional<uint32_t> chosen;
  if (choose && several) chosen = choose(program_.module.conversions);
  size_t last = 0;
  for (size_t s = 0; s < program_.steps.size(); ++s) {
    if (program_.steps[s].group.region < 0) continue;
    last = s;
    if (chosen == region_id(program_.steps[s])) break;
  }
  return last;
}

std::optional<uint32_t> RunText::submitted_region() const {
  if (program_.module.regions.empty() || !flight_obstacle(program_).empty()) return std::nullopt;
  return region_id(program_.steps[cut_step()]);
}

std::vector<std::pair<std::string, std::string>> RunText::halves() {
  if (program_.module.regions.empty() || !flight_obstacle(program_).empty()) return {};
  std::vector<std::pair<std::string, std::string>> both;
  both.emplace_back("_submit", submit_function());
  both.emplace_back("_wait", wait_function());
  return both;
}

std::string RunText::submit_function() {
  out_ = fmt::format(
      "int {0}_submit(const {0}_inputs* inputs, {0}_outputs* outputs, void* arena, const {0}_device* "
      "device,\n"
      "    {1}mrvl_hook hook, void* user, {0}_flight* flight, {0}_error* error) {{\n",
      prefix_, parallel_parameter(takes_threads()));
  put("if (!flight) return {0}_fail(error, {0}_ERROR_ARGUMENT, 0, 0u, \"\");", prefix_);
  put("flight->in_flight = 0;");
  if (arena_.bytes > 0) put("unsigned char* const a = (unsigned char*)arena;\n  (void)a;");
  if (takes_threads()) put("(void)parallel;");
  check_arguments();
  begin_half();
  take_input_dims();
  check_inputs();
  tell(told_values_.at_begin());
  const size_t cut = cut_step();
  for (size_t s = 0; s < cut; ++s) whole_step(program_.steps[s]);
  const Step& handed = program_.steps[cut];
  before_device(handed);
  device_ports(handed);
  put("{}_begin_region(device, {}, port_in, {}u, port_out, {}u, &state);", prefix_, region_id(handed),
      handed.device_inputs.size(), handed.device_outputs.size());
  close();
  keep_flight();
  put("return {}_fail(error, 0, 0, 0u, \"\");", prefix_);
  return std::move(out_) + "}\n";
}

std::string RunText::wait_function() {
  out_ = fmt::format("int {0}_wait({0}_flight* flight, {0}_error* error) {{\n", prefix_);
  put("if (!flight || !flight->in_flight) return {0}_fail(error, {0}_ERROR_ARGUMENT, 0, 0u, \"\");", prefix_);
  put("flight->in_flight = 0;");
  put("const {0}_device* const device = flight->device;", prefix_);
  put("{}_run_state state;\n  memcpy(&state, flight->state, sizeof state);", prefix_);
  const size_t cut = cut_step();
  const Step& handed = program_.steps[cut];
  put("{}_await_region(device, {}, &state);", prefix_, region_id(handed));
  take_flight();
  begin_half();
  size_t row = 0;
  for (const ir::ValueId v : viewed_values())
    put("memcpy({0}.dim, flight->dims[{1}], sizeof {0}.dim);", view_name(v), row++);
  device_call(handed);
  after_device(handed);
  tell(told_values_.behind(handed));
  for (size_t s = cut + 1; s < program_.steps.size(); ++s) whole_step(program_.steps[s]);
  copy_outputs();
  tell_dims();
  put("return {}_end(error, 0, &state);", prefix_);
  return std::move(out_) + "}\n";
}

// The arguments of the run, as NAME_run calls them.
void RunText::take_flight() {
  put("const {0}_inputs* const inputs = flight->inputs;\n  {0}_outputs* const outputs = flight->outputs;",
      prefix_);
  put("const mrvl_hook hook = flight->hook;\n  void* const user = flight->user;");
  put("(void)inputs;\n  (void)outputs;");
  if (arena_.bytes > 0) put("unsigned char* const a = (unsigned char*)flight->arena;\n  (void)a;");
  if (takes_threads()) put("const mrvl_parallel* const parallel = flight->parallel;\n  (void)parallel;");
  take_weights();
}

void RunText::begin_half() {
  out_ += buffer_names_.table();
  put("MRVL_GUARD_ARENA({}, {});", arena_.bytes > 0 ? "a" : "NULL", arena_.bytes);
  if (declare_views()) put("(void)rc;");
}

void RunText::keep_flight() {
  put("memcpy(flight->state, &state, sizeof state);");
  size_t row = 0;
  for (const ir::ValueId v : viewed_values())
    put("memcpy(flight->dims[{1}], {0}.dim, sizeof {0}.dim);", view_name(v), row++);
  for (const std::string_view member : {"inputs", "outputs", "arena", "device", "hook", "user"})
    put("flight->{0} = {0};", member);
  if (takes_threads()) put("flight->parallel = parallel;");
  put("flight->in_flight = 1;");
}

}  // namespace mrvlc::chost
