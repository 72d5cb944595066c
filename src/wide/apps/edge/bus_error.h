#pragma once
// A mapped file that is shortened under its reader makes the kernel send SIGBUS. Nothing can be
// computed then, but it can be said.

namespace wide::apps {

// Once, at the start of a program: from then on such a reader ends with kSamplesChanged in words.
void report_bus_errors();

}  // namespace wide::apps
