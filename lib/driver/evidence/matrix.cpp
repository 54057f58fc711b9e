// The links of the ID map, turned around: by ONNX node; and what it does not account for.
#include "evidence/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "evidence/c_functions.h"
#include "mrvlc/idmap/idmap.h"

namespace mrvlc::driver {
namespace {

// "main/2.then_branch/35" is; in "main/4:My.Function/2" the point is in a name.
bool is_in_body(std::string_view id) {
  while (true) {
    const size_t number = id.find_first_not_of("0123456789");
    if (number != 0 && number != std::string_view::npos && id[number] == '.') return true;
    const size_t next = id.find('/');
    if (next == std::string_view::npos) return false;
    id.remove_prefix(next + 1);
  }
}

class Matrix {
 public:
  Matrix(const MatrixSources& from, Evidence& out) : from_(from), out_(out) {}

  void fill() {
    add_nodes();
    add_instructions();
    add_functions();
    add_proofs();
    for (std::string& gap : idmap::find_gaps(from_.map, counts())) missing(std::move(gap));
    check_instructions();
    check_c();
    check_nodes();
  }

 private:
  void missing(std::string text) { out_.missing.push_back(std::move(text)); }

  std::string requirement(const ir::Source& s) const {
    if (!s.domain.empty() && s.domain != "ai.onnx") return fmt::format("{}.{}", s.domain, s.op_type);
    return fmt::format("ONNX {}, operator set {}", s.op_type, from_.opset);
  }

  // A row for each node of the model, with what the map says of it.
  void add_nodes() {
    std::map<std::string, const idmap::Source*> said;
    for (const idmap::Source& s : from_.map.sources) said.emplace(s.id, &s);
    for (const ir::Source& s : from_.model.sources()) {
      EvidenceNode n{idmap::json_text(s.id), idmap::json_text(s.name), idmap::json_text(s.op_type),
                     idmap::json_text(s.domain)};
      for (const std::string& o : s.outputs) n.outputs.push_back(idmap::json_text(o));
      n.requirement = idmap::json_text(requirement(s));
      if (const auto at = said.find(n.id); at != said.end()) {
        n.fate = at->second->fate;
        n.reason = at->second->reason;
        n.code = at->second->same_bytes.value_or(false) ? "same-bytes" : "none";
        if (at->second->op_type != n.op_type)
          missing(fmt::format("node {} is {} in the model and {} in idmap.json", n.id, n.op_type,
                              at->second->op_type));
        said.erase(at);
      } else {
        missing(fmt::format("node {} ({}) of the model is not in idmap.json", n.id, n.op_type));
      }
      rows_.emplace(n.id, out_.nodes.size());
      out_.nodes.push_back(std::move(n));
    }
    for (const auto& [id, s] : said)
      missing(fmt::format("node {} ({}) of idmap.json is not in the model", id, s->op_type));
  }

  // Of these expressions, each once.
  std::set<size_t> rows_of(const std::vector<uint32_t>& expressions) const {
    std::set<size_t> rows;
    for (const uint32_t e : expressions) {
      if (e >= from_.map.expressions.size()) continue;  // find_gaps says so
      for (const std::string& id : from_.map.expressions[e].sources)
        if (const auto at = rows_.find(id); at != rows_.end()) rows.insert(at->second);
    }
    return rows;
  }

  void add_instructions() {
    std::map<std::pair<uint32_t, uint32_t>, const std::vector<uint32_t>*> layers;
    for (const idmap::Layer& l : from_.map.layers) layers.emplace(std::pair(l.region, l.layer), &l.exprs);
    for (const idmap::Instructions& i : from_.map.instructions) {
      std::vector<uint32_t> expressions = {i.expr_id};
      if (const auto at = layers.find({i.region, i.layer}); at != layers.end())
        expressions.insert(expressions.end(), at->second->begin(), at->second->end());
      for (const size_t row : rows_of(expressions)) {
        out_.nodes[row].instructions.push_back({i.region, i.section, i.begin, i.end});
        out_.nodes[row].code = "own";
      }
    }
  }

  void add_functions() {
    for (const idmap::Function& f : from_.map.host_functions) {
      std::vector<uint32_t> expressions = f.fused;
      expressions.push_back(f.expr_id);
      for (const size_t row : rows_of(expressions)) {
        out_.nodes[row].functions.push_back({f.symbol, f.file, f.first_line, f.last_line});
        out_.nodes[row].code = "own";
      }
    }
  }

  void add_proofs() {
    for (const prove::NodeProof& p : from_.proof.nodes) {
      const auto at = rows_.find(p.id);
      if (at == rows_.end()) continue;
      EvidenceProof& proof = out_.nodes[at->second].proof;
      proof.exact = p.exact;
      proof.declared = p.declared;
      if (!p.exact) proof.reason = idmap::json_text(p.why_not);
      if (!p.declared) proof.reason_declared = idmap::json_text(p.why_not_declared);
      proved_.insert(at->second);
    }
  }

