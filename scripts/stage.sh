#!/bin/bash
# One stage of a longer run: its name, what it prints, the seconds it took.
#
#   scripts/stage.sh NAME COMMAND [ARGUMENT…]
set -uo pipefail
name=$1
shift
echo "== $name"
start=$EPOCHSECONDS
"$@"
status=$?
seconds=$((EPOCHSECONDS - start))
if [ $status -ne 0 ]; then
  echo "== $name failed after $seconds s (exit code $status): $*" >&2
  exit $status
fi
echo "== $name: $seconds s"
