import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"The checklist","description":"","frontmatter":{},"headers":[],"relativePath":"reference/checklist.md","filePath":"reference/checklist.md"}');
const _sfc_main = { name: "reference/checklist.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="the-checklist" tabindex="-1">The checklist <a class="header-anchor" href="#the-checklist" aria-label="Permalink to &quot;The checklist&quot;">​</a></h1><p>The operators are based on five documents that describe what they should do. Their requirements are kept as a list, line by line, in <code>tools/checklist/lines</code>, in this project&#39;s own words. Each line is a check that runs with the document&#39;s names and values, and again with other values in another namespace. Lines that name a command run that command with a real kubectl.</p><div class="language-text vp-adaptive-theme"><button title="Copy Code" class="copy"></button><span class="lang">text</span><pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0"><code><span class="line"><span>npm run checklist                         # on the embedded cluster and on a real control plane</span></span>
<span class="line"><span>npm run checklist -- --embedded           # on the embedded cluster only</span></span>
<span class="line"><span>npm run checklist -- --only D3,D1:L393    # a document, or a line</span></span></code></pre></div><table tabindex="0"><thead><tr><th>document</th><th>about</th><th>checks on the embedded cluster</th><th>on a real control plane</th></tr></thead><tbody><tr><td>D0</td><td>what CRDs and operators are: <code>LLMModel</code>, <code>ModelDeployment</code>, a graph by its SLA</td><td>all pass</td><td>all pass</td></tr><tr><td>D1</td><td>a CRD and its operator in depth</td><td>all pass</td><td>all pass</td></tr><tr><td>D2</td><td>an operator for distributed training; Ray, Seldon and Kubeflow&#39;s jobs</td><td>all pass</td><td>all pass; Kubeflow&#39;s jobs not recorded yet</td></tr><tr><td>D3</td><td>the Dynamo operator</td><td>all pass</td><td>all pass</td></tr><tr><td>D4</td><td>an operator for databases</td><td>all pass</td><td>all pass</td></tr></tbody></table><p>On <span class="date">2026-11-16</span>, all 172 checks passed on the embedded cluster. The last run on both, on <span class="date">2026-11-15</span>, had 318 results; Kubeflow&#39;s jobs (D2 L861–L910) were added after it. Lines that need running pods, such as logs, are checked on the embedded cluster only.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("reference/checklist.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const checklist = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  checklist as default
};
