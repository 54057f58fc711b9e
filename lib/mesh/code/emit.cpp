// Programs, their data, and what runs them.
#include "code/emit.h"

#include <fmt/format.h>

#include <map>

#include "code/kernels.h"
#include "code/runtime_text.h"
#include "mrvlc/support/hash.h"
#include "plan/memory.h"

namespace mrvlc::mesh {
namespace {

std::string memory_text(const PeMemory& memory) {
  std::string text = "struct memory {\n";
  uint64_t end = 0;
  for (const PlacedField& f : memory.fields) {
    if (f.offset != end) text += fmt::format("  uint8_t padding[{}];\n", f.offset - end);
    text += fmt::format("  {} {}[{}];\n", f.field.type, f.field.name, f.field.count);
    end = f.offset + static_cast<uint64_t>(f.field.size());
  }
  text += "};\n";
  for (const PlacedField& f : memory.fields)
    text += fmt::format("MRVL_CHECK(offsetof(struct memory, {}) == {});\n", f.field.name, f.offset);
  return text + fmt::format("MRVL_CHECK(sizeof(struct memory) == {});\n\n", memory.bytes);
}

std::string program_text(const NetworkOf& network, const std::vector<const Task*>& tasks,
                         const PeMemory& memory) {
  std::string text = memory_text(memory), names;
  for (size_t i = 0; i < tasks.size(); ++i) {
    text += task_text(network, *tasks[i], std::to_string(i)) + "\n";
    names += fmt::format("{}task_{}", i == 0 ? "" : ", ", i);
  }
  return text + fmt::format("static const mrvl_task tasks[] = {{{}}};\n", names);
}

class Emitter {
 public:
  Emitter(const NetworkOf& network, Plan& plan) : n_(network), plan_(plan), tasks_(plan.pes.size()) {
    for (const Task& t : plan.tasks) tasks_[t.pe].push_back(&t);
  }

  std::vector<std::pair<std::string, std::string>> run() {
    std::string blob;
    for (size_t p = 0; p < plan_.pes.size(); ++p) add_pe(p, blob);
    files_.emplace_back(kBlobFile, std::move(blob));
    for (const RuntimeText& t : runtime_texts())
      files_.emplace_back(std::string(t.file), std::string(t.text));
    files_.emplace_back("tables.c", tables_text(plan_));
    files_.emplace_back("Makefile", makefile());
    files_.emplace_back("run.slurm", slurm());
    return std::move(files_);
  }

 private:
  void add_pe(size_t p, std::string& blob) {
    const PeMemory memory = memory_of(n_, tasks_[p], true);
    PlannedPe& pe = plan_.pes[p];
    pe.memory_bytes = memory.bytes;
    pe.blob_offset = blob.size();
    pe.blob_bytes = memory.blob_bytes;
    for (const PlacedField& f : memory.fields)
      if (f.field.is_constant) blob += f.field.bytes;
    pe.program = program(program_text(n_, tasks_[p], memory), memory.bytes, tasks_[p].size());
  }
  // The number of a program with this text.
  uint32_t program(const std::string& text, uint64_t memory_bytes, size_t tasks) {
    const auto [found, is_new] = numbers_.emplace(text, static_cast<uint32_t>(numbers_.size()));
    if (!is_new) return found->second;
    const std::string file = fmt::format("pe/class_{}.c", found->second);
    std::string whole = fmt::format(
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        "/* A program of processing elements; written by mrvlc. */\n#include \"../mrvl/pe.h\"\n\n{}"
        "extern const struct mrvl_program mrvl_program_{};\n"
        "const struct mrvl_program mrvl_program_{} = {{{}u, {}u, tasks}};\n",
        text, found->second, found->second, memory_bytes, tasks);
    plan_.programs.push_back({file, sha256_hex(whole)});
    files_.emplace_back(file, std::move(whole));
    return found->second;
  }
  std::string makefile() const {
    std::string objects, flags;
    for (const std::string& source : sources(plan_))
      objects += " " + source.substr(0, source.size() - 2) + ".o";
    for (const std::string& flag : compile_flags()) flags += " " + flag;
    return fmt::format(
        "# make; ./mesh --ranks 8 input.npy. make MPI=1; mpirun -n 8 ./mesh input.npy\n"
        "CC = $(if $(MPI),mpicc,cc)\nCFLAGS ={} $(if $(MPI),-DMRVL_MPI)\n"
        "objects ={}\n\nmesh: $(objects)\n\t$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(objects) -lm\n\n"
        "$(objects): coordinator.h messages.h mrvl/pe.h\n\nclean:\n\trm -f mesh $(objects)\n\n.PHONY: "
        "clean\n",
        flags, objects);
  }
  static std::string slurm() {
    return "#!/bin/sh\n#SBATCH --job-name=mesh\n#SBATCH --ntasks=8\n# The arguments are those of ./mesh, "
           "built with make MPI=1.\n"
           "exec srun ./mesh \"$@\"\n";
  }

  const NetworkOf& n_;
  Plan& plan_;
  std::vector<std::vector<const Task*>> tasks_;  // by PE
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::pair<std::string, std::string>> files_;
};

}  // namespace

std::vector<std::string> compile_flags() {
  // Products and sums are rounded one by one: no fused ones.
  return {"-std=c99", "-O3", "-Wall", "-Wextra", "-ffp-contract=off"};
}

std::vector<std::string> sources(const Plan& plan) {
  std::vector<std::string> files = {"coordinator.c", "messages.c", "values.c", "tables.c"};
  for (const ProgramFile& p : plan.programs) files.push_back(p.file);
  return files;
}

std::vector<std::pair<std::string, std::string>> emit(const NetworkOf& network, Plan& plan) {
  return Emitter(network, plan).run();
}

}  // namespace mrvlc::mesh
