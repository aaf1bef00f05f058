// What portmappers, status monitors and NLM clients send.
#include <cstdlib>
#include <string>

#include "fsal_cluster/nsm/rpc_message.h"
#include "fsal_cluster/state/nlm_client.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace symnas;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (const auto call = nsm::decode_call(bytes)) {
    const auto again = nsm::decode_call(nsm::encode_call(*call));
    if (!again || again->arguments != call->arguments) std::abort();
  }
  static_cast<void>(nsm::decode_reply(bytes));
  if (size >= 4) static_cast<void>(nsm::fragment_bytes(std::string_view(bytes).substr(0, 4)));
  if (const auto client = fs::parse_nlm_client(bytes)) {
    const auto again = fs::parse_nlm_client(fs::identity_of(*client));
    if (!again || *again != *client) std::abort();
  }
  return 0;
}
