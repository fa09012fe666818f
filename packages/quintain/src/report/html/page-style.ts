/** Colours of the task strip from never to always: orange to teal, told apart by lightness too. */
const ramp = {
  light: [
    '#c2410c',
    '#d4622f',
    '#e08252',
    '#eaa27b',
    '#f1c3a8',
    '#d9d5c8',
    '#b4d3cc',
    '#8cc3b8',
    '#5fada0',
    '#2f9083',
    '#0b6e63',
  ],
  dark: [
    '#ff8a4c',
    '#e47a45',
    '#c96c40',
    '#ad5f3c',
    '#8f5439',
    '#5d5a52',
    '#3d6660',
    '#3f7d74',
    '#3f968a',
    '#3cb1a2',
    '#3fd0bd',
  ],
}

const shadeRules = (colours: readonly string[]) =>
  colours.map((colour, i) => `.shade${i}{fill:${colour}}`).join('')

/** The style sheet of the page: no font, image or file from outside; light, dark, narrow and print. */
export const pageStyle = `
:root{--ground:#f4f5f3;--card:#fff;--ink:#16201e;--soft:#56625f;--line:#dfe3e0;--track:#e9ecea;--accent:#0b6e63;--accent-soft:#cfe5e1;--good:#0b6e63;--bad:#b8400f;--fault:#a3225a;--unscored:#75691a;--hover:#eef3f1;--code:#f2f4f2;--banner:#fff4d6;--banner-line:#e3c565;--agent:#0b6e63;--user:#1f5fa8;--system:#6a5a8c;--tool:#8a5a00;color-scheme:light}
@media screen and (prefers-color-scheme:dark){:root{--ground:#101514;--card:#182020;--ink:#e7edeb;--soft:#9fadaa;--line:#2b3635;--track:#263130;--accent:#4fd1bf;--accent-soft:#1d4a45;--good:#4fd1bf;--bad:#ff9a68;--fault:#ff8ab8;--unscored:#d9c75e;--hover:#202b2a;--code:#121919;--banner:#3a3114;--banner-line:#7d6a24;--agent:#4fd1bf;--user:#8cbcf5;--system:#bba9e6;--tool:#e9b557;color-scheme:dark}}
*{box-sizing:border-box}
html{scroll-behavior:smooth}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
code,.block.call .said,.block.tool .said{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
code{background:var(--code);border-radius:4px;padding:1px 5px;overflow-wrap:anywhere}
h1,h2,h3,h4,p{margin:0}
h1{font-size:30px;line-height:1.2;letter-spacing:-.02em;overflow-wrap:anywhere}
h2{font-size:20px;letter-spacing:-.01em}
h3{font-size:15px}
h4{font-size:13px;margin:14px 0 4px;color:var(--soft);font-weight:600}
.top,main,footer{max-width:1240px;margin:0 auto;padding:0 24px}
.top{padding-top:28px;padding-bottom:18px}
.brand{font-weight:700;font-size:13px;color:var(--accent);letter-spacing:.02em;margin-bottom:10px}
.brand span{color:var(--soft);font-weight:500}
.lead{color:var(--soft);font-size:16px;margin-top:4px;overflow-wrap:anywhere}
.note{color:var(--soft);font-size:12.5px;line-height:1.45;overflow-wrap:anywhere}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:-999px;top:8px;background:var(--card);color:var(--ink);padding:6px 12px;border-radius:6px}
.skip:focus{left:8px;z-index:2}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.banner{background:var(--banner);border:1px solid var(--banner-line);border-radius:8px;padding:9px 14px;margin:0 0 12px;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(270px,1fr));gap:14px}
.tile,.card,#explore{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:18px 20px;min-width:0}
.tile h2{font-size:13px;font-weight:600;color:var(--soft);letter-spacing:0}
.big{font-size:38px;line-height:1.15;font-weight:650;letter-spacing:-.03em;margin:2px 0 8px}
.range{display:inline-block;font-size:16px;line-height:1.3;font-weight:500;letter-spacing:0;color:var(--soft);white-space:nowrap}
.tile .note+.note{margin-top:6px;padding-top:6px;border-top:1px solid var(--line)}
.interval{margin-bottom:8px}
.spent{margin:0 0 8px;display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 12px;font-size:13px}.spent dt{color:var(--soft)}.spent dd{margin:0;overflow-wrap:anywhere}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(340px,1fr));gap:14px;margin-top:14px;grid-auto-flow:dense}
.card.wide{grid-column:1/-1}.card.tall{grid-row:span 2}
main>.card,#explore{margin-top:14px}
.card .note{margin:2px 0 12px}
svg{display:block;max-width:100%;overflow:visible}
svg text{font-size:11.5px;fill:var(--soft)}
svg text.end{text-anchor:end}svg text.middle{text-anchor:middle}svg text.label{fill:var(--ink);font-weight:600;font-size:12.5px}
.track{fill:var(--track)}.band{fill:var(--accent);opacity:.32}.band-again{fill:var(--accent)}.tick{fill:var(--ink)}
.bar{fill:var(--accent)}.good{fill:var(--good)}.fault{fill:var(--fault)}.unscored{fill:var(--unscored)}.dim{fill:var(--soft)}.hollow{fill:var(--line)}
.rule{stroke:var(--soft);opacity:.5}.grid{stroke:var(--line)}
.mark{stroke:var(--ink)}line.mark{stroke-width:1.5}line.p95{stroke:var(--bad)}line.p99{stroke:var(--fault);stroke-dasharray:4 3}
rect.bar:hover{opacity:.75}
.stack rect{stroke:var(--card)}
.legend{list-style:none;margin:8px 0;padding:0;display:flex;flex-wrap:wrap;gap:4px 16px;font-size:13px}
.legend li{display:flex;align-items:center;gap:6px}
table{border-collapse:collapse;width:100%}
th{text-align:left;font-weight:500}
td,th{padding:3px 10px 3px 0;vertical-align:top;overflow-wrap:anywhere}
.num{text-align:right;white-space:nowrap}
th{overflow-wrap:normal}
.plain{font-size:13px}
.plain th[scope=col]{color:var(--soft);font-weight:500;font-size:12px;vertical-align:bottom;white-space:normal}
.plain td:last-child,.plain th:last-child{padding-right:0}
.bars{font-size:13.5px}.bars td{width:1%}.bars th{overflow-wrap:anywhere}.bars td.drawn{width:28%;padding:7px 0 0}
.tries td{width:46%}.small{margin-top:2px}
.examples{margin:0;padding-left:18px;font-size:13px;overflow-wrap:anywhere}
.report td,.report th{padding:5px 14px 5px 0;border-top:1px solid var(--line)}
.report th{color:var(--soft);white-space:nowrap;width:1%}
.report .headline td{font-weight:650}.report .note{font-weight:400}.report .bad td{color:var(--fault)}.report .warning td{color:var(--bad)}.report .bad .note,.report .warning .note{color:inherit}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:6px 18px;margin:10px 0 0}
.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere;min-width:0}
.empty{color:var(--soft)}
footer{padding:22px 24px 40px;color:var(--soft);font-size:12.5px}
#tasks-box{margin:16px 0 18px}
#strip{margin-top:10px;cursor:pointer;border-radius:4px;min-height:20px;overflow:hidden;padding:2px}
#strip svg{overflow:visible}
.said{font-size:13.5px;min-height:1.5em;margin-top:6px;overflow-wrap:anywhere}
.cell.none{fill:none;stroke:var(--soft);stroke-dasharray:2 2}
.hover,.chosen{fill:none;stroke:var(--ink);stroke-width:1.5}.chosen{stroke-width:2.5}
#filters{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:14px 0 10px}
#filters[hidden],#panes[hidden]{display:none}
#kinds{display:flex;flex-wrap:wrap;gap:6px}
button,select,input[type=search]{font:inherit;font-size:13.5px;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:5px 10px;min-height:34px}
button{cursor:pointer}button:hover{background:var(--hover)}
button[aria-pressed=true]{background:var(--accent-soft);border-color:var(--accent)}
button .num{color:var(--soft)}button[aria-pressed=true] .num{color:inherit}
input[type=search]{flex:1 1 180px;min-width:140px}
select{max-width:240px}
.check{display:flex;gap:6px;align-items:center;font-size:13.5px;white-space:nowrap}
#count{font-size:13.5px;color:var(--soft);overflow-wrap:anywhere}
#panes{display:grid;grid-template-columns:minmax(280px,380px) minmax(0,1fr);border:1px solid var(--line);border-radius:10px;overflow:hidden;height:min(820px,88vh)}
.scroll{overflow:auto;position:relative;overscroll-behavior:contain;scrollbar-gutter:stable}
.scroll:focus-visible{outline-offset:-2px}
.space{position:relative}
.row{position:absolute;left:0;right:0;top:0}
#list{border-right:1px solid var(--line)}
.rollout{height:46px;padding:5px 12px 5px 34px;display:grid;grid-template-columns:minmax(0,1fr) auto;border-bottom:1px solid var(--line);cursor:pointer;font-size:13.5px;line-height:18px}
.rollout:hover{background:var(--hover)}
.rollout[aria-selected=true]{background:var(--accent-soft)}
.rollout .name{font-weight:600;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.rollout .ending,.rollout .took{font-size:12px;color:var(--soft);white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.rollout[aria-selected=true] .ending,.rollout[aria-selected=true] .took{color:inherit}
.rollout .reward,.rollout .took{text-align:right;padding-left:8px}
.rollout .mark{position:absolute;left:12px;top:5px}
span.mark{stroke:none;font-weight:700;margin-right:5px}
.success .mark{color:var(--good)}.failure .mark{color:var(--bad)}.faulted .mark{color:var(--fault)}.unscored .mark{color:var(--unscored)}
button.success .mark,button.scored .mark{color:var(--good)}
#reader{display:flex;flex-direction:column;min-width:0;min-height:0}
#reader-head{display:flex;align-items:center;gap:8px;padding:8px 14px;border-bottom:1px solid var(--line);min-height:51px}
#reader-head h3{flex:0 1 auto;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
#reader-head .ending{flex:1;color:var(--soft);font-size:13px}
#reader-head button{padding:2px 10px}
#reader-body{flex:1;min-height:0}
.item{padding:7px 16px;overflow-wrap:anywhere}
.item.fact{color:var(--soft);font-size:13px;padding-block:3px}
.item.problem{color:var(--fault);font-size:13.5px}
.item.heading h4{margin:8px 0 0;padding-bottom:3px;border-bottom:1px solid var(--line)}
.item.call{display:flex;flex-wrap:wrap;gap:2px 10px;align-items:baseline;font-size:13px;border-top:1px solid var(--line);padding-block:12px 4px}
.item.call em{flex-basis:100%;color:var(--fault)}
.item.verdict,.item.component{display:grid;grid-template-columns:minmax(76px,max-content) minmax(0,1fr);gap:2px 12px;font-size:14px;padding-block:4px}
.item.component{grid-template-columns:minmax(76px,max-content) max-content minmax(0,1fr);font-size:13.5px;align-items:baseline}
.item.verdict>b{color:var(--soft);font-weight:500}
.item em{display:block;font-style:normal;color:var(--soft);font-size:13px;white-space:pre-wrap}
.item.component em{grid-column:2/-1}
.verdict.good span{color:var(--good);font-weight:600}.verdict.bad span{color:var(--bad);font-weight:600}.verdict.fault span{color:var(--fault);font-weight:600;fill:none}
.verdict em{font-weight:400}
.value{font-weight:650}
.message .who{display:flex;flex-wrap:wrap;gap:2px 10px;align-items:baseline;font-size:13px;margin-bottom:3px}
.message .who .number{margin-left:auto;color:var(--soft);font-size:12px}
.message.assistant .who b{color:var(--agent)}.message.user .who b{color:var(--user)}.message.system .who b{color:var(--system)}.message.tool .who b{color:var(--tool)}
.message{border-left:3px solid transparent}
.message.assistant{border-left-color:var(--agent)}.message.user{border-left-color:var(--user)}.message.system{border-left-color:var(--system)}.message.tool{border-left-color:var(--tool)}
.said{white-space:pre-wrap}
.block .said{margin:0;min-height:0;unicode-bidi:plaintext;font-size:14px}
.piece{content-visibility:auto;contain-intrinsic-size:auto 3000px}
.block+.block{margin-top:7px}
.message.system .said{color:var(--soft);font-size:13px}
.block.reasoning .said{color:var(--soft);font-style:italic}
.block.call,.message.tool .block.text{background:var(--code);border-radius:8px;padding:7px 11px}
.message.tool .block.text .said{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.block .title{display:flex;gap:8px;align-items:baseline;font-size:12px;margin-bottom:2px}
.block .title code{background:none;padding:0;font-weight:700}
.tag{color:var(--soft)}
.block.error .said,.block.error .tag,.block.refusal .said,.block.refusal .tag{color:var(--bad)}
.escape{color:var(--fault);border:1px solid currentcolor;border-radius:3px;font-size:.85em;padding:0 2px;margin:0 1px}
.more{margin-top:6px}
${shadeRules(ramp.light)}
@media screen and (prefers-color-scheme:dark){${shadeRules(ramp.dark)}}
@media (max-width:820px){.top,main,footer{padding-left:12px;padding-right:12px}.tile,.card,#explore{padding:14px}#panes{grid-template-columns:minmax(0,1fr);grid-template-rows:minmax(0,2fr) minmax(0,3fr);height:94vh}#list{border-right:0;border-bottom:1px solid var(--line)}.cards{grid-template-columns:minmax(0,1fr)}.tiles{grid-template-columns:minmax(0,1fr)}h1{font-size:24px}.big{font-size:32px}.facts{grid-template-columns:minmax(0,1fr)}.facts dd{margin-bottom:6px}.report th,.report td{display:block;width:auto;padding-right:0}.report th:empty{display:none}.report td{border-top:0;padding-top:0}.card.tall{grid-row:auto}select{max-width:100%}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{:root{--ground:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;color-scheme:light}body{font-size:12px;print-color-adjust:exact;-webkit-print-color-adjust:exact}.top,main,footer{max-width:none;padding:0}.tile,.card{break-inside:avoid}.card.wide{break-inside:auto}#filters,#panes,.skip,#tasks-note,#explore>.note{display:none!important}.tiles{grid-template-columns:1fr 1fr}}
`.trim()
