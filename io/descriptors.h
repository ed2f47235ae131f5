// Room for the descriptors of a process.
#ifndef WINDHOVER_IO_DESCRIPTORS_H_
#define WINDHOVER_IO_DESCRIPTORS_H_

#include <cstddef>

#include "windhover/io/server_config.h"

namespace windhover {

// So many more descriptors may be open at one time before the system has to make their table
// larger. Linux does that when one is opened, and then every thread that opens one waits for tens
// of milliseconds, where processors are short for hundreds: for a server nobody is accepted or
// answered meanwhile. Where the limit of descriptors is less they are as many as it allows. For
// set-up.
void reserve_descriptors(std::size_t more) noexcept;

// How many may be open at one time; SIZE_MAX: no limit.
std::size_t descriptor_limit() noexcept;
// As many as the system lets this process have without asking anybody. Systems start programs with
// few, for the sake of select(), which nobody here calls. For a host's set-up.
void raise_descriptor_limit() noexcept;

// What a server has open at most at one time, its connections, and logs and checkpoints of so many
// models. A start that comes back to its logs has them open twice for a moment.
std::size_t most_descriptors(const ServerConfig& config, std::size_t models) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_DESCRIPTORS_H_
