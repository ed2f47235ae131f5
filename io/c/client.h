/* A client of a server, blocking. Include <windhover.h>.
 *
 *   windhover_client_create(&client);
 *   if (windhover_client_connect(client, "127.0.0.1:7171", NULL) != WINDHOVER_OK)
 *     puts(windhover_client_error(client));
 *   windhover_client_send(client, &rows);        any number of times, pipelined
 *   windhover_client_wait(client);               windhover_client_totals() says what became of them
 *   windhover_client_predict(client, &question, &answer);
 *
 * One thread at a time uses a client. Unlike the engine it allocates: WINDHOVER_NO_MEMORY is
 * possible everywhere. A call that fails leaves a sentence in windhover_client_error(), except
 * windhover_client_server() and windhover_client_totals(). WINDHOVER_CLOSED: the connection is
 * gone, or there was none; WINDHOVER_TIMEOUT: the server has sent nothing for reply_timeout_ms; in
 * both cases windhover_client_reconnect() comes next. A server that refuses gives the status of its
 * reason, or WINDHOVER_REFUSED where no status has it; the sentence says why. */
#ifndef WINDHOVER_IO_C_CLIENT_H_
#define WINDHOVER_IO_C_CLIENT_H_

#include "windhover/io/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct windhover_client windhover_client;

typedef enum windhover_durability {
  WINDHOVER_DURABILITY_ANY = 0, /* whatever the server offers */
  WINDHOVER_DURABILITY_MEMORY = 1,
  WINDHOVER_DURABILITY_LOGGED = 2 /* connecting fails where the server keeps no log */
} windhover_durability;

/* Strings are borrowed for the call; NULL means "". */
typedef struct windhover_client_options {
  size_t struct_size;
  /* Whose stream this is; with it each row is stored once, even if a connection breaks. 0: a number
   * is drawn for the life of this client, if the server can forget it. Another number, below 2^63,
   * is the stream's for good: another process can take the stream up. */
  uint64_t producer;
  uint64_t first_sequence; /* of the first row that this client sends; only with a producer */
  int begins_here;         /* 1: rows before first_sequence will never be sent */
  windhover_durability durability;
  const char* model;   /* by the server's name for it; "": its first */
  const char* token;   /* shows who the client is to a server with identities */
  const char* ca_file; /* tls://: authorities that vouch for the server, PEM; "": the system's */
  const char* server_name; /* tls://: the name in its certificate; "": the host */
  const char* certificate; /* tls://: the client's own, PEM, with its key; "": none */
  const char* key;
  uint64_t fingerprint;        /* what the caller believes a row means; 0: do not check */
  uint32_t connect_timeout_ms; /* 5,000 */
  uint32_t reply_timeout_ms;   /* 10,000, without a byte coming or going */
  uint32_t retry_for_ms;       /* how long reconnect goes on trying: 60,000; 0: once */
  int wire_float;              /* 1: features and targets are sent as 32-bit floats */
  size_t resend_bytes;         /* of rows kept to be sent again: 16 MiB */
} windhover_client_options;
WINDHOVER_API void windhover_client_options_init(windhover_client_options* options, size_t size);

WINDHOVER_API windhover_status windhover_client_create(windhover_client** client);
/* Closes the connection. Rows that are not acknowledged may be lost: wait before. NULL: no effect.
 */
WINDHOVER_API void windhover_client_destroy(windhover_client* client);

/* What went wrong in the last call that failed, in a sentence; "" before the first. It is in the
 * client's memory, until the next call that fails or windhover_client_destroy(). */
WINDHOVER_API const char* windhover_client_error(const windhover_client* client);

/* Connects to "host:port", "tcp:host:port", "[v6]:port", "tls://host:port" or "unix:/path", and
 * closes the connection before. `options` NULL: the defaults. WINDHOVER_UNAVAILABLE: nobody
 * listens, or no place is free; WINDHOVER_INVALID_ARGUMENT: no such address, or options that
 * contradict one another. */
WINDHOVER_API windhover_status windhover_client_connect(windhover_client* client,
                                                        const char* address,
                                                        const windhover_client_options* options);

/* Connects to the same address again, trying for retry_for_ms, and sends again what was not
 * acknowledged. WINDHOVER_REFUSED with windhover_client_missing() > 0: the server has lost rows
 * that are no longer kept here; go_back or leave_missing comes next. */
WINDHOVER_API windhover_status windhover_client_reconnect(windhover_client* client);
WINDHOVER_API windhover_status windhover_client_close(windhover_client* client);

