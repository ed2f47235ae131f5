// io/http/openapi.json against the server: the same paths and methods, the same messages, and every
// answer to its examples is one that it describes.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "windhover/io/windhover.pb.h"
#include "windhover/tests/io/http/http_fixture.h"

namespace windhover {
namespace openapi_test {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using nlohmann::json;
using testing::HttpResponse;
using testing::HttpWorld;

const json& document() {
  static const json parsed = [] {
    std::ifstream file(std::string(WINDHOVER_SOURCE_DIR) + "/io/http/openapi.json");
    return json::parse(file);
  }();
  return parsed;
}

std::string name_of(const json& schema) {
  const std::string reference =
      schema.contains("allOf") ? schema["allOf"][0].value("$ref", "") : schema.value("$ref", "");
  return reference.substr(reference.rfind('/') + 1);
}

TEST(OpenApi, PathsAndMethodsAreThoseOfTheServer) {
  std::set<std::string> served;
  for (const HttpRoute& route : http_routes()) {
    std::string path(route.path);
    if (path.ends_with('/')) path += "{id}";
    served.insert((route.method == HttpMethod::kGet ? "get " : "post ") + path);
  }
  std::set<std::string> described;
  for (const auto& [path, methods] : document().at("paths").items()) {
    for (const auto& [method, operation] : methods.items()) described.insert(method + " " + path);
  }
  EXPECT_EQ(described, served);
}

json resolved(const json& parameter) {
  const std::string name = name_of(parameter);
  return name.empty() ? parameter : document()["components"]["parameters"].at(name);
}

// A misspelt "model", or one without a value, would have the first one answer.
TEST(OpenApi, ParametersAreThoseOfTheServerAndOthersAreRefused) {
  HttpWorld world;
  for (const auto& [path, methods] : document().at("paths").items()) {
    for (const auto& [method, operation] : methods.items()) {
      const std::size_t id = path.find("{id}");
      const std::string there = id == std::string::npos ? path : path.substr(0, id) + "7";
      const auto asked_with = [&](const std::string& query) {
        const auto responses = world.ask((method == "get" ? "GET " : "POST ") + there + "?" +
                                         query + " HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
        EXPECT_EQ(responses.size(), 1U) << path;
        return responses.at(0);
      };
      HttpRequest request;
      request.path = path;
      if (HttpHandler::is_sign_of_life(request)) {
        EXPECT_EQ(asked_with("model=none&modle=1").status, 200U) << "it takes no notice: " << path;
        continue;
      }
      std::set<std::string> taken;
      for (const json& one : operation.value("parameters", json::array())) {
        if (resolved(one).at("in") == "query") taken.insert(resolved(one).at("name"));
      }
      ASSERT_TRUE(operation.at("responses").contains("400")) << path;
      for (const std::string query :
           {"modle=none", "model", "first=1", "after=1", "=", "Model=1"}) {
        const std::string name = query.substr(0, query.find('='));
        const HttpResponse answer = asked_with(query);
        const bool refused = answer.body.find("this path does not take ") != std::string::npos;
        EXPECT_EQ(refused, !taken.contains(name)) << path << "?" << query << " " << answer.body;
        EXPECT_TRUE(!refused || answer.status == 400U) << path << "?" << query;
      }
      EXPECT_EQ(asked_with("model=none").status, taken.contains("model") ? 404U : 400U) << path;
      const auto refused_with = [&](const std::string& query, std::string_view sentence) {
        const HttpResponse answer = asked_with(query);
        EXPECT_EQ(answer.status, 400U) << path << "?" << query;
        EXPECT_NE(answer.body.find(sentence), std::string::npos) << query << " " << answer.body;
      };
      for (const std::string& name : taken) {
        for (const std::string& query : {name, name + "=", "&" + name + "=&"}) {
          refused_with(query, name + "\\\" has no value behind the '?'");
        }
        for (const std::string& other : {name + "=1", name + "=2"}) {
          refused_with(name + "=1&" + other, name + "\\\" stands more than once behind the '?'");
        }
      }
    }
  }
}

// Limits and turns are of all but signs of life.
TEST(OpenApi, WhoIsOverLimitsOrHasNoTurnIsToldEverywhere) {
  for (const auto& [path, methods] : document().at("paths").items()) {
    for (const auto& [method, operation] : methods.items()) {
      const json& responses = operation.at("responses");
      HttpRequest request;
      request.path = path;
      EXPECT_TRUE(responses.contains("503")) << path;
      EXPECT_NE(responses.contains("429"), HttpHandler::is_sign_of_life(request)) << path;
    }
  }
}

// Each answer of the proto is that of a path, and there are as many questions as answers.
TEST(OpenApi, EveryRequestOfTheProtoHasAPath) {
  std::set<std::string> answered;
  for (const auto& [path, methods] : document().at("paths").items()) {
    for (const auto& [method, operation] : methods.items()) {
      const json& content = operation.at("responses").at("200").at("content");
      if (!content.contains("application/json")) continue;
      answered.insert(name_of(content["application/json"].at("schema")));
    }
  }
  const google::protobuf::OneofDescriptor& asked = *v1::Request::descriptor()->oneof_decl(0);
  const google::protobuf::OneofDescriptor& told = *v1::Response::descriptor()->oneof_decl(0);
  int answers = 0;
  for (int i = 0; i < told.field_count(); ++i) {
    const std::string& name = told.field(i)->message_type()->name();
    if (name == "Refusal") continue;
    ++answers;
    EXPECT_TRUE(answered.contains(name)) << "no path answers with " << name;
  }
  EXPECT_EQ(asked.field_count(), answers);
}

// How a field stands in JSON.
std::string type_of(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "Number";
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
    case FieldDescriptor::CPPTYPE_STRING:
      return "string";
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
      return "integer";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "boolean";
    case FieldDescriptor::CPPTYPE_ENUM:
      return field.enum_type()->name();
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return field.message_type()->name();
  }
  return "";
}

std::string type_in(const json& schema) {
  if (schema.contains("type") && schema["type"] != "array") return schema["type"];
  return name_of(schema);
}

TEST(OpenApi, MessagesAreThoseOfTheProto) {
  const google::protobuf::FileDescriptor& proto = *v1::Request::descriptor()->file();
  int compared = 0;
  for (const auto& [name, schema] : document().at("components").at("schemas").items()) {
    if (const EnumDescriptor* const of = proto.FindEnumTypeByName(name)) {
      std::set<std::string> values;
      for (int i = 0; i < of->value_count(); ++i) values.insert(of->value(i)->name());
      EXPECT_EQ(schema.at("enum").get<std::set<std::string>>(), values) << name;
      ++compared;
      continue;
    }
    const Descriptor* const of = proto.FindMessageTypeByName(name);
    if (of == nullptr) continue;  // Number, Error and State are not of the proto
    ++compared;
    std::set<std::string> described;
    for (const auto& [field, of_field] : schema.at("properties").items()) {
      if (!of_field.value("x-json-only", false)) described.insert(field);
    }
    for (int i = 0; i < of->field_count(); ++i) {
      const FieldDescriptor& field = *of->field(i);
      ASSERT_EQ(described.erase(field.name()), 1U) << name << "." << field.name();
      const json& is = schema["properties"][field.name()];
      const bool list = is.value("type", "") == "array";
      EXPECT_EQ(list, field.is_repeated()) << name << "." << field.name();
      EXPECT_EQ(type_in(list ? is["items"] : is), type_of(field)) << name << "." << field.name();
    }
    EXPECT_TRUE(described.empty()) << name << " has no " << *described.begin();
  }
  EXPECT_GE(compared, 18);
}

// Everything that `value` holds is described by `schema`.
void expect_described(const json& value, const json& schema, const std::string& where) {
  const std::string name = name_of(schema);
  const json& of = name.empty() ? schema : document()["components"]["schemas"].at(name);
  if (of.contains("oneOf")) {
    const bool word =
        value.is_string() && of["oneOf"][1]["enum"].dump().find(value.dump()) != std::string::npos;
    EXPECT_TRUE(value.is_number() || word) << where << " is " << value;
    return;
  }
  const std::string type = of.at("type");
  if (type == "object") {
    ASSERT_TRUE(value.is_object()) << where;
    for (const json& required : of.value("required", json::array())) {
      EXPECT_TRUE(value.contains(required.get<std::string>())) << where << " has no " << required;
    }
    for (const auto& [key, member] : value.items()) {
      ASSERT_TRUE(of.at("properties").contains(key)) << where << "." << key;
      expect_described(member, of["properties"][key], where + "." + key);
    }
  } else if (type == "array") {
    ASSERT_TRUE(value.is_array()) << where;
    for (const json& member : value) expect_described(member, of["items"], where + "[]");
  } else if (type == "string") {
    ASSERT_TRUE(value.is_string()) << where << " is " << value;
    if (!of.contains("enum")) return;
    EXPECT_TRUE(of["enum"].get<std::set<std::string>>().contains(value.get<std::string>()))
        << where;
  } else {
    EXPECT_TRUE(type == "integer" ? value.is_number_integer() : value.is_boolean()) << where;
  }
}

void expect_answer_described(const json& operation, const HttpResponse& response,
                             const std::string& where) {
  const json& described = operation.at("responses");
  const std::string status = std::to_string(response.status);
  ASSERT_TRUE(described.contains(status)) << where << " answers " << status << response.body;
  const std::string type = response.field("Content-Type");
  const json& content = described[status].at("content");
  const std::string bare = type.substr(0, type.find(';'));
  ASSERT_TRUE(content.contains(bare)) << where << " is " << type;
  if (bare != "application/json") return;
  expect_described(json::parse(response.body), content[bare].at("schema"), where);
}

TEST(OpenApi, AnswersToItsExamplesAreAsDescribed) {
  HttpWorld world;
  const std::string post = " HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ";
  for (const auto& [path, methods] : document().at("paths").items()) {
    const std::size_t id = path.find("{id}");
    const std::string there = id == std::string::npos ? path : path.substr(0, id) + "7";
    if (methods.contains("get")) {
      expect_answer_described(methods["get"], world.get(there), path);
    }
    if (!methods.contains("post")) continue;
    const json& operation = methods["post"];
    std::vector<std::string> bodies = {"{}", "{", "{\"no_such_field\": 1}"};
    if (operation.contains("requestBody")) {
      const json& content = operation["requestBody"]["content"]["application/json"];
      bodies.push_back(content.at("example").dump());
      expect_described(content["example"], content["schema"], path + " example");
    }
    for (const std::string& body : bodies) {
      const auto responses =
          world.ask("POST " + there + post + std::to_string(body.size()) + "\r\n\r\n" + body);
      ASSERT_EQ(responses.size(), 1U) << path;
      expect_answer_described(operation, responses[0], path + " " + body);
    }
  }
  const json& predict = document()["paths"]["/v1/predict"]["post"];
  const std::string example =
      predict["requestBody"]["content"]["application/json"]["example"].dump();
  const auto answered =
      world.ask("POST /v1/predict" + post + std::to_string(example.size()) + "\r\n\r\n" + example);
  EXPECT_EQ(answered.at(0).status, 200) << answered.at(0).body;
  for (const char* path : {"/healthz", "/readyz"}) {
    world.handler->stop();
    expect_answer_described(document()["paths"][path]["get"], world.get(path), path);
  }
}

}  // namespace openapi_test
}  // namespace windhover
