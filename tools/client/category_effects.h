// What a field's categories do beside one another. Each has a column, and where every row has one
// of them only their differences are known, so that the parameter of each by itself is as wide as
// its prior; here each is told above the average of its field's, or above one of them.
#ifndef WINDHOVER_TOOLS_CLIENT_CATEGORY_EFFECTS_H_
#define WINDHOVER_TOOLS_CLIENT_CATEGORY_EFFECTS_H_

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// The columns of one field's categories, those listed first, then those for others and for rows
// without a value.
struct CategoryGroup {
  using Weights = std::vector<std::pair<std::size_t, double>>;  // of columns; one may stand twice

  std::string field;
  std::size_t first = 0;
  std::size_t listed = 0;
  std::size_t columns = 0;
  std::string above;  // what is taken off each, for display
  std::optional<std::size_t>
      against;  // that place in the group; nothing: the average of those listed
  // For each place, what its rows have beside its own column: products with the categories of other
  // fields, each an average of those listed. Empty: the field is crossed with none.
  std::vector<Weights> crossed = {};

  // What an effect is taken against, as weights of the columns, which sum to 1.
  double weight(std::size_t place) const {
    if (against) return place == *against ? 1.0 : 0.0;
    return place < listed ? 1.0 / static_cast<double>(listed) : 0.0;
  }
  // What a row of that place has, `times` as much of it.
  void append(std::size_t place, double times, Weights& to) const;
  // What a row of that place has less what the reference has.
  Weights contrast(std::size_t place) const;
};

// The fields with at least two columns of categories. `against`: "FIELD=CATEGORY" texts, a field's
// own reference each; UserError for one that no group has, and for two of one field. A category
// that alone is listed is its field's reference.
std::vector<CategoryGroup> category_groups(const Schema& schema,
                                           const std::vector<std::string>& against = {});

struct CategoryEffect {
  std::size_t group = 0;
  std::size_t parameter = 0;
  double mean = 0;
  double sd = 0;
};

// Answers to dense rows of `base.size()` features each, one after the other.
using AskRows = std::function<std::vector<PredictiveSummary>(std::span<const double>)>;

// Effects in a model with one linear predictor: exact, by the second difference of its variance
// along the contrast, c'Pc = (v(b + c) + v(b - c)) / 2 - v(b) with b the row of an average category
// of each group and `base` elsewhere. Asks for up to `most_rows` >= 3 at a time, 2 a category and
// one more, and numbers of one effect come from one answer.
std::vector<CategoryEffect> exact_category_effects(const std::vector<CategoryGroup>& groups,
                                                   std::span<const double> base,
                                                   std::size_t most_rows, const AskRows& ask);

// Effects from `means` with blocks of `stride` parameters each, and their spread in the draws, one
// draw after the other: known to within 1 / sqrt(2 draws).
std::vector<CategoryEffect> drawn_category_effects(const std::vector<CategoryGroup>& groups,
                                                   std::size_t stride,
                                                   std::span<const double> means,
                                                   std::span<const double> draws);

// Effects of a server's model whose parameters have the means, in blocks of `stride`; exact where
// the model is dense and has one linear predictor. `draws` says from how many they are, 0: exact.
std::vector<CategoryEffect> served_category_effects(Client& client,
                                                    const std::vector<CategoryGroup>& groups,
                                                    std::size_t stride,
                                                    std::span<const double> means,
                                                    std::uint32_t& draws);

// {"sd": "exact", or of how many draws, "effects": [{"name", "above", "mean", "sd", "q5", "q95"}]}.
nlohmann::ordered_json to_json(const std::vector<CategoryGroup>& groups,
                               const std::vector<CategoryEffect>& effects,
                               const std::vector<std::string>& names, std::uint32_t draws);
// The effects as a table, and how to read it; empty where there are none.
std::string category_effects_table(const nlohmann::ordered_json& effects);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_CATEGORY_EFFECTS_H_
