#include "test/sim/rplidar_replies.h"

#include <array>
#include <string_view>

#include "test/sim/wire.h"

namespace sim::rplidar {
namespace {

constexpr std::uint16_t kPwm = 660;  // default duty of the accessory board
constexpr std::uint32_t kRefused = 1;

enum class Conf : std::uint32_t {
  desired_speed = 0x01,
  min_rpm = 0x04,
  max_rpm = 0x05,
  mode_count = 0x70,
  mode_sample = 0x71,
  mode_max = 0x74,
  mode_answer = 0x75,
  mac = 0x79,
  typical = 0x7C,
  mode_name = 0x7F,
  alias = 0x81,
  detected_bps = 0xA1,
  address = 0x1CCC0,
};

ByteVector number(std::uint64_t value, int bytes) {
  ByteVector out;
  put_le(out, value, bytes);
  return out;
}

ByteVector text(std::string_view words) {
  ByteVector out;
  put_text(out, words);
  put8(out, 0);
  return out;
}

ByteVector single(std::uint8_t type, const ByteVector& payload) {
  ByteVector out = descriptor(payload.size(), false, type);
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

ByteVector info(const Identity& id) {
  ByteVector out;
  put8(out, id.model->model);
  put8(out, id.model->firmware_minor);
  put8(out, id.model->firmware_major);
  put8(out, id.model->hardware);
  put_le(out, 0x3D9EF4D3E0E198C9U, 8);
  put_le(out, id.serial, 8);
  return single(0x04, out);
}

ByteVector sample_rate(const Model& model) {
  ByteVector out;
  put_le(out, model.modes.front().sample_q8 / 256, 2);
  put_le(out, model.express().sample_q8 / 256, 2);
  return single(0x15, out);
}

// What a real A1 said to a request that no document names.
ByteVector unnamed_79(const Model& model) {
  if (model.model >> 4 != 1) return {};
  constexpr std::array<std::uint8_t, 15> kSaid = {0x00, 0x00, 0x61, 0x00, 0x00, 0x00, 0xA0, 0x00,
                                                  0x00, 0x0C, 0x00, 0x04, 0x00, 0x28, 0x1D};
  ByteVector out;
  for (const std::uint8_t b : kSaid) put8(out, b);
  return single(0x14, out);
}

ByteVector mode_value(const Model& model, Conf type, const Request& request) {
  const std::uint32_t id = request.field(4, 2);
  if (request.payload.size() < 6 || id >= model.modes.size()) return {};
  const Mode& mode = model.modes[id];
  if (type == Conf::mode_sample) return number(mode.sample_q8, 4);
  if (type == Conf::mode_max) return number(mode.max_m * 256, 4);
  if (type == Conf::mode_answer) return number(static_cast<std::uint8_t>(mode.answer), 1);
  return text(mode.name);
}

// Empty: this model has no such thing.
ByteVector conf_value(const Identity& id, Conf type, const Request& request) {
  const bool has_rpm = id.motor == Motor::rpm;
  const bool network = id.model->baud == 0;
  switch (type) {
    case Conf::desired_speed:
      return number(id.rpm | std::uint64_t{kPwm} << 16, 4);
    case Conf::min_rpm:
      return has_rpm ? number(id.min_rpm(), 2) : ByteVector{};
    case Conf::max_rpm:
      return has_rpm ? number(id.max_rpm(), 2) : ByteVector{};
    case Conf::mode_count:
      return number(id.model->modes.size(), 2);
    case Conf::typical:
      return number(id.model->typical, 2);
    case Conf::mode_sample:
    case Conf::mode_max:
    case Conf::mode_answer:
    case Conf::mode_name:
      return mode_value(*id.model, type, request);
    case Conf::mac:
      return network ? number(0xA0F102U | (id.serial & 0xFFFFFFU) << 24, 6) : ByteVector{};
    case Conf::alias:
      return id.alias;
    case Conf::detected_bps:
      return network ? ByteVector{} : number(id.model->baud, 4);
    case Conf::address:
      return id.address;
  }
  return {};
}

ByteVector get_conf(const Identity& id, const Request& request) {
  if (request.payload.size() < 4) return {};
  const std::uint32_t type = request.field(0, 4);
  ByteVector out = number(type, 4);
  const ByteVector value = conf_value(id, static_cast<Conf>(type), request);
  out.insert(out.end(), value.begin(), value.end());
  return single(0x20, out);
}

bool change(ByteVector& setting, hal::Bytes value, bool good) {
  if (good) setting.assign(value.begin(), value.end());
  return good;
}

ByteVector set_conf(Identity& id, const Request& request) {
  if (request.payload.size() < 4) return {};
  const std::uint32_t type = request.field(0, 4);
  const hal::Bytes value = hal::Bytes(request.payload).subspan(4);
  bool done = false;
  if (static_cast<Conf>(type) == Conf::alias)
    done = change(id.alias, value, !id.alias.empty() && !value.empty());
  else if (static_cast<Conf>(type) == Conf::address)
    done = change(id.address, value, value.size() == id.address.size() && !value.empty());
  ByteVector out = number(type, 4);
  put_le(out, done ? 0 : kRefused, 4);
  return single(0x21, out);
}

}  // namespace

Identity make_identity(const Model& model, Motor motor, std::uint64_t serial) {
  Identity id;
  id.model = &model;
  id.motor = motor;
  id.serial = serial;
  if (model.baud != 0) return id;
  id.alias = text(model.name);
  put_le(id.address, 0x020BA8C0, 4);  // 192.168.11.2
  put_le(id.address, 0x00FFFFFF, 4);
  put_le(id.address, 0x010BA8C0, 4);
  return id;
}

ByteVector reply(Identity& identity, const Request& request) {
  switch (request.command) {
    case Command::info:
      return info(identity);
    case Command::health:
      return single(0x06, number(identity.health | std::uint64_t{identity.health_code} << 8, 3));
    case Command::sample_rate:
      return sample_rate(*identity.model);
    case Command::unnamed_79:
      return unnamed_79(*identity.model);
    case Command::get_conf:
      return get_conf(identity, request);
    case Command::set_conf:
      return set_conf(identity, request);
    case Command::board_flag:
      return single(0xFF, number(identity.motor == Motor::pwm ? 1 : 0, 4));
    case Command::scan:
    case Command::force_scan:
    case Command::stop:
    case Command::reset:
    case Command::express_scan:
    case Command::new_baud:
    case Command::rpm:
    case Command::pwm:
      return {};
  }
  return {};
}

}  // namespace sim::rplidar
