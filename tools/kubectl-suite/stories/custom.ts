import { kubectl, story } from "../story.ts";
import { WITHOUT_PROSE } from "./cluster.ts";
import { widget, widgetDefinition } from "./manifests.ts";

const GROUP = "suite.example.com";

export const custom = [
  story(
    "custom resources",
    kubectl("create -f -", { input: widgetDefinition(GROUP) }),
    kubectl(`wait crd/widgets.${GROUP} --for=condition=Established --timeout=10s`),
    kubectl(`get crd widgets.${GROUP}`),
    kubectl(`get crd widgets.${GROUP} -o yaml`),
    kubectl(`api-resources --api-group=${GROUP} -o wide`, { until: /widgets/ }),
    kubectl(`explain widgets`, { until: /FIELDS/, masks: WITHOUT_PROSE }),
    kubectl(`explain widgets.spec`),
    kubectl(`explain widgets.spec.parts --recursive`),
    kubectl(`explain widget --api-version=${GROUP}/v1 --recursive`),
    kubectl("get widgets"),
    kubectl("apply -f -", { input: [widget(GROUP, "big", { size: 9 }), widget(GROUP, "small", { size: 1 })] }),
    kubectl("get widgets"),
    kubectl("get wd -o wide"),
    kubectl("get toys"),
    kubectl("get widget big -o yaml"),
    kubectl("apply -f -", { input: widget(GROUP, "big", { size: 0 }) }),
    kubectl("apply -f -", { input: widget(GROUP, "big", { size: "x" }) }),
    kubectl("apply -f -", { input: widget(GROUP, "big", { size: 1, colour: "green" }) }),
    kubectl("apply -f -", { input: widget(GROUP, "big", { size: 1, extra: "green" }) }),
    kubectl("create -f -", { input: widget(GROUP, "wrong", {}) }),
    kubectl("apply --server-side -f -", {
      input: widget(GROUP, "parts", { size: 1, parts: [{ name: "a", weight: 1.5 }] }),
    }),
    kubectl("apply --server-side -f - --field-manager=other", {
      input: widget(GROUP, "parts", { size: 1, parts: [{ name: "b" }] }),
    }),
    kubectl("get widget parts -o yaml --show-managed-fields"),
    kubectl("scale widget big --replicas=3"),
    kubectl("get widget big --subresource=scale"),
    kubectl(
      `patch widget big --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'`,
    ),
    kubectl("get widget big"),
    kubectl("patch widget big -p '{}'"),
    kubectl("wait widget/big --for=condition=Ready --timeout=5s"),
    kubectl("label widget big a=b"),
    kubectl("diff -f -", { input: widget(GROUP, "big", { size: 12 }) }),
    kubectl("edit widget big", { editor: "sed -i 's/size: 9/size: 10/'" }),
    kubectl("describe widget big"),
    kubectl("get widgets --sort-by=.spec.size"),
    kubectl("delete widgets --all"),
    kubectl(`delete crd widgets.${GROUP}`),
    kubectl("get widgets"),
  ),
];
