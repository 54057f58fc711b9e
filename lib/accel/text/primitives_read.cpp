// Primitive operations from records.
#include <algorithm>

#include "mrvlc/isa/names.h"
#include "text/operand_text.h"
#include "text/primitive_fields.h"
#include "text/primitives_text.h"

namespace mrvlc::accel {
namespace {

std::string word(const Record& r, size_t index) {
  return index < r.words.size() ? r.words[index] : "";
}

class PrimitivesReader {
 public:
  Result<NamedProgram> run(std::string_view text) {
    MRVLC_ASSIGN(const std::vector<Record> records, parse_records(text));
    if (records.empty() || records[0].words != std::vector<std::string>{"stage", "primitives"})
      return record_error(records.empty() ? Record{1, {}, {}, {}} : records[0],
                          "the text of primitives begins with 'stage primitives'");
    MRVLC_TRY(head(records[0]));
    for (size_t i = 1; i < records.size(); ++i) MRVLC_TRY(top(records[i]));
    if (buffers_.empty()) return record_error(records[0], "a buffer 'weights' comes first");
    return std::move(out_);
  }

 private:
  Status head(const Record& r) {
    FieldReader f(r);
    f.number("images", out_.program.images, int64_t{1});
    if (out_.program.images < 1) f.fail("there is at least one image");
    return f.done();
  }

  Status top(const Record& r) {
    if (r.words[0] == "buffer") return buffer(r);
    if (buffers_.empty()) return record_error(r, "a buffer 'weights' comes first");
    if (r.words[0] == "group") return group(r);
    int kind = position(kWindowKinds, r.words[0]);
    if (kind < 0) return record_error(r, "'" + r.words[0] + "' is no record of primitives");
    return window(r, static_cast<WindowOp::Kind>(kind));
  }

  Status buffer(const Record& r) {
    Buffer b;
    int kind = buffers_.empty() ? 0 : position(kBufferKinds, word(r, 2));
    std::string name = word(r, 1);
    bool first = buffers_.empty();
    if (first != (name == "weights") || kind < (first ? 0 : 1) || r.words.size() != (first ? 2U : 3U))
      return record_error(r, "'buffer weights' first, then 'buffer NAME input|output|scratch'");
    if (!buffers_.emplace(name, static_cast<uint32_t>(buffers_.size())).second)
      return record_error(r, "two buffers " + name);
    b.kind = static_cast<Buffer::Kind>(kind);
    FieldReader f(r);
    buffer_fields(f, b);
    if (b.bytes < 0 || b.pitch < 1 || b.rows < 1 || b.grain < 1 || b.ddr < 0)
      f.fail("a size of a buffer is too small");
    // A stripe's name says which value it is of; one that stands for no value begins with "$".
    std::string value = name.back() == '"' ? name : name.substr(0, name.rfind('$'));
    if (!first && !value.empty()) b.value = value_id(value);
    if (first) {
      out_.program.buffers[kWeights].bytes = b.bytes;
    } else {
      out_.program.buffers.push_back(b);
    }
    return f.done();
  }

  ir::ValueId value_id(const std::string& name) {
    auto [it, fresh] = values_.try_emplace(name, ir::ValueId(static_cast<uint32_t>(values_.size())));
    if (fresh) out_.names.values[it->second] = name;
    return it->second;
  }

  ir::NodeId expr_id(const std::string& name) {
    auto [it, fresh] = exprs_.try_emplace(name, ir::NodeId(static_cast<uint32_t>(exprs_.size())));
    if (fresh) out_.names.exprs[it->second] = name;
    return it->second;
  }

  Status window(const Record& r, WindowOp::Kind kind) {
    WindowOp op;
    op.kind = kind;
    FieldReader f(r);
    size_t name = 1;
    if (kind == WindowOp::Kind::Pool) {
      int pool = position(isa::kPoolNames, word(r, name++));
      pool < 0 ? f.fail("a pool is max, avgvalid or avgfixed")
               : static_cast<void>(op.pool = static_cast<isa::PoolOp>(pool));
    }
    op.owner.expr = expr_id(word(r, name));
    window_fields(f, op);
    IntegerFields integers;
    integer_fields(f, integers);
    if (std::max(std::abs(integers.x_zero), std::abs(integers.w_zero)) > 255)
      f.fail("a zero point is beyond 8 bits");
    op.integers = integers.integers();
    epilogue(f, op.epilogue);
    for (const Record& child : r.children) MRVLC_TRY(part(child, op));
    check(op, f);
    MRVLC_TRY(f.done());
    out_.program.primitives.emplace_back(std::move(op));
    return {};
  }

