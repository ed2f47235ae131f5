#include "windhover/tools/data/schema_read_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "windhover/runtime/config.h"
#include "windhover/tools/data/schema_names.h"

namespace windhover {

using namespace schema_names;

namespace {

constexpr std::uint32_t kMaxHarmonics = 64;
constexpr std::uint32_t kMaxWords = 10'000;
constexpr std::uint32_t kUsualWords = 100;
constexpr std::size_t kMostFactors = 4;

FeatureRule read_hash(Keys& keys) {
  FeatureRule rule;
  rule.kind = FeatureRule::Kind::kHash;
  rule.fields = keys.texts("hash", 1);
  if (std::ranges::find(rule.fields, "") != rule.fields.end())
    keys.fail("hash is a list of names of fields");
  rule.field = fmt::format("{}", fmt::join(rule.fields, " x "));
  const auto buckets = keys.get<std::int64_t>("buckets", "a whole number");
  if (!buckets) keys.fail("buckets is missing: how many columns the texts are spread over");
  if (*buckets < 2 || *buckets > kMostColumns)
    keys.fail(fmt::format("buckets = {} must be 2 to {}", *buckets, kMostColumns));
  rule.buckets = static_cast<std::uint32_t>(*buckets);
  rule.words = keys.flag("words").value_or(false);
  if (rule.words && rule.fields.size() > 1)
    keys.fail("words = true is for a hash of one field; a crossing takes its texts as a whole");
  if (rule.words) rule.most = keys.count("most", kMaxWords).value_or(kUsualWords);
  if (keys.has("missing")) rule.missing = keys.required_name("missing", kMissing);
  keys.finish();
  return rule;
}

// Reads a product of fields that have features before it.
FeatureRule read_interaction(Keys& keys, const std::vector<FeatureRule>& before) {
  FeatureRule rule;
  rule.kind = FeatureRule::Kind::kInteraction;
  rule.fields = keys.texts("interaction", 2);
  if (rule.fields.size() > kMostFactors) {
    keys.fail(fmt::format("interaction has {} fields; at most {} are allowed", rule.fields.size(),
                          kMostFactors));
  }
  rule.field = fmt::format("{}", fmt::join(rule.fields, " x "));
  for (const FeatureRule& other : before) {
    if (other.kind == FeatureRule::Kind::kInteraction && same_fields(other, rule))
      keys.fail(fmt::format("interaction: {} is there already, as {}", rule.field, other.field));
  }
  std::vector<FeatureRule> rules = before;
  rules.push_back(rule);
  const auto factors = factors_of(rules, before.size());
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (!factors[i].empty()) continue;
    keys.fail(
        fmt::format("interaction: \"{}\" is the field of no feature before it; texts that are "
                    "hashed are crossed by hash = [...]",
                    rule.fields[i]));
  }
  keys.finish();
  return rule;
}

// Where the knots are, or how many a draft is to place.
void read_knots(Keys& keys, FeatureRule& rule) {
  rule.most = FeatureRule::kUsualKnots;
  if (!keys.has("knots")) return;
  if (const auto places = keys.numbers("knots")) {
    rule.knots = *places;
  } else if (const auto count = keys.count("knots", FeatureRule::kMostKnots);
             *count >= FeatureRule::kFewestKnots) {
    rule.most = *count;
    return;
  }
  if (rule.knots.size() > FeatureRule::kMostKnots || !NaturalSpline::can_be(rule.knots)) {
    keys.fail(
        fmt::format("knots must be {} to {} increasing numbers, each at least {:g} of the way "
                    "from the first to the last beyond the one before, or how many a draft is "
                    "to have of them",
                    FeatureRule::kFewestKnots, FeatureRule::kMostKnots, NaturalSpline::kLeastGap));
  }
  rule.most = 0;
}

}  // namespace

FeatureRule read_rule(Keys keys, const std::vector<FeatureRule>& before) {
  if (keys.has("hash")) return read_hash(keys);
  if (keys.has("interaction")) return read_interaction(keys, before);
  FeatureRule rule;
  rule.field = keys.required_text("field");
  rule.kind = keys.required_name("kind", kKinds);
  if (keys.has("missing")) rule.missing = keys.required_name("missing", kMissing);
  const bool category = rule.kind == FeatureRule::Kind::kCategory;
  if (!category && keys.has("reads")) rule.reads = keys.required_name("reads", kReads);
  switch (rule.kind) {
    case FeatureRule::Kind::kNumber:
      rule.shift = keys.number("shift");
      rule.scale = keys.number("scale");
      if (rule.scale && !(*rule.scale > 0)) {
        keys.fail(fmt::format("scale = {} must be greater than 0", *rule.scale));
      }
      break;
    case FeatureRule::Kind::kHarmonic:
      rule.period = keys.number("period").value_or(0);
      if (!(rule.period > 0)) keys.fail("period is missing: a number greater than 0");
      rule.harmonics = keys.count("harmonics", kMaxHarmonics).value_or(1);
      break;
    case FeatureRule::Kind::kSpline:
      read_knots(keys, rule);
      break;
    case FeatureRule::Kind::kCategory:
      if (keys.has("other")) rule.other = keys.required_name("other", kOthers);
      rule.most = keys.count("most", 1'000'000).value_or(0);
      rule.categories = keys.texts("categories", 1);
      break;
    case FeatureRule::Kind::kHash:
    case FeatureRule::Kind::kInteraction:
      break;  // are not said by `kind`
  }
  keys.finish();
  return rule;
}

}  // namespace windhover
