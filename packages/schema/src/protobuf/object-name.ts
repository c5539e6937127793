import { openEnvelope } from "./envelope.ts";
import { BYTES, WireReader } from "./wire.ts";

/** What a protobuf body calls its object. The metadata is the first field of every kind, so no schema is needed. */
export function protobufName(body: Uint8Array): { name: string; generateName: string } {
  const found = { name: "", generateName: "" };
  fields(new WireReader(openEnvelope(body).raw), (field, object) => {
    if (field !== 1) return false;
    fields(object.message(), (inner, metadata) => {
      if (inner === 1) found.name = metadata.text();
      else if (inner === 2) found.generateName = metadata.text();
      else return false;
      return true;
    });
    return true;
  });
  return found;
}

/** Goes over the fields that have a length; those that `read` leaves are skipped. */
function fields(reader: WireReader, read: (field: number, reader: WireReader) => boolean): void {
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (wire !== BYTES || !read(field, reader)) reader.skip(wire);
  }
}
