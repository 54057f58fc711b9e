// C of Attention: one row of scores at a time, in scratch memory, where attention_rows.cpp does not take it.
#include "attention/attention.h"
#include "attention/attention_code.h"
#include "common/emit_util.h"
#include "common/index_util.h"
#include "common/lanes.h"

namespace mrvlc::ops {
namespace {

using P = AttentionParams;

// Declares a pointer to row j of the keys or values of head g.
void row_pointer(AttentionCode& code, std::string_view name, size_t fresh, size_t past, int64_t width) {
  HeadRows rows = head_rows(code.p.packed, code.p.kv_heads, code.p.kv_length, width);
  if (code.p.past == 0) {
    code.c.line(
        fmt::format("const {}* {} = {} + {};", code.t, name, code.c.in(fresh), rows.text("b", "g", "j")));
    return;
  }
  code.c.line(fmt::format("const {}* {} = j < {} ? {} + {} : {} + {};", code.t, name, code.p.past,
                          code.c.in(past), code.p.past_rows(width).text("b", "g", "j"), code.c.in(fresh),
                          rows.text("b", "g", fmt::format("(j - {})", code.p.past))));
}

void emit_present(AttentionCode& code, size_t output, size_t fresh, size_t past, int64_t width) {
  if (code.c.node().outputs.size() <= output || code.c.out_type(output).elements() == 0) return;
  code.c.loop("b", code.p.batch);
  code.c.loop("g", code.p.kv_heads);
  code.c.loop("j", code.p.total());
  row_pointer(code, "row", fresh, past, width);
  code.c.line(fmt::format("memcpy({} + ((b * {} + g) * {} + j) * {}, row, {});", code.c.out(output),
                          code.p.kv_heads, code.p.total(), width, width * byte_size(code.elem)));
  for (int i = 0; i < 3; ++i) code.c.close();
}

void keep_score(AttentionCode& code, int64_t stage) {
  if (code.wants_scores(stage))
    code.c.line(fmt::format("{}[row * {} + j] = s;", code.c.out(P::kScores), code.p.total()));
}

std::string mask_text(const AttentionCode& code) {
  std::string index;
  const char* vars[] = {"b", "h", "i", "j"};
  for (size_t d = 0; d < 4; ++d) {
    if (code.p.mask_strides[d] != 0)
      index += fmt::format("{}{} * {}", index.empty() ? "" : " + ", vars[d], code.p.mask_strides[d]);
  }
  std::string value = fmt::format("{}[{}]", code.c.in(P::kMask), index.empty() ? "0" : index);
  if (code.c.in_type(P::kMask).elem == ElementType::Bool) value += " ? 0 : -INFINITY";
  if (code.p.mask_length < code.p.total())
    return fmt::format("j < {} ? ({}) : -INFINITY", code.p.mask_length, value);
  return value;
}

// Adds the bias to s and notes in `any` whether something of the row is not masked.
void emit_bias(AttentionCode& code) {
  if (!code.c.has(P::kMask) && !code.p.causal && !code.p.has_lengths) return;
  emit_bias_value(code);
  code.c.line("any = any || bias != -INFINITY;");
  code.c.line("s += bias;");
}

void emit_scores(AttentionCode& code) {
  const P& p = code.p;
  code.c.loop("j", p.total());
  row_pointer(code, "k", P::kK, P::kPastKey, p.size);
  emit_sum(code.c, "s", code.elem, p.size,
           [](const std::string& r) { return fmt::format("q[{0}] * k[{0}]", r); });
  code.c.line(fmt::format("s *= {};", code.literal(p.scale)));
  keep_score(code, 0);
  if (p.softcap > 0) code.c.line(fmt::format("s = {0} * tanh{1}(s / {0});", code.literal(p.softcap), code.f));
  keep_score(code, 1);
  emit_bias(code);
  keep_score(code, 2);
  code.c.line("p[j] = s;");
  code.c.line("if (s > peak) peak = s;");
  code.c.close();
}

void emit_softmax(AttentionCode& code) {
  const int64_t n = code.p.total();
  const bool masked = code.c.has(P::kMask) || code.p.causal || code.p.has_lengths;
  code.c.line(fmt::format("{} sum = 0;", code.t));
  code.c.loop("j", n);
  std::string exp = fmt::format("{}(p[j] - peak)", math_function(code.c, "exp", code.elem));
  code.c.line(fmt::format("p[j] = {};", masked ? fmt::format("any ? {} : 0", exp) : exp));
  code.c.line("sum += p[j];");
  code.c.close();
  if (masked) code.c.line("if (!any) sum = 1;");
  code.c.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) p[j] /= sum;", n));
  if (code.wants_scores(3))
    code.c.line(
        fmt::format("memcpy({} + row * {}, p, {});", code.c.out(P::kScores), n, n * byte_size(code.elem)));
}

void emit_values(AttentionCode& code) {
  const P& p = code.p;
  code.c.line(fmt::format("for (ptrdiff_t e = 0; e < {}; ++e) y[e] = 0;", p.v_size));
  code.c.loop("j", p.total());
  row_pointer(code, "v", P::kV, P::kPastValue, p.v_size);
  code.c.line(fmt::format("for (ptrdiff_t e = 0; e < {}; ++e) y[e] += p[j] * v[e];", p.v_size));
  code.c.close();
}

// What a row needs to know before its scores.
void emit_row_head(AttentionCode& code) {
  const P& p = code.p;
  code.c.line(fmt::format("const {}* q = {} + {};", code.t, code.c.in(P::kQ), p.q().text("b", "h", "i")));
  code.c.line(fmt::format("{}* y = {} + {};", code.t, code.c.out(P::kY), p.y().text("b", "h", "i")));
  if (code.c.node().outputs.size() > P::kScores)
    code.c.line(fmt::format("const ptrdiff_t row = (b * {} + h) * {} + i;", p.heads, p.q_length));
  code.c.line(fmt::format("{} peak = -INFINITY;", code.t));
  if (code.c.has(P::kMask) || p.causal || p.has_lengths) code.c.line("int any = 0;");
}

// One row after the other.
void emit_heads(AttentionCode& code) {
  code.c.loop("h", code.p.heads);
  code.c.line(fmt::format("const ptrdiff_t g = h / {};", code.p.heads / code.p.kv_heads));
  code.c.loop("i", code.p.q_length);
  emit_row_head(code);
  emit_scores(code);
  emit_softmax(code);
  emit_values(code);
  code.c.close();
  code.c.close();
}

}  // namespace

