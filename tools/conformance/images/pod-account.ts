import type { Process } from "@konverge/cluster";

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Asks the API server in the name of the pod's account; undefined when it does not answer, or refuses. */
export async function askAsAccount<T>(process: Process, url: string, body?: object): Promise<T | undefined> {
  const { files, env } = process;
  const server = `https://${env["KUBERNETES_SERVICE_HOST"]}:${env["KUBERNETES_SERVICE_PORT"]}`;
  let text = "";
  const stdout = (part: string | Uint8Array) => {
    text += Buffer.from(part as string).toString();
  };
  const header = `authorization: Bearer ${files.readText(`${ACCOUNT}/token`)}`;
  const sent = body ? ["-H", "content-type: application/json", "-d", JSON.stringify(body)] : [];
  const address = url.startsWith("/") ? server + url : url;
  const command = ["curl", "-sSf", "--cacert", `${ACCOUNT}/ca.crt`, "-H", header, ...sent, address];
  return (await process.run(command, { stdout })) === 0 ? (JSON.parse(text) as T) : undefined;
}
