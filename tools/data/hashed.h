// Texts by their hash: which column a text has is known without a list of the texts, so that new
// ones need no other schema; some share a column with others, and how many can be counted.
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

// Names of fields and their texts, as one sequence of bytes that no other names and texts make:
// each is written as its length in bytes in decimal, ":", and its bytes. Its hash is XXH3 of 64
// bits with seed 0 (xxhash.com).
class HashedKey {
 public:
  void add(std::string_view text) {
    fmt::format_to(fmt::appender(bytes_), "{}:", text.size());
    bytes_.append(text.data(), text.data() + text.size());
  }
  std::size_t size() const { return bytes_.size(); }
  // Forgets what was added after there were `size` bytes.
  void cut_to(std::size_t size) { bytes_.resize(size); }
  std::uint64_t hash() const noexcept;

 private:
  fmt::memory_buffer bytes_;
};

// The next word of `text`, which is cut off it; empty: there is none. Words are ASCII letters and
// digits and all that is not ASCII; the rest stands between them.
std::string_view next_word(std::string_view& text) noexcept;

// One text, crossing or word of a row.
struct HashedText {
  std::uint32_t rule = 0;  // of the schema
  std::uint64_t hash = 0;
};

// How many different texts a hashed feature has had, in how many of its buckets, in memory that is
// fixed. Beyond kMostTexts it follows the texts of every second bucket only, of every fourth and so
// on, and what it says of all is an estimate.
class HashTally {
 public:
  static constexpr std::size_t kMostTexts = 65'536;

  // REQUIRES: buckets > 0.
  explicit HashTally(std::uint32_t buckets);
  void add(std::uint64_t hash);

  struct Seen {
    bool estimated = false;
    bool at_least = false;  // there were more texts than that
    double texts = 0;       // different ones
    double buckets = 0;     // buckets that have had a text
    double shared = 0;      // share of the values whose bucket has had another text too
  };
  Seen seen() const;

 private:
  // About so many buckets are followed at least. Where these have had more than kMostTexts, all of
  // them have had many, and no more texts are told apart.
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
  bool full_ = false;        // no new text is taken: there are many in few buckets
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
  // One entry a feature: feature, buckets, what Seen says as texts, estimated, at_least,
  // buckets_used and shared, and of words words_left_out.
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

// What to_json() says for people, a line a feature, each ended by a line break.
std::string describe_hashed(const nlohmann::ordered_json& features);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_HASHED_H_
