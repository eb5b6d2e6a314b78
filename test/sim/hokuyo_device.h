// A simulated Hokuyo: what it was told, its line, its motor, and what it measures for whom.
#pragma once

#include <optional>
#include <string>

#include "test/sim/hokuyo_line.h"
#include "test/sim/hokuyo_replies.h"
#include "test/sim/hokuyo_requests.h"
#include "test/sim/hokuyo_rotor.h"
#include "test/sim/models.h"
#include "test/sim/noise.h"

namespace sim::hokuyo_scip {

inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kClockModulus = 1 << 24;  // ms
inline constexpr const char* kDone = "00";

struct Stream {
  Measuring what;
  int left = 0, wait = 0;  // scans to come of those asked for; to leave out
  hal::Time since;
};

class Hokuyo final : public DeviceModel {
 public:
  Hokuyo(const Model& model, const ModelInputs& in)
      : model_(model),
        clock_(in.clock),
        noise_(in),
        settings_(in.settings),
        rotor_(model, in.clock,
               in.rate_hz > 0.0 ? static_cast<int>(std::lround(60.0 * in.rate_hz)) : model.rpm) {}
  void power_up(hal::Time now, Output&) override;
  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override;
  hal::Time advance(hal::Time now, Output& out) override;

  unsigned baud() const override { return line_.baud; }
  hal::Duration clock_period() const override;
  void falsify(ByteVector& frame, Random& random) const override;

 private:
  void say(const std::string& text, hal::Time now, Output& out, const Way& way = {});
  void status(const Request& request, const std::string& code, hal::Time now, Output& out);
  bool laser_is_bad() const { return settings_.word("laser") == "bad"; }
  void laser_on(hal::Time now);
  void laser_off();
  void answer(const Request& request, hal::Time now, Output& out);
  void obey(const Request& request, hal::Time now, Output& out);
  void status_of_time(const Request& request, hal::Time now, Output& out);
  static std::string time_text(std::int64_t ms);
  void set_baud(const Request& request, hal::Time now, Output& out);
  std::string set_motor(const std::string& parameters);

  // %ST tells its state, %SL puts it to sleep: the motor stops until QT or until the laser is lit.
  void obey_percent(const Request& request, hal::Time now, Output& out);
  void reset(const Request& request, hal::Time now, Output& out);

  // The second within a second starts it anew, and its connection is lost.
  void reboot(const Request& request, hal::Time now, Output& out);
  void inform(const Request& request, const std::string& lines, hal::Time now, Output& out);
  State state(hal::Time now);

  // The last whole turn with the laser on, or the first when there is none yet.
  void measure_once(const Measuring& measuring, hal::Time now, Output& out);
  void say_scan(const Measuring& measuring, const Turn& turn, const std::string& code,
                hal::Time now, Output& out);
  void complete_turn(Output& out);
  void say_stream(const Turn& done, hal::Time now, Output& out);

  const Model& model_;
  DeviceClock& clock_;
  Noise noise_;
  const Settings settings_;
  Rotor rotor_;
  Line line_;
  bool powered_before_ = false;
  std::string typed_;
  bool after_cr_ = false;
  bool scip1_ = false, adjust_ = false, laser_ = false, asleep_ = false;
  hal::Time reboot_asked_ = kNever;
  std::optional<Turn> latest_;
  std::optional<Stream> stream_;
  std::optional<Measuring> waiting_;  // for the first whole turn
};

}  // namespace sim::hokuyo_scip
