// Hashed features: from the texts of a question or a row to buckets.
#include <fmt/format.h>

#include <algorithm>

#include "windhover/tools/data/schema.h"

namespace windhover {

std::uint32_t Schema::bucket_column(std::size_t rule, std::uint64_t hash, EncodedRow& row) const {
  row.hashed.push_back({static_cast<std::uint32_t>(rule), hash});
  return static_cast<std::uint32_t>(first_columns_[rule] + hash % parts_.rules[rule].buckets);
}

void Schema::append_words(std::size_t rule, HashedKey& key, std::string_view text,
                          EncodedRow& row) const {
  const std::size_t prefix = key.size();
  std::vector<std::uint32_t> columns;
  std::uint32_t words = 0;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    if (++words > parts_.rules[rule].most) continue;
    key.cut_to(prefix);
    key.add(word);
    columns.push_back(bucket_column(rule, key.hash(), row));
  }
  if (columns.size() < words) {
    row.words_left_out.emplace_back(static_cast<std::uint32_t>(rule),
                                    words - static_cast<std::uint32_t>(columns.size()));
  }
  std::ranges::sort(columns);
  for (auto at = columns.begin(); at != columns.end();) {
    const auto end = std::upper_bound(at, columns.end(), *at);
    append(*at, static_cast<double>(end - at), row);
    at = end;
  }
}

Schema::Cell Schema::encode_hash(std::size_t rule, const std::vector<std::string_view>& texts,
                                 EncodedRow& row) const {
  const FeatureRule& r = parts_.rules[rule];
  const auto missing = [this](std::string_view text) { return is_missing(text); };
  if (r.missing != FeatureRule::Missing::kUnsaid && std::ranges::any_of(texts, missing)) {
    if (!r.stands_for_missing()) return Cell::kMissing;
    append_missing(rule, row, true);
    return Cell::kEncoded;
  }
  HashedKey key;
  if (r.words) {
    key.add(r.fields[0]);
    append_words(rule, key, texts[0], row);
    return Cell::kEncoded;
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    key.add(r.fields[i]);
    key.add(texts[i]);
  }
  append(bucket_column(rule, key.hash(), row), 1.0, row);
  return Cell::kEncoded;
}

bool RowEncoder::encode_hash(const Table& table, std::size_t rule, EncodedRow& row) const {
  const std::vector<Source>& sources = sources_[rule];
  std::vector<std::string> derived(sources.size());
  std::vector<std::string_view> texts(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    texts[i] = table.text(sources[i].column);
    std::optional<double> value;
    if (sources[i].own_name) value = schema_.own_number(texts[i]);
    if (sources[i].derived == nullptr && !value) continue;
    if (sources[i].derived != nullptr) value = derive(*sources[i].derived, texts[i]);
    if (!value) {
      return skip(table, sources[i].column, row,
                  fmt::format("\"{}\" where {} is expected", texts[i], sources[i].derived->format));
    }
    derived[i] = number_text(*value);
    texts[i] = derived[i];
  }
  const Schema::Cell cell = schema_.encode_hash(rule, texts, row);
  if (cell == Schema::Cell::kEncoded) return true;
  std::size_t empty = 0;
  while (!schema_.is_missing(texts[empty])) ++empty;
  return skip(table, sources[empty].column, row, schema_.refusal(rule, cell, texts[empty]));
}

}  // namespace windhover
