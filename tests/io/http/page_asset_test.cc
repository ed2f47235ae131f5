// The page at "/": its files, what is said of them, and that none of them runs what is not its own.
#include "windhover/io/http/page_asset.h"

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "windhover/tests/io/http/http_fixture.h"

namespace windhover {
namespace page_asset_test {

using testing::HttpResponse;
using testing::HttpWorld;

std::string file_of(std::string_view path) {
  const std::string name =
      path == "/" ? "index.html" : std::string(path.substr(std::string_view("/page/").size()));
  std::ifstream file(std::string(WINDHOVER_SOURCE_DIR) + "/io/http/page/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string_view type_of(std::string_view path) {
  if (path == "/") return "text/html; charset=utf-8";
  if (path.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (path.ends_with(".css")) return "text/css; charset=utf-8";
  return path.ends_with(".svg") ? "image/svg+xml" : "text/plain; charset=utf-8";
}

TEST(PageAsset, EveryFileIsServedAsItStandsInTheTree) {
  HttpWorld world;
  EXPECT_GE(page_assets().size(), 15U);
  std::set<std::string_view> tags;
  for (const PageAsset& asset : page_assets()) {
    const HttpResponse response = world.get(std::string(asset.path));
    EXPECT_EQ(response.status, 200) << asset.path;
    EXPECT_EQ(response.field("Content-Type"), type_of(asset.path)) << asset.path;
    EXPECT_FALSE(response.body.empty()) << asset.path;
    EXPECT_EQ(response.body, file_of(asset.path)) << asset.path;
    EXPECT_TRUE(tags.insert(asset.etag).second) << asset.path << " has the tag of another";
  }
}

TEST(PageAsset, TheDescriptionIsThatOfTheTree) {
  std::ifstream file(std::string(WINDHOVER_SOURCE_DIR) + "/io/http/openapi.json");
  const std::string description{std::istreambuf_iterator<char>(file), {}};
  HttpWorld world;
  const HttpResponse response = world.get("/v1/openapi.json");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.field("Content-Type"), "application/json");
  EXPECT_EQ(response.body, description);
  const auto posted = world.ask("POST /v1/openapi.json HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(posted.at(0).status, 405);
  EXPECT_EQ(world.get("/openapi.json").status, 404);
}

TEST(PageAsset, TheAnswerIsKeptByItsTagAndRunsNothingOfAnotherSite) {
  HttpWorld world;
  const HttpResponse response = world.get("/?model=anything");
  ASSERT_EQ(response.status, 200);
  EXPECT_EQ(response.field("Cache-Control"), "no-cache");
  EXPECT_EQ(response.field("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(response.field("Referrer-Policy"), "no-referrer");
  const std::string policy = response.field("Content-Security-Policy");
  EXPECT_TRUE(policy.starts_with("default-src 'self';")) << policy;
  EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
  EXPECT_EQ(world.get("/v1/status").field("Content-Security-Policy"), "");
  EXPECT_EQ(world.get("/v1/status").field("Cache-Control"), "no-store");
}

TEST(PageAsset, WhoHasThisVersionIsNotSentItAgain) {
  HttpWorld world;
  const std::string tag = world.get("/page/main.js").field("ETag");
  const auto ask = [&](const std::string& tags) {
    return world.ask("GET /page/main.js HTTP/1.1\r\nIf-None-Match: " + tags + "\r\n\r\n").at(0);
  };
  for (const std::string& tags : {tag, "W/" + tag, "\"another\", " + tag, std::string("*")}) {
    const HttpResponse same = ask(tags);
    EXPECT_EQ(same.status, 304) << tags;
    EXPECT_EQ(same.field("ETag"), tag);
    EXPECT_EQ(same.field("Content-Length"), "");
    EXPECT_EQ(same.body, "");
  }
  EXPECT_EQ(ask("\"another\"").status, 200);
  // The connection goes on after an answer without a body.
  const auto both =
      world.ask("GET / HTTP/1.1\r\nIf-None-Match: *\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].status, 304);
  EXPECT_EQ(both[1].body, "{\"status\":\"serving\"}\n");
}

TEST(PageAsset, HeadSaysTheLengthAndOtherMethodsAreRefused) {
  HttpWorld world;
  std::string out;
  const std::string head = "HEAD / HTTP/1.1\r\n\r\n";
  world.conversation->handle(std::as_bytes(std::span(head)), out);
  HttpResponse response;
  ASSERT_TRUE(take_response(out, response, false));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.field("Content-Length"),
            std::to_string(find_page_asset(page_assets(), "/")->body.size()));
  EXPECT_EQ(out, "");
  const auto posted = world.ask("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(posted.at(0).status, 405);
  EXPECT_EQ(posted.at(0).field("Allow"), "GET, HEAD");
}

TEST(PageAsset, NothingElseOfTheFolderIsServed) {
  HttpWorld world;
  for (const char* path :
       {"/page", "/page/", "/page/index.html", "/page/README.md", "/page/embed.cmake",
        "/page/../page/main.js", "/page//main.js", "/page/vendor/uplot/SOURCE.md", "//"}) {
    EXPECT_EQ(world.get(path).status, 404) << path;
    EXPECT_EQ(find_page_asset(page_assets(), path), nullptr) << path;
  }
}

// What the policy forbids would silently not work; an address of another site would be asked.
TEST(PageAsset, FilesNameNoOtherSiteAndHoldNoScriptOrStyleInline) {
  static const std::regex kInline(R"(<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=")");
  static const std::regex kElsewhere(R"((src|href)="(?!/)|url\((?!#)|@import)");
  static const std::regex kFile(R"((src|href)="(/[^"]*)\")");
  const std::string page(find_page_asset(page_assets(), "/")->body);
  EXPECT_FALSE(std::regex_search(page, kInline));
  for (std::sregex_iterator at(page.begin(), page.end(), kFile), end; at != end; ++at) {
    const std::string path = (*at)[2];
    if (!path.starts_with("/page/")) continue;  // /metrics and the like
    EXPECT_NE(find_page_asset(page_assets(), path), nullptr) << path << " is not there";
  }
  for (const PageAsset& asset : page_assets()) {
    if (asset.path.starts_with("/page/vendor/")) continue;
    std::string body(asset.body);
    body = std::regex_replace(body, std::regex(R"("http://www\.w3\.org/2000/svg")"), "");
    body = std::regex_replace(body, std::regex(R"(href="#)"), "");
    EXPECT_FALSE(std::regex_search(body, kElsewhere)) << asset.path;
    EXPECT_EQ(body.find("http://"), std::string::npos) << asset.path;
    EXPECT_EQ(body.find("https://"), std::string::npos) << asset.path;
    EXPECT_EQ(body.find("innerHTML"), std::string::npos) << asset.path;
  }
}

}  // namespace page_asset_test
}  // namespace windhover
