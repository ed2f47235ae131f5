// Effects of the categories of a field in relation to one another. Each category has a column.
// Where every row has one of them only differences are known, and the parameter of each alone is as
// wide as its prior; so each is given above the average of its field, or above one category.
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

// The columns of the categories of one field: those listed first, then those for other categories
// and for rows without a value.
struct CategoryGroup {
  using Weights = std::vector<std::pair<std::size_t, double>>;  // columns may repeat

  std::string field;
  std::size_t first = 0;
  std::size_t listed = 0;
  std::size_t columns = 0;
  std::string above;  // the name of the reference, for display
  std::optional<std::size_t>
      against;  // that place in the group; nothing: the average of those listed
  // For each place, the products with categories of other fields that its rows have beside their
  // own column, each averaged over those listed. Empty: the field is in no such interaction.
  std::vector<Weights> crossed = {};

  // The weight of a column in the reference; they sum to 1.
  double weight(std::size_t place) const {
    if (against) return place == *against ? 1.0 : 0.0;
    return place < listed ? 1.0 / static_cast<double>(listed) : 0.0;
  }
  // Appends the columns of a row of that place, with weights multiplied by `times`.
  void append(std::size_t place, double times, Weights& to) const;
  // The columns of a row of that place minus those of the reference.
  Weights contrast(std::size_t place) const;
};

// The fields with at least two columns of categories. `against`: a text "FIELD=CATEGORY" for each
// field that has a reference of its own. UserError for a text that no group has, and for two of one
// field. The only listed category of a field is its reference.
std::vector<CategoryGroup> category_groups(const Schema& schema,
                                           const std::vector<std::string>& against = {});

struct CategoryEffect {
  std::size_t group = 0;
  std::size_t parameter = 0;
  double mean = 0;
  double sd = 0;
};

// Answers dense rows of `base.size()` features each, one after the other.
using AskRows = std::function<std::vector<PredictiveSummary>(std::span<const double>)>;

// Effects in a model with one linear predictor: exact, by the second difference of its variance
// along the contrast, c'Pc = (v(b + c) + v(b - c)) / 2 - v(b), where b is the row of the reference
// in each group and `base` elsewhere. Asks for at most `most_rows` >= 3 rows at a time, two for
// each effect and one more, so that all numbers of an effect come from one answer.
std::vector<CategoryEffect> exact_category_effects(const std::vector<CategoryGroup>& groups,
                                                   std::span<const double> base,
                                                   std::size_t most_rows, const AskRows& ask);

// Effects from `means`, in blocks of `stride` parameters, and their sd over the draws, which lie
// one after the other: its relative error is 1 / sqrt(2 draws).
std::vector<CategoryEffect> drawn_category_effects(const std::vector<CategoryGroup>& groups,
                                                   std::size_t stride,
                                                   std::span<const double> means,
                                                   std::span<const double> draws);

// Effects in a server's model whose parameters have the means, in blocks of `stride`: exact where
// the model is dense and has one linear predictor and a request holds three rows, otherwise from
// draws. `draws`: how many; 0: exact.
std::vector<CategoryEffect> served_category_effects(Client& client,
                                                    const std::vector<CategoryGroup>& groups,
                                                    std::size_t stride,
                                                    std::span<const double> means,
                                                    std::uint32_t& draws);

// {"sd": "exact", or of how many draws, "effects": [{"name", "above", "mean", "sd", "q5", "q95"}]}.
nlohmann::ordered_json to_json(const std::vector<CategoryGroup>& groups,
                               const std::vector<CategoryEffect>& effects,
                               const std::vector<std::string>& names, std::uint32_t draws);
// The effects as a table with a legend; empty where there are none.
std::string category_effects_table(const nlohmann::ordered_json& effects);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_CATEGORY_EFFECTS_H_
