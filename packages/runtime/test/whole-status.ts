import assert from "node:assert/strict";
import { controller, controllerPermissions } from "@konverge/runtime";
import { scenario, virtual } from "./scenario.ts";
import { conditionOf, Widget } from "./stage.ts";

/** Reports the text and how many names there are, whole. */
const widgets = () =>
  controller(Widget, {
    name: "widgets",
    status: "whole",
    reconcile: ({ spec }) => ({ wholeStatus: { text: spec.text, count: spec.maps.length, conditions: [] } }),
  });

const statusOf = async (s: Parameters<Parameters<typeof scenario>[1]>[0]) =>
  (await s.user.get(Widget, "default/w")).status;

scenario("a whole status is written once, as it is returned, and removes what others have written", async (s) => {
  await s.run(widgets());
  await s.widget("w", { maps: ["a"], text: "1" });
  await s.settle();
  assert.deepEqual(await statusOf(s), { text: "1", count: 1, conditions: [] });
  assert.deepEqual(s.writes(), ["PUT /apis/example.com/v1/namespaces/default/widgets/w/status"]);
  await s.user.patchStatus(Widget, "default/w", { merge: { status: { count: 5 } } });
  await s.settle();
  assert.equal((await statusOf(s))?.count, 1);
});

virtual("a failure adds nothing to a whole status", async (s) => {
  await s.run(
    controller(Widget, {
      status: "whole",
      reconcile() {
        throw new Error("it does not work");
      },
      backoff: { background: true },
    }),
  );
  await s.widget("w");
  await s.settle();
  await s.clock.advance(60_000);
  assert.equal((await statusOf(s))?.conditions, undefined);
});

virtual("a status of the other form is a mistake that is reported", async (s) => {
  await s.run(controller(Widget, { reconcile: () => ({ wholeStatus: { count: 1 } }) }));
  await s.widget("w");
  await s.settle();
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False InvalidResult");
});

virtual("what the server refuses as invalid is retried with the usual delays if the back-off says so", async (s) => {
  let tried = 0;
  s.interfere = async (request, next) => {
    if (request.method !== "PUT" || tried++ > 3) return next(request);
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", message: "no", reason: "Invalid", code: 422 };
    return { status: 422, headers: { "content-type": "application/json" }, body: JSON.stringify(status) };
  };
  await s.run(
    controller(Widget, {
      status: "whole",
      backoff: { initial: 5, longest: 1000, refused: true },
      reconcile: () => ({ wholeStatus: { count: 1 } }),
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.equal((await statusOf(s))?.count, 1);
});

virtual("the role of a controller that writes the status whole has update, and no patch", async () => {
  const verbs = controllerPermissions([widgets()])
    .filter(({ resource }) => resource === "widgets/status")
    .map(({ verb }) => verb);
  assert.deepEqual(verbs, ["update"]);
});
