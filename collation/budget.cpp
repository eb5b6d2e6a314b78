#include "collation/budget.h"

#include <algorithm>
#include <cmath>

namespace collation {

namespace {

double data_within(const Channel& channel, hal::Duration wait) {
  return channel.rate_hz * hal::to_seconds(wait);
}

std::string milliseconds(hal::Duration d) {
  return hal::Text<32>::of("%.4g", hal::to_seconds(d) * 1e3).c_str();
}

// "adapter timer 16 + 10"
std::string parts_of(const Channel& channel) {
  if (channel.max_wait) return "max_wait " + milliseconds(*channel.max_wait) + " as configured";
  std::string text;
  const auto append = [&](const char* what, hal::Duration d) {
    if (d > hal::Duration::zero()) text += what + milliseconds(d) + " + ";
  };
  append("delivery ", channel.delays.delivery);
  append("wire ", channel.delays.wire);
  append("adapter timer ", channel.delays.adapter);
  append("batch ", channel.delays.batch);
  return text + milliseconds(kMargin);
}

}  // namespace

hal::Duration default_max_wait(const Delays& delays) {
  return delays.delivery + delays.wire + delays.adapter + delays.batch + kMargin;
}

hal::Duration max_wait(const Channel& channel) {
  return channel.max_wait.value_or(default_max_wait(channel.delays));
}

hal::Duration largest_max_wait(std::span<const Channel> channels) {
  hal::Duration largest{};
  for (const Channel& channel : channels) {
    if (channel.role != Role::passthrough) largest = std::max(largest, max_wait(channel));
  }
  return largest;
}

std::size_t default_capacity(const Channel& channel, hal::Duration largest_max_wait) {
  const auto within = [&](hal::Duration d) {
    return static_cast<std::size_t>(std::ceil(data_within(channel, d)));
  };
  const std::size_t held_up =
      std::min(within(largest_max_wait + kLongestHoldUp),
               kHoldUpBytes / std::max<std::size_t>(1, channel.datum_bytes));
  return std::max({std::size_t{8}, within(2 * largest_max_wait), held_up});
}

std::size_t capacity(const Channel& channel, hal::Duration largest_max_wait) {
  return channel.capacity.value_or(default_capacity(channel, largest_max_wait));
}

hal::Status check_capacity(const Channel& channel, hal::Duration largest_max_wait) {
  const double least = std::max(1.0, std::ceil(data_within(channel, largest_max_wait)));
  const std::size_t given = capacity(channel, largest_max_wait);
  if (static_cast<double>(given) >= least) return hal::ok;
  return hal::Error{
      hal::Errc::bad_config, 0, "collation: queue capacity",
      hal::Text<192>::of("%.*s: capacity %zu is less than %.4g Hz x %s ms of waiting: at least "
                         "%.0f, better %zu",
                         static_cast<int>(channel.name.size()), channel.name.data(), given,
                         channel.rate_hz, milliseconds(largest_max_wait).c_str(), least,
                         default_capacity(channel, largest_max_wait))};
}

WorstAge worst_age(std::span<const Channel> channels, std::size_t i) {
  WorstAge worst{max_wait(channels[i]), i};
  if (channels[i].role == Role::passthrough) return worst;
  for (std::size_t other = 0; other < channels.size(); ++other) {
    if (channels[other].role == Role::passthrough) continue;
    if (max_wait(channels[other]) > worst.age) worst = {max_wait(channels[other]), other};
  }
  return worst;
}

std::string describe(std::span<const Channel> channels, std::size_t i) {
  const WorstAge worst = worst_age(channels, i);
  const Channel& cause = channels[worst.because];
  return std::string(channels[i].name) + " " + milliseconds(worst.age) +
         " ms: " + std::string(cause.name) + ", " + parts_of(cause);
}

}  // namespace collation
