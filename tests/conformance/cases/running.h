// What main.cc and case.cc share. Confined to one thread.
#pragma once
#include <string>

namespace conformance {

constexpr int kEnded = 1;   // exit status of a process of a case that has told its verdict
constexpr int kBroken = 2;  // or could not tell it

// Where the running case writes its verdict, one line.
int verdict_fd();
// The running case's directory at the other client.
const std::string& there_folder();

}  // namespace conformance
