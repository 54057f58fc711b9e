// Primitive operations to records.
#include "text/primitives_text.h"

#include "mrvlc/isa/names.h"
#include "text/operand_text.h"
#include "text/primitive_fields.h"

namespace mrvlc::accel {
namespace {

class PrimitivesWriter {
 public:
  PrimitivesWriter(const Program& program, const Names& names)
      : p_(program), names_(names), buffers_(buffer_names(program, names)) {}

  std::vector<Record> run() const {
    std::vector<Record> out;
    out.push_back({0, {"stage", "primitives"}, {}, {}});
    FieldWriter(out.back()).number("images", p_.images, int64_t{1});
    for (size_t b = 0; b < p_.buffers.size(); ++b) out.push_back(buffer(b));
    for (const Primitive& p : p_.primitives)
      out.push_back(std::visit([&](const auto& v) { return record(v); }, p));
    return out;
  }

 private:
  Record buffer(size_t index) const {
    const Buffer& b = p_.buffers[index];
    Record r{0, {"buffer", buffers_[index]}, {}, {}};
    if (index != kWeights) r.words.emplace_back(kBufferKinds[static_cast<size_t>(b.kind)]);
    FieldWriter f(r);
    buffer_fields(f, b);
    return r;
  }

  Record record(const WindowOp& op) const {
    Record r{0, {kWindowKinds[static_cast<size_t>(op.kind)]}, {}, {}};
    if (op.kind == WindowOp::Kind::Pool) r.words.emplace_back(isa::kPoolNames[static_cast<size_t>(op.pool)]);
    r.words.push_back(names_.expr(op.owner.expr));
    FieldWriter f(r);
    window_fields(f, op);
    integer_fields(f, IntegerFields(op));
    epilogue(f, op.epilogue);
    r.children.push_back(image("x", op.x, op.in_h, op.in_w));
    r.children.push_back(image("out", op.out, op.out_h, op.out_w));
    if (op.has_residual) r.children.push_back(image("residual", op.residual, 0, 0));
    if (op.dynamic_weights) r.children.push_back(image("w", op.w, 0, 0));
    for (const WindowPhase& p : op.phases) {
      r.children.push_back({0, {"phase"}, {}, {}});
      FieldWriter phase(r.children.back());
      phase_fields(phase, p);
    }
    return r;
  }

  // Sizes of 0 are not written.
  Record image(const char* role, const WindowOp::Image& i, int64_t h, int64_t w) const {
    Record r{0,
             {role, to_text(PlaceText{
                        buffers_[i.buffer], i.offsets, {i.stride_h, i.stride_w}, i.type, i.quantization})},
             {},
             {}};
    FieldWriter(r).two("size", h, w, 0);
    return r;
  }

  static void epilogue(FieldWriter& f, const EpilogueSpec& e) {
    std::string text = to_text(e);
    if (text != "none") f.text("act", text);
  }

  Record record(const PeGroup& g) const {
    Record r{0, {"group", names_.expr(g.owner.expr)}, {}, {}};
    FieldWriter f(r);
    f.number("layer", g.owner.layer, uint32_t{0});
    f.list("dims", g.dims, {});
    r.children.push_back({0, {"result"}, {}, {}});
    FieldWriter result(r.children.back());
    result_fields(result, g.result);
    if (r.children.back().fields.empty()) r.children.clear();
    for (const PeTemp& t : g.temps) r.children.push_back(temp(t));
    for (const PeStage& s : g.stages) r.children.push_back(stage(s, g.owner.expr));
    return r;
  }

  static Record temp(const PeTemp& t) {
    Record r{0, {"temp", isa::kTypeNames[static_cast<size_t>(t.type)]}, {}, {}};
    Dims spans(t.spans.begin(), t.spans.end());
    FieldWriter(r).list("spans", spans, {});
    return r;
  }

  Record stage(const PeStage& s, ir::NodeId owner) const {
    Record r{0, {}, {}, {}};
    if (s.reduce) {
      r.words = {"reduce", isa::kReduceNames[static_cast<size_t>(s.reduce_op)]};
    } else {
      r.words = {"ew", isa::kEwNames[static_cast<size_t>(s.op)]};
    }
    if (s.expr != owner) r.words.push_back(names_.expr(s.expr));
    FieldWriter f(r);
    operand(f, "dst", s.dst);
    operand(f, "a", s.a);
    operand(f, "b", s.b);
    f.number("alpha", s.alpha, 0.0F);
    f.number("beta", s.beta, 0.0F);
    epilogue(f, s.epilogue);
    return r;
  }

  void operand(FieldWriter& f, const char* role, const PeOperand& o) const {
    if (o.kind == PeOperand::Kind::Temp) f.text(role, "t" + std::to_string(o.temp));
    if (o.kind == PeOperand::Kind::External)
      f.text(
          role,
          to_text(PlaceText{
              buffers_[o.view.buffer], {o.view.offset}, o.view.strides, o.view.type, o.view.quantization}));
  }

  const Program& p_;
  const Names& names_;
  std::vector<std::string> buffers_;
};

}  // namespace

std::string primitives_text(const Program& program, const Names& names) {
  return print(PrimitivesWriter(program, names).run());
}

}  // namespace mrvlc::accel
