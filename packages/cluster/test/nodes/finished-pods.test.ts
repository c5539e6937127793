import assert from "node:assert/strict";
import { test } from "node:test";
import { Pod } from "@konverge/kinds";
import { node, onNodes } from "./virtual-nodes.ts";

test("of a pod that has ended and is deleted, its node reports nothing any more", () =>
  onNodes([node("one")], async (stage) => {
    await stage.pod("work", { restartPolicy: "Never" }, { annotations: { "sim.konverge.dev/exit-code": "0" } });
    await stage.pass(5000);
    assert.equal((await stage.get("work")).status?.phase, "Succeeded");
    const { server, client } = stage.cluster;
    const asked: string[] = [];
    const begin = server.activity.begin.bind(server.activity);
    server.activity.begin = (user, info) => {
      if (info.resource === "pods") asked.push(`${info.verb} ${info.subresource}`.trim());
      return begin(user, info);
    };
    await stage.wait(client.delete(Pod, "default/work"));
    await stage.pass(5000);
    assert.deepEqual(
      asked.filter((what) => what !== "list" && what !== "watch" && what !== "get"),
      ["delete"],
    );
  }));
