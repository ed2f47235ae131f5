#include "windhover/tools/kept/kept_needs.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <ranges>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/io/producer_table.h"
#include "windhover/runtime/checkpoint/config_fields.h"
#include "windhover/runtime/checkpoint/stream.h"
#include "windhover/tools/error.h"
#include "windhover/tools/kept/checkpoint_contents.h"
#include "windhover/tools/kept/kept_folder.h"
#include "windhover/tools/kept/kept_log.h"

namespace windhover {
namespace {

using checkpoint::FieldEntry;

// None where it cannot be read up to the configuration. Header and section have checksums of their
// own, and with a wrong number of producers the header would not be found.
std::optional<KeptNeeds> needs_in(Result<CheckpointReader> opened) {
  if (!opened.ok()) return std::nullopt;
  CheckpointReader& reader = opened.value();
  KeptNeeds needs;
  needs.producers = count_lasting_producers(reader);
  checkpoint::Reader stream(reader);
  const Result<checkpoint::Header> header = stream.begin();
  if (!header.ok()) return std::nullopt;
  needs.waiting = header.value().head - std::min(header.value().lease, header.value().head);
  const std::size_t most = 2 * checkpoint::config_fields().size() * sizeof(FieldEntry);
  std::vector<std::byte> room(sizeof(checkpoint::SectionHeader) + most);
  const Result<checkpoint::Reader::Section> section = stream.next({}, room);
  if (!section.ok() || !section.value().header.is(checkpoint::kConfiguration)) return std::nullopt;
  const std::span<const std::byte> payload = section.value().payload;
  for (std::size_t at = 0; at + sizeof(FieldEntry) <= payload.size(); at += sizeof(FieldEntry)) {
    const auto entry = checkpoint::load<FieldEntry>(payload.data() + at);
    FieldEntry wanted;
    std::string_view("horizon").copy(wanted.name.data(), wanted.name.size());
    if (entry.name != wanted.name) continue;
    needs.horizon = static_cast<Horizon>(entry.bits);
    return needs;
  }
  return std::nullopt;
}

std::optional<KeptNeeds> needs_or_nothing(Result<CheckpointReader> opened) {
  try {
    return needs_in(std::move(opened));
  } catch (const RunError&) {  // the file ends too early
    return std::nullopt;
  }
}

// The largest needs of all; none where horizons differ, or one could not be read.
std::optional<KeptNeeds> largest(const std::vector<std::optional<KeptNeeds>>& told) {
  std::optional<KeptNeeds> all = told.empty() ? std::nullopt : told.front();
  for (const std::optional<KeptNeeds>& one : told) {
    if (!all || !one || one->horizon != all->horizon) return std::nullopt;
    all->waiting = std::max(all->waiting, one->waiting);
    all->producers = std::max(all->producers, one->producers);
  }
  return all;
}

// Calls `read` with the folder. Errors are ignored: the server's start reports them.
void look_into(const std::string& path, const auto& read) {
  try {
    KeptFolder folder(path);
    read(folder);
  } catch (const UserError&) {  // nothing is kept there yet
  } catch (const RunError&) {
  }
}

}  // namespace

std::optional<KeptNeeds> kept_needs(const std::string& path) {
  std::optional<KeptNeeds> needs;
  look_into(path, [&](KeptFolder& folder) {
    const std::vector<std::uint64_t> numbers = folder.checkpoints();
    std::vector<std::optional<KeptNeeds>> told;
    for (const std::uint64_t number : numbers | std::views::reverse) {
      told.push_back(needs_or_nothing(folder.open_unverified(number)));
    }
    needs = largest(told);
    for (const std::uint64_t number : numbers | std::views::reverse) {
      if (needs) return;
      needs = needs_or_nothing(folder.open(number));
    }
  });
  return needs;
}

std::uint64_t kept_producers(const std::string& path) {
  std::set<std::uint64_t> producers;
  const auto insert = [&](std::uint64_t producer) {
    if (producer != 0 && !is_passing(producer)) producers.insert(producer);
  };
  look_into(path, [&](KeptFolder& folder) {
    std::optional<std::uint64_t> from;
    for (const std::uint64_t number : folder.checkpoints() | std::views::reverse) {
      Result<CheckpointReader> reader = folder.open(number);
      if (!reader.ok()) continue;
      from = reader.value().facts().frames;
      for (const auto& [producer, next] : read_producers(reader.value())) {
        insert(producer);
      }
      break;
    }
    const std::optional<LogIdentity> identity = folder.log_identity();
    if (!identity) return;
    KeptLog log(folder, *identity, from);
    LoggedFrame frame;
    std::span<const std::byte> payload;
    while (log.next(frame, payload)) {
      insert(frame.producer);
    }
  });
  return producers.size();
}

}  // namespace windhover
