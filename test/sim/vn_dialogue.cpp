#include "test/sim/vn_dialogue.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace sim::vectornav {
namespace {

constexpr unsigned kBauds[] = {9600,    19'200,  38'400,  57'600, 115'200,
                               128'000, 230'400, 460'800, 921'600};
constexpr unsigned kRates[] = {1, 2, 4, 5, 10, 20, 25, 40, 50, 100, 200};
constexpr unsigned kLine = 5, kType = 6, kRate = 7, kFirstOutput = 75, kProtocol = 30;

std::string printed(const char* format, unsigned value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// All of a text as a number; empty where it is none.
std::optional<unsigned> number_in(const std::string& text, int base = 10) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text.c_str(), &end, base);
  if (*end != '\0' || text[0] == '-') return std::nullopt;
  return static_cast<unsigned>(value);
}

template <std::size_t N>
bool is_one_of(const unsigned (&all)[N], unsigned value) {
  return std::find(std::begin(all), std::end(all), value) != std::end(all);
}

std::size_t fields_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1;
}

}  // namespace

Dialogue::Dialogue(unsigned base_hz, bool has_satellites, const Memory& factory)
    : base_hz_(base_hz), has_satellites_(has_satellites), factory_(factory), saved_(factory) {}

void Dialogue::power_up() {
  now_ = saved_;
  is_paused_ = false;
}

Dialogue::Answer Dialogue::answer(const Command& command, const Sample& now) {
  Answer answer;
  std::string body;
  Error error = kDamaged;
  if (!command.is_damaged) error = handle(command, now, answer, body);
  if (error != kNone) body = printed("VNERR,%02X", error);
  answer.line = line_of(body, command.check);
  return answer;
}

Dialogue::Error Dialogue::handle(const Command& command, const Sample& now, Answer& answer,
                                 std::string& body) {
  const Fields& f = command.fields;
  const std::string& word = f[0];
  for (const std::string& field : f) body += body.empty() ? field : "," + field;
  if (word == "VNRRG") return read(f, now, body);
  if (word == "VNWRG") return write(f);
  if (word == "VNASY") {
    if (f.size() != 2) return f.size() < 2 ? kTooFew : kTooMany;
    if (f[1] != "0" && f[1] != "1") return kInvalid;
    is_paused_ = f[1] == "0";
    return kNone;
  }
  if (word == "VNWNV") {
    saved_ = now_;
    answer.saves = true;
    return kNone;
  }
  if (word == "VNRFS") saved_ = factory_;
  if (word == "VNRFS" || word == "VNRST") {
    answer.restarts = true;
    return kNone;
  }
  return word == "VNTAR" || word == "VNSGB" ? kNone : kUnknown;
}

Dialogue::Error Dialogue::read(const Fields& fields, const Sample& now, std::string& body) const {
  if (fields.size() < 2) return kTooFew;
  if (fields.size() > 3) return kTooMany;  // the third: of which port
  const auto number = number_in(fields[1]);
  if (!number) return kInvalid;
  const std::string value = value_of(*number, now);
  if (value.empty()) return kNoRegister;
  body = "VNRRG," + printed("%02u", *number) + "," + value;
  return kNone;
}

std::string Dialogue::value_of(unsigned number, const Sample& now) const {
  if (number == kLine) return printed("%u", now_.baud);
  if (number == kType) return printed("%u", now_.async_type);
  if (number == kRate) return printed("%u", now_.async_hz);
  if (number >= kFirstOutput && number < kFirstOutput + 3) {
    const Output& output = now_.outputs[number - kFirstOutput];
    std::string text = printed("%u", output.ports) + printed(",%u", output.divisor) +
                       printed(",%02X", output.content.groups);
    for (unsigned g = 0; g < kGroups; ++g)
      if ((output.content.groups >> g & 1) != 0) text += printed(",%04X", output.content.types[g]);
    return text;
  }
  const auto text = now_.texts.find(number);
  if (text != now_.texts.end()) return text->second;
  return measured_register(number, now);
}

