// C of the operators on sequences and optionals. How a sequence lies in memory: mrvlc/ops/open.h. In views,
// dim[0] is the number of tensors, and of optionals dim[7] says whether there is a value.
#include "emit_util.h"
#include "sequence.h"

namespace mrvlc::ops {
namespace {

// The memory of a sequence as arguments of the pieces: data, slots, bytes of a slot.
std::string block(const std::string& data, const TensorType& type) {
  return fmt::format("{}, {}, {}", data, type.length, slot_bytes(type));
}

std::string count_of(EmitContext& context, size_t i) {
  return context.in_dim(i, 0);
}

std::string element_size(const TensorType& type) {
  return fmt::format("{}u", memory_bytes(TensorType{type.elem, {}}));
}

// const int64_t NAME[] = {dimensions of a tensor};
void declare_dims(EmitContext& context, const std::string& name, size_t input) {
  std::string dims;
  const TensorType& type = context.in_type(input);
  for (int64_t d = 0; d < type.rank(); ++d) dims += (d == 0 ? "" : ", ") + context.in_dim(input, d);
  context.line(fmt::format("const int64_t {}[] = {{{}}};", name, dims.empty() ? "0" : dims));
}

// p: the position of input i, from the back when negative.
void declare_position(EmitContext& context, size_t i, const std::string& count, const std::string& otherwise,
                      const std::string& end) {
  if (context.has(i)) {
    context.line(
        fmt::format("const int64_t at = (int64_t)*{}, p = at < 0 ? at + {} : at;", context.in(i), count));
  } else {
    context.line(fmt::format("const int64_t p = {};", otherwise));
  }
  context.fail_if(fmt::format("p < 0 || p >= {}", end));
}

void copy_all(EmitContext& context, const std::string& to, const std::string& from,
              const std::string& count) {
  context.line(fmt::format("{}({}, {}, {}, {}, {});", context.helper("seq_copy"),
                           block(context.out(0), context.out_type(0)), to,
                           block(context.in(0), context.in_type(0)), from, count));
}

void put(EmitContext& context, const std::string& index, size_t input) {
  const TensorType& type = context.in_type(input);
  context.open("");
  declare_dims(context, "dims", input);
  context.line(fmt::format("{}({}, {}, dims, {}, {}, {});", context.helper("seq_put"),
                           block(context.out(0), context.out_type(0)), index, type.rank(), context.in(input),
                           element_size(type)));
  context.close();
}

void set_count(EmitContext& context, const std::string& count) {
  context.line(fmt::format("{} = {};", context.out_dim(0, 0), count));
}

// Dimensions of tensor `p` of input 0, for set_dims.
std::vector<std::string> row_dims(EmitContext& context, const std::string& p) {
  context.line(
      fmt::format("const int64_t* const row = (const int64_t*)(const void*){} + {} * 8;", context.in(0), p));
  context.fail_if(fmt::format("row[7] != {}", context.out_type(0).rank()));
  std::vector<std::string> dims;
  for (int64_t d = 0; d < context.out_type(0).rank(); ++d) dims.push_back(fmt::format("row[{}]", d));
  return dims;
}

std::string slot_text(const std::string& data, const TensorType& type, const std::string& index) {
  return fmt::format("(const unsigned char*){} + {} + {} * {}", data, type.length * 64, index,
                     slot_bytes(type));
}

std::string product(const std::vector<std::string>& factors, const std::string& last) {
  std::string text = last;
  for (const auto& f : factors) text += " * (size_t)" + f;
  return text;
}

}  // namespace

Status emit_sequence_construct(EmitContext& context) {
  const size_t n = context.node().inputs.size();
  for (size_t i = 0; i < n; ++i) put(context, std::to_string(i), i);
  set_count(context, std::to_string(n));
  return {};
}

Status emit_sequence_empty(EmitContext& context) {
  set_count(context, "0");
  return {};
}

Status emit_sequence_insert(EmitContext& context) {
  const std::string count = count_of(context, 0);
  declare_position(context, 2, count, count, count + " + 1");
  context.fail_if(fmt::format("{} >= {}", count, context.out_type(0).length));
  if (context.in_type(0).length > 0) {
    copy_all(context, "0", "0", "p");
    copy_all(context, "p + 1", "p", count + " - p");
  }
  put(context, "p", 1);
  set_count(context, count + " + 1");
  return {};
}

Status emit_sequence_erase(EmitContext& context) {
  const std::string count = count_of(context, 0);
  declare_position(context, 1, count, count + " - 1", count);
  copy_all(context, "0", "0", "p");
  copy_all(context, "p", "p + 1", count + " - p - 1");
  set_count(context, count + " - 1");
  return {};
}

Status emit_sequence_at(EmitContext& context) {
  const std::string count = count_of(context, 0);
  declare_position(context, 1, count, "0", count);
  const auto dims = row_dims(context, "p");
  context.set_dims(0, dims);
  context.line(fmt::format("memcpy({}, {}, {});", context.out(0),
                           slot_text(context.in(0), context.in_type(0), "p"),
                           product(dims, element_size(context.out_type(0)))));
  return {};
}

Status emit_sequence_length(EmitContext& context) {
  context.line(fmt::format("*{} = {};", context.out(0), count_of(context, 0)));
  return {};
}

Status emit_split_to_sequence(EmitContext& context) {
  MRVLC_ASSIGN(SplitPlan p, split_plan(emit_view(context)));
  const TensorType& type = context.in_type(0);
  const TensorType& out = context.out_type(0);
  const std::string dim = context.in_dim(0, p.axis);
  declare_dims(context, "dims", 0);
  context.line("int64_t part[8] = {0};");
  for (int64_t d = 0, to = 0; d < type.rank(); ++d) {
    if (d != p.axis || p.keep) context.line(fmt::format("part[{}] = dims[{}];", to++, d));
  }
  std::string outer = "1", inner = element_size(type);
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (d != p.axis) (d < p.axis ? outer : inner) += fmt::format(" * (size_t)dims[{}]", d);
  }
  context.line(fmt::format("const size_t outer = {}, inner = {};", outer, inner));
  context.line("int64_t begin = 0, n = 0;");
  context.open(p.sizes ? fmt::format("for (; n < {}; ++n)", context.in_dim(1, 0))
                       : fmt::format("for (; begin < {}; ++n)", dim));
  std::string size = p.sizes   ? fmt::format("(int64_t){}[n]", context.in(1))
                     : p.chunk ? fmt::format("(int64_t)*{}", context.in(1))
                               : std::string("1");
  context.line(fmt::format("int64_t size = {};", size));
  context.fail_if(p.sizes ? "size < 0" : "size < 1");
  if (!p.sizes) context.line(fmt::format("if (size > {0} - begin) size = {0} - begin;", dim));
  context.fail_if(fmt::format("size > {} - begin || size > {} || n >= {}", dim, p.longest, out.length));
  if (p.keep) context.line(fmt::format("part[{}] = size;", p.axis));
  context.line(fmt::format("{}({}, n, part, {}, {});", context.helper("seq_row"), context.out(0),
                           item_type(out).rank(), "0"));
  context.open("for (size_t o = 0; o < outer; ++o)");
  context.line(
      fmt::format("memcpy((unsigned char*){0} + {1} + n * {2} + o * (size_t)size * inner, (const unsigned "
                  "char*){3} + (o * "
                  "(size_t){4} + (size_t)begin) * inner, (size_t)size * inner);",
                  context.out(0), out.length * 64, slot_bytes(out), context.in(0), dim));
  context.close();
  context.line("begin += size;");
  context.close();
  context.fail_if(fmt::format("begin != {}", dim));
  set_count(context, "n");
  return {};
}

