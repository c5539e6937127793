import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { parseYaml } from "@konverge/schema";
import type { CommandResult, ShellOptions } from "./test-environment.ts";

/** Runs lines of bash in which `kubectl` uses one cluster and one namespace. */
export interface Shell {
  run(command: string, options?: ShellOptions): Promise<CommandResult>;
  end(): Promise<void>;
}

/** A shell with the kubectl of `kubectlFolder`. The user's own configuration is neither read nor changed. */
export function bashShell(kubectlFolder: string, kubeconfig: string, namespace: string): Shell {
  const folder = mkdtempSync(join(tmpdir(), "konverge-test-"));
  const file = join(folder, "kubeconfig");
  writeFileSync(file, inNamespace(kubeconfig, namespace), { mode: 0o600 });
  return {
    run: (command, { cwd = folder, env = {} } = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn("bash", ["-o", "pipefail", "-c", command], {
          cwd,
          env: {
            PATH: `${kubectlFolder}${delimiter}${process.env["PATH"] ?? ""}`,
            HOME: folder,
            KUBECONFIG: file,
            KUBECACHEDIR: join(folder, "kubectl-cache"),
            ...env,
          },
          stdio: ["ignore", "pipe", "pipe"],
        });
        let [stdout, stderr] = ["", ""];
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          stdout += text;
        });
        child.stderr.setEncoding("utf8").on("data", (text: string) => {
          stderr += text;
        });
        child.once("error", reject);
        child.once("close", (code) => resolve({ stdout, stderr, code: code ?? 1 }));
      }),
    end: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The kubeconfig with another namespace in its contexts. JSON is YAML. */
function inNamespace(kubeconfig: string, namespace: string): string {
  const [config] = parseYaml(kubeconfig) as [{ contexts: { context: { namespace?: string } }[] }];
  for (const { context } of config.contexts) context.namespace = namespace;
  return JSON.stringify(config);
}
