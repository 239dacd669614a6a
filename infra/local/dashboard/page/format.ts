/** A number as people read it: three digits, thousands as k and M, nothing as a dash. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  if (size >= 999_500) return `${trim(value / 1_000_000)} M`;
  if (size >= 9_995) return `${trim(value / 1_000)} k`;
  if (size >= 1_000) return Math.round(value).toLocaleString('en');
  return size > 0 && size < 0.001 ? value.toExponential(0) : trim(value);
}

function trim(value: number): string {
  return String(Number(value.toPrecision(3)));
}

export function percent(part: number | null): string {
  return part === null ? '–' : `${(part * 100).toFixed(1)} %`;
}

/** `8 s`, `4 min`, `2 h 5 min`, to the nearest */
export function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

export function clock(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}
