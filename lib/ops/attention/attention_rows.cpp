// C of an Attention of many rows, by the kernel that keeps scores of some of them in a cache. What is added
// to the scores of a head, masks and lengths, is written down once a head, or once for all heads.
#include "attention/attention_code.h"
#include "common/emit_util.h"
#include "mrvlc/ops/kernel_blocks.h"
#include "mrvlc/ops/kernel_structs.h"

namespace mrvlc::ops {
namespace {

using P = AttentionParams;
// The kernel's types and functions have names of the program.
void put(AttentionCode& code, std::string_view type, std::string_view name, const std::string& members) {
  code.c.line(fmt::format("const {} {} = {};", type, name, members));
}

void put_shapes(AttentionCode& code) {
  const P& p = code.p;
  const std::string gemm = code.c.helper("gemm") + "_shape";
  const int64_t rows = rows_of_scores(p.q_length, p.total());
  put(code, code.c.helper("attention") + "_shape", "s",
      structs::initialiser(structs::AttentionShape{.rows = rows,
                                                   .mask_row = p.total(),
                                                   .mask_n = 1,
                                                   .y_row = p.y().row,
                                                   .scale = code.literal(p.scale)}));
  structs::GemmShape shape{.m = p.q_length,
                           .n = p.total(),
                           .k = p.size,
                           .a_row = p.q().row,
                           .a_k = 1,
                           .b_k = 1,
                           .b_n = p.k().row,
                           .block_m = rows,
                           .block_k = depth_block(p.size),
                           .b_packed = 1};
  put(code, gemm, "scores", structs::initialiser(shape));
  shape.n = p.v_size, shape.k = shape.a_row = p.total(), shape.b_k = p.v().row, shape.b_n = 1;
  shape.block_k = depth_block(p.total());
  put(code, gemm, "values", structs::initialiser(shape));
  put(code, code.c.helper("epilogue"), "plain",
      structs::initialiser(
          structs::Epilogue{.lo = "-INFINITY", .hi = "INFINITY", .fn = "NULL", .args = "NULL"}));
}

void emit_added(AttentionCode& code) {
  const P& p = code.p;
  code.c.open(code.c.has(P::kMask) && p.mask_strides[1] != 0 ? "" : "if (h == 0)");
  code.c.loop("i", p.q_length);
  code.c.loop("j", p.total());
  emit_bias_value(code);
  code.c.line(fmt::format("added[i * {} + j] = bias;", p.total()));
  for (int i = 0; i < 3; ++i) code.c.close();
}

// Softmax has no numbers for a row without keys.
void emit_rows_without_keys(AttentionCode& code) {
  const P& p = code.p;
  code.c.loop("i", p.q_length);
  code.c.line("int any = 0;");
  code.c.line(
      fmt::format("for (ptrdiff_t j = 0; j < {0}; ++j) any |= added[i * {0} + j] != -INFINITY;", p.total()));
  code.c.line(fmt::format("if (!any) memset({} + {}, 0, {});", code.c.out(P::kY), p.y().text("b", "h", "i"),
                          p.v_size * byte_size(code.elem)));
  code.c.close();
}

}  // namespace

bool takes_rows(const AttentionCode& code) {
  const P& p = code.p;
  const bool scores = code.c.node().outputs.size() > P::kScores;
  const bool added = code.c.has(P::kMask) || p.causal || p.has_lengths;
  return code.elem == ElementType::F32 && added && !scores && p.past == 0 && p.softcap == 0 &&
         p.q_length >= kLeastAttentionRows && p.heads * p.total() * p.size * p.v_size > 0;
}

void emit_rows(AttentionCode& code) {
  const P& p = code.p;
  put_shapes(code);
  if (!code.c.wants_little_text() && std::max(p.total(), p.v_size) >= 2 * kPanelColumns)
    code.c.helper("rows12");
  const int64_t bytes = attention_bytes(p.q_length, p.total(), p.size, p.v_size, p.y().row != p.v_size);
  code.c.line(fmt::format("float* const added = (float*){};", code.c.scratch(4 * p.q_length * p.total())));
  code.c.line(fmt::format("float* const memory = (float*){};", code.c.scratch(bytes)));
  code.c.loop("h", p.heads);
  code.c.line(fmt::format("const ptrdiff_t g = h / {};", p.heads / p.kv_heads));
  emit_added(code);
  code.c.line(fmt::format(
      "{}(&s, &scores, &values, {} + {}, {} + {}, {} + {}, NULL, added, {} + {}, memory, &plain, 0);",
      code.c.helper("attention"), code.c.in(P::kQ), p.q().text("b", "h", "0"), code.c.in(P::kK),
      p.k().text("b", "g", "0"), code.c.in(P::kV), p.v().text("b", "g", "0"), code.c.out(P::kY),
      p.y().text("b", "h", "0")));
  emit_rows_without_keys(code);
  code.c.close();
}

}  // namespace mrvlc::ops
