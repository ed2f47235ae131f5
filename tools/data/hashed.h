// Texts by their hash: the hash gives the column of a text without a list of texts, so that new
// texts need no new schema. Some texts share a column; HashTally counts them.
#ifndef WINDHOVER_TOOLS_DATA_HASHED_H_
#define WINDHOVER_TOOLS_DATA_HASHED_H_

#include <fmt/format.h>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace windhover {

// Names of fields and their texts as one sequence of bytes, different for different names and
// texts: each is its length in bytes in decimal, ":", and its bytes. The hash is XXH3 of 64 bits
// with seed 0 (xxhash.com).
class HashedKey {
 public:
  void add(std::string_view text) {
    fmt::format_to(fmt::appender(bytes_), "{}:", text.size());
    bytes_.append(text.data(), text.data() + text.size());
  }
  std::size_t size() const { return bytes_.size(); }
  // Drops all but the first `size` bytes.
  void cut_to(std::size_t size) { bytes_.resize(size); }
  std::uint64_t hash() const noexcept;

 private:
  fmt::memory_buffer bytes_;
};

// Cuts the next word off `text` and returns it; empty when there is none. Words consist of ASCII
// letters, digits and all non-ASCII characters.
std::string_view next_word(std::string_view& text) noexcept;

// One text, crossing or word of a row.
struct HashedText {
  std::uint32_t rule = 0;  // of the schema
  std::uint64_t hash = 0;
};

// Counts the different texts of a hashed feature and the buckets that they use, in fixed memory.
// Beyond kMostTexts texts it follows only every second bucket, then every fourth and so on, and its
// totals are estimates.
class HashTally {
 public:
  static constexpr std::size_t kMostTexts = 65'536;

  // REQUIRES: buckets > 0.
  explicit HashTally(std::uint32_t buckets);
  void add(std::uint64_t hash);

  struct Seen {
    bool estimated = false;
    bool at_least = false;  // there were more texts
    double texts = 0;       // different texts
    double buckets = 0;     // buckets with a text
    double shared = 0;      // share of the values whose bucket has another text, too
  };
  Seen seen() const;

 private:
  // At least about this many buckets are followed. If these alone have more than kMostTexts texts,
  // no further texts are told apart.
  static constexpr std::uint32_t kFewestBuckets = 1'024;
  static constexpr std::size_t kSlots = 2 * kMostTexts;
  struct Text {
    std::uint64_t hash = 0;
    std::uint64_t values = 0;  // 0: the slot is free
  };

  bool follows(std::uint64_t hash) const;
  Text& slot_of(std::uint64_t hash);
  void follow_half();

  std::uint32_t buckets_;
  std::uint32_t level_ = 0;  // one bucket in 2^level_ is followed
  bool full_ = false;        // no new text is taken
  std::size_t count_ = 0;
  std::vector<Text> texts_;  // an open hash table
};

class Schema;
struct EncodedRow;

// The tallies of a schema's hashed features.
class HashTallies {
 public:
  explicit HashTallies(const Schema& schema);
  void add(const EncodedRow& row);

  bool empty() const { return tallies_.empty(); }
  // An entry per feature: feature, buckets, the fields of Seen as texts, estimated, at_least,
  // buckets_used and shared, and words_left_out for a feature of words.
  nlohmann::ordered_json to_json() const;

 private:
  struct OfRule {
    std::uint32_t rule;
    std::string name;
    std::uint32_t buckets;
    bool words;
    std::uint64_t left_out = 0;
    HashTally tally;
  };
  std::vector<OfRule> tallies_;
};

// to_json() as text, a line per feature, each with a line break.
std::string describe_hashed(const nlohmann::ordered_json& features);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_HASHED_H_
