import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ENOUGH = 2 * 2 ** 30;

/** In memory where there is room: servers and backups wait for the disk otherwise, and a test need not outlive a power cut. */
export function quickPlace(): string {
  const memory = "/dev/shm";
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > ENOUGH ? memory : tmpdir();
}

/** Makes a new database as the real program does. What was made with the same words and password before is copied. */
const INITDB = `#!/bin/sh
key='' data='' last=''
for word; do
  if [ "$last" = -D ]; then data=$word; else
    case $word in
      --sync-only) exec "$REAL/initdb" "$@" ;;
      --pwfile=*) key="$key $(cat "\${word#*=}")" ;;
      *) key="$key $word" ;;
    esac
  fi
  last=$word
done
made="$MADE/$(echo "$key" | sha256sum | cut -c 1-16)"
if [ ! -d "$made" ]; then
  "$REAL/initdb" "$@" || exit
  cp -a "$data" "$made.$$" && mv -T "$made.$$" "$made" 2> /dev/null || rm -rf "$made.$$"
else
  mkdir -p "$(dirname "$data")" && cp -a "$made" "$data"
fi
`;

let folder: string | undefined;

/** A folder with programs that do what those in `bin` do, sooner. It goes when this process ends. */
export function quickPrograms(bin: string): string {
  if (folder !== undefined) return folder;
  folder = mkdtempSync(join(quickPlace(), "konverge-postgres-"));
  const made = join(folder, "made");
  mkdirSync(made);
  chmodSync(folder, 0o755);
  chmodSync(made, 0o777);
  const settings = `REAL='${bin}' MADE='${made}'\n`;
  writeFileSync(join(folder, "initdb"), INITDB.replace("\n", `\n${settings}`), { mode: 0o755 });
  process.on("exit", () => rmSync(folder!, { recursive: true, force: true }));
  return folder;
}
