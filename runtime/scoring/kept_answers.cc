#include "windhover/runtime/scoring/kept_answers.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace windhover {

KeptAnswers::KeptAnswers(Arena& arena, std::uint32_t places, std::size_t numbers) noexcept
    : numbers_(numbers),
      kinds_(arena.allocate<Kind>(numbers > 0 ? places : 0)),
      answers_(arena.allocate<double>(kinds_.size() * stride())) {}

std::size_t KeptAnswers::stride() const noexcept { return numbers_ + 2 * kScoredIntervals.size(); }

void KeptAnswers::write(std::uint32_t place, const GivenAnswer* answer, bool again) noexcept {
  if (numbers_ == 0) return;
  Kind& kind = kinds_[place];
  const bool had_one = again && kind.answered;
  kind.answered = answer != nullptr;
  if (answer == nullptr) return;
  decide(*answer, had_one, kind);
  double* out = std::ranges::copy(answer->numbers, &answers_[place * stride()]).out;
  for (std::size_t i = 0; i < kScoredIntervals.size(); ++i) {
    *out++ = answer->served[i].lower;
    *out++ = answer->served[i].upper;
  }
}

void KeptAnswers::decide(const GivenAnswer& answer, bool had_one, Kind& kind) noexcept {
  const auto n_seen = static_cast<std::uint32_t>(answer.n_seen);
  const bool decided = had_one && kind.n_seen == n_seen && kind.use >= OutcomeUse::kConformal;
  kind.n_seen = n_seen;
  if (!decided || answer.use < OutcomeUse::kConformal) kind.use = answer.use;
  if (decided || kind.use != OutcomeUse::kCheck) return;
  if (judged_.left(answer.n_seen, answer.n_eff) > 0) {
    judged_.add(answer.n_seen);
  } else {
    kind.use = OutcomeUse::kConformal;
  }
}

GivenAnswer KeptAnswers::read(std::uint32_t place) const noexcept {
  const double* numbers = &answers_[place * stride()];
  const double* served = numbers + numbers_;
  GivenAnswer answer;
  answer.numbers = {numbers, numbers_};
  answer.use = kinds_[place].use;
  for (std::size_t i = 0; i < kScoredIntervals.size(); ++i) {
    answer.served[i] = {served[2 * i], served[2 * i + 1]};
  }
  return answer;
}

void KeptAnswers::save(std::uint32_t place, std::byte* out) const noexcept {
  std::memcpy(out, &kinds_[place], sizeof(Kind));
  std::memcpy(out + sizeof(Kind), &answers_[place * stride()], stride() * sizeof(double));
}

void KeptAnswers::restore(std::uint32_t place, std::span<const std::byte> bytes) noexcept {
  if (numbers_ == 0) return;
  Kind& kind = kinds_[place];
  kind = {0, OutcomeUse::kNothing, false};
  if (bytes.empty()) return;
  std::memcpy(&kind.n_seen, bytes.data(), sizeof(kind.n_seen));
  const auto use = static_cast<OutcomeUse>(bytes[offsetof(Kind, use)]);
  kind.use = std::min(use, OutcomeUse::kCheck);
  kind.answered = true;
  std::memcpy(&answers_[place * stride()], &bytes[sizeof(Kind)], stride() * sizeof(double));
}

}  // namespace windhover
