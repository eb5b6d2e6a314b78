// What is said to an R2000 or R2300, by HTTP.
#include <algorithm>
#include <cmath>

#include "drivers/http_text.h"
#include "drivers/pepperl_fuchs/pepperl_fuchs.h"

namespace drivers {
namespace {

using namespace std::chrono_literals;

int shown(std::string_view text) {
  return static_cast<int>(std::min<std::size_t>(text.size(), 60));
}

// A handle is put into requests as it is.
bool is_handle(std::string_view text, std::size_t most) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  };
  return !text.empty() && text.size() < most && std::ranges::all_of(text, plain);
}

Request& begin(Request& request, const char* command) {
  return request.to(Channel::control).reopen().text("GET /cmd/").text(command);
}
bool end(Request& request) { return request.text(" HTTP/1.0\r\n\r\n"), true; }

const char* remedy(int code) {
  switch (code) {
    case 110:
    case 200:
    case 210:
      return " (see the model's manual for what it knows)";
    case 240:
      return " (others, or we before, hold its handles: they end with their watchdogs)";
    default:
      return "";
  }
}

}  // namespace

std::span<const Step<PepperlFuchs>> PepperlFuchs::start_script() {
  using P = PepperlFuchs;
  static constexpr std::array<Step<P>, 9> kSteps{{
      {"get protocol", &P::ask_protocol, &P::take_protocol, 1s, 2},
      {"get parameters", &P::ask_parameters, &P::take_parameters, 1s, 2},
      {"set samples_per_scan", &P::set_samples_first, &P::done, 1s, 2},
      {"set scan_frequency", &P::set_frequency, &P::done, 1s, 2},
      {"set samples_per_scan", &P::set_samples_then, &P::done, 1s, 2},
      {"read settings back", &P::ask_settings, &P::take_settings, 1s, 2},
      {"request handle", &P::ask_handle, &P::take_handle, 1s},
      {"connect", &P::connect, nullptr, 100ms},
      {"start output", &P::start_output, &P::done, 1s, 2},
  }};
  return kSteps;
}

std::span<const Step<PepperlFuchs>> PepperlFuchs::stop_script() {
  using P = PepperlFuchs;
  static constexpr std::array<Step<P>, 2> kSteps{{
      {"stop output", &P::stop_output, &P::done, 150ms, 1, IfUnanswered::go_on},
      {"release handle", &P::release, &P::done, 150ms, 1, IfUnanswered::go_on},
  }};
  return kSteps;
}

PepperlFuchs::Answer PepperlFuchs::answer(const Frame& frame) {
  if (frame.channel != Channel::control) return {};
  const auto refused = [](const hal::Text<96>& why) { return Answer{{}, Reply::refused(why)}; };
  const auto reply = read_http(frame.bytes);
  if (!reply) return refused(hal::Text<96>::of("not an answer by HTTP"));
  if (reply->status != 200) {
    return refused(hal::Text<96>::of("HTTP %d %.*s: is this a Pepperl+Fuchs lidar?", reply->status,
                                     shown(reply->reason), reply->reason.data()));
  }
  const JsonText json(reply->body);
  const auto code = json.number("error_code");
  if (!code) return refused(hal::Text<96>::of("no error_code: is this a Pepperl+Fuchs lidar?"));
  if (*code == 0) return {json, Reply::done()};
  const std::string_view text = json.find("error_text").value_or("");
  return refused(hal::Text<96>::of("error %g: %.*s%s", *code, shown(text), text.data(),
                                   remedy(static_cast<int>(std::clamp(*code, 0.0, 1e6)))));
}

Reply PepperlFuchs::done(const Frame& frame) { return answer(frame).otherwise; }

bool PepperlFuchs::ask_protocol(Request& r) { return end(begin(r, "get_protocol_info")); }

Reply PepperlFuchs::take_protocol(const Frame& frame) {
  const Answer got = answer(frame);
  if (!got.json) return got.otherwise;
  const std::string_view name = got.json->find("protocol_name").value_or("none");
  if (name == "pfsdp") return Reply::done();
  return Reply::refused(hal::Text<96>::of("its protocol is %.*s, not pfsdp: another device?",
                                          shown(name), name.data()));
}

bool PepperlFuchs::ask_parameters(Request& r) {
  return end(begin(r,
                   "get_parameter?list=product;serial;device_family;scan_frequency;"
                   "samples_per_scan"));
}

