#include "windhover/tools/reproduce/error_curve.h"

#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {

std::string Training::text() const {
  return fmt::format(
      "{} of {} and {} units, lambda {}, {}, told {} from {} rows every {}, {} steps, {} looks",
      model.name, model.hidden, model.hidden2, prior_precision, settings_text(sampler),
      static_cast<int>(measured), first_rows, refresh_every, steps, looks);
}

ordered_json ErrorCurve::json() const {
  return {{"examples", examples}, {"error", error}, {"alone", alone}, {"seconds", seconds}};
}

ErrorCurve curve_from(const ordered_json& json) {
  return {numbers_from(json.at("examples")), numbers_from(json.at("error")),
          numbers_from(json.at("alone")), number_from(json.at("seconds"))};
}

std::vector<ErrorCurve> run_curves(const Context& context, const std::vector<PartJob>& jobs,
                                   const Stage& stage) {
  std::vector<ErrorCurve> curves;
  for (const ordered_json& json : context.run_parts(jobs, stage))
    curves.push_back(curve_from(json));
  return curves;
}

ErrorCurve error_curve(const Training& training, const Dataset& rows, const Dataset& judged,
                       std::uint64_t seed) {
  OwnedModel model(training.model, rows);
  std::ranges::fill(model.prior(), training.prior_precision);
  ToldChain chain(model, training.sampler, training.measured, training.first_rows,
                  training.refresh_every, seed);
  Classifier classifier(training.model, judged);
  return follow(chain, classifier, training.steps, training.looks);
}

Estimate share_of_errors(const std::vector<double>& shares, std::size_t rows) {
  const Estimate seeds = mean_over_seeds(shares);
  const double share = seeds.value;
  return {share,
          std::hypot(seeds.mcse, std::sqrt(share * (1 - share) / static_cast<double>(rows)))};
}

void add_ends(Report& report, const std::string& group, const std::string& label,
              const std::string& unit, double scale, std::size_t rows,
              const std::vector<ErrorCurve>& runs, std::optional<double> papers,
              const std::string& papers_source, int papers_decimals) {
  Table table(report, group);
  for (const bool averaged : {true, false}) {
    std::vector<double> ends;
    ends.reserve(runs.size());
    for (const ErrorCurve& run : runs) {
      ends.push_back((averaged ? run.error : run.alone).back());
    }
    Figure& figure =
        table.add(fmt::format("{}, {} ({})", label,
                              averaged ? "averaged predictions" : "last iterate alone", unit),
                  scale * share_of_errors(ends, rows));
    if (averaged) figure.beside(papers, papers_source, papers_decimals);
  }
}

Series mean_curve(const std::string& label, int colour, double scale, std::size_t rows,
                  const std::vector<ErrorCurve>& runs) {
  Series series = Series::line(label, colour);
  for (std::size_t i = 0; i < runs.at(0).examples.size(); ++i) {
    std::vector<double> shares;
    for (const ErrorCurve& run : runs) shares.push_back(i < run.error.size() ? run.error[i] : NAN);
    series.add(runs[0].examples[i], scale * share_of_errors(shares, rows));
  }
  return series;
}

}  // namespace windhover::reproduce
