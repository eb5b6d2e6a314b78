#include "app/lidarctl/probe_report.h"

#include "config/load.h"

namespace lidarctl {
namespace {

std::string number(double value) { return hal::Text<32>::of("%.1f", value).c_str(); }

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
  return out + "'";
}

std::vector<drivers::Advice> advice(const ProbeResult& r) {
  drivers::Seen seen = r.seen;
  seen.about = r.about;
  std::vector<drivers::Advice> all;
  if (r.found.row->finding.advise) all = r.found.row->finding.advise(seen);
  const drivers::Variant* const v = r.found.variant;
  const auto is_advised = [&](const drivers::Advice& a) { return a.key == v->key; };
  if (v && std::ranges::none_of(all, is_advised)) {
    all.push_back({std::string(v->key), std::string(v->value), ""});
  }
  return all;
}

std::string with_baud(const ProbeResult& r, const Place& place, int baud, const char* comment,
                      const std::string& name) {
  std::string text = "  " + name + ":\n";
  text += "    driver: " + std::string(r.found.row->name) + "\n";
  text += "    port: " + quoted(place.port) + "\n";
  if (!place.control.empty()) text += "    control: " + quoted(place.control) + "\n";
  if (!place.from.empty()) text += "    from: " + quoted(place.from) + "\n";
  if (baud > 0) text += "    baud: " + std::to_string(baud) + comment + "\n";
  std::string options, hints;
  for (const drivers::Advice& a : advice(r)) {
    const std::string comment_of = a.comment.empty() ? "" : "  # " + a.comment;
    if (a.value.empty()) {
      hints += "      # " + a.key + ": " + a.comment + "\n";
    } else {
      options += "      " + a.key + ": " + a.value + comment_of + "\n";
    }
  }
  if (!options.empty()) text += "    options:\n" + options + hints;
  if (options.empty() && !hints.empty()) text += "    # options:\n" + hints;
  return text;
}

}  // namespace

bool is_configuration(const std::string& text) {
  return std::holds_alternative<config::Stack>(config::load_text(text, "probe"));
}

// Where no rate can be seen it is the first that carries what the device sends.
std::string sensor(const ProbeResult& r, const Place& place, const std::string& name) {
  const drivers::Row& row = *r.found.row;
  if (!place.port.starts_with("serial:")) return with_baud(r, place, 0, "", name);
  if (r.baud > 0 && !row.finding.sets_baud) return with_baud(r, place, r.baud, "", name);
  if (r.baud == row.default_baud) return with_baud(r, place, r.baud, "", name);
  if (r.baud > 0) {
    const auto comment = hal::Text<64>::of("  # found at %d; it will be set to this", r.baud);
    return with_baud(r, place, row.default_baud, comment.c_str(), name);
  }
  constexpr const char* kUnseen = "  # the usual one: this port has no rate";
  const std::string usual = with_baud(r, place, row.default_baud, kUnseen, name);
  if (is_configuration("sensors:\n" + usual)) return usual;
  for (const int baud : row.finding.bauds) {
    const std::string text = with_baud(r, place, baud, kUnseen, name);
    if (is_configuration("sensors:\n" + text)) return text;
  }
  return usual;
}

std::string usual_name(const drivers::Row& row) {
  return row.kind == drivers::Kind::imu ? "imu" : "lidar";
}

std::string snippet(const ProbeResult& r, const Place& place) {
  return "sensors:\n" + sensor(r, place, usual_name(*r.found.row));
}

namespace {

// Where it was spoken to.
const std::string& asked_at(const Place& place) {
  if (!place.control.empty()) return place.control;
  return place.from.empty() ? place.port : place.from;
}

}  // namespace

std::string in_words(const ProbeResult& r, const Place& place) {
  const Trial& f = r.found;
  std::string text = asked_at(place) + ": " + std::string(f.row->name);
  if (!r.about.empty()) text += ", " + r.about;
  if (r.about.empty()) text += " (" + std::string(f.row->models) + "); it tells no more of itself";
  text += "\n";
  text += r.by_itself ? "it streamed by itself" : "it was silent until it was spoken to";
  if (r.baud > 0) text += ", at " + std::to_string(r.baud) + " baud";
  if (r.seen.beams_hz > 0) {
    text += "; " + number(r.seen.turns_hz) + " turns/s, " + number(r.seen.beams_hz) + " beams/s";
  } else if (r.packets_hz > 0) {
    text += "; " + number(r.packets_hz) + " packets/s";
  }
  text += r.left_streaming ? "; left streaming\n" : "; left stopped\n";
  if (!r.streams)
    text += "it does not stream: " + r.why + "\n";
  else if (!r.why.empty())
    text += "it is not well: " + r.why + "\n";
  for (const Trial& t : r.alternatives) {
    text += "its bytes may also be of " + std::string(t.row->name) + " (likeness " +
            hal::Text<16>::of("%.2f", t.likeness).c_str() + " of 1)\n";
  }
  return text;
}

nlohmann::ordered_json as_json(const ProbeResult& r, const Place& place) {
  nlohmann::ordered_json out = {{"port", place.port}, {"found", r.found.row != nullptr}};
  const auto known = [](double value) {
    return value > 0 ? nlohmann::ordered_json(value) : nullptr;
  };
  if (r.found.row) {
    out["driver"] = r.found.row->name;
    out["about"] = r.about;
    out["baud"] = r.baud > 0 ? nlohmann::ordered_json(r.baud) : nullptr;
    out["likeness"] = known(r.found.likeness);
    out["by_itself"] = r.by_itself;
    out["answered"] = r.answered;
    out["streams"] = r.streams;
    out["turns_hz"] = known(r.seen.turns_hz);
    out["beams_hz"] = known(r.seen.beams_hz);
    out["packets_hz"] = known(r.packets_hz);
    out["left"] = r.left_streaming ? "streaming" : "stopped";
    out["alternatives"] = nlohmann::ordered_json::array();
    for (const Trial& t : r.alternatives) {
      out["alternatives"].push_back({{"driver", t.row->name}, {"likeness", t.likeness}});
    }
    out["options"] = nlohmann::ordered_json::object();
    for (const drivers::Advice& a : advice(r)) {
      if (!a.value.empty()) out["options"][a.key] = a.value;
    }
    out["config"] = snippet(r, place);
  } else {
    out["bytes"] = r.bytes;
    out["first_bytes"] = r.first_bytes;
  }
  out["why"] = r.why;
  out["took_s"] = hal::to_seconds(r.took);
  return out;
}

}  // namespace lidarctl
