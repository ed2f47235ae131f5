// A question that one engine answers while another one, which was asked about, keeps the rows with
// keys: `keeper`. Null: whoever answers keeps them.
#ifndef WINDHOVER_IO_PREDICT_AND_KEEP_H_
#define WINDHOVER_IO_PREDICT_AND_KEEP_H_

#include <cstddef>
#include <span>

#include "windhover/runtime/engine.h"

namespace windhover {

// Reader::begin_predict(), if both engines may have the question.
inline Status begin_predict(Reader& reader, PredictRequest request, Engine* keeper) noexcept {
  if (keeper != nullptr && !request.keys.empty()) {
    if (const Status status = keeper->labels().may_keep(request); !ok(status)) return status;
    request.keys = {};
  }
  return reader.begin_predict(request);
}

// Reader::predict_rows().
inline void predict_rows(Reader& reader, PredictRequest request, Engine* keeper, std::size_t first,
                         std::size_t count, std::span<PredictiveSummary> summaries) noexcept {
  const std::span<const std::string_view> keys = request.keys;
  if (keeper != nullptr) request.keys = {};
  reader.predict_rows(request, first, count, summaries);
  if (keeper == nullptr) return;
  request.keys = keys;
  keeper->labels().keep(request, first, count, summaries);
}

}  // namespace windhover

#endif  // WINDHOVER_IO_PREDICT_AND_KEEP_H_
