#include "tests/sim/heads.h"

namespace symnas::sim {

Heads::Heads(const MountWorldOptions& options, std::size_t count) : options_(options) {
  worlds_.resize(count);
  worlds_[0] = std::make_unique<MountWorld>(options_);
}

void Heads::start() {
  worlds_[0]->start();
  worlds_[0]->epoch();  // the filesystem exists
  for (std::size_t head = 1; head < worlds_.size(); ++head) {
    worlds_[head] = std::make_unique<MountWorld>(*worlds_[0], static_cast<unsigned>(head + 1));
    worlds_[head]->start();
  }
}

std::size_t Heads::pick(std::size_t home) const {
  if (worlds_.size() == 1) return 0;
  std::size_t head = below(2) == 0 ? home % worlds_.size() : below(worlds_.size());
  for (std::size_t tries = 0; tries < worlds_.size(); ++tries) {
    if (worlds_[head]->serving() || (tries == 0 && below(4) == 0)) return head;
    head = (head + 1) % worlds_.size();
  }
  return head;
}

void Heads::all_come_back() {
  for (auto& world : worlds_) world->set_presence(MountWorld::Presence::kHere);
}

void Heads::disturb(const MountWorld::Hazards& hazards) {
  worlds_[worlds_.size() == 1 ? 0 : below(worlds_.size())]->disturb(hazards);
}

void Heads::come_and_go() {
  if (worlds_.size() == 1) return;
  MountWorld& one = *worlds_[1 + below(worlds_.size() - 1)];  // the first one stays
  if (!one.healthy()) {
    one.set_presence(MountWorld::Presence::kHere);
    return;
  }
  one.set_presence(MountWorld::Presence::kAway);
  if (below(2) == 0) {
    one.close_cleanly();
  } else {
    one.kill_instance();
  }
}

void Heads::lose_power() {
  for (auto& world : worlds_) world->kill_all();
  worlds_[0]->lose_power();
}

void Heads::close_cleanly() {
  for (auto& world : worlds_) world->close_cleanly();
}

std::string Heads::check_ends() const {
  for (const auto& world : worlds_) {
    std::string wrong = world->check_ends();
    if (!wrong.empty()) return wrong;
  }
  return {};
}

void Heads::settle() {
  for (auto& world : worlds_) world->settle();
  for (auto& world : worlds_) world->epoch();
}

}  // namespace symnas::sim
