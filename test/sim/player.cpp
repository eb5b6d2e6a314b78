#include "test/sim/player.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "test/sim/wire.h"

namespace sim {
namespace {

// A device's transmit buffer: what the line has not taken by then is lost, whole frames at a time.
constexpr hal::Duration kTransmitBuffer = std::chrono::milliseconds(100);
// A frame on a line arrives in portions of about this much time, as from a UART's FIFO.
constexpr hal::Duration kPortion = std::chrono::milliseconds(4);
constexpr std::string_view kBanner = "\r\nsystem restart\r\nfirmware 1.0, self test passed\r\n";

hal::Duration line_time(std::size_t bytes, unsigned baud) {
  return hal::Duration(static_cast<std::int64_t>(bytes) * 10 * 1'000'000'000 / baud);
}

hal::Error impossible(const char* text) {
  hal::Error error{hal::Errc::bad_config, 0, "simulate: --fault", {}};
  error.detail.print("%s", text);
  return error;
}

hal::Error misplaced(const ArrivalRow& row) {
  hal::Error error{hal::Errc::bad_config, 0, "simulate: --arrival", {}};
  error.detail.print("%s is how %s bring data; here is %s", row.name.data(),
                     row.is_serial ? "serial ports" : "networks",
                     row.is_serial ? "a network" : "a serial port");
  return error;
}

}  // namespace

hal::Result<std::unique_ptr<Player>> Player::make(const PlayerInputs& inputs, hal::Time ready) {
  hal::Result<Settings> settings = Settings::check(inputs.row.options, inputs.set);
  if (!settings) return settings.error();
  std::unique_ptr<Player> player(new Player(inputs, ready));
  auto model = inputs.row.make({*settings, player->clock_, inputs.rate_hz, inputs.seed,
                                inputs.ports, inputs.streams_unasked, inputs.is_serial});
  if (!model) return model.error();
  player->model_ = std::move(*model);
  for (const Fault& fault : inputs.faults) {
    if (fault.kind == FaultKind::wrap && player->model_->clock_period().count() == 0)
      return impossible("wrap: the clock of this device never wraps");
    if (fault.kind == FaultKind::baud && !inputs.is_serial)
      return impossible("baud: only a serial port (--pty) has a baud rate");
  }
  const ArrivalRow& arrival = arrivals()[static_cast<std::size_t>(inputs.arrival)];
  if (!(inputs.is_serial ? arrival.is_serial : arrival.is_network)) return misplaced(arrival);
  player->change_at(ready);
  return player;
}

Player::Player(const PlayerInputs& inputs, hal::Time ready)
    : clock_(inputs.seed ^ 0xC10CU),
      arrival_(inputs.arrival, inputs.seed ^ 0xA221U),
      faults_(inputs.faults, ready, inputs.seed),
      is_serial_(inputs.is_serial),
      truth_(inputs.truth),
      line_free_(ready) {}

void Player::change_at(hal::Time t) {
  set_power(faults_.is_powered(t), t);
  clock_.set_drift(t, faults_.drift_ppm(t));
  clock_.set_jitter(faults_.jitter(t));
  for (const Fault& fault : faults_.faults()) {
    if (faults_.start_of(fault) != t) continue;
    if (fault.kind == FaultKind::jump) clock_.jump(t, hal::from_seconds(fault.value));
    if (fault.kind == FaultKind::wrap)
      clock_.restart(t, std::max<std::int64_t>(
                            0, (model_->clock_period() - hal::from_seconds(fault.value)).count()));
  }
  change_due_ = faults_.next_change(t);
}

void Player::set_power(bool on, hal::Time t) {
  if (on == is_powered_) return;
  is_powered_ = on;
  if (!on) {
    model_due_ = kNever;
    pending_.clear();
    while (!writes_.empty() && writes_.back().due > t) writes_.pop_back();
    if (!faults_.is_plugged(t)) arrival_.forget();
    line_free_ = std::min(line_free_, t);
    return;
  }
  for (const Fault& fault : faults_.faults()) {
    if (fault.kind != FaultKind::reset || faults_.start_of(fault) + boot_time(fault) != t) continue;
    ByteVector banner;
    put_text(banner, kBanner);
    output_.send(t, std::move(banner));
  }
  clock_.restart(t);
  model_->power_up(t, output_);
  collect(false);
  model_due_ = model_->advance(t, output_);
  collect(false);
}

void Player::receive(Channel channel, hal::Bytes bytes, hal::Time now) {
  advance(now);
  if (!is_powered_) return;
  model_->receive(channel, bytes, now, output_);
  collect(true);
  model_due_ = model_->advance(now, output_);
  collect(false);
}

hal::Time Player::next_event() const {
  const hal::Time leaves = pending_.empty() ? kNever : pending_.front().at;
  return std::min({model_due_, change_due_, leaves, arrival_.due()});
}

hal::Time Player::advance(hal::Time now) {
  for (hal::Time t = next_event(); t <= now; t = next_event()) {
    if (change_due_ <= t) {
      change_at(change_due_);
    } else if (!pending_.empty() && pending_.front().at <= t) {
      Outgoing frame = std::move(pending_.front());
      pending_.pop_front();
      put_on_line(std::move(frame));
    } else if (arrival_.due() <= t) {
      arrival_.hand_over();
      arrive();
    } else {
      model_due_ = model_->advance(t, output_);
      collect(false);
    }
  }
  return writes_.empty() ? next_event() : std::min(next_event(), writes_.front().due);
}

void Player::collect(bool is_reply) {
  for (const ScanTruth& scan : output_.scans)
    if (truth_ != nullptr) truth_->write(scan);
  for (const ImuTruth& imu : output_.imus)
    if (truth_ != nullptr) truth_->write(imu);
  for (Frame& frame : output_.frames)
    faults_.pass({frame.at, frame.way, is_reply, std::move(frame.bytes)}, *model_, passed_);
  output_.clear();
  for (Outgoing& frame : passed_) {
    const auto later = [](hal::Time at, const Outgoing& other) { return at < other.at; };
    const auto place = std::upper_bound(pending_.begin(), pending_.end(), frame.at, later);
    pending_.insert(place, std::move(frame));
  }
  passed_.clear();
}

void Player::put_on_line(Outgoing frame) {
  if (frame.bytes.empty()) return;
  const unsigned baud = line_baud(frame.at);
  if (!is_serial_ || baud == 0) {
    arrival_.put({frame.at, frame.way, frame.is_reply, std::move(frame.bytes)}, {});
    return arrive();
  }
  const hal::Time start = std::max(frame.at, line_free_);
  if (start - frame.at > kTransmitBuffer) {
    ++overrun_frames_;
    return;
  }
  // Portions of one size, none of which takes longer than kPortion.
  const hal::Duration whole = line_time(frame.bytes.size(), baud);
  const auto portions = static_cast<std::size_t>(whole / kPortion + 1);
  const std::size_t portion = (frame.bytes.size() + portions - 1) / portions;
  const hal::Bytes all(frame.bytes);
  for (std::size_t at = 0; at < all.size(); at += portion) {
    const hal::Bytes part = all.subspan(at, std::min(portion, all.size() - at));
    const hal::Time due = start + line_time(at + part.size(), baud);
    arrival_.put({due, frame.way, frame.is_reply, ByteVector(part.begin(), part.end())},
                 line_time(1, baud));
  }
  line_free_ = start + whole;
  arrive();
}

// A stalled host reads nothing.
void Player::arrive() {
  for (std::deque<Write>& arrived = arrival_.arrived(); !arrived.empty(); arrived.pop_front()) {
    arrived.front().due = faults_.released(arrived.front().due);
    writes_.push_back(std::move(arrived.front()));
  }
}

bool Player::take(hal::Time now, Write& write) {
  if (writes_.empty() || writes_.front().due > now) return false;
  write = std::move(writes_.front());
  writes_.pop_front();
  return true;
}

}  // namespace sim
