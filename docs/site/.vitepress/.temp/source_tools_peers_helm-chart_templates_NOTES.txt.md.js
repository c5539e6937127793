import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"NOTES.txt","description":"","frontmatter":{"aside":false,"pageClass":"source-page"},"headers":[],"relativePath":"source/tools/peers/helm-chart/templates/NOTES.txt.md","filePath":"source/tools/peers/helm-chart/templates/NOTES.txt.md"}');
const _sfc_main = { name: "source/tools/peers/helm-chart/templates/NOTES.txt.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="notestxt" tabindex="-1">NOTES.txt <a class="header-anchor" href="#notestxt" aria-label="Permalink to &quot;NOTES.txt&quot;">​</a></h1><p><code>tools/peers/helm-chart/templates/NOTES.txt</code></p><div class="language-text vp-adaptive-theme line-numbers-mode"><button title="Copy Code" class="copy"></button><span class="lang">text</span><pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0"><code><span class="line"><span>{{ .Values.replicas }} kiosk(s), {{ .Values.motto }}.</span></span></code></pre><div class="line-numbers-wrapper" aria-hidden="true"><span class="line-number">1</span><br></div></div></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("source/tools/peers/helm-chart/templates/NOTES.txt.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const NOTES_txt = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  NOTES_txt as default
};