Status emit_concat_from_sequence(EmitContext& context) {
  InferContext view = emit_view(context);
  const bool new_axis = view.int_attr("new_axis") != 0;
  const TensorType& in = context.in_type(0);
  const TensorType& out = context.out_type(0);
  MRVLC_ASSIGN(int64_t axis, normalize_axis(view.int_attr("axis"), out.rank()));
  const std::string count = count_of(context, 0);
  context.fail_if(fmt::format("{} < 1", count));
  context.line(fmt::format("const int64_t* const rows = (const int64_t*)(const void*){};", context.in(0)));
  context.line("int64_t total = 0;");
  std::string outer = "1", inner = element_size(in), check = fmt::format("row[7] != {}", in.rank());
  std::vector<std::string> dims;
  for (int64_t d = 0; d < out.rank(); ++d) {
    const int64_t from = new_axis && d > axis ? d - 1 : d;
    dims.push_back(d == axis ? "total" : fmt::format("rows[{}]", from));
    if (d == axis) continue;
    (d < axis ? outer : inner) += fmt::format(" * (size_t)rows[{}]", from);
    check += fmt::format(" || row[{0}] != rows[{0}]", from);
  }
  context.open(fmt::format("for (int64_t i = 0; i < {}; ++i)", count));
  context.line("const int64_t* const row = rows + i * 8;");
  context.fail_if(check);
  context.line(fmt::format("total += {};", new_axis ? "1" : fmt::format("row[{}]", axis)));
  context.close();
  context.set_dims(0, dims);
  context.line(fmt::format("const size_t outer = {}, inner = {};", outer, inner));
  context.line("int64_t begin = 0;");
  context.open(fmt::format("for (int64_t i = 0; i < {}; ++i)", count));
  context.line(
      fmt::format("const int64_t size = {};", new_axis ? "1" : fmt::format("rows[i * 8 + {}]", axis)));
  context.open("for (size_t o = 0; o < outer; ++o)");
  context.line(
      fmt::format("memcpy((unsigned char*){} + (o * (size_t)total + (size_t)begin) * inner, {} + o * "
                  "(size_t)size * inner, "
                  "(size_t)size * inner);",
                  context.out(0), slot_text(context.in(0), in, "i")));
  context.close();
  context.line("begin += size;");
  context.close();
  return {};
}

