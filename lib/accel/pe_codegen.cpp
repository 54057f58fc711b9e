// PeGroup -> instructions: block by block, every tile its own box of the iteration space.
#include <algorithm>

#include "codegen.h"
#include "mrvlc/support/checked.h"
#include "pe_plan.h"

namespace mrvlc::accel {
namespace {

struct Box {
  Dims begin, extent;
  bool empty = false;
};

class PeCodegen {
 public:
  PeCodegen(const PeGroup& group, const Program& program, Emitter& emitter)
      : g_(group),
        program_(program),
        e_(emitter),
        slots_(slots_of(group)),
        plan_(plan_pe(group, emitter.machine(), emitter.tiles())) {
    allocate();
  }

  std::string run() {
    load_tables();
    Dims counts;
    for (size_t d = 0; d < g_.dims.size(); ++d)
      counts.push_back(ceil_div(d == plan_.cut ? plan_.share : g_.dims[d], plan_.block[d]));
    int64_t steps = 1;
    for (int64_t c : counts) steps *= c;
    for (int64_t i = 0; i < steps; ++i) step(i, counts);
    return plan_.share < g_.dims[plan_.cut] ? "elements x " + std::to_string(e_.tiles()) : "one tile";
  }

 private:
  void allocate() {
    int64_t depth = plan_.one_block ? 1 : 2, total = 0;
    for (int64_t b : plan_.input_bytes) total += b * depth;
    for (int64_t b : plan_.output_bytes) total += b * depth;
    for (int64_t b : plan_.temp_bytes) total += b;
    total += static_cast<int64_t>(slots_.tables.size()) * isa::kTableBytes;
    uint32_t at = e_.reserve(total);
    auto advance = [&](int64_t bytes) {
      uint32_t here = at;
      at += static_cast<uint32_t>(bytes);
      return here;
    };
    auto n = static_cast<uint32_t>(depth);
    for (int64_t b : plan_.input_bytes) inputs_.emplace_back(advance(b * depth), b, n);
    for (int64_t b : plan_.output_bytes) outputs_.emplace_back(advance(b * depth), b, n);
    for (int64_t b : plan_.temp_bytes) temps_.push_back(advance(b));
    for (size_t k = 0; k < slots_.tables.size(); ++k) tables_.push_back(advance(isa::kTableBytes));
  }

  void load_tables() {
    auto all = static_cast<uint8_t>((1u << e_.tiles()) - 1);
    for (size_t k = 0; k < slots_.tables.size(); ++k) {
      EpilogueSpec spec;
      spec.table = slots_.tables[k];
      e_.load(all, table_transfer(spec), tables_[k]);
    }
  }

  Box box_of(int64_t step, const Dims& counts, uint32_t tile) const {
    Box box;
    size_t rank = g_.dims.size();
    box.begin.resize(rank);
    box.extent.resize(rank);
    for (size_t d = rank; d-- > 0;) {
      int64_t i = step % counts[d];
      step /= counts[d];
      int64_t low = d == plan_.cut ? std::min(g_.dims[d], tile * plan_.share) : 0;
      int64_t high = d == plan_.cut ? std::min(g_.dims[d], low + plan_.share) : g_.dims[d];
      box.begin[d] = low + i * plan_.block[d];
      box.extent[d] = std::min(plan_.block[d], high - box.begin[d]);
      if (box.extent[d] <= 0) box.empty = true;
    }
    return box;
  }

  Packed pack(const View& v, const Box& box, bool load) const {
    int64_t bytes = isa::data_bytes(v.type), element = v.offset;
    for (size_t d = 0; d < g_.dims.size(); ++d) element += box.begin[d] * v.strides[d];
    return pack_box(program_.buffers[v.buffer].ddr + element * bytes, v.strides, box.extent, bytes, load);
  }

