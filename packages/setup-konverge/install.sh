#!/bin/sh
# Puts the executable into PATH of the following steps, and names it for the Go module and the pytest fixture.
set -eu
folder="$RUNNER_TEMP/konverge/bin"
mkdir -p "$folder"
case "$EXECUTABLE" in
  http://* | https://*) curl --fail --silent --show-error --location --output "$folder/konverge" "$EXECUTABLE" ;;
  *) cp "$EXECUTABLE" "$folder/konverge" ;;
esac
if [ -n "$SHA256" ]; then
  echo "$SHA256  $folder/konverge" | sha256sum --check --status || {
    echo "the checksum of $EXECUTABLE is not $SHA256" >&2
    exit 1
  }
fi
chmod +x "$folder/konverge"
"$folder/konverge" --version
echo "$folder" >>"$GITHUB_PATH"
echo "KONVERGE_EXECUTABLE=$folder/konverge" >>"$GITHUB_ENV"
