/**
 * Protobuf bodies of built-in kinds, as typed Go clients send them.
 *
 * A body is an envelope (four magic bytes, then a message that names the kind and holds the object's own bytes). Which
 * number and form each field has is in the kind's schema (`go.proto`), so nothing here knows a kind. Decoding gives the
 * very JSON that a JSON body of the same object would: Go writes zero values to the wire for all that is not a pointer,
 * and leaves them out of JSON where the field says so.
 *
 * A body that is not what it should be is refused with 400.
 */
export { zeroObject } from "./protobuf/decode.ts";
export { type Envelope, MAGIC, openEnvelope, PROTOBUF_MEDIA_TYPE } from "./protobuf/envelope.ts";
export { protobufName } from "./protobuf/object-name.ts";
export { decodeProtobuf, decodeRaw, type ProtobufOptions } from "./protobuf/protobuf-body.ts";
