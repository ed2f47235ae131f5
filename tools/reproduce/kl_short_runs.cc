#include "windhover/tools/reproduce/kl_short_runs.h"

#include <fmt/format.h>

#include <vector>

#include "windhover/tools/error.h"
#include "windhover/tools/fit/moments.h"
#include "windhover/tools/fit/reference.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {

Estimate add_short_run(const Context& context, const std::string& name, const Problem& problem,
                       const KnownEstimates& estimates, const ShortRun& run, Report& report) {
  std::vector<double> kl(run.chains);
  context.parallel(run.chains, [&](std::size_t c) {
    OwnedModel model(problem.model, problem.data);
    const OwnedSampler sampler(run.config, model.dimension());
    if (!ok(sampler->refresh(estimates.view()))) throw RunError("the estimates are refused");
    ChainRun chain(model, sampler, run.config, run.config.minibatch_size, context.seed() * 1000 + c,
                   0);
    chain.start({run.start.begin(), run.start.end()});
    Moments moments(problem.posterior.mode);
    for (std::uint64_t t = 0; t < run.steps; ++t) {
      if (!chain.step()) throw RunError("a short run has diverged");
      moments.add(chain.theta().data());
    }
    kl[c] = gaussian_kl(moments.mean(), moments.covariance(), problem.posterior.mode,
                        problem.posterior.covariance);
  });
  const Estimate mean = mean_of(kl);
  report.add(Figure{.group = fmt::format("{}: all iterates of one chain from {}", name, run.from),
                    .name = fmt::format("{}, {} steps (nats)", run.method, run.steps),
                    .ours = mean.value,
                    .mcse = mean.mcse,
                    .papers = run.papers,
                    .papers_source = "Table 1",
                    .papers_decimals = 1});
  return mean;
}

}  // namespace windhover::reproduce
