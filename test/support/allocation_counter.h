// Counts operator new between its construction and count(). CppUTest replaces the global
// operators, so this sees every allocation of the test program, ours and the libraries'.
#pragma once

#include "test/support/harness.h"  // first: TestMemoryAllocator.h does not stand alone

#include <CppUTest/TestMemoryAllocator.h>

namespace test {

class AllocationCounter final : public TestMemoryAllocator {
 public:
  AllocationCounter()
      : TestMemoryAllocator("counting"),
        saved_(getCurrentNewAllocator()),
        saved_array_(getCurrentNewArrayAllocator()) {
    setCurrentNewAllocator(this);
    setCurrentNewArrayAllocator(this);
  }
  ~AllocationCounter() override {
    setCurrentNewAllocator(saved_);
    setCurrentNewArrayAllocator(saved_array_);
  }
  AllocationCounter(const AllocationCounter&) = delete;
  AllocationCounter& operator=(const AllocationCounter&) = delete;

  char* alloc_memory(size_t size, const char* file, size_t line) override {
    ++count_;
    return saved_->alloc_memory(size, file, line);
  }
  void free_memory(char* memory, size_t size, const char* file, size_t line) override {
    saved_->free_memory(memory, size, file, line);
  }
  TestMemoryAllocator* actualAllocator() override { return saved_->actualAllocator(); }

  unsigned long count() const { return count_; }

 private:
  TestMemoryAllocator* saved_;
  TestMemoryAllocator* saved_array_;
  unsigned long count_ = 0;
};

}  // namespace test
