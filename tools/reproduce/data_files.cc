#include "windhover/tools/reproduce/data_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace windhover::reproduce {
namespace {

constexpr std::string_view kMnist = "MNIST: LeCun, Bottou, Bengio and Haffner 1998";

constexpr std::array kDataFiles = {
    DataFile{"winequality-white.csv",
             "UCI, Wine Quality: Cortez, Cerdeira, Almeida, Matos and Reis 2009"},
    DataFile{"CASP.csv",
             "UCI, Physicochemical Properties of Protein Tertiary Structure: Rana 2013"},
    DataFile{"Skin_NonSkin.txt", "UCI, Skin Segmentation: Bhatt and Dhall 2012"},
    DataFile{"train-images-idx3-ubyte", kMnist},
    DataFile{"train-labels-idx1-ubyte", kMnist},
    DataFile{"t10k-images-idx3-ubyte", kMnist},
    DataFile{"t10k-labels-idx1-ubyte", kMnist},
    DataFile{"kddcup.data_10_percent",
             "UCI, KDD Cup 1999 Data, the 10 percent file: Stolfo, Fan, Lee, Prodromidis and Chan"},
    DataFile{"covtype.data", "UCI, Covertype: Blackard and Dean 1999"},
    DataFile{"covtype-sample.csv",
             "UCI, Covertype: Blackard and Dean 1999; 397,050 of its 581,012 rows, the one-hot "
             "columns folded into Wilderness_Area and Soil_Type"},
};

}  // namespace

std::span<const DataFile> data_files() { return kDataFiles; }

const DataFile* find_data_file(std::string_view name) {
  const auto* found = std::ranges::find(kDataFiles, name, &DataFile::name);
  return found != kDataFiles.end() ? found : nullptr;
}

std::optional<std::filesystem::path> find_in(const std::filesystem::path& directory,
                                             std::string_view name) {
  for (const char* suffix : {"", ".gz"}) {
    std::filesystem::path path = directory / (std::string(name) + suffix);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

std::string missing_in(const std::filesystem::path& directory,
                       std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (find_in(directory, name)) continue;
    const DataFile* file = find_data_file(name);
    return fmt::format("{} is not in {} ({})", name, directory.string(),
                       file != nullptr ? file->origin : "of unknown origin");
  }
  return "";
}

}  // namespace windhover::reproduce
