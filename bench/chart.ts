/**
 * Draws the chart of a measure as SVG: a panel for each setting, a line for each engine, from the least to the most of
 * its rounds on a common logarithmic axis, with a dot at the median. Pure. Readable in light and dark.
 */

interface Series {
  readonly engine: string;
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** The lines of one setting. */
export interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
}

interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly panels: readonly Panel[];
}

const width = 760;
const left = 130;
const right = 100;
const rowHeight = 20;
const panelGap = 40;
const top = 40;
const axisHeight = 34;

const style = `text{font:13px system-ui,sans-serif;fill:#1f2328}
.title{font-weight:600;font-size:15px}.panel{font-weight:600}
.muted{fill:#59636e;font-size:12px}.grid{stroke:#d1d9e0}
.range{stroke:#818b98;stroke-width:3;stroke-linecap:round}.dot{fill:#59636e}
.own .range{stroke:#4b9ce8}.own .dot{fill:#0969da}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.muted{fill:#9198a1}.grid{stroke:#3d444d}
.range{stroke:#656c76}.dot{fill:#9198a1}
.own .range{stroke:#1f6feb}.own .dot{fill:#58a6ff}}`;

const number = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });
/** Formats a figure with three significant digits. */
export const formatted = (value: number): string => number.format(value);

/** Returns the SVG. Values that are not positive have no place on the axis and are left out of its range. */
export function drawChart({ title, unit, panels }: Chart): string {
  const values = panels
    .flatMap(({ series }) => series.flatMap(({ min, max }) => [min, max]))
    .filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const x = (value: number): number =>
    left + ((Math.log10(Math.max(value, 10 ** low)) - low) / (high - low)) * (width - left - right);
  const rows = panels.reduce((sum, { series }) => sum + series.length, 0);
  const plotHeight = rows * rowHeight + panels.length * panelGap;
  const bottom = top + plotHeight;
  const parts: string[] = [`<text class="title" x="8" y="22">${escaped(`${title}, ${unit}`)}</text>`];
  for (let power = low; power <= high; power++) {
    const at = x(10 ** power).toFixed(1);
    parts.push(`<line class="grid" x1="${at}" x2="${at}" y1="${top}" y2="${bottom}"/>`);
    parts.push(
      `<text class="muted" x="${at}" y="${bottom + 18}" text-anchor="middle">${formatted(10 ** power)}</text>`,
    );
  }
  let y = top;
  for (const panel of panels) {
    parts.push(`<text class="panel" x="8" y="${y + 25}">${escaped(panel.title)}</text>`);
    y += panelGap;
    for (const series of panel.series) {
      parts.push(line(series, x, y));
      y += rowHeight;
    }
  }
  const height = bottom + axisHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>${style}</style>
${parts.join('\n')}
</svg>
`;
}

function line({ engine, min, median, max }: Series, x: (value: number) => number, y: number): string {
  const [from, at, to] = [min, median, max].map((value) => x(value).toFixed(1));
  const kind = engine.startsWith('fenceline') ? ' class="own"' : '';
  const name = `<text x="20" y="${y + 4}">${escaped(engine)}</text>`;
  const range = `<line class="range" x1="${from}" x2="${to}" y1="${y}" y2="${y}"/>`;
  const dot = `<circle class="dot" cx="${at}" cy="${y}" r="5"/>`;
  const value = `<text class="muted" x="${(Number(to) + 10).toFixed(1)}" y="${y + 4}">${formatted(median)}</text>`;
  return `<g${kind}>${name}${range}${dot}${value}</g>`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
