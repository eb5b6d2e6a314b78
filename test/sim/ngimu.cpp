#include "test/sim/ngimu.h"

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "test/sim/motion.h"
#include "test/sim/osc.h"
#include "test/sim/room.h"
#include "test/sim/sample_pace.h"
#include "test/sim/wire.h"

namespace sim::ngimu {
namespace {

using osc::Message;

constexpr double kSamplesHz = 400.0;
constexpr hal::Duration kReplyDelay = std::chrono::milliseconds(4);
constexpr double kMicrotesla = 1e6, kPressure = 1013.25;  // hPa
constexpr std::int64_t kSecond = 1'000'000'000;

constexpr std::array kOptions = {
    kMotionOption,
    choice("link", "auto", "auto|udp|serial", "SLIP on serial lines, none in datagrams"),
    choice("streaming", "on", "on|off", "off: it is set to send neither sensors nor quaternions"),
    choice("attitude", "quaternion", "quaternion|matrix|euler|none",
           "what it is set to tell of it"),
    choice("bundles", "apart", "apart|together|nested",
           "messages of a sample: a bundle each, in one bundle, or in bundles of a bundle"),
    choice("extras", "on", "on|off", "temperature, battery, altitude, radio and button messages"),
    choice("traps", "off", "off|on",
           "once a second: a bundle for now, a size beyond the end, an address that nobody knows"),
    choice("commands", "obeyed", "obeyed|mute", "what becomes of them"),
    number("date_s", "3155673600", 0, 4294967295.0,
           "what its clock reads at power-up, seconds since 1900"),
};

// NTP: seconds and 2^-32 of them. `ns` since 1900.
std::uint64_t time_tag(std::int64_t ns) {
  const auto seconds = static_cast<std::uint64_t>(ns / kSecond);
  const auto rest = static_cast<std::uint64_t>(ns % kSecond);
  return seconds << 32 | ((rest << 32) / static_cast<std::uint64_t>(kSecond));
}
std::int64_t ns_of(std::uint64_t tag) {
  const auto fraction = (tag & 0xFFFF'FFFFU) * static_cast<std::uint64_t>(kSecond);
  return static_cast<std::int64_t>(tag >> 32) * kSecond + static_cast<std::int64_t>(fraction >> 32);
}

Message message(std::string address, std::initializer_list<double> numbers) {
  Message out{std::move(address), {}};
  for (const double v : numbers) out.arguments.emplace_back(static_cast<float>(v));
  return out;
}

Message sensors(const Motion& m) {
  Message out{"/sensors", {}};
  const auto add = [&out](double v) { out.arguments.emplace_back(static_cast<float>(v)); };
  for (const double v : m.gyro) add(degrees(v));
  for (const double v : m.accel) add(v / kStandardGravity);
  for (const double v : m.mag) add(v * kMicrotesla);
  add(kPressure);
  return out;
}

// The Earth as the sensor sees it.
Quaternion earth_to_sensor(const Motion& m) {
  const auto [w, x, y, z] = to_nwu_flu(m.orientation);
  return {w, -x, -y, -z};
}
Message quaternion(const Motion& m) {
  const auto [w, x, y, z] = earth_to_sensor(m);
  return message("/quaternion", {w, x, y, z});
}
Message matrix(const Motion& m) {
  const auto [w, x, y, z] = earth_to_sensor(m);
  return message("/matrix", {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                             2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                             2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)});
}
Message euler(const Motion& m) {
  return message("/euler", {degrees(m.roll), degrees(m.pitch), degrees(m.yaw - kTurn / 4)});
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& in, double hz)
      : clock_(in.clock),
        pace_(in.clock),
        motion_(motion_kind(in.settings)),
        is_serial_(in.settings.word("link") == "serial" ||
                   (in.settings.word("link") == "auto" && in.is_serial)),
        has_extras_(in.settings.on("extras")),
        has_traps_(in.settings.on("traps")),
        obeys_(in.settings.word("commands") == "obeyed"),
        bundles_(in.settings.word("bundles")),
        date_ns_(std::llround(in.settings.number("date_s") * 1e9)) {
    const auto rate = static_cast<float>(in.settings.on("streaming") ? hz : 0.0);
    const std::string& attitude = in.settings.word("attitude");
    for (const char* name : {"sensors", "quaternion", "matrix", "euler", "linear", "earth"}) {
      const bool is_on = std::string(name) == "sensors" || attitude == name;
      rates_[std::string("/rate/") + name] = is_on ? rate : 0.0F;
    }
    for (const char* name : {"altitude", "temperature", "humidity", "battery", "rssi"})
      rates_[std::string("/rate/") + name] = has_extras_ ? 1.0F : 0.0F;
    saved_ = rates_;
  }

