// What a checkpoint holds, but for the numbers in its sections.
#ifndef WINDHOVER_TOOLS_KEPT_CHECKPOINT_CONTENTS_H_
#define WINDHOVER_TOOLS_KEPT_CHECKPOINT_CONTENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "windhover/io/durable/checkpoint_file.h"
#include "windhover/runtime/checkpoint/format.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// Producer, and the sequence number expected of it next.
using Producers = std::map<std::uint64_t, std::uint64_t>;

struct CheckpointContents {
  struct Field {
    std::string name;
    std::string value;
    std::uint64_t bits = 0;
  };
  // Sections of one name that stand one after another.
  struct Section {
    std::string name;
    std::uint32_t version = 0;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rows = 0;
  };

  Producers producers;
  checkpoint::Header header;  // of the engine's stream
  std::vector<Field> configuration;
  std::vector<Section> sections;

  // The bits of a field; 0 where it is not there.
  std::uint64_t field(const std::string& name) const;
  RowLayout layout() const;
};

// Reads the whole body and verifies every section. RunError, in a sentence without the file's name:
// what is wrong.
CheckpointContents read_contents(CheckpointReader& reader);
// The part before the engine's stream. RunError likewise, also for what
// ProducerTable::visit_state() refuses: nobody's number, or a producer twice.
Producers read_producers(CheckpointReader& reader);
// Skips it, and says how many producers there were that are not passing. Takes no memory, whatever
// a file that is not verified says of their number.
std::uint64_t count_lasting_producers(CheckpointReader& reader);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_CHECKPOINT_CONTENTS_H_