Status emit_wrapped_copy(EmitContext& context) {
  const TensorType& type = context.in_type(0);
  for (int64_t d = 0; d < 8; ++d)
    context.line(fmt::format("{} = {};", context.out_dim(0, d), context.in_dim(0, d)));
  if (type.wrapper == Wrapper::Optional) {
    context.line(fmt::format("if ({}) memcpy({}, {}, {});", context.in_dim(0, 7), context.out(0),
                             context.in(0), memory_bytes(type)));
  } else {
    copy_all(context, "0", "0", count_of(context, 0));
  }
  return {};
}

Status emit_optional(EmitContext& context) {
  if (!context.has(0)) {
    for (int64_t d = 0; d < 8; ++d) context.line(fmt::format("{} = 0;", context.out_dim(0, d)));
    return {};
  }
  const TensorType& type = context.in_type(0);
  if (type.wrapper == Wrapper::None) {
    for (int64_t d = 0; d < type.rank(); ++d)
      context.line(fmt::format("{} = {};", context.out_dim(0, d), context.in_dim(0, d)));
    std::string bytes = element_size(type);
    for (int64_t d = 0; d < type.rank(); ++d) bytes += " * (size_t)" + context.in_dim(0, d);
    context.line(fmt::format("memcpy({}, {}, {});", context.out(0), context.in(0), bytes));
  } else {
    set_count(context, count_of(context, 0));
    copy_all(context, "0", "0", count_of(context, 0));
  }
  context.line(fmt::format("{} = 1;", context.out_dim(0, 7)));
  return {};
}

Status emit_optional_get(EmitContext& context) {
  const TensorType& in = context.in_type(0);
  const TensorType& out = context.out_type(0);
  const bool optional = in.wrapper == Wrapper::Optional || in.wrapper == Wrapper::OptionalSequence;
  if (optional) context.fail_if(fmt::format("!{}", context.in_dim(0, 7)));
  if (out.wrapper != Wrapper::None) {
    set_count(context, count_of(context, 0));
    copy_all(context, "0", "0", count_of(context, 0));
    return {};
  }
  std::vector<std::string> dims;
  for (int64_t d = 0; d < out.rank(); ++d) dims.push_back(context.in_dim(0, d));
  context.set_dims(0, dims);
  context.line(
      fmt::format("memcpy({}, {}, {});", context.out(0), context.in(0), product(dims, element_size(out))));
  return {};
}

Status emit_optional_has(EmitContext& context) {
  const bool optional = context.has(0) && (context.in_type(0).wrapper == Wrapper::Optional ||
                                           context.in_type(0).wrapper == Wrapper::OptionalSequence);
  const std::string there = !context.has(0) ? "0" : optional ? context.in_dim(0, 7) + " != 0" : "1";
  context.line(fmt::format("*{} = {};", context.out(0), there));
  return {};
}

}  // namespace mrvlc::ops
