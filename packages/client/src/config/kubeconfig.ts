import { dirname, isAbsolute, resolve } from "node:path";
import { parseJson } from "@konverge/core";
import type { ImpersonatedUser } from "../impersonation.ts";
import {
  ConfigError,
  type CredentialConfig,
  type ExecPlugin,
  type InlineOrFile,
  type OidcProvider,
} from "./connection-config.ts";
import { Fields } from "./fields.ts";

/** A cluster of a kubeconfig. Paths are absolute. */
export interface KubeconfigCluster {
  server: string;
  ca?: InlineOrFile;
  tlsServerName?: string;
  insecureSkipTlsVerify: boolean;
  proxyUrl?: string;
  compression: boolean;
  /** For exec plugins. */
  execConfig?: unknown;
}

export interface KubeconfigUser {
  cert?: InlineOrFile;
  key?: InlineOrFile;
  credentials?: CredentialConfig;
  impersonate?: ImpersonatedUser;
}

export interface KubeconfigContext {
  cluster: string;
  user: string;
  namespace?: string;
}

/** A kubeconfig, or several merged. Entries are read when they are used, so that a faulty one harms only its users. */
export interface Kubeconfig {
  currentContext?: string;
  clusters: Map<string, () => KubeconfigCluster>;
  users: Map<string, () => KubeconfigUser>;
  contexts: Map<string, () => KubeconfigContext>;
}

/** Reads one kubeconfig. `file` is for messages and for the paths in it, which are relative to its folder. */
export async function parseKubeconfig(text: string, file: string): Promise<Kubeconfig> {
  const root = new Fields(await parseText(text, file), file);
  const kind = root.string("kind");
  if (kind && kind !== "Config") throw root.error("kind", `expected Config, got ${kind}`);
  const folder = dirname(resolve(file));
  return {
    currentContext: root.string("current-context"),
    clusters: entries(root, "clusters", "cluster", (fields) => readCluster(fields, folder)),
    users: entries(root, "users", "user", (fields, name) => readUser(fields, folder, file, name)),
    contexts: entries(root, "contexts", "context", readContext),
  };
}

