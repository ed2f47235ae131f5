/* A client in C: sends rows to one address and asks at another.
 *   ask OBSERVE_ADDRESS QUERY_ADDRESS */
#include <stdio.h>
#include <windhover.h>

enum { kRows = 500 };

static int complain(const windhover_client* client) {
  fprintf(stderr, "%s\n", windhover_client_error(client));
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: ask OBSERVE_ADDRESS QUERY_ADDRESS\n");
    return 2;
  }
  double features[kRows];
  double targets[kRows];
  for (int i = 0; i < kRows; ++i) {
    features[i] = 5.0 * (i * 37 % kRows) / kRows;
    targets[i] = 2 + 3 * features[i] + 0.1 * ((i * 53 % 97) / 48.0 - 1);
  }
  windhover_client* observe = NULL;
  windhover_client* query = NULL;
  if (windhover_client_create(&observe) != WINDHOVER_OK) return 1;
  if (windhover_client_create(&query) != WINDHOVER_OK) return 1;
  if (windhover_client_connect(observe, argv[1], NULL) != WINDHOVER_OK) return complain(observe);
  if (windhover_client_connect(query, argv[2], NULL) != WINDHOVER_OK) return complain(query);

  windhover_rows rows;
  windhover_rows_init(&rows, sizeof rows);
  rows.rows = kRows;
  rows.features = features;
  rows.feature_values = kRows;
  rows.targets = targets;
  if (windhover_client_send(observe, &rows) != WINDHOVER_OK) return complain(observe);
  if (windhover_client_wait(observe) != WINDHOVER_OK) return complain(observe);

  const double x = 2.5;
  windhover_question question;
  windhover_question_init(&question, sizeof question);
  question.rows = 1;
  question.features = &x;
  question.feature_values = 1;
  windhover_prediction y;
  windhover_provenance provenance;
  windhover_provenance_init(&provenance, sizeof provenance);
  windhover_answer answer;
  windhover_answer_init(&answer, sizeof answer);
  answer.predictions = &y;
  answer.prediction_size = sizeof y;
  answer.provenance = &provenance;
  do { /* until the answer stands on all of them */
    if (windhover_client_predict(query, &question, &answer) != WINDHOVER_OK) return complain(query);
  } while (provenance.sequence < kRows || provenance.status == WINDHOVER_POSTERIOR_WARMING_UP);
  printf("y at 2.5: %.2f, 90 %% of y within %.2f .. %.2f (%s)\n", y.mean, y.interval_lower,
         y.interval_upper, windhover_posterior_status_text(provenance.status));
  windhover_client_destroy(observe);
  windhover_client_destroy(query);
  return 0;
}
