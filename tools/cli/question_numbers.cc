#include "windhover/tools/cli/question_numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>

#include "windhover/tools/data/table.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

std::vector<double> parse_vector(const std::string& text) {
  std::vector<double> values;
  std::istringstream in(text + ',');
  std::string part;
  while (std::getline(in, part, ',')) {
    const std::optional<double> value = parse_number(part);
    const bool missing = part == "nan" || part == "NaN" || part == "NAN";
    if (!value && !missing) {
      throw UserError(
          fmt::format("--x \"{}\": \"{}\" is no finite number, and not nan, which says "
                      "that there is none",
                      text, part));
    }
    values.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return values;
}

}  // namespace

QuestionRows from_vectors(const std::vector<std::string>& vectors, const v1::Welcome& welcome) {
  QuestionRows q;
  for (const std::string& text : vectors) {
    const std::vector<double> x = parse_vector(text);
    if (x.size() != welcome.features()) {
      throw UserError(fmt::format("--x has {} numbers, the server's model has {} features",
                                  x.size(), welcome.features()));
    }
    ++q.rows;
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (welcome.max_nonzeros() > 0) {
        if (x[j] == 0.0) continue;
        if (std::isnan(x[j])) {
          throw UserError(fmt::format(
              "--x \"{}\": the server's rows are sparse, and none of their features may be nan; a "
              "schema's columns for missing values are features of their own",
              text));
        }
        q.indices.push_back(static_cast<std::uint32_t>(j));
      }
      q.features.push_back(x[j]);
    }
    if (welcome.max_nonzeros() > 0)
      q.row_ends.push_back(static_cast<std::uint32_t>(q.indices.size()));
  }
  return q;
}

}  // namespace windhover
