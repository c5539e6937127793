/**
 * Node's flags for a process that runs operators for a pod: it reads code and the pod's folder, writes to the pod's folder,
 * and starts no processes, workers, native addons or debuggers.
 *
 * Node's permission model keeps code that means well from being talked into more than it should do. It is no boundary for
 * code that means harm: that is never loaded, as only the person who runs the cluster names modules.
 */
export function processFlags(code: readonly string[], folder: string): string[] {
  return [
    "--disable-warning=ExperimentalWarning",
    // As `konverge run` does: docs/decisions/027-operator-footprint.md.
    "--semi-space-growth-factor=1",
    "--permission",
    ...[...code, folder].map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${folder}`,
    // SQLite opens files past the permission model.
    ...supported("--no-experimental-sqlite"),
    // Versions that restrict the network as well: the API server is at a port.
    ...supported("--allow-net"),
  ];
}

function supported(flag: string): string[] {
  return process.allowedNodeEnvironmentFlags.has(flag) ? [flag] : [];
}
