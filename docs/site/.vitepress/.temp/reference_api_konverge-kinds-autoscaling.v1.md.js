import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"konverge/kinds/autoscaling.v1","description":"","frontmatter":{},"headers":[],"relativePath":"reference/api/konverge-kinds-autoscaling.v1.md","filePath":"reference/api/konverge-kinds-autoscaling.v1.md"}');
const _sfc_main = { name: "reference/api/konverge-kinds-autoscaling.v1.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="konvergekindsautoscalingv1" tabindex="-1">konverge/kinds/autoscaling.v1 <a class="header-anchor" href="#konvergekindsautoscalingv1" aria-label="Permalink to &quot;konverge/kinds/autoscaling.v1&quot;">​</a></h1><p>The kinds of autoscaling.v1, of which <code>konverge/kinds</code> has another version.</p><div class="language-ts vp-adaptive-theme"><button title="Copy Code" class="copy"></button><span class="lang">ts</span><pre class="shiki shiki-themes github-light github-dark vp-code" tabindex="0"><code><span class="line"><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">import</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;"> { HorizontalPodAutoscaler } </span><span style="--shiki-light:#D73A49;--shiki-dark:#F97583;">from</span><span style="--shiki-light:#032F62;--shiki-dark:#9ECBFF;"> &quot;konverge/kinds/autoscaling.v1&quot;</span><span style="--shiki-light:#24292E;--shiki-dark:#E1E4E8;">;</span></span></code></pre></div><table tabindex="0"><thead><tr><th>kind</th><th>apiVersion</th><th>scope</th></tr></thead><tbody><tr><td>HorizontalPodAutoscaler</td><td>autoscaling/v1</td><td>Namespaced</td></tr></tbody></table><p>A kind is a value, for the verbs of the client and the declarations of controllers, and the type of its objects. The other 7 names are types of fields.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("reference/api/konverge-kinds-autoscaling.v1.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const konvergeKindsAutoscaling_v1 = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  konvergeKindsAutoscaling_v1 as default
};
