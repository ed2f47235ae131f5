// Covertype from the full file of UCI, or from a file with one column per category.
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/data_sets.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {
namespace {

constexpr std::size_t kNumbers = 10;
constexpr std::size_t kCovertypeColumns = 54;
constexpr std::size_t kClasses = 7;

struct Category {
  const char* name;
  std::size_t first;  // column
  std::size_t count;
};
constexpr std::array kCategories = {Category{"Wilderness_Area", kNumbers, 4},
                                    Category{"Soil_Type", kNumbers + 4, 40}};

// The category as an index, 0 to count - 1.
std::size_t category(const std::string& path, std::size_t row, const char* name, double value,
                     std::size_t count) {
  if (value >= 1 && value <= static_cast<double>(count) && value == std::floor(value)) {
    return static_cast<std::size_t>(value) - 1;
  }
  throw UserError(fmt::format("{}, row {}: {} is {:g}, which has to be a whole number from 1 to {}",
                              path, row + 1, name, value, count));
}

// Which of the 0/1 columns is 1, counted from 1; 0 unless exactly one is.
double one_hot(const double* columns, std::size_t count) {
  double found = 0;
  for (std::size_t j = 0; j < count; ++j) {
    if (columns[j] == 0) continue;
    if (columns[j] != 1 || found != 0) return 0;
    found = static_cast<double>(j + 1);
  }
  return found;
}

}  // namespace

Dataset load_covertype(const std::string& path) {
  const std::string file_name = std::filesystem::path(path).filename().string();
  const bool folded = file_name.find("covtype.data") == std::string::npos;
  const Dataset file =
      load_dataset(path, {.table = {.header = folded}, .target = folded ? "Cover_Type" : "55"});
  const std::size_t expected = folded ? kNumbers + kCategories.size() : kCovertypeColumns;
  if (file.columns() != expected) {
    throw UserError(fmt::format("{} has {} columns beside the cover type, not {}", path,
                                file.columns(), expected));
  }
  Dataset all;
  all.features.assign(file.rows() * kCovertypeColumns, 0.0);
  for (std::size_t i = 0; i < file.rows(); ++i) {
    const double* in = file.row(i);
    double* out = all.features.data() + i * kCovertypeColumns;
    for (std::size_t j = 0; j < kNumbers; ++j) {
      out[j] = file.sd[j] > 0 ? (in[j] - file.mean[j]) / file.sd[j] : 0.0;
    }
    for (std::size_t k = 0; k < kCategories.size(); ++k) {
      const auto& [name, first, count] = kCategories[k];
      const double value = folded ? in[kNumbers + k] : one_hot(in + first, count);
      out[first + category(path, i, name, value, count)] = 1;
    }
    all.targets.push_back(
        static_cast<double>(category(path, i, "Cover_Type", file.targets[i], kClasses)));
  }
  describe(all, kCovertypeColumns);
  return all;
}

}  // namespace windhover::reproduce
