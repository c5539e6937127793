/** Devices that Windows finds in every folder, with any extension: `nul`, `con.txt`, `COM1`. */
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:[. ].*)?$/i;
/** A separator, a drive or an alternate stream (`:`), a wildcard, or a control character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: file names with them are what this refuses
const WINDOWS_FORBIDDEN = /[\\<>:"|?*\u0000-\u001f]/;

/**
 * Why a text cannot be the name of one file or folder on a platform (`process.platform`), or undefined if it can. A name
 * that passes stays in the folder that it is put into.
 *
 * ```ts
 * fileNameProblem("..", "linux"); // "it is not a name"
 * fileNameProblem("C:", "win32"); // "it contains a character that Windows does not allow in file names"
 * ```
 */
export function fileNameProblem(name: string, platform: string): string | undefined {
  if (name === "" || name === "." || name === "..") return "it is not a name";
  if (name.includes("\0")) return "it contains a NUL byte";
  if (name.includes("/")) return "it contains a '/'";
  if (platform !== "win32") return undefined;
  if (WINDOWS_FORBIDDEN.test(name)) return "it contains a character that Windows does not allow in file names";
  if (/[. ]$/.test(name)) return "it ends with a dot or a space, which Windows removes";
  if (WINDOWS_DEVICE.test(name)) return "it is the name of a device on Windows";
  return undefined;
}
