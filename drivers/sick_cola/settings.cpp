// What the scanner is set to, and whether it took it: each setting is read back.
#include "drivers/sick_cola/sick_cola.h"

namespace drivers {
namespace {

using cola::Command;
using cola::Fields;
using Heard = cola::Question::Answer::Kind;

bool near(std::int64_t a, std::int64_t b, std::int64_t by) { return std::abs(a - b) <= by; }

}  // namespace

bool SickCola::ask_pace(Request& request) {
  return sets() && (frequency_ > 0 || step_ > 0) && ask(request, "LMPscancfg");
}

Reply SickCola::take_pace(const Frame& frame) {
  cola::Question::Answer answer = question_.answer_in(frame.bytes);
  if (answer.kind == Heard::error && frequency_ > 0) {
    return Reply::refused(hal::Text<96>::of("this model has one speed: leave frequency_hz out"));
  }
  if (answer.kind != Heard::answered) return heard(frame);
  Fields& f = answer.fields;
  pace_.frequency = f.u32();
  f.u16();
  pace_.field.step = f.u32();
  pace_.field.first = f.i32();
  pace_.field.last = f.i32();
  if (!f.ok()) pace_ = {};
  return Reply::done();
}

SickCola::Pace SickCola::wanted_pace() const {
  Pace wanted = pace_;
  if (frequency_ > 0) wanted.frequency = frequency_;
  if (step_ > 0 && !near(step_, pace_.field.step, 1)) wanted.field.step = step_;
  return wanted;
}

bool SickCola::set_pace(Request& request) {
  const Pace wanted = wanted_pace();
  const bool as_it_is = wanted.frequency == pace_.frequency && wanted.field == pace_.field;
  if (pace_.frequency == 0 || as_it_is) return false;
  return say(request, command("sMN", "mLMPsetscancfg")
                          .u32(wanted.frequency)
                          .u16(1)
                          .u32(wanted.field.step)
                          .i32(wanted.field.first)
                          .i32(wanted.field.last));
}

Reply SickCola::take_set_pace(const Frame& frame) {
  return succeeded(frame, 0, "frequency and resolution do not go together, see its manual");
}

Reply SickCola::take_pace_back(const Frame& frame) {
  const Pace wanted = wanted_pace();
  const Reply reply = take_pace(frame);
  const bool same = pace_.frequency == wanted.frequency && pace_.field.step == wanted.field.step;
  if (reply.kind != Reply::Kind::done || wanted.frequency == 0 || same) return reply;
  return Reply::refused(hal::Text<96>::of("it has %g Hz and %g deg, not %g Hz and %g deg",
                                          pace_.frequency / 100.0, pace_.field.step * 1e-4,
                                          wanted.frequency / 100.0, wanted.field.step * 1e-4));
}

bool SickCola::ask_field(Request& request) { return ask(request, "LMPoutputRange"); }

Reply SickCola::take_field(const Frame& frame) {
  cola::Question::Answer answer = question_.answer_in(frame.bytes);
  if (answer.kind != Heard::answered) return heard(frame);
  Fields& f = answer.fields;
  f.u16();
  field_.step = f.u32();
  field_.first = f.i32();
  field_.last = f.i32();
  if (!f.ok()) field_ = {};
  return Reply::done();
}

SickCola::Field SickCola::wanted_field() const {
  Field wanted = field_;
  if (step_ > 0 && !near(step_, field_.step, 1)) wanted.step = step_;
  if (first_) wanted.first = *first_;
  if (last_) wanted.last = *last_;
  return wanted;
}

bool SickCola::set_field(Request& request) {
  const Field wanted = wanted_field();
  if (!sets() || wanted == field_) return false;
  return say(
      request,
      command("sWN", "LMPoutputRange").u16(1).u32(wanted.step).i32(wanted.first).i32(wanted.last));
}

Reply SickCola::take_field_back(const Frame& frame) {
  const Field wanted = wanted_field();
  const Reply reply = take_field(frame);
  if (reply.kind != Reply::Kind::done || field_.step == 0) return reply;
  const auto step = static_cast<std::int64_t>(field_.step);
  const bool same = near(wanted.step, step, 1) && near(wanted.first, field_.first, step) &&
                    near(wanted.last, field_.last, step);
  if (same || !sets()) return check_room();
  return Reply::refused(hal::Text<96>::of(
      "it sends %g to %g deg by %g, not %g to %g by %g", (field_.first - kFront) * 1e-4,
      (field_.last - kFront) * 1e-4, field_.step * 1e-4, (wanted.first - kFront) * 1e-4,
      (wanted.last - kFront) * 1e-4, wanted.step * 1e-4));
}

Reply SickCola::check_room() const {
  const std::int64_t span = std::int64_t{field_.last} - field_.first;
  const std::int64_t beams = span / std::int64_t{field_.step} + 1;
  if (beams <= static_cast<std::int64_t>(most_beams_)) return Reply::done();
  return Reply::refused(hal::Text<96>::of(
      "it sends %lld beams a scan: set resolution_deg to %g, so that there is room",
      static_cast<long long>(beams), field_.step * 1e-4));
}

bool SickCola::set_echoes(Request& request) {
  const unsigned filter = echoes_ == Echoes::first ? 0 : echoes_ == Echoes::all ? 1 : 2;
  return sets() && say(request, command("sWN", "FREchoFilter").u8(filter));
}

// What has one echo only does not know the filter.
Reply SickCola::take_echoes(const Frame& frame) {
  return echoes_ == Echoes::all ? acknowledged(frame) : heard(frame);
}

unsigned SickCola::channels() const {
  if (echoes_ != Echoes::all) return 0x01;
  return model_.view().starts_with("LMS5") ? 0x1F : 0x07;
}

bool SickCola::set_content(Request& request) {
  if (!sets()) return false;
  Command c = command("sWN", "LMDscandatacfg");
  c.u8(channels()).u8(0).u8(bits_ > 0 ? 1 : 0).u8(bits_ > 8 ? 1 : 0).u8(0);
  c.u8(0).u8(0).u8(0).u8(0).u8(0).u8(1).u16(1);  // encoder, position, name, comment, time, each
  return say(request, c);
}

Reply SickCola::take_content(const Frame& frame) {
  const Reply reply = acknowledged(frame);
  if (reply.kind != Reply::Kind::refused || bits_ <= 8) return reply;
  bits_ = 8;
  return Reply::again();
}

bool SickCola::ask_content(Request& request) { return sets() && ask(request, "LMDscandatacfg"); }

// How wide intensities are stands in each scan.
Reply SickCola::take_content_back(const Frame& frame) {
  cola::Question::Answer answer = question_.answer_in(frame.bytes);
  if (answer.kind != Heard::answered) return heard(frame);
  Fields& f = answer.fields;
  const unsigned mask = f.u8();
  f.u8();
  const unsigned intensities = f.u8();
  f.skip(8, 1);
  const unsigned each = f.u16();
  if (!f.ok()) return Reply::done();
  if ((mask & channels()) == channels() && (intensities > 0 || bits_ == 0) && each == 1) {
    return Reply::done();
  }
  return Reply::refused(
      hal::Text<96>::of("it sends channels 0x%02X, %s, each %u. scan, not 0x%02X, %s, each scan",
                        mask, intensities > 0 ? "intensities" : "none", each, channels(),
                        bits_ > 0 ? "intensities" : "none"));
}

}  // namespace drivers
