import assert from "node:assert/strict";
import { Deployment } from "@konverge/kinds";
import { deployed } from "../deployed.ts";
import type { Story } from "../form.ts";
import { sh, shUntil } from "../shell.ts";
import type { ModelCase } from "./model-case.ts";

/** The operator as a Deployment: what a user looks at when something is wrong. */
export const runningOperator: Story<ModelCase> = {
  title: "the operator as a Deployment",
  kubectl: true,
  lines: {
    "L336-343": "the operator is a Deployment with a container called operator",
    L422: "its pods are found by their label",
    L428: "its account may create Deployments",
    L438: "a Role of its name shows that it may write the status",
    L441: "the CRD's first version has subresources",
    L454: "its log level is set by the environment, and the Deployment rolls",
  },
  async play(stage, { namespace }, line) {
    await deployed(stage);
    await line("L336-343", async () => {
      const { spec } = await stage.get(Deployment, "llm-operator");
      assert.equal(spec?.template.spec?.containers[0]?.name, "operator");
    });
    await line("L422", async () => {
      await shUntil(stage, "kubectl get pods -l app=llm-operator", /llm-operator-\S+ +1\/1 +Running/);
    });
    await line("L428", async () => {
      const as = `--as=system:serviceaccount:${namespace}:llm-operator`;
      assert.equal((await sh(stage, `kubectl auth can-i create deployments ${as}`)).trim(), "yes");
      const { stdout } = await stage.shell(`kubectl auth can-i create secrets -A ${as}`);
      assert.equal(stdout.trim(), "no", "and nothing that it does not need");
    });
    await line("L438", async () =>
      assert.match(await sh(stage, "kubectl get role llm-operator -o yaml"), /llmmodels\/status/),
    );
    await line("L441", async () => {
      const command = "kubectl get crd llmmodels.ai.example.com -o jsonpath='{.spec.versions[0].subresources}'";
      assert.match(await sh(stage, command), /"status":\{\}/);
    });
    await line("L454", async () => {
      assert.match(await sh(stage, "kubectl set env deployment/llm-operator LOG_LEVEL=debug"), /env updated/);
      await sh(stage, "kubectl rollout status deployment/llm-operator --timeout=60s");
    });
  },
};
