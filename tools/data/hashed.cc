#include "windhover/tools/data/hashed.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "windhover/platform/checksum.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

std::uint64_t HashedKey::hash() const noexcept {
  return checksum(std::as_bytes(std::span(bytes_.data(), bytes_.size())));
}

std::string_view next_word(std::string_view& text) noexcept {
  const auto in_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  const auto begin = std::ranges::find_if(text, in_word);
  const auto end = std::find_if_not(begin, text.end(), in_word);
  const std::string_view word(begin, end);
  text = std::string_view(end, text.end());
  return word;
}

HashTally::HashTally(std::uint32_t buckets) : buckets_(buckets), texts_(kSlots) {}

bool HashTally::follows(std::uint64_t hash) const {
  if (level_ == 0) return true;
  // Fibonacci hashing, which spreads neighbouring buckets.
  const std::uint64_t mixed = (hash % buckets_) * 0x9e3779b97f4a7c15;
  return mixed >> (64 - level_) == 0;
}

HashTally::Text& HashTally::slot_of(std::uint64_t hash) {
  std::size_t i = (hash >> 40) % kSlots;
  while (texts_[i].values != 0 && texts_[i].hash != hash) i = (i + 1) % kSlots;
  return texts_[i];
}

void HashTally::follow_half() {
  const std::vector<Text> before = std::exchange(texts_, std::vector<Text>(kSlots));
  ++level_;
  count_ = 0;
  for (const Text& text : before) {
    if (text.values == 0 || !follows(text.hash)) continue;
    slot_of(text.hash) = text;
    ++count_;
  }
}

void HashTally::add(std::uint64_t hash) {
  if (!follows(hash)) return;
  Text& text = slot_of(hash);
  if (text.values == 0) {
    if (full_) return;
    text.hash = hash;
    ++count_;
  }
  ++text.values;
  while (count_ > kMostTexts && !full_) {
    if (buckets_ >> (level_ + 1) < kFewestBuckets) {
      full_ = true;
    } else {
      follow_half();
    }
  }
}

HashTally::Seen HashTally::seen() const {
  struct Bucket {
    std::uint64_t texts = 0, values = 0;
  };
  std::unordered_map<std::uint64_t, Bucket> buckets;
  for (const Text& text : texts_) {
    if (text.values == 0) continue;
    Bucket& bucket = buckets[text.hash % buckets_];
    ++bucket.texts;
    bucket.values += text.values;
  }
  std::uint64_t values = 0, shared = 0;
  for (const auto& [place, bucket] : buckets) {
    values += bucket.values;
    if (bucket.texts > 1) shared += bucket.values;
  }
  const auto times = static_cast<double>(std::uint64_t{1} << level_);
  Seen seen;
  seen.estimated = level_ > 0 || full_;
  seen.at_least = full_;
  seen.texts = times * static_cast<double>(count_);
  seen.buckets = std::min<double>(times * static_cast<double>(buckets.size()), buckets_);
  seen.shared = values > 0 ? static_cast<double>(shared) / static_cast<double>(values) : 0.0;
  return seen;
}

HashTallies::HashTallies(const Schema& schema) {
  for (std::size_t r = 0; r < schema.rules().size(); ++r) {
    const FeatureRule& rule = schema.rules()[r];
    if (rule.kind != FeatureRule::Kind::kHash) continue;
    tallies_.push_back({static_cast<std::uint32_t>(r), fmt::format("hash({})", rule.field),
                        rule.buckets, rule.words, 0, HashTally(rule.buckets)});
  }
}

void HashTallies::add(const EncodedRow& row) {
  const auto of_rule = [&](std::uint32_t rule) -> OfRule& {
    return *std::ranges::find(tallies_, rule, &OfRule::rule);
  };
  for (const HashedText& text : row.hashed) of_rule(text.rule).tally.add(text.hash);
  for (const auto& [rule, words] : row.words_left_out) of_rule(rule).left_out += words;
}

nlohmann::ordered_json HashTallies::to_json() const {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const OfRule& of : tallies_) {
    const HashTally::Seen seen = of.tally.seen();
    out.push_back({{"feature", of.name},
                   {"buckets", of.buckets},
                   {"texts", seen.texts},
                   {"estimated", seen.estimated},
                   {"at_least", seen.at_least},
                   {"buckets_used", seen.buckets},
                   {"shared", seen.shared}});
    if (of.words) out.back()["words_left_out"] = of.left_out;
  }
  return out;
}

std::string describe_hashed(const nlohmann::ordered_json& features) {
  std::string out;
  for (const auto& of : features) {
    const std::uint64_t left_out = of.value("words_left_out", std::uint64_t{0});
    out += fmt::format(
        "{}: {}{:.0f} different texts in {:.0f} of {} buckets; {:.2f} % of the values are in a "
        "bucket that another text is in too{}\n",
        of["feature"].get<std::string>(),
        of["at_least"].get<bool>()    ? "more than "
        : of["estimated"].get<bool>() ? "about "
                                      : "",
        of["texts"].get<double>(), of["buckets_used"].get<double>(),
        of["buckets"].get<std::uint64_t>(), 100 * of["shared"].get<double>(),
        left_out > 0 ? fmt::format("; {} words beyond a row's most were left out", left_out) : "");
  }
  return out;
}

}  // namespace windhover
