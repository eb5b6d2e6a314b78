#include "app/lidarctl/packet_line.h"

#include <nlohmann/json.hpp>

namespace lidarctl {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Of each beam all returns, the first one too.
Json echoes_of(const drivers::ScanSlice& slice) {
  Json lists = Json::array();
  for (std::size_t i = 0; i < slice.beams.size(); ++i) {
    Json list = Json::array();
    const auto add = [&](float range, float intensity) {
      if (range == 0) return;
      list.push_back({range, slice.has_intensity ? Json(intensity) : Json(nullptr)});
    };
    add(slice.beams[i].range, slice.beams[i].intensity);
    for (const drivers::Echo& echo : slice.echoes_of(i)) add(echo.range, echo.intensity);
    lists.push_back(std::move(list));
  }
  return lists;
}

Json to_json(const drivers::ScanSlice& slice) {
  Json beams = Json::array();
  for (const drivers::Beam& beam : slice.beams) {
    beams.push_back(
        {beam.angle, beam.range, slice.has_intensity ? Json(beam.intensity) : Json(nullptr)});
  }
  Json line = {{"type", "scan"},
               {"first_ns", hal::to_ns(slice.first)},
               {"step_ns", slice.step.count()},
               {"device_ns", or_null(slice.device_ns)},
               {"starts_turn", slice.starts_turn},
               {"beams", std::move(beams)}};
  if (!slice.echoes.empty()) line["echoes"] = echoes_of(slice);
  return line;
}

Json to_json(const drivers::ImuSample& sample) {
  Json line = {{"type", "imu"},
               {"t_ns", hal::to_ns(sample.at)},
               {"device_ns", or_null(sample.device_ns)},
               {"accel", or_null(sample.accel)},
               {"gyro", or_null(sample.gyro)},
               {"orientation", or_null(sample.orientation)}};
  if (sample.mag) line["mag_T"] = *sample.mag;
  if (sample.pressure) line["pressure_Pa"] = *sample.pressure;
  if (sample.temperature) line["temperature_C"] = *sample.temperature;
  if (sample.delta_velocity) line["delta_velocity"] = *sample.delta_velocity;
  if (sample.delta_angle) line["delta_angle"] = *sample.delta_angle;
  return line;
}

}  // namespace

std::string packet_line(const drivers::Packet& packet) {
  return std::visit([](const auto& p) { return to_json(p); }, packet).dump();
}

}  // namespace lidarctl
