#include "app/drop_notice.h"

#include <cinttypes>

#include "app/messages.h"
#include "hal/text.h"

namespace app {

std::size_t encode_drop_notice(const DropNotice& n, std::span<std::byte> out) {
  using Number = hal::Text<24>;
  DiagnosticWriter w({n.log_time_ns, ""}, out);
  w.status(Level::warn, "lidard", "this client reads too slowly, messages were dropped", "");
  w.value("event", "drops");
  w.value("dropped", Number::of("%" PRIu64, n.dropped).view());
  w.value("total", Number::of("%" PRIu64, n.total).view());
  const std::size_t size = w.finish();
  return size <= out.size() ? size : 0;
}

}  // namespace app
