// Which rows of the window the sums of A, C and the mode hold.
#ifndef WINDHOVER_RUNTIME_LEARNING_WINDOW_SUMS_H_
#define WINDHOVER_RUNTIME_LEARNING_WINDOW_SUMS_H_

#include <cstdint>

#include "windhover/runtime/learning/window_pass.h"

namespace windhover {

// The result of a pass.
struct PassResult {
  double
      replaced;  // share of the window, by what rows count, that is new since the pass before ended
  // A tenth of the window left the sums as a whole: chains, and draws that they have left, are
  // those of rows that are gone.
  bool outrun;
};

// The sums of the last complete pass, and those of the pass under way. Invariant: while exact(),
// the former hold the rows [cursor.first(), joined()) and no others. One thread.
class WindowSums {
 public:
  WindowSums(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
             Estimator& estimator) noexcept
      : cursor_(cursor), estimator_(estimator), pass_(arena, config, cursor, estimator) {}
  void reset() noexcept { pass_.reset(); }

  WindowPass& pass() noexcept { return pass_; }
  const WindowPass& pass() const noexcept { return pass_; }

  // Rows about to leave the window, because the head goes on to `head`, are taken out of the sums
  // that hold them while the lease still protects them. More than `most` rows, or rows that have
  // not joined yet, outrun the sums: the next pass puts them right. Where all that the pass under
  // way has summed has left, it begins again, but once only: a stream that does so again is one
  // that no pass can follow. true: the pass began again.
  bool remove_leaving(std::uint64_t head, std::uint64_t most, LearnerWorker& worker) noexcept;
  // For a cold start, whose passes sum what there is: nothing is taken out.
  void skip_leaving(std::uint64_t head) noexcept;
  // Up to `rows` rows that came since the pass ended join the sums, at the anchor of the sums.
  // Returns whether there was one.
  bool join(std::uint64_t rows, LearnerWorker& worker) noexcept;

  void begin_pass() noexcept { begin_pass(cursor_.head()); }
  // The pass under way is complete: its sums replace those before. `moving`: the chains have draws
  // that a stream may have outrun.
  PassResult complete_pass(bool moving) noexcept;
  // A cold start's passes are over: its sums hold the rows up to where the pass ended.
  void begin_after_cold_start() noexcept;
  // Chains start from where the pass ended.
  void mark_previous_end() noexcept { previous_end_ = pass_.end(); }

  bool exact() const noexcept { return state_ == State::kExact; }
  // Whether the rows of the last complete pass followed one another in the stream.
  bool unbroken() const noexcept { return unbroken_; }
  bool unusable() const noexcept { return state_ == State::kUnusable; }
  void give_up() noexcept { state_ = State::kUnusable; }
  // How many equal rows the window's rows in the sums are worth: as many as they are, where all
  // count the same.
  double worth() const noexcept;
  // Whether the sums have as many rows as the estimates: rows of a large frame join the sums after
  // those that they replace have left them.
  bool filled() const noexcept;
  std::uint64_t joined() const noexcept { return joined_; }
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
    kStale,     // rows that have left are still in them
    kUnusable,  // rounding has swallowed what they held
  };

  void outrun(std::uint64_t rows) noexcept;
  void begin_pass(std::uint64_t head) noexcept;
  // What remove_leaving() returns for a pass with rows that have left and were not taken out.
  bool follow_overtaken_pass(std::uint64_t head) noexcept;
  // Rows [first, end) leave sums whose newest row is `newest`. See AnchorSums::remove().
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
  std::uint64_t joined_ = 0;  // rows below it are in the sums
  double tail_rows_ = 0;      // how many joined since the pass ended
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_WINDOW_SUMS_H_
