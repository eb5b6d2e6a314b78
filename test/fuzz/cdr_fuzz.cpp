// Any bytes as each of the messages that are read back. What was read is written again alike.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "app/messages.h"

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

// What was read, written into room for what its size says.
template <class Message>
std::vector<std::byte> written(const Message& message, std::size_t room) {
  std::vector<std::byte> out(room);
  const std::size_t size = app::encode(message, out);
  must(size <= room);
  out.resize(size);
  return out;
}

std::size_t length(std::string_view text) {
  std::size_t sum = 0;
  for (const char c : text) sum += c != 0;
  return sum;
}

void read_diagnostics(hal::Bytes input) {
  app::DiagnosticReader reader(input);
  std::size_t seen = length(reader.header().frame);
  while (const auto status = reader.next_status()) {
    seen += length(status->name) + length(status->message) + length(status->hardware_id);
    while (const auto pair = reader.next_value()) seen += length(pair->key) + length(pair->value);
  }
  must(seen <= input.size());
}

void read_transforms(hal::Bytes input) {
  app::TransformReader reader(input);
  std::size_t seen = 0;
  while (const auto transform = reader.next()) {
    seen += length(transform->header.frame) + length(transform->child_frame);
  }
  must(seen <= input.size());
}

void read_points(hal::Bytes input) {
  static_cast<void>(app::decode_merged_cloud(input));
  const auto cloud = app::decode_point_cloud(input);
  if (!cloud) return;
  const std::size_t n = cloud->points.size();
  const auto out = written(*cloud, app::point_cloud_size(n, cloud->header.frame.size()));
  const auto again = app::decode_point_cloud(out);
  must(again && std::ranges::equal(again->points.bytes(), cloud->points.bytes()));
}

void read_scan(hal::Bytes input) {
  const auto scan = app::decode_laser_scan(input);
  if (!scan) return;
  must(scan->intensities.empty() || scan->intensities.size() == scan->ranges.size());
  const std::size_t n = scan->ranges.size();
  const auto out = written(*scan, app::laser_scan_size(n, scan->header.frame.size()));
  const auto again = app::decode_laser_scan(out);
  must(again && std::ranges::equal(again->ranges.bytes(), scan->ranges.bytes()));
}

void read_imu(hal::Bytes input) {
  const auto imu = app::decode_imu(input);
  if (!imu) return;
  const auto out = written(*imu, app::imu_size(imu->header.frame.size()));
  const auto again = app::decode_imu(out);
  must(again && again->orientation.has_value() == imu->orientation.has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hal::Bytes input = std::as_bytes(std::span(data, size));
  read_diagnostics(input);
  read_transforms(input);
  read_points(input);
  read_scan(input);
  read_imu(input);
  return 0;
}