  void step(int64_t index, const Dims& counts) {
    std::vector<Box> boxes;
    for (uint32_t t = 0; t < e_.tiles(); ++t) boxes.push_back(box_of(index, counts, t));
    std::vector<uint32_t> in, out;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      std::vector<std::vector<Transfer>> wanted(e_.tiles());
      for (uint32_t t = 0; t < e_.tiles(); ++t)
        if (!boxes[t].empty) wanted[t] = {pack(slots_.inputs[k], boxes[t], true).transfer};
      in.push_back(inputs_[k].fetch(e_, std::move(wanted)));
    }
    for (OutputSlot& slot : outputs_) out.push_back(slot.next());
    for (const PeStage& s : g_.stages) {
      e_.set_expr(s.expr);
      for (uint32_t t = 0; t < e_.tiles(); ++t)
        if (!boxes[t].empty) compute(s, t, boxes[t], in, out);
    }
    for (size_t k = 0; k < outputs_.size(); ++k)
      for (uint32_t t = 0; t < e_.tiles(); ++t)
        if (!boxes[t].empty) e_.store(t, pack(slots_.outputs[k], boxes[t], false).transfer, out[k]);
  }

  isa::Operand operand(const PeOperand& o, const Box& box, const std::vector<size_t>& dims,
                       const std::vector<uint32_t>& in, const std::vector<uint32_t>& out, bool result) const {
    isa::Operand r;
    Dims strides(g_.dims.size(), 0);
    if (o.kind == PeOperand::Kind::Temp) {
      const PeTemp& t = g_.temps[o.temp];
      r.type = t.type;
      r.address = temps_[o.temp];
      int64_t dense = isa::data_bytes(t.type);
      for (size_t d = g_.dims.size(); d-- > 0;) {
        if (!t.spans[d]) continue;
        strides[d] = dense;
        dense *= box.extent[d];
      }
    } else {
      const std::vector<View>& list = result ? slots_.outputs : slots_.inputs;
      auto k = static_cast<size_t>(std::ranges::find(list, o.view) - list.begin());
      Packed p = pack(o.view, box, !result);
      r.type = o.view.type;
      r.address = (result ? out[k] : in[k]) + static_cast<uint32_t>(p.origin);
      strides = p.strides;
    }
    for (size_t k = 0; k < dims.size(); ++k)
      r.strides[5 - dims.size() + k] = static_cast<int32_t>(strides[dims[k]]);
    return r;
  }

  void compute(const PeStage& s, uint32_t tile, const Box& box, const std::vector<uint32_t>& in,
               const std::vector<uint32_t>& out) {
    std::vector<size_t> dims;
    for (size_t d = 0; d < g_.dims.size(); ++d)
      if (box.extent[d] > 1 && (s.reduce || spans(g_, s.dst, d))) dims.push_back(d);
    std::array<uint32_t, 5> extents = {1, 1, 1, 1, 1};
    for (size_t k = 0; k < dims.size(); ++k)
      extents[5 - dims.size() + k] = static_cast<uint32_t>(box.extent[dims[k]]);
    uint32_t table = isa::kNoAddress;
    for (size_t k = 0; k < tables_.size(); ++k)
      if (slots_.tables[k] == s.epilogue.table) table = tables_[k];
    isa::Operand dst = operand(s.dst, box, dims, in, out, true), a, b;
    if (s.a.kind != PeOperand::Kind::None) a = operand(s.a, box, dims, in, out, false);
    if (s.b.kind != PeOperand::Kind::None) b = operand(s.b, box, dims, in, out, false);
    if (s.reduce) {
      e_.emit(tile, isa::Queue::Pe,
              isa::Reduce{s.reduce_op, s.alpha, s.beta, extents, dst, a, epilogue_at(s.epilogue, table)});
    } else {
      e_.emit(tile, isa::Queue::Pe,
              isa::Elementwise{s.op, s.alpha, s.beta, extents, dst, a, b, epilogue_at(s.epilogue, table)});
    }
  }

  const PeGroup& g_;
  const Program& program_;
  Emitter& e_;
  PeSlots slots_;
  PePlan plan_;
  std::vector<InputSlot> inputs_;
  std::vector<OutputSlot> outputs_;
  std::vector<uint32_t> temps_, tables_;
};

}  // namespace

std::string generate(const PeGroup& group, const Program& program, Emitter& emitter) {
  emitter.set_owner(group.owner);
  return PeCodegen(group, program, emitter).run();
}

}  // namespace mrvlc::accel
