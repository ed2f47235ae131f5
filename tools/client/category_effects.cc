#include "windhover/tools/client/category_effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/data/nearest.h"
#include "windhover/tools/data/shown_text.h"
#include "windhover/tools/error.h"

namespace windhover {

using nlohmann::ordered_json;

namespace {

// Sets the reference of the group that has the column named `text`, "FIELD=CATEGORY".
void set_reference(const Schema& schema, std::vector<CategoryGroup>& groups,
                   const std::string& text) {
  std::vector<std::string> names;
  for (CategoryGroup& group : groups) {
    for (std::size_t i = 0; i < group.columns; ++i) {
      names.push_back(schema.feature_name(group.first + i));
      if (names.back() != text) continue;
      if (group.against) {
        throw UserError(fmt::format("--against {}: {} is told above {} already", text, group.field,
                                    group.above));
      }
      group.against = i;
      group.above = text;
      return;
    }
  }
  throw UserError(
      fmt::format("--against {}: {} has no such category; say FIELD=CATEGORY, of a field "
                  "with several{}",
                  text, schema.parts().path, did_you_mean(text, names)));
}

// The rule of a factor of an interaction that is a field of categories alone; otherwise none.
std::optional<std::size_t> category_of(const Schema& schema,
                                       const std::vector<std::size_t>& factor) {
  const bool is = factor.size() == 1 &&
                  schema.rules()[factor[0]].kind == FeatureRule::Kind::kCategory &&
                  !schema.rules()[factor[0]].categories.empty();
  return is ? std::optional(factor[0]) : std::nullopt;
}

// Adds the products of an interaction that a row of each place of a field has, where all other
// factors are categories. Products with numbers are 0 at the mean, and are left out.
void add_products(const Schema& schema, std::size_t interaction, std::size_t rule,
                  CategoryGroup& group) {
  const auto factors = factors_of(schema.rules(), interaction);
  bool takes_part = false;
  for (const auto& factor : factors) {
    const auto category = category_of(schema, factor);
    if (!category) return;
    takes_part = takes_part || category == rule;
  }
  if (!takes_part) return;
  group.crossed.resize(group.columns);
  for (std::size_t place = 0; place < value_columns(schema.rules(), rule); ++place) {
    CategoryGroup::Weights products = {{0, 1.0}};
    for (const auto& factor : factors) {
      const bool own = factor[0] == rule;
      const std::size_t columns = value_columns(schema.rules(), factor[0]);
      const std::size_t listed = schema.rules()[factor[0]].categories.size();
      CategoryGroup::Weights next;
      for (const auto& [at, weight] : products) {
        if (own) next.emplace_back(at * columns + place, weight);
        for (std::size_t other = 0; !own && other < listed; ++other) {
          next.emplace_back(at * columns + other, weight / static_cast<double>(listed));
        }
      }
      products = std::move(next);
    }
    for (const auto& [at, weight] : products) {
      group.crossed[place].emplace_back(schema.first_column(interaction) + at, weight);
    }
  }
}

}  // namespace

void CategoryGroup::append(std::size_t place, double times, Weights& to) const {
  to.emplace_back(first + place, times);
  if (crossed.empty()) return;
  for (const auto& [column, share] : crossed[place]) to.emplace_back(column, times * share);
}

CategoryGroup::Weights CategoryGroup::contrast(std::size_t place) const {
  Weights all;
  append(place, 1, all);
  for (std::size_t i = 0; i < columns; ++i) {
    if (weight(i) != 0) append(i, -weight(i), all);
  }
  return all;
}

std::vector<CategoryGroup> category_groups(const Schema& schema,
                                           const std::vector<std::string>& against) {
  std::vector<CategoryGroup> groups;
  for (std::size_t r = 0; r < schema.rules().size(); ++r) {
    const FeatureRule& rule = schema.rules()[r];
    const std::size_t columns = all_columns(schema.rules(), r);
    if (rule.kind != FeatureRule::Kind::kCategory || columns < 2) continue;
    groups.push_back({rule.field,
                      schema.first_column(r),
                      rule.categories.size(),
                      columns,
                      fmt::format("the average of {}", rule.field),
                      {}});
    for (std::size_t i = r + 1; i < schema.rules().size(); ++i) {
      if (schema.rules()[i].kind == FeatureRule::Kind::kInteraction) {
        add_products(schema, i, r, groups.back());
      }
    }
  }
  for (const std::string& text : against) set_reference(schema, groups, text);
  for (CategoryGroup& group : groups) {  // a single category is the average itself
    if (group.listed != 1 || group.against) continue;
    group.against = 0;
    group.above = schema.feature_name(group.first);
  }
  return groups;
}

std::vector<CategoryEffect> exact_category_effects(const std::vector<CategoryGroup>& groups,
                                                   std::span<const double> base,
                                                   std::size_t most_rows, const AskRows& ask) {
  std::vector<double> average(base.begin(), base.end());
  std::vector<CategoryEffect> effects;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t i = 0; i < groups[g].columns; ++i) {
      CategoryGroup::Weights row;
      groups[g].append(i, groups[g].weight(i), row);
      for (const auto& [column, weight] : row) average[column] += weight;
      if (groups[g].against != i) effects.push_back({g, groups[g].first + i, 0, 0});
    }
  }
  const std::size_t page = (most_rows - 1) / 2;
  std::vector<double> rows;
  for (std::size_t begin = 0; begin < effects.size(); begin += page) {
    const std::span<CategoryEffect> told =
        std::span(effects).subspan(begin, std::min(page, effects.size() - begin));
    rows = average;
    for (const CategoryEffect& effect : told) {
      const CategoryGroup& group = groups[effect.group];
      const auto contrast = group.contrast(effect.parameter - group.first);
      for (const double sign : {1.0, -1.0}) {
        rows.insert(rows.end(), average.begin(), average.end());
        const std::span<double> row = std::span(rows).last(average.size());
        for (const auto& [column, weight] : contrast) row[column] += sign * weight;
      }
    }
    const std::vector<PredictiveSummary> answers = ask(rows);
    const auto variance = [&](std::size_t row) {
      return answers.at(row).linpred_sd * answers.at(row).linpred_sd;
    };
    for (std::size_t k = 0; k < told.size(); ++k) {
      const std::size_t plus = 1 + 2 * k;
      const std::size_t minus = plus + 1;
      told[k].mean = 0.5 * (answers.at(plus).linpred_mean - answers.at(minus).linpred_mean);
      const double along = 0.5 * (variance(plus) + variance(minus)) - variance(0);
      told[k].sd = std::sqrt(std::max(along, 0.0));
    }
  }
  return effects;
}

