#include "windhover/tests/runtime/state_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>

#include "windhover/runtime/checkpoint/stream.h"

namespace windhover::test {
namespace {

constexpr unsigned char kPoison = 0xA5;

// The same through bytes, and every section has a name that errors can say.
void restore(Host& run, const Bytes& checkpoint, Host& from) {
  const Error error = restore_error(*run.engine(), checkpoint);
  ASSERT_EQ(error.status, Status::kOk) << error.sentence;
  const std::string unknown = checkpoint::sentence_of_damage(checkpoint::SectionHeader("?"));
  for (const auto& section : OpenCheckpoint(checkpoint).sections) {
    EXPECT_NE(checkpoint::sentence_of_damage(section.header), unknown)
        << section.header.name.data();
  }
  run.go_to(from.position(), from.used());
  run.share_wall_clock(from);
}

}  // namespace

void Host::step(int rounds) {
  const bool starved = scenario_.stream == Stream::kStarved;
  const Index most = starved ? 300 : scenario_.stream == Stream::kBursts ? 120 : 40;
  const Index rows =
      std::min(1 + static_cast<Index>(static_cast<double>(most) * u_[used_]), data_.rows() - at_);
  if (rounds < 0) rounds = static_cast<int>((starved ? 3 : 12) * u_[used_ + 1]);
  used_ += 2;
  if (rows > 0) {
    while (!offer(at_, rows)) engine_->poll(1);
  }
  at_ += rows;
  clock_.advance_ns(300'000);
  engine_->poll(rounds);
}

std::vector<std::uint64_t> Host::visible() {
  std::vector<std::uint64_t> bits;
  const auto add = [&](const double* x, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bits.push_back(std::bit_cast<std::uint64_t>(x[i]));
  };
  Provenance p;
  for (const ParameterSummary& s : engine_.parameters(&p)) add(&s.mean, sizeof s / sizeof s.mean);
  const RowMatrix draws = engine_.draws();
  add(draws.data(), static_cast<std::size_t>(draws.size()));
  for (const PredictiveSummary& a : engine_.answers(some_question())) {
    for (const double x : {a.linpred_mean, a.linpred_sd, a.mean, a.sd, a.interval_lower,
                           a.interval_upper, a.prob_best, a.probs[0], a.probs_sd[0]}) {
      add(&x, 1);
    }
  }
  for (const double x : {p.ess_bulk, p.ess_tail, p.r_hat, p.r_hat_chance, p.autocorrelation_time,
                         p.draws_per_observation, p.ou_ratio, p.law_ratio, p.misspecification_index,
                         p.score_autocorrelation, p.drift_score, p.repeated_rows, p.noise_variance,
                         p.noise_variance_sd}) {
    add(&x, 1);
  }
  for (const std::uint64_t x :
       {p.snapshot_id, p.sequence, p.n_seen, p.n_eff, p.steps, std::uint64_t{p.draws},
        p.divergences, static_cast<std::uint64_t>(p.status), static_cast<std::uint64_t>(p.reason),
        static_cast<std::uint64_t>(p.horizon), engine_->head(), engine_->learner().round(),
        static_cast<std::uint64_t>(engine_->learner().view().phase)}) {
    bits.push_back(x);
  }
  for (std::size_t id = 0; id < engine_->counters().size(); ++id) {
    bits.push_back(engine_->counters().get(static_cast<RuntimeCounter>(id)));
  }
  return bits;
}

void Host::record_iterate(void* self, std::uint16_t chain, const double* theta) noexcept {
  Host& run = *static_cast<Host*>(self);
  run.trace_.push_back(chain);
  for (std::uint32_t j = 0; j < run.engine_->dimension(); ++j) {
    run.trace_.push_back(std::bit_cast<std::uint64_t>(theta[j]));
  }
}

void Host::record_head(void* self, std::uint64_t round, std::uint64_t head) noexcept {
  Host& run = *static_cast<Host*>(self);
  run.trace_.push_back(round);
  run.trace_.push_back(head);
}

void Host::add_row(Index row) {
  for (Index j = 0; j < data_.x.cols(); ++j) {
    if (sparse() && data_.x(row, j) == 0) continue;
    values_.push_back(data_.x(row, j));
    indices_.push_back(static_cast<std::uint32_t>(j));
  }
  ends_.push_back(static_cast<std::uint32_t>(values_.size()));
}

bool Host::offer(Index first, Index rows) {
  ObservationBatch batch = TestEngine::batch(data_, first, rows);
  if (sparse()) {
    clear_rows();
    for (Index i = first; i < first + rows; ++i) add_row(i);
    batch.features = reinterpret_cast<const std::byte*>(values_.data());
    batch.feature_values = values_.size();
    batch.indices = reinterpret_cast<const std::byte*>(indices_.data());
    batch.row_ends = reinterpret_cast<const std::byte*>(ends_.data());
  }
  return engine_->observe(batch, {}).status != Status::kWindowFull;
}

PredictRequest Host::some_question() {
  clear_rows();
  for (const Index row : {3, 40, 77}) add_row(row);
  PredictRequest request = question(3, values_);
  if (sparse()) {
    request.indices = indices_;
    request.row_ends = ends_;
  }
  return request;
}

std::unique_ptr<Host> other_run(const Scenario& s, const Data& data, std::uint32_t threads) {
  EngineConfig config = s.config;
  const bool one = !keeps_window(config.horizon) || config.structure == Structure::kDiagonal;
  if (!one) config.learner_threads = threads;
  auto other = std::make_unique<Host>(config, s, data, 9'000'000'000, kPoison);
  other->go_to(data.rows() / 2, 50);
  for (int i = 0; i < 14; ++i) other->step();
  other->take_trace();
  return other;
}

void restore(Host& run, const SavedState& state, Host& from) {
  StateRestorer restorer(state);
  run.engine()->state().visit_state(restorer);
  ASSERT_TRUE(restorer.fits()) << "other numbers are asked for than were shown";
  run.go_to(from.position(), from.used());
  run.share_wall_clock(from);
}

void expect_same_future(Host& original, const Scenario& s, const Data& data, int steps,
                        std::uint32_t threads) {
  const SavedState state = save(*original.engine());
  ASSERT_EQ(difference(save(*original.engine()), state), "") << "saving changed it";
  const auto restored = other_run(s, data, threads);
  if (threads == 1) {
    restore(*restored, state, original);
  } else {
    restore(*restored, bytes_of(*original.engine()), original);
  }
  ASSERT_EQ(difference(save(*restored->engine()), state), "") << "not all was restored";
  original.take_trace();
  ASSERT_EQ(restored->visible(), original.visible()) << "it answers otherwise at once";
  for (int i = 0; i < steps && !original.at_end(); ++i) {
    original.step();
    restored->step();
    ASSERT_EQ(difference(save(*restored->engine()), save(*original.engine())), "")
        << "step " << i << " on";
  }
  ASSERT_EQ(restored->take_trace(), original.take_trace());
  ASSERT_EQ(restored->visible(), original.visible());
}

}  // namespace windhover::test
