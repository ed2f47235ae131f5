// What a fuzz target brings for the driver beside LLVMFuzzerTestOneInput.
#ifndef WINDHOVER_TESTS_FUZZ_DRIVER_H_
#define WINDHOVER_TESTS_FUZZ_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace windhover::testing {

// A case worth damaging: mostly well formed.
std::string make_case(std::mt19937_64& random);

// What became of the last case, where a target tells. In a corpus, what is named good has to be.
enum class Outcome : std::uint8_t { kUntold, kGood, kRefused };
inline Outcome outcome = Outcome::kUntold;

// Stops the program, as a sanitizer would, when a property does not hold.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_FUZZ_DRIVER_H_
