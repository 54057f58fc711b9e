// StringNormalizer (ONNX StringNormalizer-10): stop words removed, then the case changed. The cases of
// letters are those of ASCII; a text with others is refused where they matter: ONNX leaves them to a locale.
#include <algorithm>

#include "common/dynamic_util.h"
#include "ml/ml.h"
#include "mrvlc/ops/strings.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

enum class Case : uint8_t { None, Lower, Upper };

struct Rules {
  Case change = Case::None;
  bool sensitive = false;
  std::vector<std::string> stopwords;  // in lower case unless case matters
  bool needs_ascii() const { return change != Case::None || (!sensitive && !stopwords.empty()); }
};

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string in_case(std::string text, Case change) {
  for (char& c : text) {
    if (change == Case::Lower && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (change == Case::Upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

Result<Rules> rules_of(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 1, 2));
  const TensorType& x = context.type(0);
  if (x.rank() == 2 && (x.is_dynamic(0) || x.shape[0] != 1))
    return bad_operands("the input must be [C] or [1, C]");
  Rules r;
  const std::string& change = context.string_attr("case_change_action");
  if (change != "NONE" && change != "LOWER" && change != "UPPER")
    return bad_attr("case_change_action", "is none of NONE, LOWER, UPPER");
  r.change = change == "LOWER" ? Case::Lower : change == "UPPER" ? Case::Upper : Case::None;
  r.sensitive = context.int_attr("is_case_sensitive") != 0;
  r.stopwords = ml::strings(context, "stopwords");
  if (!r.sensitive) {
    for (std::string& word : r.stopwords) {
      if (!is_ascii(word)) return bad_attr("stopwords", "has letters outside ASCII; set is_case_sensitive");
      word = in_case(word, Case::Lower);
    }
  }
  return r;
}

// Nothing left is one empty text.
Result<std::vector<std::string>> normalized(const Rules& r, const Tensor& x) {
  std::vector<std::string> out;
  for (const std::string& text : x.string_data()) {
    if (r.needs_ascii() && !is_ascii(text)) return bad_operands("a text has letters outside ASCII");
    std::string key = r.sensitive ? text : in_case(text, Case::Lower);
    if (std::find(r.stopwords.begin(), r.stopwords.end(), key) != r.stopwords.end()) continue;
    out.push_back(in_case(text, r.change));
  }
  if (out.empty()) out.emplace_back();
  return out;
}

Shape with_count(Shape shape, int64_t count) {
  shape.back() = count;
  return shape;
}

Result<std::vector<TensorType>> infer_normalizer(const InferContext& context) {
  MRVLC_ASSIGN(Rules r, rules_of(context));
  const Shape& x = context.type(0).shape;
  if (r.stopwords.empty() || x.back() == 0)
    return one_type(E::String, with_count(x, std::max<int64_t>(x.back(), 1)));
  const Tensor* texts = context.constant(0);
  if (texts == nullptr) return make_diag<DiagCode::MRV0207>("0 (its strings decide the shape of the result)");
  MRVLC_ASSIGN(auto kept, normalized(r, *texts));
  return one_type(E::String, with_count(x, static_cast<int64_t>(kept.size())));
}

Result<std::vector<TensorType>> infer_dynamic_normalizer(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(rules_of(context));
  Dims dims = dims_of(context.type(0));
  dims.back() = {std::max<int64_t>(dims.back().bound, 1), true};
  return one_type(E::String, dims);
}

Status eval_normalizer(const EvalContext& context) {
  MRVLC_ASSIGN(Rules r, rules_of(context.infer_view()));
  MRVLC_ASSIGN(auto kept, normalized(r, context.in(0)));
  context.out().mutable_strings() = std::move(kept);
  return {};
}

// Leaves `ptrdiff_t kept`, the number of strings that are no stop words, and with `store` writes them.
void emit_filter(EmitContext& context, const Rules& r, const std::string& n, bool store,
                 const std::function<void()>& write) {
  ml::StringTable words(context, r.stopwords);
  context.line("kept = 0;");
  context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", n));
  if (store || !r.stopwords.empty()) context.line(fmt::format("const mrvl_string x = {}[i];", context.in(0)));
  if (!r.stopwords.empty()) {
    context.line(fmt::format("if ({}({}, {}, {}, x.data, x.size, {})) continue;", context.helper("is_among"),
                             words.offsets(), words.characters(), r.stopwords.size(), r.sensitive ? 0 : 1));
  }
  if (store) write();
  context.line("++kept;");
  context.close();
}

Status emit_normalizer(EmitContext& context) {
  MRVLC_ASSIGN(Rules r, rules_of(emit_view(context)));
  Texts dims = in_dims(context, 0);
  std::string n = dims.back(), characters;
  int64_t bytes = 0;
  if (r.change != Case::None) {
    auto* memory = dynamic_cast<TextMemory*>(&context);
    if (memory != nullptr) bytes = memory->bytes_of_texts(context.out_type(0).elements());
    if (memory != nullptr) characters = memory->characters(bytes);
    if (characters.empty()) return bad_operands("strings are not made in a loop of any number of turns");
  }
  context.line("ptrdiff_t kept;");
  if (r.needs_ascii()) {
    context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", n));
    context.line(fmt::format("const mrvl_string x = {}[i];", context.in(0)));
    context.line("unsigned char all = 0;");
    context.line(
        "for (size_t j = 0; j < x.size; ++j) all = (unsigned char)(all | (unsigned char)x.data[j]);");
    context.fail_if("all >= 0x80");
    context.close();
  }
  emit_filter(context, r, n, false, {});
  dims.back() = "kept > 0 ? kept : 1";
  context.set_dims(0, dims);
  std::string y = context.out(0);
  context.line(fmt::format("{0}[0].data = NULL;", y));
  context.line(fmt::format("{0}[0].size = 0;", y));
  if (r.change != Case::None) context.line("size_t used = 0;");
  emit_filter(context, r, n, true, [&] {
    if (r.change == Case::None) return context.line(fmt::format("{}[kept] = x;", y));
    context.fail_if(fmt::format("x.size > {} - used", bytes));
    context.open("for (size_t j = 0; j < x.size; ++j)");
    context.line("const char c = x.data[j];");
    bool lower = r.change == Case::Lower;
    context.line(fmt::format("{}[used + j] = (char)(c >= '{}' && c <= '{}' ? c {} 32 : c);", characters,
                             lower ? 'A' : 'a', lower ? 'Z' : 'z', lower ? '+' : '-'));
    context.close();
    context.line(fmt::format("{}[kept].data = {} + used;", y, characters));
    context.line(fmt::format("{}[kept].size = x.size;", y));
    context.line("used += x.size;");
  });
  return {};
}

}  // namespace

const OpDef& def_StringNormalizer() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "StringNormalizer";
    d.traits = {.data_dependent_shape = true};
    d.since_min = 10;
    d.attrs = {with_string("case_change_action", "NONE"), with_int("is_case_sensitive", 0),
               optional("locale", ir::AttrKind::String), optional("stopwords", ir::AttrKind::Strings)};
    d.types = types_of({E::String});
    d.infer = infer_normalizer;
    d.infer_dynamic = infer_dynamic_normalizer;
    d.eval = eval_normalizer;
    d.emit_dynamic = emit_normalizer;
    d.declined = "accelerator: strings stay on the host; C: always with a shape known at run time only";
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
