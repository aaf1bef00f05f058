#include "vnfsd/daemon/agent.h"

#include <utility>

namespace symnas::vnfsd::daemon {

Agent::Cutting::Cutting(const ThisHead& head, ClusterReader& reader, Journal& journal,
                        Reservations* reservations, const AgentLinks& links,
                        const std::stop_token& end)
    : means(head, reservations,
            {links.fence_off, links.fence_check, links.stonith_confirmed, links.stonith_off}, end),
      fencing({head, reader, journal.events, journal.history, means, links.prober,
               links.last_answers_ms}) {}

Agent::Agent(kv::Store& store, const env::Clock& clock, Config config, std::string incarnation,
             const AgentLinks& links)
    : head_{store, clock, std::move(config), std::move(incarnation)},
      records_(head_, end_.get_token()),
      journal_(head_, [this] { watchers_.upkeep.wake(); }),
      luns_(head_, links.reservations, [this] { records_.look_again(); }),
      ownership_({head_, records_, journal_.events, journal_.history, luns_.open_luns(),
                  luns_.registrations()}),
      instances_(head_, ownership_),
      cutting_(head_, records_, journal_, luns_.registrations().reservations(), links,
               end_.get_token()),
      watchers_{HeadWatcher({head_, records_, journal_.events, cutting_.fencing, links.prober,
                             links.leave_member, links.corosync},
                            end_.get_token()),
                AnswerWatcher(
                    head_, instances_, [this](int pid) { return ask_instance(pid, head_.clock); },
                    end_.get_token()),
                StallWatcher(head_, records_, instances_, cutting_.fencing, end_.get_token()),
                ClientWatcher(head_, records_, instances_, kernel_sights(), end_.get_token()),
                StateWriter(head_, records_, journal_.quota, instances_, end_.get_token()),
                Upkeep({head_, records_, journal_.events, journal_.quota, cutting_.means,
                        links.membership, links.endpoints_changed},
                       end_.get_token()),
                LoadWatcher(head_, records_, instances_, load_links(), end_.get_token()),
                MetricsKeeper({head_, records_, journal_, luns_, instances_, cutting_.means,
                               watchers_.heads, watchers_.stalls, watchers_.upkeep},
                              ask_by_control(head_.config), end_.get_token())},
      reconciler_(
          {head_, journal_.events, luns_, instances_, ownership_, cutting_.means, watchers_.heads}),
      administration_({{head_, records_, journal_.quota, journal_.history, luns_, instances_,
                        cutting_.means, watchers_.heads, watchers_.stalls, watchers_.upkeep},
                       journal_.events,
                       cutting_.fencing,
                       watchers_.load,
                       [this] { instances_.refresh(); },
                       links.who_has,
                       links.membership}),
      scrub_(head_, records_, luns_.open_luns(), journal_.events) {
  records_.start(reconciler_);
  watchers_.upkeep.start();
  watchers_.stalls.start();
  watchers_.heads.start();
  watchers_.answers.start();
  watchers_.clients.start();
  watchers_.load.start();
  watchers_.metrics.start();
  watchers_.states.start();
  scrub_.start();
}

Agent::~Agent() {
  end_.request_stop();
  scrub_.stop();
  cutting_.means.stop_check();
  records_.join();
  watchers_.upkeep.join();
  watchers_.stalls.join();
  watchers_.heads.join();
  watchers_.answers.join();
  watchers_.clients.join();
  watchers_.load.join();
  watchers_.metrics.join();
  watchers_.states.join();
  cutting_.fencing.wait();
  records_.end_watch();
  instances_.clear();
}

}  // namespace symnas::vnfsd::daemon
