#pragma once
// For tests: every instruction set that this machine has.

#include <hwy/targets.h>

namespace wide::codec::example {

// Runs claim(name) under each instruction set, then gives the choice back.
template <class Claim>
void on_every_target(const Claim& claim) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();  // choose anew
    claim(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace wide::codec::example
