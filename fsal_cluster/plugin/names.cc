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
// wait in the queue, each key once.
class Askers {
 public:
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

  void add(std::function<void()> question) {
    const MutexLock lock(mutex_);
    questions_.push_back(std::move(question));
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
      {
        const MutexLock lock(mutex_);
        changed_.wait(mutex_, [this]() NO_THREAD_SAFETY_ANALYSIS { return !questions_.empty(); });
        question = std::move(questions_.front());
        questions_.pop_front();
      }
      question();
    }
  }

  const std::string network_;
  const std::string mounts_;
  Mutex mutex_;
  CondVar changed_;
  bool started_ GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> questions_ GUARDED_BY(mutex_);
};

using NamesOfClient = std::map<std::string, bool>;

class Names {
 public:
  Names(const std::string& network, const std::string& mounts)
      : askers_(network, mounts),
        clients_([this](const std::string& address) {
          askers_.add([this, address] { ask_client(address); });
        }),
        users_([this](std::uint32_t uid) { askers_.add([this, uid] { ask_user(uid); }); }) {}

  void use(const std::vector<InstanceFile::Export>& exports) {
    std::set<std::string> names;
    bool groups = false;
    for (const InstanceFile::Export& one : exports) {
      names.insert(one.names.begin(), one.names.end());
      groups |= one.manage_gids;
    }
    if (!names.empty() || groups) {
      askers_.start([this] {
        clients_.tick(Clock::now());
        users_.tick(Clock::now());
      });
    }
    const MutexLock lock(mutex_);
    names_.assign(names.begin(), names.end());
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
    if (!complete) note_silence("the name of client " + address);
    if (answer.empty() && !complete) return clients_.failed(address, Clock::now());
    clients_.answer(address, std::move(answer), complete, Clock::now());
  }

  void ask_user(std::uint32_t uid) {
    auto answer = groups_of_user(uid);
    if (answer) return users_.answer(uid, std::move(*answer), true, Clock::now());
    note_silence("the groups of uid " + std::to_string(uid));
    users_.failed(uid, Clock::now());
  }

  // One line a minute, however many ask.
  void note_silence(const std::string& what) {
    const MutexLock lock(mutex_);
    const Clock::time_point now = Clock::now();
    ++unanswered_;
    if (now < next_note_) return;
    log::warn(
        "name services of this head do not answer: {} questions since the last such line, "
        "the latest is {}",
        unanswered_, what);
    next_note_ = now + std::chrono::milliseconds(kNameNoteMs);
    unanswered_ = 0;
  }

  Askers askers_;
  KnownAnswers<std::string, NamesOfClient> clients_;
  KnownAnswers<std::uint32_t, UserGroups> users_;
  std::atomic<bool> looks_at_clients_{false};
  std::atomic<bool> looks_at_users_{false};
  Mutex mutex_;
  std::vector<std::string> names_ GUARDED_BY(mutex_);
  std::uint64_t unanswered_ GUARDED_BY(mutex_) = 0;
  Clock::time_point next_note_ GUARDED_BY(mutex_);

 public:
  static std::string text_of(const sockaddr_storage& address) { return address_of(address); }
};

Names* the_names = nullptr;  // never deleted: its threads live as long as the process

int is_client(const sockaddr_t* client, const char* name) {
  return the_names->is_client(Names::text_of(*client), name);
}

int groups_of(uid_t uid, gid_t** groups) {
  const auto known = the_names->groups_of(uid);
  if (!known || !known->is_known) return -1;
  *groups = static_cast<gid_t*>(
      gsh_malloc(std::max<std::size_t>(known->groups.size(), 1) * sizeof(gid_t)));
  std::copy(known->groups.begin(), known->groups.end(), *groups);
  return static_cast<int>(known->groups.size());
}

}  // namespace

void start_names(const std::string& network_namespace, const std::string& mount_namespace) {
  the_names = new Names(network_namespace, mount_namespace);
  nfs_is_client = is_client;
  nfs_groups_of = groups_of;
}

void use_names(const std::vector<InstanceFile::Export>& exports) { the_names->use(exports); }

bool names_are_known(svc_req* request) {
  return the_names == nullptr || the_names->are_known(request);
}

void resume_unnamed() {
  if (the_names != nullptr) the_names->resume_all();
}

}  // namespace symnas::plugin
