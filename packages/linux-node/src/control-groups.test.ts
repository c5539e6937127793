import assert from "node:assert/strict";
import { test } from "node:test";
import { hierarchies } from "./control-groups.ts";

test("one tree of control groups is version 2", () => {
  const mounts = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";
  assert.deepEqual(hierarchies(mounts), { version: 2, mounts: ["/sys/fs/cgroup"] });
});

test("a tree for each controller is version 1, also beside one of version 2, in which runc makes groups as well", () => {
  const mounts = [
    "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0",
    "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0",
    "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0",
  ].join("\n");
  assert.deepEqual(hierarchies(mounts), {
    version: 1,
    mounts: ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"],
  });
});
