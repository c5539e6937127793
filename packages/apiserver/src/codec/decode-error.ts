/** The body does not fit the kind. The message is that of Go's decoder. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}
