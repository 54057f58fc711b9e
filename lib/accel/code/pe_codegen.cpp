// PeGroup -> instructions: block by block, every tile its own box of the iteration space.
#include <algorithm>

#include "code/codegen.h"
#include "mrvlc/support/checked.h"
#include "plan/pe_plan.h"
#include "plan/window_plan.h"
#include "primitive/cost_limits.h"

namespace mrvlc::accel {
namespace {

class PeCodegen {
 public:
  PeCodegen(const PeGroup& group, CodegenContext& context)
      : g_(group),
        c_(context),
        writer_(context.writer),
        cut_(context.cuts[context.primitive]),
        slots_(slots_of(group)) {
    int64_t constant_bytes = 0;
    for (const View& v : slots_.inputs)
      if (v.buffer == kWeights) constant_bytes += aligned(view_bytes(v), writer_.machine());
    // Small constants come ahead like weights.
    bool ahead = constant_bytes <= std::min(weight_chunk_bytes(writer_.machine()), c_.budget / 8);
    for (const View& v : slots_.inputs) {
      constant_.push_back(v.buffer == kWeights && ahead);
      input_on_chip_.push_back(constant_.back() || c_.on_chip(v.buffer));
    }
    constants_.resize(slots_.inputs.size());
    for (const View& v : slots_.outputs) output_on_chip_.push_back(c_.on_chip(v.buffer));
    plan_ = plan_pe(g_, cut_, c_.budget - (ahead ? constant_bytes : 0), writer_.machine(), input_on_chip_,
                    output_on_chip_);
  }

  Status run() {
    if (!plan_.fits) return make_diag<DiagCode::MRV0501>(writer_.machine().ocm_bytes);
    stripe_outputs();
    allocate();
    for (const EpilogueSpec& t : slots_.tables) tables_.push_back(c_.tables.item(t, c_.primitive, writer_));
    Dims extents = largest_box(g_, cut_), counts;
    int64_t steps = 1;
    for (size_t d = 0; d < g_.dims.size(); ++d) {
      counts.push_back(ceil_div(extents[d], plan_.block[d]));
      // A step has an instruction for each stage and tile.
      if (counts.back() > kMostInstructions / steps / cut_.parts()) return too_many_instructions();
      steps *= counts.back();
    }
    for (int64_t i = 0; i < steps; ++i) step(i, counts);
    return {};
  }

 private:
  struct Constant {
    uint32_t item = kNoItem;
    std::vector<std::vector<Transfer>> held;
  };

  static int64_t view_bytes(const View& v) {
    int64_t n = isa::data_bytes(v.type);
    for (size_t d = 0; d < v.dims.size(); ++d)
      if (v.strides[d] != 0) n *= v.dims[d];
    return n;
  }

  // What goes to DDR goes in stripes, each while the next is being made.
  void stripe_outputs() {
    constexpr int64_t kStripes = 4, kLeast = 2048;
    bool leaves = false;
    for (size_t k = 0; k < slots_.outputs.size(); ++k) {
      const Buffer& b = c_.program.buffers[slots_.outputs[k].buffer];
      leaves = leaves ||
               (output_on_chip_[k] && b.kind == Buffer::Kind::Output && b.bytes >= kLeast * writer_.tiles());
    }
    size_t rows = pe_axes(g_).rows;
    if (!leaves || !plan_.one_block || rows == g_.dims.size() || plan_.block[rows] < kStripes) return;
    if (plan_.workspace() > 0) return;  // second buffers would be needed
    plan_.block[rows] = ceil_div(plan_.block[rows], kStripes);
  }

  void allocate() {
    Item item;
    item.bytes = plan_.workspace();
    slots_item_ = item.bytes > 0 ? writer_.add_item(std::move(item)) : kNoItem;
    int64_t depth = plan_.one_block ? 1 : 2, at = 0;
    auto n = static_cast<uint32_t>(depth);
    for (int64_t b : plan_.input_bytes) {
      inputs_.emplace_back(slots_item_, at, b, n);
      at += b * depth;
    }
    for (int64_t b : plan_.output_bytes) {
      outputs_.emplace_back(slots_item_, at, b, n);
      at += b * depth;
    }
    for (int64_t b : plan_.temp_bytes) {
      temps_.push_back(at);
      at += b;
    }
  }

