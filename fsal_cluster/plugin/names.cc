#include "fsal_cluster/plugin/names.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "common/base/ip_text.h"
#include "common/base/log.h"
#include "common/base/thread_annotations.h"
#include "fsal_cluster/plugin/known_answers.h"
#include "fsal_cluster/plugin/limits.h"
#include "fsal_cluster/plugin/name_service.h"

namespace symnas::plugin {
namespace {

using Clock = std::chrono::steady_clock;

// Moves this thread there. What cannot be entered is logged: then nobody has a name.
void enter(const std::string& path, int kind) {
  if (path.empty()) return;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  // Mounts are of a thread only if it shares no working directory.
  const bool alone = kind != CLONE_NEWNS || ::unshare(CLONE_FS) == 0;
  if (fd < 0 || !alone || ::setns(fd, kind) != 0)
    log::error("name services: namespace {} cannot be entered: {}", path, std::strerror(errno));
  if (fd >= 0) ::close(fd);
}

// Threads that ask. A service that hangs keeps as many questions as there are threads; the others
// wait in the queues, each key once. What requests are kept for comes first: names of owners, of
// which a client may make up any number, never have all threads.
class Askers {
 public:
  enum class About { kCaller, kOwner };
  Askers(std::string network, std::string mounts)
      : network_(std::move(network)), mounts_(std::move(mounts)) {}

  // tick: is called every kNameTickMs once there is a question.
  void start(std::function<void()> tick) {
    {
      const MutexLock lock(mutex_);
      if (std::exchange(started_, true)) return;
    }
    for (unsigned i = 0; i < kNameThreads; ++i) std::thread([this] { work(); }).detach();
    std::thread([tick = std::move(tick)] {
      ::pthread_setname_np(::pthread_self(), "names_tick");
      for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(kNameTickMs));
        tick();
      }
    }).detach();
  }

  void add(About about, std::function<void()> question) {
    const MutexLock lock(mutex_);
    (about == About::kCaller ? of_callers_ : of_owners_).push_back(std::move(question));
    changed_.notify_one();
  }

 private:
  void work() {
    ::pthread_setname_np(::pthread_self(), "names");
    // The second path is looked up in the first one's mounts.
    enter(network_, CLONE_NEWNET);
    enter(mounts_, CLONE_NEWNS);
    for (;;) {
      std::function<void()> question;
      bool about_owner = false;
      {
        const MutexLock lock(mutex_);
        changed_.wait(mutex_, [this]() NO_THREAD_SAFETY_ANALYSIS { return may_ask(); });
        about_owner = of_callers_.empty();
        auto& questions = about_owner ? of_owners_ : of_callers_;
        question = std::move(questions.front());
        questions.pop_front();
        if (about_owner) ++asking_owners_;
      }
      question();
      if (!about_owner) continue;
      const MutexLock lock(mutex_);
      --asking_owners_;
      changed_.notify_one();
    }
  }

  bool may_ask() const REQUIRES(mutex_) {
    return !of_callers_.empty() || (!of_owners_.empty() && asking_owners_ < kOwnerThreads);
  }

  const std::string network_;
  const std::string mounts_;
  Mutex mutex_;
  CondVar changed_;
  bool started_ GUARDED_BY(mutex_) = false;
  unsigned asking_owners_ GUARDED_BY(mutex_) = 0;
  std::deque<std::function<void()>> of_callers_ GUARDED_BY(mutex_);
  std::deque<std::function<void()>> of_owners_ GUARDED_BY(mutex_);
};

using NamesOfClient = std::map<std::string, bool>;

class Names {
 public:
  Names(const std::string& network, const std::string& mounts)
      : askers_(network, mounts),
        clients_([this](const std::string& address) {
          askers_.add(Askers::About::kCaller, [this, address] { ask_client(address); });
        }),
        users_([this](std::uint32_t uid) {
          askers_.add(Askers::About::kCaller, [this, uid] { ask_user(uid); });
        }),
        principals_([this](const std::string& name) {
          askers_.add(Askers::About::kCaller,
                      [this, name] { ask_name(principals_, "the principal", name); });
        }),
        owners_(
            [this](const std::string& name) {
              askers_.add(Askers::About::kOwner,
                          [this, name] { ask_name(owners_, "the owner", name); });
            },
            kKnownOwnersMax),
        groups_(
            [this](const std::string& name) {
              askers_.add(Askers::About::kOwner, [this, name] { ask_group(name); });
            },
            kKnownOwnersMax) {}

  void use(const std::vector<InstanceFile::Export>& exports,
           const InstanceFile::Kerberos& kerberos) {
    std::set<std::string> names;
    bool groups = false;
    for (const InstanceFile::Export& one : exports) {
      names.insert(one.names.begin(), one.names.end());
      groups |= one.manage_gids;
    }
    if (!names.empty() || groups || !kerberos.realm.empty()) {
      askers_.start([this] {
        clients_.tick(Clock::now());
        users_.tick(Clock::now());
        principals_.tick(Clock::now());
      });
    }
    const MutexLock lock(mutex_);
    names_.assign(names.begin(), names.end());
    realm_ = kerberos.realm;
    domain_ = kerberos.domain;
    looks_at_clients_.store(!names.empty());
    looks_at_users_.store(groups);
  }

