// Containers whose capacity is set once, in the constructor. That is the only allocation they
// make; when full they say so, they never grow. For rings use boost::circular_buffer and ask
// full() before pushing.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <span>

namespace hal {

template <class T>
class BoundedVector {
 public:
  explicit BoundedVector(std::size_t capacity)
      : data_(std::make_unique<T[]>(capacity)), capacity_(capacity) {}

  bool push_back(const T& value) {
    if (size_ == capacity_) return false;
    data_[size_++] = value;
    return true;
  }
  void pop_back() { assert(size_ > 0), --size_; }
  void clear() { size_ = 0; }
  // Elements beyond the old size are whatever was written there.
  void resize(std::size_t size) { assert(size <= capacity_), size_ = size; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == capacity_; }
  T& operator[](std::size_t i) { return assert(i < size_), data_[i]; }
  const T& operator[](std::size_t i) const { return assert(i < size_), data_[i]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }
  T* begin() { return data_.get(); }
  T* end() { return data_.get() + size_; }
  const T* begin() const { return data_.get(); }
  const T* end() const { return data_.get() + size_; }
  std::span<const T> view() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t capacity_, size_ = 0;
};

// Hands out objects built at start-up. A Lease gives its object back when it goes out of scope;
// the pool outlives its leases.
template <class T>
class Pool {
  struct Return {
    Pool* pool = nullptr;
    void operator()(T* object) const { pool->free_.push_back(object); }
  };

 public:
  using Lease = std::unique_ptr<T, Return>;

  // `make` returns a std::unique_ptr<T>; called `count` times.
  template <class Make>
  Pool(std::size_t count, Make&& make)
      : free_(count), all_(std::make_unique<std::unique_ptr<T>[]>(count)) {
    for (std::size_t i = 0; i < count; ++i) {
      all_[i] = make();
      free_.push_back(all_[i].get());
    }
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  Lease take() {  // empty when the pool is exhausted
    if (free_.empty()) return Lease(nullptr, Return{this});
    T* const object = free_.back();
    free_.pop_back();
    return Lease(object, Return{this});
  }
  std::size_t available() const { return free_.size(); }
  std::size_t capacity() const { return free_.capacity(); }

 private:
  BoundedVector<T*> free_;
  std::unique_ptr<std::unique_ptr<T>[]> all_;
};

}  // namespace hal
