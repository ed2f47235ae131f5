// Rows of a file that are collected for a frame.
#ifndef WINDHOVER_TOOLS_CLIENT_SEND_BATCH_H_
#define WINDHOVER_TOOLS_CLIENT_SEND_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

struct SendBatch {
  std::vector<double> features;
  std::vector<double> targets;
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> row_ends;
  std::vector<double> offsets;  // empty: the schema has none
  std::vector<double> weights;  // likewise
  std::vector<double> trials;   // likewise

  bool empty() const { return targets.empty(); }
  std::size_t size() const { return targets.size(); }
  ObserveRows rows() const {
    return {features, targets, indices, row_ends, offsets, weights, trials};
  }
  void add(const EncodedRow& row, const Schema& schema);
  // Removes the first `count` rows.
  void drop(std::size_t count);
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_SEND_BATCH_H_
