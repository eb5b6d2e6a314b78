// SCIP replies as the protocol's description has them.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/stream.h"

namespace test::scip {

inline char check(std::string_view line) {
  unsigned sum = 0;
  for (const char c : line) sum += static_cast<unsigned>(c);
  return static_cast<char>((sum & 63) + '0');
}
inline std::string checked(const std::string& line) { return line + check(line) + "\n"; }

inline std::string number(unsigned value, int characters) {
  std::string out;
  for (int i = characters - 1; i >= 0; --i) out += static_cast<char>((value >> 6 * i & 63) + '0');
  return out;
}

inline Stream bytes(std::string_view text) {
  const auto* const data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

inline std::string reply(const std::string& echo, const std::string& status,
                         const std::string& body = "") {
  return echo + "\n" + checked(status) + body + "\n";
}

// "KEY:VALUE" lines.
inline std::string info(const std::string& symbol, const std::vector<std::string>& lines) {
  std::string body;
  for (const std::string& line : lines) body += line + ";" + check(line) + "\n";
  return reply(symbol, "00", body);
}

// Data in lines of 64 characters.
inline std::string lines(const std::string& data) {
  std::string out;
  for (std::size_t at = 0; at < data.size(); at += 64) out += checked(data.substr(at, 64));
  return out;
}

// `values`: numbers of `characters` each.
inline std::string scan(const std::string& echo, unsigned ms, const std::vector<unsigned>& values,
                        int characters = 3) {
  std::string data;
  for (const unsigned v : values) data += number(v, characters);
  return reply(echo, echo[0] == 'M' ? "99" : "00", checked(number(ms, 4)) + lines(data));
}

inline std::string parameters(int ares, int amin, int amax, int afrt, int rpm, int dmin, int dmax,
                              const std::string& model = "URG-04LX-UG01(Simple-URG)") {
  const auto n = [](const char* key, int v) { return std::string(key) + ":" + std::to_string(v); };
  return info("PP", {"MODL:" + model, n("DMIN", dmin), n("DMAX", dmax), n("ARES", ares),
                     n("AMIN", amin), n("AMAX", amax), n("AFRT", afrt), n("SCAN", rpm)});
}

// A URG-04LX-UG01.
inline const std::string kUrgVersion =
    "VV\n00P\nVEND:Hokuyo Automatic Co.,Ltd.;[\nPROD:SOKUIKI Sensor URG-04LX-UG01(Simple-URG);[\n"
    "FIRM:3.4.03(17/Dec./2012);T\nPROT:SCIP 2.0;N\nSERI:H1510998;V\n\n";
inline std::string urg_parameters() { return parameters(1024, 44, 725, 384, 600, 20, 5600); }

}  // namespace test::scip
