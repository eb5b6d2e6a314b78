// What a client of the stream is told when it was too slow: a diagnostic_msgs/msg/DiagnosticArray.
#pragma once

#include "app/mcap_catalog.h"

namespace app {

// A DropNoticeEncoder: one status "lidard: drops" with the values `dropped` and `total`.
std::size_t encode_drop_notice(const DropNotice&, std::span<std::byte> out);

}  // namespace app