void emit_bias_value(AttentionCode& code) {
  const P& p = code.p;
  const bool mask = code.c.has(P::kMask);
  code.c.line(fmt::format("{}{} bias = {};", mask && !p.causal && !p.has_lengths ? "const " : "", code.t,
                          mask ? fmt::format("({})({})", code.t, mask_text(code)) : std::string("0")));
  if (p.has_lengths) code.c.line("if (j >= length) bias = -INFINITY;");
  if (p.causal) code.c.line("if (j > i + offset) bias = -INFINITY;");
}

Status emit_attention(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(P p, attention_params(emit_view(context)));
  ElementType elem = context.in_type(P::kQ).elem;
  AttentionCode code{context, p, elem, c_type(elem), elem == ElementType::F64 ? "" : "f"};
  emit_present(code, P::kPresentKey, P::kK, P::kPastKey, p.size);
  emit_present(code, P::kPresentValue, P::kV, P::kPastValue, p.v_size);
  if (p.batch * p.q_length == 0) return {};
  const bool by_rows = takes_rows(code);
  if (!by_rows)
    context.line(fmt::format("{0}* const p = ({0}*){1};", code.t,
                             context.scratch(std::max<int64_t>(p.total(), 1) * byte_size(elem))));
  context.loop("b", p.batch);
  if (p.has_lengths) {
    MRVLC_ASSIGN(const RangeCheck check, require_range(context, {P::kLengths, p.batch, 0, p.total()}));
    context.line(fmt::format("const int64_t given = {}[b];", context.in(P::kLengths)));
    context.line(
        check == RangeCheck::Before
            ? "const ptrdiff_t length = (ptrdiff_t)given;"
            : fmt::format("const ptrdiff_t length = given < 0 ? 0 : given < {0} ? (ptrdiff_t)given : {0};",
                          p.total()));
  }
  if (p.causal) {
    context.line(fmt::format("const ptrdiff_t offset = {};", p.has_lengths
                                                                 ? fmt::format("length - {}", p.q_length)
                                                                 : fmt::format("{}", p.past)));
  }
  by_rows ? emit_rows(code) : emit_heads(code);
  context.close();
  return {};
}

}  // namespace mrvlc::ops
