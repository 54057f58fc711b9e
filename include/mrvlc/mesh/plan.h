// mesh.json: which part of which layer every PE computes, where it lies in the PE's memory, and what is sent
// to whom. The schema is docs/schemas/mesh.schema.json.
#pragma once
#include <span>
#include <string_view>

#include "mrvlc/mesh/machine.h"

namespace mrvlc::mesh {

// How elements of a tensor are stored.
enum class Elem : uint8_t { I8, U8, I32, F32 };
inline std::span<const std::string_view> words(Elem) {
  static constexpr std::string_view kWords[] = {"i8", "u8", "i32", "f32"};
  return kWords;
}
inline int64_t size_of(Elem elem) {
  return elem == Elem::I8 || elem == Elem::U8 ? 1 : 4;
}

// A value that goes from PE to PE: rows of `width` pixels of `channels` elements, in this order.
struct Tensor3 {
  std::string name;
  Elem elem = Elem::I8;
  int64_t rows = 1, width = 1, channels = 1;
  static void fields(auto& f, auto& s) {
    f("name", s.name)("elem", s.elem)("rows", s.rows)("width", s.width)("channels", s.channels);
  }
};

// An input or output of the model. Element (row, x, channel) is element row * strides[0] + x * strides[1] +
// channel * strides[2] of the model's array.
struct HostPort {
  std::string name, file;  // of the model, and in names of files
  uint32_t tensor = 0;
  std::vector<int64_t> shape, strides;
  static void fields(auto& f, auto& s) {
    f("name", s.name)("file", s.file)("tensor", s.tensor)("shape", s.shape)("strides", s.strides);
  }
};

// Rows and channels of a tensor; all of its width.
struct Box {
  int64_t row = 0, rows = 0, channel = 0, channels = 0;
  static void fields(auto& f, auto& s) {
    f("row", s.row)("rows", s.rows)("channel", s.channel)("channels", s.channels);
  }
  bool operator==(const Box&) const = default;
};

enum class Kind : uint8_t { Conv, Pool, Map, Softmax, Move };
inline std::span<const std::string_view> words(Kind) {
  static constexpr std::string_view kWords[] = {"conv", "pool", "map", "softmax", "move"};
  return kWords;
}

// What rows of a window's operand its result needs; of channels those of its groups.
struct Window {
  int64_t kernel = 1, stride = 1, dilation = 1, pad = 0, group = 1;
  static void fields(auto& f, auto& s) {
    f("kernel", s.kernel)("stride", s.stride)("dilation", s.dilation)("pad", s.pad)("group", s.group);
  }
};

struct PlannedLayer {
  std::string node, op;  // of the model
  Kind kind = Kind::Map;
  std::vector<uint32_t> inputs;  // tensors
  uint32_t output = 0;
  Window window;
  static void fields(auto& f, auto& s) {
    f("node", s.node)("op", s.op)("kind", s.kind)("inputs", s.inputs)("output", s.output)("window", s.window);
  }
};

// Memory of a PE that takes a part of a layer's operand; `slots` images at a time.
struct Inbox {
  Box box;
  uint64_t offset = 0, bytes = 0;  // of one slot
  uint32_t slots = 1;
  static void fields(auto& f, auto& s) {
    f("box", s.box)("offset", s.offset)("bytes", s.bytes)("slots", s.slots);
  }
};

// A part of a layer. A PE carries out its tasks in ascending order, once for every image.
struct Task {
  uint32_t layer = 0, pe = 0;
  Box box;                         // of the result
  uint64_t offset = 0, bytes = 0;  // where it lies until it is sent
  std::vector<Inbox> inboxes;      // by operand
  static void fields(auto& f, auto& s) {
    f("layer", s.layer)("pe", s.pe)("box", s.box)("offset", s.offset)("bytes", s.bytes)("inboxes", s.inboxes);
  }
};

// `count` pieces of `run` bytes, `from_step` bytes apart in the sender, `to_step` in the receiver. `credits`
// messages may be on their way or unread.
struct Edge {
  uint32_t from = 0, to = 0;         // tasks; kHost: the host
  uint32_t from_port = 0, port = 0;  // the model's input, of kHost; the operand, of kHost the model's output
  uint64_t count = 0, run = 0, from_offset = 0, from_step = 0, to_offset = 0, to_step = 0;
  uint32_t credits = 1;
  std::vector<uint32_t> route;  // chips
  static void fields(auto& f, auto& s) {
    f("from", s.from)("to", s.to)("from_port", s.from_port)("port", s.port)("count", s.count)("run", s.run);
    f("from_offset", s.from_offset)("from_step", s.from_step)("to_offset", s.to_offset)("to_step", s.to_step);
    f("credits", s.credits)("route", s.route);
  }
};
inline constexpr uint32_t kHost = 0xffffffffu;

struct PlannedPe {
  uint32_t chip = 0, core = 0, program = 0;                    // program: an index into Plan::programs
  uint64_t memory_bytes = 0, blob_offset = 0, blob_bytes = 0;  // the blob is where memory begins
  static void fields(auto& f, auto& s) {
    f("chip", s.chip)("core", s.core)("program", s.program)("memory_bytes", s.memory_bytes);
    f("blob_offset", s.blob_offset)("blob_bytes", s.blob_bytes);
  }
};

// C that PEs share which differ in data only.
struct ProgramFile {
  std::string file, sha256;
  static void fields(auto& f, auto& s) { f("file", s.file)("sha256", s.sha256); }
};

struct Plan {
  Machine machine;
  std::vector<Tensor3> tensors;
  std::vector<HostPort> inputs, outputs;
  std::vector<PlannedLayer> layers;  // operands' producers before readers
  std::vector<ProgramFile> programs;
  std::vector<PlannedPe> pes;
  std::vector<Task> tasks;
  std::vector<Edge> edges;
  static void fields(auto& f, auto& s) {
    f.schema("mrvlc-mesh-1");
    f("machine", s.machine)("tensors", s.tensors)("inputs", s.inputs)("outputs", s.outputs)("layers",
                                                                                            s.layers);
    f("programs", s.programs)("pes", s.pes)("tasks", s.tasks)("edges", s.edges);
  }
};

// Which part of an operand a part of a layer's result needs.
Box needed(const PlannedLayer& layer, const Tensor3& result, const Tensor3& operand, const Box& box);

}  // namespace mrvlc::mesh
