// Data sets as numbers: MNIST and random projections of it, KDD Cup 1999 and Covertype.
#ifndef WINDHOVER_TOOLS_REPRODUCE_DATA_SETS_H_
#define WINDHOVER_TOOLS_REPRODUCE_DATA_SETS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/tools/data/dataset.h"

namespace windhover::reproduce {

class Context;

// An idx file of bytes (LeCun et al. 1998), plain or gzip-compressed. UserError when it is not one.
struct IdxFile {
  std::vector<std::uint32_t> sizes;  // e.g. 60000, 28, 28
  std::vector<std::uint8_t> bytes;
};
IdxFile read_idx(const std::string& path);

// The names of MNIST's files.
inline constexpr std::array<std::string_view, 4> kMnistFiles = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte"};

// A feature in [0, 1] for every pixel; the target is the digit. UserError when there are no images,
// when the numbers of labels and images differ, and for a label above 9.
Dataset digits_of(const IdxFile& images, const IdxFile& labels, const std::string& path);
// The 60,000 training images, or else the 10,000 test images.
Dataset load_mnist(const Context& context, bool training);

// `dimension` features: the features times a matrix of independent normals of variance 1 / columns.
// The same seed gives the same matrix.
Dataset random_projection(const Dataset& data, std::size_t dimension, std::uint64_t seed);

// The largest absolute value of each column.
std::vector<double> largest_of(const std::vector<double>& features, std::size_t columns);

// Scales features to mean 0 and sd 1 (constant ones to 0), by the means and sds of `by`.
void standardize(Dataset& data, const Dataset& by);

// The rows with these numbers.
Dataset rows_of(const Dataset& data, const std::vector<std::size_t>& rows);

// 0 to count - 1 in random order.
std::vector<std::size_t> permutation(std::size_t count, std::uint64_t seed);

// Fills in names, means and sds from features, targets and the number of columns.
void describe(Dataset& data, std::size_t columns);

struct Connections {
  Dataset data;                       // targets: the number of the label
  std::vector<std::string> labels;    // the most frequent first
  std::vector<std::size_t> distinct;  // the first of each set of equal rows, labels included
};

// 40 features in [0, 1]. The column that is 0 in every row (num_outbound_cmds) is left out.
// Protocol, service and flag become their number in alphabetical order over the largest number.
// Another column with values above 1 becomes log(1 + x) over its largest.
Connections load_connections(const std::string& path);

// 54 features: ten standardised numbers, then 4 wilderness areas and 40 soil types as 0/1 columns.
// Targets are 0 to 6. `path` is UCI's covtype.data (no header, 54 columns and the cover type) or a
// file with a header whose last three columns are Wilderness_Area, Soil_Type and Cover_Type as
// numbers from 1. UserError names the row of a value that is no category.
Dataset load_covertype(const std::string& path);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_DATA_SETS_H_
