/** Something that the user of the command can fix: reported in one line, without a stack. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
