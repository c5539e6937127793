# Tells what the archive has of the history of this primary, and from which backups it can be recovered. One fact per line: name=value.
# Segments are numbered through; a run of them is timeline:first-last@time of the last.
#
#   segmentSize  bytes of a segment
#   position   the segment that is being written: timeline:number
#   history    where earlier timelines were left, in order: timeline:number,…
#   archived   runs of segments in the archive; none goes on beyond the place where its timeline was left
#   waiting    runs of segments that this server has yet to archive
#   backups    name@time of its end@timeline:number of the segment in which it ended,…
#
# Variables: PGDATA, RUN, PORT, and BACKUPS, or STORE, SCRIPTS and those of pgbackrest.sh.
set -eu
export LC_ALL=C

control() {
  pg_controldata -D "$PGDATA" | sed -n "s/^$1: *//p"
}

# The number of the segment with a place.
number_of() {
  echo $(((0x${1%/*} * 4294967296 + 0x${1#*/}) / size))
}

# Runs of the segments that are read: a line each, with name and time.
runs() {
  sort | awk -v each=$((4294967296 / size)) -v cuts=",$history," '
    function hex(text, n, i) { for (i = 1; i <= length(text); i++) n = n * 16 + index("123456789ABCDEF", substr(text, i, 1)); return n + 0 }
    function put() { if (timeline) printf "%s%.0f:%.0f-%.0f@%.0f", (runs++ ? "," : ""), timeline, first, last, time }
    {
      t = hex(substr($1, 1, 8)); n = hex(substr($1, 9, 8)) * each + hex(substr($1, 17, 8))
      if (t != timeline || n != last + 1 || index(cuts, "," t ":" n ",")) { put(); timeline = t; first = n }
      last = n; time = $2
    }
    END { put() }'
}

if [ -n "${STORE:-}" ]; then
  . "$SCRIPTS/pgbackrest.sh"
  archived() {
    pgbackrest repo-ls --recurse --output=json archive/db | sed 's/},/\n/g' | sed -n 's#.*/\([0-9A-F]\{24\}\)-[^"]*":{.*"time":\([0-9]*\).*#\1 \2#p'
  }
  ends() {
    backups | while read -r stopped started stop start wal size_of name label; do echo "${label:-$name} $(moment "$((stopped + 1))") $stop $wal"; done
  }
else
  archived() {
    find "$BACKUPS/wal/$system" -maxdepth 1 -name '????????????????????????' -exec stat -c '%n %Y' {} + | sed 's#.*/##'
  }
  ends() {
    for info in "$BACKUPS"/base/*/info; do
      [ -e "$info" ] && grep -q "^system=$system$" "$info" || continue
      name=${info%/info}
      echo "${name##*/} $(sed -n 's/^stopped=//p' "$info") $(sed -n 's/^stopLSN=//p' "$info") $(sed -n 's/^startWAL=//p' "$info")"
    done
  }
fi

size=$(control "Bytes per WAL segment")
system=$(control "Database system identifier")
# The place first and the archive last: what is whole by then waits, or is archived.
place=$(psql -X -q -A -t -h "$RUN" -p "$PORT" -U postgres -d postgres -c 'select pg_walfile_name(pg_current_wal_lsn()), pg_current_wal_lsn()')
timeline=$((0x$(echo "$place" | cut -c 1-8)))
history=''
if [ -e "$PGDATA/pg_wal/$(echo "$place" | cut -c 1-8).history" ]; then
  history=$(while read -r left at _; do [ -z "$at" ] || echo "$left:$(number_of "$at")"; done < "$PGDATA/pg_wal/$(echo "$place" | cut -c 1-8).history" | paste -s -d , -)
fi
waiting=$(find "$PGDATA/pg_wal/archive_status" -name '????????????????????????.ready' | sed 's#.*/##; s/\.ready$/ 0/' | runs)
here=$(archived)
echo "segmentSize=$size"
echo "position=$timeline:$(number_of "${place#*|}")"
echo "history=$history"
echo "waiting=$waiting"
echo "archived=$(echo "$here" | grep . | runs)"
echo "backups=$(ends | while read -r name stopped stop wal; do echo "$name@$stopped@$((0x$(echo "$wal" | cut -c 1-8))):$(number_of "$stop")"; done | paste -s -d , -)"
