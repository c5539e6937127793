import { BYTES, malformed, WireReader } from "./wire.ts";

/** What every protobuf body of Kubernetes begins with. */
export const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** The media type of such bodies. */
export const PROTOBUF_MEDIA_TYPE = "application/vnd.kubernetes.protobuf";

/** What is in a body: an object's bytes and the kind it says it is. */
export interface Envelope {
  apiVersion: string;
  kind: string;
  raw: Buffer;
}

/** Opens the envelope of a body; throws 400 when it is none. */
export function openEnvelope(body: Uint8Array): Envelope {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.length === 0) throw malformed("empty data");
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw malformed(
      `provided data does not appear to be a protobuf message, expected prefix [${[...MAGIC].join(" ")}]`,
    );
  }
  if (bytes.length === MAGIC.length) throw malformed("empty body");
  const envelope: Envelope = { apiVersion: "", kind: "", raw: Buffer.alloc(0) };
  const reader = new WireReader(bytes, MAGIC.length);
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1 && wire === BYTES) readTypeMeta(reader.message(), envelope);
    else if (field === 2 && wire === BYTES) envelope.raw = reader.bytes();
    else reader.skip(wire);
  }
  return envelope;
}

function readTypeMeta(reader: WireReader, envelope: Envelope): void {
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1 && wire === BYTES) envelope.apiVersion = reader.text();
    else if (field === 2 && wire === BYTES) envelope.kind = reader.text();
    else reader.skip(wire);
  }
}