  Status part(const Record& r, WindowOp& op) {
    FieldReader f(r);
    if (r.words[0] == "phase") {
      op.phases.emplace_back();
      phase_fields(f, op.phases.back());
      return f.done();
    }
    if (r.words[0] == "x") {
      f.two("size", op.in_h, op.in_w, 1);
      MRVLC_TRY(image(r, op.x));
    } else if (r.words[0] == "out") {
      f.two("size", op.out_h, op.out_w, 1);
      MRVLC_TRY(image(r, op.out));
    } else if (r.words[0] == "residual") {
      op.has_residual = true;
      MRVLC_TRY(image(r, op.residual));
    } else if (r.words[0] == "w") {
      op.dynamic_weights = true;
      MRVLC_TRY(image(r, op.w));
    } else {
      f.fail("x, out, residual, w or phase");
    }
    return f.done();
  }

  Status image(const Record& r, WindowOp::Image& image) {
    std::optional<PlaceText> p = read_place(word(r, 1));
    const bool integers = p && isa::is_integer(p->type) && (r.words[0] == "x" || r.words[0] == "out");
    const bool floats =
        p && (p->type == isa::DataType::F16 || (p->type == isa::DataType::F32 && r.words[0] == "out"));
    const bool type = integers || floats;
    if (!type || p->strides.size() != 2 || p->offsets.empty())
      return record_error(
          r, "an image is BUFFER+OFFSETS{ROW,COLUMN}, of f16, or :f32 for what is written, or of integers");
    auto buffer = buffers_.find(p->buffer);
    if (buffer == buffers_.end()) return record_error(r, "there is no buffer " + p->buffer + " above");
    image = {buffer->second, p->strides[0], p->strides[1], p->offsets, p->type, p->quantization};
    return {};
  }

  // What planning divides by or indexes with.
  static void check(const WindowOp& op, FieldReader& f) {
    bool sizes = std::min({op.in_h, op.in_w, op.out_h, op.out_w, op.stride_h, op.stride_w, op.dilation_h,
                           op.dilation_w, op.lattice_h, op.lattice_w, op.grain, op.groups, op.group_in,
                           op.group_out}) >= 1;
    for (const WindowPhase& p : op.phases) sizes = sizes && p.kernel_h >= 1 && p.kernel_w >= 1;
    if (!sizes) f.fail("a size is at least 1");
    if (op.phases.empty()) f.fail("a window has a phase");
    if (op.kind == WindowOp::Kind::Pool && op.out.type == isa::DataType::F32)
      f.fail("a pool writes f16 or integers");
    if (op.integers && (op.bias < 0 || op.has_residual || op.dynamic_weights || !isa::is_integer(op.x.type) ||
                        op.kind == WindowOp::Kind::Pool))
      f.fail("products of integers have a bias, integers for x, constant weights and no residual");
    if (!op.integers && isa::is_integer(op.x.type) && op.kind != WindowOp::Kind::Pool)
      f.fail("products of integers have scales");
    size_t batch = op.x.offsets.size();
    bool images = batch > 0 && op.out.offsets.size() == batch &&
                  (!op.has_residual || op.residual.offsets.size() == batch) &&
                  (!op.dynamic_weights || op.w.offsets.size() == batch);
    if (!images) f.fail("x, out and what else there is have an offset for each image of the batch");
  }

  void epilogue(FieldReader& f, EpilogueSpec& e) {
    const std::string* text = f.find("act");
    if (text == nullptr) return;
    std::optional<EpilogueSpec> read = read_epilogue(*text);
    read ? static_cast<void>(e = *read) : f.fail("act is NAME, NAME(ALPHA,BETA) or table@OFFSET");
  }

