import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What a program finds in a pod. */
export interface InClusterAccount {
  /** The namespace of the pod. */
  readonly namespace: string;
  readonly token: string;
  /** The authority of the API server, PEM. */
  readonly ca: string;
  /** The port of the API server on this machine. */
  readonly port: number;
}

/** A machine that cannot show files to one program only. */
export class InClusterError extends Error {
  override readonly name = "InClusterError";
  readonly code = "KONVERGE_IN_CLUSTER";
}

/**
 * Shows the files of a service account to one command at the place where pods have them, `/var/run/secrets`, in a separate mount
 * namespace: the machine's folder is not touched, and several programs have different accounts. Everything else in `/var/run` stays.
 */
export function inCluster(
  command: string,
  folder: string,
  { namespace, token, ca, port }: InClusterAccount,
): { command: string; env: Record<string, string> } {
  const unshare = unshareCommand();
  const account = join(folder, "account");
  mkdirSync(account, { recursive: true });
  for (const [name, text] of Object.entries({ namespace, token, "ca.crt": ca }))
    writeFileSync(join(account, name), text, { mode: 0o600 });
  const script = join(folder, "in-cluster.sh");
  writeFileSync(script, SCRIPT);
  return {
    command: `exec ${unshare} sh ${[script, folder, command].map(quoted).join(" ")}`,
    env: { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(port) },
  };
}

const SCRIPT = `set -e
run=$(readlink -f /var/run)
mkdir -p "$1/run"
mount --rbind "$run" "$1/run"
mount -t tmpfs -o mode=755 tmpfs "$run"
for entry in "$1/run"/*; do
  place="$run/\${entry##*/}"
  if [ "\${entry##*/}" = secrets ]; then continue
  elif [ -L "$entry" ]; then cp -P "$entry" "$place"
  elif [ -d "$entry" ]; then mkdir "$place" && mount --rbind "$entry" "$place"
  elif [ -e "$entry" ]; then : > "$place" && mount --bind "$entry" "$place"
  fi
done
mkdir -p "$run/secrets/kubernetes.io/serviceaccount"
cp "$1/account/"* "$run/secrets/kubernetes.io/serviceaccount/"
exec sh -c "$2"
`;

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The way that this machine permits: as root, or as root of a user namespace. */
function unshareCommand(): string {
  const ways = [
    ["unshare", "--mount", "--propagation", "private"],
    ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private"],
  ];
  let problem = "";
  for (const [program, ...args] of ways as [string, ...string[]][]) {
    const { status, error, stderr } = spawnSync(program, [...args, "true"], { encoding: "utf8" });
    if (status === 0) return [program, ...args].join(" ");
    problem = error?.message ?? stderr.trim();
  }
  throw new InClusterError(
    `the program cannot be shown an in-cluster configuration: ${problem}; this needs Linux with mount namespaces (unshare), ` +
      "as root or with user namespaces: let the program read $KUBECONFIG instead",
  );
}