/** The first value wins, as with kubectl. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged: Kubeconfig = { clusters: new Map(), users: new Map(), contexts: new Map() };
  for (const config of configs) {
    merged.currentContext ??= config.currentContext;
    for (const [name, entry] of config.clusters) if (!merged.clusters.has(name)) merged.clusters.set(name, entry);
    for (const [name, entry] of config.users) if (!merged.users.has(name)) merged.users.set(name, entry);
    for (const [name, entry] of config.contexts) if (!merged.contexts.has(name)) merged.contexts.set(name, entry);
  }
  return merged;
}

async function parseText(text: string, file: string): Promise<unknown> {
  try {
    if (text.trimStart().startsWith("{")) return parseJson(text);
    // Only now is a YAML parser worth its memory.
    const { parseYamlDocument } = await import("@konverge/schema");
    return parseYamlDocument(text).value;
  } catch (cause) {
    throw new ConfigError(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function entries<T>(
  root: Fields,
  list: string,
  field: string,
  read: (fields: Fields, name: string) => T,
): Map<string, () => T> {
  const map = new Map<string, () => T>();
  for (const entry of root.objects(list)) {
    const name = entry.required("name");
    if (!map.has(name)) map.set(name, () => read(entry.object(field), name));
  }
  return map;
}

function readContext(fields: Fields): KubeconfigContext {
  return { cluster: fields.required("cluster"), user: fields.required("user"), namespace: fields.string("namespace") };
}

function readCluster(fields: Fields, folder: string): KubeconfigCluster {
  const server = fields.required("server");
  if (!/^https?:\/\//.test(server)) throw fields.error("server", `expected an http or https URL, got ${server}`);
  const extension = fields.objects("extensions").find((item) => item.string("name") === EXEC_EXTENSION);
  return {
    server,
    ca: material(fields, "certificate-authority", folder),
    tlsServerName: fields.string("tls-server-name"),
    insecureSkipTlsVerify: fields.boolean("insecure-skip-tls-verify"),
    proxyUrl: fields.string("proxy-url"),
    compression: !fields.boolean("disable-compression"),
    execConfig: extension?.raw("extension"),
  };
}

const EXEC_EXTENSION = "client.authentication.k8s.io/exec";

function readUser(fields: Fields, folder: string, file: string, name: string): KubeconfigUser {
  return {
    cert: material(fields, "client-certificate", folder),
    key: material(fields, "client-key", folder),
    credentials: readCredentials(fields, folder, file, name),
    impersonate: readIdentity(fields),
  };
}

function readCredentials(fields: Fields, folder: string, file: string, name: string): CredentialConfig | undefined {
  if (fields.has("exec")) return { exec: readExec(fields.object("exec"), folder) };
  if (fields.has("auth-provider")) return { oidc: readOidc(fields.object("auth-provider"), folder, file, name) };
  const tokenFile = fields.string("tokenFile");
  if (tokenFile) return { token: { file: inFolder(folder, tokenFile) } };
  const token = fields.string("token");
  if (token) return { token: { value: token } };
  const username = fields.string("username");
  if (username) return { username, password: fields.string("password") ?? "" };
  return undefined;
}

function readIdentity(fields: Fields): ImpersonatedUser | undefined {
  const user = fields.string("as");
  if (!user) return undefined;
  const extra = fields.object("as-user-extra");
  return {
    user,
    uid: fields.string("as-uid"),
    groups: fields.strings("as-groups"),
    extra: Object.fromEntries(extra.keys().map((key) => [key, extra.strings(key)])),
  };
}

function readExec(fields: Fields, folder: string): ExecPlugin {
  const apiVersion = fields.required("apiVersion");
  if (apiVersion !== `${EXEC_GROUP}/v1` && apiVersion !== `${EXEC_GROUP}/v1beta1`) {
    throw fields.error("apiVersion", `expected ${EXEC_GROUP}/v1 or ${EXEC_GROUP}/v1beta1, got ${apiVersion}`);
  }
  const mode = fields.string("interactiveMode") ?? (apiVersion.endsWith("/v1") ? undefined : "IfAvailable");
  if (mode !== "Never" && mode !== "IfAvailable" && mode !== "Always") {
    throw fields.error("interactiveMode", mode ? `expected Never, IfAvailable or Always, got ${mode}` : "is missing");
  }
  const command = fields.required("command");
  return {
    apiVersion,
    command: command.includes("/") ? inFolder(folder, command) : command,
    args: fields.strings("args"),
    env: fields.objects("env").map((item) => ({ name: item.required("name"), value: item.string("value") ?? "" })),
    installHint: fields.string("installHint"),
    provideClusterInfo: fields.boolean("provideClusterInfo"),
    interactiveMode: mode,
  };
}

const EXEC_GROUP = "client.authentication.k8s.io";

function readOidc(fields: Fields, folder: string, file: string, user: string): OidcProvider {
  const name = fields.required("name");
  if (name !== "oidc") {
    throw fields.error("name", `the auth provider ${name} is not supported (only oidc is); use an exec plugin instead`);
  }
  const config = fields.object("config");
  return {
    issuerUrl: config.required("idp-issuer-url"),
    clientId: config.required("client-id"),
    clientSecret: config.string("client-secret"),
    idToken: config.string("id-token"),
    refreshToken: config.string("refresh-token"),
    ca: material(config, "idp-certificate-authority", folder),
    onRenewed: async (tokens) => {
      const { saveOidcTokens } = await import("./save-tokens.ts");
      await saveOidcTokens(file, user, tokens);
    },
  };
}

/** `name` is a file, `name-data` the same in base64; data wins. */
function material(fields: Fields, name: string, folder: string): InlineOrFile | undefined {
  const data = fields.string(`${name}-data`);
  if (data) return { value: decodeBase64(data, fields, `${name}-data`) };
  const file = fields.string(name);
  return file ? { file: inFolder(folder, file) } : undefined;
}

function decodeBase64(data: string, fields: Fields, name: string): string {
  const compact = data.replace(/\s/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.length % 4 !== 0) throw fields.error(name, "is not base64");
  return Buffer.from(compact, "base64").toString();
}

function inFolder(folder: string, path: string): string {
  return isAbsolute(path) ? path : resolve(folder, path);
}
