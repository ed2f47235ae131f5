// The functions behind the registry, one file each, named after the experiment.
#ifndef WINDHOVER_TOOLS_REPRODUCE_EXPERIMENTS_H_
#define WINDHOVER_TOOLS_REPRODUCE_EXPERIMENTS_H_

namespace windhover::reproduce {

class Context;
class Report;

void run_complete_recipe(const Context& context, Report& report);
void run_detection(const Context& context, Report& report);
void run_double_well(const Context& context, Report& report);
void run_fisher_scoring(const Context& context, Report& report);
void run_ground_truth(const Context& context, Report& report);
void run_hyperparameters(const Context& context, Report& report);
void run_iterate_averaging(const Context& context, Report& report);
void run_kdd99(const Context& context, Report& report);
void run_mnist_santa(const Context& context, Report& report);
void run_neural_network(const Context& context, Report& report);
void run_nuts_crossover(const Context& context, Report& report);
void run_ou_covariance(const Context& context, Report& report);
void run_stationary_kl(const Context& context, Report& report);
void run_streaming(const Context& context, Report& report);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_EXPERIMENTS_H_
