// A manual under "/docs": what its host gave is served there, and nothing else.
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "windhover/tests/io/http/http_fixture.h"

namespace windhover {
namespace web_manual_test {

using testing::http_server;
using testing::HttpResponse;
using testing::HttpWorld;

constexpr std::array<PageAsset, 3> kManual = {{
    {"/docs/index.html", "text/html; charset=utf-8", "<a href=\"a/status.html\">", "\"1\""},
    {"/docs/a/status.html", "text/html; charset=utf-8", "few_draws", "\"2\""},
    {"/docs/search/search_index.json", "application/json", "{}", "\"3\""},
}};

HttpConfig with_manual() {
  HttpConfig config = http_server().http;
  config.manual = kManual;
  return config;
}

TEST(WebManual, ItsFilesAreServedAsThePagesAre) {
  HttpWorld world(with_manual());
  for (const PageAsset& asset : kManual) {
    const HttpResponse response = world.get(std::string(asset.path));
    EXPECT_EQ(response.status, 200) << asset.path;
    EXPECT_EQ(response.body, asset.body) << asset.path;
    EXPECT_EQ(response.field("Content-Type"), asset.content_type) << asset.path;
    EXPECT_EQ(response.field("ETag"), asset.etag) << asset.path;
    EXPECT_EQ(response.field("Cache-Control"), "no-cache") << asset.path;
    EXPECT_EQ(response.field("X-Content-Type-Options"), "nosniff") << asset.path;
    EXPECT_TRUE(response.field("Content-Security-Policy").starts_with("default-src 'self';"));
  }
  EXPECT_EQ(world.get("/docs/a/status.html?q=1").body, "few_draws");
  const auto same =
      world.ask("GET /docs/a/status.html HTTP/1.1\r\nIf-None-Match: \"2\"\r\n\r\n").at(0);
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body, "");
}

// Links of its first page are relative.
TEST(WebManual, ItsFirstPageEndsInASlash) {
  HttpWorld world(with_manual());
  const HttpResponse moved = world.get("/docs");
  EXPECT_EQ(moved.status, 308);
  EXPECT_EQ(moved.field("Location"), "/docs/");
  EXPECT_EQ(world.get("/docs/").body, kManual[0].body);
  EXPECT_EQ(world.get("/docs/").field("Location"), "");
}

TEST(WebManual, NothingElseIsReachedThroughIt) {
  HttpWorld world(with_manual());
  for (const char* path :
       {"/docs/../docs/a/status.html", "/docs/a/../index.html", "/docs/%2e%2e/metrics",
        "/docs/..%2fmetrics", "/docs//index.html", "/docs/a", "/docs/a/", "/docs/index.html/",
        "/docs/INDEX.HTML", "/docs/a%2fstatus.html", "/docs/\\..\\index.html", "/docs/etc/passwd",
        "/docs/./index.html", "/docs.html", "/docsindex.html", "//docs/"}) {
    const HttpResponse response = world.get(path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(response.field("Content-Type"), "application/json") << path;
  }
  for (const char* path : {"/docs", "/docs/", "/docs/a/status.html"}) {
    const auto posted =
        world.ask(std::string("POST ") + path + " HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(posted.at(0).status, 405) << path;
    EXPECT_EQ(posted.at(0).field("Allow"), "GET, HEAD") << path;
  }
}

TEST(WebManual, AServerWithoutOneSaysSo) {
  HttpWorld world;
  for (const char* path : {"/docs", "/docs/", "/docs/status.html"}) {
    const HttpResponse response = world.get(path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_NE(response.body.find("built without its manual"), std::string::npos) << response.body;
  }
  EXPECT_EQ(world.get("/docsx").body.find("manual"), std::string::npos);
}

}  // namespace web_manual_test
}  // namespace windhover
