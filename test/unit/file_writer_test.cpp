#include "app/file_writer.h"

#include <sys/stat.h>

#include <array>
#include <fstream>
#include <iterator>

#include "test/support/harness.h"
#include "test/support/temp_dir.h"

namespace {

constexpr std::array kBytes{std::byte{1}, std::byte{2}, std::byte{3}};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_GROUP(FileWriter) { test::TempDir dir; };

TEST(FileWriter, WhatIsWrittenFollowsInOrderAndReplacesWhatWasThere) {
  const std::string path = dir.file("a");
  std::ofstream(path) << "something that was longer";
  auto writer = app::FileWriter::create(path);
  CHECK(static_cast<bool>(writer));
  CHECK(static_cast<bool>(writer->write(kBytes)));
  CHECK(static_cast<bool>(writer->write(std::span(kBytes).first(2))));
  LONGS_EQUAL(5, writer->written());
  CHECK(content(path) == std::string("\1\2\3\1\2"));
}

TEST(FileWriter, AFileThatCannotBeMadeIsNamedWithTheCause) {
  const auto writer = app::FileWriter::create(dir.file("missing/a"));
  CHECK(!writer);
  LONGS_EQUAL(ENOENT, writer.error().sys);
  STRCMP_CONTAINS("missing/a: No such file", writer.error().detail.c_str());
}

TEST(FileWriter, AFullDiskIsNamedWithWhatWasWritten) {
  struct stat ignored {};
  if (::stat("/dev/full", &ignored) != 0) return;
  auto writer = app::FileWriter::create("/dev/full");
  CHECK(static_cast<bool>(writer));
  const hal::Status status = writer->write(kBytes);
  CHECK(!status);
  LONGS_EQUAL(ENOSPC, status.error().sys);
  STRCMP_CONTAINS("/dev/full: No space left on device after 0 bytes",
                  status.error().detail.c_str());
}

TEST(FileWriter, WithoutAFileItTakesEverythingAndKeepsNothing) {
  app::FileWriter writer;
  CHECK(static_cast<bool>(writer.write(kBytes)));
  LONGS_EQUAL(0, writer.written());
}
