// Structs that are objects of JSON: each has one table of its members, by which it is written and read.
//
//   struct Step {
//     double seconds = 0;
//     std::optional<uint32_t> region = {};
//     static void fields(auto& f, auto& s) { f("seconds", s.seconds)("region", s.region); }
//   };
//
// A plain member is in every document; an optional one is absent where it has no value. f.null_or(): null
// stands for no value. f.some(): nothing, "" or 0 is absent. f.added(): files of older versions lack it.
// f.shortest(): 1, where others have 1.0. f.schema(): the name of the document's form. What has its struct
// elsewhere has its table in a specialisation of Table. Words of an enum: a function words(E), found by its
// namespace, returns them.
#pragma once
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mrvlc/support/diag.h"
#include "mrvlc/support/json_writer.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::json {

using Json = nlohmann::ordered_json;
// Whole or not: JSON tells 1 from 1.0.
using Number = std::variant<int64_t, double>;
// An object whose keys are data, in order.
template <class T>
using Dictionary = std::vector<std::pair<std::string, T>>;
// Plain strings are names and sentences: what does not show in them is escaped (printable()), in files and
// when files are read, as they become lines on a terminal and parts of messages.
inline constexpr size_t kMostText = 1u << 20;  // bytes
// Text whose line feeds stay.
struct Lines {
  std::string text;
};

template <class T>
struct Table {
  static void fields(auto& f, auto& v) requires requires { T::fields(f, v); }
  { T::fields(f, v); }
};

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsList<std::set<T>> = true;
template <class T>
inline constexpr bool kIsList<std::span<T>> = true;
template <class T>
inline constexpr bool kIsDictionary = false;
template <class T>
inline constexpr bool kIsDictionary<Dictionary<T>> = true;

template <class T>
void write(JsonWriter& out, const T& v);

// A list that is made while it is written, where one in memory would be too large.
template <class T>
struct Stream {
  using Add = std::function<void(const T&)>;
  std::function<void(const Add&)> each;

  void write_to(JsonWriter& out) const {
    out.array();
    each([&](const T& entry) { write(out, entry); });
    out.end();
  }
  std::vector<T> all() const {
    std::vector<T> list;
    each([&](const T& entry) { list.push_back(entry); });
    return list;
  }
};

// Writes what a table names.
class MemberWriter {
 public:
  explicit MemberWriter(JsonWriter& out) : out_(out) {}
  template <class T>
  MemberWriter& operator()(std::string_view name, const T& v) {
    if constexpr (kIsOptional<T>) return v ? (*this)(name, *v) : *this;
    write(out_.key(name), v);
    return *this;
  }
  template <class T>
  MemberWriter& null_or(std::string_view name, const std::optional<T>& v) {
    write(out_.key(name), v);
    return *this;
  }
  template <class T>
  MemberWriter& some(std::string_view name, const T& v) {
    if constexpr (requires { v.empty(); })
      return v.empty() ? *this : (*this)(name, v);
    else
      return v == T{} ? *this : (*this)(name, v);
  }
  MemberWriter& shortest(std::string_view name, const std::optional<double>& v) {
    if (v) out_.member(name, *v);
    return *this;
  }
  template <class T>
  MemberWriter& added(std::string_view name, const T& v) {
    return (*this)(name, v);
  }
  MemberWriter& schema(std::string_view form) { return (*this)("schema", form); }

 private:
  JsonWriter& out_;
};

// Of a tree; of numbers as nlohmann writes them.
inline void write_tree(JsonWriter& out, const Json& v) {
  if (v.is_object()) {
    out.object();
    for (const auto& [key, value] : v.items()) write_tree(out.key(key), value);
    out.end();
  } else if (v.is_array()) {
    out.array();
    for (const Json& value : v) write_tree(out, value);
    out.end();
  } else if (v.is_string()) {
    out.value(v.get_ref<const std::string&>());
  } else {
    out.verbatim(v.dump());
  }
}

template <class T>
concept HasTable = requires(MemberWriter& f, const T& v) {
  Table<T>::fields(f, v);
};

