// NumPy's .npy format, versions 1 to 3 (numpy.lib.format); read in both orders of dimensions and of bytes,
// written in C order, little-endian. BF16 and the narrow types, which it lacks, are written as the integers
// that hold them.
#pragma once
#include <filesystem>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc {

Result<Tensor> parse_npy(std::string_view bytes, std::string_view shown_name);
Result<Tensor> read_npy(const std::filesystem::path& path);
// The file is as to_npy() writes it: C order, little-endian.
bool is_plain_npy(std::string_view bytes);
std::string to_npy(const Tensor& tensor);
// A tensor read from a file whose elements were of type `elem`: that type again, where the file has the
// integers that hold it.
Tensor from_npy(const Tensor& tensor, ElementType elem);

}  // namespace mrvlc
