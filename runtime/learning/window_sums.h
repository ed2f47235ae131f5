// Which rows of the window the sums of A, C and the mode hold.
#ifndef WINDHOVER_RUNTIME_LEARNING_WINDOW_SUMS_H_
#define WINDHOVER_RUNTIME_LEARNING_WINDOW_SUMS_H_

#include <cstdint>

#include "windhover/runtime/learning/window_pass.h"

namespace windhover {

// The result of a pass.
struct PassResult {
  // The share of the window, by what rows count, that is new since the pass before ended.
  double replaced;
  // More rows than a tenth of the window have left without being taken out of the sums: chains and
  // draws are those of rows that are gone.
  bool outrun;
};

// Keeps the sums of the last complete pass, and of the pass under way, to the rows of the window.
// Invariant: while exact(), the former hold the rows [cursor.first(), joined()) and no others. One
// thread.
class WindowSums {
 public:
  WindowSums(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
             Estimator& estimator) noexcept
      : cursor_(cursor), estimator_(estimator), pass_(arena, config, cursor, estimator) {}
  void reset() noexcept { pass_.reset(); }

  WindowPass& pass() noexcept { return pass_; }
  const WindowPass& pass() const noexcept { return pass_; }

  // The head is about to go on to `head`: rows that leave the window by that are taken out of the
  // sums that hold them, while the lease still protects them. If they are more than `most`, or have
  // not joined yet, they outrun the sums: the next pass puts these right. A pass whose summed rows
  // have all left so begins again, but only once, as no pass can follow a stream that does it
  // twice. A pass whose sums rounding has swallowed begins again, too. true: the pass began again.
  bool remove_leaving(std::uint64_t head, std::uint64_t most, LearnerWorker& worker) noexcept;
  // The same in a cold start, whose passes sum the rows that there are: nothing is taken out.
  void skip_leaving(std::uint64_t head) noexcept;
  // Up to `rows` rows that came since the pass ended join the sums, at the anchor of the sums.
  // Returns whether there was one.
  bool join(std::uint64_t rows, LearnerWorker& worker) noexcept;

  void begin_pass() noexcept { begin_pass(cursor_.head()); }
  // The pass under way is complete: its sums replace those of the last one. `moving`: chains are
  // sampling.
  PassResult complete_pass(bool moving) noexcept;
  // A cold start is over: its sums hold the rows up to where its last pass ended.
  void begin_after_cold_start() noexcept;
  // Chains start: what is new to the next pass is counted from where the last one ended.
  void mark_previous_end() noexcept { previous_end_ = pass_.end(); }

  bool exact() const noexcept { return state_ == State::kExact; }
  // Whether the rows of the last complete pass followed one another in the stream.
  bool unbroken() const noexcept { return unbroken_; }
  bool unusable() const noexcept { return state_ == State::kUnusable; }
  void give_up() noexcept { state_ = State::kUnusable; }
  // How many equal rows the window's rows in the sums are worth: as many as they are, where all
  // count the same.
  double worth() const noexcept;
  // Whether the sums are worth nearly as many rows as the estimates stand on: rows of a large frame
  // join the sums only after those that they replace have left.
  bool filled() const noexcept;
  // The end of the rows in the sums.
  std::uint64_t joined() const noexcept { return joined_; }
  // How many rows have joined the sums since the pass ended.
  double tail_rows() const noexcept { return tail_rows_; }

  // How many passes ended since the last new row came.
  std::uint64_t quiet_passes() const noexcept { return quiet_passes_; }
  void stream_went_on() noexcept { quiet_passes_ = 0; }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("window sums", 2);
    visitor.values(state_, pass_exact_, unbroken_, pass_unbroken_, began_again_, outrun_rows_,
                   previous_end_, quiet_passes_, joined_, tail_rows_);
    pass_.visit_state(visitor);
  }

  static constexpr double kFewRows = 1.0 / 32;  // of the window

 private:
  enum class State : std::uint8_t {
    kExact,
    kStale,     // they may hold rows that have left, and lack newer ones
    kUnusable,  // rounding has swallowed what they held
  };

  void outrun(std::uint64_t rows) noexcept;
  void begin_pass(std::uint64_t head) noexcept;
  // For a pass with rows that leave and are not taken out: begins it again if all that it has
  // summed leaves, once. Returns whether it has.
  bool follow_overtaken_pass(std::uint64_t head) noexcept;
  // Takes the rows [first, end) out of sums whose newest row is `newest`. See AnchorSums::remove().
  bool take_out(AnchorSums& sums, std::uint64_t first, std::uint64_t end, std::uint64_t newest,
                LearnerWorker& worker) noexcept;

  const WindowCursor& cursor_;
  Estimator& estimator_;
  WindowPass pass_;
  State state_ = State::kExact;  // of the sums of the last complete pass
  bool pass_exact_ = true;       // nothing has outrun the sums of the pass under way
  bool unbroken_ = true;
  bool pass_unbroken_ = true;  // the same for the pass under way
  bool began_again_ = false;   // the pass under way has begun again
  std::uint64_t outrun_rows_ = 0;
  std::uint64_t previous_end_ = 0;  // the end of the pass before
  std::uint64_t quiet_passes_ = 0;
  std::uint64_t joined_ = 0;
  double tail_rows_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_WINDOW_SUMS_H_
