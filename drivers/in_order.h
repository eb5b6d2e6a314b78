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

  // Where the newest is put, to be followed by take() or not at all. What was given before may be
  // overwritten.
  T& place() { return std::ranges::find(places_, false, &Place::waits)->item; }

  bool began() const { return began_; }
  std::uint64_t expected() const { return expected_; }  // once it began
  bool is_behind(std::uint64_t number) const { return began_ && number < expected_; }
  bool is_waiting(std::uint64_t number) const {
    return std::ranges::any_of(places_,
                               [&](const Place& p) { return p.waits && p.number == number; });
  }

  // What is in place() has this number, which is neither behind nor waiting. give(T&) gets each
  // whose turn has come; what it got is valid until the next place(). Returns how many numbers are
  // now lost.
  template <class Give>
  std::uint64_t take(std::uint64_t number, Give&& give) {
    Place& mine = *std::ranges::find(places_, false, &Place::waits);
    std::uint64_t lost = 0;
    if (began_ && number - expected_ > kFarAhead) {
      lost = give_up_all(give);
      if (number - expected_ < kMostLost) lost += number - expected_;
      began_ = false;
    }
    if (!began_) expected_ = number;
    began_ = true;
    mine.number = number;
    mine.waits = true;
    ++waiting_;
    release(give);
    if (waiting_ > kMostWaiting) lost += give_up(give);
    return lost;
  }

  // Nothing is waited for any more. Returns how many numbers that makes lost.
  template <class Give>
  std::uint64_t give_up_all(Give&& give) {
    std::uint64_t lost = 0;
    while (waiting_ != 0) lost += give_up(give);
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

  template <class Give>
  void release(Give& give) {
    while (waiting_ != 0) {
      Place& next = lowest();
      if (next.number != expected_) return;
      next.waits = false;
      --waiting_;
      ++expected_;
      give(next.item);
    }
  }

  template <class Give>
  std::uint64_t give_up(Give& give) {
    const std::uint64_t next = lowest().number, lost = next - expected_;
    expected_ = next;
    release(give);
    return lost;
  }

  std::array<Place, kMostWaiting + 1> places_{};
  std::size_t waiting_ = 0;
  bool began_ = false;
  std::uint64_t expected_ = 0;
};

}  // namespace drivers
