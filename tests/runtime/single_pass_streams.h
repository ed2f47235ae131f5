// Streams of horizons without a window, and what their answers must be whenever they say ok.
#ifndef WINDHOVER_TESTS_RUNTIME_SINGLE_PASS_STREAMS_H_
#define WINDHOVER_TESTS_RUNTIME_SINGLE_PASS_STREAMS_H_

#include <array>
#include <string>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test {

inline constexpr Index kMemory = 1000;  // N when fading
inline constexpr std::array kHorizons = {Horizon::kAll, Horizon::kFading};

// Every default but N.
EngineConfig default_config(const char* model, Horizon horizon);

// A Poisson count by inversion.
double count_of(double eta, double u);

// Student's t and the negative binomial hold the linear and the Poisson model within.
Data data_of(const std::string& model, Index rows, std::uint64_t seed);

// Rows [first, last) in frames of 50, each until the learner rests.
void stream(TestEngine& engine, const Data& data, Index first, Index last);

std::string at(const char* model, Horizon horizon);

// Mean and mean square of 64 draws, all but independent, are beyond these bounds once in 10,000
// times for any of the parameters; `law`: what their spread may be off by.
void expect_draws_agree(TestEngine& engine, const std::string& what, double law = 1.3);

// Mean squares of the draws about the summary's mean are what a comparison of them calls ok: within
// 1.3 and what so few draws leave open, (1 +- (sqrt(D) + 1) / sqrt(draws))^2, and an eighth for the
// rows since.
void expect_what_ok_says(TestEngine& engine, const std::string& what);

// The truth is within 4.5 sd: of 3 parameters once in 50,000 times.
void expect_truth(TestEngine& engine, const Data& data, const std::string& what);

void expect_ok(TestEngine& engine, const std::string& what);

std::uint64_t set_aside(TestEngine& engine);

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_SINGLE_PASS_STREAMS_H_
