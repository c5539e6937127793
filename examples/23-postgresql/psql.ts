import { spawn } from "node:child_process";
import type { RoleServer, ServerLogin } from "./postgresql.ts";

/** A PostgreSQL server, by psql: names and values are quoted by psql, and passwords are in no command line. */
export function psqlServer({ url, user, password }: ServerLogin, program = "psql"): RoleServer {
  const run = (sql: string, variables: Record<string, string | number>, env: Record<string, string> = {}) =>
    output(
      [program, "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", ...assigned(variables), "-d", url],
      { PGUSER: user, PGPASSWORD: password, PGCONNECT_TIMEOUT: "10", ...env },
      sql,
    );
  return {
    async read(role) {
      const text = await run(READ, { role });
      const [login, limit, passwordDigest = ""] = text.trim().split("\t");
      return text.trim() === "" ? undefined : { login: login === "t", connectionLimit: Number(limit), passwordDigest };
    },
    async write(role, { login, connectionLimit, passwordDigest }, newPassword) {
      const variables = { role, login: login ? "LOGIN" : "NOLOGIN", limit: connectionLimit, digest: passwordDigest };
      await run(WRITE, variables, { ROLE_PASSWORD: newPassword });
    },
    async drop(role) {
      await run(`DROP ROLE IF EXISTS :"role";`, { role });
    },
  };
}

const READ = `SELECT rolcanlogin, rolconnlimit, shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = :'role';`;

/** All or nothing: what is read afterwards is either the old state or the new one. */
const WRITE = `
\\getenv password ROLE_PASSWORD
BEGIN;
SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') AS missing \\gset
\\if :missing
CREATE ROLE :"role";
\\endif
ALTER ROLE :"role" WITH :login CONNECTION LIMIT :limit PASSWORD :'password';
COMMENT ON ROLE :"role" IS :'digest';
COMMIT;
`;

const assigned = (variables: Record<string, string | number>) =>
  Object.entries(variables).flatMap(([name, value]) => ["-v", `${name}=${value}`]);

/** Runs a program to its end. What it has printed as an error is the message. */
function output([program, ...words]: readonly string[], env: Record<string, string>, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program!, words, { env: { PATH: process.env["PATH"] ?? "", ...env } });
    let [text, errors] = ["", ""];
    child.stdout.on("data", (part: Buffer) => {
      text += part.toString();
    });
    child.stderr.on("data", (part: Buffer) => {
      errors += part.toString();
    });
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(text) : reject(new Error(errors.trim() || `psql ended with ${code}`)),
    );
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}
