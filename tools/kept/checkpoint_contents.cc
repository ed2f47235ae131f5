#include "windhover/tools/kept/checkpoint_contents.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <span>

#include "windhover/io/durable/error_text.h"
#include "windhover/io/durable/log_format.h"
#include "windhover/io/producer_table.h"
#include "windhover/platform/checksum.h"
#include "windhover/runtime/checkpoint/config_fields.h"
#include "windhover/runtime/checkpoint/stream.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/error.h"
#include "windhover/tools/kept/kept_folder.h"
#include "windhover/tools/kept/kept_text.h"

namespace windhover {
namespace {

using checkpoint::FieldEntry;
using checkpoint::SectionHeader;

template <std::size_t kSize>
std::string name_text(const std::array<char, kSize>& name) {
  const std::string text(name.data(), name.size());
  return text.substr(0, text.find('\0'));
}

// The value of a field by its kind in this version; a field that this version does not have is
// shown as its bits.
std::string value_of(const std::string& name, std::uint64_t bits) {
  for (const checkpoint::ConfigField& field : checkpoint::config_fields()) {
    if (field.name() != name) continue;
    switch (field.kind) {
      case checkpoint::ConfigField::Kind::kWhole:
        return fmt::format("{}", bits);
      case checkpoint::ConfigField::Kind::kReal:
        return fmt::format("{}", std::bit_cast<double>(bits));
      case checkpoint::ConfigField::Kind::kHash:
        break;
    }
  }
  return id_text(bits);
}

template <class T>
T good(Result<T> result) {
  if (!result.ok()) throw RunError(error_text(result.error()));
  return std::move(result).value();
}

void add_section(const checkpoint::Reader::Section& section, CheckpointContents& contents) {
  const std::string name = name_text(section.header.name);
  if (contents.sections.empty() || contents.sections.back().name != name) {
    contents.sections.push_back({name, section.header.version});
  }
  CheckpointContents::Section& last = contents.sections.back();
  ++last.count;
  last.bytes += section.header.length;
  const std::span<const std::byte> payload = section.payload;
  if (section.header.is(checkpoint::kRows) && payload.size() >= sizeof(checkpoint::RowsHeader)) {
    last.rows += checkpoint::load<checkpoint::RowsHeader>(payload.data()).count;
  }
  if (!section.header.is(checkpoint::kConfiguration)) return;
  for (std::size_t at = 0; at + sizeof(FieldEntry) <= payload.size(); at += sizeof(FieldEntry)) {
    const auto entry = checkpoint::load<FieldEntry>(payload.data() + at);
    const std::string field = name_text(entry.name);
    contents.configuration.push_back({field, value_of(field, entry.bits), entry.bits});
  }
}

}  // namespace

std::uint64_t CheckpointContents::field(const std::string& name) const {
  for (const Field& field : configuration) {
    if (field.name == name) return field.bits;
  }
  return 0;
}

RowLayout CheckpointContents::layout() const {
  ModelConfig model;
  for (const ModelEntry& entry : model_registry()) {
    const std::string_view name = entry.name;
    const std::uint64_t hash = checksum(std::as_bytes(std::span(name.data(), name.size())));
    if (hash == field("model.name")) model.name = name;
  }
  model.features = static_cast<std::uint32_t>(field("model.features"));
  model.max_nonzeros = static_cast<std::uint32_t>(field("model.max_nonzeros"));
  model.offset = field("model.offset") != 0;
  model.weight = field("model.weight") != 0;
  return RowLayout(model);
}

namespace {

// Calls `visit` with the 16 bytes of each producer: its number, and the row it goes on with.
void for_each_producer(CheckpointReader& reader, const auto& visit) {
  std::array<std::byte, 16> bytes{};
  const auto take = [&](std::size_t count) {
    if (!ok(reader.read(std::span(bytes).first(count)))) {
      throw RunError("the checkpoint ends among its producers");
    }
  };
  take(8);
  const std::uint64_t count = load_number(bytes.data());
  if (count > reader.left() / bytes.size())
    throw RunError("the checkpoint ends among its producers");
  for (std::uint64_t i = 0; i < count; ++i) {
    take(bytes.size());
    visit(bytes);
  }
}

}  // namespace

std::uint64_t count_lasting_producers(CheckpointReader& reader) {
  std::uint64_t count = 0;
  for_each_producer(reader, [&](const auto& bytes) {
    const std::uint64_t producer = load_number(bytes.data());
    if (!is_passing(producer) && producer != kOwnerOfTheNext) ++count;
  });
  return count;
}

Producers read_producers(CheckpointReader& reader) {
  Producers producers;
  const auto refuse = [](std::uint64_t number) {
    throw RunError(
        fmt::format("the checkpoint names a producer {}, which is nobody's number", number));
  };
  bool first = true;
  bool owner_alone = false;
  for_each_producer(reader, [&](const auto& bytes) {
    const std::uint64_t producer = load_number(bytes.data());
    const bool counts_forgotten = producer == kNoProducer && first;
    first = false;
    owner_alone = producer == kOwnerOfTheNext;
    if (counts_forgotten || owner_alone) return;
    if (producer == kNoProducer) refuse(producer);
    if (!producers.emplace(producer, load_number(&bytes[8])).second) {
      throw RunError(fmt::format("the checkpoint names producer {} twice", producer));
    }
  });
  if (owner_alone) refuse(kOwnerOfTheNext);
  return producers;
}

CheckpointContents read_contents(CheckpointReader& reader) {
  CheckpointContents contents;
  contents.producers = read_producers(reader);
  // No section is larger than what is left.
  std::vector<std::byte> room(reader.left() + sizeof(SectionHeader));
  checkpoint::Reader stream(reader);
  contents.header = good(stream.begin());
  for (;;) {
    const checkpoint::Reader::Section section = good(stream.next(room, room));
    if (section.header.is(checkpoint::kEnd)) break;
    add_section(section, contents);
  }
  if (reader.left() != 0) throw RunError("the checkpoint goes on behind its end");
  return contents;
}

}  // namespace windhover
