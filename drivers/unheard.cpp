#include "drivers/unheard.h"

namespace drivers {
namespace {

// `sender`: with its port, as it was refused.
hal::Text<192> of_others(std::string_view sender, std::string_view accepted) {
  const auto host = sender.substr(0, sender.find(':'));
  return hal::Text<192>::of("datagrams come from %.*s, not from %.*s: set from",
                            static_cast<int>(host.size()), host.data(),
                            static_cast<int>(accepted.size()), accepted.data());
}

hal::Text<192> of_nobody(std::string_view port, const OwnEnd& own, bool answers) {
  return hal::Text<192>::of(
      "%sno datagram arrives on %.*s%s%s: wrong interface, a firewall, or is it told another "
      "address?",
      answers ? "it answers on its control port, but " : "", static_cast<int>(port.size()),
      port.data(), own.has_ip() ? " of " : "", own.has_ip() ? own.host().c_str() : "");
}

}  // namespace

void UnheardWatch::reopened(const hal::Port* data) {
  if (data) rejected_ = data->stats().rejected_datagrams;
}

hal::Text<192> UnheardWatch::why(const hal::Port* data, hal::Time since, const OwnEnd& own,
                                 const char* step) const {
  if (newest_ > since || !data || !data->name().starts_with("udp:")) return {};
  const hal::PortStats stats = data->stats();
  const bool others = stats.rejected_datagrams > rejected_ && !stats.from.empty();
  const bool answers = own.has(Channel::control);
  if (step ? !others || answers : !others && !answers) return {};
  const auto words = others ? of_others(stats.last_rejected.view(), stats.from.view())
                            : of_nobody(data->name(), own, answers);
  return hal::Text<192>::of("%s%s%s", step ? step : "", step ? "; " : "", words.c_str());
}

}  // namespace drivers
