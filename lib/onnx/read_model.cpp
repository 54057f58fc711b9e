#include "read_model.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <openssl/evp.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

#include "fd.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {
namespace {

namespace io = google::protobuf::io;

// Hashes what protobuf reads.
class HashingStream : public io::CopyingInputStream {
 public:
  explicit HashingStream(int fd) : fd_(fd), hash_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(hash_.get(), EVP_sha256(), nullptr);
  }

  int Read(void* buffer, int size) override {
    ssize_t n = 0;
    do {
      n = ::read(fd_, buffer, static_cast<size_t>(size));
    } while (n < 0 && errno == EINTR);
    if (n < 0) error_ = errno;
    if (n > 0) EVP_DigestUpdate(hash_.get(), buffer, static_cast<size_t>(n));
    return static_cast<int>(n);
  }

  int error() const { return error_; }

  std::string digest() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
    unsigned size = 0;
    EVP_DigestFinal_ex(hash_.get(), out.data(), &size);
    std::string hex;
    for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", static_cast<unsigned>(out[i]));
    return hex;
  }

 private:
  int fd_;
  int error_ = 0;
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash_;
};

Status check_file(int fd, const std::filesystem::path& path, uint64_t max_bytes) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) return make_diag<DiagCode::MRV0003>(path.string(), std::strerror(errno));
  if (!S_ISREG(st.st_mode)) return make_diag<DiagCode::MRV0003>(path.string(), "not a regular file");
  if (static_cast<uint64_t>(st.st_size) > max_bytes)
    return make_diag<DiagCode::MRV0005>(st.st_size, max_bytes);
  if (st.st_size == 0) return make_diag<DiagCode::MRV0101>("the file is empty");
  return {};
}

Diag malformed() {
  return make_diag<DiagCode::MRV0101>("it is cut short, or not a protobuf message of this kind");
}

}  // namespace

Status read_message(const std::filesystem::path& path, uint64_t max_bytes,
                    google::protobuf::MessageLite& message, std::string& sha256) {
  // O_NONBLOCK: a FIFO must be refused, not waited for.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) return make_diag<DiagCode::MRV0001>(path.string(), std::strerror(errno));
  MRVLC_TRY(check_file(fd.get(), path, max_bytes));
  HashingStream stream(fd.get());
  io::CopyingInputStreamAdaptor adaptor(&stream, 1 << 16);
  bool parsed = message.ParseFromZeroCopyStream(&adaptor);
  if (stream.error() != 0) return make_diag<DiagCode::MRV0003>(path.string(), std::strerror(stream.error()));
  if (!parsed) return malformed();
  sha256 = stream.digest();
  return {};
}

Status parse_message(std::string_view bytes, google::protobuf::MessageLite& message) {
  if (bytes.empty()) return make_diag<DiagCode::MRV0101>("the file is empty");
  if (bytes.size() > INT_MAX) return make_diag<DiagCode::MRV0005>(bytes.size(), INT_MAX);
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return malformed();
  return {};
}

}  // namespace mrvlc::onnx
