// An engine that is saved as it stands, and another that goes on from there.
#ifndef WINDHOVER_TESTS_RUNTIME_STATE_CONTRACT_H_
#define WINDHOVER_TESTS_RUNTIME_STATE_CONTRACT_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "windhover/tests/hashes/scenarios.h"
#include "windhover/tests/runtime/memory_stream.h"
#include "windhover/tests/runtime/saved_state.h"

namespace windhover::test {

// An engine on a stream, and what it shows on the way.
class Host {
 public:
  Host(const EngineConfig& config, const Scenario& scenario, const Data& data,
       std::int64_t clock_ns, unsigned char fill)
      : scenario_(scenario), data_(data), clock_(clock_ns), engine_(config, &clock_, fill) {
    engine_->learner().set_trace(record_iterate, this);
    engine_->learner().set_head_sink(record_head, this);
    u_ = uniforms(99, 3 * data.rows() + 3);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  TestEngine& engine() { return engine_; }
  Index position() const { return at_; }
  void go_to(Index row, Index used) {
    at_ = row;
    used_ = used;
  }
  Index used() const { return used_; }
  // What is now there is now here.
  void share_wall_clock(Host& other) { clock_.set_wall_ns(other.clock_.wall_ns()); }

  // A frame, and `rounds` rounds, or as many as the scenario has after it.
  void step(int rounds = -1);
  bool at_end() const { return at_ >= data_.rows(); }

  // Iterates and heads since the last call.
  std::vector<std::uint64_t> take_trace() { return std::exchange(trace_, {}); }

  // All that a host sees.
  std::vector<std::uint64_t> visible();

 private:
  static void record_iterate(void* self, std::uint16_t chain, const double* theta) noexcept;
  static void record_head(void* self, std::uint64_t round, std::uint64_t head) noexcept;

  // The row's features as they are sent.
  void add_row(Index row);
  void clear_rows() {
    values_.clear();
    indices_.clear();
    ends_.clear();
  }
  bool sparse() const { return scenario_.config.model.max_nonzeros > 0; }

  // false: the window is full.
  bool offer(Index first, Index rows);

  PredictRequest some_question();

  const Scenario& scenario_;
  const Data& data_;
  ManualClock clock_;
  TestEngine engine_;
  VectorXd u_;
  Index at_ = 0;
  Index used_ = 0;
  std::vector<std::uint64_t> trace_;
  std::vector<double> values_;
  std::vector<std::uint32_t> indices_, ends_;
};

// Another engine that has lived on other rows, in memory that was never clean, with another clock.
std::unique_ptr<Host> other_run(const Scenario& scenario, const Data& data, std::uint32_t threads);

// `run` goes on from where `from` was when `state` was saved.
void restore(Host& run, const SavedState& state, Host& from);

// `original` is saved as it stands and goes on by so many steps; an engine restored from it goes
// the same way. With two threads it is saved as the bytes of a checkpoint.
void expect_same_future(Host& original, const Scenario& scenario, const Data& data, int steps,
                        std::uint32_t threads);

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_STATE_CONTRACT_H_