/* How many rows are missing, and the sequence number of the first (`first` may be NULL). */
WINDHOVER_API uint64_t windhover_client_missing(const windhover_client* client, uint64_t* first);
/* go_back: the caller has the missing rows from `sequence` on, and sends them and all later rows
 * again; WINDHOVER_INVALID_ARGUMENT unless `sequence` is missing. leave_missing: the caller has
 * none of them, and they count as lost. */
WINDHOVER_API windhover_status windhover_client_go_back(windhover_client* client,
                                                        uint64_t sequence);
WINDHOVER_API windhover_status windhover_client_leave_missing(windhover_client* client);

/* The model that the client is connected to. WINDHOVER_CLOSED when not connected. */
typedef struct windhover_server {
  size_t struct_size;
  uint32_t features, dimension, classes; /* classes: softmax; otherwise 0 */
  uint32_t max_nonzeros;                 /* 0: rows are dense */
  uint32_t max_query_rows;
  uint64_t fingerprint;
  int32_t network; /* 1: the parameters are weights, none of them the coefficient of a column */
} windhover_server;
WINDHOVER_API void windhover_server_init(windhover_server* server, size_t size);
WINDHOVER_API windhover_status windhover_client_server(const windhover_client* client,
                                                       windhover_server* server);

/* Sends any number of rows without waiting for their acknowledgement. It waits while the server
 * takes nothing, or while more than resend_bytes are not acknowledged. WINDHOVER_WRONG_DIMENSION:
 * feature_values is not rows x features. */
WINDHOVER_API windhover_status windhover_client_send(windhover_client* client,
                                                     const windhover_rows* rows);
/* Sends what is pending, and waits until every row is acknowledged. */
WINDHOVER_API windhover_status windhover_client_wait(windhover_client* client);

/* What became of the rows: once all are acknowledged, sent = accepted + refused + duplicate +
 * unknown. */
typedef struct windhover_totals {
  size_t struct_size;
  uint64_t sent, accepted, refused, duplicate;
  uint64_t unknown; /* on their way when a connection broke, and impossible to send again */
  uint64_t durable; /* of the acknowledged rows, oldest first, how many are on the server's disk */
  uint64_t lost;    /* acknowledged, lost by the server, and not sent again */
  uint64_t head;    /* rows that the server had accepted, at the newest acknowledgement */
} windhover_totals;
WINDHOVER_API void windhover_totals_init(windhover_totals* totals, size_t size);
WINDHOVER_API windhover_status windhover_client_totals(const windhover_client* client,
                                                       windhover_totals* totals);

/* Gives the refused rows that the server has listed since the last call, at most 64 of each
 * acknowledgement, numbered over all that this client has sent, from 0. The first `room` are given,
 * the others are dropped; *count says how many there were. */
WINDHOVER_API windhover_status windhover_client_refused(windhover_client* client,
                                                        windhover_refused_row* listed, size_t room,
                                                        size_t* count);

/* As windhover_reader_predict(). Also WINDHOVER_TOO_LARGE: more than a frame holds;
 * WINDHOVER_UNSUPPORTED: the server's model has more classes than this library's answers hold. */
WINDHOVER_API windhover_status windhover_client_predict(windhover_client* client,
                                                        const windhover_question* question,
                                                        const windhover_answer* answer);
/* As windhover_engine_outcomes(), on the observe endpoint: the first 64 refused ones can be listed.
 * After WINDHOVER_CLOSED or WINDHOVER_TIMEOUT reconnect and send them again: one that had arrived
 * is then a duplicate, or unknown. */
WINDHOVER_API windhover_status windhover_client_outcomes(windhover_client* client,
                                                         const char* const* keys,
                                                         const double* targets, size_t count,
                                                         windhover_refused_row* listed, size_t room,
                                                         windhover_joined* joined);
/* As windhover_reader_posterior(). */
WINDHOVER_API windhover_status windhover_client_posterior(windhover_client* client,
                                                          windhover_parameter* parameters,
                                                          size_t parameter_size, size_t room,
                                                          windhover_provenance* provenance);
/* As windhover_reader_events(). */
WINDHOVER_API windhover_status windhover_client_events(windhover_client* client,
                                                       windhover_event* events, size_t event_size,
                                                       size_t room, size_t* count);
/* Gives all draws of one snapshot: *draws x *dimension numbers, draw after draw, into `theta` of
 * `room` numbers. WINDHOVER_TOO_LARGE: there is less room; *draws and *dimension say how much it
 * takes. */
WINDHOVER_API windhover_status windhover_client_draws(windhover_client* client, double* theta,
                                                      size_t room, size_t* draws, size_t* dimension,
                                                      windhover_provenance* provenance);

#ifdef __cplusplus
}
#endif

#endif /* WINDHOVER_IO_C_CLIENT_H_ */
