/** One series of a family: its labels and its value. */
export interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge'
  samples: readonly Sample[]
}

/** How often something took how long. */
export interface Histogram {
  labels: Readonly<Record<string, string>>
  /** How many were at most so much, rising; the last of them may be less than `count`. */
  buckets: readonly { most: number; count: number }[]
  count: number
  sum: number
}

export interface HistogramFamily {
  name: string
  help: string
  type: 'histogram'
  samples: readonly Histogram[]
}

/** What scrapers are told the answer is. */
export const prometheusType = 'text/plain; version=0.0.4; charset=utf-8'

/** Families in the text format of Prometheus, version 0.0.4. A family without samples is left out. */
export function prometheusText(families: readonly (Family | HistogramFamily)[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map((family) =>
      [
        `# HELP ${family.name} ${family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${family.name} ${family.type}`,
        ...(family.type === 'histogram'
          ? family.samples.flatMap((sample) => histogramLines(family.name, sample))
          : family.samples.map(({ labels, value }) => line(family.name, labels, value))),
        '',
      ].join('\n'),
    )
    .join('')
}

function histogramLines(name: string, { labels, buckets, count, sum }: Histogram): string[] {
  const bucket = (le: string, value: number) => line(`${name}_bucket`, { ...labels, le }, value)
  return [
    ...buckets.map(({ most, count: below }) => bucket(String(most), below)),
    bucket('+Inf', count),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ]
}

function line(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
