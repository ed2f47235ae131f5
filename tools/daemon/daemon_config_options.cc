// The list of options of windhoverd: names, help, and where each is stored.
#include <algorithm>
#include <iterator>
#include <utility>

#include "windhover/samplers/registry.h"
#include "windhover/tools/daemon/daemon_values.h"
#include "windhover/tools/daemon/http_options.h"
#include "windhover/tools/daemon/sampler_options.h"

namespace windhover {
namespace {

Choices<std::string> model_choices() {
  Choices<std::string> names = names_of(model_registry());
  names.emplace_back("auto", "auto");
  return names;
}

}  // namespace

void DaemonConfig::describe_options() {
  Values& v = *values_;
  ModelConfig& m = v.engine.model;
  SamplerConfig& s = v.engine.sampler;
  const auto add = [this](std::vector<DaemonOption> more) {
    std::ranges::move(more, std::back_inserter(options_));
  };
  options_ = {
      text("model.schema", "schema of the rows: sets features, max_nonzeros, offset, weight",
           v.schema),
      choice("model.name", "likelihood; auto: what the schema's target asks for, else linear",
             v.model, model_choices()),
      number("model.features", "columns of a row, without the intercept", m.features),
      number("model.max_nonzeros", "of a sparse row; 0: rows are dense", m.max_nonzeros),
      boolean("model.intercept", "a constant 1, the last coefficient", m.intercept),
      boolean("model.offset",
              "rows have an offset: added to the linear predictor; of counts log exposure",
              m.offset),
      boolean("model.weight", "rows have a weight: how many equal rows each counts as", m.weight),
      number_or("learn", "model.prior_precision",
                "of the coefficients; 0: an sd of 2.5 sd(y) / sd(x); \"learn\": from the rows",
                m.prior_precision, m.learn_prior_precision),
      choice("model.prior_groups", "what learns a prior precision of its own", v.prior_groups,
             Choices<Values::PriorGroups>{{"one", Values::PriorGroups::kOne},
                                          {"features", Values::PriorGroups::kFeatures},
                                          {"fields", Values::PriorGroups::kFields}}),
      number("model.prior_precision_min", "of a learned one", m.prior_precision_min),
      number("model.prior_precision_max", "of a learned one", m.prior_precision_max),
      number("model.intercept_precision", "prior precision of the intercept; 0: chosen",
             m.intercept_precision),
      number("model.noise_variance",
             "of y given x; student-t: squared scale; log-normal: of log y; 0: learned",
             m.noise_variance),
      number("model.degrees_of_freedom", "student-t: 3 to 1000", m.degrees_of_freedom),
      number("model.classes", "softmax: 2 to 64; targets count from 0", m.classes),
      number("model.hidden", "networks: units of the first hidden layer", m.hidden),
      number("model.hidden2", "networks: of the second; 0: none", m.hidden2),
      choice("model.activation", "networks: of the hidden units", m.activation,
             Choices<Activation>{{"tanh", Activation::kTanh},
                                 {"relu", Activation::kRelu},
                                 {"logistic", Activation::kLogistic}}),
      choice("sampler.name", "how the chains move", v.sampler, names_of(sampler_registry())),
  };
  add(sampler_options(s));
  add({horizon_option(v.horizon)});
  add(horizon_options(v.engine));
  add({
      number("engine.window_slack", "rows the writer may be ahead; 0: four windows, 8192 to 65536",
             v.engine.window_slack),
      number("engine.max_frame_rows", "rows of one frame; 0: half the slack, at most 32768",
             v.engine.max_frame_rows),
      number("engine.draws_per_observation",
             "replay ratio R: minibatch rows a chain draws for each new row; 0: no target",
             v.engine.draws_per_observation),
      choice("engine.standardize", "location and scale of features", v.engine.standardize,
             Choices<Standardize>{{"chosen", Standardize::kChosen},
                                  {"off", Standardize::kOff},
                                  {"cold-start", Standardize::kColdStart},
                                  {"scaled", Standardize::kScaled},
                                  {"given", Standardize::kGiven}}),
      numbers("engine.feature_shift", "standardize = \"given\"", v.feature_shift),
      numbers("engine.feature_scale", "standardize = \"given\"", v.feature_scale),
      choice("engine.standardize_target", "location and scale of y", v.engine.standardize_target,
             Choices<Standardize>{{"chosen", Standardize::kChosen},
                                  {"off", Standardize::kOff},
                                  {"cold-start", Standardize::kColdStart},
                                  {"given", Standardize::kGiven}}),
      number("engine.target_shift", "standardize_target = \"given\"; log-normal: of log y",
             v.engine.target_shift),
      number("engine.target_scale", "standardize_target = \"given\"", v.engine.target_scale),
      number("engine.retained_draws", "draws in every snapshot", v.engine.retained_draws),
      number("engine.max_readers", "who predict at one time; 0: as many as the server takes",
             v.engine.max_readers),
      number("engine.max_query_rows", "rows of one question", v.engine.max_query_rows),
      boolean("engine.score_predictions",
              "rows are predicted before they are learned from, and the predictions scored",
              v.engine.score_predictions),
      number("engine.seed", "of all random numbers", v.engine.seed),
      number("labels.pending", "keys of questions that may wait for their outcome; 0: none may",
             v.engine.labels.pending),
      number("labels.timeout_seconds", "for which a key waits", v.engine.labels.timeout_seconds),
      number_or(
          "none", "labels.timeout_outcome",
          "what happened where nothing was heard by then, of clicks 0; \"none\": nobody knows",
          v.engine.labels.timeout_outcome, v.silence_is_no_outcome),
      text("server.observe.tcp_address", "numeric; empty: no TCP", v.observe.tcp_address),
      number("server.observe.tcp_port", "0: any free one", v.server.observe.tcp_port),
      text("server.observe.unix_path", "empty: none", v.observe.unix_path),
      boolean("server.observe.rows_only", "the observe endpoint refuses questions but Status",
              v.server.observe_rows_only),
      text("server.query.tcp_address", "numeric; empty: no TCP", v.query.tcp_address),
      number("server.query.tcp_port", "0: any free one", v.server.query.tcp_port),
      text("server.query.unix_path", "empty: none", v.query.unix_path),
  });
  add(http_options(v.server.http, v.http.tcp_address, v.http.unix_path));
  add({
      number("server.added.memory", "bytes for models added at run time; 0: none can be",
             v.server.added.memory_bytes),
      number("server.added.max_models", "of these at a time", v.server.added.max_models),
      number("server.added.max_parameters", "of the largest; 0: as the largest of this file",
             v.server.added.max_parameters),
      text("server.identities_file", "who may do what; empty: whoever comes, from loopback alone",
           v.identities_file),
      number("server.max_identities", "lines of it at most", v.server.max_identities),
      boolean("server.serve_anyone", "beyond loopback too whoever comes may do everything",
              v.server.serve_anyone),
      number("server.max_sessions", "connections at a time, on each endpoint",
             v.server.max_sessions),
      number("server.max_producers",
             "of each model, that are told apart; 0: 65536, of more than 16 models fewer",
             v.server.max_producers),
      number("server.max_producers_per_connection", "that it may speak for at a time, 1 to 64",
             v.server.max_producers_per_connection),
      number("server.producer_timeout",
             "ms without its rows, then another may speak for a producer",
             v.server.producer_timeout),
      number("server.frame_cap", "bytes of one request", v.server.frame_cap),
      number("server.hello_timeout", "ms from connecting to a whole Hello", v.server.hello_timeout),
      number("server.frame_timeout", "ms from a frame's first byte to its last",
             v.server.frame_timeout),
      number("server.idle_timeout", "ms without a byte from the peer", v.server.idle_timeout),
      number("server.write_timeout", "ms with an answer not taken", v.server.write_timeout),
      number("server.answer_timeout", "ms until every byte of an answer is taken",
             v.server.answer_timeout),
      number("server.wait_timeout", "ms that rows wait for a full window or the log, then refused",
             v.server.wait_timeout),
      number("server.drain_timeout", "ms that stopping may take", v.server.drain_timeout),
      number("server.limits.frames", "a second, of each connection; 0: no limit",
             v.server.limits.frames),
      number("server.limits.bytes", "likewise", v.server.limits.bytes),
      number("server.limits.questions", "likewise", v.server.limits.questions),
      number("server.limits.cost", "likewise, microseconds of all its questions",
             v.server.limits.cost),
      number("server.limits.connections",
             "at a time, of each identity to each endpoint; 0: no limit",
             v.server.limits.connections),
      number("server.limits.producers", "of each model, of each identity; 0: half of max_producers",
             v.server.limits.producers),
      text("server.tls.certificate", "PEM, the server's and those above; empty: all in the clear",
           v.tls.certificate),
      text("server.tls.key", "of the certificate, PEM, for its owner alone", v.tls.key),
      text("server.tls.client_ca", "PEM, who vouches for clients; empty: none shows a certificate",
           v.tls.client_ca),
      number("server.tls.memory_bytes", "of OpenSSL; 0: enough for all connections",
             v.tls.memory_bytes),
  });
  add(data_options(v.data));
  add(process_options(v.process, v.engine));
}

}  // namespace windhover