  Box box_of(int64_t step, const Dims& counts, uint32_t tile) const {
    Box part = tile_box(g_, cut_, tile), box = part;
    for (size_t d = g_.dims.size(); d-- > 0;) {
      int64_t i = step % counts[d];
      step /= counts[d];
      box.begin[d] = part.begin[d] + i * plan_.block[d];
      box.extent[d] = std::min(plan_.block[d], part.begin[d] + part.extent[d] - box.begin[d]);
    }
    return box;
  }

  Packed pack(const View& v, const Box& box, bool load) const {
    int64_t bytes = isa::data_bytes(v.type);
    return pack_box(c_.program.buffers[v.buffer].ddr + first(v, box) * bytes, v.strides,
                    slot_extents(g_, v, box.extent), bytes, load);
  }

  int64_t first(const View& v, const Box& box) const {
    int64_t element = v.offset;
    for (size_t d = 0; d < g_.dims.size(); ++d) element += box.begin[d] * v.strides[d];
    return element;
  }

  void step(int64_t index, const Dims& counts) {
    writer_.begin_step();
    uint32_t tiles = writer_.tiles();
    std::vector<Box> boxes;
    for (uint32_t t = 0; t < tiles; ++t) boxes.push_back(box_of(index, counts, t));
    std::vector<int64_t> in, out;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (input_on_chip_[k] && !constant_[k]) {
        in.push_back(0);
        continue;
      }
      std::vector<std::vector<Transfer>> wanted(tiles);
      for (uint32_t t = 0; t < tiles; ++t)
        if (!boxes[t].empty()) wanted[t] = {pack(slots_.inputs[k], boxes[t], true).transfer};
      if (constant_[k]) fetch_constant(constants_[k], wanted);
      in.push_back(constant_[k] ? 0 : inputs_[k].fetch(writer_, std::move(wanted)));
    }
    for (OutputSlot& slot : outputs_) out.push_back(slot.next());
    for (const PeStage& s : g_.stages) {
      writer_.set_expr(s.expr);
      for (uint32_t t = 0; t < tiles; ++t)
        if (!boxes[t].empty()) compute(s, t, boxes[t], in, out);
    }
    for (size_t k = 0; k < outputs_.size(); ++k)
      for (uint32_t t = 0; t < tiles; ++t)
        if (!boxes[t].empty()) deliver(k, t, boxes[t], out[k]);
    writer_.end_step();
  }

  void fetch_constant(Constant& c, const std::vector<std::vector<Transfer>>& wanted) {
    if (c.item != kNoItem && covers(c.held, wanted)) return;
    Item item;
    item.kind = backend::MemoryUse::Kind::Weights;
    item.prefetch = true;
    item.loads = multicast(wanted);
    for (const Load& l : item.loads) item.bytes = std::max(item.bytes, l.transfer.ocm + l.transfer.bytes());
    c.item = writer_.add_item(std::move(item));
    c.held = wanted;
  }

  void deliver(size_t k, uint32_t tile, const Box& box, int64_t offset) {
    const View& v = slots_.outputs[k];
    if (!output_on_chip_[k]) return writer_.store(tile, pack(v, box, false).transfer, slots_item_, offset);
    const Box all{box.begin, slot_extents(g_, v, box.extent)};
    c_.exchange(tile, v.buffer, view_rect(v, all, c_.residences[v.buffer].pitch));
  }

  struct Located {
    isa::Operand operand;
    uint32_t item = kNoItem;
  };

  size_t slot_of_input(const View& v) const {
    return static_cast<size_t>(std::ranges::find(slots_.inputs, v) - slots_.inputs.begin());
  }

