// The writer's text is that of nlohmann's dump(1), to the byte; texts that many share.
#include "mrvlc/support/json_writer.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "mrvlc/support/diag.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/shared_text.h"

using namespace mrvlc;
using Json = nlohmann::ordered_json;

namespace {

void write(JsonWriter& out, const Json& json) {
  if (json.is_object()) {
    out.object();
    for (const auto& [name, member] : json.items()) {
      out.key(name);
      write(out, member);
    }
    out.end();
  } else if (json.is_array()) {
    out.array();
    for (const Json& element : json) write(out, element);
    out.end();
  } else if (json.is_string()) {
    out.value(json.get<std::string>());
  } else if (json.is_boolean()) {
    out.value(json.get<bool>());
  } else if (json.is_number_unsigned()) {
    out.value(json.get<uint64_t>());
  } else {
    out.value(json.get<int64_t>());
  }
}

std::string text_of(const Json& json, size_t* pieces = nullptr) {
  std::string text;
  JsonWriter out([&](std::string_view piece) {
    text += piece;
    if (pieces != nullptr) ++*pieces;
  });
  write(out, json);
  out.finish();
  return text;
}

}  // namespace

TEST_CASE("JSON text is laid out as by nlohmann") {
  for (const Json& json :
       {Json::object(), Json::array(), Json("text"), Json(0), Json(-7), Json(true),
        Json{{"a", Json::array()}, {"b", Json::object()}, {"c", {1, 2, {{"d", false}}}}},
        Json{{{"n", UINT64_MAX}, {"m", INT64_MIN}}, {{"", ""}}, Json::array({Json::array()})}}) {
    CHECK(text_of(json) == json.dump(1) + "\n");
  }
}

TEST_CASE("JSON text escapes what must be, and nothing else") {
  std::string all;
  for (int c = 1; c < 0x80; ++c) all += static_cast<char>(c);
  all += std::string_view("\0 \xc3\xa9 \xe2\x80\xa8", 8);
  const Json json = {{"quotes \" and \\", all}, {"\n", "\"\""}};
  CHECK(text_of(json) == json_document(json));
  CHECK(Json::parse(text_of(json)) == json);
}

TEST_CASE("JSON text shows no hidden character, and values are the same") {
  const std::string hidden = "\x7f\xc2\x9b\xc2\xad\xd8\x9c\xe2\x80\xae\xef\xbb\xbf\xf3\xa0\x81\x81";
  const std::string escapes = "\\u007f\\u009b\\u00ad\\u061c\\u202e\\ufeff\\udb40\\udc41";
  const Json json = {{hidden, {hidden, "\xc3\xa9"}}};
  CHECK(text_of(json) == "{\n \"" + escapes + "\": [\n  \"" + escapes + "\",\n  \"\xc3\xa9\"\n ]\n}\n");
  CHECK(text_of(json) == json_document(json));
  CHECK(Json::parse(text_of(json)) == json);
  CHECK(json_line(Json(hidden)) == '"' + escapes + '"');
  // No UTF-8: a replacement for each byte or beginning that is none; readers would refuse the document.
  for (const char* broken : {"\xff", "a\xc3(", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x80"}) {
    CHECK_FALSE(Json::parse(text_of(Json(broken)), nullptr, false).is_discarded());
    CHECK_FALSE(Json::parse(json_document(Json(broken)), nullptr, false).is_discarded());
  }
}

TEST_CASE("JSON text escapes a character wherever it stands") {
  // Texts are looked through eight characters at once.
  for (size_t length : {1u, 7u, 8u, 9u, 16u, 19u}) {
    for (size_t at = 0; at < length; ++at) {
      for (int c = 0; c < 0x80; ++c) {
        std::string text(length, 'x');
        text[at] = static_cast<char>(c);
        if (text_of(Json(text)) != json_document(Json(text))) FAIL("character " << c << " at " << at);
      }
    }
  }
}

TEST_CASE("JSON texts in their printable form") {
  auto written = [](std::string_view text, size_t most) {
    std::string out;
    JsonWriter writer([&](std::string_view piece) { out += piece; });
    writer.printable_value(text, most);
    writer.finish();
    return out;
  };
  for (size_t at = 0; at < 17; ++at) {
    for (int c = 0; c < 0x100; ++c) {
      std::string text(17, 'x');
      text[at] = static_cast<char>(c);
      if (c >= 0x20 && c < 0x7f) CHECK(printable(text) == text);
      if (written(text, 100) != Json(printable(text, 100)).dump(1) + "\n") FAIL("byte " << c << " at " << at);
    }
  }
  CHECK(written("a longer text", 8) == Json(printable("a longer text", 8)).dump(1) + "\n");
}

TEST_CASE("JSON texts of values that recur") {
  const Json recurs = {{"a", {1, Json::object()}}, {"b", "text"}};
  std::string text;
  JsonWriter out([&](std::string_view piece) { text += piece; });
  out.array();
  const std::string once = JsonWriter::text(out.depth(), [&](JsonWriter& o) { write(o, recurs); });
  const std::string deeper = JsonWriter::text(2, [&](JsonWriter& o) { write(o, recurs); });
  for (int i = 0; i < 3; ++i) out.verbatim(once);
  out.object();
  out.key("in").verbatim(deeper);
  out.member("last", 1);
  out.end();
  out.end();
  out.finish();
  CHECK(text == Json{recurs, recurs, recurs, {{"in", recurs}, {"last", 1}}}.dump(1) + "\n");
}

TEST_CASE("shared texts: equal ones of a pool are one") {
  TextPool pool;
  const SharedText a = pool.get("why"), b = pool.get(std::string("wh") + 'y'), c = "why", none;
  CHECK(&a.str() == &b.str());
  CHECK(&a.str() != &c.str());
  CHECK(a == c.str());
  CHECK(none.empty());
  CHECK(none == "");
  CHECK(fmt::format("{:>5}", a) == "  why");
}

TEST_CASE("large JSON text comes in pieces") {
  Json json = Json::array();
  for (int i = 0; i < 20'000; ++i) json.push_back({{"name", "node " + std::to_string(i)}, {"number", i}});
  size_t pieces = 0;
  CHECK((text_of(json, &pieces) == json.dump(1) + "\n"));
  CHECK(pieces > 10);
}
