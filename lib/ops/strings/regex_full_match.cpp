// RegexFullMatch (ONNX RegexFullMatch-20): does the whole text match a pattern in RE2's syntax? The reference
// asks RE2; generated code walks an automaton of its own (regex.h).
#include <re2/re2.h>

#include "common/dynamic_util.h"
#include "common/infer_util.h"
#include "strings/regex.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

std::unique_ptr<re2::RE2> reference_pattern(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return std::make_unique<re2::RE2>(pattern, options);
}

Result<std::vector<TensorType>> infer_match(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  auto pattern = reference_pattern(context.string_attr("pattern"));
  if (!pattern->ok()) return bad_attr("pattern", "is none of RE2's: " + printable(pattern->error()));
  return std::vector<TensorType>{context.type(0).with_elem(E::Bool)};
}

Status eval_match(const EvalContext& context) {
  auto pattern = reference_pattern(context.infer_view().string_attr("pattern"));
  const auto& texts = context.in(0).string_data();
  for (size_t i = 0; i < texts.size(); ++i)
    context.out().set_int(static_cast<int64_t>(i), re2::RE2::FullMatch(texts[i], *pattern) ? 1 : 0);
  return {};
}

// Three words an instruction: kind and range, and where it goes on.
Tensor code_table(const regex::Program& program) {
  std::vector<int64_t> words;
  for (const auto& i : program.code) {
    words.push_back(static_cast<int64_t>(i.kind) | i.low << 8 | i.high << 16);
    words.push_back(i.next);
    words.push_back(i.other);
  }
  return Tensor::of(E::U32, {static_cast<int64_t>(words.size())}, words);
}

Status emit_match(EmitContext& context) {
  context.set_dims(0, in_dims(context, 0));
  if (context.out_type(0).elements() == 0) return {};
  MRVLC_ASSIGN(regex::Program program, regex::compile(emit_view(context).string_attr("pattern")));
  auto size = static_cast<int64_t>(program.code.size());
  std::string scratch = context.scratch(size * 5 * 4), code = context.table(code_table(program));
  context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", product_text(in_dims(context, 0))));
  context.line(fmt::format("{}[i] = {}({}, {}u, {}u, {}[i].data, {}[i].size, (uint32_t*){});", context.out(0),
                           context.helper("regex"), code, size, program.start, context.in(0), context.in(0),
                           scratch));
  context.close();
  return {};
}

}  // namespace

const OpDef& def_RegexFullMatch() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "RegexFullMatch";
    d.since_min = 20;
    d.attrs = {with_string("pattern", "")};
    d.types = types_of({E::String});
    d.infer = infer_match;
    d.eval = eval_match;
    d.emit = d.emit_dynamic = emit_match;
    d.declined = "accelerator: strings stay on the host";
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
