import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { ConfigError, type ConnectionConfig } from "./connection-config.ts";
import { inClusterConfig, isInCluster } from "./in-cluster.ts";
import { type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from "./kubeconfig.ts";

export interface LoadConfigOptions {
  /** A kubeconfig file. Default: see {@link loadConfig}. */
  kubeconfig?: string;
  /** Default: the kubeconfig's current one. */
  context?: string;
  /** Default: the process's. */
  env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Loads the configuration of a cluster from the first of these: the option `kubeconfig`, the files in $KUBECONFIG, the
 * service account of the pod, ~/.kube/config.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<ConnectionConfig> {
  const env = options.env ?? process.env;
  const listed = env.KUBECONFIG?.split(delimiter).filter((file) => file !== "") ?? [];
  if (options.kubeconfig) return fromFiles([options.kubeconfig], options.context, false);
  if (listed.length > 0) return fromFiles(listed, options.context, true);
  if (!options.context && isInCluster(env)) return inClusterConfig(env);
  return fromFiles([join(env.HOME ?? homedir(), ".kube", "config")], options.context, false);
}

/** Of a list, files that do not exist are passed over, as long as there is one. */
async function fromFiles(files: readonly string[], context: string | undefined, mayLack: boolean) {
  const configs: Kubeconfig[] = [];
  for (const file of files) {
    const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT" && mayLack) return undefined;
      const how = cause.code === "ENOENT" ? "there is no such file" : cause.message;
      throw new ConfigError(`cannot read the kubeconfig ${file}: ${how}`, { cause });
    });
    if (text !== undefined) configs.push(await parseKubeconfig(text, file));
  }
  const where = files.join(delimiter);
  if (configs.length === 0) throw new ConfigError(`none of the kubeconfigs in $KUBECONFIG exists: ${where}`);
  return resolveContext(mergeKubeconfigs(configs), where, context);
}

/** What a context of a kubeconfig comes down to. */
function resolveContext(config: Kubeconfig, where: string, name = config.currentContext): ConnectionConfig {
  const known = [...config.contexts.keys()].join(", ") || "none";
  if (!name) throw new ConfigError(`${where}: current-context is not set; contexts: ${known}`);
  const context = config.contexts.get(name)?.();
  if (!context) throw new ConfigError(`${where}: there is no context ${name}; contexts: ${known}`);
  const cluster = config.clusters.get(context.cluster)?.();
  if (!cluster)
    throw new ConfigError(`${where}: context ${name} names the cluster ${context.cluster}, which is missing`);
  const user = config.users.get(context.user)?.();
  if (!user) throw new ConfigError(`${where}: context ${name} names the user ${context.user}, which is missing`);
  if (cluster.insecureSkipTlsVerify && cluster.ca) {
    throw new ConfigError(
      `${where}: cluster ${context.cluster}: insecure-skip-tls-verify and certificate-authority exclude each other`,
    );
  }
  if (!user.cert !== !user.key) {
    throw new ConfigError(
      `${where}: user ${context.user}: client-certificate and client-key go together, one is missing`,
    );
  }
  const { execConfig, ...connection } = cluster;
  if (user.credentials && "exec" in user.credentials) user.credentials.exec.clusterConfig = execConfig;
  return { ...connection, ...user, namespace: context.namespace };
}
