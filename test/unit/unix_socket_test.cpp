#include "hal/unix_socket.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>

#include "test/support/harness.h"
#include "test/support/temp_dir.h"

TEST_GROUP(UnixSocket) {
  test::TempDir dir;
  std::string path = dir.file("s");

  bool exists() const { return ::access(path.c_str(), F_OK) == 0; }
};

TEST(UnixSocket, HasMode0660WhateverTheUmask) {
  for (const mode_t mask : {0000U, 0022U, 0077U}) {
    const mode_t before = ::umask(mask);
    const auto listener = hal::UnixListener::listen(path);
    ::umask(before);
    CHECK_TRUE(static_cast<bool>(listener));
    struct stat st {};
    LONGS_EQUAL(0, ::stat(path.c_str(), &st));
    LONGS_EQUAL(0660, st.st_mode & 0777);
  }
}

TEST(UnixSocket, IsRemovedWithItsListener) {
  {
    const auto listener = hal::UnixListener::listen(path);
    CHECK_TRUE(exists());
  }
  CHECK_FALSE(exists());
}

TEST(UnixSocket, LeavesTheSocketOfASuccessorAlone) {
  {
    const auto listener = hal::UnixListener::listen(path);
    ::unlink(path.c_str());
    std::ofstream(path) << "another";
  }
  CHECK_TRUE(exists());
}

TEST(UnixSocket, ReplacesASocketThatNobodyListensOn) {
  {
    // A second name keeps the socket file when the listener removes the first.
    const auto listener = hal::UnixListener::listen(dir.file("first"));
    CHECK_TRUE(::link(dir.file("first").c_str(), path.c_str()) == 0);
  }
  CHECK_TRUE(exists());
  const auto listener = hal::UnixListener::listen(path);
  CHECK_TRUE(static_cast<bool>(listener));
  CHECK_TRUE(static_cast<bool>(hal::connect_unix(path)));
}

TEST(UnixSocket, NamesTheProgramThatListensAlready) {
  const auto first = hal::UnixListener::listen(path);
  const auto second = hal::UnixListener::listen(path);
  CHECK_TRUE(second.error().code == hal::Errc::busy);
  STRCMP_CONTAINS(("pid " + std::to_string(::getpid())).c_str(), second.error().detail.c_str());
  CHECK_TRUE(static_cast<bool>(hal::connect_unix(path)));
}

TEST(UnixSocket, DoesNotRemoveWhatIsNotASocket) {
  std::ofstream(path) << "data";
  const auto listener = hal::UnixListener::listen(path);
  CHECK_TRUE(listener.error().code == hal::Errc::busy);
  STRCMP_CONTAINS("not a socket", listener.error().detail.c_str());
  CHECK_TRUE(exists());
}

TEST(UnixSocket, NamesTheDirectoryThatIsMissing) {
  const auto listener = hal::UnixListener::listen(dir.file("no/such/s"));
  CHECK_TRUE(listener.error().code == hal::Errc::not_found);
  STRCMP_CONTAINS("there is no directory", listener.error().detail.c_str());
  STRCMP_CONTAINS("no/such", listener.error().detail.c_str());
}

TEST(UnixSocket, RefusesAPathThatIsTooLong) {
  const std::string longest = dir.file(std::string(107 - dir.path().size() - 1, 'x'));
  CHECK_TRUE(static_cast<bool>(hal::UnixListener::listen(longest)));
  const auto listener = hal::UnixListener::listen(longest + "x");
  CHECK_TRUE(listener.error().code == hal::Errc::bad_config);
  STRCMP_CONTAINS("1 to 107", listener.error().detail.c_str());
}

TEST(UnixSocket, AcceptsNobodyWhenNobodyIsThere) {
  auto listener = hal::UnixListener::listen(path);
  auto client = listener->accept();
  CHECK_TRUE(static_cast<bool>(client));
  CHECK_FALSE(static_cast<bool>(*client));
}

TEST(UnixSocket, TurnsClientsAwayWhenThereIsNoDescriptorLeft) {
  auto listener = hal::UnixListener::listen(path);
  const auto client = hal::connect_unix(path);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int next = ::dup((*client).get());
  ::close(next);
  const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const auto accepted = listener->accept();
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK_TRUE(accepted.error().code == hal::Errc::no_space);
  char byte = 0;
  LONGS_EQUAL(0, ::recv((*client).get(), &byte, 1, 0));
}

TEST(UnixSocket, ConnectingSaysThatNobodyIsThere) {
  const auto client = hal::connect_unix(path);
  CHECK_TRUE(client.error().code == hal::Errc::not_found);
  STRCMP_CONTAINS("is lidard running?", client.error().detail.c_str());
}
