// The lines of one C function, its parameters by first use, and what the emission of an operator sees of it.
#include "function.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "mrvlc/ir/lineage.h"
#include "mrvlc/ir/metadata.h"
#include "mrvlc/support/characters.h"
#include "mrvlc/tensor/float16.h"
#include "names.h"
#include "reading/layer_comment.h"

namespace mrvlc::chost {
Function::Function(Program& program, std::vector<ir::NodeId> nodes, std::string_view what)
    : program_(program),
      nodes_(std::move(nodes)),
      symbol_(fmt::format("{}_f{}_{}", program.options.name, program.expr(nodes_.front()).index(),
                          to_identifier(what))) {
  // A node that a pass made for a part has the expression of another one.
  const size_t index = nodes_.front().index(), known = program.graph.exprs.size();
  if (known != 0 && index >= known) symbol_ += fmt::format("_{}", index - known);
}

void Function::line(std::string_view text) {
  if (!text.starts_with('#')) body_.append(static_cast<size_t>(depth_) * 2, ' ');
  body_ += text;
  body_ += '\n';
  for (auto from = text.begin(); (from = std::find_if(from, text.end(), is_word)) != text.end();) {
    const auto past = std::find_if_not(from, text.end(), is_word);
    if (auto it = mentioned_.find(std::string_view(from, past)); it != mentioned_.end()) it->second = true;
    from = past;
  }
}

void Function::open(std::string_view head) {
  line(head.empty() ? std::string("{") : fmt::format("{} {{", head));
  ++depth_;
}

void Function::close() {
  --depth_;
  line("}");
}

std::string Function::declare(BufferId buffer, std::string declaration, std::string name, bool written) {
  if (declare_name(name)) params_.push_back({std::move(declaration), buffer, written});
  return name;
}

// A parameter that is read at the same place: one `restrict` pointer may not be passed as two.
std::optional<std::string> Function::parameter_at(BufferId buffer, const std::string& type) const {
  for (const Param& p : params_) {
    if (p.written || p.view.valid() || !p.text.empty() || !p.declaration.starts_with(type)) continue;
    if (program_.resolve(p.buffer) == program_.resolve(buffer)) return p.declaration.substr(type.size());
  }
  return std::nullopt;
}

void Function::use_views() {
  views_ = true;
  need(Piece::view);
}

void Function::use_errors() {
  fallible_ = true;
  set_reports();
  pass(fmt::format("{}_error* error", program_.options.name), "error");
}

void Function::fail_if(std::string_view condition) {
  fallible_ = true;
  put("if ({}) return {}_ERROR_VALUE;", condition, program_.options.name);
}

void Function::check(ir::ValueId value, const ops::ElementRange& range) {
  const ElementType elem = program_.graph.value(value).type.elem;
  const Piece piece = elem == ElementType::I64   ? Piece::outside_i64
                      : elem == ElementType::I32 ? Piece::outside_i32
                      : elem == ElementType::F64 ? Piece::outside_f64
                                                 : Piece::outside_f32;
  if (range.count > 0) checks_.push_back({program_.place(value), elem, range, need(piece)});
}

std::string Function::view(ir::ValueId value, std::string name, bool written) {
  if (declare_name(name)) {
    params_.push_back({fmt::format("{}{}_view* {}", written ? "" : "const ", program_.options.name, name),
                       program_.place(value), written, value});
  }
  return name;
}

// The pointer to a view's data, declared once.
std::string Function::data_of(ir::ValueId value, std::string name, bool written) {
  std::string shown = view(value, (written ? 'w' : 'v') + name.substr(1), written);
  if (declare_name(name)) {
    front_lines_ +=
        fmt::format("  {0}{1}* const restrict {2} = ({0}{1}*){3}->data;\n", written ? "" : "const ",
                    ops::c_type(program_.graph.value(value).type.elem), name, shown);
  }
  return name;
}

std::string Function::read(ir::ValueId value, std::string name) {
  if (views_) return data_of(value, std::move(name), false);
  return read_buffer(program_.place(value), ops::c_type(program_.graph.value(value).type.elem),
                     std::move(name));
}

std::string Function::write(ir::ValueId value, std::string name) {
  if (views_) return data_of(value, std::move(name), true);
  return write_buffer(program_.place(value), ops::c_type(program_.graph.value(value).type.elem),
                      std::move(name));
}

std::string Function::read_buffer(BufferId buffer, std::string_view c_type, std::string name) {
  const std::string type = fmt::format("const {}* restrict ", c_type);
  if (mentioned_.contains(name)) return name;
  if (const auto other = parameter_at(buffer, type)) {
    declare_name(name);
    mentioned_[*other] = true;
    front_lines_ += fmt::format("  const {}* const {} = {};\n", c_type, name, *other);
    return name;
  }
  return declare(buffer, type + name, name, false);
}

std::string Function::write_buffer(BufferId buffer, std::string_view c_type, std::string name) {
  return declare(buffer, fmt::format("{}* restrict {}", c_type, name), name, true);
}

bool Function::cut(int64_t operations) {
  // What handing over to threads that are awake takes, a few microseconds, is less than a tenth of it.
  constexpr int64_t kLeast = 100'000;
  const bool pays = program_.options.threads > 1 && operations >= kLeast;
  if (!pays || cut_ || views_ || fallible_ || scratches_ > 0 || program_.is_body()) return false;
  need(Piece::parallel);
  return cut_ = true;
}

void Function::cut_loop(std::string_view var, int64_t n, int64_t operations, int64_t grain) {
  const int64_t runs = (n + grain - 1) / grain;
  if (depth_ > 1 || runs < 2 || !cut(operations)) return loop(var, n);
  const std::string share = prefixed("K_share");
  const std::string scale = grain == 1 ? "" : fmt::format(" * {}", grain);
  put("const ptrdiff_t {0}_first = {1}({2}, part, parts){3};", var, share, runs, scale);
  put("const ptrdiff_t {0}_past = part + 1 == parts ? {4} : {1}({2}, part + 1, parts){3};", var, share, runs,
      scale, n);
  open(fmt::format("for (ptrdiff_t {0} = {0}_first; {0} < {0}_past; ++{0})", var));
}

// One address for all parts, and in each its own share of it.
std::string Function::part_scratch(Buffer buffer) {
  const int64_t stride = round_up(std::max<int64_t>(buffer.bytes, 1), 64);
  buffer.bytes = stride * program_.options.threads;
  const int index = scratches_++;
  const std::string all = fmt::format("all{}", index), own = fmt::format("s{}", index);
  declare(program_.add_buffer(buffer), fmt::format("void* restrict {}", all), all, true);
  mentioned_[all] = true;
  front_lines_ += fmt::format("  void* const {} = (unsigned char*){} + part * {};\n", own, all, stride);
  declare_name(own);
  return own;
}

std::string Function::scratch(int64_t bytes, bool kept) {
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.kept = kept;
  return cut_ ? part_scratch(buffer) : declare_scratch(buffer);
}

std::string Function::arena(int64_t bytes, bool kept) {
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.kept = kept;
  buffer.is_arena = true;
  return declare_scratch(buffer);
}

std::string Function::declare_scratch(const Buffer& buffer) {
  std::string name = fmt::format("s{}", scratches_++);
  return declare(program_.add_buffer(buffer), fmt::format("void* restrict {}", name), name, true);
}

std::string Function::characters(int64_t bytes) {
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.kept = true;
  return declare(program_.add_buffer(buffer), "char* restrict characters", "characters", true);
}

void Function::pass(std::string declaration, std::string argument) {
  params_.push_back({std::move(declaration), {}, false, {}, std::move(argument)});
}

std::string Function::weights_base() {
  const std::string name = program_.options.name + "_weights";
  if (program_.options.weights == WeightsAs::Blob && declare_name(name))
    pass("const unsigned char* const " + name, name);
  return name;
}

std::string Function::weights(const std::vector<float>& values) {
  weights_base();
  return fmt::format("{}_FLOATS({})", program_.options.name, program_.weights.add(values));
}

int64_t Function::add_halves(const std::vector<float>& values) {
  std::vector<uint16_t> bits(values.size());
  std::ranges::transform(values, bits.begin(), float_to_half);
  weights_base();
  const size_t before = program_.weights.blob().size();
  const int64_t at = program_.weights.add(std::as_bytes(std::span(bits)));
  if (program_.weights.blob().size() != before)
    program_.module.half_bytes += 2 * static_cast<int64_t>(bits.size());
  return at;
}

std::string Function::halves(const std::vector<float>& values) {
  return fmt::format("{}_HALF_FLOATS({})", program_.options.name, add_halves(values));
}

std::string Function::panels(const std::vector<float>& values, bool halves) {
  return halves ? fmt::format("{}_FLOATS({})", program_.options.name, add_halves(values)) : weights(values);
}

std::string Function::table(const Tensor& tensor, int64_t alignment) {
  return fmt::format("((const {}*)(const void*)({} + {}))", ops::c_type(tensor.elem()), weights_base(),
                     program_.weights.add(tensor.bytes(), alignment));
}

std::string Function::need(Piece piece) {
  program_.library.require(piece, program_.expr(nodes_.front()));
  needed_.push_back(piece);
  return fmt::format("{}_{}", program_.options.name, name(piece));
}

namespace {

void unrestrict(Param& p) {
  const size_t at = p.declaration.find("restrict ");
  if (at != std::string::npos) p.declaration.erase(at, std::strlen("restrict "));
}

}  // namespace

// Where the caller may give the two of a state one memory.
void Function::unrestrict_state() {
  const StatePair* pair =
      nodes_.size() == 1 && !views_ ? program_.updates_state(program_.node(nodes_[0])) : nullptr;
  if (pair == nullptr) return;
  for (Param& p : params_) {
    if (!p.buffer.valid()) continue;
    const Buffer& root = program_.buffers[program_.resolve(p.buffer).first.index()];
    if ((root.kind == Buffer::Kind::Input && root.index == pair->input) ||
        (root.kind == Buffer::Kind::Output && root.index == pair->output))
      unrestrict(p);
  }
}

// A part of a concatenation may be copied to another part of it, and begin where the whole begins: neither
// pointer is `restrict` then.
void Function::unrestrict_equal() {
  auto has_place = [](const Param& p) { return !p.view.valid() && p.text.empty(); };
  std::map<std::pair<BufferId, int64_t>, std::vector<Param*>> by_place;
  for (Param& p : params_) {
    if (has_place(p)) by_place[program_.resolve(p.buffer)].push_back(&p);
  }
  for (const auto& [place, params] : by_place) {
    if (params.size() > 1) std::for_each(params.begin(), params.end(), [](Param* p) { unrestrict(*p); });
  }
}

Call Function::finish() {
  unrestrict_equal();
  unrestrict_state();
  // Operands that decided how the body looks need not be read by it.
  for (const auto& [name, is_mentioned] : mentioned_) {
    if (!is_mentioned) front_lines_ += fmt::format("  (void){};\n", name);
  }
  const bool fallible = views_ || fallible_;
  Call call{symbol_, params_, fallible, reports_};
  call.checks = std::move(checks_);
  if (fallible) line("return 0;");
  std::string list;
  for (const Param& p : params_) list += (list.empty() ? "" : ", ") + p.declaration;
  if (cut_) list += ", const ptrdiff_t part, const ptrdiff_t parts";
  FunctionText text;
  text.symbol = symbol_;
  if (comment_.empty()) comment_ = layer_comment(program_, nodes_, needed_);
  text.text =
      fmt::format("{}{}static {}{} {}({}) {{\n{}{}}}\n", comment_, origin_comment(), attributes_,
                  fallible ? "int" : "void", symbol_, list.empty() ? "void" : list, front_lines_, body_);
  text.above = static_cast<uint32_t>(std::ranges::count(comment_, '\n'));
  text.expr = program_.expr(nodes_.front());
  for (size_t i = 1; i < nodes_.size(); ++i) text.fused.push_back(program_.expr(nodes_[i]));
  for (auto& f : front_) program_.functions.push_back(std::move(f));
  program_.functions.push_back(std::move(text));
  if (cut_) {
    call.task = symbol_ + "_part";
    program_.functions.push_back(task());
  }
  return call;
}

// Where its nodes come from in the exported program, as far as the model says so; in C, a line.
std::string Function::origin_comment() const {
  constexpr size_t kMost = 3;
  std::vector<std::string> origins;
  for (const ir::SourceId id : ir::sources_of(program_.graph, nodes_)) {
    std::string text = ir::to_string(ir::origin_of(program_.graph.sources()[id.index()]));
    if (!text.empty() && std::ranges::find(origins, text) == origins.end())
      origins.push_back(std::move(text));
    if (origins.size() > kMost) break;
  }
  std::string shown;
  for (size_t i = 0; i < std::min(kMost, origins.size()); ++i)
    shown += (i == 0 ? "" : "; ") + comment_text(origins[i]);
  if (shown.empty()) return {};
  return fmt::format("/* from {}{} */\n", shown, origins.size() > kMost ? "; ..." : "");
}

// Takes the arguments from an array of addresses.
FunctionText Function::task() const {
  std::string arguments;
  for (size_t i = 0; i < params_.size(); ++i)
    arguments += fmt::format("{}p[{}], ", params_[i].written ? "(void*)(uintptr_t)" : "", i);
  FunctionText text;
  text.symbol = symbol_ + "_part";
  text.text = fmt::format(
      "static void {0}_part(const void* data, int part, int parts) {{\n"
      "  const void* const* const p = (const void* const*)data;\n  {0}({1}part, parts);\n}}\n",
      symbol_, arguments);
  text.expr = program_.expr(nodes_.front());
  for (size_t i = 1; i < nodes_.size(); ++i) text.fused.push_back(program_.expr(nodes_[i]));
  return text;
}

std::string NodeContext::in_dim(size_t i, int64_t d) const {
  const TensorType& type = in_type(i);
  if (type.wrapper == Wrapper::None && !type.is_dynamic(d))
    return fmt::format("{}", type.shape[static_cast<size_t>(d)]);
  return fmt::format("{}->dim[{}]", function_.view(node_.inputs[i], fmt::format("v{}", i), false), d);
}

std::string NodeContext::out_dim(size_t i, int64_t d) const {
  const TensorType& type = out_type(i);
  if (type.wrapper == Wrapper::None && !type.is_dynamic(d))
    return fmt::format("{}", type.shape[static_cast<size_t>(d)]);
  return fmt::format("{}->dim[{}]", function_.view(node_.outputs[i], fmt::format("w{}", i), true), d);
}

void NodeContext::set_dims(size_t i, const std::vector<std::string>& dims) {
  if (!is_dynamic()) return;
  const TensorType& type = out_type(i);
  const std::string view = function_.view(node_.outputs[i], fmt::format("w{}", i), true);
  std::string given, bounds;
  for (size_t d = 0; d < dims.size(); ++d) {
    given += fmt::format("{}{}", d == 0 ? "" : ", ", dims[d]);
    bounds += fmt::format("{}INT64_C({})", d == 0 ? "" : ", ", type.shape[d]);
  }
  if (dims.empty()) given = bounds = "0";
  function_.put(
      "if ({}({}, {}, (const int64_t[]){{{}}}, (const int64_t[]){{{}}}, {}u, INT64_C({}))) return "
      "{}_ERROR_SHAPE;",
      function_.need(Piece::set_dims), view, dims.size(), given, bounds, type.dynamic, type.elements(),
      function_.program().options.name);
  sized_.insert(i);
  if (sized_.size() == node_.outputs.size()) return_when_empty();
}

// No work for results without elements. The capacity of such a tensor says nothing about its other
// dimensions, which may be as large as their bounds: loops over some of them, and what lies in scratch memory
// between two of them, would be as large, too.
void NodeContext::return_when_empty() {
  std::string all;
  for (size_t i = 0; i < node_.outputs.size(); ++i) {
    const TensorType& type = out_type(i);
    if (type.wrapper != Wrapper::None) return;
    std::string any;
    for (int64_t d = 0; d < type.rank(); ++d) {
      if (!type.is_dynamic(d) && type.shape[static_cast<size_t>(d)] != 0) continue;
      any += fmt::format("{}{} == 0", any.empty() ? "" : " || ", out_dim(i, d));
    }
    if (any.empty()) return;
    all += all.empty() ? any : fmt::format(") && ({}", any);
  }
  if (!all.empty()) function_.put("if ({}) return 0;", sized_.size() > 1 ? "(" + all + ")" : all);
}

void NodeContext::fail_if(std::string_view condition) {
  if (is_dynamic()) function_.fail_if(condition);
}

bool NodeContext::fail_on_value(std::string_view condition) {
  if (is_dynamic() || !function_.program().options.check_indices) return false;
  function_.fail_if(condition);
  return true;
}

bool NodeContext::check_elements(const ops::ElementRange& range) {
  if (is_dynamic() || !function_.program().options.check_indices) return false;
  function_.check(node_.inputs[range.input], range);
  return true;
}

int64_t NodeContext::bytes_of_texts(int64_t elements) const {
  return elements * function_.program().options.text_bytes;
}

std::string NodeContext::characters(int64_t bytes) {
  Module& module = function_.program().module;
  if (!module.texts_allowed) return {};
  module.texts_made = true;
  return function_.characters(bytes);
}

void NodeContext::shared_loop(std::string_view var, const std::string& n, int64_t operations) {
  if (n.empty() || n.find_first_not_of("0123456789") != std::string::npos)
    return EmitContext::shared_loop(var, n, operations);
  function_.cut_loop(var, std::stoll(n), operations);
}

std::string NodeContext::helper(std::string_view name) {
  const std::optional<Piece> piece = find_piece(name);
  if (piece) return function_.need(*piece);
  if (function_.program().error.empty()) function_.program().error = name;
  return {};
}

}  // namespace mrvlc::chost
