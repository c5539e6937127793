import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"An operator for databases, step by step","description":"","frontmatter":{},"headers":[],"relativePath":"operators/database/tutorial/index.md","filePath":"operators/database/tutorial/index.md"}');
const _sfc_main = { name: "operators/database/tutorial/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="an-operator-for-databases-step-by-step" tabindex="-1">An operator for databases, step by step <a class="header-anchor" href="#an-operator-for-databases-step-by-step" aria-label="Permalink to &quot;An operator for databases, step by step&quot;">​</a></h1><ol><li><strong>The kind.</strong> <code>kubectl apply -f manifests/database-crd.yaml</code> (write it with <code>konverge manifests</code>, or take it from the operator&#39;s folder in <code>config</code>). Objects can be stored and listed now; nothing runs, and their phase is empty.</li><li><strong>An object.</strong> <code>kubectl apply -f manifests/database-instance.yaml</code>, then <code>kubectl get databases</code>.</li><li><strong>The smallest operator.</strong> <a href="/source/operators/database/tutorial/pod-operator.ts.html">pod-operator.ts</a> makes one Pod for each object and reports its phase. Run it against your cluster with <code>npx konverge run ./pod-operator.ts --log-level debug</code>; what was there before it started is picked up.</li><li><strong>More objects.</strong> <code>kubectl apply -f manifests/database-instances.yaml</code>; each is handled by itself.</li><li><strong>What is missing.</strong> Delete the Pod: it comes back, without its data. Change <code>size</code>: nothing happens. The operator of this package uses a StatefulSet with a volume instead, and follows changes.</li><li><strong>The end.</strong> <code>kubectl delete database postgres-first</code> takes the Pod with it. If an object cannot be deleted because no operator runs, <code>kubectl patch database NAME -p &#39;{&quot;metadata&quot;:{&quot;finalizers&quot;:[]}}&#39; --type=merge</code> lets it go.</li></ol></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("operators/database/tutorial/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
