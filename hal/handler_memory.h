// Memory for the one pending operation of an object. Asio's own recycling keeps a single block per
// thread: with more than one object waiting it would allocate now and then.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace hal {

class HandlerMemory {
  static constexpr std::size_t kSize = 256;
  struct Block {
    alignas(std::max_align_t) std::array<std::byte, kSize> bytes;
    bool used = false;
  };

  // An operation may outlive the object that started it, so the block is shared.
  template <class T>
  struct Allocator {
    using value_type = T;
    explicit Allocator(std::shared_ptr<Block> b) : block(std::move(b)) {}
    template <class U>
    Allocator(const Allocator<U>& other) : block(other.block) {}

    T* allocate(std::size_t n) {
      const std::size_t size = n * sizeof(T);
      if (block->used || size > kSize) return static_cast<T*>(::operator new(size));
      block->used = true;
      return static_cast<T*>(static_cast<void*>(block->bytes.data()));
    }
    void deallocate(T* p, std::size_t) {
      if (static_cast<void*>(p) == block->bytes.data()) {
        block->used = false;
      } else {
        ::operator delete(p);
      }
    }
    template <class U>
    bool operator==(const Allocator<U>& other) const {
      return block == other.block;
    }

    std::shared_ptr<Block> block;
  };

  template <class Fn>
  struct Handler {
    using allocator_type = Allocator<std::byte>;
    allocator_type get_allocator() const noexcept { return allocator_type(block); }
    template <class... Args>
    void operator()(Args&&... args) {
      fn(std::forward<Args>(args)...);
    }
    std::shared_ptr<Block> block;
    Fn fn;
  };

 public:
  // `fn` as an Asio handler that lives here. A second one at the same time comes from the heap.
  template <class Fn>
  auto bind(Fn fn) const {
    return Handler<Fn>{block_, std::move(fn)};
  }

 private:
  std::shared_ptr<Block> block_ = std::make_shared<Block>();
};

}  // namespace hal
