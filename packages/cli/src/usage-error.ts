/** Something that whoever typed the command can put right: told in one line, without a stack. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
