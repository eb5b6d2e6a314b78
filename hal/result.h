// Errors are values. Nothing here allocates.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "hal/text.h"

namespace hal {

enum class Errc : std::uint8_t {
  io,          // the system refused: see `sys`
  not_found,   // no such path or address
  permission,  // it is there, but not for us
  busy,        // somebody else holds it
  closed,      // hang-up, unplugged, reset by the peer
  timeout,
  bad_config,  // can never work as configured
  no_space,    // full; a part may have been written
  unsupported,
};

// `where` names the failing step ("serial: open") and must be a string literal. `detail` names the
// thing, the cause and the remedy: the path, who holds it, which group or rule is missing.
struct Error {
  Errc code = Errc::io;
  int sys = 0;  // errno, or 0
  const char* where = "";
  Text<192> detail{};
};

// For people: the detail, or else the step and what errno means.
Text<192> in_words(const Error&);

template <class T = std::monostate>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}
  Result(const Error& error) : v_(std::in_place_index<1>, error) {}

  explicit operator bool() const { return v_.index() == 0; }
  T& operator*() { return std::get<0>(v_); }
  const T& operator*() const { return std::get<0>(v_); }
  T* operator->() { return &std::get<0>(v_); }
  const T* operator->() const { return &std::get<0>(v_); }
  const Error& error() const { return std::get<1>(v_); }

 private:
  std::variant<T, Error> v_;
};

using Status = Result<>;
inline constexpr std::monostate ok{};

}  // namespace hal
