import { type ChildProcess, spawn } from "node:child_process";

/**
 * Sees to it that programs do not outlive the process that runs them, however that ends.
 *
 * Flow: a small shell in a session of its own reads from a pipe which process groups there are. Whatever ends us, SIGKILL
 * too, closes the pipe; the shell then ends what is left of them.
 *
 * Assumptions: a POSIX shell. On Windows nothing survives Ctrl-C or a closed terminal, but a process that is ended by force
 * leaves its children behind.
 */
const SCRIPT = `
groups=""
while read -r sign group; do
  rest=""
  for one in $groups; do [ "$one" = "$group" ] || rest="$rest $one"; done
  groups=$rest
  [ "$sign" = "+" ] && groups="$groups $group"
done
[ -z "$groups" ] && exit 0
for one in $groups; do kill -s TERM -- "-$one" 2>/dev/null; done
sleep 1
for one in $groups; do kill -s KILL -- "-$one" 2>/dev/null; done
`;

let watchdog: ChildProcess | undefined;

/** Ends a process group with this process, should it not have ended by then. Returns what to call when it has. */
export function endsWithUs(group: number): () => void {
  if (process.platform === "win32") return () => {};
  watchdog ??= startWatchdog();
  const told = watchdog;
  const tell = (sign: "+" | "-") => void told.stdin?.write(`${sign} ${group}\n`);
  tell("+");
  return () => tell("-");
}

function startWatchdog(): ChildProcess {
  const shell = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  // It is there for us, not the other way round.
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  shell.stdin?.on("error", () => {});
  shell.once("error", () => {});
  shell.once("exit", () => {
    if (watchdog === shell) watchdog = undefined;
  });
  return shell;
}
