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
#include "mrvlc/rules/rule_set.h"

namespace mrvlc::rules {

inline constexpr size_t kMaxFileBytes = size_t{1} << 20;
inline constexpr size_t kMaxRules = 1024;
inline constexpr size_t kMaxElements = 32;     // of a pattern
inline constexpr size_t kMaxConditions = 64;   // of a rule
inline constexpr size_t kMaxItems = 256;       // of a list, a set, a group
inline constexpr size_t kMaxDiagnostics = 64;  // a file

// Rules that parse are appended to `rules`; after an error reading goes on at the next rule.
void parse_file(const RuleFile& file, std::vector<Rule>& rules, Diagnostics& diagnostics);

}  // namespace mrvlc::rules
