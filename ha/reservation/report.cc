#include "ha/reservation/report.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::ha {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const LunState& lun) {
  Json json;
  json["device"] = lun.device;
  json["lun"] = lun.identity;
  if (!lun.did.empty()) json["did"] = lun.did;
  if (lun.can) {
    json["survives_power_loss"] = lun.can->survives_power_loss;
    json["knows_type"] = lun.can->knows_type;
  }
  json["generation"] = lun.registrations.generation;
  json["keys"] = Json::array();
  for (const ReservationKey key : lun.registrations.keys) json["keys"].push_back(render_key(key));
  if (lun.reservation) {
    json["holder"] = render_key(lun.reservation->holder);
    json["type"] = lun.reservation->type;
  }
  return json;
}

// Errors: kInvalidArgument (a key). Throws Json::exception.
Result<LunState> lun_of(const Json& json) {
  LunState lun{.device = json.at("device"), .identity = json.at("lun")};
  lun.did = json.value("did", "");
  if (json.contains("knows_type"))
    lun.can = Capabilities{json.at("survives_power_loss"), json.at("knows_type")};
  lun.registrations.generation = json.at("generation");
  for (const auto& key : json.at("keys")) {
    SYMNAS_ASSIGN(const ReservationKey parsed, parse_key(key.get<std::string>()));
    lun.registrations.keys.push_back(parsed);
  }
  if (json.contains("holder")) {
    // A reservation of all registrants has no holder: 0 is allowed here.
    const auto holder = parse_key(json.at("holder").get<std::string>());
    lun.reservation = Reservation{holder ? *holder : ReservationKey(), json.at("type")};
  }
  return lun;
}

std::string_view word_of(ExitStatus status) {
  switch (status) {
    case ExitStatus::kDone: return "done";
    case ExitStatus::kNotDone: return "not_done";
    case ExitStatus::kUsage: return "usage";
    case ExitStatus::kOwnKeyMissing: return "own_key_missing";
    case ExitStatus::kSecondTime: return "second_time";
    case ExitStatus::kConflict: return "conflict";
  }
  return "";
}

ExitStatus exit_status_of(const Error& error) {
  if (error.code == ErrorCode::kFenced) return ExitStatus::kOwnKeyMissing;
  if (error.code == ErrorCode::kPermission) return ExitStatus::kSecondTime;
  const bool conflict = error.code == ErrorCode::kConflict || error.code == ErrorCode::kBusy;
  return conflict ? ExitStatus::kConflict : ExitStatus::kNotDone;
}

}  // namespace

std::string why_cannot_fence(const Capabilities& can) {
  if (!can.knows_type) return "knows no Exclusive Access - Registrants Only";
  return can.survives_power_loss ? "" : "forgets reservations at a power loss (no PTPL_C)";
}

ExitStatus exit_status_of(const std::vector<Result<LunState>>& luns) {
  constexpr std::array kGravestFirst = {ExitStatus::kOwnKeyMissing, ExitStatus::kSecondTime,
                                        ExitStatus::kConflict, ExitStatus::kNotDone};
  // Without LUNs nothing is proven.
  if (luns.empty()) return ExitStatus::kNotDone;
  for (const ExitStatus grave : kGravestFirst) {
    for (const auto& lun : luns) {
      if (!lun && exit_status_of(lun.error()) == grave) return grave;
    }
  }
  return ExitStatus::kDone;
}

std::string render_json(const Report& report) {
  Json json;
  json["command"] = report.command;
  json["verdict"] = word_of(exit_status_of(report.luns));
  if (!report.own.empty()) json["own"] = report.own;
  if (!report.victim.empty()) json["victim"] = report.victim;
  json["luns"] = Json::array();
  for (std::size_t i = 0; i < report.luns.size(); ++i) {
    const auto& lun = report.luns[i];
    json["luns"].push_back(
        lun ? json_of(*lun) : Json{{"device", report.devices[i]}, {"error", lun.error().message}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string render_text(const Report& report) {
  std::string text;
  for (const auto& lun : report.luns) {
    if (!lun) {
      text += lun.error().message + "\n";
      continue;
    }
    std::string keys;
    for (const ReservationKey key : lun->registrations.keys) keys += " " + render_key(key);
    const std::string held = lun->reservation ? fmt::format("type {} by {}", lun->reservation->type,
                                                            render_key(lun->reservation->holder))
                                              : "not reserved";
    const std::string cannot = lun->can ? why_cannot_fence(*lun->can) : "";
    text += fmt::format("{}  {}  {}generation {}  {}  keys:{}{}\n", lun->device, lun->identity,
                        lun->did.empty() ? "" : lun->did + "  ", lun->registrations.generation,
                        held, keys.empty() ? " none" : keys,
                        cannot.empty() ? "" : "  cannot fence: " + cannot);
  }
  return text + fmt::format("{}: {}\n", report.command, word_of(exit_status_of(report.luns)));
}

std::string render_answer(const Result<LunState>& answer) {
  const Json json = answer ? json_of(*answer)
                           : Json{{"code", static_cast<int>(answer.error().code)},
                                  {"error", answer.error().message}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<LunState> parse_answer(const std::string& text, const std::string& device) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: its process ended without an answer", device));
  }
  try {
    if (json.contains("error"))
      return fail(static_cast<ErrorCode>(json.at("code").get<int>()), json.at("error"));
    return lun_of(json);
  } catch (const Json::exception& wrong) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("{}: its process has answered what cannot be read: {}", device, wrong.what()));
  }
}

}  // namespace symnas::ha
