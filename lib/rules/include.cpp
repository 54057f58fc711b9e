// Files that include others: each is parsed once, in front of the first that names it.
#include <filesystem>
#include <map>

#include "parser.h"

namespace mrvlc::rules {
namespace {

std::string normal(std::string_view name) {
  return std::filesystem::path(name).lexically_normal().generic_string();
}

class IncludedFiles {
 public:
  IncludedFiles(const std::vector<RuleFile>& files, std::vector<Rule>& rules, std::vector<GroupUse>& groups,
                Messages& messages)
      : files_(files), rules_(rules), groups_(groups), messages_(messages), parsed_(files.size()) {
    for (size_t i = 0; i < files.size(); ++i) {
      if (!files[i].built_in) by_name_.try_emplace(normal(files[i].shown_name), i);
    }
  }

  void run() {
    for (size_t i = 0; i < files_.size(); ++i) parse(i);
  }

 private:
  struct Parsed {
    bool begun = false;
    Definitions definitions;
  };

  void parse(size_t i) {
    if (parsed_[i].begun) return;
    parsed_[i].begun = true;
    underway_.push_back(i);
    const Include include = [&](const std::string& name, Location at) { return included(i, name, at); };
    parsed_[i].definitions =
        parse_file(files_[i], static_cast<uint32_t>(i + 1), include, rules_, groups_, messages_);
    underway_.pop_back();
  }

  const Definitions* included(size_t from, const std::string& name, Location at) {
    const std::string& origin = files_[from].shown_name;
    auto found = by_name_.find(included_name(origin, name));
    if (found == by_name_.end()) {
      messages_.add<DiagCode::MRV0329>(origin, at, printable(name), "there is no such file that can be read");
      return nullptr;
    }
    const size_t i = found->second;
    if (auto begin = std::ranges::find(underway_, i); begin != underway_.end()) {
      messages_.add<DiagCode::MRV0330>(origin, at, circle(begin));
      return nullptr;
    }
    parse(i);
    return &parsed_[i].definitions;
  }

  std::string circle(std::vector<size_t>::iterator begin) const {
    std::string out;
    for (auto i = begin; i != underway_.end(); ++i) out += printable(files_[*i].shown_name) + ", ";
    return out + printable(files_[*begin].shown_name);
  }

  const std::vector<RuleFile>& files_;
  std::vector<Rule>& rules_;
  std::vector<GroupUse>& groups_;
  Messages& messages_;
  std::vector<Parsed> parsed_;
  std::vector<size_t> underway_;  // each included by the one before
  std::map<std::string, size_t> by_name_;
};

}  // namespace

std::vector<std::string> includes_of(std::string_view text) {
  std::vector<std::string> out;
  if (text.find("include") == std::string_view::npos) return out;
  const std::vector<Token> tokens = tokenize(text);
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::Word && tokens[i].text == "include" &&
        tokens[i + 1].kind == Token::Kind::String)
      out.push_back(tokens[i + 1].text);
  }
  return out;
}

std::string included_name(std::string_view shown_name, std::string_view include) {
  return normal((std::filesystem::path(shown_name).parent_path() / std::filesystem::path(include)).string());
}

void parse_files(const std::vector<RuleFile>& files, std::vector<Rule>& rules, std::vector<GroupUse>& groups,
                 Messages& messages) {
  IncludedFiles(files, rules, groups, messages).run();
}

}  // namespace mrvlc::rules