  void power_up(hal::Time now, Output&) override {
    rates_ = saved_;
    reader_.clear();
    date_now_ns_ = date_ns_;
    sleeps_ = false;
    pace_.start(now, kSamplesHz);
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    while (pace_.next() <= now) step(out);
    if (!is_serial_) return hear(bytes, now, out);
    for (const std::byte byte : bytes) {
      if (const auto packet = reader_.add(byte)) hear(*packet, now, out);
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (pace_.next() <= now) step(out);
    return pace_.next();
  }
  unsigned baud() const override { return is_serial_ ? 115200 : 0; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (is_serial_ || bundles_ != "apart") return;
    const auto messages = osc::messages_in(frame);
    if (messages.size() != 1 || messages[0].address != "/sensors") return;
    Message wrong = messages[0];
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (osc::Argument& argument : wrong.arguments) argument = random.chance(0.5) ? nan : 1e9F;
    frame = osc::bundle(get_be(frame, 8, 8), {osc::bytes_of(wrong)});
  }

 private:
  void hear(hal::Bytes packet, hal::Time now, Output& out) {
    if (!obeys_) return;
    for (const Message& asked : osc::messages_in(packet)) answer(asked, now, out);
  }

  // A setting or command is answered with its value, or echoed.
  void answer(const Message& asked, hal::Time now, Output& out) {
    Message reply = asked;
    const auto setting = rates_.find(asked.address);
    if (setting != rates_.end()) {
      if (!asked.arguments.empty()) {
        const float wanted = number_in(asked.arguments[0]);
        if (wanted >= 0.0F && wanted <= 400.0F) setting->second = wanted;
      }
      reply.arguments = {setting->second};
    } else if (asked.address == "/reset") {
      clock_.restart(now);
      power_up(now, out);
    } else if (asked.address == "/sleep") {
      sleeps_ = true;
    } else if (asked.address == "/serialnumber") {
      reply.arguments = {std::string("0035F6E2")};
    } else if (asked.address == "/firmware/version") {
      reply.arguments = {std::string("v1.18")};
    } else if (asked.address != "/identify" && asked.address != "/time" &&
               asked.address != "/zero" && asked.address != "/wake") {
      return;  // nobody knows it
    }
    send(osc::bytes_of(reply), now + kReplyDelay, out);
  }
  static float number_in(const osc::Argument& argument) {
    if (const auto* const f = std::get_if<float>(&argument)) return *f;
    if (const auto* const i = std::get_if<std::int32_t>(&argument)) return static_cast<float>(*i);
    return -1.0F;
  }

  void send(const ByteVector& packet, hal::Time at, Output& out) const {
    out.send(at, is_serial_ ? osc::slip(packet) : packet);
  }

  bool is_due(const char* name) const {
    const auto rate = static_cast<double>(rates_.at(std::string("/rate/") + name));
    if (rate <= 0.0) return false;
    const auto every = static_cast<std::uint64_t>(std::lround(kSamplesHz / rate));
    return pace_.ticks() % std::max<std::uint64_t>(every, 1) == 0;
  }

  void step(Output& out) {
    const hal::Time at = pace_.next();
    pace_.pass();
    if (sleeps_) return;
    const Motion m = motion_at(hal::to_seconds(at - pace_.origin()), motion_);
    const std::uint64_t tag = time_tag(date_now_ns_ + clock_.stamp(at));
    std::vector<ByteVector> due;
    if (is_due("sensors")) due.push_back(osc::bytes_of(sensors(m)));
    if (is_due("quaternion")) due.push_back(osc::bytes_of(quaternion(m)));
    if (is_due("matrix")) due.push_back(osc::bytes_of(matrix(m)));
    if (is_due("euler")) due.push_back(osc::bytes_of(euler(m)));
    const bool is_measured = !due.empty();
    if (has_extras_) add_extras(due);
    send_all(tag, std::move(due), at, out);
    if (has_traps_ && pace_.ticks() % 400 == 123) spring_traps(m, at, out);
    if (is_measured) out.imus.push_back({at, ns_of(tag), m.accel, m.gyro});
  }

  void add_extras(std::vector<ByteVector>& due) const {
    if (is_due("altitude")) due.push_back(osc::bytes_of(message("/altitude", {12.5})));
    if (is_due("temperature"))
      due.push_back(osc::bytes_of(message("/temperature", {30.0, 25.0, 25.5})));
    if (is_due("humidity")) due.push_back(osc::bytes_of(message("/humidity", {40.0})));
    if (is_due("rssi")) due.push_back(osc::bytes_of(message("/rssi", {-50.0, 100.0})));
    if (!is_due("battery")) return;
    Message battery = message("/battery", {100.0, 600.0, 4.2, 50.0});
    battery.arguments.emplace_back(std::string("Discharging"));
    due.push_back(osc::bytes_of(battery));
    due.push_back(osc::bytes_of({"/button", {}}));
    due.push_back(osc::bytes_of({"/flags", {true, false, std::int32_t{7}}}));
  }

  void send_all(std::uint64_t tag, std::vector<ByteVector> due, hal::Time at, Output& out) const {
    if (due.empty()) return;
    if (bundles_ == "together") return send(osc::bundle(tag, due), at, out);
    for (ByteVector& element : due) element = osc::bundle(tag, {element});
    if (bundles_ == "nested") return send(osc::bundle(tag, due), at, out);
    for (const ByteVector& packet : due) send(packet, at, out);
  }

  void spring_traps(const Motion& m, hal::Time at, Output& out) const {
    send(osc::bundle(1, {osc::bytes_of(sensors(m))}), at, out);
    ByteVector beyond = osc::bundle(time_tag(date_now_ns_), {osc::bytes_of(sensors(m))});
    beyond[18] = std::byte{0x7F};  // of the size of its element
    send(beyond, at, out);
    send(osc::bundle(time_tag(date_now_ns_), {osc::bytes_of(message("/nobody/knows", {1.0}))}), at,
         out);
  }

  DeviceClock& clock_;
  SamplePace pace_;
  const MotionKind motion_;
  const bool is_serial_, has_extras_, has_traps_, obeys_;
  const std::string bundles_;
  const std::int64_t date_ns_;
  std::int64_t date_now_ns_ = 0;
  std::map<std::string, float> rates_, saved_;
  osc::SlipReader reader_;
  bool sleeps_ = false;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto hz = samples_per_s(inputs, 50.0, 1.0, kSamplesHz);
  if (!hz) return hz.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, *hz));
}

}  // namespace sim::ngimu
