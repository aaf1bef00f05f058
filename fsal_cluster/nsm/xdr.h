// XDR (RFC 4506) as far as NSM, NLM and the port mapper need it. Thread class: thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace symnas::nsm {

class XdrWriter {
 public:
  void put_u32(std::uint32_t value);
  void put_i32(std::int32_t value) { put_u32(static_cast<std::uint32_t>(value)); }
  void put_string(std::string_view text);   // variable length: string or opaque
  void put_fixed(std::string_view opaque);  // fixed length, padded
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads bytes that may be anything. After the first value that is not there failed() is true, and
// every value is 0 or "".
class XdrReader {
 public:
  explicit XdrReader(std::string_view bytes) : left_(bytes) {}
  std::uint32_t u32();
  std::int32_t i32() { return static_cast<std::int32_t>(u32()); }
  // A string longer than bytes_max is a failure.
  std::string_view string(std::size_t bytes_max);
  bool failed() const { return failed_; }
  std::string_view left() const { return left_; }

 private:
  std::string_view take(std::size_t bytes);

  std::string_view left_;
  bool failed_ = false;
};

}  // namespace symnas::nsm
