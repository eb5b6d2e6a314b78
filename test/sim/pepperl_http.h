// The commands of a Pepperl+Fuchs lidar: HTTP requests in, answers in JSON out.
//
// GET /cmd/NAME?key=value&key=value. The answer is an object of the results, then error_code and
// error_text; the connection ends behind it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "test/sim/device_model.h"

namespace sim::pepperl_fuchs {

struct Request {
  bool is_command = false;  // something below /cmd/ that is fetched; else it is not found
  std::string name;
  std::map<std::string, std::string> arguments;

  bool has(const char* key) const { return arguments.contains(key); }
  std::string get(const char* key) const { return has(key) ? arguments.at(key) : std::string(); }
};

// Requests in any portions. A request begins with its method: what a connection that broke off left
// unfinished is forgotten then.
class RequestReader {
 public:
  void clear() { text_.clear(); }
  void feed(hal::Bytes bytes);
  bool next(Request& request);

 private:
  std::string text_;
};

// One object, its members in the order in which they were added.
class Json {
 public:
  explicit Json(bool numbers_as_strings) : quotes_(numbers_as_strings) {}

  Json& text(const std::string& name, const std::string& value);
  Json& number(const std::string& name, const std::string& value);
  Json& list(const std::string& name, const std::vector<std::string>& values);
  Json& raw(const std::string& name, const std::string& value);
  std::string finish(int code, const std::string& error);

 private:
  bool quotes_;
  std::string members_;
};

// How answers are written: some devices send two segments, some leave the length out.
enum class Writing : std::uint8_t { whole, split, no_length };

void answer(int status, const std::string& body, Writing writing, hal::Time now, Output& out);

}  // namespace sim::pepperl_fuchs
