#include "drivers/diagnosis.h"

#include <cstring>

namespace drivers {
namespace {

struct Seen {
  std::uint64_t bytes, frames, rejected, garbage;
};

Seen seen_since(const Evidence& e) {
  return {e.now.bytes - e.since.bytes, e.now.frames - e.since.frames,
          e.now.rejected - e.since.rejected, e.now.garbage_bytes - e.since.garbage_bytes};
}

}  // namespace

Cause cause_of(const Evidence& e) {
  const Seen seen = seen_since(e);
  if (seen.bytes == 0) return Cause::no_bytes;
  if (seen.frames == 0 && seen.garbage == 0 && e.was_streaming) {
    return Cause::no_bytes;  // it fell silent within a frame
  }
  // Bytes of another protocol look like damaged frames now and then.
  if (!e.alike.empty()) return Cause::mismatch;
  const bool damaged = seen.rejected > 1;
  if (seen.frames == 0) return damaged ? Cause::bad_checksums : Cause::mismatch;
  if (seen.rejected > seen.frames) return Cause::bad_checksums;
  return e.step ? Cause::no_answer : Cause::no_packets;
}

Cause cause_of(const hal::Error& error) {
  switch (error.code) {
    case hal::Errc::permission:
      return Cause::permission;
    case hal::Errc::busy:
      return Cause::port_busy;
    case hal::Errc::closed:
    case hal::Errc::io:
    case hal::Errc::no_space:
      return Cause::hang_up;
    case hal::Errc::not_found:
    case hal::Errc::timeout:
    case hal::Errc::bad_config:
    case hal::Errc::unsupported:
      return Cause::no_port;
  }
  return Cause::no_port;
}

Cause cause_of(TurnWatch::Verdict verdict) {
  switch (verdict) {
    case TurnWatch::Verdict::fine:
      return Cause::none;
    case TurnWatch::Verdict::standing:
      return Cause::not_turning;
    case TurnWatch::Verdict::too_fast:
      return Cause::wrong_speed;
  }
  return Cause::none;
}

hal::Text<192> in_words(Cause cause, const char* fault, double hz) {
  switch (cause) {
    case Cause::device_fault:
      return hal::Text<192>::of("the device reports a fault: %s", fault);
    case Cause::stuck:
      return hal::Text<192>::of("it repeats one measurement: its motor or its firmware hangs");
    case Cause::not_turning:
      return hal::Text<192>::of("it measures but does not turn: motor blocked, unpowered or off?");
    case Cause::wrong_speed:
      return hal::Text<192>::of("it seems to turn at %.1f Hz, which it cannot: wrong model?", hz);
    case Cause::none:
    case Cause::no_port:
    case Cause::permission:
    case Cause::port_busy:
    case Cause::hang_up:
    case Cause::no_bytes:
    case Cause::mismatch:
    case Cause::bad_checksums:
    case Cause::no_answer:
    case Cause::refused:
    case Cause::device_reset:
    case Cause::no_packets:
      return {};  // told elsewhere
  }
  return {};
}

hal::Text<192> in_words(const Evidence& e) {
  const Seen seen = seen_since(e);
  hal::Text<48> rate;
  if (e.baud > 0) rate.print(" at %d baud", e.baud);
  const char* const lead = e.step ? e.step : "";
  const char* const link = e.step ? "; " : "";
  switch (cause_of(e)) {
    case Cause::no_bytes:
      if (e.was_streaming) {
        return hal::Text<192>::of("%s%sit fell silent while the port stayed open: power or cable?",
                                  lead, link);
      }
      return hal::Text<192>::of("%s%sno byte%s: power, cable, %s?", lead, link, rate.c_str(),
                                e.baud > 0 ? "RX and TX swapped" : "address");
    case Cause::mismatch:
      if (!e.alike.empty()) {
        return hal::Text<192>::of("%s%s%llu bytes%s but no frame: they are those of driver '%.*s'",
                                  lead, link, static_cast<unsigned long long>(seen.bytes),
                                  rate.c_str(), static_cast<int>(e.alike.size()), e.alike.data());
      }
      return hal::Text<192>::of("%s%s%llu bytes%s but no frame%s?", lead, link,
                                static_cast<unsigned long long>(seen.bytes), rate.c_str(),
                                e.was_streaming ? " any more: did it restart, is its supply weak"
                                                : ": another device, protocol or baud rate");
    case Cause::bad_checksums:
      return hal::Text<192>::of(
          "%s%s%llu frames damaged, %llu good%s: baud rate, cable or supply voltage?", lead, link,
          static_cast<unsigned long long>(seen.rejected),
          static_cast<unsigned long long>(seen.frames), rate.c_str());
    case Cause::no_packets:
      if (e.has_parts) {
        return hal::Text<192>::of(
            "%llu datagrams, each a part of a measurement none of which was whole: the network "
            "loses them, see its cables and its load",
            static_cast<unsigned long long>(seen.frames));
      }
      return hal::Text<192>::of("%llu frames but no measurement in them: wrong mode or model?",
                                static_cast<unsigned long long>(seen.frames));
    case Cause::no_answer:
    case Cause::none:
    case Cause::no_port:
    case Cause::permission:
    case Cause::port_busy:
    case Cause::hang_up:
    case Cause::refused:
    case Cause::device_reset:
    case Cause::device_fault:
    case Cause::stuck:
    case Cause::not_turning:
    case Cause::wrong_speed:
      break;
  }
  return hal::Text<192>::of("%s", lead);
}

hal::Text<192> in_words(const DamageWatch& damage) {
  return hal::Text<192>::of(
      "of a second's frames %llu were damaged, %llu good: cable, interference, supply voltage?",
      static_cast<unsigned long long>(damage.rejected()),
      static_cast<unsigned long long>(damage.frames()));
}

const char* name(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "none";
    case Cause::no_port:
      return "no_port";
    case Cause::permission:
      return "permission";
    case Cause::port_busy:
      return "port_busy";
    case Cause::hang_up:
      return "hang_up";
    case Cause::no_bytes:
      return "no_bytes";
    case Cause::mismatch:
      return "mismatch";
    case Cause::bad_checksums:
      return "bad_checksums";
    case Cause::no_answer:
      return "no_answer";
    case Cause::refused:
      return "refused";
    case Cause::device_reset:
      return "device_reset";
    case Cause::no_packets:
      return "no_packets";
    case Cause::device_fault:
      return "device_fault";
    case Cause::stuck:
      return "stuck";
    case Cause::not_turning:
      return "not_turning";
    case Cause::wrong_speed:
      return "wrong_speed";
  }
  return "?";
}

}  // namespace drivers
