// The functions that mrvlc calls: layers are checked, regions compiled, and their bytes run and listed.
#include "mrvl/plugin.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "emit.h"
#include "image.h"
#include "region.h"
#include "run.h"
#include "timeline.h"

namespace vta {
namespace {

thread_local std::string last_error;  // `run` may be called from several threads

struct State {
  Refusal refusal;
  uint32_t board = 0;
  std::vector<uint8_t> bytes;
  std::vector<mrvl_plugin_range> ranges;
  std::vector<uint64_t> range_cycles;
  std::vector<uint8_t> listed;  // the bytes that `image` was read from
  Image image;
};
State state;

// What a function returns where `body` throws.
template <class Body>
int guarded(Body body) {
  try {
    return body();
  } catch (const Refusal& r) {
    last_error = r.reason;
  } catch (const std::exception& e) {
    last_error = e.what();
  }
  return -1;
}

constexpr uint64_t kPage = 4096;

class Compiler {
 public:
  Compiler(const mrvl_plugin_region& region, uint32_t board) : region_(region), board_(board) {}

  void compile() {
    for (uint32_t i = 0; i < region_.layer_count; ++i) layers_.push_back(read_layer(region_, i));
    place_tensors();
    for (const Layer& layer : layers_) {
      if (layer.index) barrier(layer.index);
      emit_layer(program_, layer, choose_tiling(layer, kBoards[board_]));
    }
    stream_ = finish(program_);
    time_ = timeline(stream_, kBoards[board_], region_.layer_count);
    build_image();
    set_ranges();
    state.bytes = write_image(image_);
  }
  uint64_t cycles() const { return time_.cycles; }

 private:
  void barrier(uint32_t layer) {
    Step step;
    step.barrier = true;
    step.layer = layer;
    program_.steps.push_back(std::move(step));
  }

  void place_tensors() {
    tensors_.assign(region_.value_count, nullptr);
    for (const Layer& layer : layers_) {
      for (const Term& t : layer.terms) tensors_[t.input.value] = &t.input;
      tensors_[layer.output.value] = &layer.output;
    }
    program_.tensor_at.assign(region_.value_count, 0);
    for (uint32_t v = 0; v < region_.value_count; ++v)
      if (tensors_[v]) program_.tensor_at[v] = grow(tensor_bytes_, tensors_[v]->elements() * 16) / 16;
  }

  static uint64_t grow(uint64_t& end, uint64_t bytes) {
    const uint64_t at = end;
    end += (bytes + kPage - 1) / kPage * kPage;
    return at;
  }

  void build_image() {
    image_.board = board_;
    image_.weights = std::move(program_.weights);
    image_.biases = std::move(program_.biases);
    image_.uops = std::move(stream_.uops);
    image_.instructions = std::move(stream_.instructions);
    uint64_t end = 0;
    const auto add = [&](SectionKind kind, uint64_t bytes) {
      image_.sections.push_back({kind, grow(end, bytes), bytes});
    };
    add(kInstructions, image_.instructions.size() * 16);
    add(kMicroOps, image_.uops.size() * 4);
    add(kWeights, image_.weights.size());
    add(kBiases, image_.biases.size() * 4);
    section_of_value_.assign(region_.value_count, kNoSection);
    const uint64_t tensors = end;
    for (uint32_t v = 0; v < region_.value_count; ++v) {
      if (!tensors_[v]) continue;
      section_of_value_[v] = static_cast<uint32_t>(image_.sections.size());
      add(kTensor, tensors_[v]->elements() * 16);
    }
    image_.memory_bytes = end;
    for (Instruction& i : image_.instructions) relocate(i, tensors);
    for (uint32_t k = 0; k < region_.input_count; ++k) image_.inputs.push_back(port(region_.inputs[k]));
    for (uint32_t k = 0; k < region_.output_count; ++k) image_.outputs.push_back(port(region_.outputs[k]));
  }

  // From an address in its section to one in the region's memory.
  void relocate(Instruction& i, uint64_t tensors) {
    image_.section_of.push_back(kNoSection);
    if (!i.moves() || i.x == 0) return;
    static constexpr SectionKind kSections[] = {kMicroOps, kWeights, kTensor, kBiases, kTensor};
    const SectionKind kind = kSections[i.memory];
    const uint64_t each = kElementBytes[i.memory];
    const uint64_t from = kind == kTensor ? tensors : image_.sections[kind].offset;
    const uint64_t at = from + i.dram * each;
    uint32_t section = kind;
    while (kind == kTensor && section + 1 < image_.sections.size() &&
           image_.sections[section + 1].offset <= at)
      ++section;
    image_.section_of.back() = section;
    i.dram = static_cast<uint32_t>(at / each);
  }