// Nothing of what is refused is kept.
Dialogue::Error Dialogue::write(const Fields& fields) {
  if (fields.size() < 3) return kTooFew;
  const auto number = number_in(fields[1]);
  if (!number) return kInvalid;
  Memory wanted = now_;
  const auto first = number_in(fields[2]);
  if (*number == kLine || *number == kType || *number == kRate) {
    if (fields.size() > 4) return kTooMany;  // the fourth: of which port
    if (!first) return kInvalid;
    if (*number == kLine && !is_one_of(kBauds, *first)) return kInvalid;
    if (*number == kType && *first != 0 && message_of(*first, {}).empty()) return kInvalid;
    if (*number == kRate && !is_one_of(kRates, *first)) return kInvalid;
    (*number == kLine   ? wanted.baud
     : *number == kType ? wanted.async_type
                        : wanted.async_hz) = *first;
  } else if (*number >= kFirstOutput && *number < kFirstOutput + 3) {
    const Error error = write_output(wanted.outputs[*number - kFirstOutput], fields);
    if (error != kNone) return error;
  } else {
    const auto text = wanted.texts.find(*number);
    if (text == wanted.texts.end()) return kNoRegister;
    if (*number >= 1 && *number <= 4) return kInvalid;  // who it is
    const std::size_t known = fields_in(text->second);
    if (fields.size() - 2 != known) return fields.size() - 2 < known ? kTooFew : kTooMany;
    text->second.clear();
    for (std::size_t i = 2; i < fields.size(); ++i) text->second += (i > 2 ? "," : "") + fields[i];
  }
  if (!fits(wanted)) return kTooSlow;
  now_ = wanted;
  return kNone;
}

Dialogue::Error Dialogue::write_output(Output& output, const Fields& fields) const {
  if (fields.size() < 5) return kTooFew;
  const auto ports = number_in(fields[2]), divisor = number_in(fields[3]),
             groups = number_in(fields[4], 16);
  if (!ports || !divisor || !groups || *ports > 3 || *groups > 0x7F) return kInvalid;
  if (*ports != 0 && (*divisor == 0 || *divisor > base_hz_)) return kInvalid;
  Output wanted{*ports, *divisor, {*groups, {}}};
  std::size_t at = 5;
  for (unsigned g = 0; g < kGroups; ++g) {
    if ((*groups >> g & 1) == 0) continue;
    if (at == fields.size()) return kTooFew;
    const auto type = number_in(fields[at++], 16);
    if (!type || *type > 0x7FFF) return kInvalid;
    wanted.content.types[g] = *type;
  }
  if (at < fields.size()) return kTooMany;
  if (!has_satellites_ && (*groups & 0x68) != 0) return kInvalid;
  const auto size = frame_size(wanted.content);
  if (!size || *size > 600) return kInvalid;
  output = wanted;
  return kNone;
}

// What is to be sent must go through the line; by the first port only.
bool Dialogue::fits(const Memory& memory) const {
  double bytes = 0.0;
  for (const Output& output : memory.outputs) {
    if ((output.ports & 1) == 0 || output.content.groups == 0) continue;
    bytes +=
        static_cast<double>(frame_size(output.content).value_or(0)) * base_hz_ / output.divisor;
  }
  bytes += static_cast<double>(message_of(memory.async_type, {}).size() + 6) * memory.async_hz;
  return bytes * 10.0 <= memory.baud;
}

std::string Dialogue::setting(std::size_t field) const {
  const std::string& text = now_.texts.at(kProtocol);
  std::size_t from = 0;
  for (; field > 0; --field) from = text.find(',', from) + 1;
  return text.substr(from, text.find(',', from) - from);
}

std::string Dialogue::message_line(std::string body) const {
  if (setting(0) != "0") body += ",T0000000000";
  if (setting(1) != "0") body += ",S0000";
  return line_of(body, setting(4) == "3" ? Check::crc16 : Check::xor8);
}

}  // namespace sim::vectornav
