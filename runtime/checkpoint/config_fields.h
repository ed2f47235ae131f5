// What of a configuration the state of an engine depends on.
#ifndef WINDHOVER_RUNTIME_CHECKPOINT_CONFIG_FIELDS_H_
#define WINDHOVER_RUNTIME_CHECKPOINT_CONFIG_FIELDS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "windhover/runtime/config.h"

namespace windhover::checkpoint {

// The one list of fields that must agree. It leaves out those that may differ when an engine is
// restored: slack, frame size, threads, readers, followers. A field that is added to a
// configuration goes here or is named there (tests/runtime/checkpoint_format_test.cc counts bytes).
struct ConfigField {
  enum class Kind : std::uint8_t { kWhole, kReal, kHash };

  Kind kind;
  const char* sentence;  // "... another NAME; ...": what an error says
  std::uint64_t (*bits)(const EngineConfig& config) noexcept;
  bool decides_others = false;  // defaults of other fields depend on it

  // The name in the sentence, between "another " and ";": at most 31 characters.
  std::string_view name() const noexcept;
  // The number that an error gives.
  double number(std::uint64_t bits) const noexcept;
};
std::span<const ConfigField> config_fields() noexcept;

// A hash of the names and bits of all fields. REQUIRES: with_defaults() returned the configuration.
std::uint64_t configuration_hash(const EngineConfig& config) noexcept;

}  // namespace windhover::checkpoint

#endif  // WINDHOVER_RUNTIME_CHECKPOINT_CONFIG_FIELDS_H_
