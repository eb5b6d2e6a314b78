#include "hal/port_spec.h"

#include <charconv>
#include <optional>

#include "hal/socket.h"

namespace hal {
namespace {

Error wrong(std::string_view text, const char* what) {
  return {Errc::bad_config, 0, "port",
          Text<192>::of("\"%.*s\": %s", static_cast<int>(text.size()), text.data(), what)};
}

constexpr const char* kForms = "expected serial:PATH, udp:[BIND:]PORT or tcp:HOST:PORT";

std::optional<std::uint16_t> number(std::string_view text) {
  std::uint16_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, ec] = std::from_chars(text.data(), end, value);
  if (ec != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text) {
  HostPort result;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    const std::optional<std::uint16_t> port = number(text.substr(colon + 1));
    if (!port || *port == 0) return wrong(text, "the port must be 1 to 65535");
    result.port = *port;
  }
  result.host = text.substr(0, colon);
  if (result.host.empty()) return wrong(text, "expected HOST or HOST:PORT");
  const Result<sockaddr_in> address = ipv4(result.host, 0);
  if (!address) return address.error();
  return result;
}

Result<PortSpec> parse_port_spec(std::string_view text) {
  PortSpec spec;
  std::string_view rest = text;
  if (take_prefix(rest, "serial:")) {
    spec.path = rest;
    if (!rest.starts_with('/')) return wrong(text, "expected serial:/dev/..., an absolute path");
    return spec;
  }
  const bool udp = take_prefix(rest, "udp:");
  if (!udp && !take_prefix(rest, "tcp:")) return wrong(text, kForms);
  spec.kind = udp ? PortSpec::Kind::udp : PortSpec::Kind::tcp;
  if (const std::size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
    spec.host = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
  }
  const std::optional<std::uint16_t> port = number(rest);
  if (!port)
    return wrong(text, udp ? "the port must be 0 to 65535" : "the port must be 1 to 65535");
  spec.port = *port;
  if (udp) {
    const Result<sockaddr_in> address = ipv4(spec.host, 0);
    return address ? Result<PortSpec>(spec) : address.error();
  }
  if (spec.host.empty()) return wrong(text, "expected tcp:HOST:PORT");
  if (spec.port == 0) return wrong(text, "the port must be 1 to 65535");
  const Result<sockaddr_in> address = ipv4(spec.host, 0);
  return address ? Result<PortSpec>(spec) : address.error();
}

Address to_address(const HostPort& text) {
  const Result<sockaddr_in> address = ipv4(text.host, text.port);
  return address ? to_address(*address) : Address{};
}

std::string to_string(const PortSpec& spec) {
  if (spec.kind == PortSpec::Kind::serial) return "serial:" + spec.path;
  const std::string host = spec.host.empty() ? "" : spec.host + ":";
  return (spec.kind == PortSpec::Kind::udp ? "udp:" : "tcp:") + host + std::to_string(spec.port);
}

}  // namespace hal
