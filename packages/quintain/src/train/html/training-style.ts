import { pageStyle } from '../../report/html/page-style.ts'

/** The style sheet of a training's page: that of a report, and what curves need. Lines differ by more than their colour. */
export const trainingStyle = `${pageStyle}
:root{--one:#0b6e63;--two:#1f5fa8;--three:#8a5a00;--four:#a3225a;--alarm:#b8400f}
@media screen and (prefers-color-scheme:dark){:root{--one:#4fd1bf;--two:#8cbcf5;--three:#e9b557;--four:#ff8ab8;--alarm:#ff9a68}}
.curve{fill:none;stroke-width:2;vector-effect:non-scaling-stroke;stroke-linejoin:round}
.curve.dashed{stroke-dasharray:6 4}
.one{stroke:var(--one)}.two{stroke:var(--two)}.three{stroke:var(--three)}.four{stroke:var(--four)}.faint{stroke:var(--soft)}
.curve.faint{stroke-width:1;opacity:.5}
.area{stroke:none;opacity:.18}.area.one{fill:var(--one)}.area.two{fill:var(--two)}.area.three{fill:var(--three)}.area.four{fill:var(--four)}
.dot{stroke:var(--card);stroke-width:1}.dot.one{fill:var(--one)}.dot.two{fill:var(--two)}.dot.three{fill:var(--three)}.dot.four{fill:var(--four)}
.alarm{stroke:var(--alarm);stroke-width:1.5;stroke-dasharray:2 3}
.curves text{paint-order:stroke;stroke:var(--card);stroke-width:3px;stroke-linejoin:round}
.verdict-line{font-size:16px;margin-top:10px}
.alarms{margin:0;padding-left:18px}.alarms li+li{margin-top:8px}
.scrolled{overflow-x:auto}
.scrolled td,.scrolled th{white-space:nowrap;padding-right:18px}
.legend .note{margin:0}
summary{cursor:pointer}summary h2{display:inline}`
