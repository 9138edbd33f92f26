# The weekly analysis of docs/how-to/code.md, as cron and systemd run it.

load ../helper

setup() { setup_store; }

@test "the cron line and the systemd units of the how-to run" {
  local page="$LORE_REPOSITORY/docs/how-to/code.md" units=$TEST_ROOT/units line
  mkdir -p "$HOME/src" "$HOME/.local/bin" "$units"
  git init -q . && printf x >auth.py && git add auth.py && git commit -qm one
  ln -s "$PWD" "$HOME/src/app"
  ln -s "$LORE_REPOSITORY/lore.sh" "$HOME/.local/bin/lore"
  line=$(grep '^0 6 \* \* 1' "$page")
  run env -i HOME="$HOME" PATH=/usr/bin:/bin /bin/sh -c "${line#0 6 * * 1  }"
  expect 0 ''
  line=$(sed -n "s/^ExecStart=\/bin\/sh -c '\(.*\)'$/\1/p" "$page")
  run env -i HOME="$HOME" PATH=/usr/bin:/bin /bin/sh -c "$line"
  [ "$status" -eq 0 ]
  command -v systemd-analyze >/dev/null || return 0
  awk -v to="$units" '/^```ini$/ { file = to "/lore-weekly." (n++ ? "timer" : "service"); next }
    /^```$/ { file = "" } file { print > file }' "$page"
  XDG_RUNTIME_DIR=$units run systemd-analyze verify --user "$units/lore-weekly.service" "$units/lore-weekly.timer"
  expect 0 ''
  systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' "$units/lore-weekly.timer")" >/dev/null
}