// As a value, of a struct with all its members.
template <class T>
void write(JsonWriter& out, const T& v) {
  if constexpr (requires { v.write_to(out); }) {
    v.write_to(out);
  } else if constexpr (HasTable<T>) {
    out.object();
    MemberWriter members(out);
    Table<T>::fields(members, v);
    out.end();
  } else if constexpr (kIsOptional<T>) {
    v ? write(out, *v) : out.verbatim("null");
  } else if constexpr (kIsDictionary<T>) {
    out.object();
    for (const auto& [key, value] : v) write(out.key(key), value);
    out.end();
  } else if constexpr (kIsList<T>) {
    out.array();
    for (const auto& item : v) write(out, item);
    out.end();
  } else if constexpr (std::is_enum_v<T>) {
    out.value(words(v)[static_cast<size_t>(v)]);
  } else if constexpr (std::is_same_v<T, Number>) {
    std::visit([&](auto number) { write(out, number); }, v);
  } else if constexpr (std::is_same_v<T, double>) {
    out.verbatim(Json(v).dump());
  } else if constexpr (std::is_same_v<T, Lines>) {
    out.value(v.text);
  } else if constexpr (std::is_same_v<T, Json>) {
    write_tree(out, v);
  } else if constexpr (std::is_same_v<T, std::string>) {
    out.printable_value(v, kMostText);
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    out.printable_value(v.string(), kMostText);
  } else {
    out.value(v);
  }
}

// The whole document.
template <class T>
std::string document(const T& v) {
  std::string text;
  JsonWriter out([&](std::string_view piece) { text += piece; });
  write(out, v);
  out.finish();
  return text;
}
template <class T>
Json tree(const T& v) {
  return Json::parse(document(v));
}

// What is wrong with a document, and where: "regions[2].in[0].bytes" "is missing".
struct Fault {
  std::string where;
  std::string_view what;

  bool in(std::string_view outer) {
    where = std::string(outer) + (where.empty() || where.starts_with('[') ? "" : ".") + where;
    return false;
  }
};

template <class T>
bool read(const Json& json, T& v, Fault& fault);

// Reads what a table names; what a document has besides is of a newer version, and left.
class MemberReader {
 public:
  MemberReader(const Json& json, Fault& fault) : json_(json), fault_(fault) {}
  template <class T>
  MemberReader& operator()(std::string_view name, T& v) {
    return take(name, v, kIsOptional<T>);
  }
  template <class T>
  MemberReader& null_or(std::string_view name, std::optional<T>& v) {
    const Json* const at = find(name);
    return at != nullptr && at->is_null() ? *this : take(name, v, false);
  }
  template <class T>
  MemberReader& some(std::string_view name, T& v) {
    return take(name, v, true);
  }
  MemberReader& shortest(std::string_view name, std::optional<double>& v) { return take(name, v, true); }
  template <class T>
  MemberReader& added(std::string_view name, T& v) {
    return take(name, v, true);
  }
  MemberReader& schema(std::string_view form) {
    const Json* const at = find("schema");
    if (at != nullptr && *at != form) fail("schema", "names another form of file");
    return *this;
  }
  bool good() const { return good_; }

 private:
  const Json* find(std::string_view name) const {
    const auto at = json_.find(name);
    return at == json_.end() ? nullptr : &*at;
  }
  template <class T>
  MemberReader& take(std::string_view name, T& v, bool may_lack) {
    const Json* const at = good_ ? find(name) : nullptr;
    if (at == nullptr) return good_ && !may_lack ? fail(name, "is missing") : *this;
    good_ = read(*at, v, fault_) || fault_.in(name);
    return *this;
  }
  MemberReader& fail(std::string_view name, std::string_view what) {
    fault_ = {std::string(name), what};
    good_ = false;
    return *this;
  }

  const Json& json_;
  Fault& fault_;
  bool good_ = true;
};

inline bool fails(Fault& fault, std::string_view what) {
  fault = {{}, what};
  return false;
}

template <class T>
bool read_number(const Json& json, T& v, Fault& fault) {
  if (!json.is_number_integer()) return fails(fault, "is no whole number");
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<uint64_t>())
                                              : std::in_range<T>(json.get<int64_t>());
  if (!fits) return fails(fault, "is out of range");
  v = json.get<T>();
  return true;
}

template <class T>
bool read_list(const Json& json, T& v, Fault& fault) {
  if (!json.is_array()) return fails(fault, "is no list");
  for (size_t i = 0; i < json.size(); ++i) {
    typename T::value_type item{};
    if (!read(json[i], item, fault)) return fault.in("[" + std::to_string(i) + "]");
    v.insert(v.end(), std::move(item));
  }
  return true;
}