  Status group(const Record& r) {
    PeGroup g;
    FieldReader f(r);
    g.owner.expr = expr_id(word(r, 1));
    f.number("layer", g.owner.layer, uint32_t{0});
    f.list("dims", g.dims, {});
    if (g.dims.empty() || std::ranges::min(g.dims) < 1) f.fail("dims of at least 1");
    MRVLC_TRY(f.done());
    for (const Record& child : r.children) MRVLC_TRY(part(child, g));
    if (g.stages.empty()) return record_error(r, "a group has a stage");
    out_.program.primitives.emplace_back(std::move(g));
    return {};
  }

  Status part(const Record& r, PeGroup& g) {
    FieldReader f(r);
    if (r.words[0] == "result") {
      result_fields(f, g.result);
      bool fits = g.result.steps.size() == g.dims.size() && g.result.rows >= 0 && g.result.grain >= 1;
      if (!fits) f.fail("a step for each dimension, rows and a grain");
    } else if (r.words[0] == "temp") {
      temp(r, f, g);
    } else {
      stage(r, f, g);
    }
    return f.done();
  }

  static void temp(const Record& r, FieldReader& f, PeGroup& g) {
    Dims spans;
    f.list("spans", spans, {});
    int type = position(isa::kTypeNames, word(r, 1));
    if (spans.size() != g.dims.size() || type < 0)
      return f.fail("temp TYPE spans=, one of 0 or 1 a dimension");
    PeTemp t;
    t.type = static_cast<isa::DataType>(type);
    for (int64_t s : spans) t.spans.push_back(s != 0);
    g.temps.push_back(std::move(t));
  }

  void stage(const Record& r, FieldReader& f, PeGroup& g) {
    PeStage s;
    s.reduce = r.words[0] == "reduce";
    int op = s.reduce ? position(isa::kReduceNames, word(r, 1)) : position(isa::kEwNames, word(r, 1));
    if (op < 0 || (!s.reduce && r.words[0] != "ew")) return f.fail("result, temp, ew OP or reduce OP");
    if (s.reduce) s.reduce_op = static_cast<isa::ReduceOp>(op);
    if (!s.reduce) s.op = static_cast<isa::EwOp>(op);
    s.expr = r.words.size() > 2 ? expr_id(r.words[2]) : g.owner.expr;
    operand(f, "dst", g, s.dst);
    operand(f, "a", g, s.a);
    operand(f, "b", g, s.b);
    f.number("alpha", s.alpha, 0.0F);
    f.number("beta", s.beta, 0.0F);
    epilogue(f, s.epilogue);
    int wanted = s.reduce ? 1 : isa::operand_count(s.op), given = 0;
    for (const PeOperand* o : {&s.a, &s.b}) given += o->kind == PeOperand::Kind::None ? 0 : 1;
    if (s.dst.kind == PeOperand::Kind::None || given < wanted) f.fail("an operand is missing");
    g.stages.push_back(std::move(s));
  }

  void operand(FieldReader& f, const char* role, const PeGroup& g, PeOperand& o) {
    const std::string* text = f.find(role);
    if (text == nullptr) return;
    int64_t temp = -1;
    if ((*text)[0] == 't' && read_number(std::string_view(*text).substr(1), temp)) {
      if (temp < 0 || temp >= static_cast<int64_t>(g.temps.size()))
        return f.fail("there is no such temp above");
      o.kind = PeOperand::Kind::Temp;
      o.temp = static_cast<uint32_t>(temp);
      return;
    }
    std::optional<PlaceText> p = read_place(*text);
    auto buffer = p ? buffers_.find(p->buffer) : buffers_.end();
    if (buffer == buffers_.end() || p->offsets.size() != 1 || p->strides.size() != g.dims.size())
      return f.fail(std::string(role) + " is tN or BUFFER+OFFSET{a stride for each dimension}");
    o.kind = PeOperand::Kind::External;
    o.view = {buffer->second, p->type, p->offsets[0], g.dims, p->strides, p->quantization};
  }

  NamedProgram out_;
  std::map<std::string, uint32_t> buffers_;
  std::map<std::string, ir::ValueId> values_;
  std::map<std::string, ir::NodeId> exprs_;
};

}  // namespace

Result<NamedProgram> read_primitives(std::string_view text) {
  return PrimitivesReader().run(text);
}

}  // namespace mrvlc::accel
