#include "fsal_cluster/quota/subject.h"

namespace symnas::fs {

std::string to_string(const Subject& subject) {
  switch (subject.kind) {
    case SubjectKind::kFilesystem: return "filesystem";
    case SubjectKind::kUser: return "user " + std::to_string(subject.id);
    case SubjectKind::kGroup: return "group " + std::to_string(subject.id);
    case SubjectKind::kTree: return "tree " + std::to_string(subject.id);
    case SubjectKind::kEachUser: return "each user";
    case SubjectKind::kEachGroup: return "each group";
  }
  return "unknown subject";
}

std::optional<Subject> each_of(const Subject& subject) {
  if (subject.id == 0) return std::nullopt;
  if (subject.kind == SubjectKind::kUser) return Subject{SubjectKind::kEachUser, 0};
  if (subject.kind == SubjectKind::kGroup) return Subject{SubjectKind::kEachGroup, 0};
  return std::nullopt;
}

void add(Usages& to, const Subject& subject, const Usage& usage) {
  if (usage.none()) return;
  const auto it = to.try_emplace(subject).first;
  it->second += usage;
  if (it->second.none()) to.erase(it);
}

void add(Usages& to, const Subjects& subjects, const Usage& usage) {
  subjects.for_each([&](const Subject& subject) { add(to, subject, usage); });
}

void add(Usages& to, const Usages& more) {
  for (const auto& [subject, usage] : more) add(to, subject, usage);
}

}  // namespace symnas::fs
