// Room for the descriptors of a process.
#ifndef WINDHOVER_IO_DESCRIPTORS_H_
#define WINDHOVER_IO_DESCRIPTORS_H_

#include <cstddef>

namespace windhover {

// So many more descriptors may be open at one time before the system has to make their table
// larger. Linux does that when one is opened, and then every thread that opens one waits for tens
// of milliseconds, where processors are short for hundreds: for a server nobody is accepted or
// answered meanwhile. Where the limit of descriptors is less nothing happens. For set-up.
void reserve_descriptors(std::size_t more) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_DESCRIPTORS_H_
