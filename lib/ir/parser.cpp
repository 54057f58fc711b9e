// Textual IR to graphs (docs/ir.md).
#include <unordered_map>

#include "mrvlc/ir/pass_names.h"
#include "mrvlc/ir/text.h"
#include "type_reader.h"

namespace mrvlc::ir {
namespace {

// Bodies in bodies in bodies: the parser recurses.
constexpr int kMaxDepth = 64;

class Parser {
 public:
  Parser(Lexer& lex, const OpRegistry& registry, Graph graph, int depth = 0)
      : lex_(lex), types_(lex), registry_(registry), graph_(std::move(graph)), depth_(depth) {}

  Result<Graph> run() {
    if (depth_ > kMaxDepth) return lex_.error("graphs nest too deep");
    MRVLC_TRY(lex_.expect("graph"));
    MRVLC_ASSIGN(graph_.name, lex_.quoted());
    MRVLC_TRY(lex_.expect("{"));
    while (!lex_.accept("}")) MRVLC_TRY(statement());
    return std::move(graph_);
  }

 private:
  // A body sees the sources of the graph around it, and adds to them.
  Result<Attr> body() {
    MRVLC_ASSIGN(Graph parsed, Parser(lex_, registry_, graph_.new_body(), depth_ + 1).run());
    return Attr(std::shared_ptr<Graph>(std::make_shared<Graph>(std::move(parsed))));
  }

  Status statement() {
    if (lex_.accept("source")) return source();
    if (lex_.accept("input")) return input();
    if (lex_.accept("const")) return constant();
    if (lex_.accept("output")) return output();
    if (lex_.next_is('%')) return node();
    return lex_.error("expected source, input, const, output, a node or '}'");
  }

  Status source() {
    MRVLC_ASSIGN(int64_t number, lex_.integer());
    if (number != static_cast<int64_t>(graph_.sources().size()))
      return lex_.error("sources are numbered from 0 on");
    Source s;
    MRVLC_ASSIGN(s.id, lex_.quoted());
    MRVLC_ASSIGN(s.name, lex_.quoted());
    MRVLC_ASSIGN(s.domain, lex_.quoted());
    MRVLC_ASSIGN(s.op_type, lex_.quoted());
    MRVLC_ASSIGN(s.outputs, types_.string_list());
    graph_.add_source(std::move(s));
    return {};
  }

  Status input() {
    MRVLC_ASSIGN(std::string name, value_name());
    MRVLC_TRY(lex_.expect(":"));
    MRVLC_ASSIGN(TensorType t, types_.type());
    return define(name, graph_.add_input(name, std::move(t)));
  }

  Status constant() {
    MRVLC_ASSIGN(std::string name, value_name());
    MRVLC_TRY(lex_.expect(":"));
    MRVLC_ASSIGN(TensorType t, types_.type());
    MRVLC_TRY(lex_.expect("="));
    MRVLC_ASSIGN(Tensor tensor, types_.tensor(std::move(t)));
    return define(name, graph_.add_constant(name, std::move(tensor)));
  }

  Status output() {
    MRVLC_ASSIGN(ValueId id, use());
    graph_.add_output(id);
    return {};
  }

  Status node() {
    std::vector<std::string> names;
    do {
      MRVLC_ASSIGN(names.emplace_back(), value_name());
    } while (lex_.accept(","));
    MRVLC_TRY(lex_.expect("="));
    MRVLC_ASSIGN(const OpSchema* op, op_name());
    MRVLC_ASSIGN(std::vector<ValueId> inputs, operands());
    std::vector<Attr> attrs = default_attrs(*op);
    if (lex_.accept("{")) MRVLC_TRY(attributes(*op, attrs));
    MRVLC_TRY(lex_.expect(":"));
    std::vector<TensorType> types;
    do {
      MRVLC_ASSIGN(types.emplace_back(), types_.type());
    } while (lex_.accept(","));
    if (types.size() != names.size()) return lex_.error("as many types as results are needed");
    for (size_t i = 0; i < op->attrs.size(); ++i) {
      if (op->attrs[i].required && !is_set(attrs[i])) {
        return lex_.error("attribute '" + std::string(op->attrs[i].name) + "' is required");
      }
    }
    MRVLC_ASSIGN(Lineage lineage, location(*op, names));
    std::string node_name;
    if (lex_.next_is('"')) {
      MRVLC_ASSIGN(node_name, lex_.quoted());
    }
    lineage.pass = kImported;
    if (lex_.accept("by")) {
      MRVLC_ASSIGN(lineage.pass, lex_.quoted());
    }
    NodeId id = graph_.add_node(*op, std::move(node_name), std::move(inputs), std::move(attrs),
                                std::move(types), names, std::move(lineage));
    for (size_t i = 0; i < names.size(); ++i) MRVLC_TRY(define(names[i], graph_.node(id).outputs[i]));
    return {};
  }

