import { execFile } from "node:child_process";

/** What a command has printed, and how it ended. */
export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  input?: string | undefined;
  env?: Record<string, string>;
  /** Called with the whole output whenever it grows; the command is ended when this returns true, now or later. */
  enough?(stdout: string): boolean | Promise<boolean>;
}

/** kubectl, set up for one server and one namespace. */
export interface Session {
  readonly server: "real" | "embedded";
  kubectl(args: readonly string[], options?: RunOptions): Promise<Output>;
}

/** No command of a story takes this long. */
const PATIENCE = 60_000;

export function session(
  server: Session["server"],
  setup: { kubectl: string; kubeconfig: string; home: string },
): Session {
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: setup.home,
    TMPDIR: setup.home,
    KUBECONFIG: setup.kubeconfig,
    KUBECACHEDIR: `${setup.home}/cache`,
  };
  return {
    server,
    kubectl: (args, { input, env, enough } = {}) =>
      new Promise((resolve) => {
        let isEnded = false;
        const child = execFile(
          setup.kubectl,
          [...args],
          { env: { ...environment, ...env }, maxBuffer: 1 << 28, timeout: PATIENCE },
          (error, stdout, stderr) => {
            const code = error && !isEnded ? (typeof error.code === "number" ? error.code : 1) : 0;
            resolve({ code, stdout, stderr: isEnded ? "" : stderr });
          },
        );
        let output = "";
        if (enough) {
          child.stdout?.on("data", async (chunk: string) => {
            output += chunk;
            if (!(await enough(output)) || isEnded) return;
            isEnded = true;
            child.kill("SIGTERM");
          });
        }
        child.stdin?.on("error", () => {});
        child.stdin?.end(input);
      }),
  };
}
