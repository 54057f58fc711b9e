// The grammar of rule files. `#` starts a comment; line breaks mean nothing.
//
//   file      := (group | rule)*
//   group     := 'group' NAME '=' operator ('|' operator)*
//   rule      := 'rule' NAME '{' clause* '}'
//   clause    := 'layer' NAME | 'priority' INTEGER | 'why' STRING | 'match' '{' element+ '}'
//              | 'where' condition (',' condition)*
//   element   := '%'NAME '=' operator ('|' operator)* '(' [operand (',' operand)*] ')' ['?' | '*']
//   operator  := [DOMAIN '::'] NAME | '@' NAME            -- a group of the same file
//   operand   := '%'NAME ['?'] | '_' ['?'] | '...'
//   condition := term ('or' term)*
//   term      := ['not'] expression [('=='|'!='|'<'|'<='|'>'|'>=') expression | 'in' set | 'in' number '..'
//   number] set       := '{' expression (',' expression)* '}' expression:= INTEGER | FLOAT | STRING | WORD |
//   '%'NAME | '[' [INTEGER (',' INTEGER)*] ']' | NAME '(' arguments ')'
#pragma once
#include "messages.h"
#include "mrvlc/rules/rule_set.h"

namespace mrvlc::rules {

inline constexpr size_t kMaxFileBytes = size_t{1} << 20;
inline constexpr size_t kMaxRules = 1024;
inline constexpr size_t kMaxElements = 32;    // of a pattern
inline constexpr size_t kMaxConditions = 64;  // of a rule
inline constexpr size_t kMaxItems = 256;      // of a list, a set, a group

// Of a file's groups: where each stands and whether a rule uses it.
struct GroupUse {
  std::string name, origin;
  Location at;
  bool used = false;
};

// Rules that parse are appended to `rules`, groups to `groups`; after an error reading goes on at the next
// rule.
void parse_file(const RuleFile& file, std::vector<Rule>& rules, std::vector<GroupUse>& groups,
                Messages& messages);

}  // namespace mrvlc::rules
