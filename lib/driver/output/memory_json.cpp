// memory.json, written and read.
#include "output/memory_json.h"

#include <algorithm>
#include <array>

#include "mrvlc/idmap/idmap.h"

namespace mrvlc::driver {
namespace {

constexpr std::array<std::string_view, 3> kMemoryKinds = {"activation", "weights", "workspace"};

void write_use(JsonWriter& out, const backend::MemoryUse& u) {
  out.object();
  out.key("name");
  idmap::write_text(out, u.name);
  out.member("kind", kMemoryKinds[static_cast<size_t>(u.kind)]);
  out.member("tiles", u.tiles);
  out.member("begin", u.begin);
  out.member("end", u.end);
  out.member("first", u.first);
  out.member("last", u.last);
  out.member("layer", u.layer);
  out.end();
}

backend::MemoryUse read_use(const Json& j) {
  const auto kind = std::ranges::find(kMemoryKinds, j.at("kind").get_ref<const std::string&>());
  backend::MemoryUse u;
  u.kind =
      static_cast<backend::MemoryUse::Kind>(kind == kMemoryKinds.end() ? 0 : kind - kMemoryKinds.begin());
  u.name = j.at("name").get<std::string>();
  u.tiles = j.at("tiles").get<uint8_t>();
  u.begin = j.at("begin").get<uint32_t>();
  u.end = j.at("end").get<uint32_t>();
  u.first = j.at("first").get<uint32_t>();
  u.last = j.at("last").get<uint32_t>();
  u.layer = j.at("layer").get<uint32_t>();
  return u;
}

}  // namespace

void write_memory(JsonWriter& out, const CompiledModel& m) {
  out.object();
  out.member("schema", "mrvlc-memory-1");
  out.key("regions").array();
  for (size_t i = 0; i < m.regions.size(); ++i) {
    out.object();
    out.member("id", i);
    out.key("uses").array();
    for (const backend::MemoryUse& u : m.regions[i].memory_uses) write_use(out, u);
    out.end();
    out.end();
  }
  out.end();
  out.end();
}

std::map<uint32_t, std::vector<backend::MemoryUse>> read_memory(const Json& json) {
  std::map<uint32_t, std::vector<backend::MemoryUse>> out;
  for (const Json& region : json.at("regions")) {
    auto& uses = out[region.at("id").get<uint32_t>()];
    for (const Json& u : region.at("uses")) uses.push_back(read_use(u));
  }
  return out;
}

}  // namespace mrvlc::driver
