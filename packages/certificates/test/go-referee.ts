import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { VerifyCase } from "./verify-case.ts";

/** Chains that Go made, by who makes such ones. */
export type GoChains = Readonly<Record<string, { readonly leaf: Buffer; readonly root: Buffer }>>;

/** Go's crypto/x509, asked by way of a small program. */
export interface GoReferee extends Disposable {
  readonly version: string;
  answers(cases: readonly VerifyCase[]): string[];
  issued(): GoChains;
}

/** The rules are those of the Go that Kubernetes is built with; others word some answers differently. */
const WANTED = /go1\.26(\.|$)/;

/** Why Go cannot be asked on this machine; undefined when it can. */
export function goMissing(): string | undefined {
  const { status, stdout } = spawnSync("go", ["env", "GOVERSION"], { encoding: "utf8", cwd: tmpdir() });
  if (status !== 0) return "Go is not installed";
  const version = stdout.trim();
  return WANTED.test(version)
    ? undefined
    : `Go 1.26 is needed, which Kubernetes 1.36 is built with; this is ${version}`;
}

/** Builds the program, in a folder that is removed when it is disposed of. */
export function goReferee(): GoReferee {
  const folder = mkdtempSync(join(tmpdir(), "certificates-"));
  const program = join(folder, "referee");
  const run = (command: string, args: string[], input = "") => {
    const options = { cwd: fileURLToPath(new URL("go-referee", import.meta.url)), input, encoding: "utf8" } as const;
    const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GOWORK: "off" };
    const { status, stdout, stderr } = spawnSync(command, args, { ...options, env, maxBuffer: 1 << 28 });
    if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${stderr}`);
    return stdout;
  };
  run("go", ["build", "-o", program, "."]);
  const base64 = (bytes: Buffer) => bytes.toString("base64");
  return {
    version: run("go", ["env", "GOVERSION"]).trim(),
    answers(cases) {
      const asked = cases.map(({ chain, roots, host, time }) => {
        return { chain: chain.map(base64), roots: roots.map(base64), host, time };
      });
      return JSON.parse(run(program, ["verify"], JSON.stringify(asked))) as string[];
    },
    issued() {
      const chains = JSON.parse(run(program, ["issue"])) as Record<string, { leaf: string; root: string }>;
      return Object.fromEntries(
        Object.entries(chains).map(([name, { leaf, root }]) => {
          return [name, { leaf: Buffer.from(leaf, "base64"), root: Buffer.from(root, "base64") }];
        }),
      );
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
