# Removes backups that need no longer be kept, and the WAL that no backup needs. Prints the names of those that stay.
#
# The newest KEEP stay. With KEEP_FOR, all stay that are needed to get back to any moment of the last KEEP_FOR seconds:
# those that ended in that time, and the one before them.
#
# Variables: BACKUPS, KIND (base or dumps), KEEP, KEEP_FOR.
set -eu
export LC_ALL=C
cd "$BACKUPS/$KIND"

value() {
  sed -n "s/^$1=//p" "$2/info"
}

# A moment as a number that grows with time.
number() {
  echo "$1" | tr -d -c 0-9 | cut -c 1-14
}

bound=99999999999999
if [ -n "$KEEP_FOR" ]; then bound=$(date -u -d "@$(($(date +%s) - KEEP_FOR))" +%Y%m%d%H%M%S); fi
count=0
covered=no
kept=''
while read -r stopped name; do
  count=$((count + 1))
  if [ "$count" -le "$KEEP" ] || [ "$covered" = no ]; then
    kept="$kept${kept:+,}$name"
  else
    # Without its info it is no backup any more, however far the removal gets.
    rm "$name/info"
    rm -rf "$name"
  fi
  if [ "$(number "$stopped")" -le "$bound" ]; then covered=yes; fi
done <<LIST
$(for info in */info; do echo "$(value stopped "${info%/info}") ${info%/info}"; done | sort -r)
LIST
# What pods that were killed have left.
find . -maxdepth 1 -name '.?*' -mmin +1440 -exec rm -rf {} +
echo "$kept"

[ "$KIND" = base ] || exit 0
for wal in "$BACKUPS"/wal/*; do
  oldest=''
  for name in $(echo "$kept" | tr , ' '); do
    [ "$(value system "$name")" = "${wal##*/}" ] || continue
    # Segments are named by timeline and place; only the place tells which is older.
    oldest=$(printf '%s\n' "$oldest" "$(value startWAL "$name")" | grep . | sort -k 1.9 | head -n 1)
  done
  # WAL of a system of which there is no backup is of no use.
  find "$wal" -maxdepth 1 -name '.?*' -cmin +1440 -exec rm -f {} +
  if [ -n "$oldest" ]; then pg_archivecleanup "$wal" "$oldest"; else rm -rf "$wal"; fi
done
