import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"_names.tpl","description":"","frontmatter":{"aside":false,"pageClass":"source-page"},"headers":[],"relativePath":"source/tools/peers/helm-chart/templates/_names.tpl.md","filePath":"source/tools/peers/helm-chart/templates/_names.tpl.md"}');
const _sfc_main = { name: "source/tools/peers/helm-chart/templates/_names.tpl.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="_namestpl" tabindex="-1">_names.tpl <a class="header-anchor" href="#_namestpl" aria-label="Permalink to &quot;_names.tpl&quot;">​</a></h1><p><code>tools/peers/helm-chart/templates/_names.tpl</code></p><div class="language-text vp-adaptive-theme line-numbers-mode"><button title="Copy Code" class="copy"></button><span class="lang">text</span><pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0"><code><span class="line"><span>{{- define &quot;kiosk.labels&quot; -}}</span></span>
<span class="line"><span>app.kubernetes.io/name: {{ .Chart.Name }}</span></span>
<span class="line"><span>app.kubernetes.io/instance: {{ .Release.Name }}</span></span>
<span class="line"><span>app.kubernetes.io/managed-by: {{ .Release.Service }}</span></span>
<span class="line"><span>{{- end -}}</span></span></code></pre><div class="line-numbers-wrapper" aria-hidden="true"><span class="line-number">1</span><br><span class="line-number">2</span><br><span class="line-number">3</span><br><span class="line-number">4</span><br><span class="line-number">5</span><br></div></div></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/peers/helm-chart/templates/_names.tpl.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const _names_tpl = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  _names_tpl as default
};
