#include "drivers/hokuyo_scip/scip_text.h"

#include <algorithm>

#include "drivers/wire.h"

namespace drivers {
namespace scip {
namespace {

constexpr std::size_t kMostInfo = 1024, kMostRemark = 17, kMostHead = 48;

// Streams first: they are looked for most.
constexpr std::array kSymbols{
    Symbol{"MD", 13, Body::streamed, 3},
    Symbol{"MS", 13, Body::streamed, 2},
    Symbol{"ME", 13, Body::streamed, 6},
    Symbol{"ND", 13, Body::streamed, 3, true},
    Symbol{"NE", 13, Body::streamed, 6, true},
    Symbol{"GD", 10, Body::polled, 3},
    Symbol{"GS", 10, Body::polled, 2},
    Symbol{"GE", 10, Body::polled, 6},
    Symbol{"HD", 10, Body::polled, 3, true},
    Symbol{"HE", 10, Body::polled, 6, true},
    Symbol{"QT", 0, Body::none},
    Symbol{"BM", 0, Body::none},
    Symbol{"RS", 0, Body::none},
    Symbol{"RT", 0, Body::none},
    Symbol{"RB", 0, Body::none},
    Symbol{"SS", 6, Body::none},
    Symbol{"CR", 2, Body::none},
    Symbol{"VV", 0, Body::info},
    Symbol{"PP", 0, Body::info},
    Symbol{"II", 0, Body::info},
    Symbol{"TM0", 0, Body::none},
    Symbol{"TM1", 0, Body::time},
    Symbol{"TM2", 0, Body::none},
    Symbol{"SCIP2.0", 0, Body::none},
    Symbol{"%SL", 0, Body::none},
};

std::string_view text(Bytes b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

char check_of(std::string_view line) {
  unsigned sum = 0;
  for (const char c : line) sum += static_cast<unsigned char>(c);
  return static_cast<char>((sum & 0x3F) + 0x30);
}

// A line without its LF that ends in its check.
bool agrees(std::string_view line) {
  return !line.empty() && check_of(line.substr(0, line.size() - 1)) == line.back();
}

// Lines of numbers, summed up. Bytes suffice: the check is the sum's lower six bits.
struct Summed {
  std::size_t characters = 0, marks = 0;  // so far, checks not counted; '&' among them
  bool good = true;

  void add(std::string_view line) {
    if (line.size() < 2) return void(good = false);
    std::uint8_t sum = 0, strange = 0, seen = 0;
    const auto run = [&](std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        const auto c = static_cast<std::uint8_t>(line[i]);
        const bool mark = c == '&';
        sum = static_cast<std::uint8_t>(sum + c);
        seen = static_cast<std::uint8_t>(seen + mark);
        strange = static_cast<std::uint8_t>(strange | (mark ? 0 : c - 0x30));
      }
    };
    const std::size_t n = line.size() - 1;
    n == kOnLine ? run(kOnLine) : run(n);  // a fixed length is done in parallel
    good &= strange < 64 && static_cast<char>((sum & 0x3F) + 0x30) == line[n];
    characters += n;
    marks += seen;
  }
};

const Symbol* symbol_at(std::string_view text) {
  for (const Symbol& s : kSymbols) {
    if (s.name[0] == text[0] && s.name.substr(0, text.size()) == text.substr(0, s.name.size())) {
      return &s;
    }
  }
  return nullptr;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); }

int decimal(std::string_view digits) { return number_in<int>(digits).value_or(0); }

std::size_t measure_info(std::string_view all, std::size_t at) {
  all = all.substr(0, kMostInfo);
  while (at < all.size()) {
    const std::size_t end = all.find('\n', at);
    if (end == at) return at + 1;
    const std::string_view line = all.substr(at, end - at);
    if (line.size() > 4 && line[4] != ':') return kNotAFrame;
    if (std::ranges::any_of(line, [](char c) { return c < ' ' || c > '~'; })) return kNotAFrame;
    if (end == all.npos) break;
    at = end + 1;
  }
  return all.size() < kMostInfo ? kNeedMore : kNotAFrame;
}

// Full lines from `at`, `least` of them or more, a shorter one or none, an empty one. Of the least
// only the newest is looked at: intact() looks at all.
std::size_t measure_numbers(std::string_view all, std::size_t at, std::size_t least) {
  const std::size_t full = std::min(least, (all.size() - at) / kFullLine);
  at += kFullLine * full;
  if (full > 0 && all.find('\n', at - kFullLine) != at - 1) return kNotAFrame;
  std::size_t end = 0;
  while ((end = all.substr(at, kFullLine).find('\n')) == kFullLine - 1) at += kFullLine;
  if (end == all.npos) return all.size() - at < kFullLine ? kNeedMore : kNotAFrame;
  if (end == 0) return at + 1;
  at += end + 1;
  if (at == all.size()) return kNeedMore;
  return all[at] == '\n' ? at + 1 : kNotAFrame;
}

}  // namespace

const Symbol* find_symbol(std::string_view name) {
  const auto found = std::ranges::find(kSymbols, name, &Symbol::name);
  return found == kSymbols.end() ? nullptr : &*found;
}

Head head_of(Bytes b) {
  const std::string_view all = text(b.first(std::min(b.size(), kMostHead)));
  const Symbol* const symbol = symbol_at(all);
  if (!symbol) return {};
  const std::size_t end = all.find('\n');
  if (end == all.npos) return {all.size() < kMostHead ? kNeedMore : kNotAFrame, symbol};
  std::string_view echo = all.substr(0, end);
  const std::size_t remark = std::min(echo.find(';'), end);  // comes back as it was sent
  if (end - remark > kMostRemark || remark != symbol->name.size() + symbol->digits) return {};
  Head head{kNeedMore, symbol, all.substr(symbol->name.size(), symbol->digits)};
  if (!std::ranges::all_of(head.parameters, is_digit)) return {};
  const std::string_view status = all.substr(end + 1, kStatusLine);
  const std::size_t size = status.find('\n');
  head.status = status.substr(0, std::min<std::size_t>(size, 2));
  if (!std::ranges::all_of(head.status, is_word)) return {};
  if (size == 1 || size == 3) return head.size = end + size + 2, head;
  return size == status.npos && status.size() < kStatusLine ? head : Head{};
}

Steps steps_of(const Head& head) {
  Steps steps{decimal(head.parameters.substr(0, 4)),
              std::max(1, decimal(head.parameters.substr(8, 2)))};
  const int last = decimal(head.parameters.substr(4, 4));
  if (last < steps.first) return steps;
  const auto n = static_cast<std::size_t>((last - steps.first) / steps.group) + 1;
  if (n <= kMostBeams) steps.n = n;
  return steps;
}

std::size_t most_characters(const Symbol& symbol, std::size_t n) {
  return n * (symbol.width + (symbol.echoes ? kMostEchoes * (symbol.width + 1) : 0));
}

bool info_agrees(std::string_view line) {
  if (agrees(line)) return true;
  const std::size_t n = line.size();
  return n >= 2 && line[n - 2] == ';' && check_of(line.substr(0, n - 2)) == line.back();
}

bool numbers_agree(std::string_view line) {
  Summed summed;
  summed.add(line);
  return summed.good && summed.marks == 0;
}

hal::Text<96> in_words(std::string_view status) {
  const int n = number_in<int>(status).value_or(-1);
  const char* words = "";
  if (status.size() == 1) words = ", which is SCIP 1.1: its firmware does not speak SCIP 2";
  if (status == "0E") words = ", it does not know the command: choose another mode";
  if (status == "0C" || status == "0D" || (n >= 1 && n <= 9)) words = ", wrong parameters";
  if (status == "0F") words = ", not supported";
  if (status == "0I") words = ", it is in firmware update mode";
  if (status == "0L") words = ", abnormal: it needs a repair if that stays after power was off";
  if (status == "0M") words = ", it is not stable yet";
  if (n == 10) words = ", the laser is off or the command denied";
  if (n >= 21 && n <= 49) words = ", it paused to verify an error";
  if (n >= 50 && n <= 97) words = ", hardware trouble (laser, motor): switch it off and on";
  return hal::Text<96>::of("status %.*s%s", static_cast<int>(status.size()), status.data(), words);
}

bool is_trouble(std::string_view status) {
  const int n = number_in<int>(status).value_or(-1);
  return (n >= 21 && n <= 97) || status == "0L" || status == "0M";
}

std::optional<hal::Duration> time_in(std::string_view value) {
  if (value.size() == 4) {
    const bool good = std::ranges::all_of(value, [](char c) { return c >= '0' && c <= 'o'; });
    const Bytes characters = std::as_bytes(std::span(value));
    if (good) return std::chrono::milliseconds(number_at<4>(characters.data()));
  }
  if (value.size() != 6) return std::nullopt;
  const auto ms = number_in<unsigned>(value, 16);
  return ms ? std::optional<hal::Duration>(std::chrono::milliseconds(*ms)) : std::nullopt;
}

// Echoes and empty lines are not counted, and replies are longer than what there is to look at.
double likeness(Bytes b) {
  std::string_view rest = text(b);
  take_field(rest, '\n');  // may be cut off
  std::size_t good = 0, lines = 0, counted = 0;
  while (rest.find('\n') != rest.npos) {
    const std::string_view line = take_field(rest, '\n');
    const bool echo = std::ranges::any_of(kSymbols, [&](const Symbol& s) {
      return line.size() == s.name.size() + s.digits && line.starts_with(s.name);
    });
    if (line.empty() || echo) continue;
    counted += line.size();
    if (line.size() < 3 || !(numbers_agree(line) || info_agrees(line))) continue;
    good += line.size();
    ++lines;
  }
  counted += rest.size() / kFullLine * kFullLine;
  return lines < 2 ? 0 : static_cast<double>(good) / static_cast<double>(counted);
}

}  // namespace scip