  bool are_known(svc_req* request) {
    if (looks_at_clients_.load() && !is_client_known(request)) return false;
    return !looks_at_users_.load() || is_user_known(request);
  }

  void resume_all() {
    clients_.resume_all();
    users_.resume_all();
    principals_.resume_all();
  }

  bool is_principal_known(svc_req* request, const std::string& principal) {
    const auto user = user_of(principal);
    return !user || !principals_.wait(*user, Clock::now(), [request] { svc_resume(request); });
  }

  // As nfs_ids_of_principal. nullopt: not known yet.
  std::optional<UserIds> ids_of(const std::string& principal) {
    if (is_machine(principal)) return UserIds{true, 0, 0, {0}};
    const auto user = user_of(principal);
    return user ? principals_.find(*user, Clock::now()) : UserIds{};
  }

  // As nfs_is_client.
  int is_client(const std::string& address, const std::string& name) {
    const auto known = clients_.find(address, Clock::now());
    if (!known) return -1;
    const auto found = known->find(name);
    if (found != known->end()) return found->second ? 1 : 0;
    clients_.ask_again(address, Clock::now());
    return -1;
  }

  std::optional<UserGroups> groups_of(std::uint32_t uid) { return users_.find(uid, Clock::now()); }

  // As nfs_id_of_owner. While there is no answer, who asks is to come again.
  int id_of_owner(const std::string& owner, bool is_group, std::uint32_t& id) {
    const std::size_t at = owner.rfind('@');
    if (at == std::string::npos || at == 0 || !is_of_our_domain(owner.substr(at + 1))) return 0;
    const std::string name = owner.substr(0, at);
    const Clock::time_point now = Clock::now();
    if (is_group) {
      const auto known = groups_.find(name, now);
      if (!known) return -1;
      id = known->gid;
      return known->is_known ? 1 : 0;
    }
    const auto known = owners_.find(name, now);
    if (!known) return -1;
    id = known->uid;
    return known->is_known ? 1 : 0;
  }

