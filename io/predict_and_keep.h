// A question about one model that another model's engine answers. `keeper` is then the engine that
// was asked about: it keeps the rows with keys. Null: the engine that answers keeps them.
#ifndef WINDHOVER_IO_PREDICT_AND_KEEP_H_
#define WINDHOVER_IO_PREDICT_AND_KEEP_H_

#include <cstddef>
#include <span>

#include "windhover/runtime/engine.h"

namespace windhover {

// Reader::begin_predict(), unless either engine refuses the question.
inline Status begin_predict(Reader& reader, PredictRequest request, Engine* keeper) noexcept {
  if (keeper != nullptr && !request.keys.empty()) {
    if (const Status status = keeper->labels().may_keep(request); !ok(status)) return status;
    request.keys = {};
  }
  return reader.begin_predict(request);
}

// Reader::predict_rows(), after which `keeper` keeps the rows.
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
