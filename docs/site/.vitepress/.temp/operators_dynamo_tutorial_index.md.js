import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"A graph, step by step","description":"","frontmatter":{},"headers":[],"relativePath":"operators/dynamo/tutorial/index.md","filePath":"operators/dynamo/tutorial/index.md"}');
const _sfc_main = { name: "operators/dynamo/tutorial/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="a-graph-step-by-step" tabindex="-1">A graph, step by step <a class="header-anchor" href="#a-graph-step-by-step" aria-label="Permalink to &quot;A graph, step by step&quot;">​</a></h1><p>Start a cluster with the operator in it, and keep its kubeconfig at hand:</p><div class="language-text vp-adaptive-theme"><button title="Copy Code" class="copy"></button><span class="lang">text</span><pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0"><code><span class="line"><span>npx konverge up --operators dynamo --background --name dynamo --kubeconfig dynamo.yaml</span></span>
<span class="line"><span>export KUBECONFIG=$PWD/dynamo.yaml NAMESPACE=default</span></span></code></pre></div><ol><li><p><strong>Deploy.</strong> <code>kubectl apply -n $NAMESPACE -f deployments/llm-agg.yaml</code>. A component, a Deployment and a Service appear for each service, and a claim for the worker&#39;s model files:</p><div class="language-text vp-adaptive-theme"><button title="Copy Code" class="copy"></button><span class="lang">text</span><pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0"><code><span class="line"><span>kubectl get dynamographdeployment llm-agg -n $NAMESPACE</span></span>
<span class="line"><span>kubectl get dcd,deployments,pvc -n $NAMESPACE</span></span></code></pre></div></li><li><p><strong>Update.</strong> Change the file (more replicas, another variable) and apply it again: only what changed is rolled out, and <code>Ready</code> is false until the new revision is there.</p></li><li><p><strong>Restart.</strong> <code>kubectl patch dgd llm-agg -n $NAMESPACE --type=merge -p &#39;{&quot;spec&quot;:{&quot;restart&quot;:{&quot;id&quot;:&quot;1&quot;}}}&#39;</code> restarts one service after the other; <code>.status.restart</code> says how far it is.</p></li><li><p><strong>GitOps.</strong> Keep the file in a repository and let Flux or Argo CD apply it. The operator never writes to the spec, so that nothing drifts, and <code>kubectl wait --for=condition=Ready dgd/llm-agg</code> tells when a commit has arrived.</p></li><li><p><strong>Clean up.</strong> <code>kubectl delete dgd llm-agg -n $NAMESPACE</code>, then <code>npx konverge down --name dynamo</code>.</p></li></ol></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("operators/dynamo/tutorial/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
