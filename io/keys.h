// Which keys of rows a client may send, and the sentences that refuse others.
#ifndef WINDHOVER_IO_KEYS_H_
#define WINDHOVER_IO_KEYS_H_

#include <algorithm>
#include <string_view>

#include "windhover/runtime/labels/labels_config.h"

namespace windhover {

inline constexpr std::string_view kNoKey = "a key is text of at most 64 ASCII characters";
static_assert(kMaxKeyBytes == 64);
inline constexpr std::string_view kNoKeys =
    "the server keeps no keys: labels.pending, how many may wait for their outcome, is 0";

// Whether a server would take all of these keys: it refuses a longer one, and closes the connection
// over one that is not ASCII. `keys`: a range of texts.
template <class Keys>
bool are_keys(const Keys& keys) noexcept {
  return std::ranges::all_of(keys, [](std::string_view key) {
    return key.size() <= kMaxKeyBytes &&
           std::ranges::all_of(key, [](char c) { return static_cast<unsigned char>(c) < 128; });
  });
}

}  // namespace windhover

#endif  // WINDHOVER_IO_KEYS_H_
