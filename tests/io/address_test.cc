#include "windhover/io/address.h"

#include <gtest/gtest.h>

namespace windhover {
namespace {

TEST(Address, EveryFormIsRead) {
  Address a;
  ASSERT_TRUE(parse_address("localhost:7171", a));
  EXPECT_EQ(a.host, "localhost");
  EXPECT_EQ(a.port, 7171);
  ASSERT_TRUE(parse_address("tcp:127.0.0.1:1", a));
  EXPECT_EQ(a.host, "127.0.0.1");
  ASSERT_TRUE(parse_address("tcp:[::1]:65535", a));
  EXPECT_EQ(a.host, "::1");
  EXPECT_EQ(a.port, 65535);
  ASSERT_TRUE(parse_address("unix:/run/windhover.sock", a));
  EXPECT_EQ(a.unix_path, "/run/windhover.sock");
  EXPECT_TRUE(a.host.empty());
}

TEST(Address, WhatIsNoAddressIsRefused) {
  Address a;
  for (const char* text : {"", ":", "host", "host:", ":80", "host:0", "host:65536", "host:1x",
                           "host:-1", "::1:80", "[]:80", "unix:", "tcp:"}) {
    EXPECT_FALSE(parse_address(text, a)) << text;
  }
}

}  // namespace
}  // namespace windhover
