// Puts datagrams in order again that a network reordered: numbered ones, in bounded memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace drivers {

// What comes before its turn waits for what is missing, until more than `kMostWaiting` would wait;
// then what the lowest of them waits for is lost. So whatever is overtaken by no more than
// `kMostWaiting` others is never lost, and what never comes delays no more than these.
template <class T, std::size_t kMostWaiting>
class InOrder {
 public:
  // A jump that is larger is a new beginning. Those in between count as lost, if they can be.
  static constexpr std::uint64_t kFarAhead = 256, kMostLost = 1 << 20;
  // That one call may give.
  static constexpr std::size_t kMostAtOnce = kMostWaiting + 1;

  // Where the newest is put, to be followed by take() or not at all. What was given before may be
  // overwritten.
  T& place() { return free_place().item; }

  bool began() const { return began_; }
  std::uint64_t expected() const { return expected_; }  // once it began
  bool is_behind(std::uint64_t number) const { return began_ && number < expected_; }
  // It fits among those that are waited for.
  bool is_close(std::uint64_t number) const {
    return began_ && number >= expected_ && number - expected_ <= kFarAhead;
  }
  bool is_waiting(std::uint64_t number) const {
    return std::ranges::any_of(places_,
                               [&](const Place& p) { return p.waits && p.number == number; });
  }

  // What is in place() has this number, which is neither behind nor waiting. give(T&) gets each
  // whose turn has come; what it got is valid until the next place(). Returns how many numbers are
  // now lost.
  template <class Give>
  std::uint64_t take(std::uint64_t number, Give&& give) {
    Place& mine = free_place();
    std::uint64_t lost = 0;
    if (began_ && number - expected_ > kFarAhead) {
      lost = give_up_all(give);
      if (number - expected_ < kMostLost) lost += number - expected_;
      began_ = false;
    }
    wait(mine, number);
    return lost + release([&](const Place& next) { return next.number == expected_; }, give);
  }

  // As take() of a number with which the count begins anew: what waits is given first.
  template <class Give>
  std::uint64_t take_anew(std::uint64_t number, Give&& give) {
    Place& mine = free_place();
    const std::uint64_t lost = give_up_all(give);
    began_ = false;
    wait(mine, number);
    leave(mine, give);
    return lost;
  }

  // As take() where numbers only tell the order, but follows(const T&) whether nothing is missing
  // between what was given last and this.
  template <class Follows, class Give>
  void take_by(std::uint64_t number, Follows&& follows, Give&& give) {
    wait(free_place(), number);
    release([&](const Place& next) { return follows(next.item); }, give);
  }

  // Nothing is waited for any more. Returns how many numbers that makes lost.
  template <class Give>
  std::uint64_t give_up_all(Give&& give) {
    std::uint64_t lost = 0;
    while (waiting_ != 0) lost += leave(lowest(), give);
    return lost;
  }

  // Whatever comes next is the first. What waits is dropped.
  void forget() {
    for (Place& place : places_) place.waits = false;
    waiting_ = 0;
    began_ = false;
  }

 private:
  struct Place {
    bool waits = false;
    std::uint64_t number = 0;
    T item{};
  };

  Place& lowest() {
    Place* lowest = nullptr;
    for (Place& place : places_) {
      if (place.waits && (lowest == nullptr || place.number < lowest->number)) lowest = &place;
    }
    return *lowest;
  }

  Place& free_place() { return *std::ranges::find(places_, false, &Place::waits); }

  void wait(Place& place, std::uint64_t number) {
    if (!began_) expected_ = number;
    began_ = true;
    place.number = number;
    place.waits = true;
    ++waiting_;
  }

  // Returns how many numbers were passed over.
  template <class IsDue, class Give>
  std::uint64_t release(IsDue&& is_due, Give& give) {
    std::uint64_t passed = 0;
    while (waiting_ != 0) {
      Place& next = lowest();
      if (waiting_ <= kMostWaiting && !is_due(next)) break;
      passed += leave(next, give);
    }
    return passed;
  }

  template <class Give>
  std::uint64_t leave(Place& next, Give& give) {
    const std::uint64_t passed = next.number - expected_;
    next.waits = false;
    --waiting_;
    expected_ = next.number + 1;
    give(next.item);
    return passed;
  }

  std::array<Place, kMostWaiting + 1> places_{};
  std::size_t waiting_ = 0;
  bool began_ = false;
  std::uint64_t expected_ = 0;
};

}  // namespace drivers