  // `in`, `out`: where slots lie.
  Located locate(const PeOperand& o, const Box& box, uint32_t tile, const std::vector<size_t>& dims,
                 const std::vector<int64_t>& in, const std::vector<int64_t>& out, bool result) const {
    Located r;
    Dims strides(g_.dims.size(), 0);
    int64_t at = 0;
    r.item = slots_item_;
    if (o.kind == PeOperand::Kind::Temp) {
      const PeTemp& t = g_.temps[o.temp];
      r.operand.type = t.type;
      at = temps_[o.temp];
      int64_t dense = isa::data_bytes(t.type);
      for (size_t d = g_.dims.size(); d-- > 0;) {
        if (!t.spans[d]) continue;
        strides[d] = dense;
        dense *= box.extent[d];
      }
    } else if (c_.on_chip(o.view.buffer)) {
      const Residence& h = c_.residences[o.view.buffer];
      int64_t bytes = isa::data_bytes(o.view.type);
      r.operand.type = o.view.type;
      r.operand.quantization = o.view.quantization;
      r.item = c_.tensor_item(o.view.buffer);
      at = h.offset(tile, first(o.view, box) * bytes);
      for (size_t d = 0; d < strides.size(); ++d) strides[d] = h.stride(o.view.strides[d] * bytes);
    } else {
      const size_t input = slot_of_input(o.view);
      const bool made = result || input == slots_.inputs.size();  // by a stage of the group
      const size_t k = made ? output_slot(slots_, o.view) : input;
      const View& slot = made ? slots_.outputs[k] : slots_.inputs[k];
      Packed p = pack(slot, box, !made);
      r.operand.type = o.view.type;
      r.operand.quantization = o.view.quantization;
      at = (made ? out : in)[k] + p.origin + (o.view.offset - slot.offset) * isa::data_bytes(slot.type);
      strides = p.strides;
      if (!made && constant_[k]) r.item = constants_[k].item;
    }
    r.operand.address = static_cast<uint32_t>(at);
    for (size_t k = 0; k < dims.size(); ++k)
      r.operand.strides[5 - dims.size() + k] = static_cast<int32_t>(strides[dims[k]]);
    return r;
  }

  void compute(const PeStage& s, uint32_t tile, const Box& box, const std::vector<int64_t>& in,
               const std::vector<int64_t>& out) {
    std::vector<size_t> dims;
    for (size_t d = 0; d < g_.dims.size(); ++d)
      if (box.extent[d] > 1 && (s.reduce || spans(g_, s.dst, d))) dims.push_back(d);
    std::array<uint32_t, 5> extents = {1, 1, 1, 1, 1};
    for (size_t k = 0; k < dims.size(); ++k)
      extents[5 - dims.size() + k] = static_cast<uint32_t>(box.extent[dims[k]]);
    ItemRefs refs = kNoItems;
    for (size_t k = 0; k < tables_.size(); ++k)
      if (slots_.tables[k].table == s.epilogue.table) refs[5] = tables_[k];
    Located dst = locate(s.dst, box, tile, dims, in, out, true), a, b;
    if (s.a.kind != PeOperand::Kind::None) a = locate(s.a, box, tile, dims, in, out, false);
    if (s.b.kind != PeOperand::Kind::None) b = locate(s.b, box, tile, dims, in, out, false);
    refs[0] = a.item;
    refs[1] = b.item;
    refs[4] = dst.item;
    if (s.reduce) {
      writer_.emit(
          tile, isa::Queue::Pe,
          isa::Reduce{s.reduce_op, s.alpha, s.beta, extents, dst.operand, a.operand, epilogue_of(s.epilogue)},
          refs);
    } else {
      writer_.emit(tile, isa::Queue::Pe,
                   isa::Elementwise{s.op, s.alpha, s.beta, extents, dst.operand, a.operand, b.operand,
                                    epilogue_of(s.epilogue)},
                   refs);
    }
  }

  const PeGroup& g_;
  CodegenContext& c_;
  StepWriter& writer_;
  const Cut& cut_;
  PeSlots slots_;
  std::vector<bool> input_on_chip_, output_on_chip_, constant_;  // by slot
  std::vector<Constant> constants_;
  PePlan plan_;
  uint32_t slots_item_ = kNoItem;
  std::vector<InputSlot> inputs_;
  std::vector<OutputSlot> outputs_;
  std::vector<int64_t> temps_;
  std::vector<uint32_t> tables_;
};

}  // namespace

Status generate(const PeGroup& group, CodegenContext& context) {
  context.writer.set_owner(group.owner);
  return PeCodegen(group, context).run();
}

}  // namespace mrvlc::accel