Reply PepperlFuchs::take_parameters(const Frame& frame) {
  const Answer got = answer(frame);
  if (!got.json) return got.otherwise;
  const auto text = [&](const char* key) { return got.json->find(key).value_or("?"); };
  const std::string_view product = text("product"), serial = text("serial");
  product_.print("%.*s", shown(product), product.data());
  serial_.print("%.*s", shown(serial), serial.data());
  const double family = got.json->number("device_family").value_or(0);
  family_ = static_cast<int>(std::clamp(family, 0.0, 1000.0));
  device_hz_ = got.json->number("scan_frequency").value_or(0);
  device_samples_ = got.json->number("samples_per_scan").value_or(0);
  if (samples_ == 0 && device_samples_ > kUsualSamples) {
    return Reply::refused(
        hal::Text<96>::of("it measures %g points a turn: there is room for them "
                          "with samples_per_scan",
                          device_samples_));
  }
  return Reply::done();
}

// Turns that are a little off are the device's rounding; another number of samples is not.
bool PepperlFuchs::is_set(double wanted, double now) const {
  return wanted == 0 || std::abs(wanted - now) <= 0.01 * wanted;
}

bool PepperlFuchs::set(Request& r, const char* name, double value) {
  begin(r, "set_parameter?").text(name).text(hal::Text<24>::of("=%g", value).view());
  return end(r);
}

// Their product is limited: what makes it smaller is set first.
bool PepperlFuchs::set_samples_first(Request& r) {
  if (samples_ == 0 || samples_ >= device_samples_) return false;
  return set(r, "samples_per_scan", samples_);
}

bool PepperlFuchs::set_frequency(Request& r) {
  return !is_set(frequency_hz_, device_hz_) && set(r, "scan_frequency", frequency_hz_);
}

bool PepperlFuchs::set_samples_then(Request& r) {
  return samples_ > device_samples_ && set(r, "samples_per_scan", samples_);
}

bool PepperlFuchs::ask_settings(Request& r) {
  if (frequency_hz_ == 0 && samples_ == 0) return false;
  return end(begin(r, "get_parameter?list=scan_frequency;samples_per_scan"));
}

Reply PepperlFuchs::take_settings(const Frame& frame) {
  const Answer got = answer(frame);
  if (!got.json) return got.otherwise;
  device_hz_ = got.json->number("scan_frequency").value_or(0);
  device_samples_ = got.json->number("samples_per_scan").value_or(0);
  if (!is_set(frequency_hz_, device_hz_)) {
    return Reply::refused(
        hal::Text<96>::of("scan_frequency %g was asked, it keeps %g Hz: choose "
                          "what it knows",
                          frequency_hz_, device_hz_));
  }
  if (samples_ != 0 && samples_ != device_samples_) {
    return Reply::refused(
        hal::Text<96>::of("samples_per_scan %d was asked, it keeps %g: choose "
                          "what it knows",
                          samples_, device_samples_));
  }
  return Reply::done();
}

bool PepperlFuchs::ask_handle(Request& r) {
  const unsigned port = r.own().port(Channel::data);
  const bool is_udp = port != 0;
  begin(r, is_udp ? "request_handle_udp?" : "request_handle_tcp?");
  if (is_udp) {
    r.text("address=").text(r.own().host().view());
    r.text(hal::Text<16>::of("&port=%u&", port).view());
  }
  const bool is_r2300 = family_ == 5 || family_ == 7;
  const char* const usual = is_r2300 ? "C1" : "C";
  r.text("packet_type=").text(packet_type_ == "auto" ? usual : packet_type_.c_str());
  r.text(hal::Text<48>::of("&watchdog=on&watchdogtimeout=%d", watchdog_ms_).view());
  data_port_ = is_udp ? 0 : 1;  // until it is told
  return end(r);
}

Reply PepperlFuchs::take_handle(const Frame& frame) {
  const Answer got = answer(frame);
  if (!got.json) return got.otherwise;
  const std::string_view handle = got.json->find("handle").value_or("");
  if (!is_handle(handle, kMostHandle)) {
    return Reply::refused(
        hal::Text<96>::of("its handle makes no sense: '%.*s'", shown(handle), handle.data()));
  }
  handle_.print("%.*s", shown(handle), handle.data());
  if (data_port_ == 0) return Reply::done();
  const double port = got.json->number("port").value_or(0);
  if (port < 1 || port > 65535) {
    return Reply::refused(hal::Text<96>::of("it offers no port for its data"));
  }
  data_port_ = static_cast<std::uint16_t>(port);
  return Reply::done();
}

bool PepperlFuchs::connect(Request& r) { return r.reopen_at(data_port_), data_port_ != 0; }

bool PepperlFuchs::with_handle(Request& r, const char* command) {
  if (handle_.empty()) return false;
  begin(r, command).text("?handle=").text(handle_.view());
  return end(r);
}

bool PepperlFuchs::start_output(Request& r) { return with_handle(r, "start_scanoutput"); }
bool PepperlFuchs::feed(Request& r) { return with_handle(r, "feed_watchdog"); }
bool PepperlFuchs::stop_output(Request& r) { return with_handle(r, "stop_scanoutput"); }
bool PepperlFuchs::release(Request& r) { return with_handle(r, "release_handle"); }

}  // namespace drivers
