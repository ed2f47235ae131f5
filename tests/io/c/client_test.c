/* A client from C against a server that lives, dies and comes back.
 *   client_test SERVE     SERVE prints the addresses of its two endpoints and ends with its input
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "windhover/tests/io/c/check.h"

typedef struct server {
  pid_t pid;
  int in;
  char observe[64], query[64];
} server;

static server started(const char* program) {
  server s = {0};
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) exit(1);
  s.pid = fork();
  if (s.pid == 0) {
    dup2(to[0], 0);
    dup2(from[1], 1);
    close(to[1]);
    close(from[0]);
    execl(program, program, (char*)NULL);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  s.in = to[1];
  FILE* out = fdopen(from[0], "r");
  if (out == NULL || fscanf(out, "%63s %63s", s.observe, s.query) != 2) {
    fprintf(stderr, "%s does not serve\n", program);
    exit(1);
  }
  fclose(out);
  return s;
}

static void killed(server* s) {
  kill(s->pid, SIGKILL);
  waitpid(s->pid, NULL, 0);
  close(s->in);
}

static windhover_client* client_of(void) {
  windhover_client* client = NULL;
  CHECK_OK(windhover_client_create(&client));
  if (client == NULL) exit(verdict());
  CHECK(strcmp(windhover_client_error(client), "") == 0);
  return client;
}

static double features[400];
static double targets[400];

static windhover_rows rows_of(size_t count) {
  windhover_rows rows;
  windhover_rows_init(&rows, sizeof rows);
  rows.rows = rows.feature_values = count;
  rows.features = features;
  rows.targets = targets;
  return rows;
}

static void nothing_is_connected(void) {
  windhover_client* client = client_of();
  asked a;
  ask_about(&a, 1);
  windhover_rows rows = rows_of(1);
  windhover_server server;
  windhover_server_init(&server, sizeof server);
  windhover_parameter parameters[2];
  double draws[128];
  size_t count = 1, dimension = 1;
  CHECK_STATUS(windhover_client_create(NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_send(client, &rows), WINDHOVER_CLOSED);
  CHECK(strlen(windhover_client_error(client)) > 5);
  CHECK_STATUS(windhover_client_predict(client, &a.question, &a.answer), WINDHOVER_CLOSED);
  CHECK_STATUS(windhover_client_posterior(client, parameters, sizeof parameters[0], 2, NULL),
               WINDHOVER_CLOSED);
  CHECK_STATUS(windhover_client_draws(client, draws, 128, &count, &dimension, NULL),
               WINDHOVER_CLOSED);
  windhover_event event;
  CHECK_STATUS(windhover_client_events(client, &event, sizeof event, 1, &count), WINDHOVER_CLOSED);
  CHECK(count == 0 && dimension == 0);
  CHECK_STATUS(windhover_client_server(client, &server), WINDHOVER_CLOSED);
  CHECK(windhover_client_reconnect(client) != WINDHOVER_OK);
  CHECK_OK(windhover_client_wait(client)); /* no row is on its way */
  CHECK_STATUS(windhover_client_connect(client, "no address", NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK(strstr(windhover_client_error(client), "no address") != NULL);
  CHECK_STATUS(windhover_client_connect(client, "unix:/no/such/socket", NULL),
               WINDHOVER_UNAVAILABLE);
  CHECK_STATUS(windhover_client_connect(client, NULL, NULL), WINDHOVER_INVALID_ARGUMENT);
  windhover_client_options options;
  windhover_client_options_init(&options, sizeof options - 8);
  CHECK_STATUS(windhover_client_connect(client, "unix:/no", &options), WINDHOVER_INVALID_ARGUMENT);
  windhover_client_options_init(&options, sizeof options);
  options.struct_size += 8;
  CHECK_STATUS(windhover_client_connect(client, "unix:/no", &options), WINDHOVER_UNSUPPORTED);
  CHECK(strstr(windhover_client_error(client), "later") != NULL);
  windhover_client_options_init(&options, sizeof options);
  options.durability = (windhover_durability)9;
  CHECK_STATUS(windhover_client_connect(client, "unix:/no", &options), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_go_back(client, 0), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_leave_missing(client), WINDHOVER_INVALID_ARGUMENT);
  CHECK_OK(windhover_client_close(client));
  windhover_client_destroy(client);
  windhover_client_destroy(NULL);
}

static void null_arguments(void) {
  uint64_t first = 7;
  windhover_totals totals;
  windhover_totals_init(&totals, sizeof totals);
  windhover_server server;
  windhover_server_init(&server, sizeof server);
  CHECK_STATUS(windhover_client_connect(NULL, "x", NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_reconnect(NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_close(NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_go_back(NULL, 0), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_leave_missing(NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_server(NULL, &server), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_send(NULL, NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_wait(NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_totals(NULL, &totals), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_refused(NULL, NULL, 0, NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_predict(NULL, NULL, NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_outcomes(NULL, NULL, NULL, 0, NULL, 0, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_posterior(NULL, NULL, 0, 0, NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_draws(NULL, NULL, 0, NULL, NULL, NULL), WINDHOVER_INVALID_ARGUMENT);
  CHECK(windhover_client_missing(NULL, &first) == 0 && first == 0);
  CHECK(strlen(windhover_client_error(NULL)) > 5);
}

static void sends_and_asks(const server* s) {
  windhover_client* observe = client_of();
  windhover_client* query = client_of();
  CHECK_OK(windhover_client_connect(observe, s->observe, NULL));
  CHECK_OK(windhover_client_connect(query, s->query, NULL));
  windhover_server server;
  windhover_server_init(&server, sizeof server);
  server.network = 1;
  CHECK_OK(windhover_client_server(query, &server));
  CHECK(server.features == 1 && server.dimension == 2 && server.classes == 0 &&
        server.max_nonzeros == 0 && server.max_query_rows > 0 && server.network == 0 &&
        server.fingerprint != 0);
  /* A program from before `network`. */
  windhover_server_init(&server, offsetof(windhover_server, network));
  server.network = 7;
  CHECK_OK(windhover_client_server(query, &server));
  CHECK(server.features == 1 && server.fingerprint != 0 && server.network == 7);
  CHECK_STATUS(windhover_client_server(query, NULL), WINDHOVER_INVALID_ARGUMENT);
  server.struct_size = 0;
  CHECK_STATUS(windhover_client_server(query, &server), WINDHOVER_INVALID_ARGUMENT);

  windhover_rows rows = rows_of(400);
  rows.feature_values = 399;
  CHECK_STATUS(windhover_client_send(observe, &rows), WINDHOVER_WRONG_DIMENSION);
  rows = rows_of(400);
  rows.targets = NULL;
  CHECK_STATUS(windhover_client_send(observe, &rows), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_send(observe, NULL), WINDHOVER_INVALID_ARGUMENT);
  rows = rows_of(400);
  const double kept = features[3];
  features[3] = NAN;
  CHECK_OK(windhover_client_send(observe, &rows));
  CHECK_OK(windhover_client_wait(observe));
  features[3] = kept;
  windhover_totals totals;
  windhover_totals_init(&totals, sizeof totals);
  CHECK_OK(windhover_client_totals(observe, &totals));
  CHECK(totals.sent == 400 && totals.accepted == 399 && totals.refused == 1 && totals.head == 399);
  CHECK_STATUS(windhover_client_totals(observe, NULL), WINDHOVER_INVALID_ARGUMENT);
  totals.struct_size = 0;
  CHECK_STATUS(windhover_client_totals(observe, &totals), WINDHOVER_INVALID_ARGUMENT);
  windhover_refused_row listed[2];
  size_t count = 9;
  CHECK_STATUS(windhover_client_refused(observe, NULL, 2, &count), WINDHOVER_INVALID_ARGUMENT);
  CHECK_OK(windhover_client_refused(observe, listed, 2, &count));
  CHECK(count == 1 && listed[0].row == 3 && listed[0].reason == WINDHOVER_NOT_FINITE);
  CHECK_OK(windhover_client_refused(observe, NULL, 0, &count));
  CHECK(count == 0);

  asked a;
  const double half = 0.5;
  double median = 0;
  ask_about(&a, 2.5);
  a.question.quantiles = &half;
  a.question.quantile_count = 1;
  a.answer.quantiles = &median;
  do {
    CHECK_OK(windhover_client_predict(query, &a.question, &a.answer));
  } while (a.provenance.sequence < 399 || a.provenance.status != WINDHOVER_POSTERIOR_OK);
  CHECK(fabs(a.prediction.mean - 9.5) < 0.05 && fabs(median - 9.5) < 0.05);
  windhover_parameter parameters[2];
  CHECK_OK(windhover_client_posterior(query, parameters, sizeof parameters[0], 2, &a.provenance));
  CHECK(fabs(parameters[0].mean - 3) < 0.05 && fabs(parameters[1].mean - 2) < 0.05);
  CHECK_STATUS(windhover_client_posterior(query, parameters, sizeof parameters[0], 1, NULL),
               WINDHOVER_WRONG_DIMENSION);
  windhover_event events[WINDHOVER_MAX_EVENTS];
  CHECK_OK(windhover_client_events(query, events, sizeof events[0], WINDHOVER_MAX_EVENTS, &count));
  CHECK(count >= 2 && strcmp(windhover_event_kind_text(events[0].kind), "started") == 0);
  CHECK(events[0].row == 0 && events[0].time_ns > 1700000000000000000);
  CHECK_STATUS(windhover_client_events(query, events, 8, 1, &count), WINDHOVER_INVALID_ARGUMENT);
  CHECK_STATUS(windhover_client_posterior(query, NULL, sizeof parameters[0], 2, NULL),
               WINDHOVER_INVALID_ARGUMENT);
  double draws[128];
  size_t dimension = 0;
  CHECK_OK(windhover_client_draws(query, draws, 128, &count, &dimension, &a.provenance));
  CHECK(count == 64 && dimension == 2 && fabs(draws[0] - 3) < 0.2);
  CHECK_STATUS(windhover_client_draws(query, draws, 127, &count, &dimension, NULL),
               WINDHOVER_TOO_LARGE);
  CHECK(count == 64 && dimension == 2 && strstr(windhover_client_error(query), "room") != NULL);
  CHECK_STATUS(windhover_client_draws(query, NULL, 1, NULL, NULL, NULL),
               WINDHOVER_INVALID_ARGUMENT);

  ask_about(&a, NAN);
  CHECK_STATUS(windhover_client_predict(query, &a.question, &a.answer), WINDHOVER_NOT_FINITE);
  ask_about(&a, 1);
  a.question.feature_values = 0;
  CHECK(windhover_client_predict(query, &a.question, &a.answer) != WINDHOVER_OK);
  ask_about(&a, 1);
  a.question.rows = server.max_query_rows + (size_t)1;
  CHECK_STATUS(windhover_client_predict(query, &a.question, &a.answer), WINDHOVER_TOO_LARGE);
  a.question.rows = ((size_t)1 << 32) + 1;
  CHECK_STATUS(windhover_client_predict(query, &a.question, &a.answer), WINDHOVER_TOO_LARGE);
  CHECK_STATUS(windhover_client_predict(query, NULL, &a.answer), WINDHOVER_INVALID_ARGUMENT);
  double many[WINDHOVER_MAX_QUANTILES + 1];
  for (int i = 0; i <= WINDHOVER_MAX_QUANTILES; ++i) many[i] = 0.5;
  ask_about(&a, 1);
  a.question.quantiles = many;
  a.question.quantile_count = WINDHOVER_MAX_QUANTILES + 1;
  CHECK_STATUS(windhover_client_predict(query, &a.question, &a.answer), WINDHOVER_TOO_LARGE);
  ask_about(&a, 1);
  a.question.thresholds = many;
  a.question.threshold_count = WINDHOVER_MAX_THRESHOLDS + 1;
  CHECK_STATUS(windhover_client_predict(query, &a.question, &a.answer), WINDHOVER_TOO_LARGE);
  ask_about(&a, 1);
  CHECK_OK(
      windhover_client_predict(query, &a.question, &a.answer)); /* none of it cost the connection */

  const char* key = "view"; /* this server keeps none */
  const double outcome = 1;
  ask_about(&a, 1);
  a.question.keys = &key;
  CHECK_STATUS(windhover_client_predict(query, &a.question, &a.answer), WINDHOVER_KEY_NOT_TAKEN);
  CHECK_STATUS(windhover_client_outcomes(observe, &key, &outcome, 1, NULL, 0, NULL),
               WINDHOVER_KEY_NOT_TAKEN);
  CHECK(strstr(windhover_client_error(observe), "labels.pending") != NULL);
  CHECK_STATUS(windhover_client_outcomes(observe, NULL, &outcome, 1, NULL, 0, NULL),
               WINDHOVER_INVALID_ARGUMENT);

  windhover_client_options options;
  windhover_client_options_init(&options, sizeof options);
  options.fingerprint = 4711;
  CHECK_STATUS(windhover_client_connect(query, s->query, &options), WINDHOVER_REFUSED);
  CHECK(strlen(windhover_client_error(query)) > 10);
  options.fingerprint = 0;
  options.model = "no such model";
  CHECK(windhover_client_connect(query, s->query, &options) != WINDHOVER_OK);
  options.model = NULL; /* as "" */
  CHECK_OK(windhover_client_connect(query, s->query, &options));
  options.durability = WINDHOVER_DURABILITY_LOGGED;
  CHECK_STATUS(windhover_client_connect(query, s->query, &options), WINDHOVER_REFUSED);
  windhover_client_destroy(observe);
  windhover_client_destroy(query);
}

static void the_server_dies(const char* program, server* s) {
  windhover_client* client = client_of();
  windhover_client_options options;
  windhover_client_options_init(&options, sizeof options);
  options.retry_for_ms = 0;
  CHECK_OK(windhover_client_connect(client, s->query, &options));
  killed(s);
  asked a;
  ask_about(&a, 2.5);
  CHECK_STATUS(windhover_client_predict(client, &a.question, &a.answer), WINDHOVER_CLOSED);
  CHECK(strlen(windhover_client_error(client)) > 5);
  CHECK_STATUS(windhover_client_predict(client, &a.question, &a.answer), WINDHOVER_CLOSED);
  windhover_rows rows = rows_of(10);
  CHECK_STATUS(windhover_client_send(client, &rows), WINDHOVER_CLOSED);
  CHECK_STATUS(windhover_client_reconnect(client), WINDHOVER_UNAVAILABLE);
  CHECK_STATUS(windhover_client_connect(client, s->query, NULL), WINDHOVER_UNAVAILABLE);
  *s = started(program);
  CHECK_OK(windhover_client_connect(client, s->query, NULL));
  CHECK_OK(windhover_client_predict(client, &a.question, &a.answer));
  CHECK(a.provenance.status == WINDHOVER_POSTERIOR_WARMING_UP);
  windhover_client_destroy(client);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (int i = 0; i < 400; ++i) {
    features[i] = 5 * uniform();
    targets[i] = target_of(features[i]);
  }
  signal(SIGPIPE, SIG_DFL); /* a dead server must not raise it */
  nothing_is_connected();
  null_arguments();
  server s = started(argv[1]);
  sends_and_asks(&s);
  the_server_dies(argv[1], &s);
  killed(&s);
  return verdict();
}
