// A posterior that somebody else has computed, as a JSON file has it.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "windhover/tools/error.h"
#include "windhover/tools/fit/reference.h"

namespace windhover {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class ReferenceFile {
 public:
  explicit ReferenceFile(const std::string& path) : path_(path) {
    std::ifstream in(path);
    if (!in) throw UserError(fmt::format("cannot read the reference file {}", path));
    json_ = nlohmann::json::parse(in, nullptr, false);
    if (!json_.is_object()) throw UserError(fmt::format("{} is not a JSON object", path));
  }

  double number(const char* key) const {
    const auto& value = at(key);
    if (!value.is_number()) fail(key, "a number");
    return value.get<double>();
  }

  std::vector<double> numbers(const char* key) const {
    const auto& list = at(key);
    std::vector<double> values;
    if (!list.is_array()) fail(key, "a list of numbers");
    for (const auto& value : list) {
      if (!value.is_number()) fail(key, "a list of numbers");
      values.push_back(value.get<double>());
    }
    return values;
  }

  MatrixXd square(const char* key, Index size) const {
    const auto& rows = at(key);
    const std::string expected = fmt::format("a matrix of {} x {} numbers", size, size);
    if (!rows.is_array() || static_cast<Index>(rows.size()) != size) fail(key, expected);
    MatrixXd matrix(size, size);
    for (Index i = 0; i < size; ++i) {
      const auto& row = rows[static_cast<std::size_t>(i)];
      if (!row.is_array() || static_cast<Index>(row.size()) != size) fail(key, expected);
      for (Index j = 0; j < size; ++j) {
        const auto& value = row[static_cast<std::size_t>(j)];
        if (!value.is_number()) fail(key, expected);
        matrix(i, j) = value.get<double>();
      }
    }
    return matrix;
  }

 private:
  const nlohmann::json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) throw UserError(fmt::format("{} has no key \"{}\"", path_, key));
    return *found;
  }
  [[noreturn]] void fail(const char* key, const std::string& expected) const {
    throw UserError(fmt::format("{}: \"{}\" must be {}", path_, key, expected));
  }

  std::string path_;
  nlohmann::json json_;
};

}  // namespace

ReferencePosterior read_reference(const std::string& path) {
  const ReferenceFile file(path);
  ReferencePosterior reference;
  reference.rows = file.number("N");
  if (!(reference.rows >= 1)) throw UserError(fmt::format("{}: N must be at least 1", path));
  const std::vector<double> mode = file.numbers("map");
  const auto dimension = static_cast<Index>(mode.size());
  reference.mode = Eigen::Map<const VectorXd>(mode.data(), dimension);
  reference.covariance = file.square("posterior_cov", dimension);
  reference.curvature = file.square("A", dimension);
  reference.noise = file.square("C", dimension);
  reference.noise_variance = file.number("noise_variance_sigma2");
  reference.feature_shift = file.numbers("feature_shift");
  reference.feature_scale = file.numbers("feature_scale");
  return reference;
}

}  // namespace windhover
