// How a key of the table is written into a checkpoint.
#ifndef WINDHOVER_RUNTIME_LABELS_SAVED_KEY_H_
#define WINDHOVER_RUNTIME_LABELS_SAVED_KEY_H_

#include <cstdint>

#include "windhover/runtime/labels/key_table.h"

namespace windhover {

// What each of a checkpoint's sections of keys begins with; entries follow.
struct SavedKeysHeader {
  std::uint64_t places;            // of the table
  std::uint64_t seed;              // KeyTable::seed()
  std::uint64_t judged_posterior;  // as JudgedRows
  std::uint64_t judged_rows;
};

// An entry: this, the key's bytes, the row as it is packed if the key is pending, then the answer
// (KeptAnswers::save) if it is kept.
struct SavedKey {
  std::uint32_t bytes;  // of the whole entry
  std::uint8_t key_bytes;
  KeyState state;
  std::uint8_t answered;
  std::uint8_t reserved;
  // Pending: for how long still, in ns. Settled: the row that it became, or the next one to come.
  std::int64_t when;
  std::uint64_t since;  // pending: the first row of the stream that its outcome may be
};
static_assert(sizeof(SavedKey) == 24);

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LABELS_SAVED_KEY_H_
