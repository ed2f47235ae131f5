// Configurations and streams whose results learner_hashes keeps an eye on.
#ifndef WINDHOVER_TESTS_HASHES_SCENARIOS_H_
#define WINDHOVER_TESTS_HASHES_SCENARIOS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test {

// How rows come, and what they are like.
enum class Stream : std::uint8_t {
  kSteady,      // small frames, some rounds after each
  kBursts,      // now and then a frame of half a window
  kIdle,        // the learner rests after every frame
  kStarved,     // hardly any rounds: the window is full most of the time
  kSorted,      // by the target
  kJump,        // the coefficients change half-way
  kOutliers,    // some rows are 10^4 times as large
  kHuge,        // one row of 10^34
  kConstant,    // for the first third the target does not vary
  kRepeated,    // every row twice
  kCategory,    // the last feature is 0 for the first half
  kFarTarget,   // one target of 10^12
  kMagnitudes,  // rows over nine orders of magnitude, of classes that follow their features
};

struct Scenario {
  std::string name;
  EngineConfig config;
  Stream stream = Stream::kSteady;
  Index rows = 2400;
};

std::vector<Scenario> scenarios();

// The rows of a scenario; those of a sparse configuration have their small features set to 0.
Data data_of(const Scenario& scenario);

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_HASHES_SCENARIOS_H_
