// What the order makes of one sensor's data, judged now and then, in words for people.
#pragma once

#include <string_view>

#include "app/messages.h"
#include "collation/queue_options.h"
#include "hal/text.h"

namespace app {

class OrderWatch {
 public:
  enum class Kind : std::uint8_t {
    fine,
    full,   // data left earlier than the order wanted, since its queue was full
    drops,  // some of its data are dropped, or were within the last 10 s
    stall,  // data come and none leaves
  };

  // What the judgement needs to know of the sensor.
  struct Circumstances {
    hal::Duration max_wait{};
    std::size_t capacity = 0;
    std::string_view full_for;  // whom the order waited for when its queue was full last
  };

  // Looks at what was counted since the last look. True: the judgement is another one, tell it.
  bool look(const collation::QueueStats& now, hal::Time at, const Circumstances&);
  // The sensor has failed by itself: that is what is to be told, not the rest.
  void forget() { kind_ = Kind::fine, cause_ = "none", why_.clear(); }

  Kind kind() const { return kind_; }
  const char* cause() const { return cause_; }        // one word; "none" when fine
  const hal::Text<192>& why() const { return why_; }  // empty when fine
  std::uint64_t dropped() const { return dropped_; }  // between the last two looks
  hal::Time last_left() const { return last_left_; }  // the last look that saw a datum leave

 private:
  struct Judgement {
    Kind kind = Kind::fine;
    const char* cause = "none";
    hal::Text<192> why{};
  };
  Judgement judge(const collation::QueueStats& now, const Circumstances&);

  collation::QueueStats before_{};
  Kind kind_ = Kind::fine;
  const char* cause_ = "none";
  hal::Text<192> why_{};
  std::uint64_t dropped_ = 0;
  hal::Time last_left_{}, last_trouble_{};
};

}  // namespace app
