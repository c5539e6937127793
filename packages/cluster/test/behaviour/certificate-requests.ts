import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** One value in DER. */
function der(tag: number, ...contents: (Uint8Array | string)[]): Buffer {
  const content = Buffer.concat(contents.map((one) => Buffer.from(one as string)));
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const bytes = (hex: string) => Buffer.from(hex, "hex");
const identifier = (hex: string) => der(0x06, bytes(hex));
const named = (id: string, text: string) => der(0x31, der(0x30, identifier(id), der(0x0c, text)));

/** A request for a certificate as CertificateSigningRequests carry it, and the key that it is for. */
export function certificateRequest(
  commonName: string,
  organizations: readonly string[] = [],
  dnsNames: readonly string[] = [],
): { request: string; key: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const subject = der(0x30, ...organizations.map((name) => named("55040a", name)), named("550403", commonName));
  const names = der(0x30, ...dnsNames.map((name) => der(0x82, name)));
  const extension = der(0x30, identifier("551d11"), der(0x04, names));
  const attribute = der(0x30, identifier("2a864886f70d01090e"), der(0x31, der(0x30, extension)));
  const attributes = dnsNames.length > 0 ? der(0xa0, attribute) : der(0xa0);
  const info = der(0x30, bytes("020100"), subject, publicKey.export({ type: "spki", format: "der" }), attributes);
  const algorithm = der(0x30, identifier("2a8648ce3d040302"));
  const signature = der(0x03, Buffer.from([0]), sign("sha256", info, privateKey));
  const base64 = der(0x30, info, algorithm, signature).toString("base64");
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${base64.replace(/(.{64})/g, "$1\n")}\n-----END CERTIFICATE REQUEST-----\n`;
  return { request: Buffer.from(pem).toString("base64"), key: privateKey };
}
