#include "windhover/tools/kept/kept_horizon.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/runtime/checkpoint/config_fields.h"
#include "windhover/runtime/checkpoint/stream.h"
#include "windhover/tools/error.h"
#include "windhover/tools/kept/checkpoint_contents.h"
#include "windhover/tools/kept/kept_folder.h"

namespace windhover {
namespace {

using checkpoint::FieldEntry;

// Nothing: it cannot be read so far. The section has a checksum of its own.
std::optional<Horizon> horizon_in(Result<CheckpointReader> opened) {
  if (!opened.ok()) return std::nullopt;
  CheckpointReader& reader = opened.value();
  skip_producers(reader);
  checkpoint::Reader stream(reader);
  if (!stream.begin().ok()) return std::nullopt;
  const std::size_t most = 2 * checkpoint::config_fields().size() * sizeof(FieldEntry);
  std::vector<std::byte> room(sizeof(checkpoint::SectionHeader) + most);
  const Result<checkpoint::Reader::Section> section = stream.next({}, room);
  if (!section.ok() || !section.value().header.is(checkpoint::kConfiguration)) return std::nullopt;
  const std::span<const std::byte> payload = section.value().payload;
  for (std::size_t at = 0; at + sizeof(FieldEntry) <= payload.size(); at += sizeof(FieldEntry)) {
    const auto entry = checkpoint::load<FieldEntry>(payload.data() + at);
    FieldEntry wanted;
    std::string_view("horizon").copy(wanted.name.data(), wanted.name.size());
    if (entry.name == wanted.name) return static_cast<Horizon>(entry.bits);
  }
  return std::nullopt;
}

std::optional<Horizon> horizon_or_nothing(Result<CheckpointReader> opened) {
  try {
    return horizon_in(std::move(opened));
  } catch (const RunError&) {  // it ends too early
    return std::nullopt;
  }
}

}  // namespace

std::optional<Horizon> kept_horizon(const std::string& path) {
  try {
    KeptFolder folder(path);
    const std::vector<std::uint64_t> numbers = folder.checkpoints();
    std::vector<std::optional<Horizon>> told;
    for (const std::uint64_t number : numbers | std::views::reverse) {
      told.push_back(horizon_or_nothing(folder.open_unverified(number)));
    }
    const bool all_say_the_same =
        std::ranges::adjacent_find(told, std::not_equal_to{}) == told.end();
    if (!told.empty() && told.front() && all_say_the_same) return told.front();
    for (const std::uint64_t number : numbers | std::views::reverse) {
      if (const auto horizon = horizon_or_nothing(folder.open(number))) return horizon;
    }
  } catch (const UserError&) {  // nothing is kept there yet
  } catch (const RunError&) {   // the server's start says what is wrong with it
  }
  return std::nullopt;
}

}  // namespace windhover
