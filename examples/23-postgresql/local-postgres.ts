import { spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock, sleep } from "konverge/time";
import { psqlServer } from "./psql.ts";

const VERSIONS = "/usr/lib/postgresql";
/** Servers do not run as root. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const PASSWORD = "administrator";

/** The newest folder of PostgreSQL's programs on this machine, if there is one. psql needs \getenv, of version 15. */
export function postgresPrograms(): string | undefined {
  if (!existsSync(VERSIONS)) return undefined;
  const [newest] = readdirSync(VERSIONS)
    .map(Number)
    .sort((a, b) => b - a);
  return newest !== undefined && newest >= 15 ? join(VERSIONS, String(newest), "bin") : undefined;
}

/** Starts a server on a free port of this machine. Disposing of it ends it and removes its files. */
export async function startPostgres(programs: string) {
  const folder = mkdtempSync(join(tmpdir(), "konverge-example-postgres-"));
  if (UNPRIVILEGED.uid !== undefined) chownSync(folder, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  const data = join(folder, "data");
  const file = join(folder, "password");
  writeFileSync(file, PASSWORD, { mode: 0o644 });
  const options = { ...UNPRIVILEGED, cwd: folder, env: { PATH: process.env["PATH"] ?? "" } };
  const words = ["-D", data, "-U", "postgres", "-A", "scram-sha-256", `--pwfile=${file}`, "--no-sync"];
  const made = spawnSync(join(programs, "initdb"), words, { ...options, encoding: "utf8" });
  if (made.status !== 0) throw new Error(made.stderr);
  const port = await freePort();
  const flags = ["-D", data, "-k", folder, "-p", String(port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"];
  const server = spawn(join(programs, "postgres"), flags, { ...options, stdio: "ignore" });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const login = { url: `postgresql://127.0.0.1:${port}/postgres`, user: "postgres", password: PASSWORD };
  const psql = join(programs, "psql");
  for (let tries = 0; ; tries++) {
    try {
      await psqlServer(login, psql).read("postgres");
      break;
    } catch (error) {
      if (tries > 200) throw error;
      await sleep(realClock(), 50);
    }
  }
  return {
    login,
    psql,
    async [Symbol.asyncDispose]() {
      server.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("there is no free port");
  return address.port;
}
