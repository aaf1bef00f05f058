// Strong<Tag, Rep>: an integer that does not mix with others. Thread class: value type.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace symnas {

template <class Tag, class Rep>
class Strong {
 public:
  constexpr Strong() = default;
  constexpr explicit Strong(Rep value) : value_(value) {}
  constexpr Rep value() const { return value_; }
  friend constexpr auto operator<=>(Strong, Strong) = default;

 private:
  Rep value_ = 0;
};

}  // namespace symnas

template <class Tag, class Rep>
struct std::hash<symnas::Strong<Tag, Rep>> {
  std::size_t operator()(symnas::Strong<Tag, Rep> s) const noexcept {
    return std::hash<Rep>{}(s.value());
  }
};
