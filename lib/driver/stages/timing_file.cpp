// Times are the one thing a compile writes that differs from run to run, so they have a file of their own.
#include "stages/timing_file.h"

#include <nlohmann/json.hpp>

#include "inputs/read_files.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/json_document.h"

namespace mrvlc::driver {
namespace {

using Json = nlohmann::ordered_json;

Json entry(const Phase& p) {
  return {{"phase", p.name},
          {"seconds", p.seconds},
          {"cpu_seconds", p.cpu_seconds},
          {"peak_memory_bytes", p.peak_bytes}};
}

std::string timing_text(const PhaseTimer& timer, const std::vector<passes::PassTime>& pass_times) {
  Json phases = Json::array(), passes = Json::array();
  for (const Phase& p : timer.phases()) phases.push_back(entry(p));
  for (const auto& p : pass_times) passes.push_back({{"pass", p.name}, {"seconds", p.seconds}});
  const Json all = {{"phases", phases}, {"passes", passes}, {"total", entry(timer.total())}};
  return json_document(all);
}

}  // namespace

Status TimingFile::open(const OutputDir& out) {
  if (options_.timing.empty()) return {};
  const std::string name = name_in_output(options_, options_.timing);
  for (const auto& [file, sha256] : out.files()) {
    if (file == name)
      return make_diag<DiagCode::MRV0002>(options_.timing.string(), "it is a file of the output");
  }
  if (!name.empty()) return {};  // its folder is not there yet
  MRVLC_ASSIGN(FileWriter writer, FileWriter::create(options_.timing));
  writer_.emplace(std::move(writer));
  return {};
}

Status TimingFile::write(const PhaseTimer& timer, const std::vector<passes::PassTime>& pass_times) {
  if (options_.timing.empty()) return {};
  const std::string text = timing_text(timer, pass_times);
  if (!writer_) return write_file_atomic(options_.timing, text);
  MRVLC_TRY(writer_->append(text));
  return writer_->commit();
}

}  // namespace mrvlc::driver
