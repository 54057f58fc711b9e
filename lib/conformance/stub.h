// A case as generated C: its stub, and a shim that calls it, compiled into a library with others and run on
// the data. The only code that knows what a stub's interface looks like is stub.cpp.
#pragma once
#include "cases.h"

namespace mrvlc::conformance {

// Writes NAME_*.c and the rest into the folder. Passed: it can be compiled; with a message: it need not, as
// nothing of it runs on the target.
Outcome generate_stub(Case& c, const Options& options, const std::string& name,
                      const std::filesystem::path& folder);

// Compiles the stubs of the names into FOLDER/cases.so. Of those that do not compile, which are then left
// out, the compiler's message; of the others an empty text.
std::vector<std::string> build_stubs(const Options& options, const std::filesystem::path& folder,
                                     const std::vector<std::string>& names);

// FOLDER/cases.so, loaded when it is first needed.
class StubLibrary {
 public:
  explicit StubLibrary(const std::filesystem::path& folder) : file_(folder / "cases.so") {}
  void* symbol(const std::string& name);
  std::filesystem::path folder() const { return file_.parent_path(); }

 private:
  std::filesystem::path file_;
  void* handle_ = nullptr;  // until the process ends
};

Outcome run_stub(const Case& c, const Options& options, const std::string& name, StubLibrary& library);

}  // namespace mrvlc::conformance