template <class T>
bool read_dictionary(const Json& json, Dictionary<T>& v, Fault& fault) {
  if (!json.is_object()) return fails(fault, "is no object");
  for (const auto& [key, value] : json.items()) {
    T item{};
    std::string name = printable(key, SIZE_MAX);
    if (!read(value, item, fault)) return fault.in(name);
    v.emplace_back(std::move(name), std::move(item));
  }
  return true;
}

template <class T>
bool read_word(const Json& json, T& v, Fault& fault) {
  if (!json.is_string()) return fails(fault, "is no text");
  const auto known = words(v);
  for (size_t i = 0; i < known.size(); ++i)
    if (json == known[i]) return v = static_cast<T>(i), true;
  return fails(fault, "is a word that is not known");
}

// A value of a document, as write() writes it.
template <class T>
bool read(const Json& json, T& v, Fault& fault) {
  if constexpr (HasTable<T>) {
    if (!json.is_object()) return fails(fault, "is no object");
    MemberReader members(json, fault);
    Table<T>::fields(members, v);
    return members.good();
  } else if constexpr (kIsOptional<T>) {
    return json.is_null() || read(json, v.emplace(), fault);
  } else if constexpr (kIsDictionary<T>) {
    return read_dictionary(json, v, fault);
  } else if constexpr (kIsList<T>) {
    return read_list(json, v, fault);
  } else if constexpr (std::is_enum_v<T>) {
    return read_word(json, v, fault);
  } else if constexpr (std::is_same_v<T, Number>) {
    if (json.is_number_integer()) return read(json, v.template emplace<int64_t>(), fault);
    return read(json, v.template emplace<double>(), fault);
  } else if constexpr (std::is_same_v<T, double>) {
    if (!json.is_number()) return fails(fault, "is no number");
    return v = json.get<double>(), true;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) return fails(fault, "is neither true nor false");
    return v = json.get<bool>(), true;
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::filesystem::path>) {
    if (!json.is_string()) return fails(fault, "is no text");
    return v = printable(json.get_ref<const std::string&>(), SIZE_MAX), true;
  } else if constexpr (std::is_same_v<T, Lines>) {
    if (!json.is_string()) return fails(fault, "is no text");
    return v.text = printable_lines(json.get_ref<const std::string&>()), true;
  } else if constexpr (std::is_same_v<T, Json>) {
    return v = json, true;
  } else {
    return read_number(json, v, fault);
  }
}

// nullopt: it is something else.
template <class T>
std::optional<T> parsed(const Json& json) {
  std::optional<T> v(std::in_place);
  Fault fault;
  if (!read(json, *v, fault)) v.reset();
  return v;
}

// What a table names, that of its members too: "regions[].in[].bytes", and whether it may be absent.
class NameList {
 public:
  using Names = std::vector<std::pair<std::string, bool>>;
  NameList(std::string prefix, Names& names) : prefix_(std::move(prefix)), names_(names) {}
  template <class T>
  static Names of() {
    Names names;
    NameList list("", names);
    T sample{};
    Table<T>::fields(list, sample);
    return names;
  }

  template <class T>
  NameList& operator()(std::string_view name, T&) {
    return add<T>(name, kIsOptional<T>);
  }
  template <class T>
  NameList& null_or(std::string_view name, T&) {
    return add<T>(name, false);
  }
  template <class T>
  NameList& some(std::string_view name, T&) {
    return add<T>(name, true);
  }
  template <class T>
  NameList& shortest(std::string_view name, T&) {
    return add<T>(name, true);
  }
  template <class T>
  NameList& added(std::string_view name, T&) {
    return add<T>(name, false);
  }
  NameList& schema(std::string_view) { return add<std::string>("schema", false); }

 private:
  template <class T>
  NameList& add(std::string_view name, bool may_lack) {
    names_.emplace_back(prefix_ + std::string(name), may_lack);
    inside<T>(names_.back().first);
    return *this;
  }
  template <class T>
  void inside(const std::string& path) {
    if constexpr (kIsOptional<T>) {
      inside<typename T::value_type>(path);
    } else if constexpr (kIsList<T> && !kIsDictionary<T>) {
      inside<typename T::value_type>(path + "[]");
    } else if constexpr (HasTable<T>) {
      NameList list(path + ".", names_);
      T sample{};
      Table<T>::fields(list, sample);
    }
  }

  std::string prefix_;
  Names& names_;
};

}  // namespace mrvlc::json
