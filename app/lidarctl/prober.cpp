#include "app/lidarctl/prober.h"

#include <algorithm>

namespace lidarctl {
namespace {

constexpr std::size_t kEnough = 1024;  // bytes to tell whose they are, before a window ends
constexpr std::size_t kLongLooks = 3;  // rates

// Bytes of another protocol look like a short answer now and then.
bool has_answered(const drivers::Health& h) {
  return h.replies > 0 && h.framing.garbage_bytes <= 3 * h.framing.frame_bytes;
}

}  // namespace

void Prober::Rate::add(hal::Time at, double more) {
  if (n == 0) first = at;
  const double s = hal::to_seconds(at - first);
  sum += more;
  n += 1, t += s, y += sum, tt += s * s, ty += s * sum;
}

double Prober::Rate::per_s() const {
  const double d = n * tt - t * t;
  return n > 4 && d > 0 ? (n * ty - t * y) / d : 0;
}

Prober::Prober(std::span<const drivers::Row> rows, SharedPort& port) : rows_(rows), port_(&port) {}

Prober::Prober(std::vector<Trial> trials, MakePorts make)
    : port_(nullptr), make_(std::move(make)), trials_(std::move(trials)) {}

void Prober::start(hal::Time now) {
  began_ = now;
  if (port_) return port_->open(now);
  has_asked_ = true;
  try_next(now);
}

void Prober::tick(hal::Time now) {
  if (port_) port_->tell_time(now);
  if (port_ && port_->error() && phase_ != Phase::done) return fail(now);
  switch (phase_) {
    case Phase::opening:
      if (!port_->is_open()) return;
      if (port_->has_line()) rates_ = listening_rates(rows_);
      return listen(now);
    case Phase::listening:
      return tick_listening(now);
    case Phase::trying:
      return tick_trial(now);
    case Phase::stopping:
      driver_->tick(now);
      if (driver_->stopped()) end(now);
      return;
    case Phase::done:
      return;
  }
}

void Prober::listen(hal::Time now) {
  phase_ = Phase::listening;
  since_ = now;
  looked_at_ = 0;
  bytes_before_ = port_->bytes();
  port_->listen(rates_.empty() ? 0 : rates_[rate_], now);
}

// At first each rate for a moment; where bytes came that nobody knows, the usual ones for longer.
hal::Duration Prober::window() const {
  if (is_second_look()) return kLongWindow;
  if (rates_.empty()) return kUntilSilent;
  const bool is_quiet = port_->bytes() == bytes_before_ && rate_ == 0 && !has_asked_;
  return is_quiet ? kUntilSilent : kWindow;
}

void Prober::tick_listening(hal::Time now) {
  const bool is_vain = has_asked_ && port_->bytes() == 0 && now - asked_ >= kAfterwards;
  if (is_vain || now - began_ >= kWhole) return fail(now);
  const bool is_over = now - since_ >= window();
  const std::size_t size = port_->sample().size();
  if (!is_over && size < looked_at_ + kEnough) return;
  looked_at_ = size;
  if (!has_asked_) heard_before_asking_ = port_->bytes();
  take_heard(now, rates_.empty() ? 0 : rates_[rate_]);
  if (phase_ != Phase::listening || !is_over) return;
  const std::size_t rates = is_second_look() ? std::min(rates_.size(), kLongLooks) : rates_.size();
  if (port_->bytes() > 0 && rate_ + 1 < rates) {
    ++rate_;
    return listen(now);
  }
  rate_ = 0;
  ++listened_;
  if (has_asked_ || (listened_ == 1 && port_->bytes() > 0)) return listen(now);
  ask(now);
}

void Prober::ask(hal::Time now) {
  has_asked_ = true;
  trials_ = silent_trials(rows_, port_->has_line());
  next_ = 0;
  try_next(now);
}

// Whose bytes came?
void Prober::take_heard(hal::Time now, int baud) {
  std::vector<Trial> fresh = heard(rows_, port_->sample(), baud);
  std::erase_if(fresh, [&](const Trial& t) {
    return std::ranges::any_of(heard_,
                               [&](const Trial& h) { return h.row == t.row && h.baud == t.baud; });
  });
  if (fresh.empty()) return;
  heard_.insert(heard_.end(), fresh.begin(), fresh.end());
  trials_.insert(trials_.begin() + static_cast<std::ptrdiff_t>(next_), fresh.begin(), fresh.end());
  try_next(now);
}

void Prober::try_next(hal::Time now) {
  driver_.reset();
  if (next_ >= trials_.size()) return after_all_trials(now);
  trial_ = trials_[next_++];
  phase_ = Phase::trying;
  since_ = now;
  const auto left = static_cast<std::int64_t>(trials_.size() - next_ + 1);
  answer_ = std::clamp((kAllAsked - (now - began_)) / left, kLeastAnswer, kAnswer);
  streams_since_ = {};
  beams_ = packets_ = {};
  has_intensity_ = false;
  drivers::Options options(trial_.row->options);
  if (trial_.variant)
    (void)options.set(trial_.variant->key, trial_.variant->value);  // of its table
  drivers::DriverSetup setup{
      .first_sensor = 0, .baud = trial_.baud, .stamps = {}, .ports = {}, .sink = this};
  if (port_) {
    setup.ports[0] = port_->lend(trial_.baud);
  } else {
    setup.ports = make_(trial_);
  }
  driver_ = trial_.row->make(options, std::move(setup));
  driver_->start(now);
}

void Prober::after_all_trials(hal::Time now) {
  if (!unanswered_.empty()) {  // of those that are as alike, the first of the registry
    const auto better = [](const Trial& a, const Trial& b) {
      return a.likeness != b.likeness ? a.likeness > b.likeness : a.row < b.row;
    };
    const Trial best = *std::ranges::min_element(unanswered_, better);
    unanswered_.clear();
    is_final_ = true;
    trials_.push_back(best);
    return try_next(now);
  }
  if (!port_) return fail(now);
  rate_ = 0;
  if (has_asked_) {  // what was said may have started a motor
    asked_ = now;
    return listen(now);
  }
  ask(now);
}

// The next one is as like as this one.
bool Prober::is_tied() const {
  if (is_final_ || !trial_.is_heard()) return false;
  if (!unanswered_.empty()) return true;
  return next_ < trials_.size() && trials_[next_].is_heard() &&
         trials_[next_].likeness + kAsAlike >= trial_.likeness;
}

hal::Duration Prober::patience(const drivers::Health& h) const {
  if (trial_.is_heard() || has_answered(h)) return kDialogue;
  if (h.baud != trial_.baud) return {};  // the driver itself gave that rate up
  return port_ ? answer_ : kConnect;
}

void Prober::tick_trial(hal::Time now) {
  driver_->tick(now);
  const drivers::Health h = driver_->health();
  const bool is_late = now - began_ >= kWhole;
  if (h.state == drivers::State::streaming) {
    if (h.replies == 0 && is_tied()) {
      unanswered_.push_back(trial_);
      return try_next(now);
    }
    if (streams_since_ == hal::Time{}) streams_since_ = now;
    if (is_late || now - streams_since_ >= kObserve) accept(h, now);
    return;
  }
  // Nobody listens there, or the device will not have this driver.
  const bool is_refused = !port_ && h.state == drivers::State::backoff &&
                          (h.replies == 0 || h.cause == drivers::Cause::refused);
  if (is_late || is_refused || now - since_ >= patience(h)) give_up_trial(h, now);
}

void Prober::give_up_trial(const drivers::Health& h, hal::Time now) {
  if (!h.why.empty()) last_why_ = h.why.c_str();
  if (has_answered(h)) {
    // At an address it may speak to its driver's relative, who said so: the others are asked, too.
    if (port_ || next_ >= trials_.size() || now - began_ >= kWhole) return accept(h, now);
    if (!refused_) {
      fill_result(h);
      refused_ = result_;
    }
    return try_next(now);
  }
  if (now - began_ >= kWhole) return fail(now);
  if (port_ && !trial_.is_heard()) {
    const std::size_t before = heard_.size();
    take_heard(now, trial_.baud);
    if (heard_.size() != before) return;
  }
  try_next(now);
}

void Prober::on_packet(drivers::SensorId, const drivers::Packet& packet, hal::Time arrival) {
  packets_.add(arrival, 1);
  if (const auto* const slice = std::get_if<drivers::ScanSlice>(&packet)) {
    beams_.add(arrival, static_cast<double>(slice->beams.size()));
    has_intensity_ |= slice->has_intensity;
  }
}

void Prober::fill_result(const drivers::Health& h) {
  result_.found = trial_;
  result_.by_itself = heard_before_asking_ >= drivers::kLeastToRecognise;
  result_.streams = h.state == drivers::State::streaming;
  result_.answered = h.replies > 0;
  result_.about = h.about.c_str();
  if (!result_.streams || h.cause != drivers::Cause::none) result_.why = h.why.c_str();
  result_.baud = port_ && port_->has_line() ? h.baud : 0;
  result_.packets_hz = packets_.per_s();
  result_.seen = {beams_.per_s(), h.turns_hz, has_intensity_, {}};
  for (const Trial& t : heard_) {
    const bool other = t.row != trial_.row && t.baud == trial_.baud;
    if (other && trial_.is_heard()) result_.alternatives.push_back(t);
  }
  result_.left_streaming = result_.by_itself && result_.streams;
}

void Prober::accept(const drivers::Health& h, hal::Time now) {
  result_ = {};
  fill_result(h);
  if (result_.left_streaming) return end(now);
  phase_ = Phase::stopping;
  driver_->stop(now);
}

void Prober::end(hal::Time now) {
  driver_.reset();
  phase_ = Phase::done;
  result_.took = now - began_;
  if (!port_) return;
  result_.bytes = port_->bytes();
  for (const std::byte b : port_->first_bytes()) {
    result_.first_bytes += hal::Text<8>::of("%02X ", std::to_integer<unsigned>(b)).c_str();
  }
  if (!result_.first_bytes.empty()) result_.first_bytes.pop_back();
}

void Prober::fail(hal::Time now) {
  if (refused_) {
    result_ = *refused_;
    return end(now);
  }
  end(now);
  result_.found = {};
  if (port_ && port_->error()) {
    result_.is_port_fault = true;
    result_.why = hal::in_words(*port_->error()).c_str();
  } else if (!port_) {
    result_.why = last_why_.empty() ? "nobody answered" : last_why_;
  } else if (!heard_.empty()) {
    const Trial& t = heard_.front();
    result_.why = "the bytes are like those of " + std::string(t.row->name) +
                  ", but its driver gets no measurements: " + last_why_;
  } else if (result_.bytes == 0) {
    result_.why =
        "not a byte came, and nobody answered: is the device powered, do its TX and RX go to RX "
        "and TX, does it need a motor signal to start?";
  } else {
    result_.why =
        "bytes came, but of no device that is known here, at any of its rates: is it another "
        "device (`lidarctl drivers` lists those known), or a bad ground or level?";
  }
}

}  // namespace lidarctl