  // loc(17) or loc(1, 2); a node without it gets a source of its own (hand-written tests).
  Result<Lineage> location(const OpSchema& op, const std::vector<std::string>& outputs) {
    Lineage lineage;
    if (!lex_.accept("loc")) {
      std::string id = "main/" + std::to_string(graph_.sources().size());
      lineage.sources.push_back(graph_.add_source(
          {std::move(id), outputs[0], std::string(op.name), std::string(op.domain), outputs}));
      return lineage;
    }
    MRVLC_TRY(lex_.expect("("));
    do {
      MRVLC_ASSIGN(int64_t number, lex_.integer());
      if (number < 0 || number >= static_cast<int64_t>(graph_.sources().size()))
        return lex_.error("no such source");
      lineage.sources.push_back(SourceId(static_cast<size_t>(number)));
    } while (lex_.accept(","));
    MRVLC_TRY(lex_.expect(")"));
    return lineage;
  }

  Result<const OpSchema*> op_name() {
    MRVLC_ASSIGN(std::string name, lex_.word());
    std::string domain;
    if (lex_.accept("::")) {
      domain = std::move(name);
      MRVLC_ASSIGN(name, lex_.word());
    }
    const OpSchema* op = registry_.find(domain, name);
    if (op == nullptr) return lex_.error("unknown operator '" + name + "'");
    return op;
  }

  Result<std::vector<ValueId>> operands() {
    std::vector<ValueId> inputs;
    MRVLC_TRY(lex_.expect("("));
    if (lex_.accept(")")) return inputs;
    do {
      if (lex_.accept("_")) {
        inputs.emplace_back();
        continue;
      }
      MRVLC_ASSIGN(inputs.emplace_back(), use());
    } while (lex_.accept(","));
    MRVLC_TRY(lex_.expect(")"));
    return inputs;
  }

  Status attributes(const OpSchema& op, std::vector<Attr>& attrs) {
    do {
      MRVLC_ASSIGN(std::string name, lex_.word());
      int index = op.attr_index(name);
      if (index < 0) return lex_.error("operator has no attribute '" + name + "'");
      MRVLC_TRY(lex_.expect("="));
      MRVLC_ASSIGN(attrs[static_cast<size_t>(index)], attribute(op.attrs[static_cast<size_t>(index)].kind));
    } while (lex_.accept(","));
    return lex_.expect("}");
  }

  Result<Attr> attribute(AttrKind kind) {
    switch (kind) {
      case AttrKind::Int:
        return wrap(lex_.integer());
      case AttrKind::Float:
        return wrap(lex_.real());
      case AttrKind::String:
        return wrap(lex_.quoted());
      case AttrKind::Ints:
        return wrap(types_.list<int64_t>([&] { return lex_.integer(); }));
      case AttrKind::Floats:
        return wrap(types_.list<float>([&] { return lex_.real(); }));
      case AttrKind::Strings:
        return wrap(types_.string_list());
      case AttrKind::Type:
        return wrap(types_.element_type());
      case AttrKind::Graph:
        return body();
      case AttrKind::ValueType:
        return wrap(types_.type());
      case AttrKind::Tensor:
        break;
    }
    MRVLC_ASSIGN(TensorType t, types_.type());
    return wrap(types_.tensor(std::move(t)));
  }

  template <class T>
  static Result<Attr> wrap(Result<T> r) {
    if (!r.ok()) return std::move(r).error();
    return Attr(std::move(r).value());
  }

  Result<std::string> value_name() {
    MRVLC_TRY(lex_.expect("%"));
    if (lex_.next_is('"')) return lex_.quoted();
    MRVLC_ASSIGN(std::string name, lex_.simple_name());
    if (name[0] >= '0' && name[0] <= '9') name = "%" + name;
    return name;
  }

  Result<ValueId> use() {
    MRVLC_ASSIGN(std::string name, value_name());
    auto it = values_.find(name);
    if (it == values_.end()) return lex_.error("value '" + printable(name) + "' is not defined above");
    return it->second;
  }

  Status define(const std::string& name, ValueId id) {
    if (!values_.emplace(name, id).second)
      return lex_.error("value '" + printable(name) + "' is defined twice");
    return {};
  }

  Lexer& lex_;
  TypeReader types_;
  const OpRegistry& registry_;
  Graph graph_;
  int depth_;
  std::unordered_map<std::string, ValueId> values_;
};

}  // namespace

Result<Graph> parse(std::string_view text, const OpRegistry& registry) {
  Lexer lex(text);
  MRVLC_ASSIGN(Graph graph, Parser(lex, registry, Graph()).run());
  if (!lex.at_end()) return lex.error("text after the graph");
  return graph;
}

}  // namespace mrvlc::ir
