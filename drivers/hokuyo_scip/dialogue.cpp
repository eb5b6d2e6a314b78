// What is said to a SCIP device, and what it must answer.
#include "drivers/hokuyo_scip/hokuyo_scip.h"

namespace drivers {

using namespace scip;
using namespace std::chrono_literals;

namespace {

constexpr int kExchanges = 8, kExchangesAgain = 4;
constexpr hal::Duration kAskAgain = 30s;
constexpr std::array kBauds{19'200, 115'200, 57'600, 38'400, 250'000, 500'000, 750'000};

}  // namespace

template <Literal kText>
bool HokuyoScip::say(Request& request) {
  request.text(kText.view());
  return true;
}

template <Literal kText, auto kIf>
bool HokuyoScip::say_if(Request& request) {
  return this->*kIf && say<kText>(request);
}

template <Literal kSymbol, Reply (HokuyoScip::*kTake)(const HokuyoScip::Head&, const Frame&)>
Reply HokuyoScip::answer(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  return head.is(kSymbol.view()) ? (this->*kTake)(head, frame) : Reply::not_mine();
}

Finding HokuyoScip::finding() {
  static constexpr std::array<std::uint16_t, 1> kTcp{10940};
  return {.bauds = kBauds, .asks_first = true, .sets_baud = true, .tcp = kTcp};
}

std::span<const Step<HokuyoScip>> HokuyoScip::start_script() {
  using H = HokuyoScip;
  using S = Step<H>;
  constexpr auto fail = IfUnanswered::fail, go_on = IfUnanswered::go_on;
  static constexpr std::array kSteps{
      S{"stop", &H::say<"QT\n">, &H::answer<"QT", &H::take_quiet>, 120ms, 2, fail, kBauds},
      S{"set SCIP 2", &H::say_if<"SCIP2.0\n", &H::is_scip1_>, &H::answer<"SCIP2.0", &H::accept>,
        300ms, 2, go_on},
      S{"leave time adjustment", &H::say_if<"TM2\n", &H::is_adjusting_>,
        &H::answer<"TM2", &H::take_left_adjusting>, 200ms, 2, go_on},
      S{"reset", &H::say_if<"RS\n", &H::needs_reset_>, &H::answer<"RS", &H::take_reset>, 500ms, 1,
        go_on},
      S{"stop after reset", &H::say_if<"QT\n", &H::was_reset_>, &H::answer<"QT", &H::take_quiet>,
        200ms, 3, fail, kBauds},
      S{"set baud rate", &H::ask_rate, &H::answer<"SS", &H::take_rate>, 300ms, 2, go_on},
      S{"change baud rate", &H::change_rate, nullptr, 150ms},
      S{"stop at the new rate", &H::say_if<"QT\n", &H::changes_rate_>,
        &H::answer<"QT", &H::take_quiet>, 120ms, 2, fail, kBauds},
      S{"get version", &H::ask_version, &H::answer<"VV", &H::take_info>, 300ms, 3},
      S{"get parameters", &H::say<"PP\n">, &H::answer<"PP", &H::take_parameters>, 300ms, 3},
      S{"get state", &H::say<"II\n">, &H::answer<"II", &H::take_state>, 300ms, 2, go_on},
      S{"adjust time", &H::say_if<"TM0\n", &H::synchronises_>,
        &H::answer<"TM0", &H::take_adjusting>, 200ms, 2, go_on},
      S{"get time", &H::ask_time, &H::answer<"TM1", &H::take_time>, 100ms, 2, go_on},
      S{"end time adjustment", &H::say_if<"TM2\n", &H::is_adjusting_>,
        &H::answer<"TM2", &H::take_left_adjusting>, 200ms, 2, go_on},
      S{"turn laser on", &H::say_if<"BM\n", &H::polls_>, &H::answer<"BM", &H::take_laser>, 500ms,
        3},
      S{"start scan", &H::ask_stream, &H::take_scan, 500ms, 4},
  };
  return kSteps;
}

std::span<const Step<HokuyoScip>> HokuyoScip::stop_script() {
  using H = HokuyoScip;
  static constexpr std::array kSteps{
      Step<H>{"stop", &H::say<"QT\n">, &H::answer<"QT", &H::accept>, 150ms, 2, IfUnanswered::go_on},
      Step<H>{"stop the motor", &H::say<"%SL\n">, &H::answer<"%SL", &H::accept>, 90ms, 1,
              IfUnanswered::go_on},
  };
  return kSteps;
}

void HokuyoScip::plan_routines() {
  using H = HokuyoScip;
  static constexpr std::array kTime{Step<H>{"get time again", &H::ask_state_again,
                                            &H::answer<"II", &H::take_state_again>, 100ms, 1,
                                            IfUnanswered::go_on}};
  static constexpr std::array kScan{Step<H>{"get scan", &H::ask_scan, &H::take_scan, 1s, 2}};
  routines_ = {Routine<H>{kAskAgain, kTime},
               Routine<H>{hal::from_seconds(geometry_.turn_s() * (1 + skip_)), kScan}};
}

std::span<const Routine<HokuyoScip>> HokuyoScip::routines() const {
  return std::span(routines_).first(polls_ ? 2 : 1);
}

// What becomes stable is asked again. What is broken is reset at the next attempt.
Reply HokuyoScip::refusal(std::string_view status) {
  if (status == "0M") return Reply::not_mine();
  hal::Text<96> words = in_words(status);
  if (is_trouble(status)) {
    needs_reset_ = true;
    if (!state_.empty()) {
      words = hal::Text<96>::of("%s; it says \"%s\"", words.c_str(), state_.c_str());
    }
  }
  return Reply::refused(words);
}

Reply HokuyoScip::take_quiet(const Head& head, const Frame&) {
  is_scip1_ = head.status.size() == 1;
  is_adjusting_ = head.status == "0E";
  return Reply::done();
}

Reply HokuyoScip::take_left_adjusting(const Head&, const Frame&) {
  is_adjusting_ = false;
  return Reply::done();
}

Reply HokuyoScip::take_reset(const Head&, const Frame&) {
  needs_reset_ = false;
  was_reset_ = true;
  return Reply::done();
}

bool HokuyoScip::ask_rate(Request& request) {
  const LineRate& rate = request.rate();
  baud_ = rate.current;
  changes_rate_ = rate.current != rate.configured;
  if (!changes_rate_) return false;
  request.text(hal::Text<24>::of("SS%06d\n", rate.configured).view());
  return true;
}

// 03: it has that rate already; what cannot be set (USB, Ethernet) needs not be. Where the answer
// got lost, it may have the new rate or not, so it is looked for.
Reply HokuyoScip::take_rate(const Head& head, const Frame&) {
  changes_rate_ = head.status == "00" || head.status == "03";
  if (head.status == "01" || head.status == "02") {
    return Reply::refused(hal::Text<96>::of("it has no rate of %d baud: configure %d",
                                            number_in<int>(head.parameters).value_or(0), baud_));
  }
  return Reply::done();
}

bool HokuyoScip::change_rate(Request& request) {
  if (changes_rate_) request.baud(request.rate().configured);
  return changes_rate_;
}

bool HokuyoScip::ask_version(Request& request) {
  baud_ = request.rate().current;
  return say<"VV\n">(request);
}

Reply HokuyoScip::take_info(const Head& head, const Frame& frame) {
  if (!head.has(Body::info)) return refusal(head.status);
  learn(head, frame.bytes);
  return Reply::done();
}

Reply HokuyoScip::take_parameters(const Head& head, const Frame& frame) {
  const Reply reply = take_info(head, frame);
  if (reply.kind != Reply::Kind::done) return reply;
  if (!knows_geometry_) {
    return Reply::refused(hal::Text<96>::of("its steps and speed make no sense"));
  }
  plan_routines();
  return reply;
}

Reply HokuyoScip::take_state(const Head& head, const Frame& frame) {
  if (head.has(Body::info)) learn(head, frame.bytes);
  return Reply::done();
}

// 02: it is adjusting already.
Reply HokuyoScip::take_adjusting(const Head& head, const Frame&) {
  is_adjusting_ = head.status == "00" || head.status == "02";
  return Reply::done();
}

bool HokuyoScip::ask_time(Request& request) {
  asked_at_ = request.now();
  return say_if<"TM1\n", &HokuyoScip::is_adjusting_>(request);
}

Reply HokuyoScip::take_time(const Head& head, const Frame& frame) {
  if (!head.has(Body::time)) return Reply::done();
  const unsigned ms = number_at<4>(&frame.bytes[head.size]);
  two_way_.exchange(std::chrono::milliseconds(ms), asked_at_, frame.first_at);
  return ++exchanges_ < kExchanges ? Reply::again() : Reply::done();
}

// A round that was not answered to its end counts no further in the next.
bool HokuyoScip::ask_state_again(Request& request) {
  if (request.now() - asked_at_ > kAskAgain / 2) exchanges_ = 0;
  asked_at_ = request.now();
  told_time_.reset();
  return say_if<"II\n", &HokuyoScip::synchronises_>(request);
}

Reply HokuyoScip::take_state_again(const Head& head, const Frame& frame) {
  take_state(head, frame);
  if (told_time_) two_way_.exchange(*told_time_, asked_at_, frame.first_at);
  return ++exchanges_ < kExchangesAgain ? Reply::again() : Reply::done();
}

// A stream turns it on by itself.
Reply HokuyoScip::take_laser(const Head& head, const Frame&) {
  if (head.status == "00" || head.status == "02") return Reply::done();
  if (head.status != "01") return refusal(head.status);
  needs_reset_ = true;
  return Reply::refused(hal::Text<96>::of("status 01, the laser does not light"));
}

bool HokuyoScip::ask_stream(Request& request) {
  if (polls_) return false;
  const hal::Text<24> range = scan_range();
  request.text(hal::Text<24>::of("%s%d00\n", range.c_str(), skip_).view());
  return true;
}

bool HokuyoScip::ask_scan(Request& request) {
  request.text(scan_range().view()).text("\n");
  return true;
}

hal::Text<24> HokuyoScip::scan_range() const {
  return hal::Text<24>::of("%.2s%04d%04d%02d", mode_.name.data(), geometry_.first, geometry_.last,
                           group_);
}

// The newest scan, the reply to the start of a stream, or where that got lost what follows it.
Reply HokuyoScip::take_scan(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  if (!head.is(mode_.name)) return Reply::not_mine();
  if (head.has_scan()) return Reply::measured();
  return head.status == "00" ? Reply::done() : refusal(head.status);
}

}  // namespace drivers
