import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addUser } from "./debian.ts";
import type { DebianImage } from "./debian-image.ts";
import { SHELL_TOOLS, SYSTEM_PATH } from "./server-images.ts";

/** What the official image does before the server starts: an empty data folder is initialized, with the password of root. */
const ENTRYPOINT = `#!/bin/sh
set -eu
data=/var/lib/mysql
if [ ! -d "$data/mysql" ]; then
  # As mysqld --initialize does.
  if [ -n "$(ls -A "$data")" ]; then echo "$data is not empty" >&2; exit 1; fi
  mariadb-install-db --datadir="$data" --auth-root-authentication-method=normal --skip-test-db --force > /dev/null
  mariadbd --datadir="$data" --bootstrap <<SQL
flush privileges;
alter user root@localhost identified by '$MYSQL_ROOT_PASSWORD';
create user root@'%' identified by '$MYSQL_ROOT_PASSWORD';
grant all on *.* to root@'%' with grant option;
SQL
fi
exec mariadbd "$@" --datadir="$data" --socket=/tmp/mysqld.sock
`;

/** Debian's MariaDB 10.11 where the official image of MySQL has its server: the same user, folder and commands. */
export const mariadb: DebianImage = {
  name: "docker.io/library/mysql:10.11",
  packages: ["mariadb-server-core", "mariadb-client-core", "mariadb-client", "tzdata", ...SHELL_TOOLS],
  without: ["libdbi-perl", "libdbd-mariadb-perl", "libterm-readkey-perl", "libconfig-inifiles-perl"],
  config: { User: "999", Env: [`PATH=${SYSTEM_PATH}`, "LANG=C.UTF-8"], Entrypoint: ["/entrypoint.sh"] },
  contents: [ENTRYPOINT],
  finish: (root) => {
    addUser(root, "mysql", 999, "/var/lib/mysql");
    mkdirSync(join(root, "var/lib/mysql"), { recursive: true });
    chownSync(join(root, "var/lib/mysql"), 999, 999);
    writeFileSync(join(root, "entrypoint.sh"), ENTRYPOINT);
    chmodSync(join(root, "entrypoint.sh"), 0o755);
  },
};
