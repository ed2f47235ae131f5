// The fields of a configuration that the state of an engine depends on.
#ifndef WINDHOVER_RUNTIME_CHECKPOINT_CONFIG_FIELDS_H_
#define WINDHOVER_RUNTIME_CHECKPOINT_CONFIG_FIELDS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "windhover/runtime/config.h"

namespace windhover::checkpoint {

// An entry of the one list of fields that must agree when an engine is restored. Fields that may
// differ are left out: sizes of slack, frames and questions, threads, readers, followers, labels,
// scoring. A field that is added to a configuration goes into this list, or is named among those
// left out (tests/runtime/checkpoint_configuration_test.cc counts bytes).
struct ConfigField {
  enum class Kind : std::uint8_t { kWhole, kReal, kHash };

  Kind kind;
  const char* sentence;  // what an error says: "... another NAME; ..."
  std::uint64_t (*bits)(const EngineConfig& config) noexcept;
  bool decides_others = false;  // defaults of other fields depend on this one

  // The name in the sentence, between "another " and ";": at most 31 characters.
  std::string_view name() const noexcept;
  // The number that an error shows for these bits.
  double number(std::uint64_t bits) const noexcept;
};
std::span<const ConfigField> config_fields() noexcept;

// A hash of the names and bits of all fields. REQUIRES: with_defaults() returned the configuration.
std::uint64_t configuration_hash(const EngineConfig& config) noexcept;

}  // namespace windhover::checkpoint

#endif  // WINDHOVER_RUNTIME_CHECKPOINT_CONFIG_FIELDS_H_
