// Loads the library of a plug-in and looks at its table before anything of it is used.
#include <dlfcn.h>

#include <cstring>

#include "mrvlc/plugin/call.h"
#include "mrvlc/plugin/plugin.h"
#include "mrvlc/plugin/supervisor.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::plugin {
namespace {

// Of version 1, the least that there is.
constexpr size_t kLeastTable = offsetof(mrvl_plugin, run) + sizeof(mrvl_plugin::run);
constexpr size_t kMostText = 1000;

std::string fault_of(const mrvl_plugin* table, const std::string& name) {
  if (table == nullptr) return "gives no table";
  if (table->version < 1 || table->version > MRVL_PLUGIN_VERSION)
    return fmt::format("is made for version {} of the interface, this is {}", table->version,
                       MRVL_PLUGIN_VERSION);
  if (table->size < kLeastTable)
    return fmt::format("has a table of {} bytes, which has at least {}", table->size, kLeastTable);
  if (table->name == nullptr) return "has no name";
  if (name != table->name) return fmt::format("is that of '{}'", printable(table->name, 80));
  if (table->legal == nullptr) return "lacks the function 'legal'";
  if (table->encode == nullptr) return "lacks the function 'encode'";
  return {};
}

// Functions that came later than the plug-in, or lie beyond the end of its table, are not there.
mrvl_plugin held_by(const mrvl_plugin& table) {
  mrvl_plugin out{};
  std::memcpy(&out, &table, kLeastTable);
  if (table.version < 2) return out;
  if (table.size >= offsetof(mrvl_plugin, disassemble)) out.configure = table.configure;
  if (table.size >= sizeof table) out.disassemble = table.disassemble;
  return out;
}

}  // namespace

std::string Plugin::take(const mrvl_plugin* table, const std::string& name) {
  std::string fault = fault_of(table, name);
  if (!fault.empty()) return fault;
  table_ = held_by(*table);
  return {};
}

Result<Plugin> Plugin::built_in(const mrvl_plugin* (*entry)(), const std::string& name) {
  Plugin out;
  if (std::string fault = out.take(entry(), name); !fault.empty())
    return make_diag<DiagCode::MRV0355>(printable(name), "built in", fault);
  return out;
}

Result<Plugin> Plugin::open(const std::filesystem::path& library, const std::string& name) {
  const auto faulty = [&](std::string_view what) {
    return make_diag<DiagCode::MRV0355>(printable(name), printable(library.filename().string()), what);
  };
  std::error_code ec;
  // A name without folders would be looked for elsewhere.
  const std::filesystem::path file = std::filesystem::absolute(library, ec);
  if (!std::filesystem::is_regular_file(file, ec)) return faulty("is not there");
  detail::supervise();
  Plugin out;
  const Call call(name, "load");
  // It stays: threads of its own may run on.
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* why = dlerror();
    return faulty(fmt::format("does not load: {}", printable(why == nullptr ? "" : why, kMostText)));
  }
  out.handle_ = std::shared_ptr<void>(handle, [](void* h) { dlclose(h); });
  using Open = const mrvl_plugin* (*)();
  const auto entry = reinterpret_cast<Open>(dlsym(handle, "mrvl_plugin_open"));
  if (entry == nullptr) return faulty("has no function mrvl_plugin_open");
  if (std::string fault = out.take(entry(), name); !fault.empty()) return faulty(fault);
  return out;
}

std::string Plugin::said(int code) const {
  if (table_.error == nullptr) return fmt::format("error {}", code);
  const Call call(table_.name, "error");
  const char* text = table_.error(table_.context);
  if (text == nullptr || *text == 0) return fmt::format("error {}", code);
  return printable(text, kMostText);
}

}  // namespace mrvlc::plugin
