#include <vector>

#include "windhover/tools/reproduce/data_sets.h"
#include "windhover/tools/reproduce/experiment.h"

namespace windhover::reproduce {

std::span<const Experiment> experiments() {
  static const std::vector<std::string_view> mnist(kMnistFiles.begin(), kMnistFiles.end());
  static const std::vector<Experiment> list = {
      {"stationary-kl",
       "Mandt, Hoffman and Blei 2017, Table 1",
       "KL of stationary laws from the posterior, exact and simulated, on three data sets",
       {"winequality-white.csv", "CASP.csv", "Skin_NonSkin.txt"},
       run_stationary_kl},
      {"ou-covariance",
       "Mandt, Hoffman and Blei 2017, Figures 1 and 2",
       "Predicted against empirical covariance of the iterates of constant-rate SGD",
       {"winequality-white.csv", "Skin_NonSkin.txt"},
       run_ou_covariance},
      {"iterate-averaging",
       "Mandt, Hoffman and Blei 2017, Figures 3 to 5",
       "Marginal variances by IASG, SGLD and NUTS over passes, on simulated rows",
       {},
       run_iterate_averaging},
      {"fisher-scoring",
       "Ahn, Korattikara and Welling 2012, Figures 1 and 2",
       "Errors of mean and covariance against HMC on MNIST 7 v 9, over the mixing rate",
       {kMnistFiles[0], kMnistFiles[1]},
       run_fisher_scoring},
      {"neural-network", "Ahn, Korattikara and Welling 2012, Figure 3 right",
       "Test error of averaged predictions of a network on ten digits, over gradients", mnist,
       run_neural_network},
      {"kdd99",
       "Ahn, Korattikara and Welling 2012, Table 1",
       "Test error of a discriminative RBM on KDD Cup 1999, the 10 percent file",
       {"kddcup.data_10_percent"},
       run_kdd99},
      {"hyperparameters",
       "Mandt, Hoffman and Blei 2017, Figure 6",
       "Validation loss over the prior precision, and the precision learned online",
       {kMnistFiles[0], kMnistFiles[1], kMnistFiles[2], kMnistFiles[3], "covtype.data",
        "covtype-sample.csv"},
       run_hyperparameters,
       true,
       true},
      {"mnist-santa", "Chen, Carlson, Gan, Li and Carin 2016, Table 1",
       "Test error of a network of two hidden layers of 400 by Santa and optimisers", mnist,
       run_mnist_santa},
      {"double-well",
       "Chen, Carlson, Gan, Li and Carin 2016, Figure 1",
       "Santa leaves a local minimum that RMSprop stays in",
       {},
       run_double_well,
       false},  // it takes seconds as it is
      {"complete-recipe",
       "Rocha 2026, tutorial on stochastic-gradient MCMC, Figures 2 and 5 to 10",
       "Mixture, friction, bias, variance reduction and metrics, against exact laws",
       {},
       run_complete_recipe},
      {"nuts-crossover",
       "Rocha 2026, tutorial on stochastic-gradient MCMC, Figure 12",
       "effective draws per second beside bias, against NUTS and Stan, as the rows grow",
       {},
       run_nuts_crossover},
      {"streaming",
       "Our own, on the regimes of every stream",
       "coverage, spread and lag of every horizon, and shortcuts shown failing",
       {},
       run_streaming},
      {"detection",
       "Our own, beside Bifet and Gavalda 2007 and Page 1954",
       "rows until a jump, a slope or other noise is said, and false alarms, beside ADWIN and "
       "Page-Hinkley",
       {},
       run_detection},
      {"ground-truth",
       "Our own, beside Stan",
       "the truth that others measure against: Laplace, HMC and Stan on two logistic models",
       {"winequality-white.csv", "Skin_NonSkin.txt"},
       run_ground_truth},
  };
  return list;
}

}  // namespace windhover::reproduce
