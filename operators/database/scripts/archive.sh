# Archives a finished WAL segment: archive.sh PATH NAME, called by the server, which tries again until it succeeds.
#
# Segments are kept by the system they come from, so that a new database with an old one's name does not meet its WAL. A
# name is only ever given to a whole and durable file, and what has a name is never written again. Several servers may archive the
# same segment at a time.
#
# Variables: PGDATA, BACKUPS, and SYSTEM if it is of another than the one in PGDATA.
set -eu
export LC_ALL=C
system=${SYSTEM:-$(pg_controldata -D "$PGDATA" | sed -n 's/^Database system identifier: *//p')}
folder="$BACKUPS/wal/${system:?}"
mkdir -p "$folder"
if [ -e "$folder/$2" ]; then
  # The server asks again when it did not learn that it was done.
  cmp -s "$1" "$folder/$2" && exit 0
  echo "archive.sh: $folder/$2 is there already and differs from $1: it is not overwritten" >&2
  exit 1
fi
# The time of the last write stays: a restore tells by it until when the archive reaches.
copy=$(mktemp "$folder/.$2.XXXXXX")
cp -p "$1" "$copy" || { rm "$copy"; exit 1; }
sync "$copy"
mv "$copy" "$folder/$2"
sync "$folder"