using namespace scip;

std::size_t ScipFraming::measure(Bytes b) {
  const Head head = head_of(b);
  if (head.size == kNotAFrame || head.size == kNeedMore) return head.size;
  const std::string_view all = text(b);
  if (head.has(Body::info)) return measure_info(all, head.size);
  std::size_t at = head.size;
  if (head.has(Body::time) || head.has_scan()) {
    const std::size_t end = all.substr(at, kStampLine).find('\n');
    if (end == all.npos) return all.size() - at < kStampLine ? kNeedMore : kNotAFrame;
    if (end != kStampLine - 1) return kNotAFrame;
    at += kStampLine;
  }
  if (head.has_scan()) {
    const std::size_t n = steps_of(head).n;
    return n > 0 ? measure_numbers(all, at, n * head.symbol->width / kOnLine) : kNotAFrame;
  }
  if (all.size() == at) return kNeedMore;
  return all[at] == '\n' ? at + 1 : kNotAFrame;
}

bool ScipFraming::intact(Bytes frame) {
  const Head head = head_of(frame);
  const std::string_view all = text(frame);
  const bool is_scip1 = head.status.size() == 1;
  if (!is_scip1 && !agrees(all.substr(head.size - kStatusLine, kStatusLine - 1))) return false;
  if (head.has(Body::info)) {
    std::string_view rest = text_of(frame.subspan(head.size));
    while (!rest.empty()) {
      const std::string_view line = take_field(rest, '\n');
      // Serial numbers came with a wrong check from real URG-04LX.
      if (!info_agrees(line) && !(head.is("VV") && line.starts_with("SERI:"))) return false;
    }
    return true;
  }
  std::size_t at = head.size;
  if (head.has(Body::time) || head.has_scan()) {
    if (!numbers_agree(all.substr(at, kStampLine - 1))) return false;
    at += kStampLine;
  }
  if (!head.has_scan()) return true;
  const Steps steps = steps_of(head);
  const Symbol& symbol = *head.symbol;
  Summed summed;
  for (; at + 1 < all.size() && summed.good; at += kFullLine) {
    const std::size_t n = std::min(kFullLine, all.size() - 1 - at);
    summed.good &= all[at + n - 1] == '\n';
    summed.add(all.substr(at, n - 1));
  }
  return summed.good && steps.n > 0 && (symbol.echoes || summed.marks == 0) &&
         summed.marks <= kMostEchoes * steps.n &&
         summed.characters == steps.n * symbol.width + summed.marks * (symbol.width + 1);
}

}  // namespace drivers
