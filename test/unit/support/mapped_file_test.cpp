// Files that are mapped or read, and what happens when they change.
#include "mrvlc/support/mapped_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/hash.h"
#include "support/folders.h"

namespace mrvlc {
namespace {

namespace fs = std::filesystem;

class File {
 public:
  explicit File(size_t size) : text_(size, ' ') {
    for (size_t i = 0; i < size; ++i) text_[i] = static_cast<char>(i * 31 >> 3);
    folder_.write("file", text_);
  }
  fs::path path() const { return folder_.path() / "file"; }
  const std::string& text() const { return text_; }

 private:
  test::TempDir folder_;
  std::string text_;
};

constexpr size_t kLarge = MappedFile::kMapFrom + 12'345;

}  // namespace

TEST_CASE("a file's bytes and hash, small and large") {
  for (size_t size : {size_t{0}, size_t{1}, size_t{5000}, size_t{MappedFile::kMapFrom} - 1, kLarge}) {
    File file(size);
    auto mapped = MappedFile::open(file.path(), UINT64_MAX);
    REQUIRE(mapped.ok());
    CHECK(((*mapped)->text() == file.text()));
    CHECK(*(*mapped)->sha256() == sha256_hex(file.text()));
    CHECK((*mapped)->unchanged().ok());
  }
}

TEST_CASE("what cannot be mapped") {
  File file(100);
  CHECK(MappedFile::open(file.path() / "none", 1000).error().code == DiagCode::MRV0001);
  CHECK(MappedFile::open(fs::temp_directory_path(), 1000).error().code == DiagCode::MRV0003);
  CHECK(MappedFile::open("/dev/zero", 1000).error().code == DiagCode::MRV0003);
  CHECK(MappedFile::open(file.path(), 99).error().code == DiagCode::MRV0005);
}

TEST_CASE("a range is the same after its pages were given back") {
  File file(kLarge);
  auto mapped = *MappedFile::open(file.path(), UINT64_MAX);
  auto bytes = mapped->bytes();
  std::shared_ptr<const void> held = mapped->hold(100'000, 500'000);
  mapped.reset();
  std::string before(reinterpret_cast<const char*>(bytes.data()) + 100'000, 500'000);
  auto copy = held;
  held.reset();
  CHECK((before == file.text().substr(100'000, 500'000)));  // `copy` keeps the file
  CHECK(std::to_integer<int>(bytes[100'000]) == static_cast<unsigned char>(file.text()[100'000]));
}

TEST_CASE("a mapped file that was written to since is found out") {
  File file(kLarge);
  auto mapped = *MappedFile::open(file.path(), UINT64_MAX);
  SECTION("in place") {
    int fd = ::open(file.path().c_str(), O_WRONLY);
    ::usleep(20'000);  // beyond the clock tick of file times
    REQUIRE(::pwrite(fd, "x", 1, 7) == 1);
    ::close(fd);
  }
  SECTION("cut short, and no longer read") {
    fs::resize_file(file.path(), 10);
  }
  SECTION("made longer") {
    fs::resize_file(file.path(), kLarge + 1);
  }
  CHECK(mapped->unchanged().error().code == DiagCode::MRV0003);
}

TEST_CASE("the hash of a file that was cut short is an error") {
  File file(kLarge);
  auto mapped = *MappedFile::open(file.path(), UINT64_MAX);
  fs::resize_file(file.path(), kLarge / 2);
  CHECK(mapped->sha256().error().code == DiagCode::MRV0003);
}

TEST_CASE("a file that is replaced by another one stays what it was") {
  File file(kLarge), other(10);
  auto mapped = *MappedFile::open(file.path(), UINT64_MAX);
  fs::remove(file.path());
  CHECK((mapped->text() == file.text()));
  CHECK(*mapped->sha256() == sha256_hex(file.text()));
}

TEST_CASE("a small file does not change after it was opened") {
  File file(5000);
  auto mapped = *MappedFile::open(file.path(), UINT64_MAX);
  fs::resize_file(file.path(), 1);
  CHECK((mapped->text() == file.text()));
  CHECK(mapped->unchanged().ok());
}

}  // namespace mrvlc
