// What a compile reports: report.json, member by member (docs/schemas/report.schema.json). Summary, gates,
// report.txt and report.html are renderings of it; who reads report.json reads it into the same.
#pragma once
#include "mrvlc/quantize/quantize.h"
#include "mrvlc/support/json_fields.h"
#include "size/object_file.h"

namespace mrvlc::json {

template <>
struct Table<quantize::ChoiceReport> {
  static void fields(auto& f, auto& c) {
    f("asked", c.asked)("error_of_floats", c.error_of_floats)("error_of_integers", c.error_of_integers)(
        "runs", c.runs)("samples", c.samples)("time_of_floats", c.time_of_floats)(
        "time_of_integers", c.time_of_integers)("time", c.time);
  }
};

template <>
struct Table<driver::Sections> {
  static void fields(auto& f, auto& s) {
    f("text_bytes", s.text)("rodata_bytes", s.rodata)("data_bytes", s.data)("bss_bytes", s.bss);
  }
};

}  // namespace mrvlc::json

namespace mrvlc::driver {

using json::Number;

struct ReportedModel {
  std::string name = {}, sha256 = {};
  std::optional<json::Dictionary<json::Lines>> metadata = {};
  static void fields(auto& f, auto& m) { f("name", m.name)("sha256", m.sha256)("metadata", m.metadata); }
};

struct ReportedTarget {
  std::string name = {};
  uint32_t tiles = 0;  // 0: there is no accelerator
  std::string precision = {};
  static void fields(auto& f, auto& t) { f("name", t.name)("tiles", t.tiles)("precision", t.precision); }
};

struct ReportedQuantization {
  size_t layers = 0;
  int64_t layers_in_integers = 0;
  size_t samples = 0, validation = 0;
  double error = 0;
  int64_t float_weight_bytes = 0, weight_bytes = 0;
  std::optional<quantize::ChoiceReport> choice = {};
  static void fields(auto& f, auto& q) {
    f("layers", q.layers)("layers_in_integers", q.layers_in_integers)("samples", q.samples)(
        "validation", q.validation)("error", q.error)("float_weight_bytes", q.float_weight_bytes)(
        "weight_bytes", q.weight_bytes)("choice", q.choice);
  }
};

struct ReportedLibrary {
  std::string target = {};
  int64_t calls = 0, macs = 0;
  double mac_share = 0;
  static void fields(auto& f, auto& l) {
    f("target", l.target)("calls", l.calls)("macs", l.macs)("mac_share", l.mac_share);
  }
};

// ONNX nodes and multiply-accumulates by where they run.
struct ReportedPlacement {
  size_t onnx_nodes = 0, accelerator = 0, both = 0, cpu = 0, folded = 0;
  int64_t macs = 0, macs_accelerator = 0, macs_cpu = 0;
  double mac_share_accelerator = 0;
  std::vector<ReportedLibrary> libraries = {};
  static void fields(auto& f, auto& p) {
    f("onnx_nodes", p.onnx_nodes)("accelerator", p.accelerator)("both", p.both)("cpu", p.cpu)(
        "folded", p.folded)("macs", p.macs)("macs_accelerator", p.macs_accelerator)("macs_cpu", p.macs_cpu)(
        "mac_share_accelerator", p.mac_share_accelerator)
        .some("libraries", p.libraries);
  }
};

// A value that the host converts for a region.
struct ReportedCrossing {
  std::string value = {};
  int64_t bytes = 0;  // read and written
  std::string conversion = {};
  double seconds = 0;
  static void fields(auto& f, auto& c) {
    f("value", c.value)("bytes", c.bytes)("conversion", c.conversion)("seconds", c.seconds);
  }
};

struct ReportedRegion {
  uint32_t id = 0;
  std::string file = {};
  size_t layers = 0;
  uint64_t macs = 0, executed_macs = 0;
  std::vector<uint64_t> layer_macs = {};
  uint64_t cycles = 0, cycles_pessimistic = 0, lower_bound_cycles = 0;  // 0: not known
  uint64_t ddr_read_bytes = 0, ddr_write_bytes = 0, fetched_bytes = 0;
  uint64_t ocm_peak_bytes = 0, ocm_highest_address_bytes = 0;  // of a tile
  int64_t ocm_tensor_peak_bytes = 0, ocm_tensor_lower_bound_bytes = 0;
  uint64_t weights_bytes = 0;
  double pod_utilization = 0, pod_busy = 0;
  std::optional<std::string> target = {};  // where there are several accelerators
  double seconds = 0, launch_seconds = 0;
  std::vector<ReportedCrossing> in = {}, out = {};
  static void fields(auto& f, auto& r) {
    f("id", r.id)("file", r.file)("layers", r.layers)("macs", r.macs)("executed_macs", r.executed_macs)(
        "layer_macs", r.layer_macs)("cycles", r.cycles)("cycles_pessimistic", r.cycles_pessimistic)(
        "lower_bound_cycles", r.lower_bound_cycles)("ddr_read_bytes", r.ddr_read_bytes)(
        "ddr_write_bytes", r.ddr_write_bytes)("fetched_bytes", r.fetched_bytes)(
        "ocm_peak_bytes", r.ocm_peak_bytes)("ocm_highest_address_bytes", r.ocm_highest_address_bytes)(
        "ocm_tensor_peak_bytes", r.ocm_tensor_peak_bytes)(
        "ocm_tensor_lower_bound_bytes", r.ocm_tensor_lower_bound_bytes)("weights_bytes", r.weights_bytes)(
        "pod_utilization", r.pod_utilization)("pod_busy", r.pod_busy)("target", r.target)(
        "seconds", r.seconds)("launch_seconds", r.launch_seconds)("in", r.in)("out", r.out);
  }
};

struct ReportedConversion {
  uint32_t region = 0;
  std::string value = {}, to = {};
  bool permuted = false;
  int64_t elements = 0, host_bytes = 0, device_bytes = 0;
  static void fields(auto& f, auto& c) {
    f("region", c.region)("value", c.value)("to", c.to)("permuted", c.permuted)("elements", c.elements)(
        "host_bytes", c.host_bytes)("device_bytes", c.device_bytes);
  }
};

// A convolution by Winograd's algorithm.
struct ReportedWinograd {
  uint32_t expr_id = 0;
  std::string name = {};
  int64_t tile = 0;
  double error_estimate = 0;
  int64_t weights_bytes = 0;
  static void fields(auto& f, auto& w) {
    f("expr_id", w.expr_id)("name", w.name)("tile", w.tile)("error_estimate", w.error_estimate)(
        "weights_bytes", w.weights_bytes);
  }
};

struct ReportedFrame {
  std::string function = {};
  int64_t bytes = 0;
  std::optional<bool> fixed = {};  // false: the frame depends on data
  std::optional<uint32_t> expr_id = {};
  static void fields(auto& f, auto& s) {
    f("function", s.function)("bytes", s.bytes)("fixed", s.fixed)("expr_id", s.expr_id);
  }
};

struct ReportedStack {
  int64_t worst_frame_bytes = 0;
  std::string worst_function = {};
  size_t functions = 0;
  std::vector<ReportedFrame> frames = {};  // some of them, the largest first
  static void fields(auto& f, auto& s) {
    f("worst_frame_bytes", s.worst_frame_bytes)("worst_function", s.worst_function)("functions", s.functions)(
        "frames", s.frames);
  }
};

struct ReportedFile {
  std::string file = {};
  Sections sections = {};
  static void fields(auto& f, auto& s) { json::Table<Sections>::fields(f("file", s.file), s.sections); }
};

// Of --measure-size.
struct ReportedSize {
  std::string compiler = {};
  Sections sections = {};
  int64_t ram_bytes = 0;  // arena, data and bss
  std::vector<ReportedFile> files = {};
  std::optional<ReportedStack> stack = {};  // nullopt: the compiler does not tell
  static void fields(auto& f, auto& s) {
    json::Table<Sections>::fields(f("compiler", s.compiler), s.sections);
    f("ram_bytes", s.ram_bytes)("files", s.files)("stack", s.stack);
  }
};

// Of --host-weights fp16.
// Of --state.
struct ReportedState {
  std::string input = {}, output = {};
  int64_t bytes = 0;
  bool in_place = false;
  std::optional<std::string> obstacle = {};  // what keeps it from being worked on in place
  static void fields(auto& f, auto& s) {
    f("input", s.input)("output", s.output)("bytes", s.bytes)("in_place", s.in_place)("obstacle", s.obstacle);
  }
};

struct ReportedHalfWeights {
  int64_t tensors = 0, tensors_fp32 = 0, bytes = 0, bytes_fp32 = 0, zeros = 0;
  double largest_error = 0;
  std::optional<std::string> largest_error_node = {};
  static void fields(auto& f, auto& h) {
    f("tensors", h.tensors)("tensors_fp32", h.tensors_fp32)("bytes", h.bytes)("bytes_fp32", h.bytes_fp32)(
        "zeros", h.zeros)("largest_error", h.largest_error)("largest_error_node", h.largest_error_node);
  }
};

struct ReportedTuning {
  size_t layers = 0;
  int64_t tuned = 0;
  static void fields(auto& f, auto& t) { f("layers", t.layers)("tuned", t.tuned); }
};

struct ReportedNode {
  uint32_t expr_id = 0;
  std::string name = {}, op_type = {}, code = {};
  size_t step = 0;        // index into ReportedPartition::steps
  std::string rate = {};  // of the host model
  double seconds = 0;
  static void fields(auto& f, auto& n) {
    f("expr_id", n.expr_id)("name", n.name)("op_type", n.op_type)("code", n.code)("step", n.step)(
        "rate", n.rate)("seconds", n.seconds);
  }
};

struct ReportedHost {
  int64_t arena_bytes = 0, arena_lower_bound_bytes = 0, weights_bytes = 0;
  std::string weights = {};
  int64_t macs = 0, conversion_bytes = 0;
  double conversion_seconds_estimate = 0;
  std::vector<ReportedConversion> conversions = {};
  std::vector<ReportedWinograd> winograd = {};
  std::optional<ReportedSize> size = {};
  std::optional<ReportedHalfWeights> half_weights = {};
  std::optional<ReportedTuning> tuning = {};
  std::vector<ReportedState> states = {};
  std::vector<ReportedNode> nodes = {};  // of many those that take longest
  static void fields(auto& f, auto& h) {
    f("arena_bytes", h.arena_bytes)("arena_lower_bound_bytes", h.arena_lower_bound_bytes)(
        "weights_bytes", h.weights_bytes)("weights", h.weights)("macs", h.macs)(
        "conversion_bytes", h.conversion_bytes)("conversion_seconds_estimate", h.conversion_seconds_estimate)(
        "conversions", h.conversions)
        .added("winograd", h.winograd)("size", h.size)("half_weights", h.half_weights)("tuning", h.tuning)(
            "nodes", h.nodes)
        .some("states", h.states);
  }
};

// Stored values by how their range is known.
struct ReportedRanges {
  int64_t proved = 0, observed = 0, unknown = 0;
  static void fields(auto& f, auto& r) {
    f("proved", r.proved)("observed", r.observed)("unknown", r.unknown);
  }
};

struct ReportedLimit {
  std::string input = {};
  double min = 0, max = 0;
  std::optional<double> smallest = {};  // the largest magnitude among the elements is at least that
  std::optional<bool> zero = {};        // with `smallest`: an input of zeros is well
  static void fields(auto& f, auto& l) {
    f("input", l.input)("min", l.min)("max", l.max)("smallest", l.smallest)("zero", l.zero);
  }
};

struct ReportedOutput {
  std::string name = {};
  double error = 0;
  std::optional<double> in_front = {};
  std::optional<std::string> front = {};
  bool hardly_moves = false;
  std::optional<double> relative = {};  // of small outputs
  int64_t elements_differing = 0;
  static void fields(auto& f, auto& o) {
    f("name", o.name)("error", o.error)
        .null_or("in_front", o.in_front)
        .null_or("front", o.front)("hardly_moves", o.hardly_moves)("relative", o.relative)(
            "elements_differing", o.elements_differing);
  }
};

struct ReportedBeyond {
  std::string value = {}, node = {}, op_type = {};
  double max_abs = 0;
  std::string stored = {}, seen_in = {};
  static void fields(auto& f, auto& b) {
    f("value", b.value)("node", b.node)("op_type", b.op_type)("max_abs", b.max_abs)("stored", b.stored)(
        "seen_in", b.seen_in);
  }
};

struct ReportedAccuracy {
  std::optional<double> expected_error = {}, median_error = {}, p95_error = {};  // nullopt: not known
  std::string how = {}, worst_value = {}, reason = {};
  size_t samples = 0;
  std::optional<double> asked = {}, predicted = {};
  int64_t kept_as_pairs = 0, kept_scaled = 0;
  size_t runs = 0;
  double warning_above = 0;
  ReportedRanges known = {};
  std::vector<ReportedLimit> input_limits = {};
  std::vector<ReportedOutput> outputs = {};
  std::vector<ReportedBeyond> beyond_fp16 = {};
  static void fields(auto& f, auto& a) {
    f.null_or("expected_error", a.expected_error)
        .null_or("median_error", a.median_error)
        .null_or("p95_error", a.p95_error)("how", a.how)("worst_value", a.worst_value)("reason", a.reason)(
            "samples", a.samples)
        .null_or("asked", a.asked)
        .null_or("predicted", a.predicted)("kept_as_pairs", a.kept_as_pairs)("kept_scaled", a.kept_scaled)(
            "runs", a.runs)("warning_above", a.warning_above)("known", a.known)(
            "input_limits", a.input_limits)("outputs", a.outputs)("beyond_fp16", a.beyond_fp16);
  }
};

// Two runs at once, by NAME_submit and NAME_wait: from one result to the next.
struct ReportedInFlight {
  double seconds = 0, inferences_per_second = 0;
  double inferences_per_second_device = 0;  // without the host and its borders, however many runs
  std::string bound_by = {};                // "device", "host": who works all the time
  uint32_t region = 0;                      // that NAME_submit hands over
  static void fields(auto& f, auto& e) {
    f("seconds", e.seconds)("inferences_per_second", e.inferences_per_second)(
        "inferences_per_second_device", e.inferences_per_second_device)("bound_by", e.bound_by)("region",
                                                                                                e.region);
  }
};

// Expected seconds of one run, by who spends them.
struct ExpectedTime {
  double seconds = 0, host_only = 0;
  std::optional<double> device = {};  // nullopt: a target does not tell
  double launches = 0, borders = 0, host = 0;
  std::optional<double> inferences_per_second = {};
  std::optional<std::string> bound_by = {};
  std::string host_model = {};  // what the host model was measured on
  // nullopt: no region is submitted, or a target does not tell its times
  std::optional<ReportedInFlight> two_in_flight = {};
  static void fields(auto& f, auto& e) {
    f("seconds", e.seconds)("seconds_host_only", e.host_only)
        .null_or("seconds_device", e.device)("seconds_launches", e.launches)("seconds_borders", e.borders)(
            "seconds_host", e.host)
        .null_or("inferences_per_second", e.inferences_per_second)
        .null_or("bound_by", e.bound_by)
        .added("host_model", e.host_model)("two_in_flight", e.two_in_flight);
  }
};

// A region, or ONNX nodes that the host computes one after the other.
struct ReportedStep {
  std::optional<uint32_t> region = {};  // id
  std::optional<size_t> host_nodes = {};
  double seconds = 0;
  static void fields(auto& f, auto& s) {
    f("region", s.region)("host_nodes", s.host_nodes)("seconds", s.seconds);
  }
};

struct ReportedPartition {
  std::string mode = {};
  double seconds = 0, seconds_host_only = 0, seconds_greedy = 0, host_seconds = 0;
  std::vector<ReportedStep> steps = {};  // the program, in order
  static void fields(auto& f, auto& p) {
    f("mode", p.mode)("seconds", p.seconds)("seconds_host_only", p.seconds_host_only)(
        "seconds_greedy", p.seconds_greedy)("host_seconds", p.host_seconds)("steps", p.steps);
  }
};

struct ReportedGate {
  std::string option = {};
  Number limit = {};
  std::optional<Number> value = {};  // nullopt: not known
  bool passed = false;
  static void fields(auto& f, auto& g) {
    f("option", g.option)("limit", g.limit).null_or("value", g.value)("passed", g.passed);
  }
};

struct Report {
  ReportedModel model;
  ReportedTarget target;
  std::optional<ReportedQuantization> quantization;
  ReportedPlacement placement;
  std::vector<ReportedRegion> regions;
  ReportedHost host;
  ReportedAccuracy accuracy;
  ExpectedTime expected;
  ReportedPartition partition;
  std::vector<ReportedGate> gates;
  static void fields(auto& f, auto& r) {
    f.schema("mrvlc-report-1")("model", r.model)("target", r.target)("quantization", r.quantization)(
         "placement", r.placement)("regions", r.regions)("host", r.host)("accuracy", r.accuracy)(
         "expected", r.expected)("partition", r.partition)
        .some("gates", r.gates);
  }
};

}  // namespace mrvlc::driver
