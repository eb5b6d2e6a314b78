#include "test/sim/pepperl_http.h"

#include <cstdlib>

#include "test/sim/wire.h"

namespace sim::pepperl_fuchs {
namespace {

constexpr std::size_t kLongestRequest = 4096;
constexpr hal::Duration kBetweenSegments = std::chrono::milliseconds(5);
constexpr std::string_view kCommands = "/cmd/";
constexpr std::string_view kEnd = "\r\n\r\n";

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      plain +=
          static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else {
      plain += text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

Request parse(std::string_view head) {
  Request request;
  const std::string_view line = head.substr(0, head.find("\r\n"));
  if (!line.starts_with("GET ")) return request;
  std::string_view target = line.substr(4, line.find(' ', 4) - 4);
  if (!target.starts_with(kCommands)) return request;
  target.remove_prefix(kCommands.size());
  const std::size_t question = target.find('?');
  request.is_command = true;
  request.name = target.substr(0, question);
  if (question == std::string_view::npos) return request;
  for (std::string_view rest = target.substr(question + 1); !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(pair.size() < rest.size() ? pair.size() + 1 : rest.size());
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    request.arguments[unescaped(pair.substr(0, equals))] = unescaped(pair.substr(equals + 1));
  }
  return request;
}

std::string quoted(const std::string& text) { return '"' + text + '"'; }

}  // namespace

void RequestReader::feed(hal::Bytes bytes) {
  std::string more;
  for (const std::byte b : bytes) more += static_cast<char>(b);
  if (more.starts_with("GET /")) text_.clear();
  text_ += more;
  if (text_.size() > kLongestRequest) text_.clear();
}

bool RequestReader::next(Request& request) {
  const std::size_t end = text_.find(kEnd);
  if (end == std::string::npos) return false;
  request = parse(std::string_view(text_).substr(0, end));
  text_.erase(0, end + kEnd.size());
  return true;
}

Json& Json::raw(const std::string& name, const std::string& value) {
  members_ += quoted(name) + ":" + value + ",\r\n";
  return *this;
}

Json& Json::text(const std::string& name, const std::string& value) {
  return raw(name, quoted(value));
}

Json& Json::number(const std::string& name, const std::string& value) {
  return raw(name, quotes_ ? quoted(value) : value);
}

Json& Json::list(const std::string& name, const std::vector<std::string>& values) {
  std::string all;
  for (const std::string& value : values) all += (all.empty() ? "" : ",\r\n") + quoted(value);
  return raw(name, "[\r\n" + all + "\r\n]");
}

std::string Json::finish(int code, const std::string& error) {
  number("error_code", std::to_string(code));
  return "{\r\n" + members_ + quoted("error_text") + ":" + quoted(error) + "\r\n}\r\n";
}

void answer(int status, const std::string& body, Writing writing, hal::Time now, Output& out) {
  std::string head = status == 200 ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 404 Not Found\r\n";
  head += "Content-Type: text/plain\r\nCache-Control: no-cache\r\nConnection: close\r\n";
  if (writing != Writing::no_length)
    head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  head += "\r\n";
  const std::string all = head + body;
  const std::size_t cut = writing == Writing::split ? head.size() + body.size() / 2 : 0;
  ByteVector first, last;
  put_text(first, std::string_view(all).substr(0, cut));
  put_text(last, std::string_view(all).substr(cut));
  if (!first.empty()) out.send(now, std::move(first), {Channel::control, {}, false});
  out.send(cut == 0 ? now : now + kBetweenSegments, std::move(last), {Channel::control, {}, true});
}

}  // namespace sim::pepperl_fuchs