 private:
  static std::string address_of(const sockaddr_storage& address) {
    if (address.ss_family == AF_INET6)
      return ip_text(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
    return ip_text(ipv4_mapped(reinterpret_cast<const sockaddr_in&>(address).sin_addr));
  }

  bool is_client_known(svc_req* request) {
    const std::string address = address_of(*svc_getrpccaller(request->rq_xprt));
    return !clients_.wait(address, Clock::now(), [request] { svc_resume(request); });
  }

  bool is_user_known(svc_req* request) {
    const auto uid = uid_of(request->rq_msg.cb_cred);
    return !uid || !users_.wait(*uid, Clock::now(), [request] { svc_resume(request); });
  }

  // AUTH_SYS (RFC 5531, appendix A): stamp, the machine's name, uid, ...
  static std::optional<std::uint32_t> uid_of(const opaque_auth& credential) {
    if (credential.oa_flavor != AUTH_SYS) return std::nullopt;
    const auto word = [&](std::size_t at) -> std::optional<std::uint32_t> {
      if (at + 4 > credential.oa_length) return std::nullopt;
      std::uint32_t value = 0;
      std::memcpy(&value, credential.oa_body + at, sizeof value);
      return ntohl(value);
    };
    const auto length = word(4);
    if (!length || *length > credential.oa_length) return std::nullopt;
    return word(8 + (*length + 3) / 4 * 4);
  }

  bool is_of_our_realm(const std::string& principal) {
    const std::size_t at = principal.rfind('@');
    const MutexLock lock(mutex_);
    return at != std::string::npos && !realm_.empty() && principal.substr(at + 1) == realm_;
  }

  // With these keys clients mount, and their root works.
  bool is_machine(const std::string& principal) {
    const bool named = principal.starts_with("nfs/") || principal.starts_with("host/") ||
                       principal.starts_with("root/");
    return named && is_of_our_realm(principal);
  }

  // The user's name. nullopt: no user of ours is meant; "user/admin@REALM" is another one than
  // "user@REALM".
  std::optional<std::string> user_of(const std::string& principal) {
    const std::size_t at = principal.rfind('@');
    if (!is_of_our_realm(principal) || at == 0) return std::nullopt;
    std::string user = principal.substr(0, at);
    if (user.find_first_of("/@") != std::string::npos) return std::nullopt;
    return user;
  }

  bool is_of_our_domain(std::string_view domain) {
    const MutexLock lock(mutex_);
    return !domain_.empty() && domain == domain_;
  }

  std::vector<std::string> names() {
    const MutexLock lock(mutex_);
    return names_;
  }

  void ask_client(const std::string& address) {
    const std::vector<std::string> wanted = names();
    NamesOfClient answer = names_of_client(address, wanted);
    const bool complete = answer.size() == wanted.size();
    // Of what nobody says now, what was so holds.
    if (const auto former = clients_.find(address, Clock::now()); !complete && former)
      answer.insert(former->begin(), former->end());
    if (!complete) note_silence("the name of client", address);
    if (answer.empty() && !complete) return clients_.failed(address, Clock::now());
    clients_.answer(address, std::move(answer), complete, Clock::now());
  }

  void ask_user(std::uint32_t uid) {
    auto answer = groups_of_user(uid);
    if (answer) return users_.answer(uid, std::move(*answer), true, Clock::now());
    note_silence("the groups of uid", std::to_string(uid));
    users_.failed(uid, Clock::now());
  }

  void ask_name(KnownAnswers<std::string, UserIds>& table, std::string_view what,
                const std::string& user) {
    auto answer = ids_of_user(user);
    if (answer) return table.answer(user, std::move(*answer), true, Clock::now());
    note_silence(what, user);
    table.failed(user, Clock::now());
  }

  void ask_group(const std::string& name) {
    auto answer = id_of_group(name);
    if (answer) return groups_.answer(name, *answer, true, Clock::now());
    note_silence("the group", name);
    groups_.failed(name, Clock::now());
  }

  // One line a minute, however many ask. The name may be what a client has made up.
  void note_silence(std::string_view what, const std::string& name) {
    const MutexLock lock(mutex_);
    const Clock::time_point now = Clock::now();
    ++unanswered_;
    if (now < next_note_) return;
    log::warn(
        "name services of this head do not answer: {} questions since the last such line, "
        "the latest is about {} {:?}",
        unanswered_, what, name);
    next_note_ = now + std::chrono::milliseconds(kNameNoteMs);
    unanswered_ = 0;
  }

  Askers askers_;
  KnownAnswers<std::string, NamesOfClient> clients_;
  KnownAnswers<std::uint32_t, UserGroups> users_;
  KnownAnswers<std::string, UserIds> principals_;  // by the user's name
  KnownAnswers<std::string, UserIds> owners_;
  KnownAnswers<std::string, GroupId> groups_;
  std::atomic<bool> looks_at_clients_{false};
  std::atomic<bool> looks_at_users_{false};
  Mutex mutex_;
  std::vector<std::string> names_ GUARDED_BY(mutex_);
  std::string realm_ GUARDED_BY(mutex_);
  std::string domain_ GUARDED_BY(mutex_);
  std::uint64_t unanswered_ GUARDED_BY(mutex_) = 0;
  Clock::time_point next_note_ GUARDED_BY(mutex_);

 public:
  static std::string text_of(const sockaddr_storage& address) { return address_of(address); }
};

Names* the_names = nullptr;  // never deleted: its threads live as long as the process

int is_client(const sockaddr_t* client, const char* name) {
  return the_names->is_client(Names::text_of(*client), name);
}

int hand_out(const std::vector<std::uint32_t>& known, gid_t** groups) {
  *groups = static_cast<gid_t*>(gsh_malloc(std::max<std::size_t>(known.size(), 1) * sizeof(gid_t)));
  std::copy(known.begin(), known.end(), *groups);
  return static_cast<int>(known.size());
}

int groups_of(uid_t uid, gid_t** groups) {
  const auto known = the_names->groups_of(uid);
  if (!known || !known->is_known) return -1;
  return hand_out(known->groups, groups);
}

int ids_of_principal(const char* principal, uid_t* uid, gid_t* gid, gid_t** groups) {
  const auto known = the_names->ids_of(principal);
  if (!known) return PRINCIPAL_UNANSWERED;
  if (!known->is_known) return -1;
  *uid = known->uid;
  *gid = known->gid;
  return hand_out(known->groups, groups);
}

int id_of_owner(const char* name, std::size_t size, bool group, std::uint32_t* id) {
  return the_names->id_of_owner(std::string(name, size), group, *id);
}

}  // namespace

void start_names(const std::string& network_namespace, const std::string& mount_namespace) {
  the_names = new Names(network_namespace, mount_namespace);
  nfs_is_client = is_client;
  nfs_groups_of = groups_of;
  nfs_ids_of_principal = ids_of_principal;
  nfs_id_of_owner = id_of_owner;
}

void use_names(const std::vector<InstanceFile::Export>& exports,
               const std::optional<InstanceFile::Kerberos>& kerberos) {
  the_names->use(exports, kerberos.value_or(InstanceFile::Kerberos{}));
}

bool principal_is_known(svc_req* request, const char* principal) {
  return the_names == nullptr || the_names->is_principal_known(request, principal);
}

bool names_are_known(svc_req* request) {
  return the_names == nullptr || the_names->are_known(request);
}

void resume_unnamed() {
  if (the_names != nullptr) the_names->resume_all();
}

}  // namespace symnas::plugin
