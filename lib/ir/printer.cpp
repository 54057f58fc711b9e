// The IR as text; docs/ir.md. What is printed is read back equal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "mrvlc/ir/pass_names.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/support/characters.h"

namespace mrvlc::ir {
namespace {

std::string quote(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u >= 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(u));
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool is_simple(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return is_word(c) || c == '.'; });
}

std::string float_text(float f) {
  if (std::isnan(f)) return fmt::format("nan:{:08x}", std::bit_cast<uint32_t>(f));
  return fmt::format("{}", f);  // shortest text that reads back to the same float; "inf", "-inf"
}

std::string hex_bytes(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "x\"";
  out.reserve(bytes.size() * 2 + 3);
  for (std::byte b : bytes) {
    out += kDigits[static_cast<size_t>(b) >> 4];
    out += kDigits[static_cast<size_t>(b) & 15];
  }
  return out + '"';
}

std::string string_list(const std::vector<std::string>& list) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) out += (i == 0 ? "" : ", ") + quote(list[i]);
  return out + "]";
}

// Small integer tensors read as lists, everything else as hexadecimal bytes: never rounded, never slow.
std::string tensor_data(const Tensor& t) {
  if (t.elem() == ElementType::String) return string_list(t.string_data());
  bool listed = t.elements() <= 16 && (is_integer(t.elem()) || t.elem() == ElementType::Bool) &&
                t.elem() != ElementType::U64;
  if (!listed) return hex_bytes(t.bytes());
  return fmt::format("[{}]", fmt::join(t.to_ints(), ", "));
}

std::string print_body(const Graph& body);

std::string tensor_text(const Tensor& t) {
  return to_string(t.type()) + " " + tensor_data(t);
}

struct AttrPrinter {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(int64_t v) const { return fmt::format("{}", v); }
  std::string operator()(float v) const { return float_text(v); }
  std::string operator()(const std::string& v) const { return quote(v); }
  std::string operator()(const std::vector<int64_t>& v) const {
    return fmt::format("[{}]", fmt::join(v, ", "));
  }
  std::string operator()(const std::vector<float>& v) const {
    std::string out = "[";
    for (size_t i = 0; i < v.size(); ++i) out += (i == 0 ? "" : ", ") + float_text(v[i]);
    return out + "]";
  }
  std::string operator()(const std::vector<std::string>& v) const { return string_list(v); }
  std::string operator()(ElementType v) const { return std::string(name(v)); }
  std::string operator()(const Tensor& v) const { return tensor_text(v); }
  std::string operator()(const std::shared_ptr<Graph>& v) const { return print_body(*v); }
  std::string operator()(const TensorType& v) const { return to_string(v); }
};

class Printer {
 public:
  Printer(const Graph& graph, const PrintOptions& options) : graph_(graph), options_(options) {}

  // A body's sources are those of the graph around it.
  std::string run(bool body = false) {
    out_ += fmt::format("graph {} {{\n", quote(graph_.name));
    for (size_t i = 0; !body && i < graph_.sources().size(); ++i) print_source(i);
    for (ValueId in : graph_.inputs()) {
      const Value& v = graph_.value(in);
      out_ += fmt::format("  input {} : {}\n", value_text(v.name), to_string(v.type));
    }
    auto order = graph_.topological_order();
    print_constants(order);
    for (NodeId id : order) print_node(graph_.node(id));
    for (ValueId o : graph_.outputs()) out_ += fmt::format("  output {}\n", value_text(graph_.value(o).name));
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void print_source(size_t i) {
    const Source& s = graph_.sources()[i];
    out_ += fmt::format("  source {} {} {} {} {} {}\n", i, quote(s.id), quote(s.name), quote(s.domain),
                        quote(s.op_type), string_list(s.outputs));
  }

  // Constants in the order of their first use; unused ones have no meaning and are left out.
  void print_constants(const std::vector<NodeId>& order) {
    std::vector<bool> done(graph_.value_slots(), false);
    auto print_one = [&](ValueId id) {
      if (!graph_.is_constant(id) || done[id.index()]) return;
      done[id.index()] = true;
      const Value& v = graph_.value(id);
      bool elide = !options_.constants && v.constant().elements() > 16;
      out_ += fmt::format("  const {} : {} = {}\n", value_text(v.name), to_string(v.type),
                          elide ? "..." : tensor_data(v.constant()));
    };
    for (NodeId id : order) {
      for (ValueId in : graph_.node(id).inputs) print_one(in);
    }
    for (ValueId o : graph_.outputs()) print_one(o);
  }

  void print_node(const Node& n) {
    out_ += "  ";
    for (size_t i = 0; i < n.outputs.size(); ++i)
      out_ += (i == 0 ? "" : ", ") + value_text(graph_.value(n.outputs[i]).name);
    out_ += " = ";
    if (!n.op->domain.empty()) out_ += std::string(n.op->domain) + "::";
    out_ += std::string(n.op->name) + "(";
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      out_ += i == 0 ? "" : ", ";
      out_ += n.inputs[i].valid() ? value_text(graph_.value(n.inputs[i]).name) : "_";
    }
    out_ += ")";
    print_attrs(n);
    out_ += " : ";
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      out_ += (i == 0 ? "" : ", ") + to_string(graph_.value(n.outputs[i]).type);
    }
    const Lineage& lineage = graph_.lineage(n.id);
    out_ += " loc(";
    for (size_t i = 0; i < lineage.sources.size(); ++i) {
      out_ += fmt::format("{}{}", i == 0 ? "" : ", ", lineage.sources[i].index());
    }
    out_ += fmt::format(") {}", quote(n.name));
    if (lineage.pass != kImported) out_ += fmt::format(" by {}", quote(lineage.pass));
    out_ += "\n";
  }

  void print_attrs(const Node& n) {
    std::string text;
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      if (!is_set(n.attrs[i])) continue;
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", n.op->attrs[i].name, attr_text(n.attrs[i]));
    }
    if (!text.empty()) out_ += " {" + text + "}";
  }

  const Graph& graph_;
  const PrintOptions& options_;
  std::string out_;
};

