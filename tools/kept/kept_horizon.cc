#include "windhover/tools/kept/kept_horizon.h"

#include <ranges>
#include <span>

#include "windhover/runtime/checkpoint/config_fields.h"
#include "windhover/runtime/checkpoint/stream.h"
#include "windhover/tools/error.h"
#include "windhover/tools/kept/checkpoint_contents.h"
#include "windhover/tools/kept/kept_folder.h"

namespace windhover {
namespace {

using checkpoint::FieldEntry;

std::optional<Horizon> horizon_in(CheckpointReader& reader) {
  read_producers(reader);
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

}  // namespace

std::optional<Horizon> kept_horizon(const std::string& path) {
  try {
    KeptFolder folder(path);
    for (const std::uint64_t number : folder.checkpoints() | std::views::reverse) {
      Result<CheckpointReader> reader = folder.open(number);
      if (!reader.ok()) continue;
      if (const auto horizon = horizon_in(reader.value())) return horizon;
    }
  } catch (const UserError&) {  // nothing is kept there yet
  } catch (const RunError&) {   // the server's start says what is wrong with it
  }
  return std::nullopt;
}

}  // namespace windhover
