#!/bin/bash
# Installs what packages.txt names and this machine lacks. Says nothing when nothing is missing.
#
#   scripts/install_packages.sh           install what is missing (apt-get, with sudo if not root)
#   scripts/install_packages.sh --list    the names alone, for scripts
set -euo pipefail
cd "$(dirname "$0")/.."

names() { sed -e 's/#.*//' packages.txt | tr -s '[:space:]' '\n' | grep .; }

missing() {
  comm -23 <(names | sort) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null |
      sed -n 's/^installed //p' | sort -u)
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    echo "packages: not root and no sudo here; ask someone who is to run:" >&2
    echo "  apt-get install --no-install-recommends ${wanted[*]}" >&2
    exit 1
  fi
}

# Debian's alternatives choose OpenBLAS by themselves unless someone pinned another library. A pin
# is that person's choice: we say what it costs and leave it.
warn_of_slow_blas() {
  local chosen
  chosen=$(readlink -f /usr/lib/*-linux-gnu/libblas.so.3 2>/dev/null | head -1)
  case "$chosen" in
    */blas/libblas.so.3*)
      echo "packages: this machine is pinned to the reference BLAS ($chosen)." >&2
      echo "  Training would be 10 to 30 times slower. To let Debian choose OpenBLAS again:" >&2
      echo "  update-alternatives --auto libblas.so.3-$(gcc -print-multiarch)" >&2
      ;;
  esac
}

if [ "${1:-}" = --list ]; then
  names
  exit
fi
if ! command -v dpkg-query >/dev/null; then
  echo "packages: this is not Debian; install the equivalents of packages.txt by hand" >&2
  exit 1
fi
mapfile -t wanted < <(missing)
if [ ${#wanted[@]} -gt 0 ]; then
  echo "packages: installing ${wanted[*]}"
  as_root apt-get -qq -o DPkg::Lock::Timeout=300 update
  as_root apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 install \
    --no-install-recommends "${wanted[@]}" >/dev/null
fi
warn_of_slow_blas
