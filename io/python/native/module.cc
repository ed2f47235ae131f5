// The module windhover._engine, which windhover.Engine calls. Its Python types are declared in
// ../src/windhover/_engine.pyi.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <limits>
#include <string>
#include <type_traits>

#include "windhover/io/python/native/engine.h"

namespace py = pybind11;

namespace windhover::python {
namespace {

// The least and the largest value of an integer option; None for a floating-point one.
template <class T>
py::object bounds() {
  if constexpr (std::is_floating_point_v<T>) {
    return py::none();
  } else {
    return py::make_tuple(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  }
}

// Adds options by name, in the order of the header; `numbers` gets the bounds of each.
class OptionsOf {
 public:
  OptionsOf(py::class_<Options>& out, py::dict& numbers) : out_(out), numbers_(numbers) {}

  template <class T>
  OptionsOf& number(const char* name, T windhover_engine_options::*field) {
    using Number = typename std::conditional_t<std::is_enum_v<T>, std::type_identity<int>,
                                               std::type_identity<T>>::type;
    numbers_[name] = bounds<Number>();
    out_.def_property(
        name, [field](const Options& o) { return static_cast<Number>(o.c.*field); },
        [field](Options& o, Number value) { o.c.*field = static_cast<T>(value); });
    return *this;
  }
  OptionsOf& text(const char* name, std::string Options::*field,
                  void (Options::*set)(std::string)) {
    numbers_[name] = py::str();
    out_.def_property(
        name, [field](const Options& o) { return o.*field; },
        [set](Options& o, const std::string& value) { (o.*set)(value); });
    return *this;
  }

 private:
  py::class_<Options>& out_;
  py::dict& numbers_;
};

void add_options(py::module_& m) {
  using O = windhover_engine_options;
  py::class_<Options> options(m, "Options");
  options.def(py::init<const Library&>());
  py::dict numbers;
  OptionsOf(options, numbers)
      .text("model", &Options::model, &Options::set_model)
      .number("features", &O::features)
      .number("max_nonzeros", &O::max_nonzeros)
      .number("intercept", &O::intercept)
      .number("prior_precision", &O::prior_precision)
      .number("intercept_precision", &O::intercept_precision)
      .number("learn_prior_precision", &O::learn_prior_precision)
      .number("noise_variance", &O::noise_variance)
      .number("degrees_of_freedom", &O::degrees_of_freedom)
      .number("classes", &O::classes)
      .number("hidden", &O::hidden)
      .number("hidden2", &O::hidden2)
      .text("sampler", &Options::sampler, &Options::set_sampler)
      .number("minibatch_size", &O::minibatch_size)
      .number("chains", &O::chains)
      .number("temperature", &O::temperature)
      .number("horizon", &O::horizon)
      .number("window_size", &O::window_size)
      .number("window_slack", &O::window_slack)
      .number("max_frame_rows", &O::max_frame_rows)
      .number("draws_per_observation", &O::draws_per_observation)
      .number("score_predictions", &O::score_predictions)
      .number("checkpoints", &O::checkpoints)
      .number("learner_threads", &O::learner_threads)
      .number("retained_draws", &O::retained_draws)
      .number("max_readers", &O::max_readers)
      .number("max_query_rows", &O::max_query_rows)
      .number("seed", &O::seed)
      .number("schema_fingerprint", &O::schema_fingerprint)
      .number("offset", &O::offset)
      .number("labels_pending", &O::labels_pending)
      .number("labels_timeout_seconds", &O::labels_timeout_seconds)
      .number("labels_timeout_outcome", &O::labels_timeout_outcome)
      .number("weight", &O::weight)
      .number("surprising_rows", &O::surprising_rows)
      .number("structure", &O::structure)
      .number("dependent_spread", &O::dependent_spread);
  m.attr("OPTIONS") = numbers;
}

void add_answers(py::module_& m) {
  using P = windhover_prediction;
  PYBIND11_NUMPY_DTYPE(P, linpred_mean, linpred_sd, epred_mean, epred_sd, mean, sd, var_epistemic,
                       var_aleatoric, interval_lower, interval_upper, entropy, expected_entropy,
                       mutual_information, log_score, pit, crps, brier, prob_best, expected_regret,
                       thompson, conformal_lower, conformal_upper, conformal_set, conformal_alpha,
                       pending);
  using M = windhover_parameter;
  PYBIND11_NUMPY_DTYPE(M, mean, mode, sd, sd_robust, q5, q50, q95, ess_bulk, r_hat, ess_tail,
                       mcse_mean, autocorrelation_time, prior_precision, drift_score);
  m.attr("PREDICTION") = py::dtype::of<P>();
  m.attr("PARAMETER") = py::dtype::of<M>();

  using W = windhover_provenance;
  py::class_<W>(m, "Provenance")
      .def_property_readonly("state", [](const W& w) { return static_cast<int>(w.status); })
      .def_property_readonly("horizon", [](const W& w) { return static_cast<int>(w.horizon); })
      .def_readonly("reason", &W::reason)
      .def_readonly("snapshot_id", &W::snapshot_id)
      .def_readonly("sequence", &W::sequence)
      .def_readonly("n_seen", &W::n_seen)
      .def_readonly("n_eff", &W::n_eff)
      .def_readonly("steps", &W::steps)
      .def_readonly("age_ns", &W::age_ns)
      .def_readonly("draws", &W::draws)
      .def_readonly("recovery_target", &W::recovery_target)
      .def_readonly("divergences", &W::divergences)
      .def_readonly("ess_bulk", &W::ess_bulk)
      .def_readonly("ess_tail", &W::ess_tail)
      .def_readonly("r_hat", &W::r_hat)
      .def_readonly("autocorrelation_time", &W::autocorrelation_time)
      .def_readonly("draws_per_observation", &W::draws_per_observation)
      .def_readonly("ou_ratio", &W::ou_ratio)
      .def_readonly("law_ratio", &W::law_ratio)
      .def_readonly("misspecification_index", &W::misspecification_index)
      .def_readonly("prior_conflict", &W::prior_conflict)
      .def_readonly("score_autocorrelation", &W::score_autocorrelation)
      .def_readonly("drift_score", &W::drift_score)
      .def_readonly("repeated_rows", &W::repeated_rows)
      .def_readonly("coverage_90", &W::coverage_90)
      .def_readonly("noise_variance", &W::noise_variance)
      .def_readonly("noise_variance_sd", &W::noise_variance_sd)
      .def_readonly("conformal_coverage_90", &W::conformal_coverage_90)
      .def_readonly("drift_onset", &W::drift_onset)
      .def_readonly("drift_onset_time_ns", &W::drift_onset_time_ns)
      .def_readonly("r_hat_chance", &W::r_hat_chance)
      .def_property_readonly("robust_spread", [](const W& w) { return w.robust_spread != 0; });

  using E = windhover_event;
  py::class_<E>(m, "Event")
      .def_property_readonly("from", [](const E& e) { return static_cast<int>(e.from); })
      .def_property_readonly("state", [](const E& e) { return static_cast<int>(e.status); })
      .def_readonly("id", &E::id)
      .def_readonly("kind", &E::kind)
      .def_readonly("reason", &E::reason)
      .def_readonly("time_ns", &E::time_ns)
      .def_readonly("times", &E::times)
      .def_readonly("first_time_ns", &E::first_time_ns)
      .def_readonly("row", &E::row)
      .def_readonly("number", &E::number)
      .def_readonly("before", &E::before)
      .def_readonly("drift_onset", &E::drift_onset)
      .def_readonly("drift_onset_time_ns", &E::drift_onset_time_ns);
}

// Array arguments: one of another type or layout is an error instead of a copy.
py::arg array(const char* name) { return py::arg(name).noconvert(); }
py::arg_v maybe(const char* name) { return py::arg(name).noconvert() = py::none(); }

void add_engine(py::module_& m) {
  py::class_<Engine>(m, "Engine")
      .def(py::init<const Library&, const Options&>(), py::keep_alive<1, 2>())
      .def("destroy", &Engine::destroy)
      .def_property_readonly("footprint", &Engine::footprint)
      .def_property_readonly("dimension", &Engine::dimension)
      .def_property_readonly("head", &Engine::head)
      .def_property_readonly("pending_labels", &Engine::pending_labels)
      .def(
          "observe",
          [](Engine& engine, Array<double> features, const Array<double>& targets,
             Maybe<std::uint32_t> indices, Maybe<std::uint32_t> row_ends, Maybe<double> offsets,
             Maybe<double> trials, const Maybe<double>& weights) {
            return engine.observe({std::move(features), std::move(indices), std::move(row_ends),
                                   std::move(offsets), std::move(trials)},
                                  targets, weights);
          },
          array("features"), array("targets"), maybe("indices"), maybe("row_ends"),
          maybe("offsets"), maybe("trials"), maybe("weights"))
      .def("outcomes", &Engine::outcomes, py::arg("keys"), array("targets"))
      .def("settle_labels", &Engine::settle_labels)
      .def("poll", &Engine::poll)
      .def("start", &Engine::start)
      .def("stop", &Engine::stop)
      .def("pause", &Engine::pause)
      .def("save", &Engine::save)
      .def("restore", [](Engine& engine, const py::bytes& kept) { engine.restore(kept); });
}

void add_reader(py::module_& m) {
  py::class_<Reader>(m, "Reader")
      .def(py::init<const Engine&>(), py::keep_alive<1, 2>())
      .def("destroy", &Reader::destroy)
      .def(
          "predict",
          [](Reader& reader, Array<double> features, Array<windhover_prediction> predictions,
             Array<double> quantile_table, Array<double> exceedance, Array<double> probabilities,
             Array<double> probabilities_sd, Array<double> probabilities_lower,
             Array<double> probabilities_upper, Array<double> quantiles, Array<double> thresholds,
             double interval, std::uint64_t thompson_id, bool posterior_spread, std::size_t classes,
             std::vector<std::string> keys, Maybe<std::uint32_t> indices,
             Maybe<std::uint32_t> row_ends, Maybe<double> offsets, Maybe<double> trials,
             Maybe<double> outcomes) {
            AnswerArrays answer{std::move(predictions),        std::move(quantile_table),
                                std::move(exceedance),         std::move(probabilities),
                                std::move(probabilities_sd),   std::move(probabilities_lower),
                                std::move(probabilities_upper)};
            return reader.predict(
                {std::move(features), std::move(indices), std::move(row_ends), std::move(offsets),
                 std::move(trials)},
                {interval, thompson_id, posterior_spread, std::move(quantiles),
                 std::move(thresholds), std::move(outcomes), std::move(keys), classes},
                answer);
          },
          array("features"), array("predictions"), array("quantile_table"), array("exceedance"),
          array("probabilities"), array("probabilities_sd"), array("probabilities_lower"),
          array("probabilities_upper"), array("quantiles"), array("thresholds"),
          py::arg("interval"), py::arg("thompson_id"), py::arg("posterior_spread"),
          py::arg("classes"), py::arg("keys"), maybe("indices"), maybe("row_ends"),
          maybe("offsets"), maybe("trials"), maybe("outcomes"))
      .def(
          "posterior",
          [](Reader& reader, Array<windhover_parameter> parameters) {
            return reader.posterior(parameters);
          },
          array("parameters"))
      .def(
          "draws", [](Reader& reader, Array<double> theta) { return reader.draws(theta); },
          array("theta"))
      .def("events", &Reader::events);
}

}  // namespace

PYBIND11_MODULE(_engine, m) {
  m.doc() = "libwindhover.so, for windhover.Engine.";
  m.attr("MAX_QUANTILES") = WINDHOVER_MAX_QUANTILES;
  m.attr("MAX_THRESHOLDS") = WINDHOVER_MAX_THRESHOLDS;
  py::register_exception<SetUpError>(m, "SetUpError", PyExc_ValueError);
  py::class_<Library>(m, "Library")
      .def(py::init<const std::string&>())
      .def("status_text",
           [](const Library& l, int status) {
             return l.windhover_status_text(static_cast<windhover_status>(status));
           })
      .def("reason_text",
           [](const Library& l, int reason) { return l.windhover_reason_text(reason); });
  add_options(m);
  add_answers(m);
  add_engine(m);
  add_reader(m);
}

}  // namespace windhover::python
