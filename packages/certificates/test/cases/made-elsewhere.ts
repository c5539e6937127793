import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "@konverge/core";
import { pemBlocks } from "../../src/pem.ts";
import type { GoChains } from "../go-referee.ts";
import type { VerifyCase } from "../verify-case.ts";
import { HOST, NOW } from "./case-of.ts";

/** Certificates that Go made, the way programs of the Kubernetes world make them. */
export function goMadeCases({ knative, envtest, rsa }: GoChains): VerifyCase[] {
  const made = (title: string, chain: Buffer[], roots: Buffer[], host: string): VerifyCase => {
    return { title: `made by Go: ${title}`, chain, roots, host, time: NOW };
  };
  return [
    made("knative's webhook", [knative!.leaf], [knative!.root], "webhook.knative.svc"),
    made(
      "knative's webhook, with its authority",
      [knative!.leaf, knative!.root],
      [knative!.root],
      "webhook.knative.svc",
    ),
    made("knative's webhook, of another authority", [knative!.leaf], [envtest!.root], "webhook.knative.svc"),
    made("knative's webhook, by another name", [knative!.leaf], [knative!.root], "webhook.default.svc"),
    made("envtest's webhook, itself as the bundle", [envtest!.leaf], [envtest!.leaf], "127.0.0.1"),
    made("envtest's webhook, its authority as the bundle", [envtest!.leaf], [envtest!.root], "localhost"),
    made("envtest's webhook, at another address", [envtest!.leaf], [envtest!.leaf], "127.0.0.2"),
    made("envtest's webhook, of another environment", [envtest!.leaf], [knative!.leaf], "127.0.0.1"),
    made("RSA-PSS", [rsa!.leaf], [rsa!.root], HOST),
  ];
}

/** Certificates that the OpenSSL command made; none where it is missing. */
export function opensslMadeCases(): VerifyCase[] {
  if (spawnSync("openssl", ["version"]).status !== 0) return [];
  const folder = mkdtempSync(join(tmpdir(), "openssl-"));
  try {
    const rsa = opensslRoot(folder, "rsa", ["-newkey", "rsa:2048"]);
    const ec = opensslRoot(folder, "ec", ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp384r1"]);
    const made = (title: string, leaf: Buffer, root: Buffer): VerifyCase => {
      // The command dates certificates by the machine's clock.
      return {
        title: `made by OpenSSL: ${title}`,
        chain: [leaf],
        roots: [root],
        host: HOST,
        time: new Date(realClock().now()).toISOString(),
      };
    };
    const names = `subjectAltName=DNS:${HOST},IP:127.0.0.1,email:a@example.com,URI:https://example.com/`;
    const usual = `${names}\nbasicConstraints=CA:FALSE\nauthorityKeyIdentifier=keyid,issuer\nextendedKeyUsage=serverAuth`;
    return [
      made("RSA", opensslLeaf(folder, "rsa", usual), rsa),
      made("EC", opensslLeaf(folder, "ec", usual), ec),
      made("SHA-1", opensslLeaf(folder, "rsa", usual, ["-sha1"]), rsa),
      made("without extensions", opensslLeaf(folder, "rsa", ""), rsa),
      made("for clients", opensslLeaf(folder, "ec", `${names}\nextendedKeyUsage=clientAuth`), ec),
      made(
        "with policies and constraints",
        opensslLeaf(folder, "ec", `${names}\ncertificatePolicies=1.2.3.4\nnameConstraints=permitted;DNS:example.org`),
        ec,
      ),
      made("of another root", opensslLeaf(folder, "ec", usual), rsa),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openssl(folder: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync("openssl", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`openssl ${args.join(" ")} failed: ${stderr}`);
}

function opensslRoot(folder: string, name: string, key: readonly string[]): Buffer {
  openssl(folder, [
    "req",
    "-x509",
    "-nodes",
    ...key,
    "-keyout",
    `${name}.key`,
    "-subj",
    `/O=Example/CN=${name} root`,
    "-days",
    "9999",
    "-out",
    `${name}.pem`,
  ]);
  return certificateIn(join(folder, `${name}.pem`));
}

function opensslLeaf(folder: string, issuer: string, extensions: string, more: readonly string[] = []): Buffer {
  writeFileSync(join(folder, "extensions"), extensions);
  openssl(folder, [
    "req",
    "-new",
    "-nodes",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-keyout",
    "leaf.key",
    "-subj",
    "/CN=server",
    "-out",
    "leaf.csr",
  ]);
  const file = extensions === "" ? [] : ["-extfile", "extensions"];
  openssl(folder, [
    "x509",
    "-req",
    "-in",
    "leaf.csr",
    "-CA",
    `${issuer}.pem`,
    "-CAkey",
    `${issuer}.key`,
    "-days",
    "9999",
    ...file,
    ...more,
    "-out",
    "leaf.pem",
  ]);
  return certificateIn(join(folder, "leaf.pem"));
}

function certificateIn(path: string): Buffer {
  return pemBlocks(readFileSync(path, "utf8"))[0]!.bytes;
}
