import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Client } from "konverge/client";
import { Secret, ValidatingWebhookConfiguration } from "konverge/kinds";
import { sleep } from "konverge/time";

/** Where upstream looks for its webhook's certificate, wherever it is run: there is no flag. */
const CERTIFICATES = "/tmp/k8s-webhook-server/serving-certs";
const SECRET = "training-operator-webhook-cert";
const REGISTRATION = "validator.training-operator.kubeflow.org";
const KINDS = ["PyTorchJob", "TFJob", "XGBoostJob", "MXJob"];
const PATIENCE = 90_000;

/** Upstream's operator at work in one namespace. */
export interface Referee extends AsyncDisposable {
  /** What its webhook for a kind (`pytorchjob`) says of an object. */
  judge(kind: string, object: object): Promise<{ allowed: boolean; message: string; warnings: readonly string[] }>;
}

/** Starts upstream's operator, and waits until its controllers and webhooks work. */
export async function startReferee(
  program: string,
  options: { client: Client; kubeconfig: string; namespace: string; folder: string; gangScheduler?: string },
): Promise<Referee> {
  const { client, kubeconfig, namespace, folder, gangScheduler } = options;
  await client.create(Secret, { metadata: { name: SECRET, namespace } });
  // It asks for a registration, but need not find webhooks in it: they are asked directly here.
  await client.create(ValidatingWebhookConfiguration, { metadata: { name: REGISTRATION } }).catch(() => undefined);
  const [probes, webhooks] = await Promise.all([freePort(), freePort()]);
  const flags = [
    `--namespace=${namespace}`,
    "--metrics-bind-address=0",
    `--health-probe-bind-address=127.0.0.1:${probes}`,
    `--webhook-server-port=${webhooks}`,
    // It exits after two minutes if a kind in its scheme is not served.
    ...KINDS.map((kind) => `--enable-scheme=${kind}`),
    ...(gangScheduler ? [`--gang-scheduler-name=${gangScheduler}`] : []),
  ];
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, KUBECONFIG: kubeconfig, MY_POD_NAMESPACE: namespace };
  const child = spawn(program, flags, { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const log = tail(child);
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const until = async (what: string, condition: () => Promise<boolean>) => {
    const end = client.clock.monotonic() + PATIENCE;
    while (!(await condition())) {
      if (child.exitCode !== null) throw new Error(`upstream's operator has ended:\n${log()}`);
      if (client.clock.monotonic() > end) throw new Error(`upstream's operator: ${what} never came true\n${log()}`);
      await sleep(client.clock, 200);
    }
  };
  await until("a certificate", async () => {
    const { data } = await client.get(Secret, `${namespace}/${SECRET}`);
    if (!data?.["tls.crt"]) return false;
    mkdirSync(CERTIFICATES, { recursive: true });
    // In a pod the Secret is mounted there.
    for (const [file, content] of Object.entries(data)) {
      writeFileSync(join(CERTIFICATES, file), Buffer.from(content, "base64"));
    }
    return true;
  });
  await until("ready", async () => (await status(`http://127.0.0.1:${probes}/readyz`)) === 200);
  return {
    judge: (kind, object) => review(webhooks, kind, object),
    async [Symbol.asyncDispose]() {
      process.off("exit", kill);
      kill();
      await exited;
    },
  };
}

function tail(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding("utf8").on("data", (more: string) => {
      text = (text + more).slice(-4000);
    });
  }
  return () => text;
}

const status = (url: string) =>
  fetch(url).then(
    (answer) => answer.status,
    () => 0,
  );

async function review(port: number, kind: string, object: object) {
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "1", operation: "CREATE", object },
  });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const path = `/validate-kubeflow-org-v1-${kind}`;
  const text = await new Promise<string>((resolve, reject) => {
    // It has signed its certificate itself, for a name that is not served here.
    const sent = request(
      { host: "127.0.0.1", port, path, method: "POST", headers, rejectUnauthorized: false },
      (got) => {
        let answer = "";
        got.setEncoding("utf8").on("data", (part: string) => {
          answer += part;
        });
        got.on("end", () => resolve(answer));
      },
    );
    sent.on("error", reject).end(body);
  });
  const { response } = JSON.parse(text) as {
    response: { allowed: boolean; status?: { message?: string }; warnings?: string[] };
  };
  return {
    allowed: response.allowed,
    message: response.status?.message ?? "",
    warnings: response.warnings ?? [],
  };
}

async function freePort(): Promise<number> {
  const server = createServer().unref();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