  // As the ranges of the map have them: find_gaps then says where one does not begin at the end of another.
  std::vector<idmap::SectionCounts> counts() const {
    std::vector<idmap::SectionCounts> counts;
    for (const idmap::Instructions& i : from_.map.instructions) {
      if (i.region > from_.map.instructions.size()) continue;
      if (counts.size() <= i.region) counts.resize(i.region + 1);
      idmap::SectionCounts& c = counts[i.region];
      size_t& end = i.section == "init" ? c.init : i.section == "main" ? c.main : c.finish;
      end = std::max<size_t>(end, i.end);
    }
    return counts;
  }

  void check_instructions() {
    const std::vector<idmap::SectionCounts> ranges = counts();
    for (const prove::RegionProof& r : from_.proof.regions) {
      const idmap::SectionCounts c = r.id < ranges.size() ? ranges[r.id] : idmap::SectionCounts();
      const size_t mapped = c.init + c.main + c.finish;
      if (r.instructions != 0 && mapped != r.instructions)
        missing(fmt::format("region {}: {} of its {} instructions are in idmap.json", r.id, mapped,
                            r.instructions));
    }
  }

  // Every function of the stub leads to a node. A kernel may be there twice, behind #if.
  void check_c() {
    std::map<std::pair<std::string, std::string>, std::vector<const idmap::Function*>> said;
    for (const idmap::Function& f : from_.map.host_functions) said[{f.file, f.symbol}].push_back(&f);
    std::set<std::pair<std::string, std::string>> found;
    for (const auto& [file, text] : from_.c)
      for (const CFunction& f : c_functions(text)) {
        const auto at = said.find({file, f.symbol});
        if (at == said.end()) {
          missing(fmt::format("{}:{}: '{}' leads to no node", file, f.line, f.symbol));
          continue;
        }
        found.insert(at->first);
        const bool is_there = std::ranges::any_of(at->second, [&](const idmap::Function* l) {
          return l->first_line <= f.line && f.last_line <= l->last_line;
        });
        if (!is_there)
          missing(fmt::format("{}:{}: '{}' is in other lines than idmap.json says", file, f.line, f.symbol));
      }
    for (const auto& [key, functions] : said)
      if (!found.contains(key))
        missing(fmt::format("{}: no function '{}', which idmap.json names", key.first, key.second));
  }

  void check_nodes() {
    for (size_t row = 0; row < out_.nodes.size(); ++row) {
      EvidenceNode& n = out_.nodes[row];
      const bool runs = n.fate == "accelerator" || n.fate == "cpu" || n.fate == "both";
      if (runs && n.code == "none")
        missing(fmt::format("node {} ({}) runs on the {}, and no code is its", n.id, n.op_type, n.fate));
      if (!runs && n.code != "own" && n.reason.empty())
        missing(fmt::format("node {} ({}) has no code, and no reason why", n.id, n.op_type));
      if (!proved_.contains(row)) missing(fmt::format("node {} ({}) is not in the proof", n.id, n.op_type));
      n.tested = !runs ? "compiled-away" : is_in_body(n.id) ? "by-data" : "every-run";
    }
  }

  const MatrixSources& from_;
  Evidence& out_;
  std::map<std::string, size_t> rows_;  // by id
  std::set<size_t> proved_;             // rows that the proof tells of
};

std::string cell(const std::string& text) {
  const bool formula = !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  std::string out = formula ? "\"'" : "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string code_text(const EvidenceNode& n) {
  std::string text;
  const auto add = [&](const std::string& piece) { text += (text.empty() ? "" : "; ") + piece; };
  for (const EvidenceLines& f : n.functions)
    add(fmt::format("{}:{}-{} {}", f.file, f.first_line, f.last_line, f.symbol));
  for (const EvidenceInstructions& i : n.instructions)
    add(fmt::format("region {} {} {}-{}", i.region, i.section, i.begin, i.end - 1));
  return text.empty() ? n.code : text;
}

std::string proof_text(const EvidenceProof& p) {
  if (p.exact && p.declared) return "proved";
  return "not proved: " + (p.exact ? p.reason_declared : p.reason).value_or("");
}

}  // namespace

void fill_matrix(const MatrixSources& from, Evidence& evidence) {
  Matrix(from, evidence).fill();
}

std::string matrix_csv(const Evidence& evidence) {
  std::string text = "node,name,requirement,outputs,fate,reason,code,proof,test\r\n";
  for (const EvidenceNode& n : evidence.nodes) {
    const std::string outputs = fmt::format("{}", fmt::join(n.outputs, " "));
    for (const std::string& t :
         {n.id, n.name, n.requirement, outputs, n.fate, n.reason, code_text(n), proof_text(n.proof)})
      text += cell(t) + ",";
    text += cell(n.tested) + "\r\n";
  }
  return text;
}

}  // namespace mrvlc::driver
