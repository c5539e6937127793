import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse(`{"title":"038 Run Kubernetes' conformance specs unchanged, one process each","description":"","frontmatter":{},"headers":[],"relativePath":"decisions/038-conformance.md","filePath":"decisions/038-conformance.md"}`);
const _sfc_main = { name: "decisions/038-conformance.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="038-run-kubernetes-conformance-specs-unchanged-one-process-each" tabindex="-1">038 Run Kubernetes&#39; conformance specs unchanged, one process each <a class="header-anchor" href="#038-run-kubernetes-conformance-specs-unchanged-one-process-each" aria-label="Permalink to &quot;038 Run Kubernetes&#39; conformance specs unchanged, one process each&quot;">​</a></h1><ul><li>Date: <span class="date">2026-11-15</span></li><li>Status: accepted</li></ul><h2 id="context" tabindex="-1">Context <a class="header-anchor" href="#context" aria-label="Permalink to &quot;Context&quot;">​</a></h2><p>The differential suite shows that responses are the same; it cannot show that what users rely on over many requests works: rollouts, quotas, watches, <code>kubectl</code> against live objects. Kubernetes has such a suite.</p><h2 id="decision" tabindex="-1">Decision <a class="header-anchor" href="#decision" aria-label="Permalink to &quot;Decision&quot;">​</a></h2><ul><li><code>e2e.test</code> is built from the published module, unchanged. Each spec runs in its own process against an embedded cluster in another process. In one process, a spec that waits for a container would delay all others, and one that crashes would end them; the price is two seconds of startup each. Ginkgo&#39;s time limit ends a spec, so that it reports where it was and cleans up; the process is killed only if that fails. [Serial] specs run alone. <code>--check</code> runs eight known specs per process and reruns failures alone.</li><li>A real control plane with KWOK nodes, run by the same command, is the reference: it shows which specs can pass without containers. What passes on each is a committed list of names; a name that stops passing fails the check.</li><li>Simulated containers are interpreted (decision 035). The specs&#39; images are reimplemented for the interpreter in <code>tools/conformance/images</code>, using only what any user&#39;s image can use.</li></ul><h2 id="consequences" tabindex="-1">Consequences <a class="header-anchor" href="#consequences" aria-label="Permalink to &quot;Consequences&quot;">​</a></h2><ul><li>Nothing in the cluster knows image names, commands or namespaces of the specs.</li><li>Each of the 446 specs has passed at least once on interpreted containers with our reimplementations of the test images. This is not a certified run, and not one run in which all passed together.</li><li>A full run takes long; <code>--check --sample N</code> runs a fixed sample.</li><li>Specs that fail on the reference for lack of a container may pass here; they are on our list only.</li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("decisions/038-conformance.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const _038Conformance = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  _038Conformance as default
};
