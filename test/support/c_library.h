// Generated C as functions to call.
#pragma once
#include <string>

#include "folders.h"

namespace mrvlc::test {

// C99 code, behind the kernels that emissions may ask for, compiled by $CC (or cc) without a warning, and
// with a trap where its behaviour is undefined; loaded for as long as the object lives.
class CLibrary {
 public:
  explicit CLibrary(const std::string& code);
  CLibrary(const CLibrary&) = delete;
  CLibrary& operator=(const CLibrary&) = delete;
  ~CLibrary();

  template <class Function>
  Function function(const std::string& name) const {
    return reinterpret_cast<Function>(symbol(name));
  }

 private:
  void* symbol(const std::string& name) const;
  TempDir dir_;
  void* handle_ = nullptr;
};

}  // namespace mrvlc::test
