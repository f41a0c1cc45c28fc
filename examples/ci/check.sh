#!/bin/sh
# Checks guidance on any machine that has `brief`: exit code 0 if nothing was found.
#
#   examples/ci/check.sh [REVISION]
set -eu
brief lint --strict
if [ -f brief.lock ]; then
  brief sync --check
fi
if [ "$#" -gt 0 ]; then
  brief diff "$1...HEAD" --stat
fi
