// What a checkpoint holds, except the numbers in its sections.
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

// The sequence number that is expected next of each producer.
using Producers = std::map<std::uint64_t, std::uint64_t>;

struct CheckpointContents {
  struct Field {
    std::string name;
    std::string value;
    std::uint64_t bits = 0;
  };
  // Consecutive sections of one name.
  struct Section {
    std::string name;
    std::uint32_t version = 0;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rows = 0;
  };

  Producers producers;
  checkpoint::Header header;  // of the part that the engine wrote
  std::vector<Field> configuration;
  std::vector<Section> sections;

  // The bits of a field; 0 where there is none of that name.
  std::uint64_t field(const std::string& name) const;
  RowLayout layout() const;
};

// Reads the whole body and verifies every section. RunError with a sentence about what is wrong,
// without the file's name.
CheckpointContents read_contents(CheckpointReader& reader);
// Reads the part before the engine's. RunError as above, also where ProducerTable::visit_state()
// would refuse: a number that no producer has, or a producer twice.
Producers read_producers(CheckpointReader& reader);
// Reads past that part and returns how many producers in it are not passing. Takes no memory,
// whatever number of them an unverified file claims.
std::uint64_t count_lasting_producers(CheckpointReader& reader);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_CHECKPOINT_CONTENTS_H_
