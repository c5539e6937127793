/** Run by survivors.test.ts: starts a program that would run forever, reports that, and waits to be killed. */
import { spawn } from "node:child_process";
import { endsWithUs } from "../src/images/survivors.ts";

const program = spawn("/bin/sh", ["-c", "sleep 600 & wait"], {
  detached: true,
  stdio: ["ignore", "inherit", "ignore"],
});
endsWithUs(program.pid!);
process.stdout.write("started\n");