  Port port(uint32_t value) const {
    const Tensor* t = tensors_[value];
    if (!t) throw std::runtime_error("a port is of no layer");
    return {section_of_value_[value], t->last ? 1u : 0u, t->n, t->c, t->h, t->w};
  }

  // A layer's instructions follow each other; FINISH is of the last.
  void set_ranges() {
    state.ranges.clear();
    state.range_cycles.clear();
    for (uint32_t k = 0; k < stream_.layer_of.size(); ++k) {
      const uint32_t layer = stream_.layer_of[k];
      if (k && stream_.layer_of[k - 1] == layer) {
        ++state.ranges.back().end;
        continue;
      }
      state.ranges.push_back({k, k + 1, layer, layers_[layer].node});
      state.range_cycles.push_back(time_.layers[layer][1] - time_.layers[layer][0]);
    }
  }

  const mrvl_plugin_region& region_;
  uint32_t board_;
  std::vector<Layer> layers_;
  std::vector<const Tensor*> tensors_;  // by value
  std::vector<uint32_t> section_of_value_;
  uint64_t tensor_bytes_ = 0;
  Program program_;
  Stream stream_;
  Timeline time_;
  Image image_;
};

const char* error(void*) {
  return last_error.c_str();
}

int legal(void*, const mrvl_plugin_region* region, mrvl_plugin_answer* answer) {
  return guarded([&] {
    try {
      for (uint32_t i = 0; i < region->layer_count; ++i)
        choose_tiling(read_layer(*region, i), kBoards[state.board]);
      return 1;
    } catch (const Refusal& r) {
      state.refusal = r;
      answer->condition = state.refusal.condition.c_str();
      answer->actual = state.refusal.actual.c_str();
      answer->limit = state.refusal.limit.c_str();
      answer->reason = state.refusal.reason.c_str();
      return 0;
    }
  });
}

int cost(void*, const mrvl_plugin_region* region, double* seconds) {
  return guarded([&] {
    const Board& board = kBoards[state.board];
    *seconds = 0;
    for (uint32_t i = 0; i < region->layer_count; ++i)
      *seconds += choose_tiling(read_layer(*region, i), board).cycles / (board.megahertz * 1e6);
    return 0;
  });
}

int encode_region(void*, const mrvl_plugin_region* region, mrvl_plugin_code* code) {
  return guarded([&] {
    Compiler compiler(*region, state.board);
    compiler.compile();
    code->bytes = state.bytes.data();
    code->byte_count = state.bytes.size();
    code->ranges = state.ranges.data();
    code->range_count = static_cast<uint32_t>(state.ranges.size());
    code->cycles = compiler.cycles();
    code->range_cycles = state.range_cycles.data();
    return 0;
  });
}

int run(void*, const void* bytes, uint64_t byte_count, const mrvl_input* inputs, size_t input_count,
        const mrvl_output* outputs, size_t output_count) {
  return guarded([&] {
    run_image(read_image(static_cast<const uint8_t*>(bytes), byte_count), inputs, input_count, outputs,
              output_count);
    return 0;
  });
}

int configure(void*, const mrvl_plugin_option* options, uint32_t count) {
  return guarded([&] {
    for (uint32_t i = 0; i < count; ++i) {
      if (std::string_view(options[i].key) != "board")
        throw std::runtime_error(std::string("no option ") + options[i].key);
      uint32_t b = 0;
      while (b < kBoards.size() && std::string_view(options[i].value) != kBoards[b].name) ++b;
      if (b == kBoards.size()) throw std::runtime_error(std::string("no board ") + options[i].value);
      state.board = b;
    }
    return 0;
  });
}

int disassemble(void*, const void* bytes, uint64_t byte_count, uint32_t instruction, char* line,
                size_t room) {
  return guarded([&] {
    const auto* from = static_cast<const uint8_t*>(bytes);
    if (state.listed.size() != byte_count || std::memcmp(state.listed.data(), from, byte_count) != 0) {
      state.image = read_image(from, byte_count);
      state.listed.assign(from, from + byte_count);
    }
    if (instruction >= state.image.instructions.size() || room == 0)
      throw std::runtime_error("no such instruction");
    const std::string made = text(state.image.instructions[instruction]);
    const size_t length = std::min(made.size(), room - 1);
    std::memcpy(line, made.data(), length);
    line[length] = 0;
    return 0;
  });
}

}  // namespace
}  // namespace vta

extern "C" const mrvl_plugin* mrvl_plugin_open(void) {
  static const mrvl_plugin table = {
      MRVL_PLUGIN_VERSION, sizeof table,       "vta",    nullptr,        vta::error,      vta::legal,
      vta::cost,           vta::encode_region, vta::run, vta::configure, vta::disassemble};
  return &table;
}
