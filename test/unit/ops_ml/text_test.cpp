// Operators on texts.
#include "evaluate.h"

namespace mrvlc::test {

TEST_CASE("texts are joined and split") {
  CHECK(results_of("", "StringConcat", {texts({"a", "b"}), texts({"x"})})[0].string_data() ==
        Texts{"ax", "bx"});
  auto y = results_of("", "StringSplit", {texts({" a  b ", ""})}, {}, 2);
  CHECK(y[0].string_data() == Texts{"a", "b", "", ""});
  CHECK(y[1].to_ints() == Ints{2, 0});
  y = results_of("", "StringSplit", {texts({"a--b--c", ""})},
                 {{"delimiter", std::string("--")}, {"maxsplit", int64_t{1}}}, 2);
  CHECK(y[0].string_data() == Texts{"a", "b--c", "", ""});
  CHECK(y[1].to_ints() == Ints{2, 1});
}

TEST_CASE("StringNormalizer drops stop words, then changes the case") {
  AttrList a{{"stopwords", Texts{"THE"}}, {"case_change_action", std::string("UPPER")}};
  CHECK(results_of("", "StringNormalizer", {texts({"the", "Cat"})}, a)[0].string_data() == Texts{"CAT"});
  CHECK(results_of("", "StringNormalizer", {texts({"the"})}, a)[0].string_data() == Texts{""});
  CHECK(refusal_of("", "StringNormalizer", {texts({"\xc3\xa9"})}, a) == DiagCode::MRV0208);
  a.emplace_back("is_case_sensitive", int64_t{1});
  CHECK(results_of("", "StringNormalizer", {texts({"the"})}, a)[0].string_data() == Texts{"THE"});
}

TEST_CASE("patterns match whole texts") {
  AttrList a{{"pattern", std::string("[a-c]+\\b.?")}};
  CHECK(results_of("", "RegexFullMatch", {texts({"abc", "abc ", "abcd", ""})}, a)[0].to_ints() ==
        Ints{1, 1, 0, 0});
  CHECK(refusal_of("", "RegexFullMatch", {texts({"a"})}, {{"pattern", std::string("(")}}) ==
        DiagCode::MRV0204);
}

TEST_CASE("texts are compared, chosen and moved") {
  Tensor a = texts({"x", "y"}), b = texts({"x", "z"}), yes = Tensor::of(E::Bool, {2}, Ints{1, 0});
  CHECK(results_of("", "Equal", {a, b})[0].to_ints() == Ints{1, 0});
  CHECK(results_of("", "Where", {yes, a, b})[0].string_data() == Texts{"x", "z"});
  CHECK(results_of("", "Gather", {a, i64({3}, {1, 0, -1})})[0].string_data() == Texts{"y", "x", "y"});
  CHECK(results_of("", "Concat", {a, b}, {{"axis", int64_t{0}}})[0].string_data() ==
        Texts{"x", "y", "x", "z"});
  Tensor square = Tensor::strings({2, 2}, {"a", "b", "c", "d"});
  CHECK(results_of("", "Transpose", {square})[0].string_data() == Texts{"a", "c", "b", "d"});
  CHECK(results_of("", "Reshape", {square, i64({1}, {-1})})[0].shape() == Shape{4});
}

}  // namespace mrvlc::test