std::vector<CategoryEffect> drawn_category_effects(const std::vector<CategoryGroup>& groups,
                                                   std::size_t stride,
                                                   std::span<const double> means,
                                                   std::span<const double> draws) {
  std::vector<CategoryEffect> effects;
  for (std::size_t block = 0; block < means.size(); block += stride) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const CategoryGroup& group = groups[g];
      for (std::size_t i = 0; i < group.columns; ++i) {
        if (group.against == i) continue;
        const auto weights = group.contrast(i);
        const auto contrast = [&](std::span<const double> theta) {
          double sum = 0;
          for (const auto& [column, weight] : weights) sum += weight * theta[block + column];
          return sum;
        };
        double mean = 0, squares = 0, count = 0;
        for (std::size_t at = 0; at < draws.size(); at += means.size()) {
          const double off = contrast(draws.subspan(at, means.size())) - mean;
          mean += off / ++count;
          squares += off * (contrast(draws.subspan(at, means.size())) - mean);
        }
        effects.push_back(
            {g, block + group.first + i, contrast(means), std::sqrt(squares / (count - 1))});
      }
    }
  }
  return effects;
}

std::vector<CategoryEffect> served_category_effects(Client& client,
                                                    const std::vector<CategoryGroup>& groups,
                                                    std::size_t stride,
                                                    std::span<const double> means,
                                                    std::uint32_t& draws) {
  draws = 0;
  const v1::Welcome& welcome = client.welcome();
  const std::size_t features = welcome.features();
  constexpr std::size_t kBesideRows = 256;  // bytes of a frame
  const std::size_t room = std::max<std::size_t>(welcome.frame_cap(), kBesideRows) - kBesideRows;
  const std::size_t most_rows =
      std::min<std::size_t>(welcome.max_query_rows(), room / (sizeof(double) * features));
  Provenance provenance;
  if (means.size() == stride && welcome.max_nonzeros() == 0 && most_rows >= 3) {
    return exact_category_effects(
        groups, std::vector<double>(features, 0.0), most_rows, [&](std::span<const double> rows) {
          PredictRequest request;
          request.rows = rows.size() / features;
          request.features = rows;
          request.posterior_spread = true;
          std::vector<PredictiveSummary> answers;
          check_reply(client, client.predict(request, answers, provenance), "predicting");
          return answers;
        });
  }
  std::vector<double> theta;
  check_reply(client, client.draws(theta, provenance), "asking for the draws");
  draws = static_cast<std::uint32_t>(theta.size() / means.size());
  if (draws < 2 || theta.size() != draws * means.size()) {
    throw RunError("the server's draws are not of the parameters it has told");
  }
  return drawn_category_effects(groups, stride, means, theta);
}

ordered_json to_json(const std::vector<CategoryGroup>& groups,
                     const std::vector<CategoryEffect>& effects,
                     const std::vector<std::string>& names, std::uint32_t draws) {
  const double z = normal_quantile(0.95);
  ordered_json list = ordered_json::array();
  for (const CategoryEffect& effect : effects) {
    list.push_back({{"name", names.at(effect.parameter)},
                    {"above", groups[effect.group].above},
                    {"mean", effect.mean},
                    {"sd", effect.sd},
                    {"q5", effect.mean - z * effect.sd},
                    {"q95", effect.mean + z * effect.sd}});
  }
  ordered_json out = {{"sd", "exact"}, {"effects", std::move(list)}};
  if (draws > 0) out["sd"] = fmt::format("of {} draws", draws);
  return out;
}

std::string category_effects_table(const ordered_json& effects) {
  const ordered_json& list = effects["effects"];
  if (list.empty()) return "";
  const auto text = [](const ordered_json& value) { return shown_text(value.get<std::string>()); };
  std::size_t width = 8;
  std::size_t above = 4;
  for (const auto& e : list) {
    width = std::max(width, text(e["name"]).size());
    above = std::max(above, text(e["above"]).size());
  }
  std::string out = fmt::format("\n{:<{}} {:<{}} {:>10} {:>10} {:>10} {:>10}\n", "category", width,
                                "above", above, "mean", "sd", "q5", "q95");
  for (const auto& e : list) {
    out += fmt::format("{:<{}} {:<{}} {:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g}\n", text(e["name"]),
                       width, text(e["above"]), above, e["mean"].get<double>(),
                       e["sd"].get<double>(), e["q5"].get<double>(), e["q95"].get<double>());
  }
  const std::string sd = effects["sd"].get<std::string>();
  return out + fmt::format(
                   "(where every row has one of a field's categories only their differences are "
                   "known: these, and not each by itself further up{})\n",
                   sd == "exact" ? "" : "; sd " + sd);
}

}  // namespace windhover
