// The grammar of rule files, which docs/rules.md explains. `#` starts a comment; line breaks mean nothing.
//
//   file      := (include | group | named | rule)*
//   include   := 'include' STRING
//   group     := 'group' NAME '=' operator ('|' operator)*
//   named     := 'condition' NAME '(' '%'NAME (',' '%'NAME)* ')' '=' condition (',' condition)*
//   rule      := 'rule' NAME '{' clause* '}'
//   clause    := 'layer' NAME | 'priority' INTEGER | 'why' STRING | 'stage' ('source' | 'canonical')
//              | 'match' '{' item+ '}' | 'where' condition (',' condition)*
//              | 'call' NAME '(' [argument (',' argument)*] ')' ['returns' INTEGER] | 'cost' sum
//   argument  := sum | '[' [argument (',' argument)*] ']' | ['&'] NAME '{' [argument (',' argument)*] '}'
//   item      := element | '(' item+ ('|' item+)* ')' ['?' | '*']
//   element   := names '=' operator ('|' operator)* '(' [operand (',' operand)*] ')' ['?' | '*']
//   names     := '%'NAME '...' | '%'NAME (',' ('%'NAME | '_'))*
//   operator  := [DOMAIN '::'] NAME | '@' [FILE '::'] NAME
//   operand   := '%'NAME ['?' | '...'] | '_' ['?'] | '...'
//   condition := term ('or' term)*
//   term      := ['not'] sum [('==' | '!=' | '<' | '<=' | '>' | '>=') sum | 'like' STRING
//                             | 'in' '{' sum (',' sum)* '}' | 'in' sum '..' sum]
//   sum       := product (('+' | '-') product)*
//   product   := value (('*' | '/' | 'mod') value)*
//   value     := INTEGER | FLOAT | STRING | WORD | '%'NAME
//              | ('[' [sum (',' sum)*] ']' | '(' sum ')' | NAME '(' [sum (',' sum)*] ')') ['[' sum ']']
#pragma once
#include "cursor.h"
#include "messages.h"
#include "mrvlc/rules/rule_set.h"

namespace mrvlc::rules {

inline constexpr size_t kMaxFileBytes = size_t{1} << 20;
inline constexpr size_t kMaxRules = 1024;
inline constexpr size_t kMaxElements = 32;    // of a pattern
inline constexpr size_t kMaxNesting = 4;      // of alternatives in alternatives
inline constexpr size_t kMaxConditions = 64;  // of a rule
inline constexpr size_t kMaxTerms = 4096;     // of a rule, with those of named conditions
inline constexpr size_t kMaxItems = 256;      // of a list, a set, a group

inline constexpr std::string_view kClauses[] = {"layer", "priority", "why",  "stage",
                                                "match", "where",    "call", "cost"};

// Of a file's groups: where each stands and whether a rule uses it.
struct GroupUse {
  std::string name, origin;
  Location at;
  std::vector<Operator> operators;
  bool used = false;
};

// Rules that parse are appended to `rules`, groups to `groups`; after an error reading goes on at the next
// rule. A file that others include is parsed once.
void parse_files(const std::vector<RuleFile>& files, std::vector<Rule>& rules, std::vector<GroupUse>& groups,
                 Messages& messages);

// What the file named there defines; nullptr: it cannot be included, and a message says why.
using Include = std::function<const Definitions*(const std::string& name, Location at)>;
// One of them, with its number from 1.
Definitions parse_file(const RuleFile& file, uint32_t number, const Include& include,
                       std::vector<Rule>& rules, std::vector<GroupUse>& groups, Messages& messages);

// Replaces `@file::group` in the rules by the operators of the group.
void write_out_groups(std::vector<Rule>& rules, std::vector<GroupUse>& groups, Messages& messages);

}  // namespace mrvlc::rules
