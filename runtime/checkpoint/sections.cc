// The sections that a checkpoint may hold, as errors name them.
#include <algorithm>

#include "windhover/runtime/checkpoint/stream.h"

namespace windhover::checkpoint {

namespace {

struct Known {
  std::string_view name;
  const char* damaged;
  const char* version;
};

// Sentences are static text, so each is written out.
constexpr Known kKnown[] = {
    Known{"configuration",
          "the section 'configuration' of the checkpoint is damaged; it begins at byte",
          "the section 'configuration' of the checkpoint is of another version"},
    Known{"rows", "the section 'rows' of the checkpoint is damaged; it begins at byte",
          "the section 'rows' of the checkpoint is of another version"},
    Known{"learner", "the section 'learner' of the checkpoint is damaged; it begins at byte",
          "the section 'learner' of the checkpoint is of another version"},
    Known{"estimates", "the section 'estimates' of the checkpoint is damaged; it begins at byte",
          "the section 'estimates' of the checkpoint is of another version"},
    Known{"Laplace approximation",
          "the section 'Laplace approximation' of the checkpoint is damaged; it begins at byte",
          "the section 'Laplace approximation' of the checkpoint is of another version"},
    Known{"model checks",
          "the section 'model checks' of the checkpoint is damaged; it begins at byte",
          "the section 'model checks' of the checkpoint is of another version"},
    Known{"sums of the last pass",
          "the section 'sums of the last pass' of the checkpoint is damaged; it begins at byte",
          "the section 'sums of the last pass' of the checkpoint is of another version"},
    Known{
        "sums of the pass under way",
        "the section 'sums of the pass under way' of the checkpoint is damaged; it begins at byte",
        "the section 'sums of the pass under way' of the checkpoint is of another version"},
    Known{"noise covariance",
          "the section 'noise covariance' of the checkpoint is damaged; it begins at byte",
          "the section 'noise covariance' of the checkpoint is of another version"},
    Known{"window sums",
          "the section 'window sums' of the checkpoint is damaged; it begins at byte",
          "the section 'window sums' of the checkpoint is of another version"},
    Known{"surprise limit",
          "the section 'surprise limit' of the checkpoint is damaged; it begins at byte",
          "the section 'surprise limit' of the checkpoint is of another version"},
    Known{"window pass",
          "the section 'window pass' of the checkpoint is damaged; it begins at byte",
          "the section 'window pass' of the checkpoint is of another version"},
    Known{"row scan", "the section 'row scan' of the checkpoint is damaged; it begins at byte",
          "the section 'row scan' of the checkpoint is of another version"},
    Known{"cold start", "the section 'cold start' of the checkpoint is damaged; it begins at byte",
          "the section 'cold start' of the checkpoint is of another version"},
    Known{"ensemble", "the section 'ensemble' of the checkpoint is damaged; it begins at byte",
          "the section 'ensemble' of the checkpoint is of another version"},
    Known{"chains", "the section 'chains' of the checkpoint is damaged; it begins at byte",
          "the section 'chains' of the checkpoint is of another version"},
    Known{"what the sampler keeps for each chain",
          "the section 'what the sampler keeps for each chain' of the checkpoint is damaged; it "
          "begins at byte",
          "the section 'what the sampler keeps for each chain' of the checkpoint is of another "
          "version"},
    Known{"retained draws",
          "the section 'retained draws' of the checkpoint is damaged; it begins at byte",
          "the section 'retained draws' of the checkpoint is of another version"},
    Known{"sampler", "the section 'sampler' of the checkpoint is damaged; it begins at byte",
          "the section 'sampler' of the checkpoint is of another version"},
    Known{"sampling run",
          "the section 'sampling run' of the checkpoint is damaged; it begins at byte",
          "the section 'sampling run' of the checkpoint is of another version"},
    Known{"record of the chains",
          "the section 'record of the chains' of the checkpoint is damaged; it begins at byte",
          "the section 'record of the chains' of the checkpoint is of another version"},
    Known{"law check", "the section 'law check' of the checkpoint is damaged; it begins at byte",
          "the section 'law check' of the checkpoint is of another version"},
    Known{"spread directions",
          "the section 'spread directions' of the checkpoint is damaged; it begins at byte",
          "the section 'spread directions' of the checkpoint is of another version"},
    Known{"row block learner",
          "the section 'row block learner' of the checkpoint is damaged; it begins at byte",
          "the section 'row block learner' of the checkpoint is of another version"},
    Known{"row blocks", "the section 'row blocks' of the checkpoint is damaged; it begins at byte",
          "the section 'row blocks' of the checkpoint is of another version"},
    Known{"curvature bound",
          "the section 'curvature bound' of the checkpoint is damaged; it begins at byte",
          "the section 'curvature bound' of the checkpoint is of another version"},
    Known{"learned precision",
          "the section 'learned precision' of the checkpoint is damaged; it begins at byte",
          "the section 'learned precision' of the checkpoint is of another version"},
    Known{"learned dispersion",
          "the section 'learned dispersion' of the checkpoint is damaged; it begins at byte",
          "the section 'learned dispersion' of the checkpoint is of another version"},
    Known{"shared draws",
          "the section 'shared draws' of the checkpoint is damaged; it begins at byte",
          "the section 'shared draws' of the checkpoint is of another version"},
    Known{"condensed past",
          "the section 'condensed past' of the checkpoint is damaged; it begins at byte",
          "the section 'condensed past' of the checkpoint is of another version"},
    Known{"past memory",
          "the section 'past memory' of the checkpoint is damaged; it begins at byte",
          "the section 'past memory' of the checkpoint is of another version"},
    Known{"choice of a memory",
          "the section 'choice of a memory' of the checkpoint is damaged; it begins at byte",
          "the section 'choice of a memory' of the checkpoint is of another version"},
    Known{"comparison of spreads",
          "the section 'comparison of spreads' of the checkpoint is damaged; it begins at byte",
          "the section 'comparison of spreads' of the checkpoint is of another version"},
    Known{"draw budget",
          "the section 'draw budget' of the checkpoint is damaged; it begins at byte",
          "the section 'draw budget' of the checkpoint is of another version"},
    Known{"replay ratio",
          "the section 'replay ratio' of the checkpoint is damaged; it begins at byte",
          "the section 'replay ratio' of the checkpoint is of another version"},
    Known{"schedule", "the section 'schedule' of the checkpoint is damaged; it begins at byte",
          "the section 'schedule' of the checkpoint is of another version"},
    Known{"running estimates",
          "the section 'running estimates' of the checkpoint is damaged; it begins at byte",
          "the section 'running estimates' of the checkpoint is of another version"},
    Known{"row gate", "the section 'row gate' of the checkpoint is damaged; it begins at byte",
          "the section 'row gate' of the checkpoint is of another version"},
    Known{"law of the chains",
          "the section 'law of the chains' of the checkpoint is damaged; it begins at byte",
          "the section 'law of the chains' of the checkpoint is of another version"},
    Known{"conformal intervals",
          "the section 'conformal intervals' of the checkpoint is damaged; it begins at byte",
          "the section 'conformal intervals' of the checkpoint is of another version"},
    Known{"times of rows",
          "the section 'times of rows' of the checkpoint is damaged; it begins at byte",
          "the section 'times of rows' of the checkpoint is of another version"},
    Known{"events", "the section 'events' of the checkpoint is damaged; it begins at byte",
          "the section 'events' of the checkpoint is of another version"},
    Known{"snapshot", "the section 'snapshot' of the checkpoint is damaged; it begins at byte",
          "the section 'snapshot' of the checkpoint is of another version"},
    Known{"counters", "the section 'counters' of the checkpoint is damaged; it begins at byte",
          "the section 'counters' of the checkpoint is of another version"},
    Known{"end", "the section 'end' of the checkpoint is damaged; it begins at byte",
          "the section 'end' of the checkpoint is of another version"},
};

}  // namespace

const char* sentence_of_damage(const SectionHeader& header) noexcept {
  const auto* known =
      std::ranges::find_if(kKnown, [&](const Known& k) { return header.is(k.name); });
  return known != std::end(kKnown)
             ? known->damaged
             : "a section of the checkpoint, and its name, is damaged; it begins at byte";
}

const char* sentence_of_version(const char* name) noexcept {
  const auto* known = std::ranges::find(kKnown, std::string_view(name), &Known::name);
  return known != std::end(kKnown) ? known->version
                                   : "a section of the checkpoint is of another version";
}

}  // namespace windhover::checkpoint
