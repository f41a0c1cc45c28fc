#!/usr/bin/env bash
# Checks the guidance of a repository: `lint`, and `sync --check` where something is installed. Writes a Markdown file that says for
# which files the guidance changes since a revision, for a comment on the change. In a part of the repository, only what concerns that
# part is reported; paths are always relative to the top of the repository.
#
#   check.sh [REVISION [COMMENT_FILE]]
#
# BRIEF_FORMAT is the format of findings (text, github, sarif, json), BRIEF_LINT_OPTIONS are further options of `brief lint`.
# Everything is run before the first failure counts. Exit codes: 0 nothing found; 1 findings; 2 wrong usage.
set -uo pipefail
revision=${1:-} comment=${2:-brief-diff.md} code=0 fence=~~~~~~~~

note() { local found=$1; if [ "$found" -gt "$code" ]; then code=$found; fi; }

# shellcheck disable=SC2086 # Several options are meant to be several words.
brief lint --format "${BRIEF_FORMAT:-text}" ${BRIEF_LINT_OPTIONS:-}
note $?
# The project around this directory, as `brief sync` finds it.
project=$(pwd -P)
top=$(git rev-parse --show-toplevel 2>/dev/null) || top=$project
while [ ! -f "$project/brief.lock" ] && [ "$project" != "$top" ] && [ "$project" != / ]; do
  project=$(dirname "$project")
done
if [ -f "$project/brief.lock" ]; then
  brief sync --check
  note $?
fi
if [ -n "$revision" ]; then
  if changes=$(brief diff "$revision...HEAD" --stat --color never); then
    {
      echo "### Guidance that changes for coding agents"
      echo
      if [ -n "$changes" ]; then
        # A fence longer than one in the answer.
        printf '%stext\n%s\n%s\n' "$fence" "$changes" "$fence"
      else
        echo "None."
      fi
    } > "$comment"
    echo "the changes are in $comment" >&2
  else
    note 2
  fi
fi
exit "$code"
