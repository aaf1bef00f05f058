#include "vnfsd/api/form.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::api {
namespace {

const std::string kToken = "symnas.ops." + std::string(64, 'a');

HttpRequest request(const std::string& method, const std::string& target) {
  HttpRequest made;
  made.method = method;
  made.target = made.path = target;
  return made;
}

int status_of(const HttpRequest& header) {
  const auto refusal = refuse_form(header);
  return refusal ? refusal->status : 0;
}

TEST(Form, UsualRequestsPass) {
  EXPECT_EQ(status_of(request("GET", "/v1/status")), 0);
  HttpRequest post = request("POST", "/v1/networks");
  post.headers = {{"content-length", "12"}, {"content-type", "application/json; charset=utf-8"}};
  EXPECT_EQ(status_of(post), 0);
}

TEST(Form, ATokenInTheUrlIsRefusedAndNotRepeated) {
  HttpRequest in_query = request("GET", "/v1/status");
  in_query.query.emplace("x", kToken);
  HttpRequest named = request("GET", "/v1/status");
  named.query.emplace("access_token", "abc");
  for (const HttpRequest& bad : {in_query, named, request("GET", "/v1/" + kToken),
                                 request("GET", "/v1/status?a=" + kToken)}) {
    const auto refusal = refuse_form(bad);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->status, 400);
    EXPECT_EQ(refusal->body.find(std::string(64, 'a')), std::string::npos);
    EXPECT_EQ(refusal->body.find("abc"), std::string::npos);
  }
}

TEST(Form, BodiesAreBoundedBeforeTheyAreRead) {
  const auto with = [](const std::string& name, const std::string& value) {
    HttpRequest post = request("POST", "/v1/networks");
    post.headers = {{"content-length", "2"}, {"content-type", "application/json"}};
    post.headers[name] = value;
    return status_of(post);
  };
  EXPECT_EQ(with("content-length", "104857600"), 413);
  EXPECT_EQ(with("content-length", "-1"), 400);
  EXPECT_EQ(with("content-length", "99999999999999999999999"), 400);
  EXPECT_EQ(with("transfer-encoding", "chunked"), 411);
  EXPECT_EQ(with("content-encoding", "gzip"), 415);
  EXPECT_EQ(with("content-type", "multipart/form-data"), 415);
  EXPECT_EQ(with("content-length", "1048576"), 0);
}

TEST(Form, NoHeaderBringsAnother) {
  HttpRequest bad = request("GET", "/v1/status");
  bad.headers["authorization"] = "Bearer x\r\nX-Symnas-Address: 10.0.0.1";
  EXPECT_EQ(status_of(bad), 400);
}

TEST(Form, OtherMethodsAndLongUrlsAreRefused) {
  EXPECT_EQ(status_of(request("PUT", "/v1/status")), 405);
  EXPECT_EQ(status_of(request("OPTIONS", "*")), 405);
  EXPECT_EQ(status_of(request("GET", "/v1/" + std::string(5000, 'x'))), 414);
}

TEST(Form, BearerTokens) {
  EXPECT_EQ(bearer_token("Bearer x"), "x");
  EXPECT_EQ(bearer_token("Basic x"), "");
  EXPECT_EQ(bearer_token(""), "");
  EXPECT_EQ(too_many("this address", 1001).headers.at("Retry-After"), "2");
}

}  // namespace
}  // namespace symnas::vnfsd::api
