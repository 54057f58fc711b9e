// What a binary stores in the middle of a region, read where the hints say. A wrong hint gives other values,
// or none: it can make a comparison fail, and never make one succeed.
#pragma once
#include <map>

#include "machine/memory.h"
#include "program.h"

namespace mrvlc::prove {

struct Observed {
  std::vector<Val> v;         // in the order of ONNX
  std::vector<uint8_t> seen;  // by element
  bool torn = false;          // two copies of an element differ
  bool whole() const;
};

class Observer {
 public:
  explicit Observer(const RegionHints& region);
  // Around each instruction of main, by its number.
  void before(uint32_t instruction);
  void written(const Touch& t);
  void after(uint32_t instruction, const Memory& memory, const Values& values);
  const std::map<std::string, Observed>& all() const { return observed_; }

 private:
  struct Active {
    const PlacedValue* value;
    const PlacedValue::Piece* piece;
    std::vector<bool> written;  // bytes, from the piece's address on
  };
  void collect(const Active& a, const Memory& memory, const Values& values);

  std::map<std::string, Shape> shapes_;
  std::vector<std::pair<const PlacedValue*, const PlacedValue::Piece*>> pieces_;  // by begin
  size_t next_ = 0;
  int64_t room_ = 0;  // bytes that may be watched at a time
  std::vector<Active> active_;
  std::map<std::string, Observed> observed_;
};

}  // namespace mrvlc::prove