std::string print_body(const Graph& body) {
  const PrintOptions options;
  return Printer(body, options).run(true);
}

}  // namespace

std::string value_text(std::string_view s) {
  if (s.size() > 1 && s[0] == '%' && is_simple(s.substr(1)) && s[1] >= '0' && s[1] <= '9')
    return std::string(s);
  bool plain = is_simple(s) && !(s[0] >= '0' && s[0] <= '9');
  return "%" + (plain ? std::string(s) : quote(s));
}

std::string attr_text(const Attr& attr) {
  return std::visit(AttrPrinter{}, attr);
}

std::string print(const Graph& graph, const PrintOptions& options) {
  return Printer(graph, options).run();
}

namespace {

// Attributes compare by their text: NaN equals itself, -0 differs from 0.
bool same_node(const Graph& a, const Node& x, const Graph& b, const Node& y) {
  if (x.op != y.op || x.name != y.name || x.inputs.size() != y.inputs.size()) return false;
  for (size_t i = 0; i < x.attrs.size(); ++i) {
    if (attr_text(x.attrs[i]) != attr_text(y.attrs[i])) return false;
  }
  auto same_value = [&](ValueId p, ValueId q) {
    if (!p.valid() || !q.valid()) return p.valid() == q.valid();
    const Value &v = a.value(p), &w = b.value(q);
    return v.kind == w.kind && v.name == w.name && v.type == w.type && v.constant() == w.constant();
  };
  return std::equal(x.inputs.begin(), x.inputs.end(), y.inputs.begin(), y.inputs.end(), same_value) &&
         std::equal(x.outputs.begin(), x.outputs.end(), y.outputs.begin(), y.outputs.end(), same_value) &&
         a.lineage(x.id).sources == b.lineage(y.id).sources && a.lineage(x.id).pass == b.lineage(y.id).pass;
}

bool same_names(const Graph& a, const std::vector<ValueId>& x, const Graph& b,
                const std::vector<ValueId>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](ValueId p, ValueId q) {
    return a.value(p).name == b.value(q).name && a.value(p).type == b.value(q).type;
  });
}

bool same_source(const Source& s, const Source& t) {
  return s.id == t.id && s.name == t.name && s.op_type == t.op_type && s.domain == t.domain &&
         s.outputs == t.outputs;
}

}  // namespace

bool structurally_equal(const Graph& a, const Graph& b) {
  if (a.name != b.name || !same_names(a, a.inputs(), b, b.inputs()) ||
      !same_names(a, a.outputs(), b, b.outputs())) {
    return false;
  }
  if (!std::equal(a.sources().begin(), a.sources().end(), b.sources().begin(), b.sources().end(),
                  same_source)) {
    return false;
  }
  auto x = a.topological_order(), y = b.topological_order();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [&](NodeId p, NodeId q) { return same_node(a, a.node(p), b, b.node(q)); });
}

}  // namespace mrvlc::ir
