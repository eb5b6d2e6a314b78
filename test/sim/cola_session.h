// What every simulated CoLa device does alike: dialects, login, and the questions who it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "test/sim/cola_wire.h"

namespace sim::cola {

// Strict devices understand the dialect that they are set to; others answer in that of the
// question.
enum class Spoken : std::uint8_t { ascii, binary, both };

// From the words "a", "b" and "both".
Spoken spoken_of(const std::string& word);

struct Identity {
  std::string name, version, serial, location;
  std::uint32_t operating_tenths_h = 1195, power_cycles = 99;
  std::uint32_t client_hash = 0xF4724744;  // password of user level 3
};

class Session {
 public:
  Session(Spoken spoken, Identity identity);

  // The power came back: logged out, the dialect as it was delivered.
  void restart();
  void feed(hal::Bytes bytes) { reader_.feed(bytes); }
  // The next request in a dialect that is understood; others are met with silence.
  std::optional<Request> next();

  // The answer to SetAccessMode, EIHstCola, DeviceIdent, SerialNumber, FirmwareVersion, ODoprh,
  // ODpwrc and LocationName; none when the request is the device's own affair.
  std::optional<ByteVector> answer(Request& request);

  // 0 = nobody is logged in, else 2 maintenance, 3 authorised client, 4 service.
  int level() const { return level_; }
  void log_out() { level_ = 0; }
  void refuse_login(bool refuse) { refuses_login_ = refuse; }

  // The dialect in which the device talks unasked after EIHstCola; none when it was not sent.
  std::optional<Dialect> chosen() const { return chosen_; }

  const Identity& identity() const { return identity_; }

 private:
  ByteVector log_in(Request& request);
  ByteVector choose_dialect(Request& request);

  const Spoken delivered_;
  const Identity identity_;
  Spoken spoken_;
  Reader reader_;
  int level_ = 0;
  bool refuses_login_ = false;
  std::optional<Dialect> chosen_;
};

}  // namespace sim::cola
