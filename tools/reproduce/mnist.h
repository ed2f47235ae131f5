// MNIST and random projections of it.
#ifndef WINDHOVER_TOOLS_REPRODUCE_MNIST_H_
#define WINDHOVER_TOOLS_REPRODUCE_MNIST_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/tools/data/dataset.h"

namespace windhover::reproduce {

class Context;

// An idx file (LeCun et al. 1998) of bytes, plain or gzip-compressed. UserError when it is not one.
struct IdxFile {
  std::vector<std::uint32_t> sizes;  // e.g. 60000, 28, 28
  std::vector<std::uint8_t> bytes;
};
IdxFile read_idx(const std::string& path);

// The names of its files.
inline constexpr std::array<std::string_view, 4> kMnistFiles = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte"};

// A feature in [0, 1] for every pixel, and the digit; UserError for another number of labels than
// images, for none, and for labels above 9.
Dataset digits_of(const IdxFile& images, const IdxFile& labels, const std::string& path);
// `training`: the 60,000, otherwise the 10,000.
Dataset load_mnist(const Context& context, bool training);

// Features through a matrix of independent normals of variance 1 / columns: `dimension` features.
// The same seed gives the same matrix.
Dataset random_projection(const Dataset& data, std::size_t dimension, std::uint64_t seed);

// Features to mean 0 and sd 1 (constant ones to 0), by the means and sds of `by`.
void standardize(Dataset& data, const Dataset& by);

// The rows of these numbers.
Dataset rows_of(const Dataset& data, const std::vector<std::size_t>& rows);

// 0 to count - 1 in random order.
std::vector<std::size_t> permutation(std::size_t count, std::uint64_t seed);

// Fills in names, means and sds from features, targets and the number of columns.
void describe(Dataset& data, std::size_t columns);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_MNIST_H_
