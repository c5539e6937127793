import type { Credential } from "@konverge/certificates";

/** A server, and who to be there. */
export interface KubeconfigOptions {
  /** Names the cluster and the context. */
  name: string;
  url: string;
  /** The authority that signed the server's certificate, PEM; none for plain HTTP. */
  ca?: string;
  /** Names the user. */
  user: string;
  credential?: Credential | { token: string };
  namespace?: string;
}

/** The text of a kubeconfig with one cluster, one user and one context. Its credentials are those of that user: write it with mode 0600. */
export function kubeconfigText(options: KubeconfigOptions): string {
  const { name, url, ca, user, credential, namespace } = options;
  // A JSON string is a YAML string.
  const text = (value: string) => JSON.stringify(value);
  const data = (value: string) => Buffer.from(value).toString("base64");
  const lines = [
    "apiVersion: v1",
    "kind: Config",
    `current-context: ${text(name)}`,
    "clusters:",
    `- name: ${text(name)}`,
    "  cluster:",
    `    server: ${text(url)}`,
    ...(ca ? [`    certificate-authority-data: ${data(ca)}`] : []),
    "contexts:",
    `- name: ${text(name)}`,
    "  context:",
    `    cluster: ${text(name)}`,
    `    user: ${text(user)}`,
    ...(namespace ? [`    namespace: ${text(namespace)}`] : []),
    "users:",
    `- name: ${text(user)}`,
  ];
  if (!credential) lines.push("  user: {}");
  else if ("token" in credential) lines.push("  user:", `    token: ${text(credential.token)}`);
  else {
    lines.push(
      "  user:",
      `    client-certificate-data: ${data(credential.cert)}`,
      `    client-key-data: ${data(credential.key)}`,
    );
  }
  return `${lines.join("\n")}\n`;
}
