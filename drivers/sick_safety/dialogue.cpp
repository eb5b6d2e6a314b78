// What is said to a safety scanner that is not set up yet.
#include <algorithm>

#include "drivers/cola.h"
#include "drivers/sick_safety/sick_safety.h"

namespace drivers {

using namespace std::chrono_literals;
using Answer = cola2::Session::Answer::Kind;

namespace {

constexpr unsigned kSerial = 3, kTypeCode = 13;
constexpr unsigned kSetOutput = 0xB0;
constexpr unsigned kBlocks = 1 | 2 | 4;  // state, derived values, measurement

// A text behind its length.
std::string_view text_in(Bytes data) {
  if (data.size() < 2) return {};
  const Bytes text = data.subspan(2, std::min<std::size_t>(data.size() - 2, wire::u16(data, 0)));
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

hal::Text<32> told(std::string_view text) {
  text = text.substr(0, std::min<std::size_t>(text.find('\0'), 31));
  return plain(hal::Text<32>::of("%.*s", static_cast<int>(text.size()), text.data()));
}

// "MICS3-CBAZ40ZA1P01": the letters of the interface are the 13th and 14th.
unsigned interface_of(std::string_view type_code) {
  const std::string_view letters = type_code.size() >= 14 ? type_code.substr(12, 2) : "";
  if (letters == "IZ") return 1;
  if (letters == "PZ" || letters == "LZ") return 3;
  return letters == "AN" ? 4 : 0;
}

}  // namespace

std::span<const Step<SickSafety>> SickSafety::start_script() {
  using S = SickSafety;
  constexpr auto fail = IfUnanswered::fail, go_on = IfUnanswered::go_on;
  static constexpr std::array kSteps{
      Step<S>{"open session", &S::open_session, &S::take_session, 1s, 2, fail},
      Step<S>{"get type code", &S::ask<kTypeCode>, &S::take_type_code, 500ms, 2, go_on},
      Step<S>{"get serial number", &S::ask<kSerial>, &S::take_serial, 500ms, 2, go_on},
      Step<S>{"set data output", &S::set_output, &S::take_output, 1s, 2, fail},
      Step<S>{"close session", &S::close_session, &S::take_closed, 300ms, 2, go_on},
  };
  return kSteps;
}

// Its data need no stop: they are what a safety scanner is set up to send.
std::span<const Step<SickSafety>> SickSafety::stop_script() {
  static constexpr std::array kSteps{Step<SickSafety>{"close session", &SickSafety::close_session,
                                                      &SickSafety::take_closed, 150ms, 1,
                                                      IfUnanswered::go_on}};
  return kSteps;
}

bool SickSafety::open_session(Request& request) {
  if (!request.own().has(Channel::control)) return false;
  session_.open(request);
  return true;
}

namespace {

Reply done_or_refused(const cola2::Session::Answer& answer) {
  switch (answer.kind) {
    case Answer::other:
      return Reply::not_mine();
    case Answer::answered:
      return Reply::done();
    case Answer::error:
      return Reply::refused(cola::words_for(answer.error));
  }
  return Reply::not_mine();
}

}  // namespace

Reply SickSafety::take_session(const Frame& frame) { return done_or_refused(session_.take(frame)); }

template <unsigned kVariable>
bool SickSafety::ask(Request& request) {
  if (session_.is_open()) session_.read(request, kVariable);
  return session_.is_open();
}

// What it does not tell it can do without.
Reply SickSafety::take_type_code(const Frame& frame) {
  const auto answer = session_.take(frame);
  if (answer.kind == Answer::other) return Reply::not_mine();
  const std::string_view code = text_in(answer.data);
  told_interface_ = interface_of(code);
  type_code_ = told(code);
  describe();
  return Reply::done();
}

Reply SickSafety::take_serial(const Frame& frame) {
  const auto answer = session_.take(frame);
  if (answer.kind == Answer::other) return Reply::not_mine();
  serial_ = told(text_in(answer.data));
  describe();
  return Reply::done();
}

bool SickSafety::set_output(Request& request) {
  if (!session_.is_open()) return false;
  const OwnEnd& own = request.own();
  const bool all = first_ == last_;
  Request arguments;
  arguments.u32(channel_ < 0 ? 0 : static_cast<unsigned>(channel_)).u8(1);
  arguments.u8(interface_ < 0 ? told_interface_ : static_cast<unsigned>(interface_)).u16(0);
  for (std::size_t i = own.ip.size(); i-- > 0;) arguments.u8(own.ip[i]);
  arguments.u16(own.port(Channel::data)).u16(divider_);
  arguments.u32(all ? 0 : static_cast<std::uint32_t>(first_));
  arguments.u32(all ? 0 : static_cast<std::uint32_t>(last_));
  arguments.u16(kBlocks).u16(0);
  session_.call(request, kSetOutput, arguments.view());
  return true;
}

Reply SickSafety::take_output(const Frame& frame) { return done_or_refused(session_.take(frame)); }

bool SickSafety::close_session(Request& request) {
  if (session_.is_open()) session_.close(request);
  return session_.is_open();
}

Reply SickSafety::take_closed(const Frame& frame) {
  const auto answer = session_.take(frame);
  return answer.kind == Answer::other ? Reply::not_mine() : Reply::done();
}

void SickSafety::describe() {
  about_.print("%s%sserial number %s", type_code_.c_str(), type_code_.empty() ? "" : ", ",
               serial_.empty() ? "unknown" : serial_.c_str());
}

}  // namespace drivers
