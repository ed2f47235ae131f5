// The questions of the client for C. The client's vectors are copied into the caller's arrays.
#include <algorithm>
#include <vector>

#include "windhover/io/c/client_handle.h"

using windhover::fail;
using windhover::guarded;

windhover_status windhover_client_predict(windhover_client* client,
                                          const windhover_question* question,
                                          const windhover_answer* answer) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  if (!client->client.connected()) return fail(client, WINDHOVER_CLOSED);
  const windhover::v1::Welcome& welcome = client->client.welcome();
  auto status = windhover::check_question(question, answer, welcome.classes());
  if (status == WINDHOVER_OK && question->rows > welcome.max_query_rows()) {
    status = WINDHOVER_TOO_LARGE;
  }
  if (status != WINDHOVER_OK) return fail(client, status);
  return guarded(client, [&] {
    std::vector<windhover::PredictiveSummary> summaries;
    windhover::Provenance provenance;
    windhover::PredictRequest request = windhover::request_of(*question);
    std::vector<std::string_view> keys;
    if (windhover::has_keys(*question)) {
      keys.resize(question->rows);
      request.keys = windhover::keys_of(question->keys, question->rows, keys.data());
    }
    const auto answered = client->client.predict(request, summaries, provenance);
    if (ok(answered)) windhover::give_answer(*question, summaries, provenance, *answer);
    return answered;
  });
}

windhover_status windhover_client_outcomes(windhover_client* client, const char* const* keys,
                                           const double* targets, size_t count,
                                           windhover_refused_row* listed, size_t room,
                                           windhover_joined* joined) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  auto status = windhover::check_wanted(joined);
  if (((keys == nullptr || targets == nullptr) && count > 0) || (listed == nullptr && room > 0)) {
    status = WINDHOVER_INVALID_ARGUMENT;
  }
  if (status != WINDHOVER_OK) return fail(client, status);
  return guarded(client, [&] {
    std::vector<std::string_view> texts(count);
    windhover::v1::OutcomeResult result;
    const auto told = client->client.outcomes(windhover::keys_of(keys, count, texts.data()),
                                              {targets, count}, result);
    if (!ok(told)) return told;
    const auto there =
        static_cast<std::size_t>(std::min(result.refused_key_size(), result.refused_reason_size()));
    for (std::size_t i = 0; i < std::min(room, there); ++i) {
      const auto at = static_cast<int>(i);
      listed[i] = {result.refused_key(at),
                   windhover::to_c(windhover::status_of_reason(result.refused_reason(at)))};
    }
    if (joined == nullptr) return told;
    windhover_joined out{};
    out.accepted = result.accepted();
    out.refused = result.refused();
    out.duplicate = result.duplicate();
    windhover::give(out, joined);
    return told;
  });
}

windhover_status windhover_client_posterior(windhover_client* client,
                                            windhover_parameter* parameters, size_t parameter_size,
                                            size_t room, windhover_provenance* provenance) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  if (!client->client.connected()) return fail(client, WINDHOVER_CLOSED);
  auto status = windhover::check_parameters(parameters, parameter_size, room,
                                            client->client.welcome().dimension());
  if (status == WINDHOVER_OK) status = windhover::check_wanted(provenance);
  if (status != WINDHOVER_OK) return fail(client, status);
  auto given = WINDHOVER_OK;
  status = guarded(client, [&] {
    std::vector<windhover::ParameterSummary> summaries;
    windhover::Provenance of;
    const auto answered = client->client.posterior(summaries, of);
    if (!ok(answered)) return answered;
    // Checked again, because a server may contradict its Welcome.
    given = windhover::check_parameters(parameters, parameter_size, room, summaries.size());
    if (given != WINDHOVER_OK) return answered;
    windhover::give_parameters(summaries, parameters, parameter_size);
    windhover::give_provenance(of, provenance);
    return answered;
  });
  return given == WINDHOVER_OK ? status : fail(client, given);
}

windhover_status windhover_client_events(windhover_client* client, windhover_event* events,
                                         size_t event_size, size_t room, size_t* count) {
  if (count != nullptr) *count = 0;
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  if (!client->client.connected()) return fail(client, WINDHOVER_CLOSED);
  const auto status = windhover::check_events(events, event_size, room, count);
  if (status != WINDHOVER_OK) return fail(client, status);
  return guarded(client, [&] {
    std::vector<windhover::Event> told;
    const auto answered = client->client.events(told);
    if (ok(answered)) windhover::give_events(told, events, event_size, room, *count);
    return answered;
  });
}

windhover_status windhover_client_draws(windhover_client* client, double* theta, size_t room,
                                        size_t* draws, size_t* dimension,
                                        windhover_provenance* provenance) {
  if (client == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  if (draws != nullptr) *draws = 0;
  if (dimension != nullptr) *dimension = 0;
  if (theta == nullptr && room > 0) return fail(client, WINDHOVER_INVALID_ARGUMENT);
  if (const auto status = windhover::check_wanted(provenance); status != WINDHOVER_OK) {
    return fail(client, status);
  }
  if (!client->client.connected()) return fail(client, WINDHOVER_CLOSED);
  bool fits = true;
  const auto status = guarded(client, [&] {
    std::vector<double> numbers;
    windhover::Provenance of;
    const auto answered = client->client.draws(numbers, of);
    if (!ok(answered)) return answered;
    fits = numbers.size() <= room;
    if (draws != nullptr) *draws = of.draws;
    if (dimension != nullptr && of.draws > 0) *dimension = numbers.size() / of.draws;
    if (!fits) return answered;
    std::copy(numbers.begin(), numbers.end(), theta);
    windhover::give_provenance(of, provenance);
    return answered;
  });
  return fits ? status
              : fail(client, WINDHOVER_TOO_LARGE, "the draws take more room than there is");
}
