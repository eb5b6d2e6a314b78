#include "app/order_watch.h"

#include <cinttypes>
#include <cstring>
#include <utility>

namespace app {
namespace {

using collation::QueueStats;

// Drops that come and go are one trouble.
constexpr hal::Duration kCalm = std::chrono::seconds(10);

double milliseconds(hal::Duration d) { return hal::to_seconds(d) * 1e3; }

std::int64_t whole_milliseconds(hal::Duration d) { return (d.count() + 999'999) / 1'000'000; }

}  // namespace

bool OrderWatch::look(const QueueStats& now, hal::Time at, const Circumstances& of) {
  Judgement judgement = judge(now, of);
  const bool no_news = now.in == before_.in;
  if (now.out != before_.out || last_left_ == hal::Time{}) last_left_ = at;
  before_ = now;
  if (no_news) return false;
  if (judgement.kind != Kind::fine) {
    last_trouble_ = at;
  } else if (kind_ != Kind::fine && kind_ != Kind::stall && at < last_trouble_ + kCalm) {
    return false;
  }
  const bool is_new = kind_ != judgement.kind || std::strcmp(cause_, judgement.cause) != 0;
  kind_ = judgement.kind;
  cause_ = judgement.cause;
  why_ = judgement.why;
  return is_new;
}

OrderWatch::Judgement OrderWatch::judge(const QueueStats& now, const Circumstances& of) {
  const auto since = [&](std::uint64_t QueueStats::*count) { return now.*count - before_.*count; };
  const std::uint64_t in = since(&QueueStats::in), late = since(&QueueStats::late);
  const std::uint64_t ahead = since(&QueueStats::future);
  const std::uint64_t back = since(&QueueStats::backward) + since(&QueueStats::duplicate);
  const std::uint64_t overflow = since(&QueueStats::overflow);
  dropped_ = late + ahead + back + overflow;
  const Kind kind = since(&QueueStats::out) == 0 ? Kind::stall : Kind::drops;
  const double seconds = hal::to_seconds(now.astray);
  const auto stamped = [&](std::uint64_t n, const char* cause, const char* what) -> Judgement {
    return {kind, cause,
            hal::Text<192>::of("%" PRIu64 " of %" PRIu64 " dropped: stamped %.3f s %s arrival%s", n,
                               in, seconds < 0 ? -seconds : seconds,
                               seconds < 0 ? "after their" : "before their", what)};
  };
  if (late + ahead + back > 0 && std::chrono::abs(now.astray) > collation::kLongestWait) {
    return stamped(late + ahead + back, "another_epoch", ", in another epoch than the others'");
  }
  if (ahead > 0) return stamped(ahead, "future", "");
  if (late > 0) {
    return {kind, "late",
            hal::Text<192>::of("%" PRIu64 " of %" PRIu64 " dropped as late: max_wait_ms %" PRId64
                               " would have sufficed, it is %.4g",
                               late, in, whole_milliseconds(now.would_have_sufficed),
                               milliseconds(of.max_wait))};
  }
  if (back > 0) return stamped(back, "backward", ", not after the one before");
  const std::uint64_t forced_out = since(&QueueStats::full);
  if (forced_out == 0) return {};
  return {overflow == 0 ? Kind::full : kind, "queue_full",
          hal::Text<192>::of("its queue of %zu was full %" PRIu64 " times, %" PRIu64
                             " data dropped: the order waits for %.*s",
                             of.capacity, forced_out, overflow,
                             static_cast<int>(of.full_for.size()), of.full_for.data())};
}

}  // namespace app
