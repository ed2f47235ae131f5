#ifndef WINDHOVER_PLATFORM_RANDOM_H_
#define WINDHOVER_PLATFORM_RANDOM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace windhover {

// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011). A number is a pure function of the seed and its position,
// so the same draws come out for any number of threads, any batching, and after a restart. Every
// function here is thread-safe, allocates nothing, and gives the same bits on every instruction
// set.
//
//   key     = 64-bit seed {low, high}
//   counter = {step low, step high, chain | purpose << 16, block}
//   block   = 4 words of 32 bits

// What a draw is for; a part of the counter, so that no two purposes ever share bits.
enum class Purpose : std::uint16_t {
  kMinibatch = 1,
  kInjectedNoise = 2,
  kInitialDraw = 3,
  kThompson = 4,
  kPredictive = 5,
  kSweep = 6,
  kTest = 7,
  kInitialState = 8,
  kPriorDraw = 9,
  kMemory = 10,
};

struct RandomPosition {
  std::uint64_t step = 0;
  std::uint16_t chain = 0;
  Purpose purpose = Purpose::kTest;
};

// Computes one block, for tests against known answers.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) noexcept;

// The fill functions start at block 0 of their position; element i does not depend on the length of
// the span, so a shorter span is a prefix of a longer one. At most 2^32 blocks: 2^34 words or
// indices, 2^33 uniforms or normals a position.

// Fills in 32 random bits an element: element i is word i % 4 of block i / 4.
void fill_bits(std::uint64_t seed, const RandomPosition& position,
               std::span<std::uint32_t> out) noexcept;

// Fills in integers in [0, bound) by multiply-high (Lemire 2019, without the rejection step): a
// value's probability is off 1 / bound by less than 2^-32, a relative bias below bound / 2^32. One
// word an element, so element i is (word i * bound) >> 32. bound = 0 gives zeros.
void fill_indices(std::uint64_t seed, const RandomPosition& position, std::uint32_t bound,
                  std::span<std::uint32_t> out) noexcept;

// Fills in uniforms in the open interval (0, 1): (k + 1/2) / 2^52 with k from 52 bits, two words an
// element.
void fill_uniforms(std::uint64_t seed, const RandomPosition& position,
                   std::span<double> out) noexcept;

// Fills in standard normals by Box and Muller, one block a pair, 52 bits each for radius and angle:
// the largest possible is 8.57. Relative error below 1e-15 against exact arithmetic on the same
// bits (4.5e-16 measured over 400,000).
void fill_normals(std::uint64_t seed, const RandomPosition& position,
                  std::span<double> out) noexcept;

// Reads one position after another: it holds a seed, a position, and the next unread block. A value
// type of 32 bytes: a copy goes on by itself from the same place. Each fill starts at the next
// whole block, so consecutive fills at one position never share bits; the first gives what the free
// functions give.
class Rng {
 public:
  explicit Rng(std::uint64_t seed, const RandomPosition& position = {}) noexcept
      : seed_(seed), position_(position) {}

  // Goes to the beginning of a position.
  void seek(const RandomPosition& position) noexcept {
    position_ = position;
    block_ = 0;
  }

  std::uint64_t seed() const noexcept { return seed_; }
  const RandomPosition& position() const noexcept { return position_; }

  void fill_bits(std::span<std::uint32_t> out) noexcept;
  void fill_indices(std::uint32_t bound, std::span<std::uint32_t> out) noexcept;
  void fill_uniforms(std::span<double> out) noexcept;
  void fill_normals(std::span<double> out) noexcept;

 private:
  std::uint64_t seed_;
  RandomPosition position_;
  std::uint32_t block_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_RANDOM_H_
